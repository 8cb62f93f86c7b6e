"""From the shares of what may stand in a field to its reading: by the picture alone, or by the rules as well."""

from collections.abc import Mapping

from recognize.ink import NEXT_TO_NOTHING, Ink, normalised
from recognize.reading import FieldReading, State, Why

SURE = 0.999
"""A field surer than this is clear."""


def by_ink(ink: Ink, struck: float) -> FieldReading:
    """A field by the picture alone."""
    if ink.exact is None:
        return FieldReading("", 0.0, "unreadable")
    if ink.gross == 0.0:
        return _field({ink.best: 1.0}, 0.0, "person")
    shares = normalised({value: ink(value) for value in ink.likely})
    return _field(shares, struck, "image")


def by_rules(ink: Ink, alone: FieldReading, shares: Mapping[str, float] | None, struck: float) -> FieldReading:
    """A field by the picture and the rules; `alone` is what it is by the picture alone."""
    if ink.exact is None:
        return FieldReading("", 0.0, "unreadable", other=tuple(_ordered(shares or {}))[:3])
    if shares is None or ink.gross == 0.0:
        return alone
    return _field(_no_bolder(shares, ink), struck, "rules", alone)


BOLDEST = 1e4
"""How far the rules may raise the odds of another value against the one that the ink shows best.

People make mistakes that no model foresees: where the ink is clear and all the rest of the sheet contradicts it, a
person decides.
"""


def _no_bolder(shares: Mapping[str, float], ink: Ink) -> Mapping[str, float]:
    """The shares with the odds of every value against the one seen held to what the ink and the rules may say."""
    seen = ink.best
    base = max(shares.get(seen, 0.0), 1e-300)
    if base > 1 - NEXT_TO_NOTHING:
        return {seen: 1.0}
    odds = {value: min(share / base, BOLDEST * ink(value) / ink(seen)) for value, share in shares.items()}
    return normalised(odds | {seen: 1.0})


def _field(shares: Mapping[str, float], struck: float, why: Why, alone: FieldReading | None = None) -> FieldReading:
    """A field by the shares of its values; where it is as it was `alone`, by the picture, that is the reason."""
    # A nought before a number is a neighbour's stroke, or changes nothing.
    if any(len(text) > 1 and text[0] == "0" for text in shares):
        numbers: dict[str, float] = {}
        for text, share in shares.items():
            plain = text.lstrip("0") or "0" if text.isdigit() else text
            numbers[plain] = numbers.get(plain, 0.0) + share
        shares = numbers
    ordered = _ordered(shares)
    value, confidence = ordered[0]
    state: State = "empty" if value == "" else "clear"
    if value == "" and struck > 0.5:
        state = "struck"
    if confidence < SURE:
        state = "doubtful"
    if alone is not None and value == alone.value and (alone.state != "doubtful" or state == "doubtful"):
        why = "image"
    return FieldReading(value, min(confidence, 1.0), state, why, tuple(ordered[1:4]))


def _ordered(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    # Equals in the order of their figures, so that the same picture always gives the same reading.
    return sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
