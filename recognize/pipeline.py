"""The whole way from a file to readings: open → find marks → identify → fit the page → cut → read → decide."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from recognize.beside import Carried
from recognize.cells import Cell, cut_fields
from recognize.decide import decide
from recognize.digits import read_numbers
from recognize.identify import Identified, Known, identify, known_forms
from recognize.ink import UNSEEN, Ink, answered_ink, mark_ink, number_ink
from recognize.locate import find_marks, fit_page, sheets_of
from recognize.marks import read_marks
from recognize.merge import evidence_of, likeliest, same_paper, together
from recognize.page import Fit, Marks
from recognize.photo import Grey, Photo, PhotoError, open_photos
from recognize.reading import Evidence, Question, Reading, SheetInfo
from recognize.refusal import no_fit, no_sheet, too_coarse, too_little
from recognize.search import Sheet
from scoring.convention import ConventionError, load_convention
from scoring.text import Text
from templates import Form, FormError, load_form
from templates.identity import Identity, IdentityError, decode, encode, sheet_id

LEAST_ON_LINE = 0.7
"""With fewer of the printed lines where the fit puts them, the fit itself is in doubt, and nothing is read."""

LEAST_FIELDS = 0.6
"""With fewer of the fields in sight than this the photo is to be taken again, not puzzled over."""


Answers = Mapping[str, Mapping[str, str]]
"""What people said stands in fields, by sheet (its short id) or by picture (`picture_key`), and field id.

The field `sheet` stands for the sheet's code, for a picture whose own cannot be read. What is said of a picture counts
only where it shows one sheet, and what is said of the sheet goes before it.
"""


def picture_key(source: str, page: int) -> str:
    """A picture's key among the answers: its name, and the page where it is not the first."""
    return source if page == 1 else f"{source}#{page}"


def told_of(answers: Answers, source: str, page: int, sheet: str | None, alone: bool) -> dict[str, str]:
    """The answers for one sheet in a picture, `alone` where no other sheet is in it."""
    of_picture = answers.get(picture_key(source, page), {}) if alone else {}
    return {**of_picture, **(answers.get(sheet, {}) if sheet is not None else {})}


def read_file(
    path: Path, known: Known = lambda serial: None, answers: Answers = MappingProxyType({})
) -> Iterator[Reading]:
    """Every sheet in every picture of a file, read; a picture that gives none is a reading too, with the reason.

    `known` looks up a sheet by its number among those printed here, for when its codes cannot be read.
    """
    try:
        for photo in open_photos(path):
            yield from read_photo(photo, known, answers)
    except PhotoError as error:
        yield Reading(path.name, 1, "unreadable", error.text)


def read_photo(
    photo: Photo, known: Known = lambda serial: None, answers: Answers = MappingProxyType({})
) -> list[Reading]:
    """The sheets in one picture: which they are, every field, the game, the mistakes, and what to look at."""
    if photo.problem is not None:
        return [Reading(photo.source, photo.page, "unreadable", photo.problem)]
    grey = photo.grey
    found = find_marks(grey, known_forms()[0].dictionary)
    sheets = sheets_of(grey, found, known_forms()[0])
    if not sheets:
        return [Reading(photo.source, photo.page, "unreadable", no_sheet(grey, found))]
    return [_read_sheet(photo, marks, known, answers, alone=len(sheets) == 1) for marks in sheets]


def _read_sheet(photo: Photo, marks: Marks, known: Known, answers: Answers, *, alone: bool) -> Reading:
    grey = photo.grey
    identified = identify(grey, marks, known)
    told = told_of(answers, photo.source, photo.page, None, alone)
    if identified.identity is None and "sheet" in told:
        with suppress(IdentityError):
            named_by_person = decode(told["sheet"])
            by_marks = identified.by_marks
            # A code that the marks contradict was typed for another picture.
            if by_marks is None or by_marks.serial == named_by_person.serial:
                identified = Identified(named_by_person, by_marks)
            else:
                identified = Identified(None, by_marks, conflict=True)
    try:
        form, fit = _fitted(grey, marks, identified)
    except FormError:
        return Reading(photo.source, photo.page, "unreadable", _UNKNOWN_FORM)
    sheet = sheet_info(form, identified.identity)
    if fit is None or fit.on_line < LEAST_ON_LINE:
        return Reading(photo.source, photo.page, "unreadable", no_fit(grey, marks, form), sheet)
    hopeless = too_coarse(grey, marks, form)
    if hopeless is not None:
        return Reading(photo.source, photo.page, "unreadable", hopeless, sheet, page_map=fit.map)
    cells = cut_fields(grey, fit, form)
    shown = sum(cell.sure for cell in cells) / len(cells)
    if shown < LEAST_FIELDS:
        reason = too_little(grey, marks, form, shown)
        return Reading(photo.source, photo.page, "unreadable", reason, sheet, page_map=fit.map)
    told = told_of(answers, photo.source, photo.page, sheet.id, alone)
    ink, struck = read_cells(cells)
    seen = Reading(photo.source, photo.page, "clear", None, sheet, page_map=fit.map, evidence=evidence_of(ink, struck))
    asked: tuple[Question, ...] = ()
    if sheet.convention is None:
        asked = (Question("sheet", "", (), _TWO_CODES if identified.conflict else _NO_CODE),)
    return _decided(seen, form, ink, struck, told, asked)


def papers(readings: Sequence[Reading]) -> list[list[Reading]]:
    """Readings of one code, sorted by the sheets of paper they are of: more than one where a blank was photocopied."""
    sorted_out: list[list[Reading]] = []
    for reading in readings:
        assert reading.evidence is not None
        for group in sorted_out:
            if all(one.evidence is not None and same_paper(one.evidence, reading.evidence) for one in group):
                group.append(reading)
                break
        else:
            sorted_out.append([reading])
    return sorted_out


def merged(
    readings: Sequence[Reading],
    told: Mapping[str, str] = MappingProxyType({}),
    *,
    copied: bool = False,
    before: Carried | None = None,
) -> Reading:
    """Several readings of one sheet as one, field by field, decided once more; `told` are a person's answers for it.

    The readings are of the same code and have their evidence. Where two pictures clearly say different things, a person
    is asked, whatever the rules make of it: somebody may have put the paper right between them. `copied` tells that
    another paper carries the same code, which is a question of its own. `before` is what the sheet that this one
    continues ends with.
    """
    first = readings[0]
    assert first.sheet is not None
    form = load_form(first.sheet.form, first.sheet.players, first.sheet.rows, first.sheet.version)
    evidence = [one.evidence for one in readings if one.evidence is not None]
    ink, struck, differ = together(form, evidence)
    source = ", ".join(dict.fromkeys(one.source for one in readings))
    asked: tuple[Question, ...] = (Question("sheet", first.sheet.id or "", (), _COPIED),) if copied else ()
    found = _decided(Reading(source, first.page, "clear", None, first.sheet), form, ink, struck, told, asked, before)
    apart = [
        Question(name, found.fields[name].value, _others(evidence, name, found.fields[name].value), _PHOTOS_DIFFER)
        for name in (field.id for field in form.fields)
        if name in differ and name not in told
    ]
    rest = [question for question in found.review if question.field not in differ]
    review = (*rest[: len(asked)], *apart, *rest[len(asked) :])
    return replace(found, status="review" if review else "clear", review=review)


def _others(evidence: Sequence[Evidence], name: str, value: str) -> tuple[str, ...]:
    """What the pictures say of a field, beside `value`."""
    return tuple(sorted({likeliest(one, name) for one in evidence if name not in one.unseen} - {value}))


def _fitted(grey: Grey, marks: Marks, identified: Identified) -> tuple[Form, Fit | None]:
    """The form as printed, fitted: by the code, by the number in the marks, or by whose lines agree best."""
    said = identified.identity or identified.by_marks
    if said is not None:
        name = identified.identity.form if identified.identity else known_forms()[0].name
        form = load_form(name, said.players, said.rows, said.version)
        return form, fit_page(grey, marks, form)
    best: tuple[float, Form, Fit | None] = (0.0, known_forms()[0], None)
    for form in known_forms():
        for rows in (form.rows, *(n for n in range(1, 40) if n != form.rows)):
            try:
                tried = load_form(form.name, form.players, rows)
            except FormError:
                break
            fit = fit_page(grey, marks, tried)
            if fit is not None and fit.on_line > best[0]:
                best = fit.on_line, tried, fit
            if best[0] > 0.97:
                return best[1], best[2]
    return best[1], best[2]


def sheet_info(form: Form, identity: Identity | None) -> SheetInfo:
    """What the code says of the sheet; of one that is not known, its form alone."""
    if identity is None:
        return SheetInfo(form.name, form.version, form.players, form.rows)
    return SheetInfo(
        form.name,
        form.version,
        form.players,
        form.rows,
        identity.convention,
        # A code holds words only; a rule that is on or off is told so by them.
        {name: {"true": True, "false": False}.get(value, value) for name, value in identity.options.items()},
        identity.pool,
        sheet_id(identity),
        round=identity.round,
        table=identity.table,
        code=encode(identity),
    )


def _decided(
    seen: Reading,
    form: Form,
    ink: dict[str, Ink],
    struck: Mapping[str, float],
    told: Mapping[str, str],
    asked: tuple[Question, ...] = (),
    before: Carried | None = None,
) -> Reading:
    """The reading of a sheet seen, from its ink and from what people said of it."""
    info = seen.sheet
    assert info is not None
    seen_otherwise = tuple(_seen_otherwise(ink, told))
    ink = ink | {name: answered_ink(value, ink[name]) for name, value in told.items() if name in ink}
    rules = None
    if info.convention is not None:
        try:
            rules = load_convention(info.convention, info.options)
        except ConventionError as error:
            asked = (*asked, Question("sheet", info.convention, (), error.text))
    decision = decide(Sheet(form, info.convention, rules, info.options, info.pool, info.names, before), ink, struck)
    review = (*asked, *decision.review)
    return replace(
        seen,
        status="review" if review else "clear",
        fields=decision.fields,
        game=decision.game,
        mistakes=decision.mistakes,
        played=decision.played,
        written=decision.written,
        review=review,
        notes=(*seen_otherwise, *decision.notes),
    )


CLEARLY, HARDLY = 0.999, 1e-4
"""A box reads clearly as something with so much, and hardly as something else with no more than that."""


IN_WORDS = {"": Text("пусто", "nothing"), "x": Text("отметка", "a mark"), "-": Text("прочерк", "a dash")}


def _seen_otherwise(ink: Mapping[str, Ink], told: Mapping[str, str]) -> Iterator[Text]:
    """Answers that the picture clearly contradicts: people are tempted to say what should stand there."""
    for name, value in told.items():
        own = ink.get(name, UNSEEN)
        if own.likely.get(own.best, 0.0) < CLEARLY or own(value) > HARDLY or {value, own.best} == {"", "-"}:
            continue
        answered, there = (IN_WORDS.get(text, Text(text, text)) for text in (value, own.best))
        yield Text(
            f"[{name}]: ответ «{answered.ru}» принят, хотя на снимке ясно: {there.ru}; отвечайте, что стоит на бумаге, "
            "а не что должно стоять",
            f'[{name}]: the answer "{answered.en}" is taken, though the photo clearly says: {there.en}; answer what '
            "stands on the paper, not what should",
        )


def read_cells(cells: tuple[Cell, ...]) -> tuple[dict[str, Ink], dict[str, float]]:
    """What the ink in every field can say, and how probably it was crossed out with nothing in its place."""
    ink: dict[str, Ink] = {cell.field.id: UNSEEN for cell in cells}
    struck: dict[str, float] = {}
    # Bare boxes share one reading, and so one ink.
    known: dict[int, Ink] = {}
    cells_of_numbers = [cell for cell in cells if cell.sure and cell.field.kind == "number"]
    numbers = read_numbers([cell.image for cell in cells_of_numbers])
    for cell, number in zip(cells_of_numbers, numbers, strict=True):
        if id(number) not in known:
            known[id(number)] = number_ink(number.best(6), number.probability, number.bare)
        ink[cell.field.id], struck[cell.field.id] = known[id(number)], number.struck
    cells_of_marks = [cell for cell in cells if cell.sure and cell.field.kind == "mark"]
    marks = read_marks([cell.image for cell in cells_of_marks])
    for cell, mark in zip(cells_of_marks, marks, strict=True):
        if id(mark) not in known:
            known[id(mark)] = mark_ink(mark.probability, mark.cancelled)
        ink[cell.field.id], struck[cell.field.id] = known[id(mark)], mark.cancelled
    return ink, struck


def named(reading: Reading, event: str | None, names: dict[str, str]) -> Reading:
    """The reading with what the register of printed sheets knows beyond the code: the event and the players."""
    if reading.sheet is None:
        return reading
    game = reading.game
    if game is not None:
        game = replace(game, players={seat: names.get(seat, "") or seat for seat in game.players})
    return replace(reading, sheet=replace(reading.sheet, event=event, names=names), game=game)


_NO_CODE = Text(
    "код листа не читается: укажите, какой это стол и по каким правилам играли",
    "the sheet's code cannot be read: say which table this is and which rules were played",
)
_TWO_CODES = Text(
    "код и метки листа говорят о разных листах: укажите, какой это стол и по каким правилам играли",
    "the sheet's code and its marks speak of different sheets: say which table this is and which rules were played",
)
_COPIED = Text(
    "с этим же кодом есть другой лист, исписанный иначе (бланк скопировали?): посмотрите, какой из них чей",
    "another paper with other writing carries the same code (was the blank copied?): see which of them is whose",
)
_PHOTOS_DIFFER = Text(
    "снимки этого листа расходятся: посмотрите, что стоит на бумаге",
    "the photos of this sheet differ: look at what stands on the paper",
)
_UNKNOWN_FORM = Text(
    "такой бланк этой версии программы незнаком: обновите программу",
    "this version of the program does not know the form: update it",
)
