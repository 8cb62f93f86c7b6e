"""From deals to entries: what each deal adds to which box, and why.

:func:`post` is pure and cheap, so that a search may try thousands of deals; :func:`ledger` walks a whole game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from scoring.convention import LEVELS, OPTIONS, Convention, Number, whole
from scoring.game import SEATS, Cell, Deal, Game, RuleError, Totals, cells_of, sitting_out, violations
from scoring.text import Text, figure_text, joined, points_text, seat_text, tricks_text, whists_text

Reason = tuple[Any, ...]
"""Why a box changed: a code, the amount, and the figures that the sentence needs."""

_HALVES = {"6": 2, "7": 1}
"""Tricks that a half-whist is worth."""


class State(NamedTuple):
    """Where a game stands: a small immutable value that :func:`post` turns into the next one.

    ``cells`` are the running totals in the order of :func:`scoring.game.cells_of`; ``run`` counts the raspasy in a row.
    """

    players: int
    limit: int | None
    cells: tuple[Number, ...]
    run: int = 0
    over: bool = False
    """The game has ended by its convention's condition, whatever is played afterwards."""

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats at the table."""
        return SEATS[: self.players]

    def total(self, cell: Cell) -> Number:
        """What stands in one box."""
        return self.cells[_layout(self.players).place[cell]]

    def totals(self) -> Totals:
        """What stands everywhere."""
        seats, place = self.seats, _layout(self.players).place
        return Totals(
            {s: self.cells[place[Cell("pool", s)]] for s in seats},
            {s: self.cells[place[Cell("mountain", s)]] for s in seats},
            {s: {o: self.cells[place[Cell("whists", s, o)]] for o in seats if o != s} for s in seats},
        )


class Entry(NamedTuple):
    """One box that a deal changes, what the deal adds to it and what then stands there."""

    column: str
    seat: str
    on: str | None
    add: Number
    total: Number
    reasons: tuple[Reason, ...]

    @property
    def cell(self) -> Cell:
        """The box."""
        return Cell(self.column, self.seat, self.on)

    @property
    def why(self) -> Text:
        """The reason in one sentence, with the rule behind it."""
        return joined([reason_text(reason) for reason in self.reasons])


@dataclass(frozen=True, slots=True)
class DealEntries:
    """What one deal adds, and the state that it leaves."""

    deal: int
    entries: tuple[Entry, ...]
    state: State


@dataclass(frozen=True, slots=True)
class Ledger:
    """A whole game, deal by deal, from its first state to its last."""

    start: State
    deals: tuple[DealEntries, ...]

    @property
    def end(self) -> State:
        """The state after the last deal."""
        return self.deals[-1].state if self.deals else self.start

    def over_at(self, convention: Convention) -> int | None:
        """The deal with which the game was over by its convention's condition, if it was."""
        return next((deal.deal for deal in self.deals if is_over(convention, deal.state)), None)

    def played_on(self, convention: Convention) -> int | None:
        """The deal with which the game was over, where more deals follow it."""
        over = self.over_at(convention)
        return over if over is not None and over != self.deals[-1].deal else None


class _Layout(NamedTuple):
    cells: tuple[Cell, ...]
    place: dict[Cell, int]
    pool: dict[str, int]
    mountain: dict[str, int]
    whists: dict[str, dict[str, int]]
    after: dict[str, tuple[str, ...]]
    """The other seats, clockwise from a seat's left."""


@lru_cache(maxsize=8)
def _layout(players: int) -> _Layout:
    seats = SEATS[:players]
    cells = tuple(cells_of(seats))
    place = {cell: i for i, cell in enumerate(cells)}
    return _Layout(
        cells,
        place,
        {s: place[Cell("pool", s)] for s in seats},
        {s: place[Cell("mountain", s)] for s in seats},
        {s: {o: place[Cell("whists", s, o)] for o in seats if o != s} for s in seats},
        {s: seats[i + 1 :] + seats[:i] for i, s in enumerate(seats)},
    )


def opening(players: int, limit: int | None = None, totals: Totals | None = None, run: int = 0) -> State:
    """The state before the first deal, from the totals and the run of raspasy carried over where there are any."""
    layout = _layout(players)
    cells = tuple(totals[cell] for cell in layout.cells) if totals else (0,) * len(layout.cells)
    return State(players, limit, cells, run)


class _Book:
    """One deal being entered: the totals as they change, and what was added where and why."""

    __slots__ = ("added", "cells", "convention", "layout", "limit", "seats")

    def __init__(self, convention: Convention, state: State) -> None:
        self.convention = convention
        self.limit = state.limit
        self.cells = list(state.cells)
        self.layout = _layout(state.players)
        self.seats = SEATS[: state.players]
        self.added: dict[int, list[Any]] = {}

    def put(self, place: int, amount: Number, *reason: Any) -> None:
        if amount == 0:
            return
        self.cells[place] += amount
        line = self.added.get(place)
        if line is None:
            self.added[place] = [amount, [reason]]
        else:
            line[0] += amount
            line[1].append(reason)

    def mountain(self, seat: str, amount: Number, *reason: Any) -> None:
        self.put(self.layout.mountain[seat], amount, *reason)

    def whists(self, seat: str, on: str, amount: Number, *reason: Any) -> None:
        self.put(self.layout.whists[seat][on], amount, *reason)

    def pool(self, seat: str, points: Number, *reason: Any) -> None:
        """Points to a pool; with a limit and help, what does not fit helps the others (Kodeks 4.2.3, 4.1.1)."""
        limit, convention = self.limit, self.convention
        own = self.layout.pool[seat]
        if limit is None or not convention.help:
            self.put(own, points, *reason)
            return
        fits = min(points, max(limit - self.cells[own], 0))
        if fits:
            self.put(own, fits, *(reason if fits == points else ("pool_closed", fits, *reason)))
        left = points - fits
        while left > 0:
            open_pools = [s for s in self.layout.after[seat] if self.cells[self.layout.pool[s]] < limit]
            if not open_pools:
                weight = convention.pool_weight
                off = left * weight if convention.divisible_mountain else Fraction(left * weight, len(self.seats))
                self.mountain(seat, -whole(off), "remainder", -off, left)
                return
            # max() keeps the first of equals: on a tie the one sitting to the left.
            helped = max(open_pools, key=lambda s: self.cells[self.layout.pool[s]])
            given = min(left, limit - self.cells[self.layout.pool[helped]])
            price = convention.whists_per_point * convention.pool_weight
            self.put(self.layout.pool[helped], given, "helped", given, seat)
            self.whists(seat, helped, given * price, "help", given * price, given, price, helped)
            left -= given

    def entries(self) -> tuple[Entry, ...]:
        layout_cells = self.layout.cells
        cells = self.cells
        made = []
        for place, (amount, reasons) in self.added.items():
            if amount == 0:
                continue
            if type(amount) is not int:
                amount = whole(amount)
            total = cells[place]
            if type(total) is not int:
                total = cells[place] = whole(total)
            column, seat, on = layout_cells[place]
            made.append(Entry(column, seat, on, amount, total, tuple(reasons)))
        return tuple(made)


def post(convention: Convention, state: State, deal: Deal) -> tuple[State, tuple[Entry, ...]]:
    """Enter one deal: the next state, and one entry for each box that changes.

    The deal must keep the rules (:func:`scoring.game.deal_violations`); of one that does not, the entries mean nothing.

    >>> from scoring.convention import load_convention
    >>> six = Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4})
    >>> state, entries = post(load_convention("sochi"), opening(3), six)
    >>> [(e.column, e.seat, e.on, e.add) for e in entries]
    [('pool', 'A', None, 2), ('whists', 'B', 'A', 8)]
    """
    book = _Book(convention, state)
    run = state.run
    if deal.contract == "raspasy":
        _raspasy(book, deal, run)
        run += 1
    else:
        result = _contract(book, deal)
        if run and _exits(convention, deal, run, result):
            run = 0
    if state.limit is not None and convention.premiums != _NO_PREMIUMS:
        _closing_premiums(book, state, run)
    entries = book.entries()
    after = State(state.players, state.limit, tuple(book.cells), run, state.over)
    if state.limit is not None and not state.over and is_over(convention, after):
        after = after._replace(over=True)
    return after, entries


_NO_PREMIUMS = Convention("", Text("", "")).premiums


def lasting(convention: Convention, state: State) -> State:
    """The state with noughts for all totals on which no later deal's entries depend.

    What deals add on top of it is right, the totals of the entries are not. Two games with the same lasting state go on
    alike.

    >>> from scoring.convention import load_convention
    >>> lasting(load_convention("sochi"), State(3, 20, (2, 0, 4, 0, 6, 0, 8, 0, 0, 0, 12, 0))).cells
    (2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    """
    n, nobody = state.players, (0,) * state.players
    mountain_counts = (
        convention.made_games == "half"
        or convention.totus
        or (convention.raspasy_zero == "mountain" and not convention.raspasy_zero_below)
        or convention.premiums.least_mountain
    )
    pools = state.cells[:n] if state.limit is not None else nobody
    mountains = state.cells[n : 2 * n] if mountain_counts else nobody
    return state._replace(cells=(*pools, *mountains, *(0,) * (len(state.cells) - 2 * n)))


class _Result(NamedTuple):
    made: bool
    whisted: bool


def _contract(book: _Book, deal: Deal) -> _Result:
    convention = book.convention
    declarer = deal.declarer or ""
    contract = deal.contract
    scale = deal.multiplier * 2 if deal.dark else deal.multiplier
    price, under, whist, short, obligation, consolation = convention.rates[contract]
    if scale != 1:
        price, under, whist, short, consolation = (v * scale for v in (price, under, whist, short, consolation))
    tricks = deal.tricks
    if contract == "misere":
        taken = tricks.get(declarer, 0)
        if taken == 0:
            _made(book, declarer, price, contract)
            if convention.premiums.misere:
                _premium(book, declarer, "misere", convention.premiums.misere)
        else:
            charged = 1 if convention.misere_penalty == "one" else taken
            book.mountain(declarer, charged * under, "misere_down", charged * under, taken, under)
        return _Result(taken == 0, False)
    if deal.conceded:
        fine = deal.conceded * under
        book.mountain(declarer, fine, "conceded", fine, deal.conceded, under)
        return _Result(False, False)

    seats = book.seats
    out = sitting_out(deal, seats)
    against = [seat for seat in book.layout.after[declarer] if seat != out]
    defence = deal.defence
    whisters = [seat for seat in against if defence.get(seat) == "whist"]
    if deal.talon_units:
        _talon(book, deal, out, against, whist)
    checked = not whisters and bool(tricks) and contract == "10" and convention.ten != "whisted"
    if not whisters and not checked:
        _made(book, declarer, price, contract)
        for seat in against:
            if defence.get(seat) == "half" and contract in _HALVES:
                due = _HALVES[contract]
                book.whists(seat, declarer, due * whist, "half_whist", due * whist, due, whist)
        return _Result(True, False)

    own = tricks.get(declarer)
    if own is None:
        own = 10 - sum(tricks.values())
    down = max(LEVELS.index(contract) + 6 - own, 0)
    if deal.totus:
        _totus(book, declarer, down)
    elif down:
        book.mountain(declarer, down * under, "down", down * under, down, under)
    else:
        _made(book, declarer, price, contract)
    _defence(
        book, deal, declarer, against, whisters or against, out, own, down, (whist, short, obligation, consolation)
    )
    return _Result(not down, bool(whisters))


def _defence(
    book: _Book,
    deal: Deal,
    declarer: str,
    against: list[str],
    whisters: list[str],
    out: str | None,
    own: int,
    down: int,
    rate: tuple[Number, Number, int, Number],
) -> None:
    convention = book.convention
    whist, short, obligation, consolation = rate
    theirs = 10 - own
    if deal.contract == "10" and convention.ten == "consolation":
        whist = 0
    reward = down * consolation
    lone = len(whisters) == 1
    style = convention.whist
    if lone and len(against) == 2 and style != "greedy" and (down or style == "gentleman_always"):
        together = theirs * whist + 2 * reward
        passer = against[0] if against[1] == whisters[0] else against[1]
        if convention.return_takes_all and down and deal.defence.get(passer) == "half":
            book.whists(whisters[0], declarer, together, "returned", together, theirs, whist, down, consolation)
        else:
            half = together // 2 if type(together) is int and not together & 1 else whole(Fraction(together, 2))
            for seat in against:
                book.whists(seat, declarer, half, "gentleman", half, theirs, whist, down, consolation)
    elif lone:
        whister = whisters[0]
        book.whists(whister, declarer, theirs * whist, "tricks", theirs * whist, theirs, whist)
        if reward:
            for seat in against:
                if seat == whister or convention.consolation_passer:
                    book.whists(seat, declarer, reward, "consolation", reward, down, consolation)
    else:
        first, last = whisters
        mine = deal.tricks[first] if first in deal.tricks else theirs - deal.tricks.get(last, 0)
        other = deal.tricks.get(last, theirs - mine)
        book.whists(first, declarer, mine * whist, "tricks", mine * whist, mine, whist)
        book.whists(last, declarer, other * whist, "tricks", other * whist, other, whist)
        if reward:
            book.whists(first, declarer, reward, "consolation", reward, down, consolation)
            book.whists(last, declarer, reward, "consolation", reward, down, consolation)
    if out is not None and reward and convention.dealer_consolation:
        book.whists(out, declarer, reward, "dealer_consolation", reward, down, consolation)
    if short and deal.defence.get(whisters[0]) == "whist":
        lacking = obligation - theirs
        if lone:
            if lacking > 0:
                book.mountain(whisters[0], lacking * short, "short", lacking * short, lacking, short)
        elif lacking > 0 or convention.high_responsibility == "each":
            _shortage(book, deal.contract, (first, last), (mine, other), lacking, short, obligation)


def _shortage(
    book: _Book,
    contract: str,
    whisters: tuple[str, str],
    tricks: tuple[int, int],
    lacking: int,
    short: Number,
    obligation: int,
) -> None:
    """What two whisters write in the mountain when they are short (Kodeks part 3)."""
    convention = book.convention
    if contract in _HALVES:
        if lacking <= 0:
            return
        quota = obligation // 2
        for seat, own in zip(whisters, tricks, strict=True):
            missing = max(quota - own, 0)
            if convention.shortage == "capped":
                missing = min(missing, lacking)
            book.mountain(seat, missing * short, "short", missing * short, missing, short)
        return
    rule = convention.high_responsibility
    if rule == "each":
        for seat, own in zip(whisters, tricks, strict=True):
            if own < obligation:
                book.mountain(
                    seat, (obligation - own) * short, "short", (obligation - own) * short, obligation - own, short
                )
    elif rule == "last":
        book.mountain(whisters[1], lacking * short, "short_last", lacking * short, lacking, short)
    else:
        share = whole(Fraction(lacking * short, 2)) if rule == "split" else lacking * short
        for seat in whisters:
            book.mountain(seat, share, "short_split" if rule == "split" else "short", share, lacking, short)


def _made(book: _Book, declarer: str, price: Number, contract: str) -> None:
    """A made contract: the pool, or half of it off one's own mountain as far as there is one."""
    if book.convention.made_games == "half":
        mountain = book.cells[book.layout.mountain[declarer]]
        off = min(whole(Fraction(price, 2)), max(mountain, 0))
        if off:
            book.mountain(declarer, -off, "half_off", -off, contract)
            price -= off
    book.pool(declarer, price, "made", price, contract)


def _totus(book: _Book, declarer: str, down: int) -> None:
    """An announced ten: made, it closes one's pool and wipes one's mountain; failed, it doubles the mountain."""
    mountain = book.cells[book.layout.mountain[declarer]]
    if down:
        book.mountain(declarer, mountain, "totus_down", mountain)
        return
    book.mountain(declarer, -mountain, "totus", -mountain)
    if book.limit is not None:
        place = book.layout.pool[declarer]
        book.put(place, max(book.limit - book.cells[place], 0), "totus_pool", book.limit)


def _talon(book: _Book, deal: Deal, out: str | None, against: list[str], whist: Number) -> None:
    """The talon premium: the idle dealer writes all of it, else the opponents share it."""
    convention = book.convention
    unit = whist if convention.talon_premium == "price" else Fraction(convention.talon_premium)
    premium = deal.talon_units * unit
    writers = [out] if out is not None else against
    share = whole(Fraction(premium, len(writers)))
    for seat in writers:
        book.whists(seat, deal.declarer or "", share, "talon", share, deal.talon_units, whole(unit))


def _premium(book: _Book, seat: str, name: str, amount: Number) -> None:
    for other in book.layout.after[seat]:
        book.whists(seat, other, amount, "premium", amount, name)


def _raspasy(book: _Book, deal: Deal, run: int) -> None:
    convention = book.convention
    out = sitting_out(deal, book.seats)
    tricks = dict(deal.tricks)
    missing = [seat for seat in book.seats if seat not in tricks and seat != out]
    if missing:
        tricks[missing[0]] = 10 - sum(tricks.values())
    scale = deal.multiplier * 2 if deal.dark else deal.multiplier
    if convention.raspasy == "whists":
        _raspasy_on_whists(book, tricks, out, run, scale)
        return
    prices = convention.raspasy_prices
    price = prices[min(run, len(prices) - 1)] * scale
    least = min(tricks.values()) if convention.raspasy_amnesty else 0
    for seat in book.seats:
        if seat not in tricks:
            continue
        taken = tricks[seat]
        if taken > least:
            if least:
                book.mountain(
                    seat, (taken - least) * price, "raspasy_less", (taken - least) * price, taken, least, price
                )
            else:
                book.mountain(seat, taken * price, "raspasy", taken * price, taken, price)
        elif taken == 0 and (seat != out or convention.raspasy_zero_dealer):
            _zero(book, seat, price * convention.raspasy_zero_multiplier)
            if convention.premiums.zero_raspasy and seat != out:
                _premium(book, seat, "zero_raspasy", convention.premiums.zero_raspasy)


def _zero(book: _Book, seat: str, points: Number) -> None:
    """The reward for no trick on raspasy."""
    convention = book.convention
    points = whole(points)
    if convention.raspasy_zero == "pool":
        book.pool(seat, points, "zero", points)
    elif convention.raspasy_zero == "mountain":
        if not convention.raspasy_zero_below:
            points = min(points, max(book.cells[book.layout.mountain[seat]], 0))
        book.mountain(seat, -points, "zero", -points)


def _raspasy_on_whists(book: _Book, tricks: dict[str, int], out: str | None, run: int, scale: int) -> None:
    """Raspasy on whists («Преферанс», Moscow pulka, item 4): whoever took least writes on the others."""
    convention = book.convention
    ladder = convention.raspasy_whists
    price = ladder[min(run, len(ladder) - 1)] * scale
    playing = [seat for seat in book.seats if seat in tricks and seat != out]
    least = min(tricks[seat] for seat in playing)
    winners = [seat for seat in playing if tricks[seat] == least]
    for loser in playing:
        counted_tricks = tricks[loser] - (least if convention.raspasy_count == "above_minimum" else 0)
        if loser in winners or not counted_tricks:
            continue
        due = counted_tricks * price
        share = whole(Fraction(due, len(winners)))
        for winner in winners:
            book.whists(winner, loser, share, "raspasy_whists", share, counted_tricks, price, len(winners))
    zero = whole(scale * convention.raspasy_zero_multiplier)
    if least == 0:
        for winner in winners:
            _zero(book, winner, zero)
            if convention.premiums.zero_raspasy:
                _premium(book, winner, "zero_raspasy", convention.premiums.zero_raspasy)
    if out is not None and convention.raspasy_zero_dealer:
        _zero(book, out, zero)


def _exits(convention: Convention, deal: Deal, run: int, result: _Result) -> bool:
    """Whether a contract ends a run of raspasy."""
    if convention.exit_by == "bid":
        return True
    if not result.made:
        return False
    levels = convention.exit
    needed = levels[min(run, len(levels)) - 1]
    if deal.contract == "misere" or deal.contract == "10":
        return convention.exit_by == "made"
    if LEVELS.index(deal.contract) + 6 < needed:
        return False
    return convention.exit_by == "made" or result.whisted


def is_over(convention: Convention, state: State) -> bool:
    """Whether the game has ended by its convention's condition; never without a pool limit, nor by the clock."""
    if state.over:
        return True
    if state.limit is None or convention.end == "time":
        return False
    pools = state.cells[: state.players]
    if convention.end == "closed":
        return all(pool >= state.limit for pool in pools)
    reached = sum(pools) >= state.limit * state.players
    return reached and (convention.end == "sum" or state.run == 0)


def _closing_premiums(book: _Book, before: State, run: int) -> None:
    """Premiums for closing one's pool first, and for the least mountain once the game is over; ties share."""
    convention, limit, n = book.convention, before.limit, before.players
    if limit is None:
        return
    premiums = convention.premiums
    now = State(n, limit, tuple(book.cells), run, before.over)
    if premiums.first_close and all(pool < limit for pool in before.cells[:n]):
        # Whoever is closed by help is closed after his helper.
        pools = book.layout.pool
        closed = [s for s in now.seats if book.cells[pools[s]] >= limit]
        own = [s for s in closed if all(reason[0] != "helped" for reason in book.added[pools[s]][1])]
        _shared_premium(
            book,
            own,
            "first_close",
            premiums.first_close,
        )
    if premiums.least_mountain and is_over(convention, now) and not is_over(convention, before):
        mountains = now.cells[n : 2 * n]
        least = min(mountains)
        _shared_premium(
            book,
            [s for s, m in zip(now.seats, mountains, strict=True) if m == least],
            "least_mountain",
            premiums.least_mountain,
        )


def _shared_premium(book: _Book, winners: list[str], name: str, amount: Number) -> None:
    for winner in winners:
        for other in book.layout.after[winner]:
            if other not in winners:
                book.whists(winner, other, whole(Fraction(amount, len(winners))), "premium", amount, name)


def start_of(game: Game) -> State:
    """The state before a game's first deal: its ``start``, else what stands in the carry-over row, else nothing."""
    start = game.start
    carried = [entry for entry in game.written if entry.deal == 0]
    if start is None and carried:
        start = Totals(dict.fromkeys(game.seats, 0), {}, {}).changed({entry.cell: entry.value for entry in carried})
    return opening(len(game.players), game.limit, start, game.raspasy_run)


def ledger(game: Game) -> Ledger:
    """Every entry of a game with its running total; RuleError with all violations where the record breaks the rules.

    >>> one = Deal(1, "6", declarer="A", defence={"B": "pass", "C": "pass"})
    >>> ledger(Game("sochi", {"A": "", "B": "", "C": ""}, [one], pool=10)).end.totals().pool["A"]
    2
    """
    broken = violations(game)
    if broken:
        raise RuleError(broken)
    convention = game.rules
    state = first = start_of(game)
    deals = []
    for deal in game.deals:
        state, entries = post(convention, state, deal)
        deals.append(DealEntries(deal.deal, entries, state))
    return Ledger(first, tuple(deals))


# --- reasons in words ------------------------------------------------------------------------------------------------


def _game_text(contract: str) -> Text:
    if contract == "misere":
        return Text("мизер", "misère")
    names = {"6": "шестерная", "7": "семерная", "8": "восьмерная", "9": "девятерная", "10": "десятерная"}
    return Text(names[contract], {"6": "six", "7": "seven", "8": "eight", "9": "nine", "10": "ten"}[contract])


def _times(tricks: Number, price: Number) -> str:
    return f"{figure_text(tricks)} × {figure_text(price)} = {figure_text(whole(Fraction(tricks) * price))}"


def _gentleman(theirs: int, whist: Number, down: int, consolation: Number) -> str:
    if not down:
        return f"{theirs} × {figure_text(whist)}"
    return f"{theirs} × {figure_text(whist)} + 2 × {down} × {figure_text(consolation)}"


def reason_text(reason: Reason) -> Text:
    """One reason of an entry as a sentence in both languages, with the rule behind it."""
    code, amount, *args = reason
    if code == "pool_closed":
        inner, *rest = args
        return _SENTENCES[inner](*rest) + Text(
            f", до закрытия пули {figure_text(amount)} ({_KODEKS.ru} 4.2.3)",
            f", of which {figure_text(amount)} close the pool ({_KODEKS.en} 4.2.3)",
        )
    rule = _RULES[code]
    russian = rule.replace("Kodeks part", "Кодекс, часть").replace("Kodeks", _KODEKS.ru)
    return _SENTENCES[code](amount, *args) + Text(f" ({russian})", f" ({rule})")


_KODEKS = Text("Кодекс", "Kodeks")


def _made_text(_: Number, contract: str) -> Text:
    if contract == "misere":
        return Text("мизер сыгран", "misère made")
    game = _game_text(contract)
    return Text(f"{game.ru} сыграна", f"{game.en} made")


_SENTENCES: dict[str, Callable[..., Text]] = {
    "made": _made_text,
    "half_off": lambda a, contract: Text(
        f"{_game_text(contract).ru}: половина с горы", f"{_game_text(contract).en}: half off the mountain"
    ),
    "down": lambda a, down, under: Text(f"без {down}: {_times(down, under)}", f"down {down}: {_times(down, under)}"),
    "misere_down": lambda a, taken, under: Text(
        f"мизер не сыгран, {tricks_text(taken).ru} по {figure_text(under)}",
        f"misère failed, {tricks_text(taken).en} at {figure_text(under)}",
    ),
    "conceded": lambda a, down, under: Text(
        f"уход без {down}: {_times(down, under)}, вистов нет", f"conceded {down} down: {_times(down, under)}, no whists"
    ),
    "tricks": lambda a, tricks, whist: Text(
        f"{tricks_text(tricks).ru} на висте: {_times(tricks, whist)}",
        f"{tricks_text(tricks).en} on whist: {_times(tricks, whist)}",
    ),
    "consolation": lambda a, down, c: Text(f"консоляция: {_times(down, c)}", f"consolation: {_times(down, c)}"),
    "dealer_consolation": lambda a, down, c: Text(
        f"консоляция сдающего: {_times(down, c)}", f"the dealer's consolation: {_times(down, c)}"
    ),
    "gentleman": lambda a, t, w, d, c: Text(
        f"джентльменский вист: ({_gentleman(t, w, d, c)}) : 2 = {figure_text(a)}",
        f"gentleman's whist: ({_gentleman(t, w, d, c)}) : 2 = {figure_text(a)}",
    ),
    "returned": lambda a, t, w, d, c: Text(
        f"вернул вист и пишет все висты: {_gentleman(t, w, d, c)} = {figure_text(a)}",
        f"returned the whist and writes all of it: {_gentleman(t, w, d, c)} = {figure_text(a)}",
    ),
    "half_whist": lambda a, due, w: Text(f"полвиста: {_times(due, w)}", f"half-whist: {_times(due, w)}"),
    "short": lambda a, n, p: Text(f"недобор на висте: {_times(n, p)}", f"short on whist: {_times(n, p)}"),
    "short_last": lambda a, n, p: Text(
        f"недобор на висте, отвечает вистовавший последним: {_times(n, p)}",
        f"short on whist, the last whister answers: {_times(n, p)}",
    ),
    "short_split": lambda a, n, p: Text(
        f"недобор на висте поровну: {_times(n, p)} : 2 = {figure_text(a)}",
        f"short on whist, in equal parts: {_times(n, p)} : 2 = {figure_text(a)}",
    ),
    "helped": lambda a, helper: Text(
        f"помощь, помогает {seat_text(helper).ru}: {points_text(a).ru}",
        f"helped by {helper}: {points_text(a).en}",
    ),
    "help": lambda a, given, price, on: Text(
        f"висты за помощь: {_times(given, price)}",
        f"whists for help: {_times(given, price)}",
    ),
    "remainder": lambda a, left: Text(
        f"все пули закрыты, {points_text(left).ru} с горы",
        f"every pool is closed, {points_text(left).en} off the mountain",
    ),
    "raspasy": lambda a, t, p: Text(f"распасы: {_times(t, p)}", f"raspasy: {_times(t, p)}"),
    "raspasy_less": lambda a, t, least, p: Text(
        f"распасы с амнистией: ({t} − {least}) × {figure_text(p)} = {figure_text(a)}",
        f"raspasy with amnesty: ({t} − {least}) × {figure_text(p)} = {figure_text(a)}",
    ),
    "raspasy_whists": lambda a, t, p, n: Text(
        f"распасы на висты: {_times(t, p)}" + (f" : {n} = {figure_text(a)}" if n > 1 else ""),
        f"raspasy on whists: {_times(t, p)}" + (f" : {n} = {figure_text(a)}" if n > 1 else ""),
    ),
    "zero": lambda a: Text("ноль взяток на распасах", "no trick on raspasy"),
    "talon": lambda a, units, unit: Text(
        f"премия за прикуп: {figure_text(units)} по {whists_text(unit).ru}",
        f"talon premium: {figure_text(units)} at {whists_text(unit).en}",
    ),
    "premium": lambda a, name: Text("премия: " + _PREMIUM[name][0], "premium: " + _PREMIUM[name][1]),
    "totus": lambda a: Text("тотус сыгран, гора списана", "totus made, the mountain is wiped"),
    "totus_pool": lambda a: Text("тотус сыгран, пуля закрыта", "totus made, the pool is closed"),
    "totus_down": lambda a: Text("тотус не сыгран, гора удвоена", "totus failed, the mountain doubles"),
}
_RULES: dict[str, str] = {
    "made": "Kodeks 4.2.1",
    "half_off": OPTIONS["made_games"].rule,
    "down": "Kodeks 4.2.1",
    "misere_down": "Kodeks 4.2.1",
    "conceded": OPTIONS["concede"].rule,
    "tricks": "Kodeks 4.2.1",
    "consolation": OPTIONS["consolation"].rule,
    "dealer_consolation": OPTIONS["dealer_consolation"].rule,
    "gentleman": OPTIONS["whist"].rule,
    "returned": OPTIONS["return_takes_all"].rule,
    "half_whist": OPTIONS["half_whist"].rule,
    "short": OPTIONS["defender_multiplier"].rule,
    "short_last": OPTIONS["high_responsibility"].rule,
    "short_split": OPTIONS["high_responsibility"].rule,
    "helped": OPTIONS["help"].rule,
    "help": OPTIONS["help"].rule,
    "remainder": "Kodeks 4.1.1",
    "raspasy": OPTIONS["raspasy_prices"].rule,
    "raspasy_less": OPTIONS["raspasy_amnesty"].rule,
    "raspasy_whists": OPTIONS["raspasy_whists"].rule,
    "zero": OPTIONS["raspasy_zero"].rule,
    "talon": OPTIONS["talon_premium"].rule,
    "premium": OPTIONS["premiums"].rule,
    "totus": OPTIONS["totus"].rule,
    "totus_pool": OPTIONS["totus"].rule,
    "totus_down": OPTIONS["totus"].rule,
}
_PREMIUM: dict[str, tuple[str, str]] = {
    "misere": ("сыгранный мизер", "a made misère"),
    "first_close": ("пуля закрыта первой", "first pool closed"),
    "zero_raspasy": ("ноль взяток на распасах", "no trick on raspasy"),
    "least_mountain": ("наименьшая гора", "the least mountain"),
}
