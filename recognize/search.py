"""The games that a sheet may tell of: a beam over its rows, and the best game with each row played otherwise.

A game is a deal for every row (`rows`), its entries by the rules (`scoring`), and what each player made of them in his
running totals (`totals`), each against the ink.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from math import inf, isclose, log
from typing import Any

from recognize.beside import Carried, carried_over
from recognize.ink import Ink, normalised
from recognize.reading import FieldReading
from recognize.rows import Row, RowInk, row_candidates, unmarked_rows
from recognize.shares import by_ink
from recognize.totals import REWRITTEN, Message, Number, Step, backward, first_message, forward, number_of
from scoring.convention import Convention
from scoring.game import Cell, Deal, Totals, cells_of
from scoring.ledger import State as Ledger
from scoring.ledger import lasting, opening, post
from templates import Form

BEAM = 8
BEAM_REACH = 18.0
"""Games less likely than the best by more than this (natural logarithm) are given up."""

MOST_GAIN = log(2.2)
"""No more than this does a column add to a game's score: the ways of writing a half add up to twice all others."""

AGREED = -1.5
NEAR = 9.0
"""Where all totals of a row follow from its likeliest deal (what they add to the score is above AGREED), deals less
likely than it by more than NEAR by their marks and tricks are not looked at."""

DOUBTABLE = 1e-6
"""A game less likely than this share of the best cannot make any field doubtful."""

SETTLED = 4
"""After so many rows that are worth the same under another deal further up, so are all that follow."""

GAP = 1e-3
"""How often somebody leaves a row empty and goes on in the next."""


Rows = tuple[int, int]
"""Two rows, by their numbers."""

Added = tuple[Ledger, dict[Cell, Number], tuple[tuple[int, Number], ...], frozenset[Number]]
"""The ledger after a deal; what it adds to each total, by its cell, by its column's number, and anywhere."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the decision needs to know of the sheet: the form, the rules played by and the pool agreed.

    `before` is what the sheet that it continues ends with, where there is one and it is at hand.
    """

    form: Form
    convention: str | None
    rules: Convention | None
    options: Mapping[str, Any]
    pool: int | None
    names: Mapping[str, str]
    before: Carried | None = None

    @property
    def raspasy_run(self) -> int:
        """How many raspasy in a row were played just before the first deal."""
        return self.before.raspasy_run if self.before is not None else 0


@dataclass(frozen=True, slots=True)
class Node:
    """A game so far: the last row, the node before it, and what lasts of them.

    That is the ledger (as far as later deals depend on it) and the message of every column; `adds` are the last row's.
    """

    row: Row | None
    before: "Node | None"
    ledger: Ledger
    messages: tuple[Message, ...]
    adds: Mapping[Cell, Number]
    score: float
    ended: bool

    @property
    def outlook(self) -> tuple[Ledger, tuple[int, ...], bool]:
        """All on which what follows depends: games that have it in common go on alike."""
        return self.ledger, tuple(map(id, self.messages)), self.ended


@dataclass(frozen=True, slots=True)
class Other:
    """The best game with the row at one place of its path played otherwise.

    `nodes` are those from there on that differ; `less` is the logarithm of how much less likely it is.
    """

    at: int
    nodes: list[Node]
    less: float

    def added_otherwise(self, path: list[Node]) -> set[tuple[int, Cell]]:
        """The deals and totals to which it adds something else than the best game with this path."""
        return {
            (own.row.deal, cell)
            for own, like in zip(self.nodes, path[self.at :], strict=False)
            if own.row is not None and own.adds is not like.adds
            for cell in {*own.adds, *like.adds}
            if own.adds.get(cell, 0) != like.adds.get(cell, 0)
        }


class Search:
    """The rows and columns of one sheet with their ink, and the steps over them."""

    def __init__(
        self, sheet: Sheet, ink: Mapping[str, Ink], struck: Mapping[str, float], before: "Search | None" = None
    ) -> None:
        """A search of the same sheet `before`, with other ink in some boxes, has most rows worked out."""
        assert sheet.rules is not None
        self.sheet, self.ink, self.struck, self.rules, self.before = sheet, ink, struck, sheet.rules, before
        form = sheet.form
        self.cells = tuple(cells_of(tuple(form.seats)))
        self.place = {cell: i for i, cell in enumerate(self.cells)}
        self.rows = [_row_ink(form, ink, deal) for deal in range(1, form.rows + 1)]
        self.candidates: list[list[Row]] = [
            before.candidates[i]
            if before is not None and before.rows[i] == row
            else row_candidates(row, sheet.rules.half_whist, sheet.rules.concede)
            for i, row in enumerate(self.rows)
        ]
        # Bare boxes, most of a sheet, share one ink: what follows from an ink is worked out once.
        alone = {} if before is None else {before.ink[name]: seen for name, seen in before.seen.items()}
        for name, own in ink.items():
            if own not in alone:
                alone[own] = by_ink(own, struck.get(name, 0.0))
        self.seen: dict[str, FieldReading] = {name: alone[own] for name, own in ink.items()}
        self.names = _names(self.cells, form.rows)
        self.written: list[tuple[int, ...]] = []
        for names in self.names:
            touched = [i for i, name in enumerate(names) if not ink[name].surely_empty()]
            self.written.append(tuple(touched))
        self.carried = carried_over(form, ink, sheet.before)
        self.rewritten = self._habit()
        self._steps: dict[tuple[int, int, Number, frozenset[Number]], Step] = {}
        # One object for every message, so that what follows from it is worked out once.
        self._messages: dict[frozenset[tuple[Any, float]], Message] = {} if before is None else before._messages
        self._added: dict[tuple[Ledger, Row], Added] = {} if before is None else before._added
        self._offsets: dict[tuple[int, int, int], frozenset[Number]] = {}
        self._forward: dict[tuple[int, int, int, Number, frozenset[Number]], tuple[Message, float]] = {}
        self._shares: dict[tuple[Ink, int | None], dict[str, float]] = {}

    def exchanged(self, rows: Rows) -> "Search":
        """The same sheet with two rows in each other's place, to look for its best game."""
        one, two = rows
        other = copy(self)
        other.before, other._steps, other._offsets, other._forward = self, {}, {}, {}
        other.ink, other.rows, other.candidates = exchange(self.ink, rows), list(self.rows), list(self.candidates)
        other.written = list(self.written)
        other.written[one], other.written[two] = self.written[two], self.written[one]
        for deal in rows:
            row_ink = other.rows[deal - 1] = _row_ink(self.sheet.form, other.ink, deal)
            other.candidates[deal - 1] = row_candidates(row_ink, self.rules.half_whist, self.rules.concede)
        return other

    def _habit(self) -> float:
        """How readily totals that did not change are written once more, judged by how full the played rows are."""
        played = [row.deal for row in self.rows if not row.blank()]
        totals = [self.ink[name].best for deal in played for name in self.names[deal]]
        full = sum(number_of(value) is not None for value in totals) / max(len(totals), 1)
        # A deal changes a quarter of the boxes, seldom as many as half.
        return min(max((full - 0.5) * 2, REWRITTEN), 0.95)

    def root(self) -> Node:
        """Before the first deal: what the carry-over row says, if anything."""
        start: dict[Cell, int] = {}
        for cell, name in zip(self.cells, self.names[0], strict=True):
            shares = self.carried.get(name, {"": 1.0})
            value = number_of(max(shares, key=shares.__getitem__))
            if value is not None:
                start[cell] = value
        totals = totals_of(start, self.sheet.form.seats)
        messages = tuple(self.shared(first_message(start.get(cell, 0))) for cell in self.cells)
        return Node(
            None,
            None,
            lasting(self.rules, opening(self.sheet.form.players, self.sheet.pool, totals, self.sheet.raspasy_run)),
            messages,
            {},
            0.0,
            False,
        )

    def extend(self, node: Node, row: Row, least: float = -inf) -> Node | None:
        """The game one row longer; None where it is less likely than `least` (natural logarithm)."""
        ledger, adds, by_column, anywhere = self.added(node, row)
        columns: dict[int, Number] = dict.fromkeys(self.written[row.deal], 0)
        columns.update(by_column)
        score = node.score + row.score
        if node.ended and row.contract is not None:
            score += log(GAP)
        # Before they are looked at, the columns are taken to say the best that they can.
        score += MOST_GAIN * len(columns)
        messages = list(node.messages)
        for i, add in columns.items():
            messages[i], gain = self.forward(row.deal, i, node.messages[i], add, anywhere)
            score += gain - MOST_GAIN
            if score < least:
                return None
        return Node(row, node, ledger, tuple(messages), adds, score, node.ended or row.contract is None)

    def offsets(self, deal: int, i: int, before: Message) -> frozenset[Number]:
        """By how much what may stand in a box is more than the totals before it, where it is not the same."""
        key = (deal, i, id(before))
        known = self._offsets.get(key)
        if known is None:
            numbers = [n for n in map(number_of, self.ink[self.names[deal][i]].likely) if n is not None]
            known = frozenset(n - total for total, _ in before for n in numbers if n != total)
            self._offsets[key] = known
        return known

    def forward(self, deal: int, i: int, before: Message, add: Number, row: frozenset[Number]) -> tuple[Message, float]:
        """One column's step, worked out once for every game that shares it, and the logarithm of what it gains."""
        key = (deal, i, id(before), add, row)
        known = self._forward.get(key)
        if known is None:
            step = self.step(deal, i, add, row & self.offsets(deal, i, before))
            known = step.after.get(id(before))
            if known is None:
                after, gain = forward(before, step)
                known = step.after[id(before)] = (self.shared(after), log(max(gain, 1e-300)))
            self._forward[key] = known
        return known

    def shared(self, message: Message) -> Message:
        """The one object that stands for all messages that say the same."""
        return self._messages.setdefault(frozenset(message.items()), message)

    def step(self, deal: int, i: int, add: Number, row: frozenset[Number]) -> Step:
        """The field of a column in a row, with what the deal adds there and anywhere in the row."""
        key = (deal, i, add, row)
        known = self._steps.get(key)
        if known is None:
            name = self.names[deal][i]
            known = self.before._steps.get(key) if self.before is not None else None
            if known is None or known.ink is not self.ink[name] or known.rewritten != self.rewritten:
                known = Step(name, self.ink[name], add, row, self.rewritten)
            self._steps[key] = known
        return known

    def best(self, begun: list[Node] | None = None, rows: int | None = None) -> list[Node]:
        """The most probable game, by a beam over the rows: its nodes in order, the root first.

        Where it is `begun`, these nodes are its first; where so many `rows` are enough, it ends after them.
        """
        beam = begun[-1:] if begun else [self.root()]
        of = slice(len(begun) - 1 if begun else 0, rows)
        for row, candidates in zip(self.rows[of], self.candidates[of], strict=True):
            if len(candidates) == 1 and row.blank():
                candidates += self.unmarked(beam[0], row)
            longer: list[Node] = []
            for node in beam:
                longer += self.longer(node, candidates, max((one.score for one in longer), default=-inf))
            longer.sort(key=lambda node: -node.score)
            likeliest: dict[Any, Node] = {}
            for node in longer:
                if node.score > longer[0].score - BEAM_REACH:
                    likeliest.setdefault(node.outlook, node)
            beam = list(likeliest.values())[:BEAM]
        path = []
        at: Node | None = beam[0]
        while at is not None:
            path.append(at)
            at = at.before
        return path[::-1]

    def longer(self, node: Node, candidates: list[Row], best: float) -> list[Node]:
        """The game longer by each row worth going into; `candidates` come the likeliest first.

        `best` is the likeliest game of so many rows yet.
        """
        first = self.extend(node, candidates[0])
        assert first is not None
        found = [first]
        # Where the totals agree with the likeliest row, far less likely ones need not be gone into.
        agreed = first.score - node.score - candidates[0].score > AGREED
        for row in candidates[1:]:
            if agreed and row.score < candidates[0].score - NEAR:
                break
            best = max(best, found[-1].score)
            one = self.extend(node, row, best - BEAM_REACH)
            if one is not None:
                found.append(one)
        return found

    def unmarked(self, node: Node, row: RowInk) -> list[Row]:
        """The deals that explain the totals of a row in which nothing is marked, where the totals change in it."""
        gained: dict[Cell, Number] = {}
        for i in self.written[row.deal]:
            value = number_of(self.ink[self.names[row.deal][i]].best)
            total, owed = max(node.messages[i], key=node.messages[i].__getitem__)
            if value is not None and value not in (total, total + owed):
                gained[self.cells[i]] = value - total - owed
        found: list[tuple[int, Row]] = []
        for one in unmarked_rows(row, self.rules.half_whist, self.rules.concede) if gained else ():
            adds = self.added(node, one)[1]
            apart = sum(adds.get(cell, 0) != gained.get(cell, 0) for cell in {*adds, *gained})
            if apart <= 1 and apart < len(gained):
                found.append((apart, one))
        least = min((apart for apart, _ in found), default=0)
        return sorted((one for apart, one in found if apart == least), key=lambda one: -one.score)[:BEAM]

    def added(self, node: Node, row: Row) -> Added:
        """The ledger after one more row, and what its deal adds to each total."""
        if row.contract is None:
            return node.ledger, {}, (), frozenset()
        key = (node.ledger, row)
        known = self._added.get(key)
        if known is None:
            ledger, entries = post(self.rules, node.ledger, as_deal(row, self.sheet.form))
            adds: dict[Cell, Number] = {}
            for entry in entries:
                adds[entry.cell] = adds.get(entry.cell, 0) + entry.add
            by_column = tuple((self.place[cell], add) for cell, add in adds.items())
            known = self._added[key] = (lasting(self.rules, ledger), adds, by_column, frozenset(adds.values()))
        return known

    def shares(
        self, ink: Ink, due: Any, chance: Callable[[Any, str], float], usual: tuple[str, ...]
    ) -> dict[str, float]:
        """The distribution of a mark's or tricks field, given what is `due` there, worked out once.

        `chance` is how likely a value is written then; `usual` are values always worth considering.
        """
        known = self._shares.get((ink, due))
        if known is None:
            values = dict.fromkeys((*usual, *ink.likely))
            known = self._shares[ink, due] = normalised({value: chance(due, value) * ink(value) for value in values})
        return known

    def others(self, path: list[Node]) -> list[Other]:
        """The best game with one row played otherwise, for every row and each of its other deals."""
        found = []
        for at, candidates in enumerate(self.candidates, start=1):
            own = path[at].row
            assert own is not None
            agreed = path[at].score - path[at - 1].score - own.score > AGREED
            for row in candidates:
                if row is own or (agreed and row.score < own.score - NEAR):
                    continue
                game = self.with_row(path, at, row)
                if game is not None:
                    found.append(game)
        return found

    def with_row(self, path: list[Node], at: int, row: Row) -> Other | None:
        """The game of a path with another row at `at`; None where it is too unlikely to make any field doubtful."""
        before, same = path[at - 1], 0
        nodes = []
        for place in range(at, len(path)):
            like = path[place]
            assert like.row is not None
            node = self.extend(before, row if place == at else like.row, like.score - 2 * BEAM_REACH)
            if node is None:
                return None
            gained = node.score - before.score, like.score - path[place - 1].score
            same = same + 1 if place > at and node.adds == like.adds and abs(gained[0] - gained[1]) < 1e-6 else 0
            nodes.append(node)
            before = node
            if same == SETTLED or node.outlook == like.outlook:
                break
        # What was played above makes no difference from here on.
        less = before.score - path[place].score
        return Other(at, nodes, less) if less >= log(DOUBTABLE) else None

    def posteriors(self, path: list[Node]) -> tuple[dict[str, dict[str, float]], list[list[Message]]]:
        """The distribution of every running total's field, given the deals of a game.

        And for every column what follows each of its rows says of the states after it.
        """
        out: dict[str, dict[str, float]] = {}
        follows = []
        for i in range(len(self.cells)):
            after: Message = dict.fromkeys(path[-1].messages[i], 1.0)
            of_column = [after]
            for place in range(len(path) - 1, 0, -1):
                step = self.step_between(path[place - 1], path[place], i)
                if step is not None:
                    after, out[step.name] = backward(after, path[place - 1].messages[i], step)
                of_column.append(after)
            follows.append(of_column[::-1])
        return out, follows

    def posteriors_of(
        self, other: Other, path: list[Node], follows: list[list[Message]]
    ) -> dict[str, dict[str, float]]:
        """The same of another game, as far as it is not that of the best one, whose `follows` are given."""
        end = other.at + len(other.nodes)
        game = [*path[: other.at], *other.nodes, *path[end:]]
        apart = {cell for _, cell in other.added_otherwise(path)}
        out: dict[str, dict[str, float]] = {}
        for i, cell in enumerate(self.cells):
            if cell not in apart:
                continue
            # From the row below on, what follows is the same.
            after = follows[i][end] if end < len(path) else dict.fromkeys(game[-1].messages[i], 1.0)
            for place in range(min(end, len(path) - 1), 0, -1):
                step = self.step_between(game[place - 1], game[place], i)
                if step is not None:
                    after, out[step.name] = backward(after, game[place - 1].messages[i], step)
                if place <= other.at and _alike(after, follows[i][place - 1]):
                    break
        return out

    def step_between(self, before: Node, node: Node, i: int) -> Step | None:
        """The field of a column between two nodes of a game; None where nothing is due or written there."""
        assert node.row is not None
        deal, cell = node.row.deal, self.cells[i]
        if i not in self.written[deal] and cell not in node.adds:
            return None
        row = frozenset(node.adds.values()) & self.offsets(deal, i, before.messages[i])
        return self.step(deal, i, node.adds.get(cell, 0), row)


def _alike(one: Message, two: Message) -> bool:
    """Whether two messages say the same."""
    return one.keys() == two.keys() and all(isclose(one[state], two[state], rel_tol=1e-10) for state in one)


def exchange(of: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """What is known of each field, with the two rows in each other's place."""
    return {elsewhere(name, rows): value for name, value in of.items()}


def elsewhere(name: str, rows: Rows) -> str:
    """The name of the same field in the other of two rows; of any other row's field its own."""
    row, _, rest = name.partition(".")
    for here, there in (rows, rows[::-1]):
        if row == f"d{here:02d}":
            return f"d{there:02d}.{rest}"
    return name


def as_deal(row: Row, form: Form) -> Deal:
    """The row as a deal of a game record."""
    assert row.contract is not None
    return Deal(
        row.deal,
        row.contract,
        dealer=form.dealer(row.deal),
        declarer=row.declarer,
        defence=dict(row.defence),
        tricks=dict(row.tricks),
        conceded=3 if row.conceded else 0,
    )


@cache
def _names(cells: tuple[Cell, ...], rows: int) -> tuple[tuple[str, ...], ...]:
    """What the boxes of these cells are called, by the row, the carried-over one first."""
    return tuple(tuple(cell.field(deal) for cell in cells) for deal in range(rows + 1))


def _row_ink(form: Form, ink: Mapping[str, Ink], deal: int) -> RowInk:
    marks, tricks = {}, {}
    for column in ("declarer", "whist"):
        for seat in form.seats:
            marks[column, seat] = ink[f"d{deal:02d}.{column}.{seat}"]
    for choice in ("6", "7", "8", "9", "10", "misere", "raspasy"):
        marks["contract", choice] = ink[f"d{deal:02d}.contract.{choice}"]
    for seat in form.seats:
        tricks[seat] = ink[f"d{deal:02d}.tricks.{seat}"]
    return RowInk(deal, form.dealer(deal) if form.players == 4 else None, form.seats, marks, tricks)


def totals_of(values: Mapping[Cell, int], seats: str) -> Totals | None:
    """Carried-over totals from the values of a row of boxes; None where the row is empty."""
    if not values:
        return None
    return Totals(
        {s: values.get(Cell("pool", s), 0) for s in seats},
        {s: values.get(Cell("mountain", s), 0) for s in seats},
        {s: {o: values.get(Cell("whists", s, o), 0) for o in seats if o != s} for s in seats},
    )
