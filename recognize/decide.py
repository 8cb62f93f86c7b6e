"""From what the ink can say to what was played and written: the rules weigh, and never overwrite.

A sheet says everything two or three times. Hypotheses are whole games: a deal for every row (`rows`), its entries by
the rules (`scoring`), and what each player made of them in his running totals (`totals`), each against the ink. The
best game is found by a beam over the rows; then every row is tried once more with each of its other deals, so that the
probability of every field counts all that speaks for another value.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, isclose, log
from typing import Any

from recognize.beside import Carried, carried_over, results
from recognize.hands import by_hand
from recognize.ink import Ink, normalised
from recognize.reading import FieldReading, Mistake, Question, State, Why
from recognize.rows import (
    TRICK_VALUES,
    Row,
    RowInk,
    mark_probability,
    row_candidates,
    tricks_probability,
    unmarked_rows,
)
from recognize.totals import REWRITTEN, Message, Number, Step, backward, due_values, first_message, forward, number_of
from scoring import audit
from scoring.convention import Convention
from scoring.game import COLUMNS, Cell, Deal, Game, Totals, Written, cells_of
from scoring.ledger import State as Ledger
from scoring.ledger import lasting, opening, post
from scoring.text import Text, figure
from templates import Field, Form

BEAM = 8
BEAM_REACH = 18.0
"""Games less likely than the best by more than this (natural logarithm) are given up."""

MOST_GAIN = log(2.2)
"""No more than this does a column add to a game's score: the ways of writing a half add up to twice all others."""

AGREED = -1.5
NEAR = 9.0
"""Where all totals of a row follow from its likeliest deal (what they add to the score is above AGREED), deals less
likely than it by more than NEAR by their marks and tricks are not looked at."""

SURE = 0.999
"""A field surer than this is clear."""

RISK = 0.02
"""How many wrong fields that matter may be expected on a sheet beside those that are asked about."""

DOUBTABLE = 1e-6
"""A game less likely than this share of the best cannot make any field doubtful."""

SETTLED = 4
"""After so many rows that are worth the same under another deal further up, so are all that follow."""

GAP = 1e-3
"""How often somebody leaves a row empty and goes on in the next."""


@dataclass(frozen=True, slots=True)
class Decision:
    """All that was decided on a sheet: its fields, the game record, the mistakes and the questions."""

    fields: Mapping[str, FieldReading]
    game: Game | None
    mistakes: tuple[Mistake, ...]
    played: Mapping[str, str] | None
    written: Mapping[str, str] | None
    review: tuple[Question, ...]
    notes: tuple[Text, ...] = ()


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
class _Node:
    """A game so far: the last row, the node before it, and what lasts of them.

    That is the ledger (as far as later deals depend on it) and the message of every column; `adds` are the last row's.
    """

    row: Row | None
    before: "_Node | None"
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
class _Other:
    """The best game with the row at one place of its path played otherwise.

    `nodes` are those from there on that differ; `less` is the logarithm of how much less likely it is.
    """

    at: int
    nodes: list[_Node]
    less: float

    def added_otherwise(self, path: list[_Node]) -> set[tuple[int, Cell]]:
        """The deals and totals to which it adds something else than the best game with this path."""
        return {
            (own.row.deal, cell)
            for own, like in zip(self.nodes, path[self.at :], strict=False)
            if own.row is not None and own.adds is not like.adds
            for cell in {*own.adds, *like.adds}
            if own.adds.get(cell, 0) != like.adds.get(cell, 0)
        }


class _Search:
    """The rows and columns of one sheet with their ink, and the steps over them."""

    def __init__(
        self, sheet: Sheet, ink: Mapping[str, Ink], struck: Mapping[str, float], before: "_Search | None" = None
    ) -> None:
        assert sheet.rules is not None
        self.sheet, self.ink, self.struck, self.rules, self.before = sheet, ink, struck, sheet.rules, before
        form = sheet.form
        self.cells = tuple(cells_of(tuple(form.seats)))
        self.place = {cell: i for i, cell in enumerate(self.cells)}
        self.rows = [_row_ink(form, ink, deal) for deal in range(1, form.rows + 1)]
        # A search of the same sheet `before`, with other ink in some boxes, has most rows worked out.
        self.candidates: list[list[Row]] = [
            before.candidates[i]
            if before is not None and before.rows[i] == row
            else row_candidates(row, sheet.rules.half_whist, sheet.rules.concede)
            for i, row in enumerate(self.rows)
        ]
        self.seen: dict[str, FieldReading] = {
            name: before.seen[name]
            if before is not None and before.ink[name] is own
            else _by_ink(own, struck.get(name, 0.0))
            for name, own in ink.items()
        }
        self.names = [[cell.field(deal) for cell in self.cells] for deal in range(form.rows + 1)]
        self.written: list[tuple[int, ...]] = []
        for names in self.names:
            touched = [i for i, name in enumerate(names) if not ink[name].surely_empty()]
            self.written.append(tuple(touched))
        self.carried = carried_over(form, ink, sheet.before)
        self.rewritten = self._habit()
        self._steps: dict[tuple[int, int, Number, frozenset[Number]], Step] = {}
        # One object for every message, so that what follows from it is worked out once.
        self._messages: dict[frozenset[tuple[Any, float]], Message] = {} if before is None else before._messages
        self._added: dict[tuple[Ledger, Row], tuple[Ledger, dict[Cell, Number]]] = (
            {} if before is None else before._added
        )
        self._offsets: dict[tuple[int, int, int], frozenset[Number]] = {}
        self._shares: dict[tuple[str, int | None], dict[str, float]] = {}

    def _habit(self) -> float:
        """How readily totals that did not change are written once more, judged by how full the played rows are."""
        played = [row.deal for row in self.rows if not row.blank()]
        totals = [self.ink[name].best for deal in played for name in self.names[deal]]
        full = sum(number_of(value) is not None for value in totals) / max(len(totals), 1)
        # A deal changes a quarter of the boxes, seldom as many as half.
        return min(max((full - 0.5) * 2, REWRITTEN), 0.95)

    def root(self) -> _Node:
        """Before the first deal: what the carry-over row says, if anything."""
        start: dict[Cell, int] = {}
        for cell, name in zip(self.cells, self.names[0], strict=True):
            shares = self.carried.get(name, {"": 1.0})
            value = number_of(max(shares, key=shares.__getitem__))
            if value is not None:
                start[cell] = value
        totals = totals_of(start, self.sheet.form.seats)
        messages = tuple(self.shared(first_message(start.get(cell, 0))) for cell in self.cells)
        return _Node(
            None,
            None,
            lasting(self.rules, opening(self.sheet.form.players, self.sheet.pool, totals, self.sheet.raspasy_run)),
            messages,
            {},
            0.0,
            False,
        )

    def extend(self, node: _Node, row: Row, least: float = -inf) -> _Node | None:
        """The game one row longer; None where it is less likely than `least` (natural logarithm)."""
        ledger, adds = self.added(node, row)
        anywhere = frozenset(adds.values())
        columns: dict[int, Number] = dict.fromkeys(self.written[row.deal], 0)
        columns.update((self.place[cell], add) for cell, add in adds.items())
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
        return _Node(row, node, ledger, tuple(messages), adds, score, node.ended or row.contract is None)

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
        step = self.step(deal, i, add, row & self.offsets(deal, i, before))
        known = step.after.get(id(before))
        if known is None:
            after, gain = forward(before, step)
            known = step.after[id(before)] = (self.shared(after), log(max(gain, 1e-300)))
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

    def best(self) -> list[_Node]:
        """The most probable game, by a beam over the rows: its nodes in order, the root first."""
        beam = [self.root()]
        for row, candidates in zip(self.rows, self.candidates, strict=True):
            if len(candidates) == 1 and row.blank():
                candidates += self.unmarked(beam[0], row)
            longer: list[_Node] = []
            for node in beam:
                longer += self.longer(node, candidates, max((one.score for one in longer), default=-inf))
            longer.sort(key=lambda node: -node.score)
            likeliest: dict[Any, _Node] = {}
            for node in longer:
                if node.score > longer[0].score - BEAM_REACH:
                    likeliest.setdefault(node.outlook, node)
            beam = list(likeliest.values())[:BEAM]
        path = []
        at: _Node | None = beam[0]
        while at is not None:
            path.append(at)
            at = at.before
        return path[::-1]

    def longer(self, node: _Node, candidates: list[Row], best: float) -> list[_Node]:
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

    def unmarked(self, node: _Node, row: RowInk) -> list[Row]:
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

    def added(self, node: _Node, row: Row) -> tuple[Ledger, dict[Cell, Number]]:
        """The ledger after one more row, and what its deal adds to each total."""
        if row.contract is None:
            return node.ledger, {}
        key = (node.ledger, row)
        known = self._added.get(key)
        if known is None:
            ledger, entries = post(self.rules, node.ledger, as_deal(row, self.sheet.form))
            adds: dict[Cell, Number] = {}
            for entry in entries:
                adds[entry.cell] = adds.get(entry.cell, 0) + entry.add
            known = self._added[key] = (lasting(self.rules, ledger), adds)
        return known

    def shares(
        self, name: str, ink: Ink, due: Any, chance: Callable[[Any, str], float], usual: tuple[str, ...]
    ) -> dict[str, float]:
        """The distribution of a mark's or tricks field, given what is `due` there, worked out once.

        `chance` is how likely a value is written then; `usual` are values always worth considering.
        """
        known = self._shares.get((name, due))
        if known is None:
            values = dict.fromkeys((*usual, *ink.likely))
            known = self._shares[name, due] = normalised({value: chance(due, value) * ink(value) for value in values})
        return known

    def others(self, path: list[_Node]) -> list[_Other]:
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

    def with_row(self, path: list[_Node], at: int, row: Row) -> _Other | None:
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
        return _Other(at, nodes, less) if less >= log(DOUBTABLE) else None

    def posteriors(self, path: list[_Node]) -> tuple[dict[str, dict[str, float]], list[list[Message]]]:
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
        self, other: _Other, path: list[_Node], follows: list[list[Message]]
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

    def step_between(self, before: _Node, node: _Node, i: int) -> Step | None:
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


def decide(sheet: Sheet, ink: Mapping[str, Ink], struck: Mapping[str, float] | None = None) -> Decision:
    """The most probable game on a sheet, how it was written down, and what remains in doubt.

    `ink` holds every mark and number field of the form; `struck` the probability that a field was crossed out with
    nothing put in its place.
    """
    struck = struck or {}
    if sheet.rules is None:
        fields = {name: _by_ink(ink[name], struck.get(name, 0.0)) for name in ink}
        return Decision(fields, None, (), None, None, _unsure(sheet, fields))
    search = _Search(sheet, ink, struck)
    best, fields, doubt = _weighed(search)
    in_doubt = any(field.state == "doubtful" for field in fields.values())
    if in_doubt and (otherwise := by_hand(sheet.form, ink, fields)):
        search = _Search(sheet, {**ink, **otherwise}, struck, search)
        best, fields, doubt = _weighed(search)
    return _decided(sheet, search, best, fields, doubt)


Doubt = Mapping[tuple[int, Cell], float]
"""How likely a deal adds something else to a total than the best game has it."""


def _weighed(search: _Search) -> tuple[list[_Node], dict[str, FieldReading], Doubt]:
    """The most probable game, every field by all games that come into question, and what else these add."""
    path = search.best()
    others = [(other, exp(other.less)) for other in search.others(path)]
    total = 1.0 + sum(share for _, share in others)
    plain, follows = search.posteriors(path)
    for node in path[1:]:
        assert node.row is not None
        plain |= _special(search, node.row)
    # Every field by the games that say something else of it than the best one does; what weight is left is its own.
    otherwise: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    doubt: dict[tuple[int, Cell], float] = {}
    for other, share in others:
        for deal, cell in other.added_otherwise(path):
            doubt[deal, cell] = doubt.get((deal, cell), 0.0) + share / total
        row = other.nodes[0].row
        assert row is not None
        for name, values in (search.posteriors_of(other, path, follows) | _special(search, row)).items():
            weights[name] = weights.get(name, 0.0) + share
            into = otherwise.setdefault(name, {})
            for value, probability in values.items():
                into[value] = into.get(value, 0.0) + probability * share / total
    posterior = {name: plain[name] for name in plain if name not in otherwise}
    for name, into in otherwise.items():
        for value, probability in plain.get(name, {}).items():
            into[value] = into.get(value, 0.0) + probability * (1 - weights[name] / total)
        posterior[name] = into
    posterior |= search.carried
    fields = {
        name: _by_rules(ink, search.seen[name], posterior.get(name), search.struck.get(name, 0.0))
        for name, ink in search.ink.items()
    }
    return path, fields, doubt


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


def _special(search: _Search, row: Row) -> dict[str, dict[str, float]]:
    """The distribution of every mark and tricks field of a row, given its deal."""
    ink = search.rows[row.deal - 1]
    if row.contract is None and ink.blank():
        return {}
    called, due = row.marks, row.written_tricks
    out: dict[str, dict[str, float]] = {}
    for key, mark in ink.marks.items():
        name = f"d{row.deal:02d}.{key[0]}.{key[1]}"
        out[name] = search.shares(name, mark, key in called, mark_probability, ("x", ""))
    for seat, number in ink.tricks.items():
        name = f"d{row.deal:02d}.tricks.{seat}"
        out[name] = search.shares(name, number, due.get(seat), tricks_probability, TRICK_VALUES)
    return out


def _by_ink(ink: Ink, struck: float) -> FieldReading:
    """A field by the picture alone."""
    if ink.exact is None:
        return FieldReading("", 0.0, "unreadable")
    if ink.gross == 0.0:
        return _field({ink.best: 1.0}, 0.0, "person")
    shares = normalised({value: ink(value) for value in ink.likely})
    return _field(shares, struck, "image")


def _by_rules(ink: Ink, alone: FieldReading, shares: Mapping[str, float] | None, struck: float) -> FieldReading:
    """A field by the picture and the rules; `alone` is what it is by the picture alone."""
    if ink.exact is None:
        return FieldReading("", 0.0, "unreadable", other=tuple(_ordered(shares or {}))[:3])
    if shares is None or ink.gross == 0.0:
        return alone
    return _field(_no_bolder(shares, ink), struck, "rules", alone)


BOLDEST = 1e4
"""How far the rules may raise the odds of another value against the one that the ink shows best.

People make mistakes that no model foresees: where the ink is clear and all the rest of the sheet contradicts it, a
person decides.
"""


def _no_bolder(shares: Mapping[str, float], ink: Ink) -> Mapping[str, float]:
    """The shares with the odds of every value against the one seen held to what the ink and the rules may say."""
    seen = ink.best
    if shares.keys() == {seen}:
        return shares
    base = max(shares.get(seen, 0.0), 1e-300)
    odds = {value: min(share / base, BOLDEST * ink(value) / ink(seen)) for value, share in shares.items()}
    return normalised(odds | {seen: 1.0})


def _field(shares: Mapping[str, float], struck: float, why: Why, alone: FieldReading | None = None) -> FieldReading:
    """A field by the shares of its values; where it is as it was `alone`, by the picture, that is the reason."""
    # A nought before a number is a neighbour's stroke, or changes nothing.
    if any(len(text) > 1 and text[0] == "0" for text in shares):
        numbers: dict[str, float] = {}
        for text, share in shares.items():
            plain = text.lstrip("0") or "0" if text.isdigit() else text
            numbers[plain] = numbers.get(plain, 0.0) + share
        shares = numbers
    ordered = _ordered(shares)
    value, confidence = ordered[0]
    state: State = "empty" if value == "" else "clear"
    if value == "" and struck > 0.5:
        state = "struck"
    if confidence < SURE:
        state = "doubtful"
    if alone is not None and value == alone.value and (alone.state != "doubtful" or state == "doubtful"):
        why = "image"
    return FieldReading(value, min(confidence, 1.0), state, why, tuple(ordered[1:4]))


def _ordered(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    # Equals in the order of their figures, so that the same picture always gives the same reading.
    return sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))


# --- the game, its mistakes, and what to ask --------------------------------------------------------------------------

DOUBTED_MISTAKE = 0.97
"""A mistake less probable than this is asked about before anybody is told of it."""


HALF_SEEN = 0.9
"""How surely a deal is the one decided on of which a mark or a trick count cannot be seen, at the most."""

PLAYED = ("declarer", "contract", "whist", "tricks")
"""The columns that say what was played."""


def _decided(
    sheet: Sheet, search: _Search, best: list[_Node], fields: dict[str, FieldReading], doubt: Doubt
) -> Decision:
    path = best[1:]
    rows = [node.row for node in path if node.row is not None]
    unread = [
        (field.deal, Cell(field.column, field.seat or "", field.on))
        for field in sheet.form.fields
        if field.deal and field.column in COLUMNS and fields[field.id].state == "unreadable"
    ]
    found = audit.check(as_game(sheet, rows, fields), unread)
    for name, shares in results(sheet.form, search.ink, found.written).items():
        fields[name] = _by_rules(search.ink[name], search.seen[name], shares, 0.0)
    game = as_game(sheet, rows, fields)
    if game.result is not None:
        # The players' own result is read only now, and judged with the rest.
        found = audit.check(game, unread)
    hidden = {
        field.deal or 0
        for field in sheet.form.fields
        if field.column in PLAYED and fields[field.id].state == "unreadable"
    }
    unseen = {
        (node.row.deal, cell)
        for node in path
        for cell in node.adds
        if node.row is not None and fields[cell.field(node.row.deal)].state == "unreadable"
    }
    mistakes = (
        *_copied_wrong(sheet, fields),
        *(_mistake(m, fields, doubt, hidden, unseen) for m in found.mistakes),
        *_result_mistakes(game, found, fields),
    )
    questions = [
        *_doubtful(search, path, fields, doubt, {mistake.field for mistake in mistakes}),
        *_unexplained(search, path, fields),
        *_doubted_mistakes(mistakes),
    ]
    notes = [note.message for note in found.notes]
    for question in _against_the_row(sheet, rows, fields):
        deal = sheet.form.by_id[question.field].deal or 0
        # What a person said stands on the paper and cannot be is not passed over.
        if _row_doubt(doubt, deal) > ROW_SURE or fields[question.field].why == "person":
            questions.append(question)
        else:
            notes.append(Text(f"сдача {deal}: ", f"deal {deal}: ") + question.why)
    first: dict[str, Question] = {}
    for question in questions:
        first.setdefault(question.field, question)
    played, written = (
        {s: figure(v) for s, v in side.items()} if side else None for side in (found.played, found.written)
    )
    return Decision(fields, game, mistakes, played, written, tuple(first.values()), tuple(dict.fromkeys(notes)))


def as_game(sheet: Sheet, rows: list[Row], fields: Mapping[str, FieldReading]) -> Game:
    """The game record of a sheet: its deals as decided, its running totals as they stand on the paper."""
    cells = tuple(cells_of(tuple(sheet.form.seats)))
    deals = [as_deal(row, sheet.form) for row in rows if row.contract is not None]
    written, start = [], {}
    for deal in range(sheet.form.rows + 1):
        for cell in cells:
            value = number_of(fields[cell.field(deal)].value)
            if value is None:
                continue
            if deal == 0:
                start[cell] = value
            else:
                written.append(Written(deal, cell.column, cell.seat, value, cell.on))
    final = {seat: fields.get(f"result.{seat}") for seat in sheet.form.seats}
    numbers = {seat: number_of(field.value) for seat, field in final.items() if field is not None}
    result = {seat: value for seat, value in numbers.items() if value is not None}
    return Game(
        convention=sheet.convention or "",
        players={seat: sheet.names.get(seat, "") or seat for seat in sheet.form.seats},
        deals=tuple(deals),
        pool=sheet.pool,
        options=sheet.options,
        start=totals_of(start, sheet.form.seats),
        written=tuple(written),
        result=result if len(result) == sheet.form.players else None,
        raspasy_run=sheet.raspasy_run,
    )


def totals_of(values: Mapping[Cell, int], seats: str) -> Totals | None:
    """Carried-over totals from the values of a row of boxes; None where the row is empty."""
    if not values:
        return None
    return Totals(
        {s: values.get(Cell("pool", s), 0) for s in seats},
        {s: values.get(Cell("mountain", s), 0) for s in seats},
        {s: {o: values.get(Cell("whists", s, o), 0) for o in seats if o != s} for s in seats},
    )


def _mistake(
    mistake: audit.Mistake,
    fields: Mapping[str, FieldReading],
    doubt: Doubt,
    hidden: Collection[int],
    unseen: Collection[tuple[int, Cell]],
) -> Mistake:
    """The mistake with how sure it is; `hidden` are deals half out of sight, `unseen` totals that are due and so."""
    # It is one if the figure stands there as read, the deals since the last total above it were played as decided, and
    # that total stands there as read.
    sure = fields[mistake.field].confidence if mistake.field in fields else 0.0
    cell = Cell(mistake.column, mistake.seat, mistake.on)
    for deal in range(mistake.deal, 0, -1):
        sure *= (HALF_SEEN if deal in hidden else 1.0) * (1 - doubt.get((deal, cell), 0.0))
        above = fields[cell.field(deal - 1)]
        if number_of(above.value) is not None:
            sure *= above.confidence
            break
        if (deal - 1, cell) in unseen:
            # The slip may as well stand there, and be carried on here.
            sure *= 0.5
    return Mistake(
        mistake.deal,
        mistake.field,
        mistake.column,
        mistake.seat,
        mistake.on,
        mistake.kind,
        mistake.written,
        figure(mistake.expected) if isinstance(mistake.expected, Fraction) else mistake.expected,
        sure,
        mistake.message,
    )


def _copied_wrong(sheet: Sheet, fields: Mapping[str, FieldReading]) -> Iterator[Mistake]:
    """Totals that were carried over from the sheet before and do not agree with it."""
    if sheet.before is None:
        return
    for field in sheet.form.fields:
        if field.deal != 0:
            continue
        reading = fields[field.id]
        stood = sheet.before.totals.get(Cell(field.column, field.seat or "", field.on), 0)
        number = number_of(reading.value)
        if reading.state == "unreadable" or (number or 0) == stood:
            continue
        if number is None:
            message = Text(
                f"итог предыдущего листа не перенесён: там стоит {stood}",
                f"the total of the sheet before was not carried over: {stood} stands there",
            )
        else:
            message = Text(
                f"перенесено {number}, а на предыдущем листе стоит {stood}",
                f"{number} was carried over, but the sheet before ends with {stood}",
            )
        kind, seat = "carry-over", field.seat or ""
        yield Mistake(0, field.id, field.column, seat, field.on, kind, number, stood, reading.confidence, message)


def _result_mistakes(game: Game, found: audit.Audit, fields: Mapping[str, FieldReading]) -> Iterator[Mistake]:
    """The players' own results where they are not what their totals come to."""
    if found.result is None or found.result.verdict != "wrong" or game.result is None:
        return
    for seat, off in found.result.differences.items():
        if off:
            name = f"result.{seat}"
            due, written = game.result[seat] - off, int(game.result[seat])
            message = Text(
                f"в итоге стоит {written}, а по записям выходит {figure(due)}",
                f"the result says {written}, but the totals come to {figure(due)}",
            )
            expected = due if isinstance(due, int) else figure(due)
            yield Mistake(0, name, "result", seat, None, "result", written, expected, fields[name].confidence, message)


def _row_doubt(doubt: Doubt, deal: int) -> float:
    """How likely a deal is worth something else than decided."""
    return max((share for (number, _), share in doubt.items() if number == deal), default=0.0)


def _doubtful(
    search: _Search, path: list[_Node], fields: Mapping[str, FieldReading], doubt: Doubt, told: Collection[str]
) -> Iterator[Question]:
    """The fields that the ink and the rules together leave in doubt, until what is left is no more than RISK.

    The first is the one whose answer settles most: its own doubt, and that of the fields that hang together with it.
    Fields `told` of as mistakes are in plain sight anyway.
    """
    risks: dict[Field, float] = {}
    for field in search.sheet.form.fields:
        if field.id in told:
            continue
        reading = fields.get(field.id)
        if reading is not None and (reading.confidence < SUREST or reading.state == "unreadable"):
            risk = _at_stake(search, field, reading, path[field.deal - 1] if field.deal else None, doubt)
            if risk:
                risks[field] = risk
    left = 0.0
    asked = []
    for field, risk in sorted(risks.items(), key=lambda pair: pair[1]):
        left += risk
        if left > RISK or fields[field.id].state == "unreadable":
            asked.append(field)
    useful = {one: sum(risks[other] for other in asked if _settles(one, other)) for one in asked}
    for field in sorted(asked, key=lambda one: -useful[one]):
        reading = fields[field.id]
        if reading.state == "unreadable":
            why = Text("клетки не видно на снимке", "the box cannot be seen in the photo")
        elif reading.value == "":
            why = Text("не ясно, написано ли здесь что-нибудь", "it is not clear whether anything is written here")
        else:
            why = Text("написано неразборчиво", "hard to read")
        yield Question(
            field.id, reading.value, tuple(value for value, _ in reading.other if value != reading.value), why
        )


def _settles(one: Field, other: Field) -> bool:
    """Whether an answer for one field says something of another: of its row by a mark or tricks, or of its column."""
    if one is other:
        return True
    if one.column in COLUMNS:
        return (one.column, one.seat, one.on) == (other.column, other.seat, other.on)
    return one.deal == other.deal


def _at_stake(search: _Search, field: Field, reading: FieldReading, node: _Node | None, doubt: Doubt) -> float:
    """How likely a field holds another value than it is read as; what changes neither deal nor mistakes counts little.

    A field that cannot be seen counts as wholly unsure where anything is due in it.
    """
    unseen, wrong = reading.state == "unreadable", 1 - reading.confidence
    if node is None:
        return 1.0 if unseen else wrong
    row = node.row
    assert row is not None
    if unseen and row.contract is None:
        # Whether anything was played in this row shows in its contract marks, if they can be seen.
        marks = search.rows[row.deal - 1].marks.items()
        return float(any(ink.exact is None for (column, _), ink in marks if column == "contract"))
    if field.column not in COLUMNS:
        if unseen:
            return float(field.kind == "mark" or field.seat in row.written_tricks)
        # To a trick count that nobody needs, nothing, a dash and a nought are the same.
        idle = {"", "-", "0"} if field.column == "tricks" and not row.written_tricks.get(field.seat or "") else {""}
        apart = sum(
            share * (ALIKE if {value, reading.value} <= idle else 1.0)
            for value, share in reading.other
            if {value, reading.value} - {"-"} != {""}
        )
        return max(min(wrong, _row_doubt(doubt, row.deal)), apart * IDLE)
    cell = Cell(field.column, field.seat or "", field.on)
    if cell in node.adds:
        return 1.0 if unseen else wrong
    assert node.before is not None
    # Nothing, a dash, or the old total once more say the same.
    states = node.before.messages[search.place[cell]]
    idle = {"", "-"}.union(*(due_values(state[0], 0) for state in states))
    if reading.value not in idle:
        return wrong
    others = sum(share for value, share in reading.other if value not in idle and value != reading.value)
    return max(others, IDLE * sum(share for value, share in reading.other if {value, reading.value} != {"", "-"}))


IDLE = 0.25
"""How much a misreading that changes nothing weighs beside one that does."""

ALIKE = 0.2
"""How much of that is left where both readings say the same."""

ROW_SURE = 1e-3
"""Where a deal is no more doubtful than this, a mark or trick count that does not go with it is noted, not asked."""

SUREST = 0.9999
"""A field surer than this is not looked at for what is at stake."""

NATURAL = 5e-3
"""Something written in a tricks box with at least this probability says nothing against the deal."""


def _unexplained(search: _Search, path: list[_Node], fields: Mapping[str, FieldReading]) -> Iterator[Question]:
    """Rows in which totals change although no deal is marked, and none explains the change."""
    for node in path:
        row = node.row
        assert row is not None and node.before is not None
        if row.contract is not None:
            continue
        for i, name in enumerate(search.names[row.deal]):
            value = number_of(fields[name].value)
            if value is not None and value not in {sum(state) for state in node.before.messages[i]}:
                yield Question(
                    f"d{row.deal:02d}.contract.6",
                    "",
                    ("x",),
                    Text(
                        "итоги в этой строке меняются, а сдача не отмечена: что здесь играли?",
                        "totals change in this row, but no deal is marked in it: what was played?",
                    ),
                )
                break


def _against_the_row(sheet: Sheet, rows: list[Row], fields: Mapping[str, FieldReading]) -> Iterator[Question]:
    """Marks and tricks that do not agree with the deal that all the rest of the sheet tells of."""
    special: dict[int, list[Field]] = {row.deal: [] for row in rows}
    for field in sheet.form.fields:
        if field.deal and field.column in PLAYED:
            special[field.deal].append(field)
    for row in rows:
        for field in special[row.deal]:
            reading = fields[field.id]
            if field.kind == "mark":
                called = (field.column, field.seat or field.choice or "") in row.marks
                if called and reading.value == "":
                    yield Question(
                        field.id,
                        "",
                        ("x",),
                        Text(
                            "отметки нет, а по остальным записям сдачи она должна быть",
                            "there is no mark, but the rest of the deal calls for one",
                        ),
                    )
                elif not called and reading.value == "x":
                    yield Question(
                        field.id,
                        "x",
                        ("",),
                        Text(
                            "отметка не сходится с остальными записями сдачи",
                            "the mark does not agree with the rest of the deal",
                        ),
                    )
                continue
            due = row.written_tricks.get(field.seat or "")
            if tricks_probability(due, reading.value) >= NATURAL:
                continue
            if due is None:
                why = Text(
                    "взятки здесь не сходятся с остальными записями сдачи",
                    "tricks here do not agree with the rest of the deal",
                )
            else:
                why = Text(
                    f"по остальным записям сдачи здесь должно стоять {due}",
                    f"by the rest of the deal this should be {due}",
                )
            yield Question(field.id, reading.value, ("",) if due is None else (str(due),), why)


def _doubted_mistakes(mistakes: tuple[Mistake, ...]) -> Iterator[Question]:
    for mistake in mistakes:
        if mistake.confidence < DOUBTED_MISTAKE and mistake.field:
            best = "" if mistake.written is None else str(mistake.written)
            other = () if mistake.expected is None else (str(mistake.expected),)
            yield Question(
                mistake.field,
                best,
                other,
                Text("ошибка игроков или неверно прочитано?", "a mistake of the players, or misread?"),
            )


def _unsure(sheet: Sheet, fields: Mapping[str, FieldReading]) -> tuple[Question, ...]:
    """Without known rules every doubtful field is asked about."""
    why = Text("написано неразборчиво", "hard to read")
    return tuple(
        Question(name, f.value, tuple(value for value, _ in f.other), why)
        for name, f in fields.items()
        if f.state in ("doubtful", "unreadable")
    )
