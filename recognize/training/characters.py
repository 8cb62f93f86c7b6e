"""Real handwritten characters from a folder of character sets, kept apart by writer.

Sets drawn as strokes (UNIPEN) stay strokes and take any pen; sets of pictures become signed distance fields, which
take any pen as well. Both are scaled so that the character is one unit high.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from recognize.simulation.writers import is_as_labelled, is_held_out

Array = NDArray[Any]
Part = Literal["train", "calibrate", "test"]

FIELD_HEIGHT = 40
"""Rows of a distance field between the top and the bottom of its character."""
FIELD_MARGIN = 10
"""Rows and columns around the character in its distance field."""

EUROPEAN_REGIONS = ("Spain", "Germany", "UK")
CALIBRATION = 1 / 12
"""The share of the writers not held out on whom confidence is calibrated and nothing is learnt."""


@dataclass(frozen=True, slots=True)
class Character:
    """One character, as strokes or as a distance field.

    `aspect` is width over height; `height` is relative to what else the writer wrote. `strokes` are points in units
    of the character's height, y down. `distance` is positive in the ink, in the same unit, with `origin` (x, y) the
    pixel of the character's top left corner and `natural` the width of its line.
    """

    label: str
    aspect: float
    height: float
    strokes: tuple[Array, ...] | None = None
    distance: Array | None = None
    origin: tuple[float, float] = (0.0, 0.0)
    natural: float = 0.0


@dataclass(slots=True)
class Writer:
    """Everything one person wrote, by label. `group` names the set and, for UNIPEN, whether the writer is European."""

    id: str
    group: str
    by_label: dict[str, list[Character]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many characters there are."""
        return sum(len(characters) for characters in self.by_label.values())


def part_of(writer_id: str) -> Part:
    """Which part a writer belongs to, by the id alone."""
    if is_held_out(writer_id):
        return "test"
    digest = hashlib.sha256(f"pulka calibration writer {writer_id}".encode()).digest()
    return "calibrate" if int.from_bytes(digest[:8], "big") < CALIBRATION * 2**64 else "train"


def load_writers(data: Path, part: Part, rng: np.random.Generator) -> list[Writer]:
    """The writers of one part in all digit sets under `data`.

    Sets that do not name their writers (optdigits, handwritten62) serve training only. MNIST is halved.
    """
    writers: dict[str, Writer] = {}

    def add(writer_id: str, group: str, character: Character) -> None:
        writer = writers.setdefault(writer_id, Writer(writer_id, group))
        writer.by_label.setdefault(character.label, []).append(character)

    unipen = np.load(data / "unipen_digits.npz")
    for writer_id, region, character in stroke_characters(unipen, "0123456789"):
        if part_of(writer_id) == part:
            add(writer_id, "unipen_europe" if region in EUROPEAN_REGIONS else "unipen", character)
    symbols = np.load(data / "unipen_symbols.npz")
    for writer_id, _, character in stroke_characters(symbols, "-"):
        # Under that label there are square waves and ticks as well.
        if writer_id in writers and character.aspect > 5:
            add(writer_id, writers[writer_id].group, character)

    swiss = np.load(data / "swiss_numbers_16.npz")
    heights: dict[str, list[float]] = {}
    for picture, label, writer_id, near_cut in zip(swiss["X"], swiss["y"], swiss["w"], swiss["near_cut"], strict=True):
        # Where the file passes from one writer to the next the writer is a guess; such digits serve nobody.
        if near_cut or part_of(writer_id) != part:
            continue
        rows = np.flatnonzero(picture.max(axis=1) > 0.4 * picture.max())
        heights.setdefault(str(writer_id), []).append(float(np.ptp(rows) + 1))
        relative = heights[str(writer_id)][-1] / float(np.median(heights[str(writer_id)]))
        add(str(writer_id), "swiss", picture_character(picture, str(label), height=float(np.clip(relative, 0.7, 1.4))))
    semeion = np.load(data / "semeion.npz")
    for picture, label, writer_id in zip(semeion["X"], semeion["y"], semeion["w"], strict=True):
        if part_of(writer_id) == part:
            # The set was stretched to a square; digits are about 0.6 as wide as high, a 1 less.
            squeeze = rng.uniform(0.3, 0.55) if label == "1" else rng.uniform(0.5, 0.8)
            add(str(writer_id), "semeion", picture_character(picture, str(label), squeeze=squeeze))
    mnist = np.load(data / "mnist.npz")
    pictures, labels, ids = mnist["X"], mnist["y"], mnist["w"]
    for i in rng.permutation(len(labels))[: len(labels) // 2]:
        if part_of(ids[i]) == part:
            add(str(ids[i]), "mnist", picture_character(pictures[i], str(labels[i])))
    if part == "train":
        for name in ("optdigits_orig", "handwritten62_bd"):
            archive = np.load(data / f"{name}.npz")
            for picture, label in zip(archive["X"], archive["y"], strict=True):
                if label in "0123456789":
                    add(name, name, picture_character(picture, str(label)))
    return list(writers.values())


def stroke_characters(archive: Any, labels: str) -> list[tuple[str, str, Character]]:
    """(writer, region, character) for every character of a stroke set whose label is one of `labels`."""
    points = archive["pts"].astype(np.float32) / 255
    strokes, characters = archive["stroke_off"], archive["char_off"]
    writers, regions, sizes = archive["w"], archive["region"], archive["rel_size"]
    found = []
    for i, (label, legible) in enumerate(zip(archive["y"], is_as_labelled(writers, archive["y"]), strict=True)):
        if label not in labels or not legible:
            continue
        lines = [points[strokes[s] : strokes[s + 1]] for s in range(characters[i], characters[i + 1])]
        lines = [_smooth(line) for line in lines if len(line)]
        if not lines or (label.isdigit() and not _one_figure(str(label), lines)):
            continue
        every = np.concatenate(lines)
        low, high = every.min(axis=0), every.max(axis=0)
        width, height = np.maximum(high - low, 0.02)
        unit = height if label != "-" else max(width, height)
        relative = float(sizes[i][1])
        character = Character(
            label=str(label),
            aspect=float(width / unit) if label != "-" else float(width / height),
            height=relative if 0.6 <= relative <= 1.5 else 1.0,
            strokes=tuple(((line - low) / unit).astype(np.float32) for line in lines),
        )
        found.append((str(writers[i]), str(regions[i]), character))
    return found


def _one_figure(label: str, lines: list[Array]) -> bool:
    """Whether a recording can be the one digit it is said to be, by its outline alone.

    Some recordings hold two or three digits, some a dot, some a digit that lost a stroke; nobody reads those.
    """
    every = np.concatenate(lines)
    width, height = np.ptp(every, axis=0)
    # Points are in units of the longer side, so a dot is as large as a digit; but it has next to no points.
    if len(np.unique(np.round(every * 255), axis=0)) < 4:
        return False
    if width > 1.6 * height and not (label in "257" and width < 2.1 * height):
        return False
    if label != "1" and width < 0.22 * height:
        return False
    if label in "457":
        return True
    right = -1.0
    parts = 0
    for low, high in sorted((float(line[:, 0].min()), float(line[:, 0].max())) for line in lines):
        parts += low > right + 0.02
        right = max(right, high)
    return parts == 1


def picture_character(picture: Array, label: str, height: float = 1.0, squeeze: float | None = None) -> Character:
    """A character from a picture, ink bright on dark; `squeeze` gives its width over its height where that was lost."""
    ink = picture > 0.4 * float(np.percentile(picture, 98))
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    cut = picture[top:bottom, left:right].astype(np.float32)
    aspect = squeeze if squeeze is not None else (right - left) / (bottom - top)
    aspect = float(np.clip(aspect, 0.08, 2.0))
    cut = cv2.copyMakeBorder(cut, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    unit = FIELD_HEIGHT / (bottom - top)
    across = FIELD_HEIGHT * aspect / (right - left)
    large = cv2.resize(cut, None, fx=across, fy=unit, interpolation=cv2.INTER_CUBIC)
    large = cv2.copyMakeBorder(large, *(FIELD_MARGIN,) * 4, cv2.BORDER_CONSTANT, value=0)
    # The ground is anything from a fifth of full ink down: faint scans and hard binary pictures alike.
    inside = (large > 0.35 * float(np.percentile(cut[cut > 0.2 * cut.max()], 80))).astype(np.uint8)
    inside_depth = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    distance = inside_depth - cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
    deep = inside_depth[inside_depth > 0]
    # The mean depth of a bar of half width r is r/2.
    natural = 4 * float(deep.mean()) / FIELD_HEIGHT if len(deep) else 0.1
    return Character(
        label,
        aspect,
        height,
        distance=(distance / FIELD_HEIGHT).astype(np.float16),
        origin=(FIELD_MARGIN + across, FIELD_MARGIN + unit),
        natural=natural,
    )


def _smooth(line: Array) -> Array:
    """The stroke without the steps of the tablet that took it."""
    if len(line) < 4:
        return line
    inner = (line[:-2] + 2 * line[1:-1] + line[2:]) / 4
    return np.concatenate([line[:1], inner, line[-1:]])


def load_marks(data: Path, part: Part) -> list[Writer]:
    """Crosses and slashes (x, /) by the stroke sets' writers of one part, and for training nobody's ticks (✓)."""
    writers: dict[str, Writer] = {}
    for name, labels in (("unipen_letters", "xX"), ("unipen_symbols", "/")):
        for writer_id, _, character in stroke_characters(np.load(data / f"{name}.npz"), labels):
            if part_of(writer_id) == part and 0.05 < character.aspect < 2.5:
                writer = writers.setdefault(writer_id, Writer(writer_id, "unipen"))
                writer.by_label.setdefault(character.label.lower(), []).append(character)
    if part == "train":
        archive = dict(np.load(data / "detexify_symbols.npz"))
        archive["region"] = archive["w"] = np.full(len(archive["y"]), "detexify")
        archive["rel_size"] = np.ones((len(archive["y"]), 2))
        for writer_id, _, character in stroke_characters(archive, "✓"):
            writers.setdefault(writer_id, Writer(writer_id, "detexify")).by_label.setdefault("✓", []).append(character)
    return list(writers.values())
