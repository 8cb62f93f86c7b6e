from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

import desk.demo
from desk.demo import hold_to_truth
from recognize.simulation.table import Slip
from scoring.game import Cell
from sheets import register_path
from templates import load_form

FORM = load_form("protocol", 4)


def honest(values=None):
    """A reading that says what the paper says."""
    values = values or {}
    fields = {field.id: {"value": values.get(field.id, "")} for field in FORM.fields}
    return {"fields": fields, "review": [], "mistakes": []}


def test_a_reading_of_everything_is_good():
    verdict = hold_to_truth(FORM, {"d01.pool.A": "2"}, (), honest({"d01.pool.A": "2"}))
    assert verdict.good
    assert verdict.right == sum(field.kind != "text" for field in FORM.fields)


def test_a_wrong_field_is_silent_unless_somebody_is_asked():
    reading = honest({"d01.pool.A": "3"})
    verdict = hold_to_truth(FORM, {"d01.pool.A": "2"}, (), reading)
    assert (verdict.silent, verdict.asked, verdict.good) == (("d01.pool.A",), (), False)
    reading["review"] = [{"field": "d01.pool.A"}]
    verdict = hold_to_truth(FORM, {"d01.pool.A": "2"}, (), reading)
    assert (verdict.silent, verdict.asked, verdict.good) == ((), ("d01.pool.A",), True)


def test_mistakes_found_missed_and_made_up_are_told_apart():
    slips = (
        Slip("arithmetic", 3, Cell("pool", "A"), 5, 4),
        Slip("wrong opponent", 5, Cell("whists", "B", "C"), 8, 0, Cell("whists", "B", "A")),
        Slip("forgotten", 7, Cell("mountain", "D"), None, 6),
    )
    reading = honest()
    # Of the second it is only said that it is missing where it ought to have been written.
    reading["mistakes"] = [{"field": "d03.pool.A"}, {"field": "d05.whists.B.A"}, {"field": "d09.pool.B"}]
    verdict = hold_to_truth(FORM, {}, slips, reading)
    assert verdict.found == slips[:1]
    assert verdict.half == slips[1:2]
    assert verdict.missed == slips[2:]
    assert verdict.unfounded == ("d09.pool.B",)
    assert not verdict.good


@pytest.mark.parametrize("asked", ["d05.whists.B.C", "d05.whists.B.A"])
def test_a_mistake_that_is_asked_about_is_not_missed(asked):
    slip = Slip("wrong opponent", 5, Cell("whists", "B", "C"), 8, 0, Cell("whists", "B", "A"))
    reading = honest()
    reading["review"] = [{"field": asked}]
    verdict = hold_to_truth(FORM, {}, (slip,), reading)
    assert (verdict.questioned, verdict.missed, verdict.found, verdict.half) == ((slip,), (), (), ())
    assert verdict.good


def test_a_mistake_that_is_asked_about_is_told_so(pulka, tmp_path, monkeypatch):
    real = desk.demo.read_pages

    def read(picture, work):
        (page,) = real(picture, work)
        mistakes = page.reading["mistakes"]
        asked = [{"field": m["field"], "best": "1", "other": [], "why": "?"} for m in mistakes]
        return (replace(page, reading=page.reading | {"mistakes": [], "review": asked}),)

    monkeypatch.setattr(desk.demo, "read_pages", read)
    ran = pulka("demo", "-o", tmp_path / "demo")
    assert ran.code == 0
    assert ran.out.count("— о ней спрошено") == 2 and "найдена" not in ran.out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


def test_the_whole_way_on_one_sheet(pulka, folder):
    ran = pulka("demo", "-o", folder, "--json")
    told = ran.json
    assert ran.err == ""
    assert ran.code == 0, told["verdict"]
    assert len(told["truth"]["mistakes"]) == 2
    assert len(told["verdict"]["mistakes_found"] + told["verdict"]["mistakes_half_found"]) == 2
    assert told["verdict"]["wrong_in_silence"] == []
    assert told["reading"]["settlement"]["played"] != told["reading"]["settlement"]["written"]
    assert sorted(path.name for path in folder.iterdir()) == ["blank.pdf", "photo.jpg", "read.jpg", "reading.json"]
    for name in told["files"]:
        assert Path(told["files"][name]) == folder / name
    with pypdfium2.PdfDocument(folder / "blank.pdf") as document:
        assert len(document) == 1
    with Image.open(folder / "photo.jpg") as picture:
        assert picture.size == (4032, 3024)


def test_its_photo_reads_the_same_by_the_read_command(pulka, folder):
    told = pulka("demo", "-o", folder, "--json").json
    (reading,) = pulka("read", folder / "photo.jpg", "--json").json
    assert told["reading"]["sheet"]["event"] == "Кубок «Пулька»" and told["reading"]["sheet"]["names"]["A"]
    # But for what only the list of printed sheets could say of it, and a made-up sheet does not stand there.
    assert not register_path().exists()
    for one in (reading, told["reading"]):
        one["sheet"] |= {"event": None, "names": {}}
        one["game"]["players"] = {}
    assert reading == told["reading"]


def test_it_tells_what_it_did_in_words(pulka, folder):
    out = pulka("demo", "-o", folder, "--lang", "en").out
    for words in (
        "the blank sheet",
        "Mistakes in the writing:",
        "as played",
        "Held to the truth",
        "wrong in silence 0",
    ):
        assert words in out
    assert out.count("a mistake made on purpose") == 2
    assert "NOT found" not in out


def test_a_folder_that_cannot_be_made_is_said(pulka, tmp_path):
    (tmp_path / "file").write_text("")
    ran = pulka("demo", "-o", tmp_path / "file")
    assert ran.code == 2
    assert "не записывается" in ran.complaints[0]


@pytest.mark.parametrize("name", ["blank.pdf", "photo.jpg", "reading.json", "read.jpg"])
def test_files_of_ones_own_are_never_written_over(pulka, tmp_path, name):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("[]")
    ran = pulka("demo", "-o", folder)
    assert ran.code == 2
    (line,) = ran.complaints
    assert name in line and "выберите другую папку" in line
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "[]")]
