"""Fields are cut out where the printed lines say they are, or not trusted."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from recognize.cells import cut_fields
from recognize.locate import find_sheets, fit_page


@pytest.mark.parametrize("aside_mm", [0.0, -1.1, 0.9, 1.4])
def test_a_map_that_is_off_its_lines_is_not_trusted_though_the_fit_was_sure(photographer, aside_mm):
    one = photographer()
    form = one.sheet.form
    grey = cv2.imdecode(np.frombuffer(one.jpeg, np.uint8), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    fit = fit_page(grey, find_sheets(grey, form)[0], form)
    along = fit.map.to_photo([(101.0, 100.0)])[0] - fit.map.to_photo([(100.0, 100.0)])[0]
    # One half of the page slips sideways by so much.
    mesh = fit.map.mesh.copy()
    mesh[:, mesh.shape[1] // 2 :] += (aside_mm * along).astype(np.float32)
    cells = cut_fields(grey, replace(fit, map=replace(fit.map, mesh=mesh)), form)
    right_half = [cell for cell in cells if cell.field.box.x > form.page[0] / 2 + 6 and cell.field.deal]
    if aside_mm:
        assert not any(cell.sure for cell in right_half)
    else:
        assert all(cell.sure for cell in cells)
