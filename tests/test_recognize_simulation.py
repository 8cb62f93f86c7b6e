import io
from dataclasses import replace

import cv2
import numpy as np
import pytest
from PIL import Image

from recognize.simulation.bend import Bend, Surface
from recognize.simulation.camera import (
    CONDITIONS,
    Occluder,
    Shadow,
    Shot,
    as_jpeg,
    draw_shot,
    photograph,
    worn_print,
)
from recognize.simulation.glyphs import drawn_styles
from recognize.simulation.hand import Correction, Pen, Writer, make_writer, real_writers, write_sheet
from recognize.simulation.table import MISTAKES, UNFORESEEN, correct, forget, play, write_down
from recognize.simulation.writers import is_as_labelled, is_held_out
from scoring import Written, check, ledger, violations
from scoring.game import cells_of
from templates import load_form

PX_PER_MM = 6.0
SMALL = (2016, 1512)
BENDS = [
    Bend(),
    Bend("arch", 12, 10, 0.4),
    Bend("edge", 18, 35, 0.4),
    Bend("wave", 10, 60),
    Bend("roll", 15, 90),
    Bend("fold", 10, 0, 0.5),
    Bend("fold", -8, 90, 1 / 3),
]


@pytest.fixture(scope="module")
def white_page():
    return np.full((round(210 * PX_PER_MM), round(297 * PX_PER_MM)), 255, np.uint8)


@pytest.fixture(scope="module")
def dots():
    x, y = np.meshgrid(np.arange(12, 290, 25.0), np.arange(12, 205, 23.0))
    return np.stack([x, y], axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def dotted_page(white_page, dots):
    page = white_page.copy()
    for x, y in dots:
        centre = tuple(round((v * PX_PER_MM - 0.5) * 16) for v in (x, y))
        cv2.circle(page, centre, round(1.3 * PX_PER_MM * 16), 0, -1, cv2.LINE_AA, 4)
    return page


def find_dots(photo, near):
    """The centres of mass of what is dark round each given point."""
    grey = 255 - cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY).astype(float)
    reach = int(2.2 * photo.px_per_mm())
    found = []
    for x, y in near:
        x0, y0 = round(x), round(y)
        window = grey[y0 - reach : y0 + reach + 1, x0 - reach : x0 + reach + 1]
        dark = np.clip(window - np.percentile(window, 20) - 25, 0, None)
        yy, xx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        found.append((x0 + (dark * xx).sum() / dark.sum(), y0 + (dark * yy).sum() / dark.sum()))
    return np.array(found)


# --- the camera ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bend", "changes"),
    [
        (BENDS[0], {}),
        (BENDS[0], {"tilt": 40.0, "azimuth": 200.0, "distortion": 0.01}),
        (BENDS[1], {"turn": 90, "size": (1512, 2016)}),
        (BENDS[2], {"turn": 180, "print_scale": 0.97, "print_shift": (1.0, -0.7)}),
        (BENDS[3], {"tilt": 30.0}),
        (BENDS[4], {"turn": 270}),
        (BENDS[5], {}),
        (BENDS[6], {}),
        (BENDS[1], {"shrink": 1280, "size": (4032, 3024)}),
    ],
)
def test_the_truth_is_where_the_ink_is(dotted_page, dots, bend, changes):
    shot = replace(Shot(size=SMALL, tilt=22, bend=bend, noise=0.2, defocus=0.6, light=0.9, desk="dark"), **changes)
    photo = photograph(dotted_page, PX_PER_MM, shot, np.random.default_rng(1))
    truth = photo.truth(dots)
    assert photo.in_frame(dots).all()
    assert np.linalg.norm(find_dots(photo, truth) - truth, axis=1).max() < 0.3


@pytest.mark.parametrize("bend", BENDS)
def test_a_bent_sheet_keeps_its_lengths(bend):
    surface = Surface(bend, 297, 210)
    rng = np.random.default_rng(2)
    for a, b in rng.uniform([-148, -105], [148, 105], (20, 2, 2)):
        path = a + np.linspace(0, 1, 2001)[:, None] * (b - a)
        length = np.linalg.norm(np.diff(surface.to_space(path), axis=0), axis=1).sum()
        assert length == pytest.approx(np.linalg.norm(b - a), rel=1e-3)
    heights = surface.to_space(rng.uniform([-148, -105], [148, 105], (4000, 2)))[:, 2]
    assert heights.min() > -1e-6
    assert heights.max() == pytest.approx(abs(bend.height) if bend.kind != "flat" else 0, abs=0.35 * abs(bend.height))


@pytest.mark.parametrize("bend", BENDS)
def test_a_ray_meets_the_sheet_where_the_point_came_from(bend):
    surface = Surface(bend, 297, 210)
    points = np.random.default_rng(3).uniform([-140, -100], [140, 100], (200, 2))
    eye = np.array([60.0, 250.0, 330.0])
    assert np.abs(surface.hit(eye, surface.to_space(points) - eye) - points).max() < 1e-3


def test_turn_is_clockwise(white_page):
    for turn, (dx, dy) in {0: (0, -1), 90: (1, 0), 180: (0, 1), 270: (-1, 0)}.items():
        shot = Shot(size=(1008, 756), turn=turn)
        top = photograph(white_page, PX_PER_MM, shot, np.random.default_rng(0)).truth(
            np.array([[148.5, 0.0], [148.5, 105.0]])
        )
        way = (top[0] - top[1]) / np.linalg.norm(top[0] - top[1])
        assert np.allclose(way, (dx, dy), atol=1e-6)


def test_the_same_seed_gives_the_same_photo(dotted_page):
    def take(seed):
        rng = np.random.default_rng(seed)
        shot = replace(draw_shot("hard", rng), size=(1008, 756))
        return photograph(dotted_page, PX_PER_MM, shot, rng)

    assert as_jpeg(take(5)) == as_jpeg(take(5))
    assert as_jpeg(take(5)) != as_jpeg(take(6))


CUT = {"corner-cut": (0.8, 0.98), "side-cut": (0.85, 0.99), "table-cut": (0.6, 0.93)}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_condition_gives_a_photo_with_as_much_of_the_sheet_as_it_says(dotted_page, condition):
    grid = np.stack(np.meshgrid(np.linspace(0, 297, 30), np.linspace(0, 210, 20)), axis=-1).reshape(-1, 2)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        shot = draw_shot(condition, rng)
        photo = photograph(dotted_page, PX_PER_MM, replace(shot, size=tuple(s // 4 for s in shot.size)), rng)
        least, most = CUT.get(condition, (1.0, 1.0))
        assert least <= photo.in_frame(grid).mean() <= most
        assert photo.image.dtype == np.uint8
        assert photo.image.std() > 10
    with pytest.raises(ValueError, match="no condition"):
        draw_shot("sunny", np.random.default_rng(0))


def test_drawn_shots_lie_in_the_measured_ranges():
    rng = np.random.default_rng(0)
    mild = [draw_shot("mild", rng) for _ in range(300)]
    both = mild + [draw_shot("hard", rng) for _ in range(300)]
    assert all(6 <= shot.tilt <= 47 for shot in both)
    assert 18 <= np.median([shot.tilt for shot in both]) <= 26
    assert all(142 <= shot.white <= 232 and 30 <= shot.jpeg <= 96 for shot in both)
    assert all(0 <= shot.bend.height <= 6 and shot.size == (4032, 3024) and not shot.shadows for shot in mild)
    assert {shot.bend.kind for shot in mild} >= {"flat", "arch", "edge", "wave", "roll"}


def linear(levels):
    return ((np.asarray(levels) / 255 + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize("seed", range(2))
def test_mild_photos_look_as_measured(white_page, seed):
    page = white_page.copy()
    page[600:, :] = 0
    rng = np.random.default_rng(seed)
    shot = draw_shot("mild", rng)
    photo = photograph(page, PX_PER_MM, shot, rng)
    assert 6 <= photo.px_per_mm() <= 13
    grey = cv2.cvtColor(photo.image, cv2.COLOR_BGR2GRAY).astype(float)
    x, y = np.meshgrid(np.arange(4, 295, 8.0), np.arange(4, 95, 8.0))
    at = photo.truth(np.stack([x, y], axis=-1).reshape(-1, 2)).round().astype(int)
    white = np.array([np.median(grey[b - 4 : b + 5, a - 4 : a + 5]) for a, b in at])
    assert 142 <= np.median(white) <= 235
    # Half the sheet is black here, so the light falls off less over the rest than over the whole of it.
    assert 0.29 <= linear(white.min()) / linear(white.max()) <= 0.95
    noise = [np.diff(np.diff(grey[b - 6 : b + 7, a - 6 : a + 7], axis=0), axis=1).std() / 2 for a, b in at]
    assert np.median(noise) <= 1.0
    # Across the edge between black and white, in linear light: from 16 to 84 % are two sigmas of blur.
    line = photo.truth(np.stack([np.full(801, 148.5), np.linspace(99, 101, 801)], axis=1)).astype(np.float32)
    edge = linear(
        cv2.remap(grey.astype(np.float32), line[None, :, 0].copy(), line[None, :, 1].copy(), cv2.INTER_LINEAR)[0]
    )
    share = (edge - edge.min()) / (edge.max() - edge.min())
    width = np.linalg.norm(line[np.argmax(share < 0.16)] - line[np.argmax(share < 0.84)])
    assert 0.4 <= width / 2 <= 1.9


def test_shadow_and_lamp_act_on_the_sheet(white_page):
    shot = Shot(size=(1008, 756), light=0.6, noise=0, sharpen=0, jpeg=96, contrast=0, desk="dark")
    spots = np.array([[60.0, 105.0], [240.0, 105.0]])

    def brightness(shot):
        photo = photograph(white_page, PX_PER_MM, shot, np.random.default_rng(0))
        at = photo.truth(spots).round().astype(int)
        return linear([photo.image[y - 3 : y + 4, x - 3 : x + 4].mean() for x, y in at])

    plain = brightness(shot)
    shaded = brightness(replace(shot, shadows=(Shadow((150, 105), 0, 0.3, 3),)))
    assert shaded[1] / shaded[0] == pytest.approx(0.3 * plain[1] / plain[0], rel=0.1)


def test_what_a_thumb_covers_is_not_visible(white_page):
    thumb = Occluder("thumb", (20, 105), 180, 20)
    shot = Shot(size=(1008, 756), occluders=(thumb,))
    photo = photograph(white_page, PX_PER_MM, shot, np.random.default_rng(0))
    points = np.array([[8.0, 105.0], [40.0, 105.0], [8.0, 140.0], [-60.0, -60.0]])
    assert photo.visible(points).tolist() == [False, True, True, False]
    x, y = photo.truth(points[:1]).round().astype(int)[0]
    blue, _, red = photo.image[y, x]
    assert red > blue + 20


def test_a_messenger_shrinks(dotted_page):
    photo = photograph(dotted_page, PX_PER_MM, Shot(size=SMALL, shrink=1280, jpeg=50), np.random.default_rng(0))
    assert max(photo.image.shape) == 1280
    assert 3 < photo.px_per_mm() < 4.5


def test_jpeg_files_hold_the_photo_and_the_orientation(dotted_page):
    photo = photograph(dotted_page, PX_PER_MM, Shot(size=(1008, 756)), np.random.default_rng(0))
    decoded = cv2.imdecode(np.frombuffer(as_jpeg(photo), np.uint8), cv2.IMREAD_COLOR)
    assert (decoded == photo.image).all()
    turned = Image.open(io.BytesIO(as_jpeg(photo, orientation=6)))
    assert turned.getexif()[0x0112] == 6
    assert turned.size == (1008, 756)
    assert len(as_jpeg(photo, quality=20)) < len(as_jpeg(photo))


def test_worn_print_fades_black_and_leaves_white(dotted_page):
    worn = worn_print(dotted_page, 0.5, np.random.default_rng(0))
    assert (worn[dotted_page == 255] == 255).all()
    assert 110 < np.median(worn[dotted_page == 0]) < 150


def test_real_backgrounds_are_used_where_given(white_page, tmp_path, monkeypatch):
    for folder in ("backgrounds", "paper_textures"):
        (tmp_path / folder).mkdir()
    cv2.imwrite(str(tmp_path / "backgrounds" / "red.jpg"), np.full((400, 600, 3), (20, 20, 200), np.uint8))
    cv2.imwrite(str(tmp_path / "paper_textures" / "plain.png"), np.full((64, 64), 230, np.uint8))
    monkeypatch.setenv("PULKA_PHOTOS", str(tmp_path))
    corners = []
    for seed in range(12):
        image = photograph(white_page, PX_PER_MM, Shot(size=(504, 378), fill=0.6), np.random.default_rng(seed)).image
        corners.append(image[:20, :20].reshape(-1, 3).mean(axis=0))
    red = [b < 60 and g < 60 and r > 60 for b, g, r in corners]
    assert any(red)
    assert not all(red)


# --- the hand --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def form():
    return load_form("protocol", 4)


def ink_in(page, box, px_per_mm=PX_PER_MM):
    """The share of a box that is darker than paper."""
    x0, y0, x1, y1 = (round(v * px_per_mm) for v in (box.x, box.y, box.x + box.w, box.y + box.h))
    return float((page[y0:y1, x0:x1].min(axis=-1) < 170).mean())


@pytest.mark.parametrize("seed", range(6))
def test_a_person_writes_where_he_should(white_page, form, seed):
    rng = np.random.default_rng(seed)
    writer = make_writer(rng)
    values = {
        "d03.pool.A": "24",
        "d05.whists.B.A": "108",
        "d07.tricks.C": "6",
        "d09.declarer.B": "x",
        "d10.pool.D": "-",
    }
    page = write_sheet(white_page, PX_PER_MM, form, values, writer, rng)
    for field_id in values:
        assert ink_in(page, form.by_id[field_id].box.inset(-0.3)) > 0.005
    rest = page.min(axis=-1).copy()
    for field_id in values:
        b = form.by_id[field_id].box.inset(-3.5)
        x0, y0, x1, y1 = (round(v * PX_PER_MM) for v in (b.x, b.y, b.x + b.w, b.y + b.h))
        rest[y0:y1, x0:x1] = 255
    assert rest.min() == 255


def test_every_style_of_every_figure_fills_its_height_and_can_be_told_apart():
    shapes = {}
    for figure in "0123456789":
        styles = drawn_styles(figure)
        assert len(styles) >= 3
        for style, glyph in styles.items():
            points = np.concatenate(glyph)
            assert points[:, 1].min() == pytest.approx(0, abs=0.07)
            assert points[:, 1].max() == pytest.approx(1, abs=0.05)
            picture = np.zeros((64, 64), np.uint8)
            for stroke in glyph:
                cv2.polylines(picture, [(stroke * 44 + 10).astype(np.int32)], False, 255, 3)
            shapes[figure, style] = cv2.GaussianBlur(picture, (0, 0), 2).astype(float).ravel()
    for (figure, style), shape in shapes.items():
        others = [np.corrcoef(shape, other)[0, 1] for (f, _), other in shapes.items() if f != figure]
        assert max(others) < 0.95, f"{figure} {style} is drawn like another figure"


def test_ink_only_takes_light(form):
    page = np.full((round(210 * PX_PER_MM), round(297 * PX_PER_MM), 3), 200, np.uint8)
    written = write_sheet(page, PX_PER_MM, form, {"d01.pool.A": "88"}, make_writer(np.random.default_rng(1)),
                          np.random.default_rng(2))  # fmt: skip
    assert (written <= page).all()
    assert (written < page).any()
    assert (page == 200).all()


def test_each_player_writes_his_own_totals(white_page, form):
    def pen_of(colour):
        return replace(make_writer(np.random.default_rng(0)), pen=Pen("gel", 0.5, colour, 1.0, 0.0, 0.0))

    writers = {"A": pen_of((200, 20, 20)), "B": pen_of((20, 20, 200)), "recorder": pen_of((20, 150, 20))}
    values = {"d01.pool.A": "8", "d01.pool.B": "8", "d01.tricks.A": "8", "d01.contract.6": "x"}
    page = write_sheet(white_page, PX_PER_MM, form, values, writers, np.random.default_rng(0))
    strongest = {}
    for field_id in values:
        b = form.by_id[field_id].box
        patch = page[round(b.y * PX_PER_MM) : round((b.y + b.h) * PX_PER_MM),
                     round(b.x * PX_PER_MM) : round((b.x + b.w) * PX_PER_MM)]  # fmt: skip
        strongest[field_id] = int(patch.reshape(-1, 3).mean(axis=0).argmax())
    assert strongest == {"d01.pool.A": 0, "d01.pool.B": 2, "d01.tricks.A": 1, "d01.contract.6": 1}


def test_corrections_show_how_they_came_about(white_page, form):
    writer = replace(
        make_writer(np.random.default_rng(4)), pen=Pen("gel", 0.5, (30, 30, 30), 1.0, 0.0, 0.0), corner=0.0
    )
    box = form.by_id["d04.pool.A"].box

    def ink(value, fix=None):
        page = write_sheet(white_page, PX_PER_MM, form, {"d04.pool.A": value} if value else {}, writer,
                           np.random.default_rng(0), {"d04.pool.A": fix} if fix else {})  # fmt: skip
        return ink_in(page, box)

    plain = ink("24")
    assert ink("24", Correction("struck", "22")) > plain
    assert ink("24", Correction("overwritten", "22")) > plain
    assert ink("", Correction("struck", "22")) > 0
    assert ink("", Correction("scribbled", "22")) > 0.25
    mark = form.by_id["d04.whist.B"].box
    crossed = replace(writer, mark="cross")
    cancelled = write_sheet(white_page, PX_PER_MM, form, {"d04.whist.C": "x"}, crossed, np.random.default_rng(0),
                            {"d04.whist.B": Correction("cancelled")})  # fmt: skip
    assert ink_in(cancelled, mark) > 0.95
    assert 0.05 < ink_in(cancelled, form.by_id["d04.whist.C"].box) < 0.7


def test_figures_are_overwritten_where_they_stand(white_page, form):
    box = form.by_id["d04.pool.A"].box
    for seed in range(20):
        writer = replace(
            make_writer(np.random.default_rng(seed)), pen=Pen("gel", 0.5, (30, 30, 30), 1.0, 0.0, 0.0), corner=0.0
        )

        def places(value, fix=None, writer=writer, seed=seed):
            page = write_sheet(white_page, PX_PER_MM, form, {"d04.pool.A": value}, writer,
                               np.random.default_rng(seed), {"d04.pool.A": fix} if fix else {})  # fmt: skip
            return np.argwhere(page.min(axis=2) < 128) / PX_PER_MM - [box.y, box.x]

        wrong, right = places("8"), places("0", Correction("overwritten", "8"))
        assert np.abs(wrong.min(axis=0) - right.min(axis=0)).max() < 1
        assert np.abs(wrong.max(axis=0) - right.max(axis=0)).max() < 1
        assert len(right) > 1.2 * len(wrong)


def test_filling_as_a_mark_stays_short_of_a_full_box(white_page, form):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        writer = replace(make_writer(rng), mark="filled", mark_size=1.0)
        page = write_sheet(white_page, PX_PER_MM, form, {"d04.whist.C": "x"}, writer, rng)
        assert ink_in(page, form.by_id["d04.whist.C"].box) < 0.9


@pytest.mark.parametrize(
    ("values", "message"),
    [({"d01.pool.E": "1"}, "no field"), ({"d01.pool.A": "1a"}, "is a number"), ({"d01.whist.A": "7"}, "is a mark")],
)
def test_what_cannot_be_written_is_refused(white_page, form, values, message):
    with pytest.raises(ValueError, match=message):
        write_sheet(
            white_page, PX_PER_MM, form, values, make_writer(np.random.default_rng(0)), np.random.default_rng(0)
        )


@pytest.mark.parametrize(
    ("field_id", "value", "fix"),
    [
        ("d01.whist.A", "x", Correction("cancelled")),
        ("d01.whist.A", "", Correction("struck", "1")),
        ("d01.pool.A", "", Correction("overwritten", "1")),
        ("d01.pool.A", "8", Correction("overwritten", "10")),
        ("d01.pool.A", "2", Correction("struck")),
        ("d01.pool.A", "", Correction("cancelled", "1")),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused(white_page, form, field_id, value, fix):
    with pytest.raises(ValueError, match="can be cancelled|cannot have come about"):
        write_sheet(white_page, PX_PER_MM, form, {field_id: value}, make_writer(np.random.default_rng(0)),
                    np.random.default_rng(0), {field_id: fix})  # fmt: skip


def save_strokes(path, labels, writers, strokes):
    """A stroke set of one stroke a character, as the recognised data sets are laid out."""
    offsets = np.cumsum([0] + [len(s) for s in strokes]).astype(np.int32)
    np.savez(path, y=np.array(labels), w=np.array(writers), pts=np.concatenate(strokes).astype(np.uint8),
             stroke_off=offsets, char_off=np.arange(len(labels) + 1, dtype=np.int32),
             rel_size=np.tile(np.float32([0.5, 1.0]), (len(labels), 1)))  # fmt: skip


def test_real_characters_make_writers(tmp_path, white_page, form):
    stroke = np.array([[0, 0], [60, 120], [127, 255]])
    whole = [(d, "whole") for d in "0123456789"]
    part = [(d, "part") for d in "012345678"]
    labels, people = zip(*whole, *part, strict=True)
    save_strokes(tmp_path / "unipen_digits.npz", labels, people, [stroke] * len(labels))
    writers = real_writers(tmp_path)
    assert list(writers) == ["whole"]
    glyph = writers["whole"].glyphs["7"][0]
    assert np.allclose(glyph[0][[0, -1]], [[0, 0], [127 / 255, 1]])
    assert isinstance(writers["whole"], Writer)
    with pytest.raises(KeyError):
        real_writers(tmp_path, ["part"])
    page = write_sheet(white_page, PX_PER_MM, form, {"d01.pool.A": "107", "d02.pool.A": "-"}, writers["whole"],
                       np.random.default_rng(0))  # fmt: skip
    assert ink_in(page, form.by_id["d01.pool.A"].box) > 0.02


def test_the_same_seed_writes_the_same(white_page, form):
    def write(seed):
        rng = np.random.default_rng(seed)
        return write_sheet(white_page, PX_PER_MM, form, {"d01.pool.A": "24"}, make_writer(rng), rng)

    assert (write(1) == write(1)).all()
    assert (write(1) != write(2)).any()


def test_some_writers_are_held_out_for_ever():
    ids = [f"writer_{i:04d}" for i in range(4000)]
    assert 0.2 < np.mean([is_held_out(i) for i in ids]) < 0.245
    # A change here would let people into training whom earlier figures were measured on.
    assert [int(i[-4:]) for i in ids[:20] if is_held_out(i)] == [4, 9, 11, 12, 17]
    assert not is_held_out("")


def test_recordings_that_are_not_what_they_are_said_to_be_are_left_out():
    people, labels = ["ibm_000"] * 4 + ["else"], ["1", "1", "0", "1", "1"]
    assert is_as_labelled(people, labels).tolist() == [True, True, True, False, True]
    assert is_as_labelled([], []).tolist() == []


# --- the table -------------------------------------------------------------------------------------------------------


def on_paper(game, values):
    """The game with the totals that stand in the boxes."""
    written = []
    for field_id, text in values.items():
        row, column, *seats = field_id.split(".")
        if column in ("pool", "mountain", "whists") and text not in ("", "-"):
            written.append(Written(int(row[1:]), column, seats[0], int(text), seats[1] if len(seats) > 1 else None))
    return replace(game, written=tuple(written))


TABLES = [(convention, players) for convention in ("sochi", "leningrad", "piter", "rostov") for players in (3, 4)]


@pytest.mark.parametrize(("convention", "players"), TABLES)
def test_games_keep_the_rules_and_fit_the_form(convention, players):
    form = load_form("protocol", players)
    kinds = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        game = play(convention, players, form.rows, rng)
        assert not violations(game)
        assert all(form.dealer(deal.deal) == deal.dealer for deal in game.deals)
        kinds |= {deal.contract for deal in game.deals}
        for habit in ("sparse", "dashes", "full"):
            values, slips = write_down(game, rng, habit=habit)
            assert not slips
            assert set(values) <= set(form.by_id)
            assert not check(on_paper(game, values)).mistakes
    assert kinds >= {"6", "7", "8", "misere", "raspasy"}


def test_only_what_changed_is_written_and_tricks_by_the_rules():
    rng = np.random.default_rng(0)
    game = play("sochi", 4, 24, rng)
    values, _ = write_down(game, rng, habit="sparse")
    for deal, posted in zip(game.deals, ledger(game).deals, strict=True):
        row = f"d{deal.deal:02d}."
        totals = {
            k: v for k, v in values.items() if k.startswith(row) and k.split(".")[1] in ("pool", "mountain", "whists")
        }
        assert len(totals) == len(posted.entries)
        tricks = {k.split(".")[2] for k in values if k.startswith(row + "tricks")}
        if deal.contract == "raspasy":
            assert len(tricks) == 3
        elif deal.contract == "misere":
            assert tricks == {deal.declarer}
        else:
            whisted = {seat for seat, said in deal.defence.items() if said == "whist"}
            assert tricks == ({deal.declarer} | whisted if whisted else set())


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_where_it_says_and_is_carried_on(kind):
    made = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        game = play("sochi", 3, 24, rng)
        values, slips = write_down(game, rng, [kind], habit="sparse")
        clean, _ = write_down(game, rng, habit="sparse")
        if not slips:
            assert values == clean
            continue
        (slip,) = slips
        made += 1
        # Forgotten help has a name of its own.
        assert slip.kind == kind or (kind, slip.kind) == ("forgotten", "missed help")
        assert values.get(slip.field) == (None if slip.written is None else str(slip.written))
        assert slip.written != slip.expected
        # The rules find it from the paper alone, in that deal and box, and only once.
        assert [(m.deal, m.field) for m in check(on_paper(game, values)).mistakes] == [(slip.deal, slip.field)]
        # What stood before it is untouched.
        before = {k: v for k, v in clean.items() if int(k[1:3]) < slip.deal}
        assert {k: v for k, v in values.items() if int(k[1:3]) < slip.deal} == before
    assert made >= (2 if kind == "missed help" else 11)


def test_two_slips_may_cancel():
    rng = np.random.default_rng(3)
    game = play("sochi", 4, 24, rng)
    values, slips = write_down(game, rng, ["cancelling"], habit="sparse")
    assert len(slips) == 2
    assert slips[0].cell == slips[1].cell
    last = {cell: [int(v) for k, v in sorted(values.items()) if k[4:] == ".".join(p for p in cell if p)] or [0]
            for cell in cells_of(game.seats)}  # fmt: skip
    totals = ledger(game).end.totals()
    assert all(line[-1] == totals[cell] for cell, line in last.items())


def test_several_mistakes_in_one_game_do_not_disturb_each_other():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        game = play("sochi", 4, 24, rng)
        values, slips = write_down(game, rng, 3, habit="sparse")
        assert len({slip.deal for slip in slips}) == len(slips)
        assert {slip.kind for slip in slips} <= set(MISTAKES)
        for slip in slips:
            assert values.get(slip.field) == (None if slip.written is None else str(slip.written))


@pytest.mark.parametrize("kind", UNFORESEEN)
def test_slips_that_no_model_tells_of_can_be_made(kind):
    made = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        game = play("sochi", 4, 23, rng)
        clean, _ = write_down(game, rng, habit="sparse")
        values, slips = write_down(game, rng, [kind], habit="sparse")
        made += bool(slips)
        assert {slip.kind for slip in slips} <= {kind}
        changed = {name for name in clean.keys() | values.keys() if clean.get(name) != values.get(name)}
        assert {slip.field for slip in slips} & changed or not slips
        for slip in slips:
            assert values.get(slip.field) == (None if slip.written is None else str(slip.written))
            assert slip.written != slip.expected
        if kind == "row too low" and slips:
            row = slips[0].deal
            assert not [name for name in values if name.startswith(f"d{row:02d}.") and name.split(".")[1] in TOTALS]
            assert {clean[slip.field] for slip in slips} & {values.get(next_row(slip.field)) for slip in slips}
    assert made >= 6


TOTALS = ("pool", "mountain", "whists")


def next_row(field_id):
    return f"d{int(field_id[1:3]) + 1:02d}{field_id[3:]}"


def test_forgotten_boxes_are_the_special_columns_only():
    rng = np.random.default_rng(1)
    game = play("leningrad", 4, 24, rng)
    values, _ = write_down(game, rng, habit="sparse")
    left, forgotten = forget(values, 0.5, rng)
    assert forgotten and not set(left) & set(forgotten)
    assert left.keys() | set(forgotten) == values.keys()
    assert {name.split(".")[1] for name in forgotten} <= {"declarer", "contract", "whist", "tricks"}
    assert forget(values, 0.0, rng) == (values, ())


@pytest.mark.parametrize("players", [3, 4])
def test_corrections_can_be_written_and_change_nothing(players, white_page):
    rng = np.random.default_rng(2)
    form = load_form("protocol", players)
    game = play("sochi", players, 24, rng)
    values, _ = write_down(game, rng, habit="sparse")
    fixes = correct(values, form.seats, 0.3, rng)
    assert {fix.kind for fix in fixes.values()} == {"struck", "scribbled", "overwritten", "cancelled"}
    elsewhere = fixes.keys() - values.keys()
    assert any(form.by_id[name].kind == "number" for name in elsewhere)
    assert any(form.by_id[name].kind == "mark" for name in elsewhere)
    write_sheet(white_page, PX_PER_MM, form, values, make_writer(rng), rng, fixes)
