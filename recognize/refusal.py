"""Why a picture cannot be read, in words that a person at the table can act on."""

from collections.abc import Sequence

import cv2
import numpy as np

from recognize.lines import plainest_lines
from recognize.locate import rough_map
from recognize.page import Mark, Marks, Points
from recognize.photo import Grey
from scoring.text import Text
from templates import Form

DARK = 50
"""Grey level: where nine tenths of the picture are darker, no paper is lit."""

SOFT_MM = 0.58
"""The edge of a mark that takes so much from black to white is as wide as the space inside a figure."""

FEW_PX_PER_MM = 1.6
"""Fewer pixels a millimetre than that, and a figure is less than eight pixels high."""

FAINT = 0.035
"""Where even the plainest lines stand out less from the paper, though the marks are sharp, they are hardly on it."""


def no_sheet(grey: Grey, found: Sequence[Mark]) -> Text:
    """Of a picture in which no sheet was found, with such marks as there are."""
    if float(np.percentile(grey, 90)) < DARK:
        return _DARK
    if found:
        return Text(
            f"на снимке нет нашего протокола, или видна лишь малая его часть (меток по краям: {len(found)}): "
            "снимите лист целиком, со всеми краями",
            f"no sheet of ours in this photo, or too little of it ({len(found)} of the marks along its edges): "
            "take the whole sheet, with all its edges",
        )
    # A picture with nothing at all in it is not sharp either.
    if _sharpness(grey) < 25 and float(np.std(grey)) > 12:
        return _BLURRED
    return Text(
        "на снимке нет нашего протокола: не найдены метки по краям листа; снимите лист целиком, сверху и поближе",
        "no sheet of ours in this photo: none of the marks along its edges was found; "
        "take the whole sheet, from above and from near",
    )


def no_fit(grey: Grey, marks: Marks, form: Form) -> Text:
    """Of a sheet whose marks were found, and whose printed lines were not."""
    if float(np.percentile(grey, 90)) < DARK:
        return _DARK
    hopeless = too_coarse(grey, marks, form)
    if hopeless is not None:
        return hopeless
    rough = rough_map(marks, form)
    if rough is None or plainest_lines(grey, rough, form) < FAINT:
        return Text(
            "лист напечатан слишком бледно: линий таблицы не видно; напечатайте бланки темнее или смените картридж",
            "the sheet is printed too faint: the table's lines cannot be seen; print darker, or change the cartridge",
        )
    sides = cut_sides(grey, marks, form)
    if sides:
        return _cut(sides)
    return Text(
        f"лист слишком изогнут или закрыт (меток найдено {len(marks)} из {len(form.markers)}): "
        "расправьте его, уберите с него всё и снимите сверху",
        f"the sheet is too bent or covered ({len(marks)} of {len(form.markers)} marks found): "
        "flatten it, clear it, and take it from above",
    )


def too_coarse(grey: Grey, marks: Marks, form: Form) -> Text | None:
    """Of a sheet so small in the picture, or so blurred, that nobody could tell its figures apart; None where not."""
    boxes = {marker.place: marker.box for marker in form.markers}
    if float(np.median([mark.side / boxes[place].w for place, mark in marks.items()])) < FEW_PX_PER_MM:
        return Text(
            "лист слишком далеко: цифры на снимке мельче восьми точек; снимите ближе, чтобы лист занял весь кадр",
            "the sheet lies too far away: figures are less than eight pixels high; go nearer, to fill the picture",
        )
    return _BLURRED if _softness(grey, marks, form) > SOFT_MM else None


def too_little(grey: Grey, marks: Marks, form: Form, shown: float) -> Text:
    """Of a sheet of which only the share `shown` of the boxes can be seen."""
    sides = cut_sides(grey, marks, form)
    if sides:
        return _cut(sides)
    return Text(
        f"видно только {shown:.0%} клеток: уберите с листа всё, расправьте его и снимите целиком, без бликов и теней",
        f"only {shown:.0%} of the boxes can be seen: clear the sheet, flatten it, and take the whole of it, "
        "without glare and shadows",
    )


def cut_sides(grey: Grey, marks: Marks, form: Form) -> tuple[str, ...]:
    """Which sides of the table (left, top, right, bottom, as it is printed) lie beyond the picture."""
    page = rough_map(marks, form)
    if page is None:
        return ()
    box = form.frame
    x, y = np.meshgrid(np.linspace(box.x, box.x + box.w, 41), np.linspace(box.y, box.y + box.h, 41))
    outside = ~page.inside(np.column_stack([x.ravel(), y.ravel()]), grey).reshape(x.shape)
    strips = {"left": outside[:, :4], "top": outside[:4], "right": outside[:, -4:], "bottom": outside[-4:]}
    return tuple(side for side, strip in strips.items() if strip.mean() > 0.5)


def _softness(grey: Grey, marks: Marks, form: Form) -> float:
    """How wide the edges of the marks are, in millimetres."""
    widths = []
    boxes = {marker.place: marker.box for marker in form.markers}
    for place, mark in marks.items():
        profiles = _edges(grey, mark.corners)
        span = (profiles[:, -3:].mean(axis=1) - profiles[:, :3].mean(axis=1))[:, None]
        rise = np.clip((profiles - profiles[:, :3].mean(axis=1, keepdims=True)) / np.maximum(span, 1.0), 0, 1)
        between = ((rise > 0.2) & (rise < 0.8)).sum(axis=1) * _STEP
        # Opposite sides are blurred alike; a shake blurs one pair of them.
        widths.append(max(between[[0, 2]].mean(), between[[1, 3]].mean()) * boxes[place].w)
    return float(np.median(widths))


_STEP = 0.01
_ACROSS = np.arange(-13, 14) * _STEP
"""Across a mark's edge, from its inside to its outside, in sides of the mark."""


def _edges(grey: Grey, corners: Points) -> Points:
    """The picture across each of a mark's four edges, the mean along the edge, (4, n)."""
    middle = corners.mean(axis=0)
    along = np.linspace(0.15, 0.85, 25)[:, None]
    profiles = []
    for i in range(4):
        start, stop = corners[i], corners[(i + 1) % 4]
        # Outwards is away from the middle, as far as the middle is from the edge twice over.
        outwards = 2 * ((start + stop) / 2 - middle)
        at = (start + along * (stop - start))[:, None] + _ACROSS[:, None] * outwards
        maps = at.astype(np.float32)
        profiles.append(cv2.remap(grey, maps, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).mean(axis=0))
    return np.array(profiles)


def _sharpness(grey: Grey) -> float:
    """How much fine detail there is: the variance of the Laplacian at a usual size."""
    shrink = max(1.0, max(grey.shape) / 2000)
    small = cv2.resize(grey, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA)
    return float(cv2.Laplacian(small, cv2.CV_64F).var())


def _cut(sides: tuple[str, ...]) -> Text:
    ru = {"left": "слева", "top": "сверху", "right": "справа", "bottom": "снизу"}
    en = {"left": "on the left", "top": "at the top", "right": "on the right", "bottom": "at the bottom"}
    return Text(
        f"лист обрезан {' и '.join(ru[side] for side in sides)}: снимите его целиком, со всеми краями",
        f"the sheet is cut off {' and '.join(en[side] for side in sides)}: take the whole of it, with all its edges",
    )


_DARK = Text("снимок слишком тёмный: снимите при свете", "the photo is too dark: take it in better light")
_BLURRED = Text(
    "снимок смазан или не в фокусе: снимите ещё раз, держа телефон неподвижно",
    "the photo is blurred: take it again, holding the phone still",
)
