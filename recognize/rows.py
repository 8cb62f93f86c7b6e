"""The special columns of one row: what may have been played, weighed by its marks and tricks.

People forget a mark, or a number, now and then; they fill in what need not be filled in; and sometimes they slip. Each
has its small probability here, so that the running totals can speak up for what the marks alone would not say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
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


def tricks_probability(due: int | None, value: str) -> float:
    """P(what stands in a tricks box | the tricks that ought to stand there, or None)."""
    if due is None:
        if value == "":
            return 0.8
        if value == "-":
            return 0.15
        return 0.03 if value == "0" else 0.001
    if value == str(due):
        return 1 - TRICKS_FORGOTTEN - TRICKS_SLIP
    if value == "":
        return TRICKS_FORGOTTEN if due else 0.01
    if value == "-":
        return 1e-4 if due else 0.01
    return TRICKS_SLIP / 10 if value.isdigit() and int(value) <= 10 else 1e-6


TRICK_VALUES = ("", "-", *map(str, range(11)))


def row_candidates(ink: RowInk, half_whist: bool, concede: bool) -> list[Row]:
    """The deals that the row's ink allows, the likeliest first, down to a factor of e^-KEEP."""
    blank = Row(ink.deal, None, None)
    if ink.blank():
        return [blank]
    gain = {key: log(_of_mark(i, True) / _of_mark(i, False)) for key, i in ink.marks.items()}
    due = {s: _of_tricks(i) for s, i in ink.tricks.items()}
    most = {s: max(values) for s, values in due.items()}
    scored = []
    for shape in _shapes(ink.seats, ink.dealer, half_whist, concede):
        score = shape.prior + sum(gain[key] for key in shape.marks)
        scored.append((score + sum(most[seat] for seat in shape.counted), score, shape))
    scored.sort(key=lambda one: -one[0])
    best = 0.0
    found: list[tuple[float, Row, Tricks]] = [(best, blank, ())]
    for bound, score, shape in scored:
        # What the tricks can add at the most does not bring this shape near enough, nor any that follows.
        if bound < best - KEEP:
            break
        for tricks, share in shape.tricks:
            total = score + share + sum(due[seat][n] for seat, n in tricks)
            if total > best - KEEP:
                found.append((total, shape.row, tricks))
                best = max(best, total)
    found = sorted((one for one in found if one[0] > best - KEEP), key=lambda one: -one[0])[:40]
    return [replace(row, deal=ink.deal, tricks=tricks, score=score) for score, row, tricks in found]


ROW_FORGOTTEN = 1e-3
"""How often a deal's totals are written and nothing of what was played."""


def unmarked_rows(ink: RowInk, half_whist: bool, concede: bool) -> Iterator[Row]:
    """Every deal that may have been played in a row in which nothing is marked; the scores are those of the priors."""
    for shape in _shapes(ink.seats, ink.dealer, half_whist, concede):
        for tricks, share in shape.tricks:
            yield replace(shape.row, deal=ink.deal, tricks=tricks, score=log(ROW_FORGOTTEN) + shape.prior + share)


def _of_mark(ink: Ink, called: bool) -> float:
    return sum(mark_probability(called, value) * ink(value) for value in ("x", ""))


def _of_tricks(ink: Ink) -> list[float]:
    """How much likelier the ink of a tricks box is where each of 0 to 10 is due than where nothing is (logarithm)."""
    shares = {value: ink(value) for value in dict.fromkeys((*TRICK_VALUES, *ink.likely))}

    def chance(due: int | None) -> float:
        return sum(tricks_probability(due, value) * share for value, share in shares.items())

    nothing, nought, none_of_these = chance(None), chance(0), chance(11)
    due = [nought]
    for n in range(1, 11):
        # What is due differs between one to ten only in its own value.
        own = str(n)
        due.append(none_of_these + (tricks_probability(n, own) - tricks_probability(11, own)) * shares[own])
    return [log(value / nothing) for value in due]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A deal but for its number and tricks.

    `counted` are the seats whose tricks ought to be written, `tricks` every way in which they can fall; how usual the
    deal is (`prior`) and each of these ways are natural logarithms.
    """

    row: Row
    marks: frozenset[tuple[str, str]]
    prior: float
    counted: tuple[str, ...]
    tricks: tuple[tuple[Tricks, float], ...]


@cache
def _shapes(seats: str, dealer: str | None, half_whist: bool, concede: bool) -> tuple[_Shape, ...]:
    """Every deal but for its number and tricks; with four players the dealer sits out."""
    return tuple(
        _Shape(row, row.marks, log(prior), tuple(counted), tuple(_tricks(row, counted, dealer)))
        for row, prior, counted in _deals(seats, dealer, half_whist, concede)
    )


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
