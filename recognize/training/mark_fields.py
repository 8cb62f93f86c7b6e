"""Mark boxes as people fill them in, cancel them, or leave them alone while the neighbour's stroke slips through."""

from dataclasses import dataclass, replace

import cv2
import numpy as np

from recognize.training.characters import Array, Character, Writer
from recognize.training.fields import BORDER, SCALE, Pen, Sheet, dirt, pen

SIDE = 3.6
"""The side of a mark box, millimetres."""
PITCH = 4.2
"""From one mark box to the next in its row, millimetres."""

EMPTY, MARKED, CANCELLED = 0, 1, 2

KINDS = {
    "cross": 0.17,
    "tick": 0.11,
    "slash": 0.06,
    "dot": 0.04,
    "hatched": 0.05,
    "cancelled": 0.14,
    "empty": 0.18,
    "slip": 0.25,
}
"""How often boxes are made in each way; a slip is an empty box that a neighbour's stroke reaches into."""


@dataclass(frozen=True, slots=True)
class MarkField:
    """A clean picture (float32, 1 is white paper) of a mark box, what it says (0 empty, 1 marked, 2 cancelled), how."""

    picture: Array
    says: int
    kind: str
    writer: str


class Crosses:
    """Crosses, slashes and ticks that real people wrote, by writer, and made-up ones."""

    def __init__(self, writers: list[Writer]) -> None:
        """`writers` hold characters labelled x, / and ✓."""
        self.by_label: dict[str, list[tuple[str, Character]]] = {}
        for writer in writers:
            for label, characters in writer.by_label.items():
                self.by_label.setdefault(label, []).extend((writer.id, c) for c in characters)

    def strokes(self, rng: np.random.Generator, kind: str, side: float) -> tuple[str, list[Array]]:
        """A writer's id ("" for nobody) and the strokes of a mark about `side` millimetres large around (0, 0)."""
        label = {"cross": "x", "slash": "/", "tick": "✓"}[kind]
        real = self.by_label.get(label, [])
        if real and rng.random() < (0.6 if kind == "cross" else 0.4):
            writer, character = real[rng.integers(len(real))]
            assert character.strokes is not None
            size = np.array([side * np.clip(character.aspect, 0.25, 1.5) / max(character.aspect, 0.05), side])
            turn = rng.normal(0, 0.08)
            spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            return writer, [((s - [character.aspect / 2, 0.5]) * size @ spin.T) for s in character.strokes]
        half = side / 2

        def stroke(*points: tuple[float, float]) -> Array:
            corners = np.array(points) * half + rng.normal(0, 0.12 * half, (len(points), 2))
            steps = np.linspace(0, len(points) - 1, 8 * (len(points) - 1))
            line = np.stack([np.interp(steps, np.arange(len(points)), corners[:, i]) for i in (0, 1)], axis=1)
            bow = np.sin(np.linspace(0, np.pi, len(line)))[:, None] * rng.normal(0, 0.1 * half, 2)
            return line + bow

        if kind == "cross":
            if rng.random() < 0.1:  # upright: a plus
                return "", [stroke((-1, 0), (1, 0)), stroke((0, -1), (0, 1))]
            if rng.random() < 0.15:  # without lifting the pen
                return "", [stroke((-1, -1), (1, 1), (1, -0.6), (-1, 1))]
            return "", [stroke((-1, -1), (1, 1)), stroke((1, -1), (-1, 1))]
        if kind == "tick":
            low, deep = rng.uniform(-0.5, 0.3), rng.uniform(-0.5, 0.1)
            return "", [stroke((-0.9, low), (deep, 0.9), (rng.uniform(0.6, 1.3), rng.uniform(-1.6, -0.7)))]
        angle = np.deg2rad(rng.normal(55, 22))
        sign = -1 if rng.random() < 0.2 else 1
        across, down = 1.15 * np.cos(angle) * sign, 1.15 * np.sin(angle)
        return "", [stroke((across, -down), (-across, down))]


def mark_field(rng: np.random.Generator, crosses: Crosses, kind: str | None = None) -> MarkField:
    """A mark box filled in by chance, or in the given way."""
    if kind is None:
        kind = str(rng.choice(list(KINDS), p=np.array(list(KINDS.values())) / sum(KINDS.values())))
    sheet = Sheet((SIDE, SIDE))
    _outlines(rng, sheet)
    style = pen(rng)
    if rng.random() < 0.25:
        style = replace(style, dark=max(style.dark * 0.6, 0.22))
    centre = np.array([SIDE / 2, SIDE / 2])
    writer = ""

    def mark(kind: str, at: Array, side: float, pen: Pen) -> str:
        owner, strokes = crosses.strokes(rng, kind, side)
        for stroke in strokes * (2 if rng.random() < 0.06 else 1):
            sheet.line((stroke + at + rng.normal(0, 0.05, 2)).astype(np.float32), pen.width)
        return owner

    others = kind == "slip" or rng.random() < 0.15
    if others:
        sides = rng.choice([-1, 1], size=1 if rng.random() < 0.8 else 2, replace=False)
        for side in sides:
            other = str(rng.choice(["cross", "tick", "slash"], p=[0.5, 0.35, 0.15]))
            # A neighbour's mark stands in its own box; only its ends come over.
            large = SIDE * rng.uniform(0.9, 1.9 if kind == "slip" else 1.4)
            at = centre + [side * PITCH + rng.normal(0, 0.35), rng.normal(0, 0.4)]
            if rng.random() < 0.15:  # the row above or below, further off
                at = centre + [rng.normal(0, 1), side * 6.6]
                large *= 1.3
            mark(other, at, large, style)
        if rng.random() < 0.12:
            # A slip of the pen: a thin stroke across a corner or along an edge, not through the middle.
            start = centre + [rng.choice([-1, 1]) * 3.2, rng.uniform(-3, 3)]
            end = centre + [rng.uniform(-1.4, 1.4), rng.choice([-1, 1]) * rng.uniform(1.3, 3)]
            sheet.line(np.array([start, (start + end) / 2 + rng.normal(0, 0.2, 2), end], np.float32), style.width)
        if rng.random() < 0.3 and kind != "slip":
            _fill(rng, sheet, centre + [rng.choice([-1, 1]) * PITCH, 0], 1.0, style)
        sheet.ink(rng, style)

    where = centre + rng.normal(0, 0.3, 2)
    if kind in ("cross", "tick", "slash"):
        size = SIDE * float(np.clip(rng.normal(0.9, 0.2), 0.42, 1.6))
        writer = mark(kind, where, size, style)
    elif kind == "dot":
        radius = rng.uniform(0.28, 0.75)
        for _ in range(rng.integers(4, 12)):
            ends = where + rng.normal(0, radius / 2, (3, 2))
            sheet.line(ends.astype(np.float32), style.width)
    elif kind == "hatched":
        _fill(rng, sheet, where, rng.uniform(0.5, 0.76), style)
    elif kind == "cancelled":
        if rng.random() < 0.7:
            mark(str(rng.choice(["cross", "tick", "slash"])), where, SIDE * rng.uniform(0.7, 1.1), style)
        for _ in range(rng.integers(1, 3)):
            _fill(rng, sheet, centre + rng.normal(0, 0.12, 2), rng.uniform(0.93, 1.15), style, dense=0.65)
    if kind not in ("empty", "slip"):
        sheet.ink(rng, style)
    # A stronger streak could not be told from an upright slash.
    dirt(rng, sheet, strong=1.5 if kind in ("empty", "slip") else 0.6, streak=0.2)
    says = {"empty": EMPTY, "slip": EMPTY, "cancelled": CANCELLED}.get(kind, MARKED)
    return MarkField(sheet.paper, says, kind, writer)


def _fill(rng: np.random.Generator, sheet: Sheet, centre: Array, share: float, style: Pen, dense: float = 1.0) -> None:
    """Go back and forth over a square of `share` times the box's side; the less `dense`, the less paper shows."""
    half = SIDE * share / 2
    gap = style.width * rng.uniform(0.65, 1.25) * dense
    turns = max(int(2 * half / gap), 3)
    along = np.linspace(-half, half, turns) + rng.normal(0, 0.06, turns)
    across = np.where(np.arange(turns) % 2, half, -half) + rng.normal(0, 0.14, turns)
    points = np.stack([along, across], axis=1)
    turn = rng.choice([0, np.pi / 2, np.pi / 4, -np.pi / 4]) + rng.normal(0, 0.1)
    if abs(abs(turn) - np.pi / 4) < 0.4:
        # Slanted hatching follows the box: long in the middle, short in the corners.
        room = (2**0.5 * half - np.abs(along * 2**0.5)) * 0.98
        points = np.stack([along * 2**0.5, np.where(np.arange(turns) % 2, room, -room)], axis=1)
        points += rng.normal(0, 0.08, points.shape)
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    sheet.line((points @ spin.T + centre).astype(np.float32), style.width)


def _outlines(rng: np.random.Generator, sheet: Sheet) -> None:
    """The printed outlines of this box and of its neighbours in the row; sometimes a heavy rule beyond."""
    dark, width = rng.uniform(0.15, 0.7), rng.uniform(0.12, 0.26)
    layer = np.zeros(sheet.shape, np.uint8)
    left, right = rng.random(2) < 0.85
    for shift in [0.0] + [-PITCH] * int(left) + [PITCH] * int(right):
        corners = np.array([[shift, 0], [shift + SIDE, 0], [shift + SIDE, SIDE], [shift, SIDE]]) + BORDER
        pixels = np.round(corners * SCALE * 16).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(layer, [pixels], True, 255, max(round(width * SCALE), 1), cv2.LINE_AA, shift=4)
    sheet.paper *= 1 - layer.astype(np.float32) * (dark / 255)
    for missing, at in ((not left, -0.9), (not right, SIDE + 0.9)):
        if missing and rng.random() < 0.7:
            column = round((at + rng.normal(0, 0.05) + BORDER) * SCALE)
            sheet.paper[:, column : column + max(round(0.35 * SCALE), 1)] *= 1 - min(dark * 1.3, 0.9)
