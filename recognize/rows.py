"""The special columns of one row: what may have been played, weighed by its marks and tricks.

People forget a mark, or a number, now and then; they fill in what need not be filled in; and sometimes they slip. Each
has its small probability here, so that the running totals can speak up for what the marks alone would not say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import log

from recognize.ink import Ink

CONTRACTS = {"6": 0.34, "7": 0.25, "8": 0.13, "9": 0.05, "10": 0.02, "misere": 0.04, "raspasy": 0.17}
"""How often each is played; only its order of magnitude matters."""

MARK_FORGOTTEN = 3e-3
MARK_STRAY = 3e-4
TRICKS_FORGOTTEN = 5e-3
TRICKS_SLIP = 3e-3
HALF_WHIST = 0.02
CONCEDED = 0.003

KEEP = 14.0
"""Rows less likely than the best by more than this (natural logarithm) are not gone into."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way in which a row may have been played; `contract` is None where no deal stands in it.

    `tricks` are what the players took as far as the sheet should tell; `score` is the log-probability of the ink in the
    row's special columns, and of such a deal being played.
    """

    deal: int
    declarer: str | None
    contract: str | None
    defence: tuple[tuple[str, str], ...] = ()
    tricks: tuple[tuple[str, int], ...] = ()
    conceded: bool = False
    score: float = 0.0

    @property
    def marks(self) -> frozenset[tuple[str, str]]:
        """The (column, seat or choice) of every mark that this deal calls for."""
        if self.contract is None:
            return frozenset()
        called = {("contract", self.contract)}
        if self.declarer:
            called.add(("declarer", self.declarer))
        called |= {("whist", seat) for seat, said in self.defence if said != "pass"}
        return frozenset(called)

    @property
    def written_tricks(self) -> Mapping[str, int]:
        """The tricks that ought to stand on the sheet, by seat."""
        if self.contract == "raspasy" or self.contract == "misere":
            return dict(self.tricks)
        who = {self.declarer} | {seat for seat, said in self.defence if said == "whist"}
        return {seat: n for seat, n in self.tricks if seat in who}


@dataclass(frozen=True, slots=True)
class RowInk:
    """The ink of one row's special columns: marks by (column, seat or choice), tricks by seat."""

    deal: int
    dealer: str | None
    seats: str
    marks: Mapping[tuple[str, str], Ink]
    tricks: Mapping[str, Ink]

    def blank(self) -> bool:
        """Whether the picture alone says that nothing stands in these columns."""
        return all(ink("x") < 1e-3 for ink in self.marks.values()) and all(
            ink.surely_empty(0.999) for ink in self.tricks.values()
        )


def mark_probability(called: bool, value: str) -> float:
    """P(a mark is there, or not | whether the deal calls for it)."""
    there = 1 - MARK_FORGOTTEN if called else MARK_STRAY
    return there if value == "x" else 1 - there


def tricks_probability(due: int | None, value: str) -> float:
    """P(what stands in a tricks box | the tricks that ought to stand there, or None)."""
    if due is None:
        if value == "":
            return 0.93
        if value == "-":
            return 0.03
        return 0.03 if value == "0" else 0.001
    if value == str(due):
        return 1 - TRICKS_FORGOTTEN - TRICKS_SLIP
    if value == "":
        return TRICKS_FORGOTTEN if due else 0.01
    if value == "-":
        return 1e-4 if due else 0.01
    return TRICKS_SLIP / 10 if value.isdigit() and int(value) <= 10 else 1e-6


TRICK_VALUES = ("", "-", *map(str, range(11)))


def row_candidates(ink: RowInk, half_whist: bool) -> list[Row]:
    """The deals that the row's ink allows, the likeliest first, down to a factor of e^-KEEP."""
    marked = {key: log(_of_mark(i, True)) for key, i in ink.marks.items()}
    unmarked = {key: log(_of_mark(i, False)) for key, i in ink.marks.items()}
    bare = sum(unmarked.values())
    due = {s: [log(_of_tricks(i, n)) for n in range(11)] for s, i in ink.tricks.items()}
    none_due = {s: log(_of_tricks(i, None)) for s, i in ink.tricks.items()}
    no_tricks = sum(none_due.values())

    def scored(row: Row, prior: float) -> Row:
        score = log(prior) + bare + sum(marked[k] - unmarked[k] for k in row.marks if k in marked)
        score += no_tricks + sum(due[s][n] - none_due[s] for s, n in row.written_tricks.items() if s in due)
        return Row(row.deal, row.declarer, row.contract, row.defence, row.tricks, row.conceded, score)

    rows = [scored(Row(ink.deal, None, None), 1.0)]
    if ink.blank():
        return rows
    best = rows[0].score
    for row, prior in _possible(ink, half_whist, due):
        row = scored(row, prior)
        if row.score > best - KEEP:
            rows.append(row)
            best = max(best, row.score)
    return sorted((row for row in rows if row.score > best - KEEP), key=lambda row: -row.score)[:40]


def _of_mark(ink: Ink, called: bool) -> float:
    return sum(mark_probability(called, value) * ink(value) for value in ("x", ""))


def _of_tricks(ink: Ink, due: int | None) -> float:
    values = {*TRICK_VALUES, *ink.likely}
    return sum(tricks_probability(due, value) * ink(value) for value in values)


def _possible(ink: RowInk, half_whist: bool, due: Mapping[str, list[float]]) -> Iterator[tuple[Row, float]]:
    playing = [seat for seat in ink.seats if seat != ink.dealer]
    for contract, share in CONTRACTS.items():
        if contract == "raspasy":
            yield from _raspasy(ink, playing, due, share)
            continue
        for declarer in playing:
            prior = share / len(playing)
            if contract == "misere":
                for took in range(11):
                    tricks = ((declarer, took),)
                    yield Row(ink.deal, declarer, contract, (), tricks), prior * (0.6 if took == 0 else 0.04)
                continue
            at = playing.index(declarer)
            defenders = playing[at + 1 :] + playing[:at]
            for said in product(("whist", "pass"), repeat=len(defenders)):
                defence = tuple(zip(defenders, said, strict=True))
                whisters = [seat for seat, what in defence if what == "whist"]
                if not whisters:
                    yield Row(ink.deal, declarer, contract, defence), prior * 0.2
                    yield Row(ink.deal, declarer, contract, defence, conceded=True), prior * CONCEDED
                    continue
                for tricks in _splits(declarer, whisters, int(contract), due):
                    yield Row(ink.deal, declarer, contract, defence, tricks), prior * 0.25 * _made(int(contract), tricks)
            if half_whist and contract in ("6", "7") and len(defenders) == 2:
                defence = ((defenders[0], "pass"), (defenders[1], "half"))
                yield Row(ink.deal, declarer, contract, defence), prior * HALF_WHIST


def _made(contract: int, tricks: tuple[tuple[str, int], ...]) -> float:
    """How usual the result of a contract is: one trick more or less is common, five are not."""
    return 0.4 * 0.45 ** abs(tricks[0][1] - contract)


def _splits(
    declarer: str, whisters: list[str], contract: int, due: Mapping[str, list[float]]
) -> Iterator[tuple[tuple[str, int], ...]]:
    """The tricks of declarer and whisters, summing to ten, that the ink does not speak too loudly against."""
    for took in range(11):
        rest = 10 - took
        if len(whisters) == 1:
            yield (declarer, took), (whisters[0], rest)
        else:
            for one in range(rest + 1):
                yield (declarer, took), (whisters[0], one), (whisters[1], rest - one)


def _raspasy(
    ink: RowInk, playing: list[str], due: Mapping[str, list[float]], share: float
) -> Iterator[tuple[Row, float]]:
    # With four at the table the dealer's talon may have taken a trick or two: where it did, his box says so.
    who = [playing] if ink.dealer is None else [playing, [*playing, ink.dealer]]
    for seats in who:
        for tricks in _ten(seats, 2 if ink.dealer in seats else 10):
            if len(seats) > len(playing) and tricks[-1] == 0:
                continue
            yield Row(ink.deal, None, "raspasy", (), tuple(zip(seats, tricks, strict=True))), share / 60


def _ten(seats: list[str], last_most: int) -> Iterator[tuple[int, ...]]:
    if len(seats) == 1:
        yield (10,)
        return
    for first in product(range(11), repeat=len(seats) - 1):
        rest = 10 - sum(first)
        if 0 <= rest <= last_most:
            yield (*first, rest)
