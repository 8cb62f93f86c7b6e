"""From what the ink can say to what was played and written: the rules weigh, and never overwrite.

A sheet says everything two or three times. The most probable game is sought among whole games (`search`); every row is
then tried once more with each of its other deals, so that the probability of every field counts all that speaks for
another value. What remains in doubt is asked (`questions`).
"""

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log

from recognize.beside import results
from recognize.hands import by_hand
from recognize.ink import Ink
from recognize.questions import PLAYED, Doubt, questions, since_last_total, unsure
from recognize.reading import FieldReading, Mistake, Question
from recognize.rows import TRICK_VALUES, Row, against, mark_probability, tricks_probability
from recognize.search import Node, Rows, Search, Sheet, as_deal, elsewhere, exchange, totals_of
from recognize.shares import by_ink, by_rules
from recognize.totals import number_of
from scoring import audit
from scoring.game import COLUMNS, Cell, Game, Written, rows_about
from scoring.text import Text, figure, figure_text
from templates import Form


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


def decide(sheet: Sheet, ink: Mapping[str, Ink], struck: Mapping[str, float] | None = None) -> Decision:
    """The most probable game on a sheet, how it was written down, and what remains in doubt.

    `ink` holds every mark and number field of the form; `struck` the probability that a field was crossed out with
    nothing put in its place.
    """
    struck = struck or {}
    if sheet.rules is None:
        fields = {name: by_ink(ink[name], struck.get(name, 0.0)) for name in ink}
        return Decision(fields, None, (), None, None, unsure(fields))
    with _nothing_collected():
        return _decide(sheet, ink, struck)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Without Python's collector of cycles: a search makes none, and to go through its games took a seventh of it."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _decide(sheet: Sheet, ink: Mapping[str, Ink], struck: Mapping[str, float]) -> Decision:
    search = Search(sheet, ink, struck)
    path = search.best()
    rows = _exchanged(search, path)
    if rows is not None:
        return _in_their_rows(_decide(sheet, exchange(ink, rows), exchange(struck, rows)), rows)
    fields, doubt = _weighed(search, path)
    in_doubt = any(field.state == "doubtful" for field in fields.values())
    if in_doubt and (otherwise := by_hand(sheet.form, ink, fields)):
        search = Search(sheet, {**ink, **otherwise}, struck, search)
        path = search.best()
        fields, doubt = _weighed(search, path)
    return _decided(sheet, search, path, fields, doubt)


EXCHANGED = 1e-4
"""How often two deals running stand in each other's rows."""

EVIDENTLY = 1e3
"""By so much must it be the likelier that they do."""

AMISS = 15.0
"""Where marks and totals of two rows running speak less than this against their deals (natural logarithm), they are in
their own rows; and in each other's only where they speak less than this against the deals so."""

TRIED = 2
"""So many pairs of rows are tried, those first that are most amiss."""


def _exchanged(search: Search, path: list[Node]) -> Rows | None:
    """The two rows running with which the sheet makes most sense when each is taken for the other.

    None where it makes not far more sense than as it is.
    """
    most, found = path[-1].score - log(EXCHANGED) + log(EVIDENTLY), None
    played = [row.deal for row in search.rows if not row.blank()]
    pairs = [(_amiss(search, path, *rows), rows) for rows in zip(played, played[1:], strict=False)]
    for amiss, rows in sorted(pairs, reverse=True)[:TRIED]:
        if amiss < AMISS:
            break
        other = search.exchanged(rows)
        if _amiss(other, other.best(path[: rows[0]], rows[1]), *rows) < AMISS:
            score = other.best()[-1].score
            if score > most:
                most, found = score, rows
    return found


def _amiss(search: Search, path: list[Node], one: int, two: int) -> float:
    """How much marks and totals from one row to another speak against what a game has for them (natural logarithm)."""
    rows = [node.row for node in path[one : two + 1] if node.row is not None]
    by_totals = path[one - 1].score + sum(row.score for row in rows) - path[two].score
    return by_totals + sum(against(search.rows[row.deal - 1], row) for row in rows)


def _in_their_rows(decision: Decision, rows: Rows) -> Decision:
    """What was decided with two rows exchanged, told of the rows as they are; the game keeps the order of play."""
    one, two = rows
    note = Text(
        f"сдачи {one} и {two} записаны каждая в строке другой",
        f"deals {one} and {two} are written in each other's rows",
    )
    there = dict((rows, rows[::-1]))
    return replace(
        decision,
        fields=exchange(decision.fields, rows),
        mistakes=tuple(
            replace(m, field=elsewhere(m.field, rows), deal=there.get(m.deal, m.deal)) for m in decision.mistakes
        ),
        review=tuple(replace(q, field=elsewhere(q.field, rows)) for q in decision.review),
        notes=(note, *decision.notes),
    )


def _weighed(search: Search, path: list[Node]) -> tuple[dict[str, FieldReading], Doubt]:
    """Every field by the most probable game and all others that come into question, and what else these add."""
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
    fields: dict[str, FieldReading] = {}
    like: dict[tuple[Ink, int], FieldReading] = {}
    for name, ink in search.ink.items():
        shares = posterior.get(name)
        known = like.get((ink, id(shares)))
        if known is None:
            known = by_rules(ink, search.seen[name], shares, search.struck.get(name, 0.0))
            like[ink, id(shares)] = known
        fields[name] = known
    return fields, doubt


def _special(search: Search, row: Row) -> dict[str, dict[str, float]]:
    """The distribution of every mark and tricks field of a row, given its deal."""
    ink = search.rows[row.deal - 1]
    if row.contract is None and ink.blank():
        return {}
    called, due = row.marks, row.written_tricks
    out: dict[str, dict[str, float]] = {}
    for key, mark in ink.marks.items():
        name = f"d{row.deal:02d}.{key[0]}.{key[1]}"
        out[name] = search.shares(mark, key in called, mark_probability, ("x", ""))
    for seat, number in ink.tricks.items():
        name = f"d{row.deal:02d}.tricks.{seat}"
        out[name] = search.shares(number, due.get(seat), tricks_probability, TRICK_VALUES)
    return out


HALF_SEEN = 0.9
"""How surely a deal is the one decided on of which a mark or a trick count cannot be seen, at the most."""


def _decided(sheet: Sheet, search: Search, best: list[Node], fields: dict[str, FieldReading], doubt: Doubt) -> Decision:
    path = best[1:]
    rows = [node.row for node in path if node.row is not None]
    unread = [
        (field.deal, Cell(field.column, field.seat or "", field.on))
        for field in sheet.form.fields
        if field.deal and field.column in COLUMNS and fields[field.id].state == "unreadable"
    ]
    found = audit.check(as_game(sheet, rows, fields), unread)
    for name, shares in results(sheet.form, search.ink, found.written).items():
        fields[name] = by_rules(search.ink[name], search.seen[name], shares, 0.0)
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
    asked, noted = questions(search, path, fields, doubt, mistakes)
    played, written = (
        {s: figure(v) for s, v in side.items()} if side else None for side in (found.played, found.written)
    )
    said = [*(note.message for note in found.notes), *(broken.text for broken in found.violations)]
    notes = dict.fromkeys([*said, *_half_a_result(sheet.form, fields), *noted])
    return Decision(fields, game, mistakes, played, written, asked, tuple(notes))


def as_game(sheet: Sheet, rows: list[Row], fields: Mapping[str, FieldReading]) -> Game:
    """The game record of a sheet: its deals as decided, its running totals as they stand on the paper."""
    deals = [as_deal(row, sheet.form) for row in rows if row.contract is not None]
    near = rows_about([deal.deal for deal in deals])
    written, start = [], {}
    for field in sheet.form.fields:
        if field.column not in COLUMNS:
            continue
        value = number_of(fields[field.id].value)
        if value is None:
            continue
        deal, seat = field.deal or 0, field.seat or ""
        if deal:
            if deal in near or not deals:
                written.append(Written(deal, field.column, seat, value, field.on))
        else:
            start[Cell(field.column, seat, field.on)] = value
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
    deals = since_last_total(cell, mistake.deal, fields)
    for deal in deals:
        sure *= (HALF_SEEN if deal in hidden else 1.0) * (1 - doubt.get((deal, cell), 0.0))
        if deal > deals.start and (deal - 1, cell) in unseen:
            # The slip may as well stand there, and be carried on here.
            sure *= 0.5
    if deals and number_of((above := fields[cell.field(deals.start - 1)]).value) is not None:
        sure *= above.confidence
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


def _half_a_result(form: Form, fields: Mapping[str, FieldReading]) -> Iterator[Text]:
    """That the players wrote down what some of them came to: only all together can be held against the game."""
    written = [s for s in form.seats if f"result.{s}" in fields and number_of(fields[f"result.{s}"].value) is not None]
    if 0 < len(written) < form.players:
        yield Text(
            f"результат записан не у всех ({len(written)} из {form.players}): он не проверен",
            f"the result is written for {len(written)} of {form.players} players: it is not checked",
        )


def _result_mistakes(game: Game, found: audit.Audit, fields: Mapping[str, FieldReading]) -> Iterator[Mistake]:
    """The players' own results where they are not what their totals come to."""
    if found.result is None or found.result.verdict != "wrong" or game.result is None:
        return
    for seat, off in found.result.differences.items():
        if off:
            name = f"result.{seat}"
            due, written = game.result[seat] - off, int(game.result[seat])
            message = Cell("result", seat).text(game.players) + Text(
                f": стоит {written}, а по записям выходит {figure_text(due)}",
                f": {written} stands there, but the totals come to {figure_text(due)}",
            )
            expected = due if isinstance(due, int) else figure(due)
            yield Mistake(0, name, "result", seat, None, "result", written, expected, fields[name].confidence, message)
