"""Cutting the fields out of a photo, each as it would look from straight above."""

from dataclasses import dataclass

import numpy as np

from recognize.locate import MESH_MM, Fit, Points
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


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Where the fields of a form that are read lie: in millimetres, and as parts of the flattened `box`."""

    form: Form
    fields: tuple[Field, ...]
    corners: Points
    centres: Points
    box: tuple[float, float, float, float]
    parts: tuple[tuple[slice, slice], ...]


def cut_fields(grey: Grey, fit: Fit, form: Form) -> tuple[Cell, ...]:
    """Every field that is read (marks and numbers, not names), in the form's order."""
    cuts = _cuts(form)
    page = fit.map.flatten(grey, cuts.box, PX_PER_MM)
    inside = np.all(fit.map.inside(cuts.corners, grey).reshape(-1, 4), axis=1)
    sure = (inside & fit.sure(cuts.centres)).tolist()
    return tuple(Cell(f, page[part], s) for f, part, s in zip(cuts.fields, cuts.parts, sure, strict=True))


_CUTS: dict[int, _Cuts] = {}


def _cuts(form: Form) -> _Cuts:
    # By the object itself: to compare a form with another, all its thousand fields would be gone through.
    if id(form) not in _CUTS:
        _CUTS[id(form)] = _measured(form)
    return _CUTS[id(form)]


def _measured(form: Form) -> _Cuts:
    wanted = tuple(f for f in form.fields if f.kind != "text")
    shown = [f.box.inset(-(NUMBER_MARGIN_MM if f.kind == "number" else MARK_MARGIN_MM)) for f in wanted]
    # Only the table is flattened, from a node of the page map's mesh on, which is quickest.
    x, y = (min(side) // MESH_MM * MESH_MM for side in ([box.x for box in shown], [box.y for box in shown]))
    right, bottom = max(box.x + box.w for box in shown), max(box.y + box.h for box in shown)
    parts = []
    for box in shown:
        left, top = round((box.x - x) * PX_PER_MM), round((box.y - y) * PX_PER_MM)
        parts.append((slice(top, top + round(box.h * PX_PER_MM)), slice(left, left + round(box.w * PX_PER_MM))))
    return _Cuts(
        form,
        wanted,
        np.array([corner for f in wanted for corner in f.box.corners]),
        np.array([f.box.centre for f in wanted]),
        (x, y, int(right - x) + 1, int(bottom - y) + 1),
        tuple(parts),
    )
