"""The page in the photo: its marks as found, where every millimetre of it lies, and what speaks for that."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from recognize.photo import Grey
from templates import Box

Points = npt.NDArray[np.float64]
"""Points, (n, 2), x before y."""

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


def mesh_points(page_map: PageMap) -> Points:
    """The page millimetres of every node of the mesh, (rows * columns, 2)."""
    rows, columns = page_map.mesh.shape[:2]
    nodes = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    return np.asarray(nodes * MESH_MM - page_map.margin, dtype=np.float64)
