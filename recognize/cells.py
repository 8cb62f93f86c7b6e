"""Cutting the fields out of a photo, each as it would look from straight above."""

from dataclasses import dataclass

import numpy as np

from recognize.locate import Fit
from recognize.photo import Grey
from templates import Field, Form

PX_PER_MM = 6.0
"""Finer than a messenger leaves a photo, coarser than a good one: what the readers were trained at."""

NUMBER_MARGIN_MM = 1.0
MARK_MARGIN_MM = 0.8
"""How much around the box is shown to the reader: people write over the lines."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A field cut out. `sure` tells whether it lies in the photo, in a region whose printed lines were found."""

    field: Field
    image: Grey
    sure: bool


def cut_fields(grey: Grey, fit: Fit, form: Form) -> tuple[Cell, ...]:
    """Every field that is read (marks and numbers, not names), in the form's order."""
    width, height = form.page
    page = fit.map.flatten(grey, (0, 0, width, height), PX_PER_MM)
    wanted = [f for f in form.fields if f.kind != "text"]
    corners = [corner for f in wanted for corner in f.box.corners]
    inside = np.all(fit.map.inside(corners, grey).reshape(-1, 4), axis=1).tolist()
    placed = fit.sure([f.box.centre for f in wanted]).tolist()
    places = zip(wanted, inside, placed, strict=True)
    return tuple(Cell(f, _cut(page, f), seen and sure) for f, seen, sure in places)


def _cut(page: Grey, field: Field) -> Grey:
    box = field.box.inset(-(NUMBER_MARGIN_MM if field.kind == "number" else MARK_MARGIN_MM))
    left, top = round(box.x * PX_PER_MM), round(box.y * PX_PER_MM)
    return page[top : top + round(box.h * PX_PER_MM), left : left + round(box.w * PX_PER_MM)]
