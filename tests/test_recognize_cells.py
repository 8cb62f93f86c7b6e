"""A field counts as seen only where its own printed frame is."""

import cv2
import numpy as np
import pytest

from benchmarks.finding import blank_photo
from recognize.cells import cut_fields
from recognize.locate import find_sheets, fit_page


def photographed(condition, seed):
    form, photo = blank_photo(condition, seed)
    grey = cv2.imdecode(np.frombuffer(photo.encoded, np.uint8), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    return form, photo, grey


def cells_of(grey, form):
    return cut_fields(grey, fit_page(grey, find_sheets(grey, form)[0], form), form)


@pytest.mark.parametrize("condition", ["mild", "messenger", "faint-print", "curl", "photocopy", "blur"])
def test_a_sheet_with_nothing_on_it_loses_no_box_for_its_frame(condition, monkeypatch):
    form, _, grey = photographed(condition, 50_001)
    found = sum(cell.sure for cell in cells_of(grey, form))
    monkeypatch.setattr("recognize.cells._framed", lambda page, cuts, sure: sure)
    assert found == sum(cell.sure for cell in cells_of(grey, form))


@pytest.mark.parametrize(
    ("colour", "mm"), [(30, 9.0), (110, 9.0), (190, 9.0), (250, 9.0), (30, 14.0), (250, 14.0), ("wood", 14.0)]
)
def test_a_box_under_a_ruler_is_not_an_empty_box(colour, mm):
    form, photo, grey = photographed("mild", 50_001)
    middle = form.by_id["d08.pool.B"].box.centre
    rows = [form.by_id[f"d{deal:02d}.pool.B"].box for deal in range(3, 14)]
    left, right = middle[0] - mm / 2, middle[0] + mm / 2
    on_page = np.array([(left, rows[0].y), (right, rows[0].y), (right, rows[-1].y), (left, rows[-1].y)])
    rng = np.random.default_rng(1)
    grain = cv2.GaussianBlur(rng.normal(120, 60, grey.shape).astype(np.float32), (0, 0), 3)
    ruler = np.clip(grain, 0, 255).astype(np.uint8) if colour == "wood" else np.full_like(grey, colour)
    mask = np.zeros_like(grey)
    cv2.fillPoly(mask, [np.rint(photo.truth(on_page)).astype(np.int32)], 255)
    sure = {cell.field.id: cell.sure for cell in cells_of(np.where(mask > 0, ruler, grey), form)}
    under = [f"d{deal:02d}.pool.B" for deal in range(4, 13)]
    assert not any(sure[name] for name in under)
    # What lies beside it is read as before.
    assert all(sure[f"d{deal:02d}.whists.D.A"] for deal in range(1, 25) if f"d{deal:02d}.whists.D.A" in sure)
    assert sum(sure.values()) > 0.8 * len(sure)


@pytest.mark.parametrize("seed", range(60_000, 60_004))
def test_what_lies_under_a_thing_across_the_table_is_not_seen(seed):
    form, photo, grey = photographed("ruler", seed)
    cells = cells_of(grey, form)
    visible = photo.visible(np.array([cell.field.box.centre for cell in cells]))
    assert not visible.all()
    assert [cell.field.id for cell, v in zip(cells, visible, strict=True) if cell.sure and not v] == []
    # Nothing is given up but for what is covered in part, or a region whose lines were lost.
    assert np.mean([cell.sure for cell, v in zip(cells, visible, strict=True) if v]) > 0.85
