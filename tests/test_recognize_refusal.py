"""Each reason for which a photo is refused, on a photo that has that fault: it is named, and nothing else is."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.reading import blank_page
from recognize.photo import Photo as Picture
from recognize.pipeline import read_photo
from recognize.refusal import no_sheet
from recognize.simulation.camera import Occluder, Shot, as_printed, photograph

PX_PER_MM = 200 / 25.4
DECENT = Shot(size=(2016, 1512), tilt=12, defocus=0.4, desk="wood", noise=0.5)


@pytest.fixture(scope="module")
def blank() -> np.ndarray:
    page = blank_page(4)
    return cv2.resize(page, None, fx=200 / 300, fy=200 / 300, interpolation=cv2.INTER_AREA)


def said(blank: np.ndarray, shot: Shot) -> str | None:
    """Why a photo of the blank is refused, in English; None where it is not."""
    rng = np.random.default_rng(3)
    photo = photograph(as_printed(blank, PX_PER_MM, shot, rng), PX_PER_MM, shot, rng)
    (reading,) = read_photo(Picture("a.jpg", 1, cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY)))
    assert (reading.reason is not None) == (reading.status == "unreadable")
    return reading.reason.en if reading.reason is not None else None


def cards(*places: tuple[float, float]) -> Shot:
    return replace(DECENT, occluders=tuple(Occluder("card", place, 20.0, 58.0) for place in places))


@pytest.mark.parametrize(
    ("shot", "reason"),
    [
        (DECENT, None),
        (replace(DECENT, tilt=35.0, shrink=1280, jpeg=60), None),
        (replace(DECENT, toner=0.3), None),
        (replace(DECENT, defocus=2.6), "blurred"),
        (replace(DECENT, motion=16.0, motion_angle=30.0), "blurred"),
        (replace(DECENT, motion=16.0, motion_angle=0.0), "blurred"),
        (replace(DECENT, defocus=9.0), "blurred"),
        (replace(DECENT, white=10.0, contrast=0.0, noise=6.0), "too dark"),
        (replace(DECENT, toner=0.03), "printed too faint"),
        (replace(DECENT, fill=0.2), "too far away"),
        (replace(DECENT, cut=(("left", 115.0),)), "cut off on the left"),
        (replace(DECENT, cut=(("right", 145.0),)), "cut off on the right"),
        (replace(DECENT, cut=(("right", 145.0),), turn=180), "cut off on the right"),
        (replace(DECENT, cut=(("top", 100.0),)), "cut off at the top"),
        (replace(DECENT, cut=(("bottom", 100.0),)), "cut off at the bottom"),
        (
            cards(*((x, y) for x in (60.0, 120.0, 180.0, 240.0) for y in (45.0, 80.0, 115.0, 150.0))),
            "flatten it, clear it",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_reason_names_the_fault(blank, shot, reason):
    words = said(blank, shot)
    if reason is None:
        assert words is None
    else:
        assert words is not None and reason in words


def test_a_single_mark_or_none_is_no_sheet():
    rng = np.random.default_rng(0)
    desk = cv2.GaussianBlur(rng.integers(0, 255, (900, 1200)).astype(np.uint8), (0, 0), 2)
    assert "no sheet of ours" in no_sheet(desk, ()).en
    assert "no sheet of ours" in no_sheet(np.full((900, 1200), 200, np.uint8), ()).en
