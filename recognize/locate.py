"""Finding the sheet: the coded marks along its edges, and from them where every millimetre of the page lies."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np
import numpy.typing as npt

from recognize.lines import snapped, untrusted_part
from recognize.page import MESH_MM, Fit, Mark, Marks, PageMap, Points, shrunk_whole
from recognize.photo import Grey
from recognize.squares import find_squares
from templates import MARK_STEP, MARK_VALUES, Form

ENOUGH_MARKS = 6
"""With this many marks the quick look at a small picture is enough."""

LEAST_MARKS = 2
"""A coded mark brings four points, so two fix a flat page."""

LOOKS = (
    (1000, (23,), False),
    (1000, (13, 23, 51), False),
    (2000, (13, 23, 51), False),
    (2000, (23, 51), True),
    (1_000_000, (23, 51), False),
)
"""How marks are looked for, one way after another until enough are found: the long side in pixels of the picture
looked at, the neighbourhoods in which ink is told from paper, and whether its contrast is stretched before."""

LEAST_OUTLINE_PX = 40
"""In a mark with a shorter outline its modules cannot be told apart."""


def find_marks(grey: Grey, dictionary: str) -> tuple[Mark, ...]:
    """The page marks in a photo, looked for on a small picture first and on finer ones only where few are found."""
    found: list[Mark] = []
    for side, windows, stretch in LOOKS:
        # A little over the side is as good as it, and a whole number quicker.
        shrink = max(1, int(max(grey.shape) / side + 0.25))
        small = shrunk_whole(grey, shrink)
        if stretch:
            small = cv2.createCLAHE(4.0, (8, 8)).apply(small)
        for seen in _marks_in(small, dictionary, windows):
            mark = seen.shrunk(1 / shrink)
            if not any(_same(mark, other) for other in found):
                found.append(mark)
        if len(found) >= ENOUGH_MARKS:
            break
    return tuple(replace(mark, corners=_refined(grey, mark.corners)) for mark in found)


def _marks_in(grey: Grey, dictionary: str, windows: tuple[int, ...]) -> list[Mark]:
    return [
        Mark(*divmod(mark_id, MARK_STEP), corners)
        for mark_id, corners in find_squares(grey, dictionary, _IDS, windows, LEAST_OUTLINE_PX)
    ]


_IDS = tuple(mark_id for mark_id in range(12 * MARK_STEP) if mark_id % MARK_STEP < MARK_VALUES)


def _same(one: Mark, other: Mark) -> bool:
    """Whether the same mark was found twice, on pictures of different fineness."""
    off = np.linalg.norm(one.corners.mean(axis=0) - other.corners.mean(axis=0))
    return bool(off < 0.5 * max(one.side, other.side))


def find_sheets(grey: Grey, form: Form) -> list[Marks]:
    """The marks of every sheet in a photo, the sheet with the most first; empty where there is none.

    Every form has its marks in the same places, so any will do as `form`.
    """
    return sheets_of(grey, find_marks(grey, form.dictionary), form)


def sheets_of(grey: Grey, found: tuple[Mark, ...], form: Form) -> list[Marks]:
    """As `find_sheets`, from the marks already found in the picture."""
    return [_completed(grey, marks, form) for marks in sheets_in(found, form)]


SOUGHT_MM = 22.0
SOUGHT_PX = 8.0
"""How far around its place a mark is looked for that the picture as a whole did not give, and at how many pixels a
millimetre."""


def _completed(grey: Grey, marks: Marks, form: Form) -> Marks:
    """The marks, with those missing looked for where the others say that they must be."""
    found = dict(marks)
    # Every mark found tells more exactly where the next must be.
    for _ in range(4):
        before = len(found)
        rough = rough_map(found, form) if before < len(form.markers) else None
        if rough is None:
            break
        for marker in form.markers:
            if marker.place in found or not rough.inside([marker.box.centre], grey)[0]:
                continue
            wide = rough.cells(marker.box.inset(-SOUGHT_MM))
            patch = rough.flatten(grey, wide, SOUGHT_PX)
            for mark in _marks_in(patch, form.dictionary, (23, 71)):
                if mark.place == marker.place:
                    page = (mark.corners + 0.5) / SOUGHT_PX + wide[:2]
                    found[mark.place] = replace(mark, corners=_refined(grey, rough.to_photo(page)))
        if len(found) == before:
            break
    return found


def sheets_in(found: tuple[Mark, ...], form: Form) -> list[Marks]:
    """The marks shared out among the sheets in the picture, the sheet with the most first."""
    sheets: list[Marks] = []
    left = list(found)
    while len(left) >= LEAST_MARKS:
        best = _of_one_sheet(left, form)
        # A stray mark or two beside a sheet are no second sheet.
        if len(best) < (LEAST_MARKS if not sheets else LEAST_MARKS + 1):
            break
        sheets.append({mark.place: mark for mark in best})
        left = [mark for mark in left if mark not in best]
    return sheets


def _of_one_sheet(found: list[Mark], form: Form) -> list[Mark]:
    """The most marks that lie on one page, each place once."""
    if len({mark.place for mark in found}) == len(found):
        everything = _agreeing(found, found, form, BENT_MM)
        if len(everything) >= 0.7 * len(found):
            return everything
    best: list[Mark] = []
    for pair in combinations(found, 2):
        if pair[0].place == pair[1].place:
            continue
        # Two marks tell the far side of a bent page only roughly.
        agreeing = _agreeing(list(pair), found, form, 3 * BENT_MM)
        if len(agreeing) > 2:
            agreeing = _agreeing(agreeing, found, form, BENT_MM)
        if len(agreeing) > len(best):
            best = agreeing
    return best


BENT_MM = 12.0
"""A bent page is several millimetres off any plane; a misread mark is off by a hand's breadth."""


def _agreeing(of: list[Mark], among: list[Mark], form: Form, within_mm: float) -> list[Mark]:
    """Those marks that a plane through some of them puts in their places, at the most one a place."""
    boxes = {marker.place: marker.box for marker in form.markers}
    page = np.concatenate([np.array(boxes[mark.place].corners) for mark in of])
    photo = np.concatenate([mark.corners for mark in of])
    scale = float(np.median([mark.side / boxes[mark.place].w for mark in of]))
    method = cv2.RANSAC if len(of) > 4 else 0
    plane, _ = cv2.findHomography(page, photo, method, 0.75 * BENT_MM * scale, maxIters=2000, confidence=0.999)
    if plane is None or not _sane(plane, form):
        return []
    nearest: dict[int, tuple[float, Mark]] = {}
    for mark in among:
        off = np.linalg.norm(_project(plane, np.array(boxes[mark.place].corners)) - mark.corners, axis=1).max()
        own = mark.side / boxes[mark.place].w
        if off < within_mm * own and off < nearest.get(mark.place, (np.inf,))[0]:
            nearest[mark.place] = (float(off), mark)
    return [mark for _, mark in nearest.values()]


def _refined(grey: Grey, quad: Points) -> Points:
    """The corners found on a small picture, made exact on the full one."""
    side = np.sqrt(abs(cv2.contourArea(quad.astype(np.float32))))
    # Half a module at the most: a wider window would take in the code inside the mark.
    window = int(np.clip(side / 6 * 0.7, 3, 15))
    corners = quad.astype(np.float32).reshape(-1, 1, 2).copy()
    height, width = grey.shape
    low = np.maximum(corners.reshape(-1, 2).min(axis=0).astype(int) - 4 * window, 0)
    high = np.minimum(corners.reshape(-1, 2).max(axis=0).astype(int) + 4 * window, (width, height))
    part = np.ascontiguousarray(grey[low[1] : high[1], low[0] : high[0]])
    local = corners - low.astype(np.float32)
    room = np.array(part.shape[::-1]) - 1
    # A mark cut by the picture's edge keeps the corners it was found with.
    if min(part.shape) < 4 * window + 6 or (local < 0).any() or (local > room).any():
        return quad
    done = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 30, 0.01)
    exact = cv2.cornerSubPix(part, local, (window, window), (-1, -1), done)
    moved = np.linalg.norm(exact - local, axis=2).ravel()
    exact = np.where((moved < 1.5 * window)[:, None, None], exact, local)
    return (exact + low.astype(np.float32)).reshape(4, 2).astype(np.float64)


def rough_map(marks: Marks, form: Form) -> PageMap | None:
    """Where the page lies by its marks alone: a plane through them and a thin plate for the bend.

    None where they are too few or do not hold together.
    """
    pairs = [(marker, marks[marker.place]) for marker in form.markers if marker.place in marks]
    if len(pairs) < LEAST_MARKS:
        return None
    page = np.concatenate([np.array(marker.box.corners) for marker, _ in pairs])
    photo = np.concatenate([mark.corners for _, mark in pairs])
    plane = _plane(page, photo, form)
    if plane is None:
        return None
    residual = photo - _project(plane, page)
    kept = np.concatenate(
        [_whole_corners(part, mark.side) for part, (_, mark) in zip(residual.reshape(-1, 4, 2), pairs, strict=True)]
    )
    if not kept.all():
        page, photo = page[kept], photo[kept]
        plane = _plane(page, photo, form)
        if plane is None:
            return None
        residual = photo - _project(plane, page)
    flat = plane
    bend = _thin_plate(page, residual, smoothing=2e-3) if len(pairs) >= 4 else np.zeros_like

    def mapping(points: Points) -> Points:
        return _project(flat, points) + bend(points)

    return _meshed(mapping, form)


def _plane(page: Points, photo: Points, form: Form) -> Points | None:
    """The plane on which the page's points come to lie in the photo as nearly as they can; None where no page does."""
    plane, _ = cv2.findHomography(page, photo, 0)
    return plane if plane is not None and _sane(plane, form) else None


def _whole_corners(residual: Points, side: float) -> npt.NDArray[np.bool_]:
    """Which of a mark's four corners are its own: one under a thumb is taken to be where the thumb's edge is.

    `residual` is how far each lies from where a plane page would have it; the bend moves them all alike.
    """
    kept = np.ones(4, dtype=bool)
    if np.linalg.norm(residual[0] - residual[1] + residual[2] - residual[3]) > CORNER_SHARE * side:
        kept[np.linalg.norm(residual - np.median(residual, axis=0), axis=1).argmax()] = False
    return kept


CORNER_SHARE = 0.07
"""By how much of a mark's side it may be out of square, as a plane page would show it."""


def fit_page(grey: Grey, marks: Marks, form: Form) -> Fit | None:
    """Where the page lies, from its marks and then its own printed lines; None where the marks do not hold together."""
    rough = rough_map(marks, form)
    if rough is None:
        return None
    # Lines need no more than some four pixels a millimetre, even where the page leads away from the camera.
    corners = [(x, y) for x in (0.0, form.page[0]) for y in (0.0, form.page[1])]
    by = max(1, int(min(rough.px_per_mm(corner) for corner in corners) / LINES_PX_PER_MM))
    small = {place: mark.shrunk(by) for place, mark in marks.items()}
    picture, start = shrunk_whole(grey, by), rough.shrunk(by)
    fit = snapped(picture, start, small, form)
    if untrusted_part(fit, picture, form) > BLURRED_PART:
        # In a blurred photo lines are wide and pale, and in a black and white scan they are rows of dots: softened, and
        # looked for as wide ones, both are found.
        soft = cv2.GaussianBlur(picture, (0, 0), SOFT_PX)
        wide = snapped(soft, start, small, form, broad=2)
        if untrusted_part(wide, picture, form) < untrusted_part(fit, picture, form):
            fit = wide
    return replace(fit, map=fit.map.shrunk(1 / by))


LINES_PX_PER_MM = 4.0

BLURRED_PART = 0.15
"""With more of the table than this in doubt, the photo may be blurred."""

SOFT_PX = 1.6
"""How much of a blur, in pixels of that picture, makes a line of a row of dots."""


def _project(homography: Points, points: Points) -> Points:
    return cv2.perspectiveTransform(np.asarray(points, dtype=np.float64).reshape(-1, 1, 2), homography).reshape(-1, 2)


def _sane(homography: Points, form: Form) -> bool:
    """Whether the whole page lies before the camera, unmirrored."""
    width, height = form.page
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float64)
    depth = np.column_stack([corners, np.ones(4)]) @ homography[2]
    if depth.min() * depth.max() <= 0 or abs(depth).max() > 20 * abs(depth).min():
        return False
    quad = _project(homography, corners).astype(np.float32)
    # y points down in the picture: a sheet seen from its front keeps the clockwise order.
    return cv2.contourArea(quad, oriented=True) > 0


def _meshed(mapping: Callable[[Points], Points], form: Form) -> PageMap:
    margin = 2 * MESH_MM
    width, height = form.page
    xs = np.arange(int(width / MESH_MM) + 6) * MESH_MM - margin
    ys = np.arange(int(height / MESH_MM) + 6) * MESH_MM - margin
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return PageMap(mapping(grid).reshape(len(ys), len(xs), 2).astype(np.float32), margin)


def _thin_plate(at: Points, value: Points, smoothing: float) -> Callable[[Points], Points]:
    """The smoothest sheet through the values (n, 2) at points (n, 2); `smoothing` lets it miss noisy ones a little."""
    middle, unit = at.mean(axis=0), float(np.abs(at - at.mean(axis=0)).max())
    known = (at - middle) / unit

    def kernel(a: Points, b: Points) -> Points:
        square = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
        return 0.5 * square * np.log(np.maximum(square, 1e-12))

    n = len(known)
    flat = np.column_stack([np.ones(n), known])
    system = np.zeros((n + 3, n + 3))
    system[:n, :n] = kernel(known, known) + smoothing * np.eye(n)
    system[:n, n:], system[n:, :n] = flat, flat.T
    weights = np.linalg.solve(system, np.vstack([value, np.zeros((3, 2))]))

    def at_points(points: Points) -> Points:
        wanted = (points - middle) / unit
        # Half the digits are plenty here, at a third of the time: there are thousands of points.
        square = np.zeros((len(wanted), n), np.float32)
        for axis in (0, 1):
            away = wanted[:, axis, None].astype(np.float32) - known[:, axis].astype(np.float32)
            square += away * away
        bent = square * np.log(np.maximum(square, np.float32(1e-12)))
        plain = np.column_stack([np.ones(len(wanted)), wanted]) @ weights[n:]
        return plain + bent @ (0.5 * weights[:n]).astype(np.float32)

    return at_points
