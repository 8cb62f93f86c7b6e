"""The special columns of one row: what may have been played, weighed by its marks and tricks.

People forget a mark, or a number, now and then; they fill in what need not be filled in; and sometimes they slip. Each
has its small probability here, so that the running totals can speak up for what the marks alone would not say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

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
"""Rows less likely than the best by more than this (natural logarithm) are not gone into,"""
MOST = 40
"""nor more than so many."""


Tricks = tuple[tuple[str, int], ...]
"""What players took, by seat."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way in which a row may have been played; `contract` is None where no deal stands in it.

    `tricks` are what the players took as far as the sheet should tell; `score` is the natural logarithm of how probable
    the ink in the row's special columns is with such a deal, and the deal itself, against an empty row.
    """

    deal: int
    declarer: str | None
    contract: str | None
    defence: tuple[tuple[str, str], ...] = ()
    tricks: Tricks = ()
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


TRICK_VALUES = ("", "-", *map(str, range(11)))
NO_TRICKS = 1e-6
"""How often anything else stands in a tricks box."""


def tricks_probability(due: int | None, value: str) -> float:
    """P(what stands in a tricks box | the tricks that ought to stand there, or None)."""
    if value not in TRICK_VALUES:
        return NO_TRICKS
    if due is None:
        return {"": 0.8, "-": 0.15, "0": 0.03}.get(value, 0.001)
    if value == str(due):
        return 1 - TRICKS_FORGOTTEN - TRICKS_SLIP
    if value == "":
        return TRICKS_FORGOTTEN if due else 0.01
    if value == "-":
        return 1e-4 if due else 0.01
    return TRICKS_SLIP / 10


def row_candidates(ink: RowInk, half_whist: bool, concede: bool) -> list[Row]:
    """The deals that the row's ink allows, the likeliest first, down to a factor of e^-KEEP."""
    blank = Row(ink.deal, None, None)
    if ink.blank():
        return [blank]
    every = _every(ink.seats, ink.dealer, half_whist, concede)
    marks = [ink.marks[key] for key in every.marks]
    gain = np.array([_of_mark(mark) for mark in marks])
    scores = every.prior + every.called @ gain
    for seat, taken in zip(ink.seats, every.taken.T, strict=True):
        scores += _of_tricks(ink.tricks[seat])[taken]
    best = max(float(scores.max()), 0.0)
    near = np.flatnonzero(scores > best - KEEP)
    likeliest = near[np.argsort(-scores[near], kind="stable")][:MOST]
    found = [_as_row(every.deals[i], ink.deal, float(scores[i])) for i in likeliest]
    if best < KEEP:
        found.append(blank)
        found.sort(key=lambda row: -row.score)
    return found[:MOST]


def against(ink: RowInk, row: Row) -> float:
    """How much a row's marks speak against a deal (natural logarithm): what each box by itself would rather say."""
    called = row.marks
    gains = [(key in called, _of_mark(mark)) for key, mark in ink.marks.items()]
    return sum(max(gain, 0.0) - gain * due for due, gain in gains)


ROW_FORGOTTEN = 1e-3
"""How often a deal's totals are written and nothing of what was played."""


def unmarked_rows(ink: RowInk, half_whist: bool, concede: bool) -> Iterator[Row]:
    """Every deal that may have been played in a row in which nothing is marked; the scores are those of the priors."""
    every = _every(ink.seats, ink.dealer, half_whist, concede)
    for row, prior in zip(every.deals, every.prior, strict=True):
        yield _as_row(row, ink.deal, log(ROW_FORGOTTEN) + float(prior))


def _as_row(row: Row, deal: int, score: float) -> Row:
    # `replace` takes five times as long, and a sheet has a thousand of these.
    return Row(deal, row.declarer, row.contract, row.defence, row.tricks, row.conceded, score)


@lru_cache(maxsize=1 << 10)
def _of_mark(ink: Ink) -> float:
    """How much likelier the ink of a mark box is where a mark is called for than where none is: natural logarithm."""
    called, not_called = (
        sum(mark_probability(due, value) * ink(value) for value in ("x", "")) for due in (True, False)
    )
    return log(called / not_called)


_CHANCES = np.array([[tricks_probability(due, value) for value in TRICK_VALUES] for due in (None, *range(11))])
"""P(each of TRICK_VALUES | nothing due, 0 … 10 due)."""

NOT_DUE = 11
"""Stands for no tricks due in a table that has 0 to 10."""


@lru_cache(maxsize=1 << 10)
def _of_tricks(ink: Ink) -> NDArray[np.float64]:
    """How much likelier the ink of a tricks box is where each of 0 to 10, or nothing, is due than where nothing is.

    Natural logarithms, (12,).
    """
    other = sum(ink(value) for value in ink.likely if value not in TRICK_VALUES)
    chances = _CHANCES @ [ink(value) for value in TRICK_VALUES] + NO_TRICKS * other
    return np.log(np.roll(chances, -1) / chances[0])


@dataclass(frozen=True, slots=True)
class _Every:
    """Every deal of a row but for its number, with how usual it is (natural logarithm, (deals,)).

    `called` says which of `marks` each calls for, (deals, marks); `taken` how many tricks ought to stand for each seat,
    or NOT_DUE, (deals, seats).
    """

    deals: tuple[Row, ...]
    prior: NDArray[np.float64]
    marks: tuple[tuple[str, str], ...]
    called: NDArray[np.float64]
    taken: NDArray[np.int64]


@cache
def _every(seats: str, dealer: str | None, half_whist: bool, concede: bool) -> _Every:
    """Every deal that can be played; with four players the dealer sits out."""
    deals, prior = [], []
    for row, share, counted in _deals(seats, dealer, half_whist, concede):
        for tricks, usual in _tricks(row, counted, dealer):
            deals.append(replace(row, tricks=tricks))
            prior.append(log(share) + usual)
    marks = tuple((column, seat) for column in ("declarer", "whist") for seat in seats)
    marks += tuple(("contract", contract) for contract in CONTRACTS)
    called = [[float(mark in row.marks) for mark in marks] for row in deals]
    taken = [[dict(row.tricks).get(seat, NOT_DUE) for seat in seats] for row in deals]
    return _Every(tuple(deals), np.array(prior), marks, np.array(called), np.array(taken))


def _deals(seats: str, dealer: str | None, half_whist: bool, concede: bool) -> Iterator[tuple[Row, float, list[str]]]:
    """Every deal but for its tricks, how usual it is, and the seats whose tricks ought to be written."""
    playing = [seat for seat in seats if seat != dealer]
    for contract, share in CONTRACTS.items():
        if contract == "raspasy":
            yield Row(0, None, contract), share, playing
            if dealer:
                # The talon plays as the dealer's, and his box says what it took.
                yield Row(0, None, contract), share, [*playing, dealer]
            continue
        for at, declarer in enumerate(playing):
            prior = share / len(playing)
            if contract == "misere":
                yield Row(0, declarer, contract), prior, [declarer]
                continue
            defenders = playing[at + 1 :] + playing[:at]
            for said in product(("whist", "pass"), repeat=len(defenders)):
                row = Row(0, declarer, contract, tuple(zip(defenders, said, strict=True)))
                whisters = [seat for seat, what in row.defence if what == "whist"]
                yield row, prior * 0.25, [declarer, *whisters] if whisters else []
                if not whisters and concede:
                    yield replace(row, conceded=True), prior * CONCEDED, []
            if half_whist and contract in ("6", "7") and len(defenders) == 2:
                defence = ((defenders[0], "pass"), (defenders[1], "half"))
                yield Row(0, declarer, contract, defence), prior * HALF_WHIST, []


def _tricks(row: Row, seats: list[str], dealer: str | None) -> Iterator[tuple[Tricks, float]]:
    """Every way in which the tricks of a deal can fall, and the logarithm of how usual it is."""
    if not seats:
        yield (), 0.0
    elif row.contract == "misere":
        for took in range(11):
            yield ((seats[0], took),), log(0.6 if took == 0 else 0.04)
    elif row.contract == "raspasy":
        for tricks in _ten(len(seats)):
            if dealer not in seats or tricks[-1] <= 2:
                yield tuple(zip(seats, tricks, strict=True)), log(1 / 60)
    else:
        made = int(row.contract or 0)
        for tricks in _ten(len(seats)):
            # One trick more or less is common, five are not.
            yield tuple(zip(seats, tricks, strict=True)), log(0.4 * 0.45 ** abs(tricks[0] - made))


@cache
def _ten(parts: int) -> tuple[tuple[int, ...], ...]:
    """Every way to share ten tricks among so many."""
    if parts == 1:
        return ((10,),)
    return tuple((*first, 10 - sum(first)) for first in product(range(11), repeat=parts - 1) if sum(first) <= 10)
