import cv2
import numpy as np
import pytest

from desk.picture import PX_PER_MM, draw_reading
from recognize.page import MESH_MM, PageMap
from recognize.reading import FieldReading, Mistake, Question, Reading
from scoring.text import Text
from templates import load_form

FORM = load_form("protocol", 4)
PHOTO_PX_PER_MM = 5.0
GREEN, AMBER, RED, GREY = (0, 122, 62), (214, 118, 0), (205, 20, 40), (105, 105, 165)


@pytest.fixture
def page_map():
    """A photo that is the page itself, PHOTO_PX_PER_MM pixels a millimetre, seen upside down."""
    width, height = FORM.page
    margin = 6.0
    x, y = np.meshgrid(np.arange(-margin, width + margin, MESH_MM), np.arange(-margin, height + margin, MESH_MM))
    mesh = np.stack([(width - x) * PHOTO_PX_PER_MM - 0.5, (height - y) * PHOTO_PX_PER_MM - 0.5], axis=-1)
    return PageMap(mesh.astype(np.float32), margin)


def photo(shade=235):
    width, height = (round(side * PHOTO_PX_PER_MM) for side in FORM.page)
    return np.full((height, width), shade, np.uint8)


def reading(page_map, **kwargs):
    fields = {field.id: FieldReading("", 1.0, "empty") for field in FORM.fields}
    fields |= kwargs.pop("fields", {})
    return Reading("x.jpg", 1, "review", fields=fields, page_map=page_map, **kwargs)


def colours_at(picture, field_id):
    """Which of the colours occur in and around a field's box."""
    box = FORM.by_id[field_id].box.inset(-0.6)
    x, y, w, h = (round(v * PX_PER_MM) for v in (box.x, box.y, box.w, box.h))
    part = np.asarray(picture)[y : y + h, x : x + w].reshape(-1, 3)
    return {colour for colour in (GREEN, AMBER, RED, GREY) if (part == colour).all(axis=1).sum() > 5}


def test_each_field_shows_in_the_colour_of_what_became_of_it(page_map):
    told = reading(
        page_map,
        fields={
            "d03.pool.A": FieldReading("12", 0.9999, "clear"),
            "d05.contract.7": FieldReading("x", 0.9999, "clear"),
            "d07.tricks.C": FieldReading("3", 0.7, "doubtful", other=(("8", 0.3),)),
            "d09.whists.B.A": FieldReading("24", 0.999, "clear"),
            "d15.mountain.B": FieldReading("1", 0.5, "doubtful"),
        },
        review=(
            Question("d07.tricks.C", "3", ("8",), Text("неразборчиво", "hard to read")),
            Question("d11.declarer.B", "", ("x",), Text("?", "?")),
        ),
        mistakes=(
            Mistake(9, "d09.whists.B.A", "whists", "B", "A", "arithmetic", 24, 22, 0.999, Text("", "")),
            Mistake(13, "d13.pool.D", "pool", "D", None, "forgotten", None, 6, 0.999, Text("", "")),
        ),
    )
    picture = draw_reading(photo(), told, FORM, "ru")
    assert picture.size[0] == round(FORM.page[0] * PX_PER_MM)
    assert colours_at(picture, "d03.pool.A") == {GREEN}
    assert colours_at(picture, "d05.contract.7") == {GREEN}
    assert colours_at(picture, "d07.tricks.C") == {AMBER}
    assert colours_at(picture, "d11.declarer.B") == {AMBER}
    assert colours_at(picture, "d09.whists.B.A") == {RED}
    assert colours_at(picture, "d13.pool.D") == {RED}
    assert colours_at(picture, "d15.mountain.B") == {GREY}
    # Nothing is drawn where nothing is written.
    assert colours_at(picture, "d20.pool.C") == set()


def test_a_mistake_that_is_also_asked_about_shows_and_counts_as_both(page_map, monkeypatch):
    written = []

    def write(draw, x, y, words, colour, height=0.0):
        written.append(words)
        return x + 40

    monkeypatch.setattr("desk.picture._write", write)
    told = reading(
        page_map,
        fields={
            "d03.pool.A": FieldReading("12", 0.9999, "clear"),
            "d07.whists.B.C": FieldReading("18", 0.88, "doubtful"),
            "d09.contract.7": FieldReading("x", 0.9, "doubtful"),
            "d12.pool.C": FieldReading("", 0.0, "unreadable"),
        },
        review=(
            Question("d07.whists.B.C", "18", ("12",), Text("?", "?")),
            Question("sheet", "", (), Text("?", "?")),
        ),
        mistakes=(Mistake(7, "d07.whists.B.C", "whists", "B", "C", "arithmetic", 18, 12, 0.9, Text("", "")),),
    )
    picture = draw_reading(photo(), told, FORM, "en")
    assert colours_at(picture, "d07.whists.B.C") == {AMBER, RED}
    assert colours_at(picture, "d09.contract.7") == colours_at(picture, "d12.pool.C") == {GREY}
    code = FORM.slot["code"]
    left = np.asarray(picture)[round((code.y + code.h / 2) * PX_PER_MM), : round(code.x * PX_PER_MM)]
    assert (left == AMBER).all(axis=1).any()
    assert "18? (12)" in written
    assert written[-4:] == [
        "read with certainty · 1",
        "please look yourself · 2",
        "mistake: written (due) · 1",
        "not clear, but hardly matters · 2",
    ]


def test_the_page_is_upright_and_evenly_lit(page_map):
    dark = photo()
    box = FORM.by_id["d03.pool.A"].box
    x, y = (round((side - at) * PHOTO_PX_PER_MM) for side, at in zip(FORM.page, box.centre, strict=True))
    cv2.circle(dark, (x, y), 4, 40, -1)
    dark[:, : dark.shape[1] // 2] //= 2  # a shadow over half of it
    flat = np.asarray(draw_reading(dark, reading(page_map), FORM, "ru").convert("L"))
    cx, cy = (round(v * PX_PER_MM) for v in box.centre)
    assert flat[cy, cx] < 100
    paper = flat[: round(FORM.page[1] * PX_PER_MM)]
    # All but a strip along the hard edge of the shadow.
    assert (paper[50:-50:37, 50:-50:37] > 240).mean() > 0.94


def test_the_words_keep_off_the_ink(page_map):
    with_ink = photo()
    box = FORM.by_id["d03.pool.A"].box
    # Something is written in the left half of the box.
    points = [(box.x, box.y), (box.x + box.w / 2, box.y + box.h)]
    (x0, y0), (x1, y1) = [[round((s - v) * PHOTO_PX_PER_MM) for s, v in zip(FORM.page, p, strict=True)] for p in points]
    with_ink[min(y0, y1) : max(y0, y1), min(x0, x1) : max(x0, x1)] = 60
    told = reading(page_map, fields={"d03.pool.A": FieldReading("7", 0.9999, "clear")})
    picture = np.asarray(draw_reading(with_ink, told, FORM, "ru"))
    at = np.argwhere((picture == GREEN).all(axis=2))
    in_box = at[at[:, 0] < round(FORM.page[1] * PX_PER_MM)]
    assert in_box[:, 1].min() > (box.x + box.w / 2) * PX_PER_MM


@pytest.mark.parametrize("lang", ["ru", "en"])
def test_the_legend_fits_the_picture(page_map, lang):
    unsure = reading(page_map, fields={f.id: FieldReading("", 0.0, "unreadable") for f in FORM.fields})
    picture = np.asarray(draw_reading(photo(), unsure, FORM, lang).convert("L"))
    legend = picture[round(FORM.page[1] * PX_PER_MM) + 4 :]
    assert (legend < 128).any()
    assert (legend[:, -40:] > 250).all()


def test_there_is_no_picture_without_a_page():
    assert draw_reading(photo(), Reading("x.jpg", 1, "unreadable"), FORM, "ru") is None
