"""The whole way from a file to readings: open → find marks → identify → fit the page → cut → read → decide."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np

from recognize.cells import Cell, cut_fields
from recognize.decide import Sheet, decide
from recognize.digits import read_numbers
from recognize.identify import Identified, Known, identify, known_forms
from recognize.ink import UNSEEN, Ink, answered_ink, mark_ink, number_ink
from recognize.locate import LEAST_MARKS, Fit, Marks, find_marks, fit_page, sheets_in
from recognize.marks import read_marks
from recognize.photo import Grey, Photo, PhotoError, open_photos
from recognize.reading import Question, Reading, SheetInfo
from scoring.convention import ConventionError, load_convention
from scoring.text import Text
from templates import Form, FormError, load_form
from templates.identity import Identity, IdentityError, decode, encode, sheet_id

LEAST_ON_LINE = 0.7
"""With fewer of the printed lines where the fit puts them, the fit itself is in doubt, and nothing is read."""

LEAST_FIELDS = 0.6
"""With fewer of the fields in sight than this the photo is to be taken again, not puzzled over."""


Answers = Mapping[str, Mapping[str, str]]
"""What people said stands in fields, by sheet (its short id, or the picture's name where it has none) and field id.

The field `sheet` stands for the sheet's code, for a picture whose own cannot be read.
"""


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
    sheets = sheets_in(found, known_forms()[0])
    if not sheets:
        return [Reading(photo.source, photo.page, "unreadable", _no_sheet(grey, len(found)))]
    return [_read_sheet(photo, marks, known, answers) for marks in sheets]


def _read_sheet(photo: Photo, marks: Marks, known: Known, answers: Answers) -> Reading:
    grey = photo.grey
    identified = identify(grey, marks, known)
    told = answers.get(photo.source, {})
    if identified.identity is None and "sheet" in told:
        with suppress(IdentityError):
            identified = Identified(decode(told["sheet"]))
    try:
        form, fit = _fitted(grey, marks, identified)
    except FormError:
        return Reading(photo.source, photo.page, "unreadable", _UNKNOWN_FORM)
    sheet = _info(form, identified.identity)
    if fit is None or fit.on_line < LEAST_ON_LINE:
        return Reading(photo.source, photo.page, "unreadable", _no_fit(grey, len(marks), form), sheet)
    cells = cut_fields(grey, fit, form)
    seen = sum(cell.sure for cell in cells) / len(cells)
    if seen < LEAST_FIELDS:
        return Reading(photo.source, photo.page, "unreadable", _too_little(seen), sheet, page_map=fit.map)
    if sheet.id is not None:
        told = answers.get(sheet.id, told)
    return _decided(photo, form, fit, sheet, cells, identified.conflict, told)


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


def _info(form: Form, identity: Identity | None) -> SheetInfo:
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
    photo: Photo,
    form: Form,
    fit: Fit,
    info: SheetInfo,
    cells: tuple[Cell, ...],
    conflict: bool,
    told: Mapping[str, str],
) -> Reading:
    ink, struck = read_cells(cells)
    ink |= {name: answered_ink(value) for name, value in told.items() if name in ink}
    questions: list[Question] = []
    rules = None
    if info.convention is None:
        questions.append(Question("sheet", "", (), _TWO_CODES if conflict else _NO_CODE))
    else:
        try:
            rules = load_convention(info.convention, info.options)
        except ConventionError as error:
            questions.append(Question("sheet", info.convention, (), error.text))
    decision = decide(Sheet(form, info.convention, rules, info.options, info.pool, info.names), ink, struck)
    review = (*questions, *decision.review)
    return Reading(
        photo.source,
        photo.page,
        "review" if review else "clear",
        None,
        info,
        decision.fields,
        decision.game,
        decision.mistakes,
        decision.played,
        decision.written,
        review,
        decision.notes,
        fit.map,
    )


def read_cells(cells: tuple[Cell, ...]) -> tuple[dict[str, Ink], dict[str, float]]:
    """What the ink in every field can say, and how probably it was crossed out with nothing in its place."""
    ink: dict[str, Ink] = {cell.field.id: UNSEEN for cell in cells}
    struck: dict[str, float] = {}
    numbers = [cell for cell in cells if cell.sure and cell.field.kind == "number"]
    for cell, number in zip(numbers, read_numbers([cell.image for cell in numbers]), strict=True):
        ink[cell.field.id] = number_ink(number.best(6), number.probability)
        struck[cell.field.id] = number.struck
    marks = [cell for cell in cells if cell.sure and cell.field.kind == "mark"]
    for cell, mark in zip(marks, read_marks([cell.image for cell in marks]), strict=True):
        ink[cell.field.id] = mark_ink(mark.probability)
        struck[cell.field.id] = mark.cancelled
    return ink, struck


def named(reading: Reading, event: str | None, names: dict[str, str]) -> Reading:
    """The reading with what the register of printed sheets knows beyond the code: the event and the players."""
    if reading.sheet is None:
        return reading
    game = reading.game
    if game is not None:
        game = replace(game, players={seat: names.get(seat, "") or seat for seat in game.players})
    return replace(reading, sheet=replace(reading.sheet, event=event, names=names), game=game)


# --- why a picture cannot be read, in words a person can act on -------------------------------------------------------


def _no_sheet(grey: Grey, found: int) -> Text:
    light = float(np.percentile(grey, 90))
    if light < 50:
        return Text("снимок слишком тёмный: снимите при свете", "the photo is too dark: take it in better light")
    if found:
        return Text(
            f"по краям листа найдено меток: {found}, нужно не меньше {LEAST_MARKS}; снимите весь лист целиком",
            f"found {found} of the marks along the sheet's edges, at least {LEAST_MARKS} are needed: "
            "take the whole sheet into the photo",
        )
    if _sharpness(grey) < 25:
        return Text(
            "снимок смазан или не в фокусе: снимите ещё раз, держа телефон неподвижно",
            "the photo is blurred: take it again, holding the phone still",
        )
    return Text(
        "на снимке нет нашего протокола: не найдены метки по краям листа; снимите лист целиком, сверху",
        "no sheet of ours in this photo: none of the marks along its edges was found; take the whole sheet, from above",
    )


def _no_fit(grey: Grey, found: int, form: Form) -> Text:
    if _sharpness(grey) < 25:
        return Text(
            f"снимок смазан (меток найдено {found} из {len(form.markers)}), линий таблицы не видно: снимите ещё раз",
            f"the photo is blurred ({found} of {len(form.markers)} marks found), the table's lines cannot be seen: "
            "take it again",
        )
    return Text(
        f"лист слишком изогнут, закрыт или обрезан (меток найдено {found} из {len(form.markers)}): "
        "расправьте его и снимите целиком",
        f"the sheet is too bent, covered or cut off ({found} of {len(form.markers)} marks found): "
        "flatten it and take the whole of it",
    )


def _too_little(seen: float) -> Text:
    return Text(
        f"видно только {seen:.0%} клеток: снимите весь лист целиком",
        f"only {seen:.0%} of the boxes can be seen: take the whole sheet into the photo",
    )


def _sharpness(grey: Grey) -> float:
    """How much fine detail there is: the variance of the Laplacian at a usual size."""
    shrink = max(1.0, max(grey.shape) / 2000)
    small = cv2.resize(grey, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA)
    return float(cv2.Laplacian(small, cv2.CV_64F).var())


_NO_CODE = Text(
    "код листа не читается: укажите, какой это стол и по каким правилам играли",
    "the sheet's code cannot be read: say which table this is and which rules were played",
)
_TWO_CODES = Text(
    "код и метки листа говорят о разных листах: укажите, какой это стол и по каким правилам играли",
    "the sheet's code and its marks speak of different sheets: say which table this is and which rules were played",
)
_UNKNOWN_FORM = Text(
    "такой бланк этой версии программы незнаком: обновите программу",
    "this version of the program does not know the form: update it",
)
