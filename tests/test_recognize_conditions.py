"""Each fault that a photo can have, alone and with another: the sheet is placed, or refused, but never misplaced."""

from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np
import pytest
from PIL import Image

from benchmarks.finding import WRONG_MM
from benchmarks.reading import blank_page
from recognize.locate import find_sheets, fit_page
from recognize.page import Fit
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


# --- scans: the page itself, flat, as an office machine delivers it --------------------------------------------------


@pytest.fixture(scope="module")
def scan(blank) -> np.ndarray:
    return cv2.cvtColor(blank, cv2.COLOR_BGR2GRAY)


def placed(grey: np.ndarray, px_per_mm: float = PX_PER_MM) -> tuple[float, float]:
    """(worst error in mm of the sure fields, share of the fields that are sure) on a scan of the page as it is."""
    (marks,) = find_sheets(grey, FORM)
    fit = fit_page(grey, marks, FORM)
    assert fit is not None
    sure = fit.sure(CENTRES)
    off = np.linalg.norm(fit.map.to_photo(CENTRES) - (CENTRES * px_per_mm - 0.5), axis=1) / px_per_mm
    return float(off[sure].max()), float(sure.mean())


def without(grey: np.ndarray, places: tuple[int, ...]) -> np.ndarray:
    grey = grey.copy()
    for marker in FORM.markers:
        if marker.place in places:
            x, y, size = (round(v * PX_PER_MM) for v in (marker.box.x, marker.box.y, marker.box.w))
            grey[y - 2 : y + size + 2, x - 2 : x + size + 2] = 255
    return grey


@pytest.mark.parametrize(
    "lost", [*((i,) for i in range(12)), *combinations((0, 4, 6, 10), 2), (1, 4, 7, 10), (0, 1, 2, 3, 4), (4, 5, 6)]
)
def test_any_mark_may_be_missing_and_any_two_corners_and_a_whole_side(scan, lost):
    worst, sure = placed(without(scan, lost))
    assert worst < 0.3 and sure == 1.0


@pytest.mark.parametrize(("dpi", "least"), [(100, 0.9), (150, 0.95), (200, 0.95)])
def test_a_black_and_white_scan(scan, dpi, least):
    small = cv2.resize(scan, None, fx=dpi / 200, fy=dpi / 200, interpolation=cv2.INTER_AREA)
    dithered = np.array(Image.fromarray(small).convert("1").convert("L"))
    worst, sure = placed(dithered, dpi / 25.4)
    assert worst < 0.6 and sure > least


def test_a_scan_that_fades_across_the_page_is_read(scan):
    toner = np.linspace(1.0, 0.4, scan.shape[1])[None, :]
    worst, sure = placed((255 - (255 - scan) * toner).astype(np.uint8))
    assert worst < 0.3 and sure == 1.0


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_which_way_up_it_lies_is_told_by_the_marks(scan, turn):
    (marks,) = find_sheets(np.ascontiguousarray(np.rot90(scan, turn)), FORM)
    (upright,) = find_sheets(scan, FORM)
    assert {place: mark.value for place, mark in marks.items()} == {place: m.value for place, m in upright.items()}


def test_a_sheet_in_a_mirror_is_none(scan):
    assert not find_sheets(np.ascontiguousarray(scan[:, ::-1]), FORM)


def test_a_streak_and_scribbles_over_the_marks(scan):
    inked = scan.copy()
    inked[:, 700:706] = 0
    for x, y in (marker.box.centre for marker in FORM.markers[::4]):
        ends = [(round((x + a) * PX_PER_MM), round((y + b) * PX_PER_MM)) for a, b in ((-6, -5), (5, 6))]
        cv2.line(inked, ends[0], ends[1], 30, 4)
    worst, sure = placed(inked)
    assert worst < 0.3 and sure > 0.97


# --- photos -----------------------------------------------------------------------------------------------------------


TREACHEROUS = [("strong-curl+photocopy", 3), ("curl+corner-cut", 3), ("white-desk+clutter", 2)]
"""Photos that once put fields into neighbouring boxes, or beside their own."""


@pytest.mark.parametrize(("condition", "seed"), [*((name, 1) for name in (*CONDITIONS, *PAIRS)), *TREACHEROUS])
def test_a_sheet_is_placed_under_every_condition(blank, condition, seed):
    photo = shoot(blank, condition, seed)
    fit = fitted(photo)
    if fit is None:
        assert "blur" in condition, "refused though a person could read it"
        return
    off = errors(photo, fit)
    assert off.max() < WRONG_MM
    assert off.mean() < 0.25 and np.percentile(off, 99) < 0.6
