"""Coded squares (ArUco) in a picture, looked for many at once.

OpenCV's own detector reads candidate after candidate, and a table is full of boxes that might be marks: on a filled
sheet it takes four times as long, and of blurred squares it finds half as many.
"""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from recognize.photo import Grey

Squares = list[tuple[int, npt.NDArray[np.float64]]]
"""Ids, each with its corners (4, 2) in pixels, clockwise from the code's own top left."""

MODULES = 7
"""Modules on a side: five of the code and the black border on both sides."""

WRONG_BITS = 1
"""Any two codes differ in five bits at the least; with one misread, a code is still nearer to itself than to others."""

WRONG_BORDER = 5
"""Of the twenty-four modules of the border, how many may be misread."""

LEAST_CONTRAST = 12.0
"""Grey levels between the black and the white modules of anything that can be read."""

QUIET = 7
"""Grey levels by which ink is darker than its neighbourhood."""


def find_squares(grey: Grey, dictionary: str, ids: Sequence[int], windows: Sequence[int], least: int) -> Squares:
    """The squares with one of `ids` of OpenCV's `dictionary` ("5x5_1000") in a grey picture, some perhaps twice.

    `windows` are the neighbourhoods (pixels, odd) against which ink is told from paper; `least` is the length of the
    shortest outline considered, in pixels.
    """
    quads = _quads(grey, windows, least)
    if not len(quads):
        return []
    modules = _modules(grey, quads)
    border = np.ones((MODULES, MODULES), dtype=bool)
    border[1:-1, 1:-1] = False
    dark = np.median(modules[:, border], axis=1)
    light = np.percentile(modules[:, ~border], 85, axis=1)
    black = modules < ((dark + light) / 2)[:, None, None]
    framed = ((~black[:, border]).sum(axis=1) <= WRONG_BORDER) & (light - dark > LEAST_CONTRAST)
    codes, which, turns = _codes(dictionary, tuple(ids))
    inner = np.where(black[framed, 1:-1, 1:-1], -1.0, 1.0).reshape(-1, (MODULES - 2) ** 2).astype(np.float32)
    wrong = (codes.shape[1] - inner @ codes.T) / 2
    best = wrong.argmin(axis=1)
    near = wrong[np.arange(len(best)), best] <= WRONG_BITS
    return [
        (int(which[code]), np.roll(quad, -int(turns[code]), axis=0))
        for code, quad in zip(best[near], quads[framed][near], strict=True)
    ]


def _quads(grey: Grey, windows: Sequence[int], least: int) -> npt.NDArray[np.float64]:
    """Dark outlines with four corners, clockwise, (n, 4, 2)."""
    found = []
    for window in windows:
        ink = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, QUIET)
        outlines, within = cv2.findContours(ink, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
        # A square is dark on light: the boxes of a table, being holes between its lines, need no look.
        for i in np.flatnonzero(within[0, :, 3] < 0) if within is not None else ():
            outline = outlines[i]
            if len(outline) >= least:
                corners = cv2.approxPolyDP(outline, 0.03 * len(outline), True)
                if len(corners) == 4:
                    found.append(corners)
    if not found:
        return np.zeros((0, 4, 2))
    quads = np.concatenate(found).reshape(-1, 4, 2).astype(np.float64)
    sides = np.roll(quads, -1, axis=1) - quads
    after = np.roll(sides, -1, axis=1)
    bends = sides[..., 0] * after[..., 1] - sides[..., 1] * after[..., 0]
    convex = (bends > 0).all(axis=1) | (bends < 0).all(axis=1)
    lengths = np.linalg.norm(sides, axis=2)
    quads = quads[convex & (lengths.min(axis=1) > 0.3 * lengths.max(axis=1))]
    bends = bends[convex & (lengths.min(axis=1) > 0.3 * lengths.max(axis=1))]
    anticlockwise = bends[:, 0] < 0
    quads[anticlockwise] = quads[anticlockwise, ::-1]
    return quads


def _modules(grey: Grey, quads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How light every module of every square is, (n, MODULES, MODULES)."""
    # The perspective that takes the unit square to each quad, in closed form (Heckbert 1989).
    x, y = quads[..., 0].T, quads[..., 1].T
    dx1, dx2, dy1, dy2 = x[1] - x[2], x[3] - x[2], y[1] - y[2], y[3] - y[2]
    sx, sy = x[0] - x[1] + x[2] - x[3], y[0] - y[1] + y[2] - y[3]
    area = dx1 * dy2 - dx2 * dy1
    g, h = (sx * dy2 - dx2 * sy) / area, (dx1 * sy - sx * dy1) / area
    # Four places a module, well inside it.
    steps = (np.arange(MODULES)[:, None] + np.array([0.32, 0.68])).ravel() / MODULES
    u, v = (part.ravel()[None] for part in np.meshgrid(steps, steps))
    rows = [
        ((p[1] - p[0] + g * p[1])[:, None] * u + (p[3] - p[0] + h * p[3])[:, None] * v + p[0][:, None])
        / (g[:, None] * u + h[:, None] * v + 1)
        for p in (x, y)
    ]
    at = np.stack(rows, axis=-1).astype(np.float32)
    light = np.concatenate(
        [cv2.remap(grey, part, None, cv2.INTER_LINEAR) for part in np.array_split(at, len(at) // 30000 + 1)]
    )
    parts = light.reshape(-1, MODULES, 2, MODULES, 2).astype(np.float64)
    return np.asarray(parts.mean(axis=(2, 4)))


@cache
def _codes(
    dictionary: str, ids: tuple[int, ...]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Every code in its four turns, a row each of -1 (black) and 1; its id; how often it is turned clockwise."""
    names = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f"DICT_{dictionary.upper()}"))
    codes, which, turns = [], [], []
    for mark_id in ids:
        drawn = cv2.aruco.generateImageMarker(names, mark_id, MODULES)[1:-1, 1:-1]
        for turn in range(4):
            codes.append(np.where(np.rot90(drawn, -turn).ravel() > 127, 1.0, -1.0))
            which.append(mark_id)
            turns.append(turn)
    return np.array(codes, np.float32), np.array(which), np.array(turns)
