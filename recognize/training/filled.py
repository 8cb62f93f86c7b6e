"""Fields as they stand on filled sheets: whole games written down by the people whom confidence is calibrated on."""

import multiprocessing
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from recognize.cells import NUMBER_MARGIN_MM
from recognize.digits import is_bare, prepare
from recognize.simulation.hand import Image, Writer, at_table, real_writers, write_sheet
from recognize.simulation.table import CONVENTIONS, CORRECTED, correct, play, write_down
from recognize.training.camera import LEVELS, cut_out
from recognize.training.characters import Array, part_of
from recognize.training.fields import BORDER, SCALE
from recognize.training.render import Fact, Fields, by_width, joined
from templates import Field, Form, load_form

_writers: list[Writer]


def sheet_fields(data: Path, sheets: int, seed: int, jobs: int = 2) -> Fields:
    """The number fields of so many sheets by the calibration writers that are not bare; the label is what stands there.

    Every sheet is by several of them, each field photographed by itself at one of the levels, in turn.
    """
    global _writers
    _writers = [writer for name, writer in real_writers(data).items() if part_of(name) == "calibrate"]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return joined(pool.map(_one_sheet, [(seed, i) for i in range(sheets)], chunksize=1))


def _one_sheet(task: tuple[int, int]) -> Fields:
    cv2.setNumThreads(1)
    seed, i = task
    rng = np.random.default_rng([seed, i, 3])
    form = load_form("protocol", 3 + i // 4 % 2)
    game = play(CONVENTIONS[i % 4], form.players, int(rng.integers(12, form.rows)), rng)
    values, _ = write_down(game, rng, int(rng.integers(3)))
    fixes = correct(values, form.seats, CORRECTED, rng)
    who = at_table(_writers, form.seats, rng)
    page = write_sheet(_blank(form.players), SCALE, form, values, who, rng, fixes)
    paper = cv2.cvtColor(page, cv2.COLOR_BGR2GRAY).astype(np.float32) / 255
    level = tuple(LEVELS)[i % len(LEVELS)]
    found: list[tuple[Array, Fact]] = []
    for field in form.fields:
        if field.kind == "number":
            cut = cut_out(rng, _around(paper, field), (field.box.w, field.box.h), LEVELS[level], NUMBER_MARGIN_MM)
            if not is_bare(cut):
                found.append((prepare(cut), (values.get(field.id, ""), "filled in", "", "unipen", level)))
    return by_width(found)


@cache
def _blank(players: int) -> Image:
    """The form's lines on white paper; not to be written on."""
    form: Form = load_form("protocol", players)
    width, height = form.page
    page = np.full((round(height * SCALE), round(width * SCALE)), 255, np.uint8)
    for rule in form.rules:
        at, start, stop = (round(v * SCALE) for v in (rule.at, rule.start, rule.stop))
        ends = ((start, at), (stop, at)) if rule.horizontal else ((at, start), (at, stop))
        cv2.line(page, *ends, 60, max(round(rule.width * SCALE), 1))
    return page


def _around(paper: Array, field: Field) -> Array:
    """The field's box with what surrounds it."""
    x, y = round((field.box.x - BORDER) * SCALE), round((field.box.y - BORDER) * SCALE)
    w, h = round((field.box.w + 2 * BORDER) * SCALE), round((field.box.h + 2 * BORDER) * SCALE)
    return paper[y : y + h, x : x + w]
