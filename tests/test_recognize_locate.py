"""The sheet is found and its fields placed, or it is refused: never misplaced."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.reading import DPI, blank_page
from recognize.identify import identify
from recognize.lines import snapped
from recognize.locate import _refined, find_sheets, fit_page, rough_map
from recognize.page import PageMap, Points
from recognize.simulation.camera import draw_shot, photograph
from templates import load_form

FORM = load_form("protocol", 4)
CENTRES = np.array([f.box.centre for f in FORM.fields if f.kind != "text"])


@pytest.fixture(scope="module")
def blank() -> np.ndarray:
    return blank_page(4)


def shoot(blank, condition, seed):
    rng = np.random.default_rng([seed, 3])
    photo = photograph(blank, DPI / 25.4, draw_shot(condition, rng), rng)
    return photo, cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY)


def marks_of(grey):
    return find_sheets(grey, FORM)


@pytest.mark.parametrize(
    "condition", ["mild", "messenger", "turned", "curl", "two-corners", "white-desk", "thumb", "side-cut"]
)
def test_fields_are_placed_to_a_fraction_of_a_millimetre(blank, condition):
    photo, grey = shoot(blank, condition, 1)
    (marks,) = marks_of(grey)
    fit = fit_page(grey, marks, FORM)
    assert fit is not None
    seen = photo.visible(CENTRES)
    off = np.linalg.norm(fit.map.to_photo(CENTRES) - photo.truth(CENTRES), axis=1) / photo.px_per_mm()
    assert fit.sure(CENTRES)[seen].mean() > 0.95
    assert off[seen & fit.sure(CENTRES)].max() < 0.8
    assert off[seen].mean() < 0.25


def test_the_sheet_is_known_by_its_code_and_by_its_marks(blank):
    _, grey = shoot(blank, "mild", 2)
    (marks,) = marks_of(grey)
    by_code = identify(grey, marks, lambda serial: None)
    assert by_code.identity is not None and (by_code.identity.convention, by_code.identity.table) == ("sochi", 1)
    page = rough_map(marks, FORM)
    # Both square codes and the clear text painted over: the marks still spell the number.
    for box in (*FORM.codes, FORM.slot["code"]):
        corners = page.to_photo(box.inset(-1.0).corners).astype(np.int32)
        cv2.fillConvexPoly(grey, corners, 200)
    (marks,) = marks_of(grey)
    nameless = identify(grey, marks, lambda serial: None)
    assert nameless.identity is None and not nameless.conflict
    assert nameless.by_marks.serial == by_code.identity.serial
    assert identify(grey, marks, lambda serial: by_code.identity).identity == by_code.identity


@pytest.mark.parametrize("shift", [(0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)])
def test_a_map_a_whole_row_or_column_off_is_not_trusted(blank, shift):
    """Tries to cause the worst fault: the fit is started exactly one row, or one box, beside the truth."""
    _, grey = shoot(blank, "curl", 3)
    (marks,) = marks_of(grey)
    row = FORM.by_id["d02.pool.A"].box.y - FORM.by_id["d01.pool.A"].box.y
    column = FORM.by_id["d01.mountain.A"].box.x - FORM.by_id["d01.pool.A"].box.x
    right = fit_page(grey, marks, FORM).map
    wrong = PageMap(_moved(right, np.array(shift) * (column, row)), right.margin)
    fit = snapped(grey, wrong, marks, FORM)
    off = np.linalg.norm(fit.map.to_photo(CENTRES) - right.to_photo(CENTRES), axis=1) / right.px_per_mm((148, 105))
    assert off[fit.sure(CENTRES)].max(initial=0.0) < 1.0


def figured(page: np.ndarray, figure: str, crossed: bool) -> np.ndarray:
    """The page with the same figure in every number box, at the same place in all of them, and every other mark box
    crossed: columns of strokes, as dark as ink is."""
    page = page.copy()
    for field in FORM.fields:
        box = field.box
        if field.kind == "number":
            strokes = STROKES[figure]
            size = (0.3 * box.w, 0.72 * box.h)
            start = (box.x + 0.2 * box.w, box.y + 0.14 * box.h)
        elif field.kind == "mark" and crossed and field.deal % 2:
            strokes, size, start = STROKES["x"], (box.w, box.h), (box.x, box.y)
        else:
            continue
        for stroke in strokes:
            points = (np.array(stroke) * size + start) * DPI / 25.4
            cv2.polylines(page, [np.rint(points).astype(np.int32)], False, (40, 40, 40), 6, cv2.LINE_AA)
    return page


STROKES = {
    "1": [[(0.5, 0.0), (0.5, 1.0)]],
    "7": [[(0.0, 0.0), (1.0, 0.0), (0.5, 1.0)]],
    "4": [[(0.0, 0.0), (0.0, 0.6), (1.0, 0.6)], [(0.8, 0.0), (0.8, 1.0)]],
    "x": [[(0.0, 0.0), (1.0, 1.0)], [(1.0, 0.0), (0.0, 1.0)]],
}


@pytest.mark.parametrize("figure", ["1", "7", "4"])
def test_columns_of_figures_are_not_taken_for_lines(blank, figure):
    """Tries to cause it: the bend has moved what the marks foretell by up to half a column, towards the figures."""
    _, grey = shoot(figured(blank, figure, crossed=False), "curl", 3)
    _, bare = shoot(blank, "curl", 3)
    (marks,) = marks_of(grey)
    true = fit_page(bare, marks, FORM).map
    column = FORM.by_id["d01.mountain.A"].box.x - FORM.by_id["d01.pool.A"].box.x
    assert wrongly_sure(grey, marks, true, [(by * column, 0.0) for by in (-0.5, -0.35, -0.2, 0.2, 0.35, 0.5)]) < 0.8


def test_rows_of_crosses_do_not_lead_to_the_next_row(blank):
    _, grey = shoot(figured(blank, "7", crossed=True), "curl", 3)
    _, bare = shoot(blank, "curl", 3)
    (marks,) = marks_of(grey)
    true = fit_page(bare, marks, FORM).map
    row = FORM.by_id["d02.pool.A"].box.y - FORM.by_id["d01.pool.A"].box.y
    # Half of all boxes crossed is more than anyone crosses; even so no field is read in another row.
    assert wrongly_sure(grey, marks, true, [(0.0, by * row) for by in (-1.0, -0.8, -0.6, 0.6, 0.8, 1.0)]) < row / 3


def wrongly_sure(grey: np.ndarray, marks, true: PageMap, shifts: list[tuple[float, float]]) -> float:
    """How far off (mm) a field is, at the most, that a fit is sure of which starts with a part of the page shifted."""
    rows, columns = true.mesh.shape[:2]
    nodes = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * 3.0 - true.margin
    worst = 0.0
    for shift in shifts:
        for middle in ((60.0, 80.0), (150.0, 105.0), (230.0, 80.0)):
            bump = np.exp(-0.5 * (((nodes - middle) / (45.0, 32.0)) ** 2).sum(axis=1))
            # A map moved to what lies further on puts its fields there.
            start = true.to_photo(nodes + bump[:, None] * np.array(shift)).reshape(rows, columns, 2)
            fit = snapped(grey, PageMap(start.astype(np.float32), true.margin), marks, FORM)
            off = np.linalg.norm(fit.map.to_photo(CENTRES) - true.to_photo(CENTRES), axis=1)
            off /= true.px_per_mm((148, 105))
            worst = max(worst, off[fit.sure(CENTRES)].max(initial=0.0))
    return worst


def _moved(page: PageMap, by_mm: Points) -> np.ndarray:
    rows, columns = page.mesh.shape[:2]
    nodes = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * 3.0 - page.margin
    return page.to_photo(nodes + by_mm).reshape(rows, columns, 2).astype(np.float32)


def test_two_sheets_in_one_photo_are_told_apart(blank):
    photos = [shoot(blank, "clean", seed)[1] for seed in (4, 5)]
    small = [cv2.resize(p, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA) for p in photos]
    both = np.vstack(small)
    sheets = marks_of(both)
    assert len(sheets) == 2
    for marks in sheets:
        fit = fit_page(both, marks, FORM)
        assert fit is not None and fit.on_line > 0.95


def test_a_desk_is_no_sheet():
    rng = np.random.default_rng(1)
    desk = cv2.GaussianBlur(rng.integers(0, 255, (1500, 2000)).astype(np.uint8), (0, 0), 3)
    assert not marks_of(desk)


def test_a_mark_with_a_thumb_on_a_corner_bends_nothing(blank):
    _, grey = shoot(blank, "curl", 3)
    (marks,) = marks_of(grey)
    corners = marks[8].corners.copy()
    corners[3] += 0.3 * (corners[0] - corners[3])
    covered = rough_map({**marks, 8: replace(marks[8], corners=corners)}, FORM)
    off = np.linalg.norm(covered.to_photo(CENTRES) - rough_map(marks, FORM).to_photo(CENTRES), axis=1)
    assert off.max() / covered.px_per_mm((148, 105)) < 0.3


def test_a_mark_cut_by_the_pictures_edge_keeps_the_corners_it_was_found_with():
    grey = np.full((300, 400), 200, np.uint8)
    quad = np.array([[-6.0, 50.0], [60.0, 50.0], [60.0, 116.0], [-6.0, 116.0]])
    assert np.array_equal(_refined(grey, quad), quad)
