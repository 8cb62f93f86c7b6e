"""Cutting the fields out of a photo, each as it would look from straight above."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from recognize.page import MESH_MM, Fit, Points
from recognize.photo import Grey
from templates import Field, Form

PX_PER_MM = 6.0
"""Finer than a messenger leaves a photo, coarser than a good one: what the readers were trained at."""

NUMBER_MARGIN_MM = 1.0
MARK_MARGIN_MM = 0.8
"""How much around the box is shown to the reader: people write over the lines."""

LEAST_FRAME = 0.7
LEAST_SIDE = 0.5
"""A box of whose printed frame, or of one side of it, less than this is seen lies under something narrow: a ruler, the
edge of a paper. A mark may hide one side of its small box; the boxes for the result have no line on the left."""
LEAST_LINE = 0.25
"""A piece of a line is seen where it is darker than its surroundings by this share of what is usual on the sheet."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A field cut out.

    `sure` tells whether it lies in the photo, in a region whose printed lines were found, and nothing covers its frame.
    """

    field: Field
    image: Grey
    sure: bool


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Where the fields of a form that are read lie: in millimetres, and as parts of the flattened `box`.

    `along` and `down` are the middles of the pieces of their frames' lines that lie along rows and down columns of the
    picture, in pixels (pieces, 2); `side` is the side of a frame that each of both is of: four times the field's place,
    and 0 to 3. `wanted` is how many sides must be seen, (fields,).
    """

    form: Form
    fields: tuple[Field, ...]
    corners: Points
    centres: Points
    box: tuple[float, float, float, float]
    parts: tuple[tuple[slice, slice], ...]
    along: NDArray[np.int64]
    down: NDArray[np.int64]
    side: NDArray[np.int64]
    wanted: NDArray[np.int64]


def cut_fields(grey: Grey, fit: Fit, form: Form) -> tuple[Cell, ...]:
    """Every field that is read (marks and numbers, not names), in the form's order."""
    cuts = _cuts(form)
    page = fit.map.flatten(grey, cuts.box, PX_PER_MM)
    inside = np.all(fit.map.inside(cuts.corners, grey).reshape(-1, 4), axis=1)
    sure = inside & fit.sure(cuts.centres)
    sure &= _framed(page, cuts, sure)
    return tuple(Cell(f, page[part], bool(s)) for f, part, s in zip(cuts.fields, cuts.parts, sure, strict=True))


def _framed(page: Grey, cuts: _Cuts, sure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether enough of every field's frame is seen, (fields,); `sure` are those that tell how dark lines are here."""
    darker = np.concatenate(
        [
            _darker(cv2.blur(page, (PIECE, 1)), cuts.along, page.shape[1]),
            _darker(cv2.blur(page, (1, PIECE)), cuts.down, 1),
        ]
    )
    among = sure[cuts.side // 4]
    usual = float(np.median(darker[among])) if among.any() else 0.0
    pieces = np.bincount(cuts.side).reshape(-1, 4)
    seen = np.bincount(cuts.side, darker > LEAST_LINE * usual).reshape(-1, 4)
    sides = (seen >= LEAST_SIDE * pieces).sum(axis=1)
    share = np.minimum(LEAST_FRAME, cuts.wanted / 4)
    return np.asarray((sides >= cuts.wanted) & (seen.sum(axis=1) >= share * pieces.sum(axis=1)))


def _darker(soft: Grey, pieces: NDArray[np.int64], step: int) -> Points:
    """How much darker a line is than what lies on either side of it, as a share of that, (pieces,).

    `soft` is the page smeared along the line; one pixel across it is `step` pixels on in the flat array.
    """
    flat, at = soft.ravel(), pieces[:, 1] * soft.shape[1] + pieces[:, 0]

    def across(*offsets: int) -> NDArray[np.uint8]:
        return np.stack([flat.take(at + step * off, mode="clip") for off in offsets])

    # A stroke may lie close to the line on one side of it.
    ground = across(-6, -5, -4, 4, 5, 6).max(axis=0).astype(np.float64)
    return np.asarray((ground - across(-2, -1, 0, 1, 2).min(axis=0)) / np.maximum(ground, 1))


PIECE = 7
"""Pixels of a line that are looked at together, about a millimetre."""

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
    (along, of_along), (down, of_down) = (_pieces(wanted, x, y, upright) for upright in (False, True))
    return _Cuts(
        form,
        wanted,
        np.array([corner for f in wanted for corner in f.box.corners]),
        np.array([f.box.centre for f in wanted]),
        (x, y, int(right - x) + 1, int(bottom - y) + 1),
        tuple(parts),
        along,
        down,
        np.concatenate([of_along, of_down]),
        np.array([2 if f.column == "result" else 3 if f.kind == "mark" else 4 for f in wanted]),
    )


def _pieces(fields: tuple[Field, ...], x: float, y: float, down: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The middles of the pieces of the fields' frames, along the rows or down the columns, and the side each is of."""
    found, sides = [], []
    for i, field in enumerate(fields):
        box = field.box
        length = box.h if down else box.w
        count = max(2, int(length * PX_PER_MM / PIECE))
        for at in (np.arange(count) + 0.5) / count * length:
            for side, off in enumerate((0.0, box.w if down else box.h)):
                found.append((box.x + off - x, box.y + at - y) if down else (box.x + at - x, box.y + off - y))
                sides.append(4 * i + 2 * down + side)
    return np.rint(np.array(found) * PX_PER_MM - 0.5).astype(np.int64), np.array(sides)
