"""Handwritten marks: whether a small box was crossed, ticked, dotted or left alone, or filled all over to cancel."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import cv2
import numpy as np

from recognize.digits import Array, Picture, as_grey, even_ink, is_bare, shipped_net

SIDE = 32
"""Rows and columns of the picture that the net sees."""
AROUND = 0.26
"""The share of a cut-out's height on every side that holds the box's own line and what is outside it."""

BARE = 1e-6
"""How likely a box whose inside is even is marked, or cancelled, all the same."""


@dataclass(frozen=True, slots=True)
class MarkReading:
    """What a mark box says: calibrated probabilities that it is marked, or cancelled (filled all over).

    What is left to one is the probability that nobody marked it.
    """

    probability: float
    cancelled: float

    @property
    def value(self) -> str:
        """ "x" where it is marked more likely than not, else ""."""
        return "x" if self.probability > 0.5 else ""

    @property
    def confidence(self) -> float:
        """How likely the likeliest of marked, cancelled and empty is."""
        return max(self.probability, self.cancelled, 1 - self.probability - self.cancelled)


def read_mark(image: Picture) -> MarkReading:
    """Read one cut-out of a mark box with about a fifth of its side around it; grey or BGR uint8, of any size.

    Raises ValueError where it is no such picture.
    """
    return read_marks([image])[0]


def read_marks(images: Sequence[Picture]) -> list[MarkReading]:
    """Read many cut-outs in one batch; see `read_mark`. An empty list gives an empty one."""
    readings = [MarkReading(BARE, BARE)] * len(images)
    inked = {i: prepare(image) for i, image in enumerate(images) if not is_bare(as_grey(image), AROUND)}
    if inked:
        batch = np.stack(list(inked.values()))[:, None].astype(np.float32) / 255
        parts = [shipped_net("marks").run(None, {"pictures": batch[i : i + 100]})[0] for i in range(0, len(batch), 100)]
        for i, reading in zip(inked, decode(np.concatenate(parts)), strict=True):
            readings[i] = reading
    return readings


def decode(says: Array) -> list[MarkReading]:
    """Readings from the net's log probabilities (N, 3) of empty, marked, cancelled."""
    slope, least = _calibration()
    scaled = slope * says.astype(np.float64)
    share = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    share = share / share.sum(axis=1, keepdims=True) * (1 - 3 * least) + least
    return [MarkReading(float(marked), float(cancelled)) for _, marked, cancelled in share]


def prepare(image: Picture) -> Picture:
    """The picture as the net takes it: ink bright on dark, light evened out, `SIDE` by `SIDE`.

    Raises ValueError where it is no picture.
    """
    grey = as_grey(image)
    shrinks = max(grey.shape) > SIDE
    grey = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    # A filled box is most of the picture: the ground has to be sought further away than it is wide.
    return even_ink(grey, reach=29)


@lru_cache(maxsize=1)
def _calibration() -> tuple[float, float]:
    """(slope, least): how the net's log odds become ones that hold, and the least probability ever claimed."""
    stored = json.loads((files("recognize") / "model" / "calibration.json").read_text(encoding="utf-8"))["marks"]
    return stored["slope"], stored["least"]
