import os
import shutil
import time
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytesseract
import pytest
import zxingcpp

from sheets import SheetError, make_sheets, print_sheets
from templates import Box, decode, decode_as_read, encode, from_marks, load_form, mark_values

NAMES = dict(zip("ABCD", ["Константинопольский Александр", "Ли", "Щукина-Ёлкина Мария", ""], strict=True))
OPTIONS = {"whist": "gentleman", "consolation": "10"}
IN_WORDS = ("вист джентльменский", "консоляция 10 вистов за недобор")


def sheets_of(players=4, rows=None, tables=(5,), named=True, **change):
    form = load_form("protocol", players, rows)
    given = {seat: name for seat, name in NAMES.items() if seat in form.seats}
    return make_sheets(
        form,
        **{
            "convention": "sochi",
            "convention_title": "Сочинка",
            "pool": 20,
            "event": "Кубок Санкт-Петербурга по спортивному преферансу",
            "round": 2,
            "tables": tables,
            "names": {table: given for table in tables if table is not None} if named else None,
            "options": OPTIONS,
            "options_in_words": IN_WORDS,
            "seed": 3,
        }
        | change,
    )


def pictures(path: Path, dpi: float) -> list[np.ndarray]:
    document = pypdfium2.PdfDocument(path)
    try:
        return [np.asarray(page.render(scale=dpi / 72).to_pil().convert("L")) for page in document]
    finally:
        document.close()


def words_of(path: Path) -> str:
    document = pypdfium2.PdfDocument(path)
    try:
        return " ".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()


def scale_of(picture: np.ndarray) -> np.ndarray:
    """Pixels a millimetre, across and down: a render is rounded up to whole pixels and stretched to them."""
    return np.array([picture.shape[1] / 297, picture.shape[0] / 210])


def crop(picture: np.ndarray, box: Box) -> np.ndarray:
    """The pixels that lie wholly inside the box."""
    k = scale_of(picture)
    x0, y0 = np.ceil(np.round(k * (box.x, box.y), 6)).astype(int)
    x1, y1 = np.floor(np.round(k * (box.x + box.w, box.y + box.h), 6)).astype(int)
    return picture[y0:y1, x0:x1]


@pytest.mark.parametrize("dpi", [300, 110])
@pytest.mark.parametrize("lang", ["ru", "en"])
@pytest.mark.parametrize(("players", "rows"), [(4, None), (3, None), (4, 1), (3, 25)])
def test_marks_and_codes_are_found_in_the_print(tmp_path, players, rows, lang, dpi):
    (sheet,) = sheets_of(players, rows)
    print_sheets(tmp_path / "s.pdf", [sheet], lang)
    (picture,) = pictures(tmp_path / "s.pdf", dpi)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_1000))
    corners, ids, _ = detector.detectMarkers(picture)
    found = {int(i): np.reshape(c, (4, 2)) for i, c in zip(np.ravel(ids), corners, strict=True)}
    values = mark_values(sheet.identity)
    assert sorted(found) == [m.id(value) for m, value in zip(sheet.form.markers, values, strict=True)]
    assert from_marks(dict(enumerate(values))).serial == sheet.identity.serial
    for marker, value in zip(sheet.form.markers, values, strict=True):
        where = np.array(marker.box.corners) * scale_of(picture)
        assert np.abs(found[marker.id(value)] + 0.5 - where).max() < 0.5 * dpi / 25.4, marker
    codes = zxingcpp.read_barcodes(picture)
    assert [decode(code.text) for code in codes] == [sheet.identity] * 2
    at = sorted((code.position.top_left.x, code.position.top_left.y) for code in codes)
    assert np.allclose(at, [scale_of(picture) * (box.x, box.y) for box in sheet.form.codes], atol=3)


@pytest.mark.parametrize("lang", ["ru", "en"])
@pytest.mark.parametrize(("players", "rows"), [(4, None), (3, None), (4, 25), (3, 1)])
def test_every_field_is_white_inside(tmp_path, players, rows, lang):
    (sheet,) = sheets_of(players, rows, named=False)
    print_sheets(tmp_path / "s.pdf", [sheet], lang)
    (picture,) = pictures(tmp_path / "s.pdf", 300)
    for field in sheet.form.fields:
        inside = crop(picture, field.box)
        assert inside.min() >= 250, field.id


def test_every_rule_and_every_mark_box_is_printed(tmp_path):
    (sheet,) = sheets_of()
    print_sheets(tmp_path / "s.pdf", [sheet], "ru")
    (picture,) = pictures(tmp_path / "s.pdf", 300)
    kx, ky = scale_of(picture)
    for rule in sheet.form.rules:
        along = np.arange(rule.start + 0.3, rule.stop - 0.3, 0.2)
        if rule.horizontal:
            line = picture[int(rule.at * ky), (along * kx).astype(int)]
        else:
            line = picture[(along * ky).astype(int), int(rule.at * kx)]
        assert np.mean(line < 200) > 0.99, rule
    for field in sheet.form.fields:
        if field.kind == "mark":
            ring = crop(picture, field.box.inset(-0.25))
            assert np.mean(ring[:, : ring.shape[1] // 2].min(axis=1) < 215) > 0.9
            assert np.mean(ring[: ring.shape[0] // 2].min(axis=0) < 215) > 0.9


def test_no_ink_outside_its_place(tmp_path):
    (sheet,) = sheets_of()
    print_sheets(tmp_path / "s.pdf", [sheet], "ru")
    (picture,) = pictures(tmp_path / "s.pdf", 300)
    allowed = np.zeros(picture.shape, bool)
    form = sheet.form
    results = [f.box for f in form.fields if f.column == "result"]
    boxes = [m.box for m in form.markers] + list(form.codes) + [form.frame] + [s.box for s in form.slots] + results
    boxes += [Box(form.slot[below].x, form.slot["hint"].y, 40, 3) for below in ("result.A", "code")]
    for box in boxes:
        b = box.inset(-0.4)
        x0, y0 = np.floor(scale_of(picture) * (b.x, b.y)).astype(int)
        x1, y1 = np.ceil(scale_of(picture) * (b.x + b.w, b.y + b.h)).astype(int)
        allowed[y0:y1, x0:x1] = True
    stray = np.argwhere((picture < 250) & ~allowed)
    assert not len(stray), stray[0][::-1] / scale_of(picture)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, OPTIONS])
def test_the_code_in_clear_text_is_read(tmp_path, seed, options):
    (sheet,) = sheets_of(options=options, seed=seed)
    print_sheets(tmp_path / "s.pdf", [sheet], "en")
    (picture,) = pictures(tmp_path / "s.pdf", 300)
    slot = sheet.form.slot["code"]
    line = cv2.copyMakeBorder(crop(picture, slot), 20, 20, 20, 20, cv2.BORDER_CONSTANT, value=255)
    text = pytesseract.image_to_string(line, lang="eng", config="--psm 6")
    assert decode_as_read(text) == sheet.identity


@pytest.mark.parametrize("lang", ["ru", "en"])
def test_everything_is_said_on_the_sheet(tmp_path, lang):
    (sheet,) = sheets_of()
    print_sheets(tmp_path / "s.pdf", [sheet], lang)
    said = " ".join(words_of(tmp_path / "s.pdf").split())
    for text in [*filter(None, NAMES.values()), *IN_WORDS, "спортивному преферансу", "Сочинка"]:
        assert text in said
    assert encode(sheet.identity).replace("-", " ") in said
    expected = {
        "ru": "Турнир Тур Стол Дата Конвенция Пуля Играет Заказ Вист Взятки пуля гора на_Г М Р перенос Подписи Судья",
        "en": "Event Round Table Date Convention Pool Declarer Contract Whist Tricks pool on_D M R carried Judge",
    }
    for label in expected[lang].split():
        assert f" {label.replace('_', ' ')} " in f" {said} ", label


def test_the_same_sheets_give_the_same_bytes(tmp_path):
    for name in ("a.pdf", "b.pdf"):
        print_sheets(tmp_path / name, sheets_of(tables=(1, 2)), "ru")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "b.pdf"]


def test_forty_tables_are_quick_and_each_its_own(tmp_path):
    sheets = sheets_of(tables=range(1, 41))
    start = time.perf_counter()
    print_sheets(tmp_path / "s.pdf", sheets, "ru")
    assert time.perf_counter() - start < 5
    assert (tmp_path / "s.pdf").stat().st_size < 1_000_000
    found = [decode(zxingcpp.read_barcodes(p)[0].text) for p in pictures(tmp_path / "s.pdf", 100)]
    assert found == [sheet.identity for sheet in sheets]
    assert [identity.table for identity in found] == list(range(1, 41))


def test_different_forms_in_one_file(tmp_path):
    sheets = [*sheets_of(3, 10), *sheets_of(4)]
    print_sheets(tmp_path / "s.pdf", sheets, "ru")
    found = [decode(zxingcpp.read_barcodes(p)[0].text) for p in pictures(tmp_path / "s.pdf", 100)]
    assert found == [sheet.identity for sheet in sheets]


@pytest.mark.parametrize("many", [12, 16])
def test_many_options_are_all_printed(tmp_path, many):
    in_words = tuple(f"отличие {i:02d} словами" for i in range(many))
    (sheet,) = sheets_of(options_in_words=in_words)
    print_sheets(tmp_path / "s.pdf", [sheet], "ru")
    said = " ".join(words_of(tmp_path / "s.pdf").split())
    assert all(option in said for option in in_words)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"event": "Очень длинное название турнира " * 10}, "Турнир"),
        ({"event": "Ы" * 200}, "Турнир"),
        ({"options_in_words": ("длинное отличие от конвенции",) * 40}, "Отличия"),
        ({"names": {5: {"B": "Иванов-Петров-Сидоров " * 6}}}, "player Б"),
        ({"convention_title": "Конвенция " * 30}, "Конвенция"),
        ({"event": "漢字"}, "no character '漢'"),
        ({"options": {f"house rule number {i}": "some long value" for i in range(12)}}, "too much"),
    ],
)
def test_what_does_not_fit_is_named_and_leaves_the_old_file(tmp_path, change, message):
    path = tmp_path / "s.pdf"
    path.write_bytes(b"old")
    with pytest.raises(SheetError, match=message) as refused:
        print_sheets(path, sheets_of(**change), "ru")
    assert not refused.value.ru.isascii() and "None" not in refused.value.ru
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_to_print_and_nowhere_to_write(tmp_path):
    with pytest.raises(SheetError, match="no sheet"):
        print_sheets(tmp_path / "s.pdf", [], "ru")
    with pytest.raises(OSError):
        print_sheets(tmp_path / "missing" / "s.pdf", sheets_of(), "ru")


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        print_sheets(pipe, sheets_of())
    assert pipe.is_fifo()
