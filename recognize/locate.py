"""Finding the sheet: the coded marks along its edges, then where every millimetre of the page lies in the photo."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import cv2
import numpy as np
import numpy.typing as npt

from recognize.photo import Grey
from recognize.squares import find_squares
from templates import MARK_STEP, MARK_VALUES, Box, Form

Points = npt.NDArray[np.float64]
"""Points, (n, 2), x before y."""

ENOUGH_MARKS = 6
"""With this many marks the quick look at a small picture is enough."""

LEAST_MARKS = 2
"""A coded mark brings four points, so two fix a flat page."""

MESH_MM = 3.0
"""The spacing of the mesh on which a page map is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A page mark found: its place on the page, its value, its corners (4, 2) clockwise from its own top left."""

    place: int
    value: int
    corners: Points

    def shrunk(self, by: float) -> "Mark":
        """The same mark in the photo shrunk `by` times."""
        return replace(self, corners=(self.corners + 0.5) / by - 0.5)

    @property
    def side(self) -> float:
        """Its side in photo pixels, as the root of its area."""
        return float(np.sqrt(abs(cv2.contourArea(self.corners.astype(np.float32)))))


Marks = Mapping[int, Mark]
"""The marks of one sheet, by place."""


@dataclass(frozen=True, slots=True)
class PageMap:
    """Where the page lies in the photo: a mesh of photo pixels over page millimetres.

    `mesh` is (rows, columns, 2): the photo pixel (x, y) of the page point (column, row) * MESH_MM - margin.
    """

    mesh: npt.NDArray[np.float32]
    margin: float

    def to_photo(self, points_mm: npt.ArrayLike) -> Points:
        """Page millimetres (n, 2) -> photo pixels (n, 2), pixel centres at whole numbers."""
        return self.around(points_mm)[0]

    def around(self, points_mm: npt.ArrayLike) -> tuple[Points, Points, Points]:
        """Page millimetres (n, 2) -> photo pixels, and where a millimetre across and one down lead: (n, 2) each."""
        rows, columns = self.mesh.shape[:2]
        at = (np.asarray(points_mm, dtype=np.float64).reshape(-1, 2) + self.margin) / MESH_MM
        at = np.clip(at, 0, (columns - 1, rows - 1))
        cell = np.minimum(at.astype(np.int64), (columns - 2, rows - 2))
        # By hand: OpenCV knows but thirty-two places between two nodes, and those lie half a pixel apart.
        across, down = (at - cell).T
        first = cell[:, 1] * columns + cell[:, 0]
        found = np.empty((3, len(at), 2))
        for axis in (0, 1):
            nodes = self.mesh[..., axis].ravel()
            a, c = nodes[first].astype(np.float64), nodes[first + columns].astype(np.float64)
            above, below = nodes[first + 1] - a, nodes[first + columns + 1] - c
            found[1, :, axis] = (above + (below - above) * down) / MESH_MM
            found[2, :, axis] = (c - a + (below - above) * across) / MESH_MM
            found[0, :, axis] = a + above * across + found[2, :, axis] * (MESH_MM * down)
        return found[0], found[1], found[2]

    def flatten(self, grey: Grey, box: tuple[float, float, float, float], px_per_mm: float) -> Grey:
        """The page part `box` (x, y, w, h in millimetres) seen from straight above, at `px_per_mm`.

        What lies outside the photo comes out white; `inside` tells it from paper.
        """
        x, y, w, h = box
        # Sampling a fine photo coarsely would alias the thin lines: shrink it first.
        fine = self.px_per_mm((x + w / 2, y + h / 2))
        shrink = max(1, int(fine / px_per_mm))
        maps = self.shrunk(shrink)._pixel_maps(box, px_per_mm)
        grey = shrunk_whole(grey, shrink)
        return cv2.remap(grey, maps, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255)

    def shrunk(self, by: float) -> "PageMap":
        """The same page in the photo shrunk `by` times (enlarged where that is below 1)."""
        return PageMap(((self.mesh + 0.5) / by - 0.5).astype(np.float32), self.margin)

    def _pixel_maps(self, box: tuple[float, float, float, float], px_per_mm: float) -> npt.NDArray[np.float32]:
        """The photo pixel of every pixel of a flattened part, (height, width, 2)."""
        x, y, w, h = box
        width, height = round(w * px_per_mm), round(h * px_per_mm)
        times = px_per_mm * MESH_MM
        left, top = (x + self.margin) / MESH_MM, (y + self.margin) / MESH_MM
        if times % 2 == 0 and left % 1 == 0 and top % 1 == 0 and min(left, top) >= 0:
            # From a node of the mesh on, and an even number of pixels a cell: blown up in one go, and exactly.
            across, down = -(-width // int(times)) + 1, -(-height // int(times)) + 1
            part = self.mesh[int(top) : int(top) + down, int(left) : int(left) + across]
            if part.shape[:2] == (down, across):
                blown = cv2.resize(part, None, fx=times, fy=times, interpolation=cv2.INTER_LINEAR)
                half = int(times) // 2
                return np.asarray(blown[half : half + height, half : half + width])
        columns, rows = x + (np.arange(width) + 0.5) / px_per_mm, y + (np.arange(height) + 0.5) / px_per_mm
        points = np.stack(np.meshgrid(columns, rows), axis=-1)
        return self.to_photo(points).reshape(height, width, 2).astype(np.float32)

    def cells(self, box: Box) -> tuple[float, float, float, float]:
        """The mesh's cells that hold a box: (x, y, w, h) in millimetres; what lies beyond the mesh is left out."""
        rows, columns = self.mesh.shape[:2]
        low = np.floor((np.array([box.x, box.y]) + self.margin) / MESH_MM).clip(0, (columns - 1, rows - 1))
        high = np.ceil((np.array([box.x + box.w, box.y + box.h]) + self.margin) / MESH_MM).clip(
            0, (columns - 1, rows - 1)
        )
        x, y = low * MESH_MM - self.margin
        w, h = (high - low) * MESH_MM
        return float(x), float(y), float(w), float(h)

    def inside(self, points_mm: npt.ArrayLike, grey: Grey) -> npt.NDArray[np.bool_]:
        """Which of the page points (n, 2) lie within the photo."""
        return _within(self.to_photo(points_mm), grey)

    def nodes_inside(self, grey: Grey) -> npt.NDArray[np.bool_]:
        """Which nodes of the mesh lie within the photo, (rows, columns)."""
        return _within(self.mesh, grey)

    def px_per_mm(self, at_mm: tuple[float, float]) -> float:
        """How many photo pixels a page millimetre has at a point: the geometric mean over directions."""
        x, y = at_mm
        a, b, c = self.to_photo([(x - 1, y - 1), (x + 1, y - 1), (x - 1, y + 1)])
        u, v = (b - a) / 2, (c - a) / 2
        return float(np.sqrt(abs(u[0] * v[1] - u[1] * v[0])))


def _within(at: npt.NDArray, grey: Grey) -> npt.NDArray[np.bool_]:
    height, width = grey.shape
    x, y = at[..., 0], at[..., 1]
    return (x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)


@dataclass(frozen=True, slots=True)
class Fit:
    """A page map with what speaks for it.

    `on_line` is the share of the printed lines' samples within the photo that lie within `ON_LINE_MM` of where the map
    puts them. `trusted` tells of every node of the map's mesh whether the lines around it are where they should be, all
    the way from a page mark that agrees: a region caught on the neighbouring row is cut off from the marks by lines
    that do not fit.
    """

    map: PageMap
    on_line: float
    trusted: npt.NDArray[np.bool_]

    def sure(self, points_mm: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which of the page points (n, 2) have their place for sure."""
        nodes = np.rint((np.asarray(points_mm, dtype=np.float64) + self.map.margin) / MESH_MM).astype(int)
        rows, columns = self.trusted.shape
        return self.trusted[np.clip(nodes[:, 1], 0, rows - 1), np.clip(nodes[:, 0], 0, columns - 1)]


ON_LINE_MM = 0.4
"""A line found this near to its place counts as found."""

TRUSTED_SHARE = (0.5, 0.6)
"""Where fewer of the lines around are found, down the page and across it, the place is not sure.

Columns are of many widths and not easily taken for one another; rows are all alike.
"""

NEAR_SPREAD_MM = ((8.0, 8.0), (12.0, 5.0))
FAR_SPREAD_MM = 25.0
"""How far around lines count, across and down the page, for the lines down the page and for those across it.

Where a map slides to the next row, it is off by half a row only for a short way down the page.
"""

MARK_AGREES_MM = 2.2
"""A mark this near to where the lines put it agrees with them; a map a row off disagrees by three times as much."""


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


def shrunk_whole(grey: Grey, by: int) -> Grey:
    """The picture a whole number of times smaller; what is left over at its right and lower edge goes."""
    while by % 2 == 0:
        # Halving is much the quickest, and on large pictures several times quicker than all at once.
        grey = cv2.resize(
            grey[: grey.shape[0] // 2 * 2, : grey.shape[1] // 2 * 2], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA
        )
        by //= 2
    if by == 1:
        return grey
    height, width = grey.shape[0] // by, grey.shape[1] // by
    return cv2.resize(grey[: height * by, : width * by], (width, height), interpolation=cv2.INTER_AREA)


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
    fit = _snapped(picture, start, small, form)
    if _untrusted_part(fit, picture, form) > BLURRED_PART:
        # In a blurred photo lines are wide and pale, and in a black and white scan they are rows of dots: softened, and
        # looked for as wide ones, both are found.
        soft = cv2.GaussianBlur(picture, (0, 0), SOFT_PX)
        wide = _snapped(soft, start, small, form, broad=2)
        if _untrusted_part(wide, picture, form) < _untrusted_part(fit, picture, form):
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


# --- the page's own lines -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Samples:
    """Points along the printed lines.

    `at` is where they are (n, 2), `across` the axis across the line (n,), 0 = x, 1 = y. `along` is how far (mm) it
    is looked at on either side of the point (n,). `beside` holds, before and after the line, how far (mm) a mark box's
    own outline runs along it, or 0 (n, 2): the three are looked for together.
    """

    at: Points
    across: npt.NDArray[np.int64]
    along: Points
    beside: Points

    def only(self, which: npt.NDArray | slice) -> "_Samples":
        """Some of them."""
        return _Samples(self.at[which], self.across[which], self.along[which], self.beside[which])


_SAMPLES: dict[int, tuple[Form, _Samples]] = {}


def _line_samples(form: Form) -> _Samples:
    """Points every few millimetres along the rules, away from crossings."""
    # By the object itself: to compare a form with another, all its thousand fields would be gone through.
    if id(form) not in _SAMPLES:
        _SAMPLES[id(form)] = form, _sampled_lines(form)
    return _SAMPLES[id(form)][1]


def _sampled_lines(form: Form) -> _Samples:
    boxes = [f.box for f in form.fields if f.kind == "mark"]
    left, right = min(b.x for b in boxes) - 1.0, max(b.x + b.w for b in boxes) + 1.0
    mark_columns = sorted({round(b.centre[0], 3) for b in boxes})
    edges = np.array(sorted({round(y, 3) for b in boxes for y in (b.y, b.y + b.h)}))
    heads = min(f.box.y for f in form.fields if f.deal == 0)
    xs = sorted({r.at for r in form.rules if not r.horizontal})
    ys = sorted({r.at for r in form.rules if r.horizontal})
    found: list[tuple[float, float, int, float, float, float]] = []
    for rule in form.rules:
        if rule.horizontal:
            stretches = [(a, b) for a, b in zip(xs, xs[1:], strict=False) if b - a > 3.0]
            stretches = [(a, b) for a, b in stretches if rule.start < (a + b) / 2 < rule.stop]
            stretches = [(a, b) for a, b in stretches if not left < (a + b) / 2 < right]
            if rule.at < heads - 1e-6:
                # Names and headings stand below and above the lines up there.
                stretches = [(a, b) for a, b in stretches if rule.role == "frame" and (a + b) / 2 > right]
            found += [((a + b) / 2, rule.at, 1, min(ALONG * (b - a), 2.7), 0.0, 0.0) for a, b in stretches]
            gaps = edges - rule.at
            before, after = -gaps[(gaps < 0) & (gaps > -2.5)], gaps[(gaps > 0) & (gaps < 2.5)]
            beside = (before.min() if len(before) else 0.0, after.min() if len(after) else 0.0)
            if any(beside):
                found += [(x, rule.at, 1, ALONG_BOX_MM, *beside) for x in mark_columns]
        elif rule.role != "light" or not left < rule.at < right:
            stretches = [(a, b) for a, b in zip(ys, ys[1:], strict=False) if a > heads - 2.0]
            found += [(rule.at, (a + b) / 2, 0, ALONG * (b - a), 0.0, 0.0) for a, b in stretches]
    for box in boxes:
        # Where mark boxes stand close together for a long way there is no upright rule, but their own sides.
        if min(abs(box.x - x) for x in xs) > FAR_FROM_RULES_MM:
            gap = min(box.x - b.x - b.w for b in boxes if b.y == box.y and b.x < box.x)
            found.append((box.x, box.centre[1], 0, ALONG_BOX_MM, gap, box.w))
    table = np.array(found)
    return _Samples(table[:, :2].copy(), table[:, 2].astype(int), table[:, 3].copy(), table[:, 4:].copy())


ALONG = 0.41
"""How much of the way between two rules that cross it a rule is looked at, on either side of the middle: it goes on all
the way, while figures leave gaps where the next row begins."""

ALONG_BOX_MM = 1.3
"""How far a mark box's outline is looked at on either side of its middle."""

FAR_FROM_RULES_MM = 9.0


def _profiles(grey: Grey, page_map: PageMap, samples: _Samples, offsets: npt.NDArray[np.float64]) -> Grey:
    """The picture along a short way across each line, at five places along it: (5, n, offsets) grey."""
    steps = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], np.float32)
    # So near to its middle the page is as good as flat.
    middle, right, below = page_map.around(samples.at)
    upright = samples.across == 0
    maps = []
    for axis in (0, 1):
        across = np.where(upright, right[:, axis], below[:, axis]).astype(np.float32)
        along = (np.where(upright, below[:, axis], right[:, axis]) * samples.along).astype(np.float32)
        starts = middle[:, axis].astype(np.float32) + steps[:, None] * along
        at = starts[:, :, None] + across[:, None] * offsets.astype(np.float32)
        maps.append(at.reshape(-1, len(offsets)))
    seen = cv2.remap(grey, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen.reshape(len(steps), -1, len(offsets)))


def _second_lightest(pictures: Grey) -> Grey:
    lightest, second = np.maximum(pictures[0], pictures[1]), np.minimum(pictures[0], pictures[1])
    for picture in pictures[2:]:
        second = np.maximum(second, np.minimum(lightest, picture))
        lightest = np.maximum(lightest, picture)
    return second


Offsets = tuple[Points, Points, Points, npt.NDArray[np.bool_]]


def _line_offsets(
    grey: Grey, page_map: PageMap, samples: _Samples, reach: float, step: float = 0.1, broad: int = 1
) -> Offsets:
    """How far off (mm, up to `reach`) each line lies, and how much it stands out there (0 … 1 of the paper).

    And how much a line stands out within `ON_LINE_MM` of where the map puts it, whatever else there is; and whether
    there is a good deal of ink some way off on either side (told only of lines beside mark boxes).
    """
    n = len(samples.at)
    found: Offsets = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    # By how far around there is to look: what is sampled together is sampled equally wide.
    groups = np.where(samples.beside.any(axis=1), 2 - samples.across, 0)
    for pick in (np.flatnonzero(groups == group) for group in range(3)):
        if len(pick):
            for whole, part in zip(
                found, _offsets(grey, page_map, samples.only(pick), reach, step, broad), strict=True
            ):
                whole[pick] = part
    return found


def _offsets(grey: Grey, page_map: PageMap, samples: _Samples, reach: float, step: float, broad: int) -> Offsets:
    half = max(1, round(0.2 * broad / step))
    wide = max(half + 1, round(0.75 * broad / step))
    pad = max(wide, int(np.ceil(samples.beside.max() / step))) + 1
    steps = int(round(reach / step))
    offsets = np.asarray(np.arange(-steps - pad, steps + pad + 1) * step, dtype=np.float64)
    places = _profiles(grey, page_map, samples, offsets)
    # What is seen all along a stretch of the line, in the lightest of the places: no stroke that is shorter counts. The
    # outlines of mark boxes are short and pale, and there the second lightest does better.
    profiles = _second_lightest(places) if samples.beside.any() else places.max(axis=0)
    rank = int(0.8 * profiles.shape[1])
    paper = np.maximum(np.partition(profiles, rank, axis=1)[:, rank : rank + 1], 1).astype(np.float32)
    ink = 1 - profiles / paper
    narrow = cv2.blur(ink, (2 * half + 1, 1), borderType=cv2.BORDER_REFLECT)
    around = cv2.blur(ink, (2 * wide + 1, 1), borderType=cv2.BORDER_REFLECT)
    line = narrow - around
    score = line[:, pad:-pad].copy()
    shifts = np.rint(samples.beside / step).astype(int)
    for side, sign in ((0, -1), (1, 1)):
        for shift in np.unique(shifts[:, side]):
            if shift:
                rows = shifts[:, side] == shift
                start = pad + sign * shift
                score[rows] += 0.5 * line[rows, start : start + score.shape[1]]
    # Where a figure stands across a line, the line is still there, though not the darkest thing around.
    near = int(ON_LINE_MM / step)
    here = score[:, steps - near : steps + near + 1].max(axis=1)
    best = score.argmax(axis=1)
    rows = np.arange(len(best))
    inner = np.clip(best, 1, score.shape[1] - 2)
    a, b, c = (score[rows, inner + d].astype(np.float64) for d in (-1, 0, 1))
    bend = a - 2 * b + c
    shift = np.where(np.abs(bend) > 1e-9, 0.5 * (a - c) / np.where(np.abs(bend) > 1e-9, bend, 1.0), 0.0)
    crossed = np.zeros(len(best), dtype=bool)
    if samples.beside.any():
        away = np.abs(offsets)
        for side in (-1, 1):
            beyond = (np.sign(offsets) == side) & (away > 2.3) & (away < 4.3)
            if beyond.any():
                crossed |= 1 - places[:, :, beyond].mean(axis=(0, 2)) / paper[:, 0] > CROSSED
    return (inner - steps + np.clip(shift, -1, 1)) * step, line[rows, pad + best], here, crossed


def plainest_lines(grey: Grey, marks: Marks, form: Form) -> float:
    """How much the plainest tenth of the printed lines stands out from the paper (0 to 1) near to their places."""
    rough = rough_map(marks, form)
    if rough is None:
        return 0.0
    samples = _line_samples(form)
    samples = samples.only(rough.inside(samples.at, grey))
    return float(np.percentile(_line_offsets(grey, rough, samples, REACH_MM)[1], 90)) if len(samples.at) else 0.0


CROSSED = 0.06
"""A box that is so much darker than the paper in its middle has been crossed, ticked or filled."""

CROSSED_COUNTS = 0.75
"""How much a line that is not found beside such a box counts, of one that is not found elsewhere."""

LINE_CONTRAST = 0.02
"""A line that stands out less than this from its surroundings is not seen."""


RIVAL = 0.8
"""With less of the contrast of what stands out most nearby, or of a usual line, something is not the line there."""


def _snapped(grey: Grey, rough: PageMap, marks: Marks, form: Form, broad: int = 1) -> Fit:
    page_map = rough
    samples = _line_samples(form)
    # A polynomial has few coefficients: a third of the samples is plenty for it.
    some = samples.only(slice(None, None, 3))

    def found(page_map: PageMap, samples: _Samples, reach: float) -> tuple[Points, npt.NDArray[np.bool_]]:
        off, contrast, _, _ = _line_offsets(grey, page_map, samples, reach, broad=broad)
        return off, (contrast > LINE_CONTRAST) & page_map.inside(samples.at, grey)

    def judged(page_map: PageMap) -> Fit:
        off, contrast, here, crossed = _line_offsets(grey, page_map, samples, REACH_MM, broad=broad)
        inside = page_map.inside(samples.at, grey)
        least = max(LINE_CONTRAST, 0.4 * float(np.median(contrast)))
        # Among the mark boxes some line is always near: there the right one must stand out most.
        among_marks = samples.beside.any(axis=1)
        # Elsewhere a figure may stand out more than the line does; but where the line itself stands out as others do
        # and lies beside the place, what is in the place is none.
        usual = float(np.median(contrast[inside & ~among_marks])) if (inside & ~among_marks).any() else 0.0
        rivalled = among_marks | (here < RIVAL * np.minimum(contrast, usual))
        good = inside & (here > least) & (~rivalled | (np.abs(off) < ON_LINE_MM))
        share = float(good[inside].mean()) if inside.any() else 0.0
        # Beside a box that is crossed or filled, which line stands out says less. But not nothing: many such boxes
        # would leave no witness against a map that slides, over them, to the next row.
        counted = np.where(among_marks & crossed & ~good, CROSSED_COUNTS, 1.0)
        trusted = _trusted(page_map, grey, form, samples, good, counted, marks) & _smooth(page_map, rough)
        return Fit(page_map, share, trusted)

    width, height = form.page
    px_per_mm = page_map.px_per_mm((width / 2, height / 2))
    in_table = _in_table(form, _mesh_points(page_map))

    def settled(page_map: PageMap) -> PageMap:
        """The map eased until hardly anything moves: every smoothing leaves a part of a sharp bend behind."""
        for _ in range(SETTLINGS):
            before, page_map = page_map, _eased(page_map, samples, *found(page_map, samples, 0.9), 11.0)
            moved = np.linalg.norm(page_map.mesh - before.mesh, axis=2).ravel()[in_table]
            if moved.max() < SETTLED_MM * px_per_mm:
                break
        return page_map

    off, seen = found(page_map, some, REACH_MM)
    fit = None
    if seen.mean() > 0.8 and np.percentile(np.abs(off[seen]), 90) < NEAR_MM:
        # The marks alone put nearly every line where it is: nothing is left but to settle.
        fit = judged(settled(_eased(page_map, samples, *found(page_map, samples, 0.9), 15.0)))
    if fit is None or _untrusted_part(fit, grey, form) > 0.04:
        page_map = _corrected(page_map, form, some, off, seen, 2, REACH_MM)
        for reach, degree in ((1.6, 4), (0.9, 5)):
            page_map = _corrected(page_map, form, some, *found(page_map, some, reach), degree, reach)
        for reach, spread in ((1.6, 22.0), (1.2, 15.0)):
            page_map = _eased(page_map, samples, *found(page_map, samples, reach), spread)
        fit = judged(settled(page_map))
    # Where a strong bend left a part behind, the map grows into it from the part that is right.
    for growth in range(GROWTHS + 1):
        missing = _untrusted_part(fit, grey, form)
        if missing < 0.01 or not fit.trusted.any() or growth == GROWTHS:
            break
        page_map = _grown(fit, rough, grey, form)
        for reach, spread in ((1.6, 15.0), (0.9, 11.0)):
            page_map = _eased(page_map, samples, *found(page_map, samples, reach), spread)
        grown = judged(page_map)
        if _untrusted_part(grown, grey, form) > missing - 0.002:
            break
        fit = grown
    return judged(settled(fit.map)) if growth else fit


REACH_MM = 2.9
"""How far a line is looked for at first: less than half a row, so that it is not the neighbour's."""

NEAR_MM = 0.5
"""Where nearly all lines lie this near to where the marks put them, no polynomial is needed to find them."""

SETTLINGS = 4
SETTLED_MM = 0.12
"""How often the map is eased at the most, and the largest movement that counts as none."""

GROWTHS = 8


def _mesh_points(page_map: PageMap) -> Points:
    """The page millimetres of every node of the mesh, (rows * columns, 2)."""
    rows, columns = page_map.mesh.shape[:2]
    nodes = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    return np.asarray(nodes * MESH_MM - page_map.margin, dtype=np.float64)


def _in_table(form: Form, points: Points) -> npt.NDArray[np.bool_]:
    low, high = _extent(form)
    return np.all((points >= low - MESH_MM) & (points <= high + MESH_MM), axis=1)


def _extent(form: Form) -> tuple[Points, Points]:
    """The top left and bottom right corners of the table."""
    low = np.array([form.frame.x, form.frame.y])
    return low, low + np.array([form.frame.w, form.frame.h])


def _untrusted_part(fit: Fit, grey: Grey, form: Form) -> float:
    """The share of the table in the photo whose place is not sure."""
    nodes = _mesh_points(fit.map)
    here = _in_table(form, nodes) & fit.map.nodes_inside(grey).ravel()
    return float(1 - fit.trusted.ravel()[here].mean()) if here.any() else 0.0


def _trusted(
    page_map: PageMap,
    grey: Grey,
    form: Form,
    samples: _Samples,
    good: npt.NDArray[np.bool_],
    counted: Points,
    marks: Marks,
) -> npt.NDArray[np.bool_]:
    """Which nodes of the mesh lie among lines that are where they should be, in one piece with a mark that agrees."""
    shape = page_map.mesh.shape[:2]
    node = np.rint((samples.at + page_map.margin) / MESH_MM).astype(int)
    fits = np.ones(shape, dtype=bool)
    for axis in (0, 1):
        pick = samples.across == axis
        lines = np.zeros((*shape, 2), np.float32)
        np.add.at(lines, (node[pick, 1], node[pick, 0]), np.column_stack([good[pick], counted[pick]]))
        # Near lines count, and far ones only where there are no near ones.
        wide, high = NEAR_SPREAD_MM[axis]
        near = cv2.GaussianBlur(lines, (0, 0), wide / MESH_MM, sigmaY=high / MESH_MM)
        far = cv2.GaussianBlur(lines, (0, 0), FAR_SPREAD_MM / MESH_MM)
        share = near + np.float32(0.02) * far
        fits &= share[..., 0] >= TRUSTED_SHARE[axis] * np.maximum(share[..., 1], 1e-12)
    nodes = _mesh_points(page_map)
    table = _in_table(form, nodes)
    inside = page_map.nodes_inside(grey)
    fits &= table.reshape(shape) & inside & _within_frame(page_map, grey, form, samples, good, counted)
    _, parts = cv2.connectedComponents(fits.astype(np.uint8), connectivity=4)
    x, y = nodes.reshape(*shape, 2)[0, :, 0], nodes.reshape(*shape, 2)[:, :1, 1]
    held = set()
    for marker in form.markers:
        mark = marks.get(marker.place)
        if mark is None:
            continue
        off = np.linalg.norm(page_map.to_photo(marker.box.corners) - mark.corners, axis=1).mean()
        if off > MARK_AGREES_MM * mark.side / marker.box.w:
            continue
        middle = marker.box.centre
        held |= set(np.unique(parts[(x - middle[0]) ** 2 + (y - middle[1]) ** 2 < 17.0**2])) - {0}
    trusted = np.isin(parts, list(held))
    # The strips round the table have no lines of their own: they go with the table's edge.
    held_in = np.clip(nodes, *_extent(form))
    inner = np.rint((held_in + page_map.margin) / MESH_MM).astype(int)
    return trusted[inner[:, 1], inner[:, 0]].reshape(shape) & inside


def _within_frame(
    page_map: PageMap, grey: Grey, form: Form, samples: _Samples, good: npt.NDArray[np.bool_], counted: Points
) -> npt.NDArray[np.bool_]:
    """Which nodes of the mesh are not near to a stretch of the table's frame that should be in sight and is not there.

    Inside the table a map that is one row or box off finds line after line; at the frame it finds none.
    """
    shape = page_map.mesh.shape[:2]
    nodes = _mesh_points(page_map).reshape(*shape, 2)
    held = np.ones(shape, dtype=bool)
    inside = page_map.inside(samples.at, grey)
    low, high = _extent(form)
    for across, edge in ((0, low[0]), (0, high[0]), (1, low[1]), (1, high[1])):
        on_edge = (samples.across == across) & (np.abs(samples.at[:, across] - edge) < 0.01) & inside
        if not on_edge.any():
            continue
        along = nodes[:, 0, 1] if across == 0 else nodes[0, :, 0]
        away = (along[:, None] - samples.at[on_edge, 1 - across]) / FRAME_SPREAD_MM
        weight = np.exp(-0.5 * away**2) * counted[on_edge]
        lost = (weight @ good[on_edge] < 0.55 * weight.sum(axis=1)) & (weight.sum(axis=1) > 0.5)
        near = np.abs(nodes[..., across] - edge) < FRAME_REACH_MM
        held &= ~(near & (lost[:, None] if across == 0 else lost))
    return held


FRAME_SPREAD_MM = 8.0
FRAME_REACH_MM = 45.0
"""Along how much of the frame it must be found, and how far into the table it answers for the place."""


def _smooth(page_map: PageMap, rough: PageMap) -> npt.NDArray[np.bool_]:
    """Which nodes of the mesh lie among cells hardly stretched or turned beside what the marks alone say of them.

    Paper bends, but it does not stretch, and even a crease turns a cell but little more than the marks foresaw; a map
    caught on lines that are none runs through folds.
    """
    torn = np.zeros(page_map.mesh.shape[:2], np.uint8)
    for axis in (0, 1):
        cells, foreseen = np.diff(page_map.mesh, axis=axis), np.diff(rough.mesh, axis=axis)
        off = np.linalg.norm(cells - foreseen, axis=2) > MOST_STRETCH * np.linalg.norm(foreseen, axis=2)
        torn[: off.shape[0], : off.shape[1]] |= off
    return cv2.dilate(torn, np.ones((5, 5), np.uint8)) == 0


MOST_STRETCH = 0.25
"""Right maps of the hardest photos come to 0.15."""


def _grown(fit: Fit, rough: PageMap, grey: Grey, form: Form) -> PageMap:
    """The map with its untrusted nodes where the trusted ones nearby, carried on smoothly, would put them.

    What is carried on is how far they lie from where the marks alone put them: that stays near to the marks.
    """
    moved = fit.map.mesh.astype(np.float64) - rough.mesh
    mesh = fit.map.mesh.copy()
    inside = _in_table(form, _mesh_points(fit.map)).reshape(fit.trusted.shape) & fit.map.nodes_inside(grey)
    # A node beside the photo or the table still holds the corner of a cell that is inside.
    wanted = cv2.dilate(inside.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    lost = (~fit.trusted).astype(np.uint8)
    away = cv2.distanceTransform(lost, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) * MESH_MM
    ridge = np.diag([1e-6, 1e-6, 1e-6, 0.05, 0.05, 0.05])
    for row, column in np.argwhere(~fit.trusted & wanted):
        reach = max(float(away[row, column]) + 24.0, 30.0)
        cells = int(reach / MESH_MM) + 1
        first = max(row - cells, 0), max(column - cells, 0)
        window = slice(first[0], row + cells + 1), slice(first[1], column + cells + 1)
        known = np.argwhere(fit.trusted[window])
        y, x = ((known + first - (row, column)) * (MESH_MM / reach)).T
        near = x * x + y * y < 1
        x, y = x[near], y[near]
        away_from_marks = moved[window][known[near, 0], known[near, 1]]
        terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y])
        weighted = terms * np.exp(-3 * (x * x + y * y))
        solution = np.linalg.solve(weighted @ terms.T + ridge, weighted @ away_from_marks)
        mesh[row, column] = rough.mesh[row, column] + solution[0]
    return PageMap(mesh, fit.map.margin)


def _corrected(
    page_map: PageMap,
    form: Form,
    samples: _Samples,
    off: Points,
    seen: npt.NDArray[np.bool_],
    degree: int,
    reach: float,
) -> PageMap:
    """The map moved so that the lines fall on their places, by a smooth polynomial fitted without the outliers."""
    width, height = form.page
    margin = page_map.margin
    rows, columns = page_map.mesh.shape[:2]
    grid = _mesh_points(page_map)
    moved = grid.copy()
    # Outside the table there are no lines to hold a polynomial: it goes on there as at the table's edge.
    held = np.clip(grid, *_extent(form))
    for axis in (0, 1):
        pick = (samples.across == axis) & seen
        if pick.sum() < 60:
            continue
        terms = _polynomial(samples.at[pick], degree, width, height)
        value = off[pick]
        weight = np.ones(len(value))
        solution = np.zeros(terms.shape[1])
        ridge = 1e-3 * np.eye(terms.shape[1])
        for _ in range(8):
            weighted = terms * weight[:, None]
            solution = np.linalg.solve(weighted.T @ terms + ridge, weighted.T @ value)
            residual = value - terms @ solution
            spread = max(0.08, 1.5 * float(np.median(np.abs(residual))))
            weight = 1.0 / (1.0 + (residual / spread) ** 2) ** 2
        moved[:, axis] += np.clip(_polynomial(held, degree, width, height) @ solution, -reach, reach)
    return PageMap(page_map.to_photo(moved).reshape(rows, columns, 2).astype(np.float32), margin)


def _eased(page_map: PageMap, samples: _Samples, off: Points, seen: npt.NDArray[np.bool_], spread: float) -> PageMap:
    """The map moved place by place by what the lines within `spread` millimetres say, where no polynomial follows."""
    rows, columns = page_map.mesh.shape[:2]
    moved = _mesh_points(page_map)
    node = np.rint((samples.at + page_map.margin) / MESH_MM).astype(int)
    for axis in (0, 1):
        pick = (samples.across == axis) & seen
        weight = np.ones(int(pick.sum()))
        drawn = np.zeros((rows, columns))
        for _ in range(3):
            total, count = np.zeros((rows, columns)), np.zeros((rows, columns))
            np.add.at(total, (node[pick, 1], node[pick, 0]), weight * off[pick])
            np.add.at(count, (node[pick, 1], node[pick, 0]), weight)
            total, count = (cv2.GaussianBlur(a, (0, 0), spread / MESH_MM) for a in (total, count))
            # Far from any line seen, nothing moves.
            drawn = total / (count + 0.02)
            residual = off[pick] - drawn[node[pick, 1], node[pick, 0]]
            weight = 1.0 / (1.0 + (residual / 0.4) ** 2) ** 2
        moved[:, axis] += drawn.ravel()
    return PageMap(page_map.to_photo(moved).reshape(rows, columns, 2).astype(np.float32), page_map.margin)


def _polynomial(points: Points, degree: int, width: float, height: float) -> Points:
    x, y = points[:, 0] / width * 2 - 1, points[:, 1] / height * 2 - 1
    powers = [np.ones_like(x)], [np.ones_like(y)]
    for known, value in zip(powers, (x, y), strict=True):
        for _ in range(degree):
            known.append(known[-1] * value)
    return np.stack([powers[0][i] * powers[1][j] for i in range(degree + 1) for j in range(degree + 1 - i)], axis=1)
