"""From a clean picture of a field to what the page fitter cuts out of a photo of it. All by chance, within a level."""

from dataclasses import dataclass

import cv2
import numpy as np

from recognize.training.characters import Array
from recognize.training.fields import BORDER, SCALE, noise


@dataclass(frozen=True, slots=True)
class Level:
    """Ranges of what a kind of photo does: each pair is (least, most).

    `density` pixels of the photo a millimetre of paper; `blur` millimetres; `noise` grey levels; `contrast` the share
    of the grey scale between black and paper; `quality` JPEG.
    """

    density: tuple[float, float]
    blur: tuple[float, float]
    noise: tuple[float, float]
    contrast: tuple[float, float]
    light: tuple[float, float]
    shadow: float
    sharpen: float
    quality: tuple[int, int]


LEVELS = {
    "mild": Level((9, 13), (0.02, 0.07), (0.5, 4), (0.5, 0.9), (0, 0.15), 0.05, 0.8, (80, 97)),
    "messenger": Level((3.3, 4.6), (0.03, 0.09), (0.5, 4), (0.5, 0.9), (0, 0.15), 0.06, 1.0, (40, 88)),
    "hard": Level((3.4, 9), (0.05, 0.14), (1.5, 6), (0.4, 0.8), (0, 0.35), 0.25, 1.2, (30, 75)),
}
"""The three kinds of photo that figures are given for."""


def cut_out(
    rng: np.random.Generator,
    picture: Array,
    box: tuple[float, float],
    level: Level,
    margin: float,
    density: float = 6.0,
) -> Array:
    """The grey picture (uint8) of the inside box with `margin` millimetres around it, `density` pixels a millimetre."""
    photo_density = rng.uniform(*level.density)
    if rng.random() < 0.1:
        photo_density = rng.uniform(*level.density) * 0.92
    h, w = picture.shape
    down = photo_density / SCALE
    # Antialiasing of the sensor and defocus together, in pixels of the clean picture.
    sigma = float(np.hypot(rng.uniform(*level.blur) * SCALE, 0.4 / down))
    picture = cv2.GaussianBlur(picture, (0, 0), sigma)
    if rng.random() < 0.15 and level.blur[1] > 0.08:
        length = int(rng.integers(2, 6))
        line = np.zeros((length, length), np.float32)
        cv2.line(line, (0, int(rng.integers(length))), (length - 1, int(rng.integers(length))), 1.0)
        picture = cv2.filter2D(picture, -1, line / line.sum())

    turn = rng.normal(0, 0.06)
    cos, sin = np.cos(turn) * down, np.sin(turn) * down
    stretch = np.diag([rng.uniform(0.95, 1.05), 1.0])
    linear = np.array([[cos, -sin], [sin, cos]]) @ stretch
    size = (int(w * down) + 2, int(h * down) + 2)
    shift = np.array(size) / 2 - linear @ (w / 2, h / 2) + rng.uniform(-0.5, 0.5, 2)
    forward = np.hstack([linear, shift[:, None]])
    photo = cv2.warpAffine(picture, forward, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    photo = photo * _light(rng, photo.shape, level)
    white = rng.uniform(130, 245)
    black = max(white * (1 - rng.uniform(*level.contrast) * 1.1), 2)
    photo = black + (white - black) * photo
    photo += noise(rng, photo.shape, 0 if rng.random() < 0.5 else 2) * rng.uniform(*level.noise)
    if rng.random() < 0.6:
        soft = cv2.GaussianBlur(photo, (0, 0), rng.uniform(0.7, 1.6))
        photo += (photo - soft) * rng.uniform(0, level.sharpen)
    photo = np.clip(photo, 0, 255).astype(np.uint8)
    quality = int(rng.integers(level.quality[0], level.quality[1] + 1))
    left, top = rng.integers(0, 8, 2)
    padded = cv2.copyMakeBorder(photo, int(top), 0, int(left), 0, cv2.BORDER_REPLICATE)
    _, packed = cv2.imencode(".jpg", padded, [cv2.IMWRITE_JPEG_QUALITY, quality])
    photo = np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE))[top:, left:]

    # The page fitter knows the place to within a few tenths of a millimetre and undoes the turn nearly.
    off = rng.normal(0, 0.13, 2) if rng.random() < 0.92 else rng.uniform(-0.5, 0.5, 2)
    back = np.diag([SCALE / density, SCALE / density])
    rest = rng.normal(0, 0.012)
    back = np.array([[np.cos(rest), -np.sin(rest)], [np.sin(rest), np.cos(rest)]]) @ back
    out = (round((box[0] + 2 * margin) * density), round((box[1] + 2 * margin) * density))
    centre = np.array([(box[0] / 2 + BORDER) * SCALE, (box[1] / 2 + BORDER) * SCALE]) + off * SCALE
    to_clean = np.hstack([back, (centre - back @ (out[0] / 2 - 0.5, out[1] / 2 - 0.5))[:, None]])
    matrix = forward @ np.vstack([to_clean, [0, 0, 1]])
    tilt = np.vstack([matrix, [*rng.normal(0, 0.0003, 2), 1]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpPerspective(photo, tilt, out, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _light(rng: np.random.Generator, shape: tuple[int, ...], level: Level) -> Array:
    """A gradient, and sometimes the edge of a shadow."""
    h, w = shape
    y, x = np.linspace(-1, 1, h, dtype=np.float32)[:, None], np.linspace(-1, 1, w, dtype=np.float32)[None, :]
    slope = rng.uniform(*level.light)
    angle = rng.uniform(0, 2 * np.pi)
    light = 1 - slope / 2 * (1 + x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))) / 2
    if rng.random() < level.shadow:
        angle, wide = rng.uniform(0, 2 * np.pi), rng.uniform(0.03, 0.5)
        away = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle)) - rng.uniform(-0.8, 0.8)
        light = light * (1 - rng.uniform(0.2, 0.6) / (1 + np.exp(np.clip(-away / wide * 4, -30, 30))))
    return light.astype(np.float32)
