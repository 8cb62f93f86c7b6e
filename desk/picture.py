"""The photo once more, laid flat, with what was read beside each field in three colours: for people to look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import cv2
import fontpkg
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from desk.edge import Lang
from recognize.photo import Grey
from recognize.reading import FieldReading, Reading
from scoring.text import Text
from templates import Box, Field, Form

PX_PER_MM = 8.0

_Colour = tuple[int, int, int]
_CLEAR: _Colour = (0, 122, 62)
_ASKED: _Colour = (214, 118, 0)
_MISTAKEN: _Colour = (205, 20, 40)
_INK: _Colour = (40, 40, 40)

_VALUE_MM = 2.5
"""Height of the letters beside a field, capitals and figures with what hangs below."""
_LEGEND_MM = 12.0
_PALE = 0.85
"""The photo is drawn this much lighter, so that the colours stand out of it."""


@dataclass(frozen=True, slots=True)
class _Look:
    """How one field is shown: its colour, whether it is framed, and the words beside it."""

    colour: _Colour
    framed: bool
    words: str


def draw_reading(grey: Grey, reading: Reading, form: Form, lang: Lang) -> Image.Image | None:
    """The page laid flat with every field's reading beside it and a legend below; None where no page was found."""
    if reading.page_map is None:
        return None
    width, height = form.page
    flat = _evenly_lit(reading.page_map.flatten(grey, (0.0, 0.0, width, height), PX_PER_MM))
    picture = Image.new("RGB", (flat.shape[1], flat.shape[0] + round(_LEGEND_MM * PX_PER_MM)), "white")
    picture.paste(Image.fromarray(flat).convert("RGB"), (0, 0))
    draw = ImageDraw.Draw(picture)
    asked = {q.field: q.other for q in reading.review}
    due = {m.field: "" if m.expected is None else str(m.expected) for m in reading.mistakes}
    for field in form.fields:
        look = _look(field, reading.fields.get(field.id), asked, due)
        if look is not None:
            _draw_field(draw, flat, field, look)
    _draw_legend(draw, form, reading, lang)
    return picture


def _evenly_lit(flat: Grey) -> Grey:
    """The page with its paper white everywhere, whatever shadow lay on it, and its ink a little pale."""
    small = cv2.resize(flat, None, fx=0.1, fy=0.1, interpolation=cv2.INTER_AREA)
    paper = cv2.GaussianBlur(cv2.dilate(small, np.ones((9, 9), np.uint8)), (0, 0), 6)
    light = cv2.resize(paper, (flat.shape[1], flat.shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    share = np.clip(flat / np.maximum(light, 1.0) * 1.06, 0, 1)
    return np.asarray(255 * (1 - (1 - share) * _PALE), dtype=np.uint8)


def _look(
    field: Field, read: FieldReading | None, asked: Mapping[str, tuple[str, ...]], due: Mapping[str, str]
) -> _Look | None:
    if read is None:
        return None
    value = "" if field.kind == "mark" else read.value
    if field.id in due:
        return _Look(_MISTAKEN, True, f"{value or '—'} ({due[field.id]})" if due[field.id] else value)
    if field.id in asked:
        others = [other for other in asked[field.id] if other not in ("", "x")][:1] if field.kind == "number" else []
        return _Look(_ASKED, True, "/".join([value, *others] if value else others) + "?")
    if read.state in ("empty", "doubtful", "unreadable") or not read.value:
        # A doubt that nobody is asked about changes nothing: it would only clutter the picture.
        return None
    return _Look(_CLEAR, field.kind == "mark", value)


def _draw_field(draw: ImageDraw.ImageDraw, flat: Grey, field: Field, look: _Look) -> None:
    box = field.box
    if look.framed:
        out = 0.35 if field.kind == "mark" else 0.0
        _frame(draw, box.inset(-out), look.colour, 0.45 if look.colour != _CLEAR else 0.3)
    if look.words and field.kind == "mark":
        _write(draw, box.x + box.w + 0.2, box.y - 1.0, look.words, look.colour)
    elif look.words:
        width = float(draw.textlength(look.words, font=_font(_VALUE_MM))) / PX_PER_MM
        across = (box.x + 0.4, box.x + box.w - width - 0.4)
        down = (box.y - 0.1, box.y + box.h - _VALUE_MM - 0.7)
        corners = [Box(x, y, width, _VALUE_MM + 0.6) for y in down for x in across]
        free = min(corners, key=lambda corner: _ink_under(flat, corner))
        _write(draw, free.x, free.y, look.words, look.colour)


def _ink_under(flat: Grey, box: Box) -> float:
    """How dark the picture is in a place: the words go where they hide least of what was written."""
    x, y = (max(0, round(v * PX_PER_MM)) for v in (box.x, box.y))
    part = flat[y : y + round(box.h * PX_PER_MM), x : x + round(box.w * PX_PER_MM)]
    return float(255 - part.mean()) if part.size else 255.0


def _frame(draw: ImageDraw.ImageDraw, box: Box, colour: _Colour, width_mm: float) -> None:
    corners = [round(v * PX_PER_MM) for v in (box.x, box.y, box.x + box.w, box.y + box.h)]
    draw.rectangle(corners, outline=colour, width=max(1, round(width_mm * PX_PER_MM)))


@cache
def _font(height_mm: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(fontpkg.path("PT Sans", weight=700)), round(height_mm * PX_PER_MM))


def _write(
    draw: ImageDraw.ImageDraw, x_mm: float, y_mm: float, words: str, colour: _Colour, height_mm: float = _VALUE_MM
) -> float:
    """Words with their top left corner at a place; answers where they end, in millimetres."""
    font = _font(height_mm)
    at = (x_mm * PX_PER_MM, y_mm * PX_PER_MM)
    draw.text(at, words, font=font, fill=colour, stroke_width=2, stroke_fill="white", anchor="la")
    return x_mm + float(draw.textlength(words, font=font)) / PX_PER_MM


def _draw_legend(draw: ImageDraw.ImageDraw, form: Form, reading: Reading, lang: Lang) -> None:
    """What the colours mean, and how often each occurs, under the page."""
    asked = {q.field for q in reading.review} - {m.field for m in reading.mistakes}
    wrong = {m.field for m in reading.mistakes}
    plain = sum(
        f.state in ("clear", "struck") and f.value != "" and name not in asked | wrong
        for name, f in reading.fields.items()
    )
    x, y = form.frame.x, form.page[1] + 3.5
    for colour, words, count in (
        (_CLEAR, Text("прочитано уверенно", "read with certainty"), plain),
        (_ASKED, Text("посмотрите сами", "please look yourself"), len(asked)),
        (_MISTAKEN, Text("ошибка: написано (должно быть)", "mistake: written (due)"), len(wrong)),
    ):
        _frame(draw, Box(x, y, 4.0, 4.0), colour, 0.6)
        x = _write(draw, x + 5.5, y - 0.6, f"{words.in_(lang)} · {count}", _INK, 4.0) + 14.0
