"""Sheets as a PDF: text set in PT Sans, page marks and square codes as exact rectangles, nothing as a picture."""

import errno
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import fontpkg
import segno
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from sheets.sheet import Sheet, SheetError
from sheets.words import WORDS, Lang, Words
from templates import Box, Form, encode, mark_values, sheet_id

REGULAR, BOLD = "PulkaSans", "PulkaSans-Bold"

# Shares of ink. Rules must drop away behind handwriting, yet a worn printer breaks up anything much lighter.
_TEXT, _LABEL = 0.92, 0.62
_RULE = {"frame": 0.75, "heavy": 0.60, "light": 0.50}
_MARK_OUTLINE, _MARK_LINE = 0.50, 0.15
_WRITING_LINE, _WRITING_INK = 0.2, 0.50

_CAPITAL = 0.70  # height of a capital in PT Sans, in sizes
_DESCENT = 0.22  # how far letters reach below the line
_LEADING = 1.16
_POINT = 1 / mm
_LABEL_SIZE = 5.6
_LARGEST_CODE = 6  # version of the square code; above it the modules fall under 0.3 mm in a code box


def print_sheets(path: str | os.PathLike[str], sheets: Sequence[Sheet], lang: Lang = "ru") -> None:
    """Write the sheets as one PDF, a page each; the same sheets give the same bytes.

    The file appears whole or not at all. Raises SheetError where there is nothing to print, where words do not fit
    their place or a character is not in the font, and OSError where the file cannot be written or is no regular one.
    """
    if not sheets:
        raise SheetError("нет ни одного листа", "there is no sheet to print")
    _register_fonts()
    words = WORDS[lang]
    path = Path(path)
    if path.exists() and not path.is_file():
        # To rename over a device or a pipe would put a file in its place.
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        canvas = Canvas(str(part), invariant=1, pageCompression=1, lang=lang)
        canvas.setTitle(sheets[0].event or words.event)
        canvas.setCreator("pulka")
        forms: dict[Form, str] = {}
        for sheet in sheets:
            pen = _Pen(canvas, sheet.form.page)
            canvas.setPageSize((pen.width * mm, pen.height * mm))
            if sheet.form not in forms:
                forms[sheet.form] = f"form{len(forms)}"
                canvas.beginForm(forms[sheet.form], 0, 0, pen.width * mm, pen.height * mm)
                _draw_form(pen, sheet.form, words)
                canvas.endForm()
            canvas.doForm(forms[sheet.form])
            _draw_sheet(pen, sheet, words)
            canvas.showPage()
        canvas.save()
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _register_fonts() -> None:
    for name, weight in ((REGULAR, 400), (BOLD, 700)):
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, str(fontpkg.path("PT Sans", weight=weight))))


class _Pen:
    """A canvas in millimetres from the top left corner, y down, as forms are."""

    def __init__(self, canvas: Canvas, page: tuple[float, float]) -> None:
        self.canvas, (self.width, self.height) = canvas, page

    def fill(self, boxes: Iterator[Box], ink: float) -> None:
        """Fill boxes as one path, so that no seam shows between neighbours."""
        path = self.canvas.beginPath()
        for box in boxes:
            path.rect(box.x * mm, (self.height - box.y - box.h) * mm, box.w * mm, box.h * mm)
        self.canvas.setFillGray(1 - ink)
        self.canvas.drawPath(path, stroke=0, fill=1)

    def outline(self, boxes: Iterator[Box], width: float, ink: float) -> None:
        """Draw lines of `width` round boxes, wholly outside of them."""
        self.canvas.setLineWidth(width * mm)
        self.canvas.setLineJoin(0)
        self.canvas.setStrokeGray(1 - ink)
        for box in boxes:
            b = box.inset(-width / 2)
            self.canvas.rect(b.x * mm, (self.height - b.y - b.h) * mm, b.w * mm, b.h * mm, stroke=1, fill=0)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float, ink: float) -> None:
        self.canvas.setLineCap(0)
        self.canvas.setLineWidth(width * mm)
        self.canvas.setStrokeGray(1 - ink)
        self.canvas.line(x0 * mm, (self.height - y0) * mm, x1 * mm, (self.height - y1) * mm)

    def text(
        self,
        x: float,
        baseline: float,
        text: str,
        size: float,
        *,
        bold: bool = False,
        ink: float = _TEXT,
        at: float = 0,
    ) -> None:
        """Set one line of `size` points; `at` is the share of its length that lies left of `x`."""
        font = BOLD if bold else REGULAR
        self.canvas.setFont(font, size)
        self.canvas.setFillGray(1 - ink)
        self.canvas.drawString((x - at * _length(text, font, size)) * mm, (self.height - baseline) * mm, text)

    def centred(self, box: Box, text: str, size: float, *, bold: bool = False, ink: float = _TEXT) -> None:
        """Set one line in the middle of the box, capitals centred in height."""
        x, y = box.centre
        self.text(x, y + size * _POINT * _CAPITAL / 2, text, size, bold=bold, ink=ink, at=0.5)

    def middle(self, box: Box, size: float, lines: list[str], *, bold: bool = False, ink: float = _TEXT) -> None:
        """Set lines of `size` points from the left of the box, centred in height."""
        high = size * _POINT * (_CAPITAL + (len(lines) - 1) * _LEADING)
        self.block(Box(box.x, box.y + (box.h - high) / 2, box.w, high), size, lines, bold=bold, ink=ink)

    def upward(self, box: Box, text: str, size: float, ink: float) -> None:
        """Set one line in the middle of the box, running upwards."""
        x, y = box.centre
        self.canvas.saveState()
        self.canvas.translate(x * mm, (self.height - y) * mm)
        self.canvas.rotate(90)
        self.canvas.setFont(REGULAR, size)
        self.canvas.setFillGray(1 - ink)
        self.canvas.drawCentredString(0, -size * 0.5 / 2, text)
        self.canvas.restoreState()

    def block(self, box: Box, size: float, lines: list[str], *, bold: bool = False, ink: float = _TEXT) -> None:
        """Set lines of `size` points from the top of the box."""
        for i, line in enumerate(lines):
            self.text(box.x, box.y + size * _POINT * (_CAPITAL + i * _LEADING), line, size, bold=bold, ink=ink)


def _length(text: str, font: str, size: float) -> float:
    """The length of a line in millimetres; raises SheetError where the font lacks a character."""
    known = pdfmetrics.getFont(font).face.charToGlyph
    if missing := [c for c in text if ord(c) not in known]:
        raise SheetError(
            f"в шрифте нет знака «{missing[0]}», а он стоит в «{text}»",
            f"the font has no character {missing[0]!r}, which stands in {text!r}",
        )
    return float(pdfmetrics.stringWidth(text, font, size)) * _POINT


def _wrap(text: str, width: float, font: str, size: float) -> list[str] | None:
    """The text in lines of at most `width` millimetres; None where a single word is longer."""
    lines: list[str] = []
    for word in text.replace("\n", " ").split(" "):  # not split(): a no-break space holds words together
        if lines and _length(f"{lines[-1]} {word}", font, size) <= width:
            lines[-1] += f" {word}"
        elif _length(word, font, size) <= width:
            lines.append(word)
        else:
            return None
    return lines


def _flow(
    text: str, boxes: Sequence[Box], largest: float, smallest: float, *, bold: bool = False, what: tuple[str, str]
) -> tuple[float, list[list[str]]]:
    """The largest size in points at which the text fits the boxes, one after the other, and the lines in each.

    Raises SheetError, naming `what`, where it does not fit at the smallest.
    """
    size = largest
    while size >= smallest:
        lines = _wrap(text, min(box.w for box in boxes), BOLD if bold else REGULAR, size)
        high = size * _POINT
        room = [int((box.h / high - _CAPITAL - _DESCENT) / _LEADING + 1) for box in boxes]
        if lines is not None and len(lines) <= sum(room):
            return size, [lines[sum(room[:i]) : sum(room[: i + 1])] for i in range(len(boxes))]
        size -= 0.25
    ru, en = what
    raise SheetError(f"на листе не умещается {ru}: «{text}»", f"{en} is too long for the sheet: {text!r}")


def _quoted(label: str) -> tuple[str, str]:
    return f"«{label}»", f"“{label}”"


def _fit(
    text: str, box: Box, largest: float, smallest: float, *, bold: bool = False, what: tuple[str, str]
) -> tuple[float, list[str]]:
    """As `_flow` into a single box."""
    size, (lines,) = _flow(text, [box], largest, smallest, bold=bold, what=what)
    return size, lines


def _draw_form(pen: _Pen, form: Form, words: Words) -> None:
    """What every sheet of a form has in common."""
    for rule in sorted(form.rules, key=lambda rule: rule.width):
        ends = (
            (rule.start, rule.at, rule.stop, rule.at) if rule.horizontal else (rule.at, rule.start, rule.at, rule.stop)
        )
        # The frame's lines meet in full corners.
        reach = rule.width / 2 if rule.role == "frame" else 0
        x0, y0, x1, y1 = ends
        if rule.horizontal:
            x0, x1 = x0 - reach, x1 + reach
        else:
            y0, y1 = y0 - reach, y1 + reach
        pen.line(x0, y0, x1, y1, rule.width, _RULE[rule.role])
    boxed = (field.box for field in form.fields if field.kind == "mark")
    pen.outline(boxed, _MARK_LINE, _MARK_OUTLINE)
    _draw_heads(pen, form, words)
    for deal in range(1, form.rows + 1):
        pen.centred(form.slot[f"number.{deal}"], str(deal), 7, ink=_LABEL)
        pen.centred(form.slot[f"dealer.{deal}"], words.letters[form.dealer(deal)], 7)
    first = form.slot["number.0"]
    left, right = form.slot["sub.contract.6"], form.slot["sub.contract.raspasy"]
    across = Box(left.x, first.y, right.x + right.w - left.x, first.h)
    pen.centred(across, words.carried, 6.5, ink=_LABEL)
    _draw_footer(pen, form, words)


def _draw_heads(pen: _Pen, form: Form, words: Words) -> None:
    subs: dict[str, list[tuple[Box, tuple[str, ...]]]] = {"small": [], "letter": []}
    for slot in form.slots:
        kind, _, rest = slot.id.partition(".")
        if kind == "head":
            if rest == "dealer":
                pen.upward(slot.box, words.heads[rest], 6, _TEXT)
            else:
                pen.centred(slot.box, words.heads[rest], 7.5, bold=rest != "number")
        elif kind == "name" or (kind == "result" and rest):
            pen.centred(slot.box, words.letters[rest], 10 if kind == "name" else 8, bold=True)
        elif kind == "sub":
            column, _, named = rest.partition(".")
            if column == "whists":
                subs["small"].append((slot.box, tuple(on.format(words.letters[named[-1]]) for on in words.on)))
            elif column in words.subs:
                subs["small"].append((slot.box, words.subs[column]))
            else:
                subs["letter"].append((slot.box, words.subs.get(named) or (words.letters.get(named, named),)))
    for kind, size in (("small", 6.0), ("letter", 7.5)):
        for box, choices in subs[kind]:
            fits = [text for text in choices if _length(text, REGULAR, size) <= box.w - 0.6]
            pen.centred(box, fits[0] if fits else choices[-1], size)


def _draw_footer(pen: _Pen, form: Form, words: Words) -> None:
    hint, last = form.slot["hint"], words.letters[form.seats[-1]]
    lines = [line.format(last, last) for line in words.hint]
    size = min(_fit(line, Box(0, 0, hint.w, 3), _LABEL_SIZE, 4.75, what=("пояснение", "the hint"))[0] for line in lines)
    for i, line in enumerate(lines):
        pen.text(hint.x, hint.y + 2.2 + 3.1 * i, line, size, ink=_LABEL)
    results = [field.box for field in form.fields if field.column == "result"]
    letters = [form.slot[f"result.{seat}"] for seat in form.seats]
    _label(pen, _above(letters[0]), words.result)
    around = (
        Box(letter.x, letter.y, box.x + box.w - letter.x, letter.h)
        for letter, box in zip(letters, results, strict=True)
    )
    pen.outline(around, 0.18, _RULE["light"])
    signatures = form.slot["signatures"]
    _label(pen, signatures, words.signatures)
    step, rows = signatures.w / 3, (signatures.y + 5.2, signatures.y + 9.3)
    for i, seat in enumerate(form.seats):
        x, y = signatures.x + step * (i % 3), rows[i // 3]
        pen.text(x, y, words.letters[seat], 7, bold=True)
        pen.line(x + 2.4, y + 0.3, x + step - 1.2, y + 0.3, _WRITING_LINE, _WRITING_INK)
    taken = max(0, form.players - 3)
    x, y = signatures.x + step * taken, rows[1]
    pen.text(x, y, words.judge, 6.5)
    pen.line(x + 7.2, y + 0.3, signatures.x + signatures.w - 1.2, y + 0.3, _WRITING_LINE, _WRITING_INK)


def _label(pen: _Pen, box: Box, text: str) -> None:
    pen.text(box.x, box.y + 1.4, text, _LABEL_SIZE, ink=_LABEL)


def _above(box: Box) -> Box:
    """Where the label of a box stands that fills the footer's lower part."""
    return Box(box.x, box.y - 2.7, box.w, 2.7)


def _draw_sheet(pen: _Pen, sheet: Sheet, words: Words) -> None:
    """What is a sheet's own: event, place, rules, names and code."""
    for marker, value in zip(sheet.form.markers, mark_values(sheet.identity), strict=True):
        pen.fill(_black_cells(sheet.form.dictionary, marker.id(value), marker.box), 1)
    form, identity = sheet.form, sheet.identity
    _draw_value(pen, form.slot["title"], words.event, sheet.event)
    place = form.slot["place"]
    parts = (
        (words.round, identity.round, 0.0, 0.2),
        (words.table, identity.table, 0.25, 0.2),
        (words.date, None, 0.5, 0.5),
    )
    for label, number, start, share in parts:
        box = Box(place.x + place.w * start, place.y, place.w * share, place.h)
        _draw_value(pen, box, label, "" if number is None else str(number))
    _draw_rules(pen, sheet, words)
    for seat, name in sheet.names.items():
        box = form.by_id[f"name.{seat}"].box
        if name.strip():
            within = Box(box.x, box.y, box.w - 0.6, box.h)
            letter = words.letters[seat]
            what = (f"имя игрока {letter}", f"the name of player {letter}")
            pen.middle(within, *_fit(name.strip(), within, 9, 5, what=what))
    code = encode(identity)
    square = segno.make(code.replace("-", ""), micro=False, error="m", boost_error=True)
    if int(square.version) > _LARGEST_CODE:
        short = sheet_id(identity)
        raise SheetError(
            f"лист {short} отличается от конвенции слишком многим: в квадратный код столько не входит",
            f"sheet {short} differs from its convention in too much to fit the square code",
        )
    for box in form.codes:
        pen.fill(_runs([[bool(module) for module in row] for row in square.matrix], box), 1)
    slot = form.slot["code"]
    _label(pen, _above(slot), words.code)
    groups, what = code.replace("-", " "), ("код листа", "the sheet's code")
    try:  # on one line if at all possible: whoever types it, or reads it off a photo, has it easier
        fitted = _fit(groups, Box(0, 0, slot.w, 3.2), 9.5, 7, bold=True, what=what)
    except SheetError:
        fitted = _fit(groups, slot, 8, 5.5, bold=True, what=what)
    pen.middle(slot, *fitted, bold=True)


def _draw_value(pen: _Pen, box: Box, label: str, value: str) -> None:
    """A small label and under it the value, or a line to write it on."""
    _label(pen, box, label)
    if value.strip():
        below = Box(box.x, box.y + 2.4, box.w, box.h - 2.4)
        size, lines = _fit(value.strip(), below, 13, 6.5, bold=True, what=_quoted(label))
        pen.middle(below, size, lines, bold=True)
    else:
        pen.line(box.x, box.y + 8.4, box.x + box.w, box.y + 8.4, _WRITING_LINE, _WRITING_INK)


def _draw_rules(pen: _Pen, sheet: Sheet, words: Words) -> None:
    """Convention, pool and the options in words; many options begin under the convention, set smaller."""
    identity, rules, options = sheet.identity, sheet.form.slot["rules"], sheet.form.slot["options"]
    convention = sheet.convention_title or identity.convention
    pool = "" if identity.pool is None else str(identity.pool)
    differing = " · ".join(sheet.options_in_words) or words.no_options
    below = Box(options.x, options.y + 2.4, options.w, options.h - 2.4)
    what = _quoted(words.options)
    try:
        size, lines = _fit(differing, below, 7, 5.5, what=what)
    except SheetError:
        top, under = Box(rules.x, rules.y, rules.w, 3), Box(rules.x, rules.y + 3.2, rules.w, rules.h - 3.2)
        heading = f"{convention}, {words.pool.lower()} {pool or '____'}. {words.options}:"
        size, (heading_line,) = _fit(heading, top, 7, 5, bold=True, what=_quoted(words.convention))
        pen.block(top, size, [heading_line], bold=True)
        size, parts = _flow(differing, [under, options], 6, 4.5, what=what)
        for box, lines in zip((under, options), parts, strict=True):
            pen.block(box, size, lines)
        return
    _draw_value(pen, Box(rules.x, rules.y, rules.w * 0.7, rules.h), words.convention, convention)
    _draw_value(pen, Box(rules.x + rules.w * 0.75, rules.y, rules.w * 0.25, rules.h), words.pool, pool)
    _label(pen, options, words.options)
    pen.middle(below, size, lines)


def _black_cells(dictionary: str, marker: int, box: Box) -> Iterator[Box]:
    """The black of a page mark: a border one cell wide round the cells of its code."""
    table = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f"DICT_{dictionary.upper()}"))
    side = int(table.markerSize) + 2
    return _runs((table.generateImageMarker(marker, side) == 0).tolist(), box)


def _runs(cells: Sequence[Sequence[bool]], box: Box) -> Iterator[Box]:
    """The black cells of a square pattern as boxes, neighbours in a row joined."""
    cell = box.w / len(cells)
    for y, row in enumerate(cells):
        x = 0
        while x < len(row):
            start = x
            while x < len(row) and row[x]:
                x += 1
            if x > start:
                yield Box(box.x + start * cell, box.y + y * cell, (x - start) * cell, cell)
            x += 1
