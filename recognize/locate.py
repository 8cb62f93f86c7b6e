"""Finding the sheet: the coded marks along its edges, then where every millimetre of the page lies in the photo."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from recognize.photo import Grey
from templates import Form

Points = npt.NDArray[np.float64]
"""Points, (n, 2), x before y."""

ENOUGH_MARKS = 6
"""With this many marks the quick look at a small picture is enough."""

LEAST_MARKS = 2
"""A coded mark brings four points, so two fix a flat page."""

MESH_MM = 3.0
"""The spacing of the mesh on which a page map is kept."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The page marks found: mark id -> its corners in the photo, (4, 2) pixels, clockwise from the mark's own top left."""

    corners: dict[int, Points]
    dictionary: str


@dataclass(frozen=True, slots=True)
class PageMap:
    """Where the page lies in the photo: a mesh of photo pixels over page millimetres.

    `mesh` is (rows, columns, 2): the photo pixel (x, y) of the page point (column, row) * MESH_MM - margin.
    """

    mesh: npt.NDArray[np.float32]
    margin: float

    def to_photo(self, points_mm: npt.ArrayLike) -> Points:
        """Page millimetres (n, 2) -> photo pixels (n, 2), pixel centres at whole numbers."""
        at = (np.asarray(points_mm, dtype=np.float64).reshape(-1, 2) + self.margin) / MESH_MM
        return _sampled(self.mesh, at, cv2.BORDER_REPLICATE).astype(np.float64)

    def flatten(self, grey: Grey, box: tuple[float, float, float, float], px_per_mm: float) -> Grey:
        """The page part `box` (x, y, w, h in millimetres) seen from straight above, at `px_per_mm`.

        What lies outside the photo comes out white; `inside` tells it from paper.
        """
        x, y, w, h = box
        # Sampling a fine photo coarsely would alias the thin lines: shrink it first.
        fine = self.px_per_mm((x + w / 2, y + h / 2))
        shrink = max(1, int(fine / px_per_mm))
        if shrink > 1:
            size = (grey.shape[1] // shrink, grey.shape[0] // shrink)
            grey = cv2.resize(grey[: size[1] * shrink, : size[0] * shrink], size, interpolation=cv2.INTER_AREA)
        maps = self._pixel_maps(box, px_per_mm)
        maps = (maps + 0.5) / shrink - 0.5
        return cv2.remap(
            grey, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255
        )

    def _pixel_maps(self, box: tuple[float, float, float, float], px_per_mm: float) -> npt.NDArray[np.float32]:
        x, y, w, h = box
        width, height = round(w * px_per_mm), round(h * px_per_mm)
        scale = 1.0 / (px_per_mm * MESH_MM)
        across = np.array(
            [
                [scale, 0, (x + 0.5 / px_per_mm + self.margin) / MESH_MM],
                [0, scale, (y + 0.5 / px_per_mm + self.margin) / MESH_MM],
            ]
        )
        return cv2.warpAffine(
            self.mesh,
            across,
            (width, height),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )

    def inside(self, points_mm: npt.ArrayLike, grey: Grey) -> npt.NDArray[np.bool_]:
        """Which of the page points (n, 2) lie within the photo."""
        at = self.to_photo(points_mm)
        height, width = grey.shape
        return (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 0] <= width - 1) & (at[:, 1] <= height - 1)

    def px_per_mm(self, at_mm: tuple[float, float]) -> float:
        """How many photo pixels a page millimetre has at a point: the geometric mean over directions."""
        x, y = at_mm
        a, b, c = self.to_photo([(x - 1, y - 1), (x + 1, y - 1), (x - 1, y + 1)])
        u, v = (b - a) / 2, (c - a) / 2
        return float(np.sqrt(abs(u[0] * v[1] - u[1] * v[0])))


@dataclass(frozen=True, slots=True)
class Fit:
    """A page map with what speaks for it.

    `on_line` is the share of the printed lines' samples that lie within `ON_LINE_MM` of where the map puts them;
    `tiles` gives it by region, as (x, y, w, h, share); `marks` are the ids that took part.
    """

    map: PageMap
    marks: tuple[int, ...]
    on_line: float
    tiles: tuple[tuple[float, float, float, float, float], ...]


ON_LINE_MM = 0.4
"""A line found this near to its place counts as found."""


def find_marks(grey: Grey, dictionary: str) -> Marks:
    """The page marks in a photo, looked for on a small picture first and on finer ones only where few are found."""
    params = cv2.aruco.DetectorParameters()
    params.adaptiveThreshWinSizeMin = params.adaptiveThreshWinSizeMax = 23
    params.minMarkerPerimeterRate = 0.012
    names = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f"DICT_{dictionary.upper()}"))
    quick = cv2.aruco.ArucoDetector(names, params)
    patient_params = cv2.aruco.DetectorParameters()
    patient_params.minMarkerPerimeterRate = 0.012
    patient = cv2.aruco.ArucoDetector(names, patient_params)

    longest = max(grey.shape)
    found: dict[int, tuple[float, Points]] = {}
    steps: list[tuple[int, cv2.aruco.ArucoDetector, bool]] = [(1000, quick, False), (1000, patient, False)]
    steps += [(2000, patient, False), (2000, patient, True), (longest, patient, False)]
    for side, detector, stretch in steps:
        shrink = max(1.0, longest / side)
        small = _shrunk(grey, shrink)
        if stretch:
            small = cv2.createCLAHE(4.0, (8, 8)).apply(small)
        corners, ids, _ = detector.detectMarkers(small)
        for mark_id, quad in zip(np.ravel(ids) if ids is not None else [], corners, strict=True):
            quad = (np.asarray(quad, dtype=np.float64).reshape(4, 2) + 0.5) * shrink - 0.5
            area = float(abs(cv2.contourArea(quad.astype(np.float32))))
            known = found.get(int(mark_id))
            if known is None or area > known[0] * 1.5:
                found[int(mark_id)] = (area, quad)
        if len(found) >= ENOUGH_MARKS:
            break
    return Marks({mark_id: _refined(grey, quad) for mark_id, (_, quad) in sorted(found.items())}, dictionary)


def _shrunk(grey: Grey, by: float) -> Grey:
    if by <= 1.0:
        return grey
    size = (round(grey.shape[1] / by), round(grey.shape[0] / by))
    return cv2.resize(grey, size, interpolation=cv2.INTER_AREA)


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
    if min(part.shape) < 4 * window + 6:
        return quad
    local = corners - low.astype(np.float32)
    done = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 30, 0.01)
    exact = cv2.cornerSubPix(part, local, (window, window), (-1, -1), done)
    moved = np.linalg.norm(exact - local, axis=2).ravel()
    exact = np.where((moved < 1.5 * window)[:, None, None], exact, local)
    return (exact + low.astype(np.float32)).reshape(4, 2).astype(np.float64)


def rough_map(marks: Marks, form: Form) -> PageMap | None:
    """Where the page lies by its marks alone; None where they do not hold together."""
    found = _by_marks(marks, form)
    return found[0] if found else None


def fit_page(grey: Grey, marks: Marks, form: Form) -> Fit | None:
    """Where the page lies, from its marks and then its own printed lines; None where the marks do not hold together."""
    found = _by_marks(marks, form)
    return _snapped(grey, found[0], form, found[1]) if found else None


def _by_marks(marks: Marks, form: Form) -> tuple[PageMap, tuple[int, ...]] | None:
    """A homography through the marks, outliers thrown out, then a thin plate for the bend; and the marks that count."""
    pairs = [(mark, marks.corners[mark.id]) for mark in form.markers if mark.id in marks.corners]
    if len(pairs) < LEAST_MARKS:
        return None
    page = np.concatenate([np.array(mark.box.corners) for mark, _ in pairs])
    photo = np.concatenate([corners for _, corners in pairs])
    scale = float(np.median([_side(corners) / mark.box.w for mark, corners in pairs]))
    # A bent page is several millimetres off any plane; a misread mark is off by a hand's breadth.
    homography, _ = cv2.findHomography(page, photo, cv2.RANSAC, 9.0 * scale, maxIters=4000, confidence=0.999)
    if homography is None:
        return None
    off = np.linalg.norm(photo - _project(homography, page), axis=1).reshape(-1, 4).max(axis=1)
    good = off < 12.0 * scale
    if good.sum() < LEAST_MARKS:
        return None
    kept = np.repeat(good, 4)
    page, photo = page[kept], photo[kept]
    homography, _ = cv2.findHomography(page, photo, 0)
    if homography is None or not _sane(homography, form):
        return None
    flat: Points = homography
    residual = photo - _project(flat, page)
    bend = _thin_plate(page, residual, smoothing=2e-3) if good.sum() >= 4 else np.zeros_like

    def mapping(points: Points) -> Points:
        return _project(flat, points) + bend(points)

    return _meshed(mapping, form), tuple(mark.id for (mark, _), ok in zip(pairs, good, strict=True) if ok)


def _sampled(picture: npt.NDArray, at: Points, border: int) -> npt.NDArray:
    """The picture's values at points (n, 2), between pixels by straight interpolation: (n,) or (n, channels)."""
    width = 1024  # OpenCV samples pictures, not lists: the points are laid out as one
    rows = -(-len(at) // width)
    laid = np.zeros((rows * width, 2), np.float32)
    laid[: len(at)] = at
    maps = laid.reshape(rows, width, 2)
    seen = cv2.remap(picture, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderMode=border)
    return seen.reshape(rows * width, *seen.shape[2:])[: len(at)]


def _side(corners: Points) -> float:
    return float(np.sqrt(abs(cv2.contourArea(corners.astype(np.float32)))))


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
        return kernel(wanted, known) @ weights[:n] + np.column_stack([np.ones(len(wanted)), wanted]) @ weights[n:]

    return at_points


# --- the page's own lines -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Samples:
    """Points along the printed lines: where they are (n, 2), and the direction across the line (n,), 0 = x, 1 = y."""

    at: Points
    across: npt.NDArray[np.int64]
    frame: npt.NDArray[np.bool_]


def _line_samples(form: Form) -> _Samples:
    """Points every few millimetres along the rules, away from crossings and from the mark boxes' own outlines."""
    crowded = [f.box for f in form.fields if f.kind == "mark"]
    left, right = min(b.x for b in crowded) - 1.0, max(b.x + b.w for b in crowded) + 1.0
    heads = min(f.box.y for f in form.fields if f.deal == 0)
    at: list[tuple[float, float]] = []
    across: list[int] = []
    frame: list[bool] = []
    crossings_x = sorted({r.at for r in form.rules if not r.horizontal})
    crossings_y = sorted({r.at for r in form.rules if r.horizontal})
    for rule in form.rules:
        if rule.horizontal:
            middles = [(a + b) / 2 for a, b in zip(crossings_x, crossings_x[1:], strict=False) if b - a > 3.0]
            middles = [x for x in middles if rule.start < x < rule.stop and not left < x < right]
            if rule.at < heads - 1e-6:
                middles = [x for x in middles if rule.role == "frame" and x > right]
            at += [(x, rule.at) for x in middles]
            across += [1] * len(middles)
            frame += [rule.role == "frame"] * len(middles)
        else:
            middles = [(a + b) / 2 for a, b in zip(crossings_y, crossings_y[1:], strict=False) if a > heads - 2.0]
            if left < rule.at < right and rule.role != "heavy":
                continue
            at += [(rule.at, y) for y in middles]
            across += [0] * len(middles)
            frame += [rule.role == "frame"] * len(middles)
    return _Samples(np.array(at), np.array(across), np.array(frame))


def _profiles(grey: Grey, page_map: PageMap, samples: _Samples, offsets: npt.NDArray[np.float64]) -> Points:
    """The picture along a short way across each line: (n, offsets) grey, each averaged a little along the line."""
    along = np.array([-1.2, -0.6, 0.0, 0.6, 1.2])
    n = len(samples.at)
    points = np.repeat(samples.at[:, None, None, :], len(offsets), axis=1).repeat(len(along), axis=2).copy()
    rows = np.arange(n)
    k, m = np.arange(len(offsets))[None, :, None], np.arange(len(along))[None, None, :]
    rows = rows[:, None, None]
    points[rows, k, m, samples.across[:, None, None]] += offsets[None, :, None]
    points[rows, k, m, 1 - samples.across[:, None, None]] += along[None, None, :]
    seen = _sampled(grey, page_map.to_photo(points.reshape(-1, 2)), cv2.BORDER_REPLICATE)
    return seen.reshape(n, len(offsets), len(along)).astype(np.float64).mean(axis=2)


def _line_offsets(profiles: Points, offsets: npt.NDArray[np.float64]) -> tuple[Points, Points]:
    """How far off (mm) the darkest thin line lies in each profile, and how much it stands out (0 … 1 of the paper)."""
    step = offsets[1] - offsets[0]
    half = max(1, round(0.2 / step))
    wide = max(half + 1, round(0.75 / step))
    paper = np.maximum(np.percentile(profiles, 80, axis=1, keepdims=True), 1.0)
    ink = 1.0 - profiles / paper
    narrow = cv2.blur(ink, (2 * half + 1, 1), borderType=cv2.BORDER_REFLECT)
    around = cv2.blur(ink, (2 * wide + 1, 1), borderType=cv2.BORDER_REFLECT)
    stands_out = narrow - around
    best = stands_out.argmax(axis=1)
    rows = np.arange(len(best))
    inner = np.clip(best, 1, len(offsets) - 2)
    a, b, c = (stands_out[rows, inner + d] for d in (-1, 0, 1))
    bend = a - 2 * b + c
    shift = np.where(np.abs(bend) > 1e-9, 0.5 * (a - c) / np.where(np.abs(bend) > 1e-9, bend, 1.0), 0.0)
    return offsets[inner] + np.clip(shift, -1, 1) * step, stands_out[rows, best]


LINE_CONTRAST = 0.025
"""A line that stands out less than this from its surroundings is not seen."""


def _snapped(grey: Grey, page_map: PageMap, form: Form, marks: tuple[int, ...]) -> Fit:
    samples = _line_samples(form)
    for reach, degree in ((2.9, 2), (1.6, 4), (0.9, 5)):
        offsets = np.arange(-reach, reach + 1e-9, 0.1)
        off, contrast = _line_offsets(_profiles(grey, page_map, samples, offsets), offsets)
        seen = (contrast > LINE_CONTRAST) & page_map.inside(samples.at, grey)
        page_map = _corrected(page_map, form, samples, off, seen, degree, reach)
    for reach, spread in ((1.6, 22.0), (1.2, 15.0), (0.9, 11.0)):
        offsets = np.arange(-reach, reach + 1e-9, 0.1)
        off, contrast = _line_offsets(_profiles(grey, page_map, samples, offsets), offsets)
        seen = (contrast > LINE_CONTRAST) & page_map.inside(samples.at, grey)
        page_map = _eased(page_map, samples, off, seen, spread)
    offsets = np.arange(-1.2, 1.2 + 1e-9, 0.08)
    off, contrast = _line_offsets(_profiles(grey, page_map, samples, offsets), offsets)
    inside = page_map.inside(samples.at, grey)
    good = inside & (contrast > LINE_CONTRAST) & (np.abs(off) < ON_LINE_MM)
    share = float(good[inside].mean()) if inside.any() else 0.0
    return Fit(page_map, marks, share, _tiles(form, samples, good))


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
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * MESH_MM - margin
    moved = grid.astype(np.float64).copy()
    # Outside the table there are no lines to hold a polynomial: it goes on there as at the table's edge.
    low = np.array([form.frame.x, form.frame.y])
    high = low + np.array([form.frame.w, form.frame.h])
    held = np.clip(grid, low, high)
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
    """The map moved place by place by what the lines within `spread` millimetres say, for what no polynomial follows."""
    rows, columns = page_map.mesh.shape[:2]
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * MESH_MM
    moved = (grid - page_map.margin).astype(np.float64)
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
    return np.stack([x**i * y**j for i in range(degree + 1) for j in range(degree + 1 - i)], axis=1)


def _tiles(
    form: Form, samples: _Samples, good: npt.NDArray[np.bool_]
) -> tuple[tuple[float, float, float, float, float], ...]:
    """The share of lines found, by region of the table: eight across, six down."""
    frame = form.frame
    w, h = frame.w / 8, frame.h / 6
    out = []
    for i in range(8):
        for j in range(6):
            x, y = frame.x + i * w, frame.y + j * h
            here = (np.abs(samples.at - (x + w / 2, y + h / 2)) <= (w / 2 + 4, h / 2 + 4)).all(axis=1)
            out.append((x, y, w, h, float(good[here].mean()) if here.sum() >= 4 else 1.0))
    return tuple(out)
