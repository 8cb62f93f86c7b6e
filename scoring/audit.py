"""What was written against what was played: every mistake once, in the box and the deal where it was made.

On paper only running totals stand, so a slip is carried on by every later total of its box. The walk below keeps, for
each box, what stands written and which slips it still carries; a total that follows from what stands above it is no new
mistake.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from scoring.convention import LEVELS, Convention, Number, whole
from scoring.game import Cell, Deal, Game, Totals, Violation, cells_of, name_text, violations
from scoring.ledger import Entry, Reason, State, is_over, post, reason_text, start_of
from scoring.settlement import Judgement, judge, settle
from scoring.text import Text, figure_text, seat_text

KINDS = (
    "arithmetic",
    "wrong price",
    "forgotten",
    "entered twice",
    "wrong column",
    "wrong opponent",
    "wrong player",
    "wrong row",
    "transposed digits",
    "missed help",
    "pool over the limit",
    "unexplained",
)

AFTER_THE_END = "after_the_end"
"""The code of the note that a record goes on after its game was over."""

Settlement = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in the writing, where it was made.

    ``written`` is what stands on the paper (``None`` where nothing does), ``expected`` what would follow from what
    stood above it, ``due`` what would stand there had nobody made a mistake before. ``changes`` are the boxes that it
    leaves wrong at the end, with the amounts; ``cost`` is what it does to the settlement. ``corrected`` is the deal in
    which it was put right, ``instead`` the box to which the entry belonged.
    """

    deal: int
    column: str
    seat: str
    on: str | None
    kind: str
    written: int | None
    expected: Number
    due: Number
    message: Text
    changes: Mapping[Cell, Number] = field(default_factory=dict)
    cost: Mapping[str, Fraction] = field(default_factory=dict)
    corrected: int | None = None
    instead: Cell | None = None

    @property
    def cell(self) -> Cell:
        """The box in which it stands."""
        return Cell(self.column, self.seat, self.on)

    @property
    def field(self) -> str:
        """The box as forms name it, for example ``d05.whists.B.A``."""
        return self.cell.field(self.deal)


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that is no mistake: an equivalent way of writing, a half rounded, a mistake put right."""

    code: str
    message: Text
    deal: int | None = None
    changes: Mapping[Cell, Number] = field(default_factory=dict)
    seat: str | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """What :func:`check` found.

    ``played`` is the settlement that follows from the deals, ``written`` the one that follows from the totals as the
    players left them, which stand once the next auction is over (Kodeks 4.2.9-4.2.10). Both are ``None``, and
    ``violations`` say why, where the record breaks the rules. ``empty`` says that nothing is written at all.
    """

    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[Note, ...] = ()
    violations: tuple[Violation, ...] = ()
    played: Mapping[str, Fraction] | None = None
    written: Mapping[str, Fraction] | None = None
    totals_played: Totals | None = None
    totals_written: Totals | None = None
    result: Judgement | None = None
    empty: bool = False

    @property
    def difference(self) -> Settlement:
        """What the mistakes brought every player: the settlement as written less the one as played."""
        if self.played is None or self.written is None:
            return {}
        return {seat: self.written[seat] - self.played[seat] for seat in self.played}


class _Slip:
    """A departure of the paper from the ledger, as the walk knows it."""

    __slots__ = (
        "changes",
        "corrected",
        "deal",
        "due",
        "expected",
        "instead",
        "kind",
        "main",
        "note",
        "row",
        "said",
        "waiting",
        "wrote",
    )

    def __init__(self, row: int, deal: int, spot: _Spot, kind: str, *, note: bool = False) -> None:
        self.row = row
        self.waiting = row
        """The row whose entry has not been written yet."""
        self.deal = deal
        self.main = spot.cell
        self.kind = kind
        self.wrote = spot.wrote
        self.expected = spot.carried
        self.due = spot.true
        self.changes: dict[Cell, Number] = {spot.cell: spot.off}
        self.corrected: int | None = None
        self.instead: Cell | None = None
        self.said: Text | None = None
        self.note = note


class _Spot:
    """One box in one deal where the paper departs from what stood above it and what the deal adds."""

    __slots__ = ("add", "cell", "off", "reasons", "stood", "true", "wrote")

    def __init__(
        self, cell: Cell, add: Number, reasons: tuple[Reason, ...], stood: Number, wrote: int | None, true: Number
    ) -> None:
        self.cell = cell
        self.add = add
        self.reasons = reasons
        self.stood = stood
        self.wrote = wrote
        self.true = true
        self.off: Number = -add if wrote is None else whole(wrote - stood - add)

    @property
    def carried(self) -> Number:
        return whole(self.stood + self.add)

    @property
    def missing(self) -> bool:
        """Nothing entered though something was due: the box is empty, or the old total was written again."""
        return self.add != 0 and (self.wrote is None or self.wrote == self.stood)

    def near(self, total: Number) -> bool:
        """Whether the ink is that total but for a half that it cannot show."""
        return self.wrote is not None and -1 < self.wrote - total < 1

    @property
    def codes(self) -> set[str]:
        return {reason[0] for reason in self.reasons}


def check(game: Game, unread: Collection[tuple[int, Cell]] = ()) -> Audit:
    """Compare the written entries of a game with its ledger.

    ``unread`` are boxes, by deal, of which nobody knows what stands in them: they are taken to follow from the rest and
    never called forgotten. A record that breaks the rules comes back as its violations.

    >>> from scoring.game import Written
    >>> one = Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4})
    >>> paper = [Written(1, "pool", "A", 2), Written(1, "whists", "B", 7, on="A")]
    >>> found = check(Game("sochi", {"A": "", "B": "", "C": ""}, [one], written=paper)).mistakes
    >>> [(m.field, m.kind, m.written, m.expected) for m in found]
    [('d01.whists.B.A', 'arithmetic', 7, 8)]
    """
    broken = violations(game)
    if broken:
        return Audit(violations=broken)
    convention = game.rules
    if game.totals is not None:
        played = settle(game.totals, convention)
        return Audit(
            played=played,
            written=played,
            totals_played=game.totals,
            totals_written=game.totals,
            result=judge(game.result, game.totals, convention, game.players) if game.result is not None else None,
            empty=not game.written,
        )
    walk = _Walk(game, convention, frozenset(unread))
    totals = walk.state.totals()
    played = settle(totals, convention)
    over = next(
        (d.deal for d, s in zip(game.deals[:-1], walk.states[1:], strict=False) if is_over(convention, s)), None
    )
    noted = remarks(game, over)
    if not game.written:
        result = judge(game.result, totals, convention, game.players) if game.result is not None else None
        return Audit(notes=noted, played=played, totals_played=totals, result=result, empty=True)
    changes: dict[Cell, Number] = {}
    for slip in walk.slips:
        for cell, amount in slip.changes.items():
            changes[cell] = changes.get(cell, 0) + amount
    left = totals.changed(changes)
    mistakes = tuple(walk.mistake(slip) for slip in walk.slips if not slip.note)
    return Audit(
        mistakes=tuple(sorted(mistakes, key=lambda m: walk.rows[m.deal])),
        notes=(*noted, *sorted(walk.notes, key=lambda note: walk.rows[note.deal or 0])),
        played=played,
        written=settle(left, convention),
        totals_played=totals,
        totals_written=left,
        result=judge(game.result, left, convention, game.players) if game.result is not None else None,
    )


def remarks(game: Game, over: int | None) -> tuple[Note, ...]:
    """What is odd about a record as a whole: no pool limit, deals that are missing, deals after the end.

    ``over`` is the deal with which the game was over, where more follow it. A sheet that goes on from another one may
    begin with any deal.

    >>> twice = Game("sochi", {"A": "", "B": ""}, [Deal(n, "6", declarer="A") for n in (1, 2, 7)], 10)
    >>> [note.message.en for note in remarks(twice, None)]
    ['deals 3 to 6 are not recorded']
    """
    notes = []
    convention = game.rules
    if game.deals and game.pool is None and convention.end != "time":
        said = Text(
            "до скольких играли пулю, не указано: считается, что предела нет"
            + (", помощи не бывает" if convention.help else "")
            + " и конец пульки не проверяется",
            "no pool limit is given: it is taken that there was none"
            + (", hence no help" if convention.help else "")
            + ", and the end of the game is not checked",
        )
        notes.append(Note("no_limit", said))
    goes_on = game.start is not None or any(entry.deal == 0 for entry in game.written)
    numbers = [deal.deal for deal in game.deals]
    for before, after in pairwise(numbers if goes_on else [0, *numbers]):
        first, last = before + 1, after - 1
        if first < last:
            said = Text(f"сдачи {first}–{last} не записаны", f"deals {first} to {last} are not recorded")
            notes.append(Note("deals_missing", said))
        elif first == last:
            notes.append(Note("deals_missing", Text(f"сдача {first} не записана", f"deal {first} is not recorded")))
    if over is not None:
        said = Text(
            f"пулька окончена сдачей {over}, дальше записаны ещё сдачи",
            f"the game was over with deal {over}, yet more deals follow",
        )
        notes.append(Note(AFTER_THE_END, said))
    return tuple(notes)


class _Walk:
    """The walk down the sheet, row by row."""

    def __init__(self, game: Game, convention: Convention, unread: frozenset[tuple[int, Cell]]) -> None:
        self.game = game
        self.convention = convention
        self.unread = unread
        self.cells = tuple(cells_of(game.seats))
        state = start_of(game)
        self.stands: dict[Cell, Number] = dict(zip(self.cells, state.cells, strict=True))
        self.true = dict(self.stands)
        self.carrying: dict[Cell, list[_Slip]] = {}
        self.last: dict[Cell, Number] = {}
        self.slips: list[_Slip] = []
        self.notes: list[Note] = []
        self.righted: list[tuple[int, Cell, _Slip]] = []
        self.rows = {0: 0} | {deal.deal: row for row, deal in enumerate(game.deals, 1)}
        self.states = [state]
        posted: list[tuple[Deal, tuple[Entry, ...]]] = []
        for deal in game.deals:
            state, entries = post(convention, state, deal)
            self.states.append(state)
            posted.append((deal, entries))
        self.state: State = state
        if not game.written:
            return
        paper: dict[int, dict[Cell, int]] = {}
        for entry in game.written:
            paper.setdefault(entry.deal, {})[entry.cell] = entry.value
        self.down = self._counting_down(posted, paper)
        self._row(0, 0, None, (), paper.get(0, {}))
        stray = deque(sorted(paper.keys() - self.rows.keys()))
        for row, (deal, entries) in enumerate(posted, 1):
            while stray and stray[0] < deal.deal:
                self._stray(row - 1, stray.popleft(), paper)
            self._row(row, deal.deal, deal, entries, paper.get(deal.deal, {}))
        for number in stray:
            self._stray(len(posted), number, paper)
        self._note_corrections()

    # -- the pool counted down ----------------------------------------------------------------------------------------

    def _counting_down(
        self, posted: list[tuple[Deal, tuple[Entry, ...]]], paper: Mapping[int, Mapping[Cell, int]]
    ) -> frozenset[str]:
        """The seats that count their pool down from the limit: at least two steps more go down than up.

        One step is enough only at a table where someone else counts down: 2 of 10 is also a wrong 8.
        """
        limit = self.game.limit
        if limit is None:
            return frozenset()
        found, perhaps = set(), set()
        for seat in self.game.seats:
            cell = Cell("pool", seat)
            up, down = self.stands[cell], limit - self.stands[cell]
            score = skipped = 0
            first = paper.get(0, {}).get(cell)
            if first is not None and up != down:
                score += (first == up) - (first == down)
            for deal, entries in posted:
                wrote = paper.get(deal.deal, {}).get(cell)
                entry = next((e for e in entries if e.column == "pool" and e.seat == seat), None)
                if wrote is None:
                    skipped += entry is not None and (deal.deal, cell) not in self.unread
                    continue
                if entry is not None:
                    score += wrote in (up + entry.add, entry.total)
                    score -= wrote in (down - entry.add, limit - entry.total)
                up = down = wrote
            if score < -1:
                found.add(seat)
            elif score < 0 and not skipped:
                perhaps.add(seat)
        if found:
            found |= perhaps
        for seat in sorted(found):
            name = name_text(seat, self.game.players)
            message = Text(f"{name.ru}: пуля ведётся на убыль", f"{name.en}: the pool is counted down")
            self.notes.append(Note("counting_down", message, seat=seat))
        return frozenset(found)

    def _shown(self, cell: Cell, value: Number) -> Number:
        """A total as its player writes it: counted down where he counts down."""
        if cell.column == "pool" and cell.seat in self.down:
            return (self.game.limit or 0) - value
        return value

    # -- one row ------------------------------------------------------------------------------------------------------

    def _row(
        self, row: int, number: int, deal: Deal | None, entries: tuple[Entry, ...], paper: Mapping[Cell, int]
    ) -> None:
        before = dict(self.true) if deal is not None and self.slips else self.true
        for entry in entries:
            self.true[entry.cell] = entry.total
        spots, follows = self._departures(number, entries, paper)
        if spots and deal is not None and self.slips:
            by_paper = self._by_paper(row, deal, before)
            if by_paper is not None:
                fewer, agreeing = self._departures(number, by_paper, paper)
                if len(fewer) < len(spots):
                    self._blame(entries, by_paper)
                    entries, spots, follows = by_paper, fewer, agreeing
        for cell, total, add in follows:
            self.stands[cell] = total
            self.last[cell] = add
        if spots:
            for spot in spots:
                if spot.wrote is not None:
                    self.stands[spot.cell] = spot.wrote
            self._explain(row, number, deal, spots, entries)
            for spot in spots:
                if spot.add and not spot.missing:
                    self.last[spot.cell] = spot.add

    def _stray(self, row: int, number: int, paper: Mapping[int, Mapping[Cell, int]]) -> None:
        """A row in which totals stand and nothing was played; it counts with the deal before it, number `row`."""
        self.rows[number] = row
        self._row(row, number, None, (), paper[number])

    def _departures(
        self, number: int, entries: tuple[Entry, ...], paper: Mapping[Cell, int]
    ) -> tuple[list[_Spot], list[tuple[Cell, Number, Number]]]:
        """Where a row departs from these entries on top of what stood, and the boxes that follow from them."""
        spots: list[_Spot] = []
        follows: list[tuple[Cell, Number, Number]] = []
        stands = self.stands
        seen = set()
        for column, seat, on, add, _, reasons in entries:
            cell = Cell(column, seat, on)
            seen.add(cell)
            stood = stands[cell]
            wrote = paper.get(cell)
            if wrote is None:
                if (number, cell) in self.unread:
                    follows.append((cell, stood + add, add))
                else:
                    spots.append(_Spot(cell, add, reasons, stood, None, self.true[cell]))
                continue
            if self.down and column == "pool" and seat in self.down:
                wrote = (self.game.limit or 0) - wrote
            if wrote == stood + add:
                follows.append((cell, wrote, add))
            else:
                spots.append(_Spot(cell, add, reasons, stood, wrote, self.true[cell]))
        for cell, value in paper.items():
            if cell in seen:
                continue
            wrote = (self.game.limit or 0) - value if cell.column == "pool" and cell.seat in self.down else value
            if wrote != stands[cell]:
                spots.append(_Spot(cell, 0, (), stands[cell], wrote, self.true[cell]))
        return spots, follows

    def _by_paper(self, row: int, deal: Deal, before: Mapping[Cell, Number]) -> tuple[Entry, ...] | None:
        """What the deal adds for whoever goes by the paper, where pools or mountains on it are not the true ones.

        An earlier mistake moves help and the remainder from then on (Kodeks 4.2.3, 4.1.1): that is no new mistake.
        """
        if all(self.stands[c] == before[c] for c in self.cells if c.column != "whists"):
            return None
        state = self.states[row - 1]
        standing = state._replace(cells=tuple(self.stands[cell] for cell in self.cells))
        return post(self.convention, standing, deal)[1]

    def _blame(self, entries: tuple[Entry, ...], by_paper: tuple[Entry, ...]) -> None:
        """Add what a row differs in because of the paper's pools to the last slip that left them wrong."""
        shift: dict[Cell, Number] = {}
        for sign, side in ((1, by_paper), (-1, entries)):
            for entry in side:
                shift[entry.cell] = shift.get(entry.cell, 0) + sign * entry.add
        slip = next(s for s in reversed(self.slips) if any(v and c.column != "whists" for c, v in s.changes.items()))
        for cell, amount in shift.items():
            if amount:
                slip.changes[cell] = whole(slip.changes.get(cell, 0) + amount)
                if slip not in self.carrying.setdefault(cell, []):
                    self.carrying[cell].append(slip)

    def _explain(
        self, row: int, number: int, deal: Deal | None, spots: list[_Spot], entries: tuple[Entry, ...]
    ) -> None:
        """Find what each departure of a row is: first what spans several boxes, then each by itself."""
        spots = [spot for spot in spots if not self._earlier_row(row, spot)]
        # An old total written again is right where a forgotten entry and this deal's cancel.
        spots = [
            spot for spot in spots if spot.wrote != spot.true or not spot.missing or not self._put_right(number, spot)
        ]
        if len(spots) > 1:
            spots = self._amnesty(row, number, spots)
            spots = self._equivalent(row, number, spots)
        if self.convention.help and self.game.limit is not None and spots:
            spots = self._help(row, number, spots)
        if len(spots) > 1:
            spots = self._moved(row, number, spots)
            spots = self._swapped(row, number, spots)
        for spot in spots:
            if spot.wrote is not None and (self._put_right(number, spot) or self._one_row_late(row, spot)):
                continue
            if any(isinstance(v, Fraction) and spot.near(v) for v in (spot.carried, spot.true)):
                self._note(row, number, [spot], "rounded", Text("половина округлена", "a half is rounded"))
                continue
            slip = self._slip(row, number, [spot], self._kind(spot, deal))
            slip.said = self._detail(slip, spot, deal, entries)

    def _slip(self, row: int, number: int, spots: list[_Spot], kind: str, *, note: bool = False) -> _Slip:
        slip = _Slip(row, number, spots[0], kind, note=note)
        for spot in spots:
            slip.changes[spot.cell] = spot.off
            self.carrying.setdefault(spot.cell, []).append(slip)
        self.slips.append(slip)
        return slip

    def _note(self, row: int, number: int, spots: list[_Spot], code: str, message: Text) -> None:
        slip = self._slip(row, number, spots, code, note=True)
        self.notes.append(Note(code, self._place(number, spots[0].cell) + message, number, dict(slip.changes)))

    # -- several rows -------------------------------------------------------------------------------------------------

    def _open(self, cell: Cell) -> list[_Slip]:
        return [slip for slip in self.carrying.get(cell, ()) if slip.changes[cell]]

    def _put_right(self, number: int, spot: _Spot) -> bool:
        """The total undoes slips that the box was carrying: all of them, or one."""
        # What several boxes wrote in an equivalent way is neutral only as a whole: one box cannot take it back.
        carried = [slip for slip in self._open(spot.cell) if not (slip.note and len(slip.changes) > 1)]
        if not carried:
            return False
        if sum(slip.changes[spot.cell] for slip in carried) == -spot.off:
            righted = carried
        else:
            righted = [slip for slip in reversed(carried) if slip.changes[spot.cell] == -spot.off][:1]
        for slip in righted:
            slip.changes[spot.cell] = 0
            self.righted.append((number, spot.cell, slip))
            if slip.kind == "forgotten" and spot.add == 0 and slip.main == spot.cell:
                slip.kind = "wrong row"
            if not any(slip.changes.values()):
                slip.corrected = number
        return bool(righted)

    def _one_row_late(self, row: int, spot: _Spot) -> bool:
        """The entry missing above stands here, and this deal's own is missing in turn: the box runs one row late."""
        if not spot.add:
            return False
        for slip in self._open(spot.cell):
            late = slip.kind in ("forgotten", "wrong row") and slip.waiting == row - 1
            if late and spot.wrote == spot.stood - slip.changes[spot.cell]:
                slip.kind = "wrong row"
                slip.waiting = row
                slip.changes[spot.cell] = -spot.add
                return True
        return False

    def _earlier_row(self, row: int, spot: _Spot) -> bool:
        """What is missing here was written a row too high."""
        if not spot.missing:
            return False
        for slip in self._open(spot.cell):
            early = row - slip.row == 1 and slip.wrote is not None and slip.main == spot.cell and not slip.note
            if early and len(slip.changes) == 1 and slip.changes[spot.cell] == spot.add:
                slip.kind = "wrong row"
                slip.said = Text("запись сделана строкой выше", "the entry stands a row too high")
                slip.changes[spot.cell] = 0
                slip.corrected = self.game.deals[row - 1].deal
                return True
        return False

    def _note_corrections(self) -> None:
        """Every box whose total came right again, by the writer or by a second slip that cancels the first."""
        for number, cell, slip in self.righted:
            if slip.note or slip.kind == "wrong row":
                continue
            message = Text(
                f"итог снова верен (ошибка из сдачи {slip.deal} исправлена или погашена другой)",
                f"the total is right again (the mistake of deal {slip.deal} put right, or cancelled)",
            )
            self.notes.append(Note("put_right", self._place(number, cell) + message, number, seat=cell.seat))

    # -- several boxes ------------------------------------------------------------------------------------------------

    def _amnesty(self, row: int, number: int, spots: list[_Spot]) -> list[_Spot]:
        """Everyone's mountain less by the same amount settles the same (an amnesty, on raspasy or of all)."""
        mountains = [spot for spot in spots if spot.cell.column == "mountain"]
        if len(mountains) != len(self.game.seats) or len({spot.off for spot in mountains}) != 1 or mountains[0].off > 0:
            return spots
        self._note(
            row,
            number,
            mountains,
            "amnesty",
            Text(
                f"амнистия: все горы меньше на {figure_text(-mountains[0].off)}, на расчёт не влияет",
                f"amnesty: every mountain is less by {figure_text(-mountains[0].off)}, the settlement is the same",
            ),
        )
        return [spot for spot in spots if spot not in mountains]

    def _equivalent(self, row: int, number: int, spots: list[_Spot]) -> list[_Spot]:
        """A pool and a mountain that differ so that it settles the same.

        The zero of raspasy or half a made game in the one or the other, and in the last row a pool closed with what it
        lacks carried to the mountain (Kodeks 4.2.3).
        """
        convention, limit = self.convention, self.game.limit
        worth = Fraction(convention.pool_weight, 1 if convention.divisible_mountain else len(self.game.seats))
        last = row == len(self.game.deals)
        halves = self.convention.made_games == "half"
        for pool in [spot for spot in spots if spot.cell.column == "pool"]:
            for mountain in [spot for spot in spots if spot.cell == Cell("mountain", pool.cell.seat)]:
                if pool.off * worth != mountain.off or not pool.off:
                    continue
                codes = pool.codes | mountain.codes
                if "zero" in codes and codes <= {"zero"}:
                    text = Text(
                        "за ноль взяток записано иначе, на расчёт не влияет",
                        "the zero is written the other way, the settlement is the same",
                    )
                elif halves and codes <= {"made", "half_off"}:
                    text = Text(
                        "игра разделена между пулей и горой иначе, на расчёт не влияет",
                        "the game is shared between pool and mountain differently, the settlement is the same",
                    )
                elif last and pool.wrote == limit:
                    text = Text(
                        "пуля закрыта, разница перенесена на гору, на расчёт не влияет",
                        "the pool is closed and the rest carried to the mountain, the settlement is the same",
                    )
                else:
                    continue
                self._note(row, number, [pool, mountain], "equivalent", text)
                spots = [spot for spot in spots if spot not in (pool, mountain)]
        return spots

    def _help(self, row: int, number: int, spots: list[_Spot]) -> list[_Spot]:
        """Points over one's own limit that were not given as help."""
        limit = self.game.limit or 0
        helping = [s for s in spots if s.missing and s.codes & {"help", "helped", "remainder"}]
        for spot in [s for s in spots if s.cell.column == "pool" and s.wrote is not None and s.wrote > limit]:
            if spot.off <= 0:
                continue
            seat = spot.cell.seat
            mine = [
                s for s in helping if s.cell.seat == seat or any(r[0] == "helped" and r[2] == seat for r in s.reasons)
            ]
            if not mine or any(self._took(spot, lost) for lost in spots if lost.missing and lost not in mine):
                continue
            slip = self._slip(row, number, [spot, *mine], "missed help")
            slip.said = Text(f"пуля больше {limit}", f"the pool is over {limit}")
            helping = [s for s in helping if s not in mine]
            spots = [s for s in spots if s is not spot and s not in mine]
        for spot in [s for s in helping if "help" in s.codes]:
            reason = next(r for r in spot.reasons if r[0] == "help")
            partner = [s for s in helping if s.cell == Cell("pool", reason[4]) and s is not spot]
            if any(other for other in spots if self._took(other, spot)):
                continue
            self._slip(row, number, [spot, *partner], "missed help").said = reason_text(reason)
            helping = [s for s in helping if s is not spot and s not in partner]
            spots = [s for s in spots if s is not spot and s not in partner]
        for spot in [s for s in helping if s.codes <= {"helped", "remainder"}]:
            if any(other for other in spots if self._took(other, spot)):
                continue
            self._slip(row, number, [spot], "missed help").said = reason_text(spot.reasons[0])
            spots = [s for s in spots if s is not spot]
        return spots

    @staticmethod
    def _took(other: _Spot, lost: _Spot) -> bool:
        """Whether one box holds what belonged to another: added to its total, or the other's total copied into it."""
        if other is lost or other.missing or other.wrote is None:
            return False
        return other.off == lost.add or (other.add == 0 and other.wrote == lost.carried)

    def _moved(self, row: int, number: int, spots: list[_Spot]) -> list[_Spot]:
        """An entry that stands in another box of the same row."""
        for lost in [spot for spot in spots if spot.missing]:
            takers = [spot for spot in spots if self._took(spot, lost)]
            if not takers:
                continue
            taker = min(takers, key=lambda spot: _distance(lost.cell, spot.cell))
            slip = self._slip(row, number, [taker, lost], _relation(lost.cell, taker.cell))
            slip.instead = lost.cell
            spots = [spot for spot in spots if spot not in (taker, lost)]
        return spots

    def _swapped(self, row: int, number: int, spots: list[_Spot]) -> list[_Spot]:
        """Two entries of the same row that changed places."""
        for one in list(spots):
            for two in list(spots):
                if one is two or one not in spots or two not in spots or not one.add or not two.add:
                    continue
                adds = one.off == two.add - one.add == -two.off
                totals = one.wrote == two.carried and two.wrote == one.carried
                if adds or totals:
                    slip = self._slip(row, number, [one, two], _relation(two.cell, one.cell))
                    slip.instead = two.cell
                    other = two.cell.text(self.game.players)
                    slip.said = Text(f"перепутано с записью «{other.ru}»", f"exchanged with {other.en}")
                    spots = [spot for spot in spots if spot not in (one, two)]
        return spots

    # -- one box ------------------------------------------------------------------------------------------------------

    def _kind(self, spot: _Spot, deal: Deal | None) -> str:
        if spot.missing:
            return "forgotten"
        wrote = spot.carried + spot.off
        limit = self.game.limit
        if not spot.add:
            if spot.off == self.last.get(spot.cell):
                return "entered twice"
            again = _transposed(self._paper(spot), self._shown(spot.cell, spot.stood))
            return "transposed digits" if again else "unexplained"
        if _transposed(self._paper(spot), self._shown(spot.cell, spot.carried)):
            return "transposed digits"
        if spot.cell.column == "pool" and self.convention.help and limit is not None and wrote > limit and spot.off > 0:
            return "pool over the limit"
        if spot.off == spot.add:
            # At the price of the next contract or step of raspasy, where that is twice as much; else added twice.
            near = deal is not None and 2 * spot.add in _other_prices(spot, deal, self.convention, near=True)
            return "wrong price" if near else "entered twice"
        if spot.off in (1, -1, 10, -10, 100, -100):
            return "arithmetic"
        if len(spot.reasons) > 1 and any(reason[1] == -spot.off for reason in spot.reasons):
            return "forgotten"
        entered = wrote - spot.stood
        if deal is not None and entered in _other_prices(spot, deal, self.convention, near=True):
            return "wrong price"
        if -5 < spot.off < 5:
            return "arithmetic"
        if deal is not None and entered in _other_prices(spot, deal, self.convention):
            return "wrong price"
        slipped = -10 <= spot.off <= 10 or spot.off % 10 == 0 or wrote in (spot.add, spot.stood - spot.add)
        if slipped or _one_digit(self._paper(spot), self._shown(spot.cell, spot.carried)):
            return "arithmetic"
        return "unexplained"

    def _paper(self, spot: _Spot) -> Number:
        return self._shown(spot.cell, spot.wrote or 0)

    def _detail(self, slip: _Slip, spot: _Spot, deal: Deal | None, entries: tuple[Entry, ...]) -> Text | None:
        """What more there is to say about a mistake in one box."""
        if slip.kind == "forgotten" and spot.wrote is not None and not spot.missing:
            part = next(reason for reason in spot.reasons if spot.off == -reason[1])
            return Text("забыто: ", "left out: ") + reason_text(part)
        if slip.kind == "unexplained" and not spot.add:
            twin = [
                e for e in entries if e.add == spot.off and (e.seat == spot.cell.seat or e.column == spot.cell.column)
            ]
            if twin:
                slip.kind = "entered twice"
                other = twin[0].cell.text(self.game.players)
                return Text(f"та же запись стоит в клетке «{other.ru}»", f"the same entry stands in {other.en}")
            copied = [e for e in entries if e.total == spot.wrote]
            if copied:
                other = copied[0].cell.text(self.game.players)
                return Text(f"повторяет итог «{other.ru}»", f"repeats the total of {other.en}")
            return Text("этой записи не объясняет ни одна сдача", "no deal explains this entry")
        if spot.add and spot.off == spot.add:
            return Text(
                "прибавлено вдвое больше: по другой цене или дважды",
                "twice as much was added: at another price, or twice",
            )
        if spot.reasons and spot.wrote is not None:
            return Text(
                "; ".join(reason_text(r).ru for r in spot.reasons), "; ".join(reason_text(r).en for r in spot.reasons)
            )
        if spot.reasons:
            return reason_text(spot.reasons[0])
        return None

    # -- words --------------------------------------------------------------------------------------------------------

    def _place(self, number: int, cell: Cell) -> Text:
        where = cell.text(self.game.players)
        row = Text(f"Сдача {number}", f"Deal {number}") if number else Text("Перенос", "Carry-over row")
        return row + Text(f", {where.ru}: ", f", {where.en}: ")

    def mistake(self, slip: _Slip) -> Mistake:
        """The finished mistake, with what it costs."""
        cell = slip.main
        changes = {c: amount for c, amount in slip.changes.items() if amount}
        wrote = None if slip.wrote is None else self._shown(cell, slip.wrote)
        expected, due = self._shown(cell, slip.expected), self._shown(cell, slip.due)
        seats = self.game.seats
        cost = settle(Totals(dict.fromkeys(seats, 0), {}, {}).changed(changes), self.convention) if changes else {}
        return Mistake(
            slip.deal,
            cell.column,
            cell.seat,
            cell.on,
            slip.kind,
            None if wrote is None else int(wrote),
            expected,
            due,
            self._message(slip, wrote, expected),
            changes,
            cost,
            slip.corrected,
            slip.instead,
        )

    def _message(self, slip: _Slip, wrote: Number | None, expected: Number) -> Text:
        text = self._place(slip.deal, slip.main)
        if wrote is None:
            text += Text(
                f"не записано, должно быть {figure_text(expected)}",
                f"nothing written, expected {figure_text(expected)}",
            )
        else:
            text += Text(
                f"написано {figure_text(wrote)}, должно быть {figure_text(expected)}",
                f"written {figure_text(wrote)}, expected {figure_text(expected)}",
            )
        text += Text(" — ", " - ") + _KIND_WORDS[slip.kind]
        if slip.kind == "unexplained" and wrote is not None:
            text += Text(f", разница {_signed(wrote - expected)}", f", off by {_signed(wrote - expected)}")
        if slip.instead is not None and slip.said is None:
            other = slip.instead.text(self.game.players)
            text += Text(f"; запись должна стоять в клетке «{other.ru}»", f"; it belongs in {other.en}")
        if slip.said is not None:
            # What is said may itself name a rule in brackets.
            text += Text("; ", "; ") + slip.said
        if slip.corrected is not None and slip.kind != "wrong row":
            text += Text(f"; в сдаче {slip.corrected} итог снова верен", f"; right again in deal {slip.corrected}")
        return text


_KIND_WORDS = {
    "arithmetic": Text("ошибка в счёте", "arithmetic"),
    "wrong price": Text("не та цена", "wrong price"),
    "forgotten": Text("забытая запись", "forgotten"),
    "entered twice": Text("записано дважды", "entered twice"),
    "wrong column": Text("не та графа", "wrong column"),
    "wrong opponent": Text("висты не на того игрока", "wrong opponent"),
    "wrong player": Text("записано не тому игроку", "wrong player"),
    "wrong row": Text("не та строка", "wrong row"),
    "transposed digits": Text("переставлены цифры", "transposed digits"),
    "missed help": Text("не оказана помощь", "missed help"),
    "pool over the limit": Text("пуля больше условленной", "pool over the limit"),
    "unexplained": Text("необъяснимая запись", "unexplained"),
}


def _signed(value: Number) -> str:
    return f"+{figure_text(value)}" if value > 0 else figure_text(value)


def _relation(lost: Cell, taker: Cell) -> str:
    if lost.seat != taker.seat:
        return "wrong player"
    return "wrong opponent" if lost.column == taker.column else "wrong column"


def _distance(lost: Cell, taker: Cell) -> tuple[bool, bool, bool]:
    return (lost.seat != taker.seat, lost.column != taker.column, lost.on != taker.on)


def _transposed(wrote: Number, right: Number) -> bool:
    """Whether two neighbouring digits changed places."""
    one, two = str(wrote), str(right)
    if len(one) != len(two) or one == two:
        # A zero that came to the front is not written: 20 becomes 2.
        one = one.zfill(len(two)) if len(one) < len(two) and two.isdigit() else one
    apart = [i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b]
    return (
        len(one) == len(two)
        and len(apart) == 2
        and apart[1] == apart[0] + 1
        and one[apart[0]] == two[apart[1]]
        and one[apart[1]] == two[apart[0]]
    )


def _one_digit(wrote: Number, right: Number) -> bool:
    one, two = str(wrote), str(right)
    return len(one) == len(two) and sum(a != b for a, b in zip(one, two, strict=True)) == 1


def _other_prices(spot: _Spot, deal: Deal, convention: Convention, *, near: bool = False) -> set[Number]:
    """What the deal would have added at the price of another contract, another step of raspasy or another scale.

    With ``near`` only the next contract up or down, or another step of raspasy.
    """
    ratios: list[Fraction]
    if deal.contract == "raspasy":
        ladder = convention.raspasy_prices if convention.raspasy == "mountain" else convention.raspasy_whists
        ratios = [Fraction(other) / Fraction(own) for other in ladder for own in ladder]
        if not near:
            ratios += [Fraction(2 * max(ladder)) / Fraction(own) for own in ladder]
    elif deal.contract in LEVELS:
        place = LEVELS.index(deal.contract)
        own = Fraction(convention.values[place])
        others = convention.values[max(place - 1, 0) : place + 2] if near else convention.values
        ratios = [Fraction(other) / own for other in others]
    else:
        ratios = []
    if not near:
        ratios += [Fraction(2), Fraction(1, 2)]
    return {whole(spot.add * ratio) for ratio in ratios} - {spot.add}


# --- fines, and two records of one table -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fine:
    """What Kodeks 4.2.7 lets the others write after an over-written entry, once the first warning is given."""

    cell: Cell
    amount: Number
    message: Text


def fine(mistake: Mistake) -> Fine | None:
    """The fine for a mistake by Kodeks 4.2.7, or ``None``: only an entry in the writer's favour is fined.

    Whists written in excess are written back by the player on whom they stood; pool points in excess go to the writer's
    own mountain.
    """
    excess = mistake.changes.get(mistake.cell, 0)
    if excess <= 0 or mistake.column == "mountain":
        return None
    amount = figure_text(excess)
    if mistake.column == "whists":
        cell = Cell("whists", mistake.on or "", mistake.seat)
    else:
        cell = Cell("mountain", mistake.seat)
    where = cell.text()
    return Fine(
        cell, excess, Text(f"штраф по 4.2.7: {amount} — {where.ru}", f"fine by Kodeks 4.2.7: {amount} to {where.en}")
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two records of a table differ; a value is ``None`` where a record has nothing there."""

    deal: int | None
    field: str
    one: object
    two: object
    message: Text


_DEAL_FIELDS = (
    "contract",
    "dealer",
    "declarer",
    "trump",
    "defence",
    "tricks",
    "multiplier",
    "dark",
    "without_talon",
    "conceded",
    "talon_units",
    "totus",
)


def compare(one: Game, two: Game) -> tuple[Difference, ...]:
    """Where two secretaries' records of one table differ, head first, then deal by deal.

    >>> first = Game("sochi", {"A": "", "B": ""}, [Deal(1, "6", declarer="A")])
    >>> second = Game("sochi", {"A": "", "B": ""}, [Deal(1, "7", declarer="A")])
    >>> [(d.deal, d.field, d.one, d.two) for d in compare(first, second)]
    [(1, 'contract', '6', '7')]
    """
    found: list[Difference] = []

    def differ(deal: int | None, name: str, a: object, b: object) -> None:
        if a != b:
            where = Text(f"сдача {deal}, ", f"deal {deal}, ") if deal is not None else Text("", "")
            found.append(
                Difference(
                    deal,
                    name,
                    a,
                    b,
                    where
                    + Text(
                        f"{name}: {_shown(a, 'ru')} и {_shown(b, 'ru')}",
                        f"{name}: {_shown(a, 'en')} and {_shown(b, 'en')}",
                    ),
                )
            )

    for name in ("convention", "options", "pool", "players", "start", "raspasy_run", "totals", "result"):
        differ(None, name, getattr(one, name), getattr(two, name))
    deals_one, deals_two = ({deal.deal: deal for deal in game.deals} for game in (one, two))
    paper_one, paper_two = ({(w.deal, w.cell): w for w in game.written} for game in (one, two))
    for number in sorted({0, *deals_one, *deals_two}):
        a, b = deals_one.get(number), deals_two.get(number)
        if a is not None and b is not None:
            for name in _DEAL_FIELDS:
                differ(number, name, getattr(a, name), getattr(b, name))
        else:
            differ(number, "deal", a and a.contract, b and b.contract)
        for key in sorted(
            (k for k in {*paper_one, *paper_two} if k[0] == number), key=lambda k: tuple(p or "" for p in k[1])
        ):
            x, y = paper_one.get(key), paper_two.get(key)
            name = ".".join(part for part in key[1] if part)
            differ(number, name, x and x.value, y and y.value)
    return tuple(found)


def _shown(value: object, lang: str) -> str:
    if value is None or value == {}:
        return "ничего" if lang == "ru" else "nothing"
    if isinstance(value, Mapping):
        letter = (lambda s: seat_text(s).ru) if lang == "ru" else str
        return " ".join(f"{letter(seat)} {item}" for seat, item in value.items())
    return str(value)
