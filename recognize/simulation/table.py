"""A made-up table: plausible games, and what the players write about them into the protocol, mistakes included."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Literal

import numpy as np

from recognize.simulation.hand import Correction
from scoring import Deal, Entry, Game, load_convention, post
from scoring.convention import LEVELS, Convention
from scoring.game import Cell, cells_of, deal_violations, defenders, sitting_out
from scoring.ledger import is_over, opening, start_of
from templates import SEATS

CONVENTIONS = ("sochi", "leningrad", "piter", "rostov")
"""Those that are played at made-up tables."""

CORRECTED = 0.01
"""This share of what is written came about by correction."""

Number = int | Fraction
Habit = Literal["sparse", "dashes", "full"]

MISTAKES = {
    "arithmetic": 0.34,
    "forgotten": 0.2,
    "wrong price": 0.1,
    "wrong opponent": 0.1,
    "transposed digits": 0.08,
    "entered twice": 0.05,
    "wrong column": 0.05,
    "wrong row": 0.04,
    "wrong player": 0.03,
    "missed help": 0.01,
}
"""The slips that players make, and roughly how often each of all."""

UNFORESEEN = ("cancelling", "copied total", "row too low")
"""Slips that no model of the writing tells of: two that undo one another, the neighbouring column's total in place of
the own one, all totals of a deal one line too low (of the last deal: in a row in which nothing was played)."""

_SPECIAL = ("declarer", "contract", "whist", "tricks")

_NAMES = ("Иванов", "Петров", "Сидоров", "Орлов", "Кузнецова", "Мельник", "Белова", "Гусев", "Зайцев", "Фролова")


@dataclass(frozen=True, slots=True)
class Slip:
    """A mistake that was made in writing: where it stands on the paper, and what ought to stand there.

    `written` is None where nothing was written; `expected` follows from what stood above. `instead` is the box to which
    an entry belonged that was written into another. The same ink may be explained by another kind of mistake as well.
    """

    kind: str
    deal: int
    cell: Cell
    written: int | None
    expected: Number
    instead: Cell | None = None

    @property
    def field(self) -> str:
        """The box's field id."""
        return self.cell.field(self.deal)


def play(convention: str, players: int, deals: int, rng: np.random.Generator, pool: int | None = 20) -> Game:
    """A plausible game of at most so many deals: it ends earlier where the pool does.

    With four players the dealer sits out, by the order printed on the forms: A has the first lead.
    """
    rules = load_convention(convention, {})
    seats = tuple(SEATS[:players])
    names = rng.choice(len(_NAMES), players, replace=False)
    # At some tables the talon's cards play as the dealer's on raspasy, and he writes their tricks.
    talon_plays = players == 4 and rules.pool_weight == 2 and rng.random() < 0.5
    state = opening(players, pool)
    played: list[Deal] = []
    for number in range(1, deals + 1):
        deal = _deal(number, seats[(number - 2) % players], rules, seats, talon_plays, rng)
        state, _ = post(rules, state, deal)
        played.append(deal)
        if is_over(rules, state):
            break
    return Game(convention, {s: _NAMES[n] for s, n in zip(seats, names, strict=True)}, tuple(played), pool)


def _deal(
    number: int, dealer: str, rules: Convention, seats: tuple[str, ...], talon_plays: bool, rng: np.random.Generator
) -> Deal:
    while True:
        deal = _try_deal(number, dealer, rules, seats, talon_plays, rng)
        if not deal_violations(deal, rules, seats):
            return deal


def _try_deal(
    number: int, dealer: str, rules: Convention, seats: tuple[str, ...], talon_plays: bool, rng: np.random.Generator
) -> Deal:
    out = dealer if len(seats) == 4 else None
    playing = [s for s in seats if s != out]
    contract = str(
        rng.choice(["6", "7", "8", "9", "10", "misere", "raspasy"], p=[0.33, 0.22, 0.14, 0.04, 0.02, 0.07, 0.18])
    )
    if contract == "raspasy":
        takers = [*playing, dealer] if talon_plays else playing
        odds = rng.dirichlet([3.0] * len(playing)).tolist() + ([0.0] if talon_plays else [])
        talon = int(rng.binomial(2, 0.25)) if talon_plays else 0
        shares = rng.multinomial(10 - talon, odds[: len(playing)]).tolist() + ([talon] if talon_plays else [])
        return Deal(number, contract, dealer, tricks={s: int(n) for s, n in zip(takers, shares, strict=True)})
    declarer = str(rng.choice(playing))
    against = defenders(declarer, out, seats)
    if contract == "misere":
        taken = int(rng.choice([0, 1, 2, 3, 4], p=[0.58, 0.18, 0.13, 0.07, 0.04]))
        return Deal(number, contract, dealer, declarer, tricks={declarer: taken})
    level = LEVELS.index(contract) + 6
    own = int(np.clip(level + rng.choice([-3, -2, -1, 0, 1, 2], p=[0.02, 0.06, 0.16, 0.46, 0.22, 0.08]), 0, 10))
    eager = {"6": 0.62, "7": 0.55, "8": 0.4, "9": 0.3, "10": 0.5}[contract]
    says = {s: "whist" if rng.random() < eager else "pass" for s in against}
    whisters = [s for s in against if says[s] == "whist"]
    tricks = {}
    if len(whisters) == 1:
        tricks = {declarer: own, whisters[0]: 10 - own}
    elif whisters:
        first = int(rng.binomial(10 - own, 0.5))
        tricks = {declarer: own, whisters[0]: first, whisters[1]: 10 - own - first}
    return Deal(number, contract, dealer, declarer, defence=says, tricks=tricks)


def write_down(
    game: Game,
    rng: np.random.Generator,
    mistakes: int | Sequence[str] = 0,
    habit: Habit | None = None,
) -> tuple[dict[str, str], tuple[Slip, ...]]:
    """What the players write about a game into the protocol form: text by field id, and the mistakes they make.

    `mistakes` is how many, or which ones (names of MISTAKES and UNFORESEEN); one for which the game offers no place is
    left out. They are carried on in every later total of the box. `habit` is how they treat boxes with nothing to say:
    left empty, dashed, or all filled in; by default drawn, mostly empty. A row too low may take the row after the
    game's last.
    """
    if habit is None:
        habits: tuple[Habit, ...] = ("sparse", "dashes", "full")
        habit = habits[rng.choice(3, p=[0.8, 0.12, 0.08])]
    kinds = list(mistakes) if not isinstance(mistakes, int) else _drawn(mistakes, rng)
    book = _Book(game)
    for kind in kinds:
        book.slip(kind, rng)
    values: dict[str, str] = {}
    for deal in game.deals:
        values |= _marks(deal, game.seats, habit)
    totals, slips = book.written(habit)
    return values | totals, slips


def forget(values: Mapping[str, str], share: float, rng: np.random.Generator) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is left where people forget to fill in special columns, in so many of the deals, and the boxes forgotten.

    Of a deal it is a mark, somebody's tricks, or now and then all of the row's special columns.
    """
    forgotten: list[str] = []
    for row in dict.fromkeys(name.split(".")[0] for name in values):
        special = [n for n in values if n.startswith(f"{row}.") and n.split(".")[1] in _SPECIAL]
        if not special or rng.random() >= share:
            continue
        marks = [name for name in special if values[name] == "x"]
        tricks = [name for name in special if values[name].isdigit()]
        what = rng.choice(3, p=[0.5, 0.35, 0.15])
        if what == 2:
            forgotten += special
        elif chosen := (tricks if what else marks) or marks:
            forgotten.append(chosen[rng.integers(len(chosen))])
    return {name: value for name, value in values.items() if name not in forgotten}, tuple(forgotten)


def correct(
    values: Mapping[str, str], seats: Sequence[str], share: float, rng: np.random.Generator
) -> dict[str, Correction]:
    """How so many of what was written came about by correction; what stands in every box stays the same.

    A number is struck or scribbled out with the right one beside it, or written over; or it was written in the box
    next door first and struck out there. A mark was made in the wrong box first and cancelled there.
    """
    fixes: dict[str, Correction] = {}
    for name, value in values.items():
        if rng.random() >= share or not (value == "x" or value.isdigit()):
            continue
        beside = [other for other in _next_door(name, seats) if other not in values and other not in fixes]
        if value == "x":
            if beside:
                fixes[beside[rng.integers(len(beside))]] = Correction("cancelled")
            continue
        wrong = str(max(int(value) + int(rng.choice([-10, -2, -1, 1, 2, 10])), 0))
        kind = rng.choice(["struck", "scribbled", "overwritten", "elsewhere"], p=[0.4, 0.1, 0.3, 0.2])
        if kind == "elsewhere" and beside:
            how: tuple[Literal["struck", "scribbled"], ...] = ("struck", "struck", "scribbled")
            fixes[beside[rng.integers(len(beside))]] = Correction(how[rng.integers(3)], value)
        elif wrong != value:
            over = kind == "overwritten" and len(wrong) == len(value)
            fixes[name] = Correction("overwritten" if over else "scribbled" if kind == "scribbled" else "struck", wrong)
    return fixes


def _next_door(name: str, seats: Sequence[str]) -> list[str]:
    """Boxes of the same row in which what belongs here may be written by mistake."""
    row, column, *who = name.split(".")
    if column == "contract":
        others = [[other] for other in (*LEVELS, "misere", "raspasy") if other != who[0]]
    elif column == "whists":
        others = [[who[0], other] for other in seats if other not in who]
    elif column in ("pool", "mountain"):
        column, others = {"pool": "mountain", "mountain": "pool"}[column], [who]
    else:
        others = [[other] for other in seats if other != who[0]]
    return [".".join((row, column, *other)) for other in others]


def _drawn(count: int, rng: np.random.Generator) -> list[str]:
    odds = np.array(list(MISTAKES.values()))
    return [str(kind) for kind in rng.choice(list(MISTAKES), count, p=odds / odds.sum())]


def _marks(deal: Deal, seats: tuple[str, ...], habit: Habit) -> dict[str, str]:
    """A deal's marks and tricks, by the rules of the form."""
    row = f"d{deal.deal:02d}"
    values = {f"{row}.contract.{deal.contract}": "x"}
    if deal.declarer:
        values[f"{row}.declarer.{deal.declarer}"] = "x"
    values |= {f"{row}.whist.{seat}": "x" for seat, said in deal.defence.items() if said == "whist"}
    values |= {f"{row}.tricks.{seat}": str(taken) for seat, taken in deal.tricks.items()}
    if habit != "sparse":
        out = sitting_out(deal, seats)
        for seat in seats:
            if seat not in deal.tricks:
                passed = habit == "full" and bool(deal.tricks) and seat != out and deal.contract != "misere"
                values[f"{row}.tricks.{seat}"] = "0" if passed else "-"
    return values


class _Book:
    """What the players enter deal by deal, before it is summed up: the true entries, then the slips among them."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rules = game.rules
        self.start = start_of(game)
        state = self.start
        self.entries: dict[int, tuple[Entry, ...]] = {}
        for deal in game.deals:
            state, self.entries[deal.deal] = post(self.rules, state, deal)
        self.deals = {deal.deal: deal for deal in game.deals}
        self.true = {n: {e.cell: e.add for e in entries} for n, entries in self.entries.items()}
        self.adds = {n: dict(adds) for n, adds in self.true.items()}
        self.bent: dict[tuple[int, Cell], Callable[[Number, Mapping[Cell, Number]], Number]] = {}
        """What is written in place of a total: from the total, and from all that stands written by then."""
        self.slips: list[Slip] = []
        self.taken: set[int] = set()

    def written(self, habit: Habit) -> tuple[dict[str, str], tuple[Slip, ...]]:
        """The totals as they come to stand, each on top of what stood above it, and the slips with their figures."""
        cells = tuple(cells_of(self.game.seats))
        stands: dict[Cell, Number] = dict(zip(cells, self.start.cells, strict=True))
        values: dict[str, str] = {}
        final: list[Slip] = []
        for number, adds in self.adds.items():
            before = dict(stands)
            changed: list[Cell] = []
            for cell, add in adds.items():
                total = stands[cell] + add
                if bent := self.bent.get((number, cell)):
                    total = bent(total, stands)
                # There is no room for a half: it is rounded, and carried on so.
                stands[cell] = floor(total + Fraction(1, 2))
                changed.append(cell)
            for cell in cells if habit == "full" and number in self.deals else changed:
                values[cell.field(number)] = str(stands[cell])
            for slip in self.slips:
                if slip.deal == number:
                    ink = values.get(slip.field)
                    due = before[slip.cell] + self.true[number].get(slip.cell, 0)
                    wrote = None if ink is None else int(ink)
                    # What another slip had bent already may have come out right.
                    if wrote != due:
                        final.append(replace(slip, written=wrote, expected=due))
        return values, tuple(final)

    def slip(self, kind: str, rng: np.random.Generator) -> None:
        """Make one mistake of a kind somewhere in the game; none where the game offers no place for it."""
        makers = {
            "arithmetic": self._arithmetic,
            "cancelling": self._cancelling,
            "transposed digits": self._transposed,
            "wrong price": self._wrong_price,
            "forgotten": self._forgotten,
            "entered twice": self._twice,
            "wrong column": lambda at, rng: self._moved(at, "wrong column", _other_column, rng),
            "wrong opponent": lambda at, rng: self._moved(at, "wrong opponent", _other_opponent, rng),
            "wrong player": lambda at, rng: self._moved(at, "wrong player", _other_player, rng),
            "wrong row": self._wrong_row,
            "missed help": self._missed_help,
            "copied total": self._copied,
            "row too low": self._row_too_low,
        }
        if kind not in makers:
            raise ValueError(f"no mistake {kind!r}; there are {', '.join(makers)}")
        places = [(n, e) for n, entries in self.entries.items() if n not in self.taken for e in entries]
        for index in rng.permutation(len(places)):
            number, entry = places[index]
            made = makers[kind]((number, entry), rng)
            if made:
                self.slips += made
                self.taken |= {slip.deal for slip in made}
                return

    def _made(self, kind: str, number: int, cell: Cell, instead: Cell | None = None) -> Slip:
        return Slip(kind, number, cell, None, 0, instead)

    def _arithmetic(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        by = int(rng.choice([-10, -2, -1, 1, 2, 10, 4, -4]))
        if entry.total + by < 0 or by in (entry.add, -entry.add):
            return []
        self.bent[number, entry.cell] = lambda total, _: total + by
        return [self._made("arithmetic", number, entry.cell)]

    def _cancelling(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        later = [n for n, adds in self.true.items() if n > number and n not in self.taken and entry.cell in adds]
        by = int(rng.choice([-10, -2, 2, 10]))
        if not later or entry.total + by < 0:
            return []
        again = int(rng.choice(later))
        self.bent[number, entry.cell] = lambda total, _: total + by
        self.bent[again, entry.cell] = lambda total, _: total - by
        return [self._made("cancelling", n, entry.cell) for n in (number, again)]

    def _copied(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        block = [cell for cell in cells_of(self.game.seats) if cell.seat == entry.cell.seat]
        place = block.index(entry.cell)
        beside = [block[p] for p in (place - 1, place + 1) if 0 <= p < len(block)]
        taken = beside[rng.integers(len(beside))]
        stood = [e.total for n in self.entries if n <= number for e in self.entries[n] if e.cell == taken]
        if not stood or entry.total in stood[-2:] or entry.total - entry.add in stood[-2:]:
            return []
        self.bent[number, entry.cell] = lambda _, stands: stands[taken]
        return [self._made("copied total", number, entry.cell)]

    def _row_too_low(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        """Where the next deal's totals go into the same boxes, only they stand there."""
        number, _ = at
        after = number + 1
        if after in self.taken or len(self.adds[number]) < 2:
            return []
        low = self.adds[number]
        self.adds[number] = {}
        due = self.adds.get(after, {})
        self.adds[after] = {cell: low.get(cell, 0) + due.get(cell, 0) for cell in (*low, *due)}
        self.taken.add(after)
        return [self._made("row too low", number, cell) for cell in low]

    def _transposed(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        digits = str(entry.total)
        if (
            not digits.isdigit()
            or len(digits) < 2
            or digits[-1] == digits[-2]
            or (len(digits) == 2 and digits[-1] == "0")
        ):
            return []

        def swap(total: Number, _: Mapping[Cell, Number]) -> Number:
            text = str(total)
            return int(text[:-2] + text[-1] + text[-2]) if text.isdigit() and len(text) > 1 else total

        self.bent[number, entry.cell] = swap
        return [self._made("transposed digits", number, entry.cell)]

    def _wrong_price(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        contract = self.deals[number].contract
        if len(entry.reasons) != 1 or entry.reasons[0][0] in ("help", "helped", "pool_closed", "remainder", "zero"):
            return []
        if contract == "raspasy":
            ladder = [p for p in self.rules.raspasy_prices if self.rules.raspasy == "mountain"]
            if len(ladder) < 2 or len(entry.reasons[0]) < 4:
                return []
            ratios = [Fraction(p) / Fraction(entry.reasons[0][3]) for p in ladder]
        elif contract in LEVELS:
            place = LEVELS.index(contract)
            near = [p for p in (place - 1, place + 1) if 0 <= p < len(LEVELS)]
            ratios = [Fraction(self.rules.values[p]) / Fraction(self.rules.values[place]) for p in near]
        else:
            return []
        wrong = [entry.add * r for r in ratios if r != 1 and (entry.add * r).denominator == 1]
        if not wrong:
            return []
        self.adds[number][entry.cell] = int(wrong[rng.integers(len(wrong))])
        return [self._made("wrong price", number, entry.cell)]

    def _forgotten(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        del self.adds[number][entry.cell]
        # What somebody else's full pool brought is forgotten by another name.
        help_only = all(reason[0] in ("help", "helped") for reason in entry.reasons)
        return [self._made("missed help" if help_only else "forgotten", number, entry.cell)]

    def _twice(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        self.adds[number][entry.cell] = 2 * entry.add
        return [self._made("entered twice", number, entry.cell)]

    def _moved(
        self,
        at: tuple[int, Entry],
        kind: str,
        others: Callable[[Cell, tuple[str, ...]], Iterable[Cell]],
        rng: np.random.Generator,
    ) -> list[Slip]:
        number, entry = at
        free = [cell for cell in others(entry.cell, self.game.seats) if cell not in self.adds[number]]
        if not free or entry.add < 0:
            return []
        taker = free[rng.integers(len(free))]
        self.adds[number][taker] = self.adds[number].pop(entry.cell)
        return [self._made(kind, number, taker, entry.cell)]

    def _wrong_row(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        number, entry = at
        after = number + 1
        if after not in self.adds or after in self.taken or entry.cell in self.adds[after]:
            return []
        self.adds[after][entry.cell] = self.adds[number].pop(entry.cell)
        self.taken.add(after)
        return [self._made("wrong row", number, entry.cell)]

    def _missed_help(self, at: tuple[int, Entry], rng: np.random.Generator) -> list[Slip]:
        """The declarer closes his pool and forgets the points that are over."""
        number, entry = at
        helped = [e for e in self.entries[number] if any(r[0] == "helped" for r in e.reasons)]
        if len(helped) != 1 or not any(r[0] == "help" for r in entry.reasons) or len(entry.reasons) > 1:
            return []
        del self.adds[number][entry.cell]
        del self.adds[number][helped[0].cell]
        return [self._made("missed help", number, entry.cell)]


def _other_column(cell: Cell, seats: tuple[str, ...]) -> Iterable[Cell]:
    swap = {"pool": "mountain", "mountain": "pool"}
    return [Cell(swap[cell.column], cell.seat)] if cell.column in swap else []


def _other_opponent(cell: Cell, seats: tuple[str, ...]) -> Iterable[Cell]:
    return [cell._replace(on=s) for s in seats if s not in (cell.seat, cell.on)] if cell.column == "whists" else []


def _other_player(cell: Cell, seats: tuple[str, ...]) -> Iterable[Cell]:
    return [cell._replace(seat=s) for s in seats if s not in (cell.seat, cell.on)]
