from dataclasses import replace

import cv2
import numpy as np
import pytest

from recognize.marks import read_mark, read_marks
from recognize.simulation.hand import Correction, MarkStyle, make_writer, write_sheet
from templates import load_form

PX = 12
FORM = load_form("protocol", 4)
MARKS = [field for field in FORM.fields if field.kind == "mark"]


def written(
    names: list[str], marked: set[str], seed: int, style: MarkStyle = "cross", cancelled: set[str] | None = None
) -> list[np.ndarray]:
    """Cut-outs of the boxes named, marked by one made-up person, at the reader's six pixels a millimetre."""
    rng = np.random.default_rng(seed)
    width, height = FORM.page
    page = np.full((round(height * PX), round(width * PX)), 230, np.uint8)
    for field in MARKS:
        x, y, w, h = (round(v * PX) for v in (field.box.x, field.box.y, field.box.w, field.box.h))
        cv2.rectangle(page, (x, y), (x + w, y + h), 150, 2)
    writer = replace(make_writer(rng), mark=style)
    fixes = {name: Correction("cancelled") for name in cancelled or ()}
    page = write_sheet(page, PX, FORM, {name: "x" for name in marked}, writer, rng, fixes)
    page = cv2.resize(page, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    cuts = []
    for name in names:
        box = FORM.by_id[name].box.inset(-0.8)
        x, y, w, h = (round(v * PX / 2) for v in (box.x, box.y, box.w, box.h))
        cuts.append(page[y : y + h, x : x + w])
    return cuts


def some_boxes(seed: int, count: int = 120) -> list[str]:
    return [MARKS[i].id for i in np.random.default_rng(seed).choice(len(MARKS), count, replace=False)]


@pytest.mark.parametrize("style", ["cross", "tick", "slash"])
def test_marks_are_marks_and_their_neighbours_are_not(style: MarkStyle) -> None:
    wrong = 0
    for seed in range(3):
        names = some_boxes(seed)
        marked = set(names[::3])
        readings = read_marks(written(names, marked, seed, style))
        wrong += sum((r.value == "x") != (name in marked) for name, r in zip(names, readings, strict=True))
    assert wrong <= 2


def test_a_box_filled_all_over_is_cancelled() -> None:
    names = some_boxes(7, 60)
    readings = [r for seed in range(3) for r in read_marks(written(names, set(), seed, cancelled=set(names)))]
    assert sum(reading.cancelled > 0.5 and reading.value == "" for reading in readings) >= 0.97 * len(readings)


def test_empty_boxes_are_empty_for_certain() -> None:
    names = [field.id for field in MARKS[:200]]
    readings = read_marks(written(names, set(), 1))
    assert all(reading.value == "" and reading.probability < 0.02 for reading in readings)


def test_a_reading_is_a_distribution() -> None:
    names = some_boxes(3)
    for reading in read_marks(written(names, set(names[::2]), 3)):
        assert 0 <= reading.probability <= 1
        assert 0 <= reading.cancelled <= 1
        assert reading.probability + reading.cancelled <= 1 + 1e-9
        assert reading.confidence >= 1 / 3


def test_one_at_a_time_colour_and_size_agree() -> None:
    names = some_boxes(4, 20)
    cuts = written(names, set(names[::2]), 4)
    together = read_marks(cuts)
    for cut, reading in zip(cuts, together, strict=True):
        assert read_mark(cut).probability == pytest.approx(reading.probability, abs=1e-4)
        assert read_mark(cv2.cvtColor(cut, cv2.COLOR_BGR2GRAY)).value == reading.value
        assert read_mark(cv2.resize(cut, (90, 90), interpolation=cv2.INTER_CUBIC)).value == reading.value
    assert read_marks([]) == []


@pytest.mark.parametrize(
    "picture", [np.zeros((0, 5), np.uint8), np.zeros((9, 9), float), np.zeros((9, 9, 4), np.uint8)]
)
def test_what_is_no_picture_is_refused(picture: np.ndarray) -> None:
    with pytest.raises(ValueError, match="picture"):
        read_mark(picture)
