"""What stands beside the deals: totals carried over from the sheet before, and the results that players worked out."""

from collections.abc import Mapping
from dataclasses import dataclass

from recognize.ink import Ink, normalised
from recognize.totals import due_values, number_of, slip_share
from scoring.game import Cell
from scoring.ledger import Number
from templates import Form

COPIED_RIGHT = 0.97
"""How often a total is carried over to the next sheet as it stood."""

ADDED_RIGHT = 0.8
NEARLY = 0.1
"""How often the players' own result is right, and how often within two of it: rounding is done in many ways."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What the sheet before ends with: the totals as they stand there, and how many raspasy its last deals were."""

    totals: Mapping[Cell, int]
    raspasy_run: int = 0


def carried_over(form: Form, ink: Mapping[str, Ink], before: Carried | None) -> dict[str, dict[str, float]]:
    """The distribution of every field of the carry-over row; `before` is the sheet before where it is at hand."""
    likelihoods: dict[str, dict[str, float]] = {}
    for field in form.fields:
        if field.deal == 0 and field.id in ink and ink[field.id].exact is not None:
            own = ink[field.id]
            likelihoods[field.id] = {value: own(value) for value in {"", *own.likely}}
            if before is not None:
                stood = before.totals.get(Cell(field.column, field.seat or "", field.on), 0)
                likelihoods[field.id] |= {str(stood): own(str(stood))}
                likelihoods[field.id] = {
                    value: seen * _copied(value, stood) for value, seen in likelihoods[field.id].items()
                }
    return _all_or_none(likelihoods)


def results(form: Form, ink: Mapping[str, Ink], settled: Mapping[str, Number] | None) -> dict[str, dict[str, float]]:
    """The distribution of the players' own final results; `settled` is what follows from the totals on the paper."""
    likelihoods: dict[str, dict[str, float]] = {}
    for field in form.fields:
        if field.deal is None and field.id in ink and ink[field.id].exact is not None:
            own = ink[field.id]
            likelihoods[field.id] = {value: own(value) for value in {"", *own.likely}}
            if settled is not None and field.seat is not None:
                due = settled[field.seat]
                values = {*likelihoods[field.id], *due_values(due, 0)}
                likelihoods[field.id] = {value: own(value) * _worked_out(value, due) for value in values}
    return _all_or_none(likelihoods)


def _copied(value: str, stood: int) -> float:
    number = number_of(value)
    if number is None:
        return 1.0 if stood == 0 else 1 - COPIED_RIGHT
    if number == stood:
        return COPIED_RIGHT
    return (1 - COPIED_RIGHT) * slip_share(number, stood, 0, 0)


def _worked_out(value: str, due: Number) -> float:
    number = number_of(value)
    if number is None:
        return 1.0
    if value in due_values(due, 0):
        return ADDED_RIGHT
    return NEARLY / 4 if -2 <= number - due <= 2 else (1 - ADDED_RIGHT - NEARLY) / 1000


def _all_or_none(likelihoods: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Either nearly all fields of such a group are filled in or none is: each is judged by the others."""
    filled = sum(of.get("", 0.0) < max(of.values()) for of in likelihoods.values())
    share = min(max((filled + 0.05) / (len(likelihoods) + 1), 0.002), 0.98)
    out = {}
    for name, of in likelihoods.items():
        out[name] = normalised({value: p * (1 - share if value == "" else share) for value, p in of.items()})
    return out
