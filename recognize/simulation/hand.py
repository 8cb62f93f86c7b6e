"""A made-up hand: people who write figures and marks into a form with a pen, and correct themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from recognize.simulation.glyphs import Stroke, Strokes, drawn_styles
from recognize.simulation.writers import is_as_labelled, is_held_out
from templates import Box, Form

__all__ = [
    "Correction",
    "Pen",
    "Stroke",
    "Strokes",
    "Writer",
    "at_table",
    "is_held_out",
    "make_pen",
    "make_writer",
    "real_writers",
    "write_sheet",
]

Image = NDArray[np.uint8]

FIGURES = "0123456789-"
MarkStyle = Literal["cross", "tick", "slash", "filled"]
Seat = str
RECORDER = "recorder"
"""The key, beside the seats, of the writer who fills in what belongs to nobody alone."""


@dataclass(frozen=True, slots=True)
class Pen:
    """A pen: its line's width in mm, colour as ink over white paper (BGR, 0-255), and how evenly it writes.

    `cover` is how much of the paper's light the ink takes where it lies fully; `pressure` how much width and cover
    follow the hand; `skips` how often, per stroke, the line breaks.
    """

    kind: Literal["ball", "gel", "pencil", "felt"]
    width: float
    colour: tuple[float, float, float]
    cover: float
    pressure: float
    skips: float


@dataclass(frozen=True, slots=True)
class Writer:
    """A person's handwriting.

    `glyphs` holds, for each figure and possibly `x` and `/`, the ways this person writes it, as strokes in units of a
    figure's height (0 top, 1 foot); each writing takes one of them. Sizes are shares of the box: `height` of a
    figure, `aside` how far from the left (0) to the right (1) numbers stand. `crossing` (0-1) is how readily a number
    too wide for its box runs on into the next instead of being squeezed; `corner` (0-1) how often one is written
    small in a corner. `wander`, in mm, is how far figures leave their line; `wobble`, in figure heights, how much the
    shape changes from one writing to the next; `haste` (0-1) rounds corners off.
    """

    glyphs: Mapping[str, tuple[Strokes, ...]]
    pen: Pen
    slant: float = 0.0
    height: float = 0.65
    width: float = 1.0
    gap: float = 0.16
    aside: float = 0.5
    wander: float = 0.2
    wobble: float = 0.03
    haste: float = 0.2
    crossing: float = 0.2
    corner: float = 0.0
    mark: MarkStyle = "cross"
    mark_size: float = 0.9


@dataclass(frozen=True, slots=True)
class Correction:
    """How what a field says came about.

    `struck`: `wrong` was written and struck out, what the field says put beside it (or nothing).
    `overwritten`: what the field says was written over `wrong`, figure on figure where they differ; both have as many.
    `scribbled`: `wrong` was scribbled out until nobody can read it, what the field says put beside it (or nothing).
    `cancelled`: a mark was made and its box then filled completely; the field says nothing.
    """

    kind: Literal["struck", "overwritten", "scribbled", "cancelled"]
    wrong: str = ""


def make_pen(rng: np.random.Generator) -> Pen:
    """A pen as people bring one: mostly a blue ball pen."""
    blue = np.array([150, 60, 30]) + rng.normal(0, 14, 3)
    black = np.full(3, 35.0) + rng.normal(0, 6, 3)
    violet = np.array([120, 40, 80]) + rng.normal(0, 10, 3)
    red = np.array([50, 40, 190]) + rng.normal(0, 10, 3)
    graphite = np.full(3, 70.0) + rng.normal(0, 8, 3)
    kind = str(rng.choice(["ball", "gel", "pencil", "felt"], p=[0.6, 0.2, 0.14, 0.06]))
    inks = [blue, black, violet, red]
    ink = inks[rng.choice(4, p=[0.6, 0.28, 0.09, 0.03])]
    match kind:
        case "ball":
            pen = Pen("ball", float(rng.uniform(0.35, 0.6)), _bgr(ink), float(rng.uniform(0.72, 0.95)), 0.25, 0.04)
        case "gel":
            pen = Pen("gel", float(rng.uniform(0.4, 0.65)), _bgr(ink * 0.8), float(rng.uniform(0.92, 1.0)), 0.08, 0.01)
        case "pencil":
            pen = Pen("pencil", float(rng.uniform(0.35, 0.6)), _bgr(graphite), float(rng.uniform(0.5, 0.85)), 0.35, 0.0)
        case _:
            pen = Pen("felt", float(rng.uniform(0.6, 0.9)), _bgr(ink * 0.9), float(rng.uniform(0.9, 1.0)), 0.12, 0.0)
    return pen


def _bgr(colour: NDArray[np.float64]) -> tuple[float, float, float]:
    b, g, r = np.clip(colour, 5, 230)
    return float(b), float(g), float(r)


def make_writer(rng: np.random.Generator) -> Writer:
    """A made-up person: drawn figures in this person's own styles, proportions and habits."""
    glyphs: dict[str, tuple[Strokes, ...]] = {}
    for figure in FIGURES:
        styles = list(drawn_styles(figure).values())
        # One way nearly always, a second one now and then.
        first, second = rng.choice(len(styles), 2, replace=False)
        glyphs[figure] = (styles[first],) * 7 + (styles[second],) if rng.random() < 0.3 else (styles[first],)
    return _person(glyphs, rng)


def _person(glyphs: Mapping[str, tuple[Strokes, ...]], rng: np.random.Generator) -> Writer:
    """Somebody who writes these figures, with a pen and habits of their own."""
    marks: tuple[MarkStyle, ...] = ("cross", "tick", "slash", "filled")
    return Writer(
        glyphs=glyphs,
        pen=make_pen(rng),
        slant=float(rng.normal(6, 9)),
        height=float(rng.triangular(0.45, 0.62, 0.85)),
        width=float(rng.triangular(0.75, 1.0, 1.3)),
        gap=float(rng.uniform(0.08, 0.28)),
        aside=float(rng.choice([0.0, 0.5, 1.0], p=[0.35, 0.5, 0.15])),
        wander=float(rng.uniform(0.05, 0.35)),
        wobble=float(rng.uniform(0.01, 0.05)),
        haste=float(rng.uniform(0.0, 0.6)),
        crossing=float(rng.beta(1.2, 4)),
        corner=float(rng.choice([0.0, rng.uniform(0.02, 0.15)], p=[0.7, 0.3])),
        mark=marks[rng.choice(4, p=[0.56, 0.3, 0.07, 0.07])],
        mark_size=float(rng.triangular(0.6, 0.9, 1.35)),
    )


def at_table(people: Sequence[Writer], seats: Iterable[Seat], rng: np.random.Generator) -> dict[Seat, Writer]:
    """Somebody by chance at every seat and as the recorder, each with a pen by chance."""
    return {seat: replace(people[int(rng.integers(len(people)))], pen=make_pen(rng)) for seat in (*seats, RECORDER)}


LONGEST_DASH = 2.0
"""In heights of a figure. A line ten times as long, squeezed into a box, would turn the tremor in it into bends."""


def real_writers(
    folder: Path, writer_ids: list[str] | None = None, rng: np.random.Generator | None = None
) -> dict[str, Writer]:
    """Real people's characters as writers, by id: everyone in the UNIPEN stroke sets who wrote all ten figures.

    `folder` holds unipen_digits.npz and, for marks and dashes, unipen_letters.npz and unipen_symbols.npz. With
    `writer_ids` only these; an id that is not there or lacks a figure raises KeyError. Pen and habits of placing are
    drawn from `rng` (by default one of a fixed seed), the shapes and relative sizes are the person's own.
    """
    rng = rng or np.random.default_rng(0)
    found: dict[str, dict[str, list[Strokes]]] = {}
    for name, wanted in (("unipen_digits", "0123456789"), ("unipen_letters", "xX"), ("unipen_symbols", "-/")):
        path = folder / f"{name}.npz"
        if not path.exists() and name != "unipen_digits":
            continue
        with np.load(path) as data:
            points, strokes, chars = data["pts"], data["stroke_off"], data["char_off"]
            labels, people, sizes = data["y"], data["w"], data["rel_size"]
        for i in np.flatnonzero(np.isin(labels, list(wanted)) & is_as_labelled(people, labels)):
            glyph = _real_glyph(points, strokes[chars[i] : chars[i + 1] + 1], sizes[i], str(labels[i]))
            if glyph is not None:
                found.setdefault(str(people[i]), {}).setdefault(str(labels[i]).lower(), []).append(glyph)
    complete = {person: glyphs for person, glyphs in sorted(found.items()) if set("0123456789") <= set(glyphs)}
    if writer_ids is not None:
        complete = {person: complete[person] for person in writer_ids}
    dash = tuple(drawn_styles("-").values())
    writers = {}
    for person, shapes in complete.items():
        glyphs = {"-": dash} | {figure: tuple(variants) for figure, variants in shapes.items()}
        writers[person] = replace(_person(glyphs, rng), slant=0.0, width=1.0, haste=0.0, wobble=0.008)
    return writers


def _real_glyph(points: Image, bounds: NDArray[np.int32], size: NDArray[np.float32], label: str) -> Strokes | None:
    """One recorded character in units of its writer's figure height, standing on the line; None if it is no figure."""
    width, height = (float(v) for v in size)
    # A height far off the writer's others, or a width of several figures, is a recording gone wrong, no way to write.
    if label.isdigit() and not (0.5 <= height <= 1.8 and width <= 1.6 * height):
        return None
    # Under that label there are square waves and brackets as well, and lines drawn across the whole page.
    if label == "-" and (height > 0.2 * width or width > LONGEST_DASH):
        return None
    scale = max(width, height) / 255
    strokes = [points[a:b].astype(np.float64) * scale for a, b in zip(bounds, bounds[1:], strict=False) if b > a]
    if not strokes:
        return None
    low, high = np.concatenate(strokes).min(axis=0), np.concatenate(strokes).max(axis=0)
    # Figures stand on the line; a dash hangs in the middle.
    foot = 0.5 + (high[1] - low[1]) / 2 if label == "-" else 1.0
    return tuple(stroke - [low[0], high[1] - foot] for stroke in strokes)


def write_sheet(
    page: Image,
    px_per_mm: float,
    form: Form,
    values: Mapping[str, str],
    writers: Mapping[Seat, Writer] | Writer,
    rng: np.random.Generator,
    corrections: Mapping[str, Correction] | None = None,
) -> Image:
    """The page with the values written in, by field id: figures and `-` into number fields, `x` into marks.

    `page` is the flat blank sheet (H, W) or (H, W, 3) BGR; the answer is a new BGR raster. With several writers each
    seat's pool, mountain and whists are written by its own (key `A` …), all else by the one under `recorder` or,
    without that, the first. A field id that the form lacks, or a value that cannot be written there, raises
    ValueError.
    """
    canvas = cv2.cvtColor(page, cv2.COLOR_GRAY2BGR) if page.ndim == 2 else page.copy()
    canvas = np.asarray(canvas, dtype=np.uint8)
    corrections = corrections or {}
    for field_id in [f.id for f in form.fields if f.id in values or f.id in corrections]:
        field, value, fix = form.by_id[field_id], values.get(field_id, ""), corrections.get(field_id)
        writer = writers if isinstance(writers, Writer) else _who(writers, field.column, field.seat)
        if field.kind == "mark":
            if value not in ("", "x"):
                raise ValueError(f"{field_id} is a mark; {value!r} cannot be written there")
            strokes = _mark_field(field.box, value, fix, writer, rng)
        elif field.kind == "number":
            if any(figure not in FIGURES for figure in value + (fix.wrong if fix else "")):
                raise ValueError(f"{field_id} is a number; {value!r} cannot be written there")
            strokes = _number_field(field.box, field.turn, value, fix, writer, rng)
        else:
            raise ValueError(f"{field_id} is text; this hand writes figures and marks")
        _ink(canvas, px_per_mm, strokes, writer.pen, rng)
    unknown = (set(values) | set(corrections)) - set(form.by_id)
    if unknown:
        raise ValueError(f"form {form.name} for {form.players} has no field {min(unknown)}")
    return canvas


def _who(writers: Mapping[Seat, Writer], column: str, seat: Seat | None) -> Writer:
    own = column in ("pool", "mountain", "whists") and seat in writers
    return writers[seat] if own and seat else writers.get(RECORDER, next(iter(writers.values())))


def _number_field(
    box: Box, turn: int, value: str, fix: Correction | None, writer: Writer, rng: np.random.Generator
) -> list[Stroke]:
    """The strokes, in mm on the page, of a number and of how it came about."""
    across, down = (box.w, box.h) if turn % 180 == 0 else (box.h, box.w)
    room = Box(-across / 2, -down / 2, across, down)
    strokes: list[Stroke] = []
    if fix is None:
        strokes += _number(value, room, writer, rng) if value else []
    elif not fix.wrong or fix.kind == "cancelled" or (fix.kind == "overwritten" and len(value) != len(fix.wrong)):
        raise ValueError(f"a number saying {value!r} cannot have come about by {fix}")
    elif fix.kind == "overwritten":
        strokes += _overwritten(fix.wrong, value, room, writer, rng)
    else:
        share = 0.5 if value else float(rng.uniform(0.5, 0.9))
        spoilt = _number(fix.wrong, Box(room.x, room.y, room.w * share, room.h), writer, rng)
        strokes += spoilt
        strokes += _strike(spoilt, fix.kind == "scribbled", rng)
        if value:
            beside = Box(room.x + room.w * share, room.y, room.w * (1 - share) * 1.25, room.h)
            strokes += _number(value, beside, writer, rng)
    angle = np.deg2rad(turn)
    spin = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return [stroke @ spin + box.centre for stroke in strokes]


def _overwritten(wrong: str, right: str, room: Box, writer: Writer, rng: np.random.Generator) -> list[Stroke]:
    """A number put right without striking it out: each figure that differs is written on top of the old one."""
    strokes: list[Stroke] = []
    for was, now, old in zip(wrong, right, _figures(wrong, room, writer, rng), strict=True):
        strokes += old
        if was == now:
            continue
        new = _laid_over(_one_writing(writer, now, rng), old, rng)
        # The right one is gone over until it wins.
        strokes += [stroke + rng.normal(0, 0.1, 2) for _ in range(3) for stroke in new]
    return strokes


def _laid_over(glyph: list[Stroke], old: list[Stroke], rng: np.random.Generator) -> list[Stroke]:
    """The figure as high as the old one (mm) and in its place, as nearly as one hits it."""
    (low, high), (old_low, old_high) = (_extent(strokes) for strokes in (glyph, old))
    scale = (old_high - old_low)[1] / max((high - low)[1], 0.1)
    middle = (old_low + old_high) / 2 + rng.normal(0, 0.2, 2)
    return [(stroke - (low + high) / 2) * scale + middle for stroke in glyph]


def _extent(strokes: list[Stroke]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = np.concatenate(strokes)
    return points.min(axis=0), points.max(axis=0)


def _number(value: str, room: Box, writer: Writer, rng: np.random.Generator) -> list[Stroke]:
    """A number's strokes inside a room (mm), placed as this person does."""
    return [stroke for figure in _figures(value, room, writer, rng) for stroke in figure]


def _figures(value: str, room: Box, writer: Writer, rng: np.random.Generator) -> list[list[Stroke]]:
    """The strokes of each of a number's figures."""
    height = writer.height * room.h * float(np.exp(rng.normal(0, 0.06)))
    aside, sink = writer.aside, 0.5 + rng.normal(0, 0.08)
    if rng.random() < writer.corner:
        height *= 0.62
        aside, sink = float(rng.choice([0.0, 1.0])), float(rng.choice([0.05, 0.95]))
    # Nobody writes so small that his own pen fills the figures up.
    height = max(height, 6.5 * writer.pen.width)
    pen, figures = 0.0, []
    for figure in value:
        glyph = _one_writing(writer, figure, rng)
        low, high = _extent(glyph)
        lift = np.array([pen - low[0], rng.normal(0, writer.wander) / height])
        figures.append([stroke + lift for stroke in glyph])
        pen += float(high[0] - low[0]) + writer.gap * float(np.exp(rng.normal(0, 0.25)))
    wide = max(float(_extent(figure)[1][0]) for figure in figures) * height
    allowed = room.w * (0.92 + 0.35 * writer.crossing * rng.random())
    squeeze = min(1.0, allowed / wide)
    # Whoever runs out of width writes smaller too, not only narrower.
    height *= squeeze**0.5
    scale = np.array([height * squeeze**0.5, height])
    free = room.w - wide * squeeze
    margin = min(0.5, max(free, 0) / 2)
    start = room.x + margin + (free - 2 * margin) * np.clip(aside + rng.normal(0, 0.08), 0, 1)
    top = room.y + (room.h - height) * np.clip(sink, 0, 1)
    return [[stroke * scale + np.array([start, top]) for stroke in figure] for figure in figures]


def _one_writing(writer: Writer, figure: str, rng: np.random.Generator) -> list[Stroke]:
    """One figure as it comes out this time, in units of figure heights."""
    variants = writer.glyphs[figure]
    glyph = variants[rng.integers(len(variants))]
    slant = np.tan(np.deg2rad(writer.slant + rng.normal(0, 2)))
    turn = np.deg2rad(rng.normal(0, 2))
    stretch = writer.width * np.exp(rng.normal(0, writer.wobble)), np.exp(rng.normal(0, writer.wobble))
    lean = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ np.array([[1, -slant], [0, 1]])
    bow = rng.normal(0, writer.wobble, (2, 2, 2))
    out = []
    for stroke in glyph:
        if writer.haste and len(stroke) > 4:
            stroke = _round_off(stroke, writer.haste)
        # The whole shape gives a little, here and there differently.
        waves = np.sin(np.pi * (stroke + [0.3, 0.1]) * 1.3), np.cos(np.pi * (stroke - 0.2) * 1.7)
        stroke = stroke + sum(wave @ bend for wave, bend in zip(waves, bow, strict=True))
        out.append((stroke - [0, 1]) * stretch @ lean.T + [0, 1])
    return out


def _round_off(stroke: Stroke, haste: float) -> Stroke:
    """The stroke with its corners cut, its ends where they were."""
    dense = _resample(stroke, 0.02)
    size = 2 * int(1 + 4 * haste) + 1
    padded = np.pad(dense, ((size // 2, size // 2), (0, 0)), mode="edge")
    kernel = np.ones(size) / size
    soft = np.stack([np.convolve(padded[:, i], kernel, mode="valid") for i in (0, 1)], axis=1)
    return np.asarray(soft)


def _resample(stroke: Stroke, step: float) -> Stroke:
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(stroke, axis=0), axis=1))])
    count = max(2, int(np.ceil(lengths[-1] / step)) + 1)
    at = np.linspace(0, lengths[-1], count)
    return np.stack([np.interp(at, lengths, stroke[:, i]) for i in (0, 1)], axis=1)


def _strike(spoilt: list[Stroke], scribble: bool, rng: np.random.Generator) -> list[Stroke]:
    """Lines through what was written: one or two, or a scribble that hides it."""
    low, high = _extent(spoilt)
    (x0, y0), (x1, y1) = low - 0.4, high + 0.4
    if scribble:
        passes = int(rng.integers(2, 4))
        out = []
        for _ in range(passes):
            count = int((x1 - x0) / rng.uniform(0.22, 0.4)) + 4
            x = np.linspace(x0, x1, count) + rng.normal(0, 0.12, count)
            y = np.where(np.arange(count) % 2, y0, y1) + rng.normal(0, 0.3, count)
            out.append(np.stack([x, y], axis=1))
        return out
    middle = (y0 + y1) / 2
    lines = []
    for _ in range(int(rng.integers(1, 3))):
        tip = rng.normal(0, 0.7)
        ends = np.array([[x0, middle + tip], [(x0 + x1) / 2, middle + rng.normal(0, 0.2)], [x1, middle - tip]])
        lines.append(ends + rng.normal(0, 0.25, 2))
    return lines


def _mark_field(box: Box, value: str, fix: Correction | None, writer: Writer, rng: np.random.Generator) -> list[Stroke]:
    strokes: list[Stroke] = []
    if fix is not None and fix.kind == "cancelled" and not value:
        strokes += _mark(box, writer, rng) + _fill(box.inset(-0.15), 0.28, rng) + _fill(box.inset(-0.05), 0.3, rng)
    elif fix is not None:
        raise ValueError(f"a mark can be cancelled and then says nothing; it cannot be {fix.kind} with {value!r}")
    if value:
        strokes += _mark(box, writer, rng)
    return strokes


def _mark(box: Box, writer: Writer, rng: np.random.Generator) -> list[Stroke]:
    """A yes in a mark box, by this person's habit."""
    side = box.w * writer.mark_size * float(np.exp(rng.normal(0, 0.1)))
    centre = np.array(box.centre) + rng.normal(0, 0.07 * box.w, 2)

    def at(*points: tuple[float, float]) -> Stroke:
        bent = np.array(points) + rng.normal(0, 0.05, (len(points), 2))
        return centre + bent * side / 2

    real = writer.glyphs.get("x" if writer.mark == "cross" else "/" if writer.mark == "slash" else "")
    if real:
        glyph = real[rng.integers(len(real))]
        points = np.concatenate(glyph)
        low, high = points.min(axis=0), points.max(axis=0)
        return [centre + (s - (low + high) / 2) / max((high - low).max(), 1e-6) * side for s in glyph]
    match writer.mark:
        case "cross":
            return [at((-1, -0.9), (0, 0), (0.9, 1)), at((0.9, -1), (0.05, 0), (-0.9, 0.9))]
        case "tick":
            return [at((-0.8, 0.0), (-0.5, 0.4), (-0.25, 0.85), (0.3, -0.2), (1.1, -1.2))]
        case "slash":
            return [at((0.9, -1), (0, 0), (-0.9, 1))]
        case "filled":
            # Hatched over, but not to the edges: that would cancel it.
            room = max(0.72 * side - writer.pen.width, 0.4)
            return _fill(Box(centre[0] - room / 2, centre[1] - room / 2, room, room), 0.4, rng)


def _fill(box: Box, spacing: float, rng: np.random.Generator) -> list[Stroke]:
    """Back and forth over a box until it is full."""
    count = int(box.w / spacing) * 2 + 2
    x = np.linspace(box.x, box.x + box.w, count) + rng.normal(0, 0.05, count)
    y = np.where(np.arange(count) % 2, box.y, box.y + box.h) + rng.normal(0, 0.12, count)
    return [np.stack([x, y], axis=1)]


_FINER = 4
"""Ink is drawn this many times finer than the page and averaged down."""


def _ink(canvas: Image, px_per_mm: float, strokes: list[Stroke], pen: Pen, rng: np.random.Generator) -> None:
    """Draw strokes (mm) with a pen onto the canvas, in place: ink takes light from what is there."""
    if not strokes:
        return
    reach = 2 * pen.width + 0.3
    points = np.concatenate(strokes)
    h, w = canvas.shape[:2]
    x0, y0 = (max(0, int(v)) for v in np.floor((points.min(axis=0) - reach) * px_per_mm))
    x1, y1 = (int(v) for v in np.ceil((points.max(axis=0) + reach) * px_per_mm))
    x1, y1 = min(x1, w), min(y1, h)
    if x1 <= x0 or y1 <= y0:
        return
    scale = px_per_mm * _FINER
    film = np.zeros(((y1 - y0) * _FINER, (x1 - x0) * _FINER), np.uint8)
    for stroke in strokes:
        line = _resample(stroke, 0.15)
        n = len(line)
        # Pressure swells and fades slowly along a stroke, and is light where the pen lifts off.
        knots = rng.normal(0, 1, max(3, n // 12 + 2))
        push = np.interp(np.linspace(0, len(knots) - 1, n), np.arange(len(knots)), knots).clip(-2, 2)
        push[-max(1, n // 8) :] -= rng.uniform(0, 1)
        width = pen.width * scale * (1 + 0.5 * pen.pressure * push)
        level = 255 * np.clip(1 + 0.35 * pen.pressure * (push - 0.8), 0.2, 1)
        gap = int(rng.integers(n)) if rng.random() < pen.skips else n
        pixels = (line * px_per_mm - [x0, y0]) * _FINER - 0.5
        # Two pen strokes over one place are no darker than the heavier one.
        layer = np.zeros_like(film)
        for i in range(n - 1):
            if gap <= i < gap + 4:
                continue
            a, b = (tuple(int(v) for v in (pixels[j] * 16).round()) for j in (i, i + 1))
            thick = max(1, round(float(width[i])))
            cv2.line(layer, (a[0], a[1]), (b[0], b[1]), float(level[i]), thick, cv2.LINE_8, 4)
        np.maximum(film, layer, out=film)
    if pen.kind == "pencil":
        # Graphite catches on the tooth of the paper.
        tooth = rng.random((film.shape[0] // 3 + 1, film.shape[1] // 3 + 1), dtype=np.float32)
        tooth = cv2.resize(tooth, (film.shape[1], film.shape[0]), interpolation=cv2.INTER_LINEAR)
        film = (film * np.clip(0.45 + 0.9 * tooth, 0, 1)).astype(np.uint8)
    elif pen.kind == "felt":
        film = np.asarray(cv2.GaussianBlur(film, (0, 0), 0.04 * scale), dtype=np.uint8)
    covered = cv2.resize(film, (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA).astype(np.float32) / 255 * pen.cover
    taken = covered[..., None] * (1 - np.array(pen.colour, np.float32) / 255)
    patch = canvas[y0:y1, x0:x1]
    patch[:] = np.round(patch * (1 - taken)).astype(np.uint8)
