"""Fields as they stand on filled sheets: whole games written down by several people, each field photographed alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from recognize import marks
from recognize.cells import MARK_MARGIN_MM, NUMBER_MARGIN_MM
from recognize.digits import is_bare, prepare
from recognize.simulation.hand import Correction, Image, Writer, at_table, real_writers, write_sheet
from recognize.simulation.table import CONVENTIONS, CORRECTED, correct, play, write_down
from recognize.training.camera import LEVELS, cut_out
from recognize.training.characters import Array, Part, part_of
from recognize.training.fields import BORDER, SCALE, STRUCK
from recognize.training.mark_fields import CANCELLED, EMPTY, MARKED
from recognize.training.pictures import Fact, Fields, by_width
from templates import Field, Form, load_form

EMPTY_KEPT = 1 / 8
"""So many of the empty boxes are learnt from; there are three times as many as filled ones."""
OTHERWISE = 0.5
"""So many numbers are replaced by others of as many figures: what a game makes likely is for the rules to say."""
CORRECTED_TO_LEARN = 0.04
"""Corrections are learnt from more often than they are met."""
LINES = 0.5, 1.2
"""How much lighter or darker the printed lines may be to learn from."""


def people(data: Path, part: Part) -> list[Writer]:
    """Everybody of one part of the writers who left every figure as strokes."""
    return [writer for name, writer in real_writers(data).items() if part_of(name) == part]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet filled in: its picture (float32, 1 is white paper), what stands where, and what was corrected."""

    form: Form
    paper: Array
    values: Mapping[str, str]
    fixes: Mapping[str, Correction]
    level: str

    def label(self, field: Field) -> str:
        """What stands in a number field, `STRUCK` where only something crossed out does."""
        return self.values.get(field.id) or (STRUCK if field.id in self.fixes else "")


def numbers_to_learn(writers: Sequence[Writer], seed: int, sheet: int) -> Fields:
    """Number fields of one sheet to learn from: hands varied, many numbers other than the game's, few empty boxes."""
    rng = np.random.default_rng([seed, sheet, 5])
    filled = _filled(writers, sheet, rng, learnt=True)
    chosen = [
        field
        for field in filled.form.fields
        if field.kind == "number" and (filled.label(field) or rng.random() < EMPTY_KEPT)
    ]
    return by_width(list(_numbers(filled, chosen, rng)))


def numbers_to_calibrate(writers: Sequence[Writer], seed: int, sheet: int) -> Fields:
    """All number fields of one sheet that are not bare, as the game has them; what was crossed out counts as empty."""
    rng = np.random.default_rng([seed, sheet, 3])
    filled = _filled(writers, sheet, rng, learnt=False)
    found = _numbers(filled, [field for field in filled.form.fields if field.kind == "number"], rng)
    return by_width([(picture, ("" if fact[0] == STRUCK else fact[0], *fact[1:])) for picture, fact in found])


def marks_to_learn(writers: Sequence[Writer], seed: int, sheet: int) -> tuple[Array, Array]:
    """Mark boxes of one sheet that are not bare, prepared, and what each says (0 empty, 1 marked, 2 cancelled)."""
    rng = np.random.default_rng([seed, sheet, 7])
    filled = _filled(writers, sheet, rng, learnt=True)
    pictures, says = [], []
    for field in filled.form.fields:
        if field.kind == "mark":
            cut = _cut(filled, field, MARK_MARGIN_MM, rng)
            if not is_bare(cut, marks.AROUND):
                pictures.append(marks.prepare(cut))
                says.append(MARKED if field.id in filled.values else CANCELLED if field.id in filled.fixes else EMPTY)
    return np.stack(pictures), np.array(says)


def _filled(writers: Sequence[Writer], sheet: int, rng: np.random.Generator, learnt: bool) -> _Sheet:
    """A sheet filled in by some of the writers; number `sheet` decides on players, convention and photo."""
    form = load_form("protocol", 3 + sheet // 4 % 2)
    game = play(CONVENTIONS[sheet % 4], form.players, int(rng.integers(12, form.rows)), rng)
    values, _ = write_down(game, rng, int(rng.integers(3)))
    if learnt:
        values = {name: _otherwise(value, rng) for name, value in values.items()}
    fixes = correct(values, form.seats, CORRECTED_TO_LEARN if learnt else CORRECTED, rng)
    who = at_table(writers, form.seats, rng)
    blank = _blank(form.players)
    if learnt:
        who = {seat: _varied(writer, rng) for seat, writer in who.items()}
        blank = 255 - cv2.convertScaleAbs(255 - blank, alpha=rng.uniform(*LINES))
    page = write_sheet(blank, SCALE, form, values, who, rng, fixes)
    paper = cv2.cvtColor(page, cv2.COLOR_BGR2GRAY).astype(np.float32) / 255
    return _Sheet(form, paper, values, fixes, tuple(LEVELS)[sheet % len(LEVELS)])


def _otherwise(value: str, rng: np.random.Generator) -> str:
    """The value, or some number of as many figures."""
    if not value.isdigit() or rng.random() >= OTHERWISE:
        return value
    least = 10 ** (len(value) - 1) if len(value) > 1 else 0
    return str(rng.integers(least, 10 ** len(value)))


def _varied(writer: Writer, rng: np.random.Generator) -> Writer:
    """The writer with a lean and a width of figures that are not his own: people differ more than those recorded."""
    return replace(
        writer,
        slant=float(rng.normal(0, 5)),
        width=float(np.exp(rng.normal(0, 0.1))),
        wobble=float(rng.uniform(0.008, 0.03)),
    )


def _numbers(filled: _Sheet, fields: Sequence[Field], rng: np.random.Generator) -> Iterator[tuple[Array, Fact]]:
    for field in fields:
        cut = _cut(filled, field, NUMBER_MARGIN_MM, rng)
        if not is_bare(cut):
            yield prepare(cut), (filled.label(field), "filled in", "", "unipen", filled.level)


def _cut(filled: _Sheet, field: Field, margin: float, rng: np.random.Generator) -> Array:
    return cut_out(rng, _around(filled.paper, field), (field.box.w, field.box.h), LEVELS[filled.level], margin)


@cache
def _blank(players: int) -> Image:
    """The form's lines and mark boxes on white paper; not to be written on."""
    form: Form = load_form("protocol", players)
    width, height = form.page
    page = np.full((round(height * SCALE), round(width * SCALE)), 255, np.uint8)
    for rule in form.rules:
        at, start, stop = (round(v * SCALE) for v in (rule.at, rule.start, rule.stop))
        ends = ((start, at), (stop, at)) if rule.horizontal else ((at, start), (at, stop))
        cv2.line(page, *ends, 60, max(round(rule.width * SCALE), 1))
    for field in form.fields:
        if field.kind == "mark":
            x, y, side = field.box.x, field.box.y, field.box.w
            left, top, right, bottom = (round(v * SCALE) for v in (x, y, x + side, y + side))
            cv2.rectangle(page, (left, top), (right, bottom), 110, 2)
    return page


def _around(paper: Array, field: Field) -> Array:
    """The field's box with what surrounds it."""
    x, y = round((field.box.x - BORDER) * SCALE), round((field.box.y - BORDER) * SCALE)
    w, h = round((field.box.w + 2 * BORDER) * SCALE), round((field.box.h + 2 * BORDER) * SCALE)
    return paper[y : y + h, x : x + w]
