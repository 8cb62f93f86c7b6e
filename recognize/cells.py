"""Cutting the fields out of a photo, each as it would look from straight above."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from recognize.locate import MESH_MM, Fit, Points
from recognize.photo import Grey
from templates import Field, Form

PX_PER_MM = 6.0
"""Finer than a messenger leaves a photo, coarser than a good one: what the readers were trained at."""

NUMBER_MARGIN_MM = 1.0
MARK_MARGIN_MM = 0.8
"""How much around the box is shown to the reader: people write over the lines."""


NEAR_PX, FAR_PX = 5, 10
"""A box whose upright lines show further off than the first, and within the second, is not where it was thought."""

CLEARLY = 1.6
"""So many times plainer the lines must show there than where they should be."""

ABOVE_NOISE = 6.0
FEW = 5
"""Fewer boxes than this that seem off their lines are an accident."""

AROUND_MM = 45.0
"""As far from a box that is off its lines no other is trusted either."""


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
    rows: tuple[tuple[int, int], ...]
    """The first pixel line of each row of number boxes, and the one after its last."""
    lines: npt.NDArray[np.int64]
    """Of each number box in a row: its place among the fields, its row, and the pixels of the lines beside it."""


def cut_fields(grey: Grey, fit: Fit, form: Form) -> tuple[Cell, ...]:
    """Every field that is read (marks and numbers, not names), in the form's order."""
    cuts = _cuts(form)
    page = fit.map.flatten(grey, cuts.box, PX_PER_MM)
    inside = np.all(fit.map.inside(cuts.corners, grey).reshape(-1, 4), axis=1)
    sure = (inside & fit.sure(cuts.centres) & ~_off_their_lines(page, cuts)).tolist()
    return tuple(Cell(f, page[part], s) for f, part, s in zip(cuts.fields, cuts.parts, sure, strict=True))


def _off_their_lines(page: Grey, cuts: _Cuts) -> npt.NDArray[np.bool_]:
    """Whether each field lies where the upright lines beside boxes show plainly that the page map is off.

    The map was fitted to the lines, but on a smeared or bent photo it may have taken one for another.
    """
    off = np.zeros(len(cuts.fields), bool)
    means = np.stack([page[top:bottom].mean(axis=0, dtype=np.float32) for top, bottom in cuts.rows])
    # Three rows together: a line goes through them all, and figures do not.
    means = cv2.blur(means, (1, 3), borderType=cv2.BORDER_REPLICATE)
    dark = cv2.blur(means, (15, 1), borderType=cv2.BORDER_REPLICATE) - means
    fields, rows, left, right = cuts.lines.T
    reach = np.arange(-FAR_PX, FAR_PX + 1)
    within = (left >= FAR_PX) & (right < page.shape[1] - FAR_PX)
    fields, rows, left, right = fields[within], rows[within], left[within], right[within]
    both = dark[rows[:, None], left[:, None] + reach] + dark[rows[:, None], right[:, None] + reach]
    here = both[:, FAR_PX - NEAR_PX : FAR_PX + NEAR_PX + 1].max(axis=1)
    plainest = both.max(axis=1)
    apart = (plainest > CLEARLY * np.maximum(here, 0)) & (plainest > ABOVE_NOISE * float(np.median(np.abs(dark))))
    at = cuts.centres[fields[apart]]
    if len(at) >= FEW:
        off = (np.abs(cuts.centres[:, None] - at[None]) < AROUND_MM).all(axis=2).any(axis=1)
    return off


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
    numbers = [(i, f) for i, f in enumerate(wanted) if f.kind == "number" and f.deal is not None]
    deals = sorted({f.deal for _, f in numbers if f.deal is not None})
    boxes = {f.deal: f.box for _, f in numbers}
    inner = [(boxes[deal].y + 0.6 - y, boxes[deal].y + boxes[deal].h - 0.6 - y) for deal in deals]
    upright = np.array(sorted({rule.at for rule in form.rules if not rule.horizontal}))
    lines = []
    for i, f in numbers:
        beside = upright[upright < f.box.x + 0.01].max(), upright[upright > f.box.x + f.box.w - 0.01].min()
        lines.append((i, deals.index(f.deal or 0), *(round((at - x) * PX_PER_MM) for at in beside)))
    return _Cuts(
        form,
        wanted,
        np.array([corner for f in wanted for corner in f.box.corners]),
        np.array([f.box.centre for f in wanted]),
        (x, y, int(right - x) + 1, int(bottom - y) + 1),
        tuple(parts),
        tuple((round(top * PX_PER_MM), round(bottom * PX_PER_MM)) for top, bottom in inner),
        np.array(lines),
    )
