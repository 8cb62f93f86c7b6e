"""The page's own printed lines: the map that the marks gave is moved until every line lies in its place."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from recognize.page import MESH_MM, ON_LINE_MM, Fit, Marks, PageMap, Points, mesh_points
from recognize.photo import Grey
from templates import Form

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


def plainest_lines(grey: Grey, rough: PageMap, form: Form) -> float:
    """How much the plainest tenth of the printed lines stands out from the paper (0 to 1) near to their places."""
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


def snapped(grey: Grey, rough: PageMap, marks: Marks, form: Form, broad: int = 1) -> Fit:
    """The map that the marks gave, moved until the lines lie in their places; `broad` lines are looked for as wider."""
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
    in_table = _in_table(form, mesh_points(page_map))

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
    if fit is None or untrusted_part(fit, grey, form) > 0.04:
        page_map = _corrected(page_map, form, some, off, seen, 2, REACH_MM)
        for reach, degree in ((1.6, 4), (0.9, 5)):
            page_map = _corrected(page_map, form, some, *found(page_map, some, reach), degree, reach)
        for reach, spread in ((1.6, 22.0), (1.2, 15.0)):
            page_map = _eased(page_map, samples, *found(page_map, samples, reach), spread)
        fit = judged(settled(page_map))
    # Where a strong bend left a part behind, the map grows into it from the part that is right.
    for growth in range(GROWTHS + 1):
        missing = untrusted_part(fit, grey, form)
        if missing < 0.01 or not fit.trusted.any() or growth == GROWTHS:
            break
        page_map = _grown(fit, rough, grey, form)
        for reach, spread in ((1.6, 15.0), (0.9, 11.0)):
            page_map = _eased(page_map, samples, *found(page_map, samples, reach), spread)
        grown = judged(page_map)
        if untrusted_part(grown, grey, form) > missing - 0.002:
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


def _in_table(form: Form, points: Points) -> npt.NDArray[np.bool_]:
    low, high = _extent(form)
    return np.all((points >= low - MESH_MM) & (points <= high + MESH_MM), axis=1)


def _extent(form: Form) -> tuple[Points, Points]:
    """The top left and bottom right corners of the table."""
    low = np.array([form.frame.x, form.frame.y])
    return low, low + np.array([form.frame.w, form.frame.h])


def untrusted_part(fit: Fit, grey: Grey, form: Form) -> float:
    """The share of the table in the photo whose place is not sure."""
    nodes = mesh_points(fit.map)
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
    nodes = mesh_points(page_map)
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
    nodes = mesh_points(page_map).reshape(*shape, 2)
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
    inside = _in_table(form, mesh_points(fit.map)).reshape(fit.trusted.shape) & fit.map.nodes_inside(grey)
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
    grid = mesh_points(page_map)
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
    moved = mesh_points(page_map)
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
