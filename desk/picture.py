"""The photo once more, laid flat, with what was read beside each field, coloured by how sure it is: for people."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

import cv2
import fontpkg
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from desk.edge import Lang
from recognize.photo import Grey
from recognize.reading import FieldReading, Mistake, Question, Reading
from scoring.text import Text
from templates import Box, Field, Form

PX_PER_MM = 8.0

_Colour = tuple[int, int, int]
_CLEAR: _Colour = (0, 122, 62)
_IDLE: _Colour = (105, 105, 165)
"""Not clear, and yet nobody is asked: whatever stands there hardly matters to the game."""
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
    """How one field is shown: the colours of its frames, the outermost first, the words beside it and theirs."""

    frames: tuple[_Colour, ...]
    words: str
    colour: _Colour


def draw_reading(grey: Grey, reading: Reading, form: Form, lang: Lang) -> Image.Image | None:
    """The page laid flat with every field's reading beside it and a legend below; None where no page was found."""
    if reading.page_map is None:
        return None
    width, height = form.page
    flat = _evenly_lit(reading.page_map.flatten(grey, (0.0, 0.0, width, height), PX_PER_MM))
    picture = Image.new("RGB", (flat.shape[1], flat.shape[0] + round(_LEGEND_MM * PX_PER_MM)), "white")
    picture.paste(Image.fromarray(flat).convert("RGB"), (0, 0))
    draw = ImageDraw.Draw(picture)
    asked = {question.field: question for question in reading.review}
    wrong = {mistake.field: mistake for mistake in reading.mistakes}
    looks = {
        field.id: look
        for field in form.fields
        if (look := _look(field, reading.fields.get(field.id), asked.get(field.id), wrong.get(field.id))) is not None
    }
    for field in form.fields:
        if field.id in looks:
            _draw_field(draw, flat, field, looks[field.id])
    if "sheet" in asked:  # a question about the sheet as a whole: about the code that is printed on it
        _frame(draw, form.slot["code"].inset(-0.5), _ASKED, _FRAME_MM)
    _draw_legend(draw, form, reading, looks.values(), lang)
    return picture


def _evenly_lit(flat: Grey) -> Grey:
    """The page with its paper white everywhere, whatever shadow lay on it, and its ink a little pale."""
    small = cv2.resize(flat, None, fx=0.1, fy=0.1, interpolation=cv2.INTER_AREA)
    paper = cv2.GaussianBlur(cv2.dilate(small, np.ones((9, 9), np.uint8)), (0, 0), 6)
    light = cv2.resize(paper, (flat.shape[1], flat.shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    share = np.clip(flat / np.maximum(light, 1.0) * 1.06, 0, 1)
    return np.asarray(255 * (1 - (1 - share) * _PALE), dtype=np.uint8)


def _look(field: Field, read: FieldReading | None, asked: Question | None, wrong: Mistake | None) -> _Look | None:
    if read is None:
        return None
    words = "" if field.kind == "mark" else read.value
    if wrong is not None:
        due = "" if wrong.expected is None else f" ({wrong.expected})"
        if asked is not None:
            return _Look((_MISTAKEN, _ASKED), f"{words}?{due}", _MISTAKEN)
        return _Look((_MISTAKEN,), f"{words or '—'}{due}" if due else words, _MISTAKEN)
    if asked is not None:
        others = [other for other in asked.other if other not in ("", "x")][:1] if field.kind == "number" else []
        words = "/".join([words, *others] if words else others) + "?"
    if asked is not None:
        return _Look((_ASKED,), words, _ASKED)
    if read.state in ("doubtful", "unreadable"):
        return _Look((_IDLE,), f"{words}?" if read.state == "doubtful" else "", _IDLE)
    if read.state == "empty" or not read.value:
        return None
    return _Look((_CLEAR,) if field.kind == "mark" else (), words, _CLEAR)


_FRAME_MM = 0.45
_THIN_MM = 0.3
"""How thick the frames are: of what a person should look at, and of the rest."""


def _draw_field(draw: ImageDraw.ImageDraw, flat: Grey, field: Field, look: _Look) -> None:
    box = field.box
    out = 0.35 if field.kind == "mark" else 0.0
    for number, colour in enumerate(look.frames):
        thin = colour in (_CLEAR, _IDLE)
        _frame(draw, box.inset(number * (_FRAME_MM + 0.1) - out), colour, _THIN_MM if thin else _FRAME_MM)
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


def _draw_legend(draw: ImageDraw.ImageDraw, form: Form, reading: Reading, looks: Collection[_Look], lang: Lang) -> None:
    """What the colours mean, and how often each occurs, under the page: questions and mistakes as the reading has them.

    A box that is both is framed in both colours and counts under both.
    """
    colours = Counter(look.colour for look in looks)
    lines = [
        (_CLEAR, Text("прочитано уверенно", "read with certainty"), colours[_CLEAR]),
        (_ASKED, Text("посмотрите сами", "please look yourself"), len(reading.review)),
        (_MISTAKEN, Text("ошибка: написано (должно быть)", "mistake: written (due)"), len(reading.mistakes)),
    ]
    if colours[_IDLE]:
        lines.append((_IDLE, Text("неясно, но вряд ли важно", "not clear, but hardly matters"), colours[_IDLE]))
    x, y = form.frame.x, form.page[1] + 3.5
    for colour, words, count in lines:
        _frame(draw, Box(x, y, 4.0, 4.0), colour, 0.6)
        x = _write(draw, x + 5.5, y - 0.6, f"{words.in_(lang)} · {count}", _INK, 4.0) + 10.0
