"""Several pictures of one sheet: what each says of a field, put together; the surer one weighs more."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log

from recognize.ink import UNSEEN, Ink, kept_ink
from recognize.reading import Evidence
from templates import Form

LEAST = 1e-6
"""A value less probable than this is not kept."""

SURELY_EMPTY = {"": 0.99995}
"""What is kept of a field that the picture says is surely empty."""

DIFFER = 0.05
"""Where two pictures each give less than this to what the other holds likeliest, they contradict each other."""

FOREIGN = 6
FOREIGN_SHARE = 0.3
"""With so many of the fields written in both contradicting each other, and such a share, it is not the same paper."""

HEAVIEST = 10.0
LIGHTEST = 0.1
"""Between these the weight of a picture in a field is the log odds of what it holds likeliest."""


def evidence_of(ink: Mapping[str, Ink], struck: Mapping[str, float]) -> Evidence:
    """What is worth keeping of what the ink in every field can say."""
    likely = {
        name: {value: round(p, 7) for value, p in one.likely.items() if p >= LEAST}
        for name, one in ink.items()
        if one.exact is not None and not one.surely_empty()
    }
    crossed = {name: round(p, 6) for name, p in struck.items() if p >= 1e-3}
    return Evidence(likely, crossed, frozenset(name for name, one in ink.items() if one.exact is None))


def together(form: Form, pictures: Sequence[Evidence]) -> tuple[dict[str, Ink], dict[str, float], frozenset[str]]:
    """What the pictures of one sheet say together: the ink, how probably each field was struck, and where they differ.

    A field that one does not show is taken from the others; so is a row that is blank in one, since it was taken before
    that deal was played. Else the probabilities are multiplied, each raised to its picture's weight and the weights
    adding up to 1: the same ink seen twice is not twice the evidence.
    """
    ink: dict[str, Ink] = {}
    struck: dict[str, float] = {}
    differ = set()
    written = [_written_rows(form, one) for one in pictures]
    for field in form.fields:
        if field.kind == "text":
            continue
        later = any(field.deal in rows for rows in written)
        showing = [
            one
            for one, rows in zip(pictures, written, strict=True)
            if field.id not in one.unseen and (field.deal in rows or not later)
        ]
        if not showing:
            ink[field.id] = UNSEEN
            continue
        said = [says(one, field.id) for one in showing]
        ink[field.id] = kept_ink(_pooled(said) if len(said) > 1 else said[0], field.kind)
        struck[field.id] = sum(one.struck.get(field.id, 0.0) for one in showing) / len(showing)
        if _contradict(said):
            differ.add(field.id)
    return ink, struck, frozenset(differ)


def same_paper(one: Evidence, other: Evidence) -> bool:
    """Whether two pictures of one code can be of one sheet of paper, and not of a blank that was photocopied."""
    both, apart = 0, 0
    for name in one.likely.keys() & other.likely.keys():
        best, others = likeliest(one, name), likeliest(other, name)
        if {best, others}.isdisjoint({"", "-"}):
            both += 1
            apart += _contradict((says(one, name), says(other, name)))
    return apart < FOREIGN or apart < FOREIGN_SHARE * both


def says(picture: Evidence, field: str) -> Mapping[str, float]:
    """The values of a field that a picture shows, with their probabilities."""
    return picture.likely.get(field, SURELY_EMPTY)


def likeliest(picture: Evidence, field: str) -> str:
    """The likeliest value of a field that a picture shows."""
    return _best(says(picture, field))


def _written_rows(form: Form, picture: Evidence) -> set[int | None]:
    return {f.deal for f in form.fields if f.id in picture.likely and likeliest(picture, f.id) != ""}


def _best(said: Mapping[str, float]) -> str:
    return max(said, key=said.__getitem__, default="")


def _pooled(said: Sequence[Mapping[str, float]]) -> dict[str, float]:
    weights = []
    for one in said:
        top = min(one.get(_best(one), 0.5), 1 - 1e-9)
        weights.append(min(max(log(top / (1 - top)), LIGHTEST), HEAVIEST) if top > 0 else LIGHTEST)
    values = {value for one in said for value in one}
    pooled = {
        value: exp(
            sum(w * log(max(one.get(value, 0.0), LEAST)) for w, one in zip(weights, said, strict=True)) / sum(weights)
        )
        for value in values
    }
    total = sum(pooled.values()) or 1.0
    return {value: p / total for value, p in pooled.items()}


def _contradict(said: Sequence[Mapping[str, float]]) -> bool:
    """Whether two pictures all but rule out what the other holds likeliest; an empty box and a dash say the same."""
    for one, other in combinations(said, 2):
        best, others = _best(one), _best(other)
        if {best, others} <= {"", "-"} or best == others:
            continue
        if one.get(others, 0.0) < DIFFER and other.get(best, 0.0) < DIFFER:
            return True
    return False
