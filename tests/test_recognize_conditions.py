"""Each fault that a photo can have, alone and with another: the sheet is placed, or refused, but never misplaced."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.finding import WRONG_MM, blank_page
from recognize.locate import Fit, find_sheets, fit_page
from recognize.pipeline import LEAST_FIELDS, LEAST_ON_LINE
from recognize.simulation.camera import CONDITIONS, Photo, as_printed, draw_shot, photograph
from templates import load_form

FORM = load_form("protocol", 4)
CENTRES = np.array([f.box.centre for f in FORM.fields if f.kind != "text"])
PX_PER_MM = 200 / 25.4

PAIRS = [
    "messenger+tilt",
    "messenger+strong-curl",
    "messenger+faint-print",
    "messenger+shadow",
    "messenger+lost-marks",
    "tilt+strong-curl",
    "tilt+shadow",
    "tilt+side-cut",
    "turned+table-cut",
    "any-turn+curl",
    "any-turn+one-corner",
    "curl+two-corners",
    "curl+photocopy",
    "strong-curl+shadow",
    "strong-curl+glare",
    "strong-curl+thumb",
    "fold+shadow",
    "fold+misprint",
    "fold+glare",
    "one-corner+side-cut",
    "two-corners+shadow",
    "corner-cut+thumb",
    "corner-cut+faint-print",
    "side-cut+lost-marks",
    "table-cut+curl",
    "shadow+faint-print",
    "shadow+photocopy",
    "dim+tilt",
    "dim+faint-print",
    "lamp+strong-curl",
    "lamp+clutter",
    "scribble+lost-marks",
    "glare+faint-print",
    "misprint+strong-curl",
    "misprint+photocopy",
    "white-desk+side-cut",
    "clutter+two-corners",
    "blur+tilt",
]


@pytest.fixture(scope="module")
def blank() -> np.ndarray:
    page = blank_page(4)
    return cv2.resize(page, None, fx=200 / 300, fy=200 / 300, interpolation=cv2.INTER_AREA)


def shoot(blank: np.ndarray, condition: str, seed: int) -> Photo:
    """A photo at half the usual size, which is quicker; what is counted in pixels is halved with it."""
    rng = np.random.default_rng([seed, sum(map(ord, condition))])
    shot = draw_shot(condition, rng)
    shot = replace(
        shot, size=(shot.size[0] // 2, shot.size[1] // 2), defocus=shot.defocus / 2, motion=shot.motion / 2, noise=0.5
    )
    return photograph(as_printed(blank, PX_PER_MM, shot, rng), PX_PER_MM, shot, rng)


def fitted(photo: Photo) -> Fit | None:
    """The fit of the first sheet in the photo, where it would be read."""
    grey = cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY)
    sheets = find_sheets(grey, FORM)
    fit = fit_page(grey, sheets[0], FORM) if sheets else None
    if fit is None or fit.on_line < LEAST_ON_LINE or fit.sure(CENTRES).mean() < LEAST_FIELDS:
        return None
    return fit


def errors(photo: Photo, fit: Fit) -> np.ndarray:
    """How far off, in millimetres, the fields are that the fit is sure of."""
    seen = photo.visible(CENTRES) & fit.sure(CENTRES)
    return np.linalg.norm(fit.map.to_photo(CENTRES) - photo.truth(CENTRES), axis=1)[seen] / photo.px_per_mm()


@pytest.mark.parametrize("condition", [*CONDITIONS, *PAIRS])
def test_a_sheet_is_placed_under_every_condition(blank, condition):
    photo = shoot(blank, condition, 1)
    fit = fitted(photo)
    if fit is None:
        assert "blur" in condition, "refused though a person could read it"
        return
    off = errors(photo, fit)
    assert off.max() < WRONG_MM
    assert off.mean() < 0.25 and np.percentile(off, 99) < 0.6
