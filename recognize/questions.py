"""What a person must look at: the most useful question first, and nothing that can change neither deal nor mistake."""

from collections.abc import Collection, Iterator, Mapping

from recognize.reading import FieldReading, Mistake, Question
from recognize.rows import TRICK_VALUES, Row, tricks_probability
from recognize.search import Node, Search, Sheet
from recognize.totals import due_values, number_of
from scoring.game import COLUMNS, Cell
from scoring.text import Text
from templates import Field, Form

RISK = 0.015
"""How many wrong fields that matter may be expected on a sheet beside those that are asked about."""

DOUBTED_MISTAKE = 0.95
"""A mistake less probable than this is asked about before anybody is told of it."""

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

PLAYED = ("declarer", "contract", "whist", "tricks")
"""The columns that say what was played."""


Doubt = Mapping[tuple[int, Cell], float]
"""How likely a deal adds something else to a total than the best game has it."""


def questions(
    search: Search,
    path: list[Node],
    fields: Mapping[str, FieldReading],
    doubt: Doubt,
    mistakes: tuple[Mistake, ...],
) -> tuple[tuple[Question, ...], list[Text]]:
    """What to ask of a sheet with this best game, the most useful first, and what is only noted.

    `path` are the game's rows, in order; of its `mistakes` those are asked about that may be misread.
    """
    mistaken = {mistake.field for mistake in mistakes}
    found = [
        *_doubtful(search, path, fields, doubt, mistaken),
        *_unexplained(search, path, fields),
    ]
    found.extend(_doubted_mistakes(search.sheet.form, mistakes, fields, {question.field for question in found}))
    notes = []
    for question in _against_the_row(search.sheet, [node.row for node in path if node.row is not None], fields):
        field = search.sheet.form.by_id[question.field]
        deal = field.deal or 0
        # Other tricks than the totals are reckoned from are not passed over: they may be a slip of the pen, or right
        # and the totals wrong. And where nothing is marked, the totals alone are too little to tell by what was played.
        numbers = all(number_of(value) is not None for value in (question.best, *question.other))
        unmarked = field.column == "contract" and search.rows[deal - 1].blank()
        if fields[question.field].why == "person":
            # Who looked has answered, unless nobody can write what he says.
            asked = field.column == "tricks" and question.best not in TRICK_VALUES
        else:
            asked = numbers or unmarked or _row_doubt(doubt, deal) > ROW_SURE
        if asked:
            found.append(question)
        else:
            notes.append(Text(f"сдача {deal} [{field.id}]: ", f"deal {deal} [{field.id}]: ") + question.why)
    told = {*mistaken, *(question.field for question in found)}
    found.extend(_doubted_deals(search, fields, doubt, told))
    first: dict[str, Question] = {}
    for question in found:
        first.setdefault(question.field, question)
    return tuple(first.values()), notes


def unsure(fields: Mapping[str, FieldReading]) -> tuple[Question, ...]:
    """Without known rules every doubtful field is asked about."""
    why = Text("написано неразборчиво", "hard to read")
    return tuple(
        Question(name, f.value, tuple(value for value, _ in f.other), why)
        for name, f in fields.items()
        if f.state in ("doubtful", "unreadable")
    )


def _row_doubt(doubt: Doubt, deal: int) -> float:
    """How likely a deal is worth something else than decided."""
    return max((share for (number, _), share in doubt.items() if number == deal), default=0.0)


def _doubtful(
    search: Search, path: list[Node], fields: Mapping[str, FieldReading], doubt: Doubt, told: Collection[str]
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


def _at_stake(search: Search, field: Field, reading: FieldReading, node: Node | None, doubt: Doubt) -> float:
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


def _unexplained(search: Search, path: list[Node], fields: Mapping[str, FieldReading]) -> Iterator[Question]:
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
            if reading.state == "unreadable":
                # What cannot be seen disagrees with nothing.
                continue
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


def _doubted_deals(
    search: Search, fields: Mapping[str, FieldReading], doubt: Doubt, told: Collection[str]
) -> Iterator[Question]:
    """Deals that may be worth something else although every box is plain and nothing is `told` of their rows."""
    said = {search.sheet.form.by_id[name].deal for name in told if name}
    for deal in sorted({deal for deal, _ in doubt} - said):
        share, cell = max((share, cell) for (number, cell), share in doubt.items() if number == deal)
        reading = fields[cell.field(deal)]
        if share > RISK and reading.why != "person":
            yield Question(
                cell.field(deal),
                reading.value,
                (),
                Text(
                    "сдачу можно прочесть и иначе, и тогда этот итог неверен",
                    "the deal may have been played otherwise, and then this total is wrong",
                ),
            )


def _doubted_mistakes(
    form: Form, mistakes: tuple[Mistake, ...], fields: Mapping[str, FieldReading], asked: Collection[str]
) -> Iterator[Question]:
    """Mistakes that may be none: misread themselves, or due to what is `asked` about or was played otherwise."""
    for mistake in mistakes:
        reading = fields.get(mistake.field)
        # Of what a person said stands there it need not be asked whether it was misread.
        told = reading is not None and reading.why == "person"
        if mistake.confidence >= DOUBTED_MISTAKE or not mistake.field or told:
            continue
        if reading is None or reading.confidence < DOUBTED_MISTAKE:
            why = Text("ошибка игроков или неверно прочитано?", "a mistake of the players, or misread?")
        elif _rests_on(form, mistake, fields).isdisjoint(asked):
            why = Text(
                "ошибка игроков или сдачу сыграли иначе?", "a mistake of the players, or was the deal played otherwise?"
            )
        else:
            why = Text(
                "ошибка ли это, решит ответ на другой вопрос", "the answer to another question tells if it is a mistake"
            )
        best = "" if mistake.written is None else str(mistake.written)
        other = () if mistake.expected is None else (str(mistake.expected),)
        yield Question(mistake.field, best, other, why)


def _rests_on(form: Form, mistake: Mistake, fields: Mapping[str, FieldReading]) -> set[str]:
    """The fields that say what was due where a mistake stands: the last total above it and the deals since then."""
    cell = Cell(mistake.column, mistake.seat or "", mistake.on)
    deals = since_last_total(cell, mistake.deal, fields)
    return {cell.field(deal) for deal in (deals.start - 1, *deals)} | {
        field.id for field in form.fields if field.column in PLAYED and field.deal in deals
    }


def since_last_total(cell: Cell, deal: int, fields: Mapping[str, FieldReading]) -> range:
    """The deals up to this one since a total was last read in a column above it; none for the carry-over row."""
    first = max(deal, 1)
    while first > 1 and number_of(fields[cell.field(first - 1)].value) is None:
        first -= 1
    return range(first, deal + 1)
