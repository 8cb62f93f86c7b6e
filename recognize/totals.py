"""The running totals of one column: how people carry them on from deal to deal, slips and all, against the ink.

A column is a chain: what a player writes depends on the total he wrote before and on what the deal adds. Its states are
few, so the sums over all ways of writing it are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from recognize.ink import Ink

Number = int | Fraction
State = tuple[Number, Number]
"""The total as it last stood on the paper, and what has been earned since and not written."""

FORGOTTEN = 4e-3
WRONG = 8e-3
REWRITTEN = 1.2e-2
DASHED = 4e-3
SPURIOUS = 3e-4
MISPLACED = 6e-4
"""How often, of all boxes of the kind: an entry is forgotten, or wrong; a total is written once more where nothing was
added, or a dash; a number stands where nothing is due; another box's entry stands there."""
CAUGHT_UP = 0.3
"""How often a forgotten entry is made up for with the next one, or later on its own."""

AGAIN = 0.5
"""A total written once more says little new (the exponent of its ink): a figure misread once is misread every time."""

LEAST_SHARE = 1e-9
"""States less likely than this share of all are dropped."""


@dataclass(frozen=True, slots=True)
class Step:
    """One field of a column: its ink, what the deal adds to the total, and all that it adds anywhere in the row.

    `rewritten` is how often the old total is written once more where nothing was added: some people fill in every box.
    `after` is room to keep what `forward` gave, by the identity of the message before.
    """

    name: str
    ink: Ink
    add: Number
    row: frozenset[Number] = frozenset()
    rewritten: float = REWRITTEN
    after: dict[int, tuple["Message", float]] = field(default_factory=dict, repr=False, compare=False)
    _moves: dict[State, "Moves"] = field(default_factory=dict, repr=False, compare=False)

    def moves(self, state: State) -> "Moves":
        """From a state: every value that may be written, its probability with that of its ink, and the state after."""
        known = self._moves.get(state)
        if known is None:
            written = _written(state, self).items()
            again = due_values(state[0], 0) if self.add == 0 and number_of(self.ink.best) is not None else ()
            known = [
                (value, p * (self._again(value) if value in again else self.ink(value)), _moved(state, value, self.add))
                for value, p in written
            ]
            self._moves[state] = known
        return known

    def _again(self, value: str) -> float:
        """What the ink says of a total written once more, between itself and its best."""
        return self.ink(value) ** AGAIN * self.ink(self.ink.best) ** (1 - AGAIN)


Moves = list[tuple[str, float, State]]

Message = Mapping[State, float]
"""A distribution over states, up to a factor."""


def first_message(start: Number = 0) -> Message:
    """Before the first deal: the total is `start` and nothing is owed."""
    return {(start, 0): 1.0}


def forward(before: Message, step: Step) -> tuple[Message, float]:
    """The states after a field, as shares, and the probability of its ink given everything before."""
    after: dict[State, float] = {}
    for state, share in before.items():
        for _, probability, to in step.moves(state):
            after[to] = after.get(to, 0.0) + share * probability
    total = sum(after.values())
    least = total * LEAST_SHARE
    return {state: weight / total for state, weight in after.items() if weight > least}, total


def backward(after: Message, befores: Message, step: Step) -> tuple[Message, dict[str, float]]:
    """From what follows a field (a likelihood by state) to what it says of the states before it, and of its value.

    `befores` is the forward message before the field. Returns the likelihood before it and the field's posterior.
    """
    likelihood: dict[State, float] = {}
    posterior: dict[str, float] = {}
    for state, share in befores.items():
        sum_of_state = 0.0
        for value, probability, to in step.moves(state):
            weight = probability * after.get(to, 0.0)
            sum_of_state += weight
            posterior[value] = posterior.get(value, 0.0) + share * weight
        likelihood[state] = sum_of_state
    most = max(likelihood.values(), default=0.0) or 1.0
    total = sum(posterior.values()) or 1.0
    return (
        {state: weight / most for state, weight in likelihood.items()},
        {value: weight / total for value, weight in posterior.items()},
    )


@lru_cache(maxsize=1 << 15)
def due_values(total: Number, add: Number) -> tuple[str, ...]:
    """What ought to be written for a total: itself, or where it has a half, either whole number beside it."""
    exact = total + add
    if isinstance(exact, int) or exact.denominator == 1:
        return (str(int(exact)),)
    floor = exact.numerator // exact.denominator
    return (str(floor), str(floor + 1))


@lru_cache(maxsize=1 << 15)
def number_of(value: str) -> int | None:
    """The number that a field's value stands for; None for nothing, a dash or a mark."""
    return int(value) if value.removeprefix("-").isdigit() else None


def _moved(state: State, value: str, add: Number) -> State:
    total, owed = state
    written = number_of(value)
    if written is None:
        return total, owed + add
    if written == total and add == 0:
        return state
    # A half stays in the writer's head although only whole numbers stand on the paper.
    for due in (total + add, total + owed + add):
        if not isinstance(due, int) and value in due_values(due, 0):
            return due, 0
    return written, 0


def _written(state: State, step: Step) -> dict[str, float]:
    """P(what is written | state, the deal), for every value that the ink or the rules suggest."""
    total, owed = state
    add = step.add
    out: dict[str, float] = {}
    if add == 0:
        keep = 1.0 - step.rewritten - DASHED - SPURIOUS
        for value in due_values(total, 0):
            out[value] = step.rewritten
        if owed:
            late = keep * CAUGHT_UP / 4
            keep -= late
            for value in due_values(total, owed):
                out[value] = out.get(value, 0.0) + late
        out[""] = keep
        out["-"] = DASHED
        wrong = SPURIOUS
    else:
        right = 1.0 - FORGOTTEN - WRONG - 2e-4
        if owed:
            for value in due_values(total, owed + add):
                out[value] = right * (1 - CAUGHT_UP)
            for value in due_values(total, add):
                out[value] = out.get(value, 0.0) + right * CAUGHT_UP
        else:
            for value in due_values(total, add):
                out[value] = right
        out[""] = FORGOTTEN
        out["-"] = 2e-4
        wrong = WRONG
    for value in step.ink.likely:
        if value not in out:
            number = number_of(value)
            if number is None or value != str(number):
                # Nobody writes 08 for 8.
                out[value] = 1e-6
                continue
            out[value] = wrong * slip_share(number, total, owed, add)
            if number - total in step.row:
                out[value] += MISPLACED
    return out


@lru_cache(maxsize=1 << 15)
def slip_share(written: int, total: Number, owed: Number, add: Number) -> float:
    """Of all the wrong numbers a person may write, the share that this one has; human ones have more."""
    due = total + owed + add
    off = abs(written - due)
    share = 0.15 / 10 ** min(len(str(written)), 4)
    if off in (1, 2, 10, 20, 100):
        share += 0.06
    if written != due and sorted(str(written)) == sorted(str(int(due))):
        share += 0.08
    if written == total + owed + 2 * add:
        share += 0.05
    gained = written - total
    if 0 < gained <= 120:
        share += 0.5 / 60 if gained % 2 == 0 else 0.1 / 60
    if written == add or written == gained == 0:
        share += 0.02
    return share
