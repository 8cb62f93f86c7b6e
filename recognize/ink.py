"""What the ink in a field can say: a distribution that never quite rules anything out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

GROSS = 1e-4
"""How often the number reader is wrong in a way that its own probabilities do not foresee: something covers the box, a
digit from next door, a hand unlike any it has learnt from.

Of 15,881 numbers on simulated sheets by the calibration writers that the net itself held for surer than 0.997, none was
read wrongly.
"""

GROSS_BARE = 1e-6
"""The same where the middle of the box is bare paper."""

GROSS_MARK = 3e-5
"""The same of the reader of marks."""


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """P(picture | value) of one field, or of all bare ones, up to a factor; equal to nothing but itself.

    `likely` lists the values worth considering with their probabilities by the picture alone; `exact` gives it for any
    value. A field that cannot be seen says the same of every value. `under` is the ink of a field that a person's
    answer stands for. `best` is the likeliest value by the picture alone.
    """

    likely: Mapping[str, float]
    exact: Callable[[str], float] | None
    gross: float = GROSS
    under: "Ink | None" = None
    best: str = field(init=False)
    _known: dict[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """The likeliest value, found once."""
        object.__setattr__(self, "best", max(self.likely, key=self.likely.__getitem__) if self.likely else "")

    def __call__(self, value: str) -> float:
        """The probability of `value`, with a floor under it for what no reader foresees."""
        known = self._known.get(value)
        if known is None:
            seen = self.likely.get(value)
            if seen is None:
                seen = self.exact(value) if self.exact else 0.0
            known = self._known[value] = (
                (1 - self.gross) * seen + self.gross * _unforeseen(value, self.best) if self.exact else _anything(value)
            )
        return known

    def surely_empty(self, threshold: float = 0.9999) -> bool:
        """Whether the picture alone says that nothing is written."""
        return self.exact is not None and self.likely.get("", 0.0) >= threshold


def number_ink(best: Iterable[tuple[str, float]], exact: Callable[[str], float], bare: bool = False) -> Ink:
    """The ink of a number field from its reader's best values and its probability of any; `bare` is a blank field."""
    return Ink(dict(best), exact, GROSS_BARE if bare else GROSS)


def mark_ink(marked: float, filled: float) -> Ink:
    """The ink of a mark field from the probabilities that it is marked, and that it is filled all over.

    Some people fill a box to choose it, some to take back a mark: not the ink tells which, but the rest of the row.
    """
    chosen = marked + filled / 2
    likely = {"x": chosen, "": 1 - chosen}
    return Ink(likely, lambda value: likely.get(value, 0.0), GROSS_MARK)


def kept_ink(likely: Mapping[str, float], kind: str) -> Ink:
    """The ink of a field ("mark" or "number") from its likeliest values; what they lack to 1 is anything's."""
    rest = max(0.0, 1 - sum(likely.values()))
    return Ink(
        dict(likely),
        lambda value: likely.get(value, rest * _anything(value)),
        GROSS_MARK if kind == "mark" else GROSS,
    )


def answered_ink(value: str, under: Ink | None = None) -> Ink:
    """The ink of a field of which a person said what stands in it: that, and nothing else; `under` is what was read."""
    return Ink({value: 1.0}, lambda other: float(other == value), 0.0, under)


UNSEEN = Ink({}, None)
"""The ink of a field that is not in the photo, or whose place is not sure."""


NEXT_TO_NOTHING = 1e-9
"""Values that have less than this share of all are left out."""


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights as probabilities, without what is next to nothing."""
    total = sum(weights.values())
    least = NEXT_TO_NOTHING * total
    return {value: weight / total for value, weight in weights.items() if weight > least}


def _anything(value: str) -> float:
    """How probable a value is where the picture tells nothing."""
    if value in ("", "-", "x"):
        return {"": 0.1, "-": 0.05, "x": 0.1}[value]
    return 0.75 / (4 * 10 ** len(value))


@lru_cache(maxsize=1 << 16)
def _unforeseen(value: str, read: str) -> float:
    """How probable a value is where the picture was read as another in a way that no reader foresees.

    Such a thing befalls one figure, or adds or hides one at an end, and seldom makes a number a wholly other one.
    """
    if not read.isdigit():
        return _anything(value)
    if not value.isdigit():
        # A speck or a neighbour's stroke may pass for a figure, hardly ever for two.
        return _anything(value) / 10 ** len(read)
    apart = sum(a != b for a, b in zip(value, read, strict=False)) if len(value) == len(read) else -1
    if apart == 1:
        return 0.5 / (9 * len(value))
    if abs(len(value) - len(read)) == 1 and (value in read or read in value):
        return 0.01
    return 0.02 / 10 ** len(value)
