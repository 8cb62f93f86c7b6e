"""What lies under the sheet: made-up desks, or pictures of real ones where a folder with them is at hand."""

import os
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]

DeskKind = Literal["wood", "cloth", "stone", "baize", "white", "dark"]

_SIDE = 1280
PX_PER_MM = 2.5
"""Desk pictures are drawn and used at this many pixels a millimetre."""


def photo_folder(given: Path | None = None) -> Path | None:
    """The folder with `backgrounds` and `paper_textures`: the one given, else $PULKA_PHOTOS, else None."""
    folder = given or (Path(os.environ["PULKA_PHOTOS"]) if os.environ.get("PULKA_PHOTOS") else None)
    return folder if folder and folder.is_dir() else None


def real_desk(folder: Path, rng: np.random.Generator) -> Image | None:
    """One of the folder's `backgrounds`, BGR, some half a metre wide at PX_PER_MM; None where it has none."""
    paths = sorted((folder / "backgrounds").glob("*.jpg"))
    if not paths:
        return None
    picture = cv2.imread(str(paths[rng.integers(len(paths))]), cv2.IMREAD_COLOR)
    if picture is None:
        return None
    scale = PX_PER_MM * rng.uniform(350, 650) / picture.shape[1]
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def paper_grain(folder: Path, rng: np.random.Generator) -> NDArray[np.float32] | None:
    """The grain of one of the folder's light papers as a factor around 1; None where there is none."""
    paths = sorted((folder / "paper_textures").glob("*.png"))
    for index in rng.permutation(len(paths)):
        grey = cv2.imread(str(paths[index]), cv2.IMREAD_GRAYSCALE)
        if grey is None or grey.mean() < 180:
            continue
        light = grey.astype(np.float32)
        grain = light / cv2.GaussianBlur(light, (0, 0), 25) - 1
        # Copying paper is far smoother than the drawing papers scanned here.
        return np.asarray(1 + np.clip(grain * (0.012 / max(float(grain.std()), 1e-6)), -0.05, 0.05), dtype=np.float32)
    return None


def made_grain(rng: np.random.Generator) -> NDArray[np.float32]:
    """The grain of made-up copying paper, fibres and clouds, as a factor around 1."""
    n = 512
    fibres = cv2.GaussianBlur(rng.standard_normal((n, n)).astype(np.float32), (0, 0), 1.5, sigmaY=0.9)
    clouds = cv2.GaussianBlur(rng.standard_normal((n, n)).astype(np.float32), (0, 0), 12)
    return np.asarray(1 + 0.009 * fibres / fibres.std() + 0.004 * clouds / clouds.std(), dtype=np.float32)


def made_desk(kind: DeskKind, rng: np.random.Generator) -> Image:
    """A made-up desk top, BGR, square."""
    n = _SIDE
    match kind:
        case "wood":
            base = np.array([[70, 110, 160], [110, 150, 190], [40, 62, 95], [150, 180, 205], [60, 90, 150]])
            grain = _cloud(n, rng, (3, 90)) * 0.6 + _cloud(n, rng, (1, 220)) * 0.5 + _cloud(n, rng, (8, 16)) * 0.4
            rings = np.sin(18 * _cloud(n, rng, (2, 10))) * 0.25
            value = 1 + 0.16 * (grain + rings)
            planks = rng.integers(150, 500)
            value[:, :: int(planks)] *= 0.55
            return _tint(base[rng.integers(len(base))], value)
        case "cloth":
            base = rng.uniform(40, 190) + rng.normal(0, 22, 3)
            weave = np.indices((n, n)).sum(0) % 4 / 4 - 0.4
            stripes = np.sign(np.sin(np.arange(n) / rng.uniform(12, 40)))[None, :] * rng.choice([0.0, 0.12])
            value = 1 + 0.10 * weave + 0.15 * _cloud(n, rng, (4, 4)) + stripes
            return _tint(base, value)
        case "stone":
            base = rng.uniform(120, 200) + rng.uniform(-12, 12, 3)
            value = 1 + 0.10 * _cloud(n, rng, (10, 10)) + 0.08 * rng.standard_normal((n, n)).clip(-2, 3)
            veins = np.abs(_cloud(n, rng, (5, 5))) < 0.03
            return _tint(base, value - 0.2 * veins)
        case "baize":
            base = np.array([rng.uniform(45, 75), rng.uniform(85, 125), rng.uniform(10, 45)])
            value = 1 + 0.07 * rng.standard_normal((n, n)).clip(-3, 3) + 0.08 * _cloud(n, rng, (5, 5))
            return _tint(base, value)
        case "white":
            base = rng.uniform(222, 248) + rng.uniform(-5, 5, 3)
            return _tint(base, 1 + 0.012 * _cloud(n, rng, (12, 12)) + 0.004 * rng.standard_normal((n, n)))
        case "dark":
            base = rng.uniform(14, 40) + rng.uniform(-3, 3, 3)
            return _tint(base, 1 + 0.25 * _cloud(n, rng, (4, 6)) + 0.08 * rng.standard_normal((n, n)))


def clutter(desk: Image, rng: np.random.Generator) -> Image:
    """The desk with cards, another ruled sheet, a pen and a cup lying about (often half under the sheet)."""
    out = desk.copy()
    h, w = out.shape[:2]

    def box(size: tuple[float, float]) -> NDArray[np.float32]:
        centre = (float(rng.uniform(0, w)), float(rng.uniform(0, h)))
        turned = cv2.boxPoints((centre, (size[0] * PX_PER_MM, size[1] * PX_PER_MM), float(rng.uniform(0, 180))))
        return np.asarray(turned, dtype=np.float32)

    sheet = box((297, 210))
    cv2.fillPoly(out, [sheet.astype(np.int32)], (232, 236, 238), cv2.LINE_AA)
    for at in np.linspace(0.08, 0.92, 22):
        one, two = sheet[0] + at * (sheet[1] - sheet[0]), sheet[3] + at * (sheet[2] - sheet[3])
        ends = [tuple(int(v) for v in p) for p in (one * 0.95 + two * 0.05, one * 0.05 + two * 0.95)]
        cv2.line(out, ends[0], ends[1], (140, 140, 140), 1, cv2.LINE_AA)
    for _ in range(int(rng.integers(6, 16))):
        card = box((58, 88))
        cv2.fillPoly(out, [card.astype(np.int32)], (240, 242, 242), cv2.LINE_AA)
        ink = (30, 30, 30) if rng.random() < 0.5 else (40, 40, 190)
        for pip in rng.uniform(0.2, 0.8, (int(rng.integers(1, 9)), 2)):
            at = card[0] + pip[0] * (card[1] - card[0]) + pip[1] * (card[3] - card[0])
            cv2.circle(out, (int(at[0]), int(at[1])), int(4 * PX_PER_MM), ink, -1, cv2.LINE_AA)
        cv2.polylines(out, [card.astype(np.int32)], True, (120, 120, 120), 1, cv2.LINE_AA)
    pen = box((140, 8))
    cv2.fillPoly(out, [pen.astype(np.int32)], tuple(float(v) for v in rng.uniform(20, 180, 3)), cv2.LINE_AA)
    cup = (int(rng.uniform(0, w)), int(rng.uniform(0, h)))
    cv2.circle(out, cup, int(42 * PX_PER_MM), (205, 210, 215), -1, cv2.LINE_AA)
    cv2.circle(out, cup, int(36 * PX_PER_MM), (25, 45, 80), -1, cv2.LINE_AA)
    return out


def _cloud(n: int, rng: np.random.Generator, cells: tuple[int, int]) -> NDArray[np.float32]:
    """Smooth noise of about unit size with so many cells down and across."""
    seed = rng.standard_normal((cells[0] + 3, cells[1] + 3)).astype(np.float32)
    return np.asarray(cv2.resize(seed, (n, n), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _tint(base: NDArray[np.floating] | NDArray[np.integer], value: NDArray[np.floating]) -> Image:
    return np.clip(value[:, :, None] * base, 0, 255).astype(np.uint8)
