import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from rich.console import Console

import desk.batch
import desk.processes
import desk.reading
import recognize.identify
from desk.answers import AnswersError, answers_from
from desk.batch import Picture, Work
from desk.processes import read_here
from desk.report import question_line, show_how_to_answer, show_reading
from recognize.reading import Reading
from recognize.simulation.desks import made_desk
from scoring.text import Text
from sheets import make_sheets, remember
from templates import encode, load_form


@pytest.fixture
def bad(tmp_path, photographer):
    """A folder of files that are no readable sheets, by name."""
    folder = tmp_path / "bad"
    folder.mkdir()
    jpeg = photographer().jpeg
    whole = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    desk_top = made_desk("wood", np.random.default_rng(1))
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.jpg").write_text("Пришлите, пожалуйста, фото протокола.\n" * 20, "utf-8")
    (folder / "cut-short.jpg").write_bytes(jpeg[: len(jpeg) * 2 // 3])
    (folder / "desk.jpg").write_bytes(cv2.imencode(".jpg", desk_top)[1].tobytes())
    (folder / "half.jpg").write_bytes(cv2.imencode(".jpg", whole[:, : whole.shape[1] * 2 // 5])[1].tobytes())
    (folder / "dark.png").write_bytes(cv2.imencode(".png", whole // 100)[1].tobytes())
    (folder / "locked.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    return folder


REASONS = {
    "empty.jpg": "файл пуст",
    "text.jpg": "это не картинка и не PDF",
    "cut-short.jpg": "файл обрывается на середине",
    "desk.jpg": "нет нашего протокола",
    "half.jpg": "снимите",
    "dark.png": "слишком тёмный",
    "locked.pdf": "PDF повреждён",
}


@pytest.mark.parametrize("name", REASONS)
def test_what_is_no_sheet_is_said_in_one_line_with_the_reason(pulka, bad, name):
    ran = pulka("read", bad / name)
    assert ran.code == 3
    assert ran.err == ""
    (line,) = [line for line in ran.out.splitlines() if name in line]
    assert REASONS[name] in line
    (reading,) = pulka("read", bad / name, "--json", "--lang", "en").json
    assert (reading["status"], reading["source"]) == ("unreadable", name)
    assert reading["reason"].isascii()


def test_a_folder_of_nothing_but_bad_pictures_lists_each(pulka, bad):
    ran = pulka("read", bad, "--jobs", 2)
    assert ran.code == 3
    assert f"Не прочитано снимков: {len(REASONS)}" in ran.out
    for name, reason in REASONS.items():
        assert any(name in line and reason in line for line in ran.out.splitlines())


def test_every_unreadable_picture_is_named_and_so_is_each_copy_of_it(pulka, bad, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (folder / name).write_bytes(b"")
    shutil.copy(bad / "text.jpg", folder / "d.jpg")
    ran = pulka("read", folder, "--jobs", 1)
    assert ran.code == 3
    assert "Не прочитано снимков: 4" in ran.out
    assert "  a.jpg, b.jpg, c.jpg: файл пуст" in ran.out
    assert "  d.jpg: это не картинка" in ran.out


def test_a_folder_without_pictures_is_wrong_usage(pulka, tmp_path):
    (tmp_path / "notes.txt").write_text("")
    ran = pulka("read", tmp_path)
    assert ran.code == 2
    (line,) = ran.complaints
    assert "нет ни одного снимка" in line


def test_one_bad_picture_among_ten_and_a_path_that_is_not_there(pulka, bad, photographer, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.jpg").write_bytes((bad / "text.jpg").read_bytes() + b"%d" % number)
    photographer(1).save(folder / "0.jpg")
    photographer(2).save(folder / "9.jpg")
    shutil.copy(bad / "cut-short.jpg", folder / "4.jpg")
    ran = pulka("read", folder, "--json", "--jobs", 2)
    assert ran.code == 3
    readings = ran.json
    assert [reading["source"] for reading in readings] == [f"{number}.jpg" for number in range(10)]
    assert [r["source"] for r in readings if r["status"] != "unreadable"] == ["0.jpg", "9.jpg"]
    assert "обрывается" in readings[4]["reason"]
    ran = pulka("read", folder / "0.jpg", tmp_path / "none.jpg", "--json")
    assert ran.code == 2
    assert ran.complaints == [f"pulka: {tmp_path / 'none.jpg'}: нет такого файла или папки"]
    assert len(ran.json) == 1


def test_readings_are_kept_and_not_read_again(pulka, bad, photographer, tmp_path, monkeypatch):
    folder, kept = tmp_path / "photos", tmp_path / "kept"
    folder.mkdir()
    photographer().save(folder / "one.jpg")
    shutil.copy(bad / "desk.jpg", folder / "two.jpg")
    first = pulka("read", folder, "-o", kept, "--json", "--jobs", 1)
    assert first.code == 3
    names = sorted(path.name for path in kept.iterdir())
    assert [name.split("-")[0] + name[name.rindex(".") :] for name in names] == ["one.jpg", "one.json", "two.json"]
    with Image.open(kept / names[0]) as picture:
        assert picture.size[0] > 2000
    (record,) = json.loads((kept / names[1]).read_text("utf-8"))
    assert first.json[0] == {key: value for key, value in record.items() if key != "kept"}

    read = []
    real = desk.processes.read_pages
    monkeypatch.setattr(
        desk.processes, "read_pages", lambda picture, work: read.append(picture.name) or real(picture, work)
    )
    again = pulka("read", folder, "-o", kept, "--json", "--jobs", 1)
    assert again.json == first.json
    assert again.code == first.code
    # What was no sheet is tried again: the next version may know better.
    assert read == ["two.jpg"]
    read.clear()
    assert pulka("read", folder, "-o", kept, "--json", "--jobs", 1, "--again").json == first.json
    assert read == ["one.jpg", "two.jpg"]
    read.clear()
    # Another picture under the same name is another picture.
    photographer(2).save(folder / "one.jpg")
    assert pulka("read", folder, "-o", kept, "--json", "--jobs", 1).json[0]["sheet"] != first.json[0]["sheet"]
    assert read == ["one.jpg", "two.jpg"]
    # Sentences kept in Russian are of no use to whoever asks in English.
    read.clear()
    pulka("read", folder / "one.jpg", "-o", kept, "--json", "--lang", "en")
    assert read == ["one.jpg"]


def test_a_file_half_written_before_does_not_count_as_read(pulka, photographer, tmp_path):
    photo, kept = photographer().save(tmp_path / "one.jpg"), tmp_path / "kept"
    first = pulka("read", photo, "-o", kept, "--json")
    (record,) = kept.glob("*.json")
    record.write_text(record.read_text("utf-8")[:1000], "utf-8")
    assert pulka("read", photo, "-o", kept, "--json").json == first.json
    (again,) = json.loads(record.read_text("utf-8"))
    assert again["fields"] == first.json[0]["fields"]


def test_a_folder_that_cannot_be_made_is_said(pulka, photographer, tmp_path):
    photo = photographer().save(tmp_path / "one.jpg")
    ran = pulka("read", photo, "-o", photo)
    assert ran.code == 2
    assert "папку не создать" in ran.complaints[0]


def test_names_and_event_come_from_the_register(pulka, photographer, tmp_path):
    taken = photographer()
    photo = taken.save(tmp_path / "one.jpg")
    (reading,) = pulka("read", photo, "--json").json
    assert reading["sheet"]["names"] == {}
    remember([taken.sheet])
    (reading,) = pulka("read", photo, "--json").json
    assert reading["sheet"]["names"] == dict(taken.sheet.names)
    assert reading["sheet"]["event"] == taken.sheet.event
    assert reading["game"]["players"] == dict(taken.sheet.names)


def test_a_reading_settles_to_the_same_as_its_game(pulka, photographer, tmp_path):
    (reading,) = pulka("read", photographer().save(tmp_path / "one.jpg"), "--json").json
    game = tmp_path / "game.json"
    game.write_text(json.dumps(reading["game"]), "utf-8")
    assert pulka("settle", game, "--json").json["settlement"] == reading["settlement"]["played"]


def test_a_crash_inside_the_reader_is_a_reading_too(pulka, photographer, tmp_path, monkeypatch):
    def crash(photo, known, answers):
        raise ZeroDivisionError("at page 1")

    monkeypatch.setattr(desk.batch, "read_photo", crash)
    (reading,) = pulka("read", photographer().save(tmp_path / "one.jpg"), "--json").json
    assert reading["status"] == "unreadable"
    assert "ZeroDivisionError: at page 1" in reading["reason"]


DEADLY = """
import os
from desk.batch import read_pages

def read(picture, work):
    if picture.name == "3.jpg":
        os._exit(9)
    return read_pages(picture, work)
"""
"""Stands in for the reader: one picture takes its whole process with it, as running out of memory would."""


def test_a_process_that_dies_takes_only_its_own_picture_with_it(tmp_path, monkeypatch):
    (tmp_path / "deadly_reader.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(desk.processes, "read_pages", importlib.import_module("deadly_reader").read)
    pictures = [Picture(f"{number}.jpg", data=b"text %d" % number) for number in range(6)]
    pages = dict(read_here(2)(pictures, Work("en")))
    assert sorted(pages) == list(range(6))
    assert all(pages[i][0].reading["source"] == picture.name for i, picture in enumerate(pictures))
    assert [i for i in sorted(pages) if "the program failed on it" in pages[i][0].reading["reason"]] == [3]


HALFWAY = """
import sys, time
from multiprocessing.connection import Connection
from pathlib import Path

import desk.processes
from desk.batch import Picture, Work, read_pages

def read(picture, work):
    if picture.name == "1.jpg":
        def half(self, message):
            self._send(len(message).to_bytes(4, "big") + bytes(message)[: len(message) // 2])
            Path("halfway").touch()
            time.sleep(600)
        Connection._send_bytes = half
    return read_pages(picture, work)

if __name__ == "__main__":
    from halfway_reader import read
    desk.processes.read_pages = read
    steps = desk.processes.read_here(2)([Picture(f"{n}.jpg", data=b"text %d" % n) for n in range(2)], Work("en"))
    print(next(steps)[0])
    while not Path("halfway").exists():
        time.sleep(0.02)
    steps.close()
"""
"""A worker that never gets further than half of what it has to tell, and a program that waits no longer for it."""


def test_a_worker_ended_halfway_through_telling_leaves_nobody_waiting(tmp_path):
    (tmp_path / "halfway_reader.py").write_text(HALFWAY)
    path = os.pathsep.join([str(Path(desk.batch.__file__).parents[1]), str(tmp_path)])
    words = [sys.executable, tmp_path / "halfway_reader.py"]
    ran = subprocess.run(
        words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0\n", "")


def test_no_interrupt_gets_in_while_processes_begin(tmp_path):
    script = tmp_path / "begin.py"
    script.write_text(
        "import signal\n"
        "from desk.processes import _interrupts_held, _Worker\n"
        "if __name__ == '__main__':\n"
        "    with _interrupts_held():\n"
        "        worker = _Worker()\n"
        "        print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
        "        worker.process.kill()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(desk.batch.__file__).parents[1])}
    ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_several_processes_give_what_one_gives(pulka, photographer, tmp_path):
    for seed in (1, 2):
        photographer(seed).save(tmp_path / f"{seed}.jpg")
    assert pulka("read", tmp_path, "--jobs", 2, "--json").json == pulka("read", tmp_path, "--jobs", 1, "--json").json


def test_every_page_of_a_scan_is_a_reading(pulka, photographer, tmp_path):
    pages = [Image.open(io.BytesIO(photographer(seed).jpeg)).convert("L") for seed in (1, 2)]
    pages[0].save(tmp_path / "scan.pdf", save_all=True, append_images=pages[1:], resolution=200)
    ran = pulka("read", tmp_path / "scan.pdf", "-o", tmp_path / "kept", "--json")
    assert [(r["page"], r["status"] != "unreadable") for r in ran.json] == [(1, True), (2, True)]
    assert len(list((tmp_path / "kept").glob("scan-*.jpg"))) == 2


def test_the_heading_names_every_page_of_a_sheet_and_whose_it_is(pulka, photographer, tmp_path):
    one, other = (Image.open(io.BytesIO(photographer(seed).jpeg)).convert("L") for seed in (1, 2))
    again = Image.fromarray(np.asarray(one) // 8 * 7)
    one.save(tmp_path / "scan.pdf", save_all=True, append_images=[other, again], resolution=200)
    assert "scan.pdf, с. 1 и 3: " in pulka("read", tmp_path / "scan.pdf").out
    other.copy().save(tmp_path / "f.pdf", save_all=True, append_images=[one.copy()], resolution=200)
    again.save(tmp_path / "z.png")
    ran = pulka("read", tmp_path / "f.pdf", tmp_path / "z.png")
    assert "f.pdf, с. 2; z.png: " in ran.out
    both = next(r for r in pulka("read", tmp_path / "f.pdf", tmp_path / "z.png", "--json").json if len(r["pages"]) > 1)
    assert (both["pictures"], both["pages"]) == (["f.pdf", "z.png"], {"f.pdf": [2], "z.png": [1]})


def test_a_link_in_a_folder_that_leads_nowhere_is_told_of(pulka, tmp_path):
    (tmp_path / "a.jpg").symlink_to(tmp_path / "gone.jpg")
    ran = pulka("read", tmp_path)
    assert (ran.code, ran.complaints) == (2, [f"pulka: {tmp_path / 'a.jpg'}: ссылка на файл, которого нет"])


def test_a_folder_of_readings_is_no_folder_of_photos(pulka, photographer, tmp_path):
    kept = tmp_path / "kept"
    pulka("read", photographer().save(tmp_path / "1.jpg"), "-o", kept)
    ran = pulka("read", kept)
    assert ran.code == 2 and "здесь лежит прочитанное, а не снимки" in ran.complaints[0]


def test_a_sheet_with_torn_codes_is_known_by_its_code_in_clear_text(pulka, photographer, tmp_path, tesseract):
    taken = photographer(3, torn_codes=True)
    (reading,) = pulka("read", taken.save(tmp_path / "torn.jpg"), "--json").json
    assert reading["sheet"]["code"] == encode(taken.sheet.identity)


@pytest.fixture
def without_tesseract(monkeypatch):
    monkeypatch.setattr(recognize.identify, "tesseract_found", lambda: False)
    monkeypatch.setattr(desk.reading, "tesseract_found", lambda: False)


def test_a_sheet_with_torn_codes_is_known_by_its_number_where_it_was_printed(
    pulka, photographer, tmp_path, without_tesseract
):
    taken = photographer(3, torn_codes=True)
    remember([taken.sheet])
    (reading,) = pulka("read", taken.save(tmp_path / "torn.jpg"), "--json").json
    assert reading["sheet"]["code"] == encode(taken.sheet.identity)


def test_without_tesseract_a_torn_code_is_a_question_and_tesseract_is_named_once(
    pulka, photographer, tmp_path, without_tesseract
):
    photo = photographer(3, torn_codes=True).save(tmp_path / "1.jpg")
    (tmp_path / "2.jpg").write_bytes(photo.read_bytes() + b"\0")
    ran = pulka("read", tmp_path, "--jobs", 1)
    assert ran.code == 1
    assert ran.out.count("Tesseract") == 1
    assert ran.out.count("код листа не читается") == 2
    # The sheet comes before its boxes, and nothing is said of what was not checked.
    (first, _) = readings = pulka("read", tmp_path, "--jobs", 1, "--json").json
    more = len(first["review"]) - 1
    assert more > 1 and first["review"][0]["field"] == "sheet"
    assert ran.out.count(f"и ещё клеток: {more} — их черёд придёт") == 2
    assert not any(f"[{question['field']}]" in ran.out for r in readings for question in r["review"][1:])
    assert ran.out.count("лист не опознан: ни игра, ни записи ещё не проверены") == 2
    assert "ошибок в записях нет" not in ran.out
    whole = photographer().save(tmp_path / "whole.jpg")
    assert "Tesseract" not in pulka("read", whole).out


def test_where_dask_is_not_installed_it_is_said_in_a_line(pulka, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    (tmp_path / "one.jpg").write_text("no picture")
    ran = pulka("read", tmp_path / "one.jpg", "--cluster", "127.0.0.1:8786")
    assert ran.code == 2
    assert ran.complaints == ["pulka: --cluster: не установлен Dask; поставьте pulka[cluster]"]


@pytest.fixture
def twice(photographer, tmp_path):
    """A sheet photographed twice, as `1.jpg` and, the same photo with another content, as `2.jpg`."""
    photo = photographer().save(tmp_path / "1.jpg")
    (tmp_path / "2.jpg").write_bytes(photo.read_bytes() + b"\0")
    return photo, tmp_path / "2.jpg"


def test_the_same_photo_twice_is_one_reading(pulka, photographer, tmp_path, monkeypatch):
    for name in ("b.jpg", "a.jpg"):
        photographer().save(tmp_path / name)
    read = []
    real = desk.processes.read_pages
    monkeypatch.setattr(
        desk.processes, "read_pages", lambda picture, work: read.append(picture.name) or real(picture, work)
    )
    (reading,) = pulka("read", tmp_path, "--json", "--jobs", 1).json
    assert read == ["a.jpg"]
    assert (reading["source"], reading["pictures"]) == ("a.jpg", ["a.jpg", "b.jpg"])
    assert reading["notes"] == ["один и тот же снимок: a.jpg, b.jpg"]


def test_two_photos_of_a_sheet_are_one_reading_in_one_run_and_in_two(pulka, twice, tmp_path):
    kept = tmp_path / "kept"
    alone = pulka("read", twice[0], "-o", kept, "--json").json[0]
    for paths in (twice, twice[1:]):
        (reading,) = pulka("read", *paths, "-o", kept, "--json").json
        assert (reading["source"], reading["status"]) == (
            "1.jpg, 2.jpg" if len(paths) == 2 else "2.jpg, 1.jpg",
            "clear",
        )
        assert sorted(reading["pictures"]) == ["1.jpg", "2.jpg"]
        assert {n: f["value"] for n, f in reading["fields"].items()} == {
            n: f["value"] for n, f in alone["fields"].items()
        }
        assert reading["settlement"] == alone["settlement"]
        assert "kept" not in reading
        sheet = kept / f"sheet-{reading['sheet']['id']}.json"
        assert json.loads(sheet.read_text("utf-8")) == [reading]
    assert pulka("read", *twice, "--json").json[0]["fields"] == reading["fields"]


@pytest.fixture
def altered(monkeypatch):
    """Makes photos say something else: `altered("2.jpg", field, value)`."""
    real = desk.batch.read_photo
    changes = {}

    def read(photo, known, answers):
        (reading,) = real(photo, known, answers)
        likely = {**reading.evidence.likely, **changes.get(photo.source, {})}
        return [replace(reading, evidence=replace(reading.evidence, likely=likely))]

    monkeypatch.setattr(desk.batch, "read_photo", read)
    return lambda source, field, value: changes.setdefault(source, {}).update({field: {value: 0.9999}})


def test_where_two_photos_differ_it_is_asked_about_and_an_answer_settles_it(pulka, twice, tmp_path, altered):
    kept = tmp_path / "kept"
    alone = pulka("read", twice[0], "--json").json[0]
    field = next(n for n, f in alone["fields"].items() if ".pool." in n and f["value"])
    altered("2.jpg", field, "99")
    ran = pulka("read", *twice, "-o", kept, "--jobs", 1)
    assert ran.code == 1
    assert f"снимки этого листа расходятся: посмотрите, что стоит на бумаге  [{field}]" in ran.out
    (reading,) = pulka("read", *twice, "-o", kept, "--json", "--jobs", 1).json
    (question,) = [q for q in reading["review"] if q["field"] == field]
    assert {question["best"], *question["other"]} == {"99", alone["fields"][field]["value"]}
    answers = tmp_path / "said.json"
    said = {"sheet": alone["sheet"]["id"], "field": field, "value": alone["fields"][field]["value"]}
    answers.write_text(json.dumps({"format": "pulka-answers/1", "answers": [said]}), "utf-8")
    settled = pulka("read", *twice, "-o", kept, "--answers", answers, "--json", "--jobs", 1)
    assert settled.code == 0
    assert settled.json[0]["fields"][field]["why"] == "person"
    assert settled.json[0]["settlement"] == alone["settlement"]
    # Again without being told, and with a third photo.
    assert pulka("read", *twice, "-o", kept, "--json", "--jobs", 1).json == settled.json
    (tmp_path / "3.jpg").write_bytes(twice[0].read_bytes() + b"\0\0")
    (reading,) = pulka("read", tmp_path / "3.jpg", "-o", kept, "--json", "--jobs", 1).json
    assert (reading["status"], len(reading["pictures"])) == ("clear", 3)


@pytest.fixture
def two_games(pulka, twice, altered):
    """The two photos of `twice`, as if they were of two papers with one code; what the first alone says."""
    alone = pulka("read", twice[0], "--json").json[0]
    for field, read in alone["fields"].items():
        if read["value"].isdigit():
            altered("2.jpg", field, str(int(read["value"]) + 7))
    return alone


def test_two_games_under_one_code_are_two_readings_and_asked_about(pulka, twice, two_games):
    ran = pulka("read", *twice, "--json", "--jobs", 1)
    assert ran.code == 1
    assert [reading["source"] for reading in ran.json] == ["1.jpg", "2.jpg"]
    assert all("бланк скопировали" in reading["review"][0]["why"] for reading in ran.json)
    assert ran.json[0]["settlement"] == two_games["settlement"]
    said = pulka("read", *twice, "--jobs", 1, "--lang", "en").out
    assert said.count("the answer is a “sheet code” in letters: this sheet's, if it was played at its own table") == 2
    assert '{"source": "1.jpg", "field": "sheet", "value": "935S 9A43 …"}' in said


@pytest.fixture
def name_sheets(tmp_path):
    def write(**codes):
        answers = [{"source": f"{photo[1:]}.jpg", "field": "sheet", "value": code} for photo, code in codes.items()]
        path = tmp_path / "codes.json"
        path.write_text(json.dumps({"format": "pulka-answers/1", "answers": answers}), "utf-8")
        return path

    return write


def asks_which(reading):
    return any(question["field"] == "sheet" for question in reading["review"])


def test_a_person_tells_which_of_two_papers_with_one_code_is_which(
    pulka, photographer, twice, two_games, name_sheets, tmp_path
):
    kept, code = tmp_path / "kept", two_games["sheet"]["code"]
    (spare,) = make_sheets(photographer().sheet.form, convention="kodeks", pool=10, round=1, tables=[6], seed=3)
    other = encode(spare.identity)
    pulka("read", *twice, "-o", kept, "--jobs", 1)
    ran = pulka("read", *twice, "-o", kept, "--answers", name_sheets(_2=other), "--json", "--jobs", 1)
    assert ran.err == ""
    first, second = ran.json
    assert (asks_which(first), asks_which(second)) == (True, False)
    assert (second["sheet"]["code"], second["sheet"]["table"], second["sheet"]["convention"]) == (other, 6, "kodeks")
    assert (second["game"]["convention"], second["game"]["pool"]) == ("kodeks", 10)
    # The other paper is the sheet that its code says; and both are known from then on.
    told = pulka("read", *twice, "-o", kept, "--answers", name_sheets(_1=code), "--json", "--jobs", 1)
    assert told.json == [two_games, second]
    assert pulka("read", *twice, "-o", kept, "--json", "--jobs", 1).json == told.json
    for reading in told.json:
        assert json.loads((kept / f"sheet-{reading['sheet']['id']}.json").read_text("utf-8")) == [reading]
    # What is then told of a sheet's number counts for that sheet.
    pool = next(name for name, field in second["fields"].items() if ".pool." in name and field["value"])
    answers = tmp_path / "said.json"
    said = {"sheet": second["sheet"]["id"], "field": pool, "value": "3"}
    answers.write_text(json.dumps({"format": "pulka-answers/1", "answers": [said]}), "utf-8")
    one, two = pulka("read", *twice, "-o", kept, "--answers", answers, "--json", "--jobs", 1).json
    assert one == two_games and (two["fields"][pool]["value"], two["fields"][pool]["why"]) == ("3", "person")


def test_one_code_is_told_of_one_paper_and_of_its_own_form_only(pulka, photographer, twice, two_games, name_sheets):
    code = two_games["sheet"]["code"]
    first, second = pulka("read", *twice, "--answers", name_sheets(_1=code, _2=code), "--json", "--jobs", 1).json
    assert (asks_which(first), asks_which(second)) == (False, True)
    (three,) = make_sheets(load_form("protocol", 3), convention="kodeks", seed=3)
    there = photographer(2)
    there.save(twice[0].parent / "3.jpg")
    for wrong in (encode(three.identity), encode(there.sheet.identity)):
        answers = name_sheets(_2=wrong)
        ran = pulka("read", twice[0].parent, "--answers", answers, "--json", "--jobs", 1, "--lang", "en")
        assert [asks_which(reading) for reading in ran.json] == [True, True, False]
        (line,) = ran.complaints
        assert line == (
            f"pulka: {answers}: the answer for 2.jpg, sheet: the code does not count, it is of a blank of another "
            "form, or of another sheet among the pictures; correct or delete"
        )


def test_an_answer_for_a_page_is_not_for_the_same_blank_on_another_page(pulka, photographer, tmp_path, monkeypatch):
    """Two papers with one code as two pages of a scan: what is told of the first says nothing of the second."""
    real = desk.batch.read_photo

    def read(photo, known, answers):
        (reading,) = real(photo, known, {})
        numbers = {n: f.value for n, f in reading.fields.items() if f.value.isdigit()}
        apart = {name: {str(int(value) + 7): 0.9999} for name, value in numbers.items() if photo.page == 2}
        evidence = replace(reading.evidence, likely={**reading.evidence.likely, **apart})
        return [replace(reading, evidence=evidence)]

    monkeypatch.setattr(desk.batch, "read_photo", read)
    page = Image.open(io.BytesIO(photographer().jpeg)).convert("L")
    scan, answers = tmp_path / "scan.pdf", tmp_path / "said.json"
    page.save(scan, save_all=True, append_images=[page], resolution=200)
    said = {"source": "scan.pdf", "field": "d01.tricks.A", "value": "10"}
    answers.write_text(json.dumps({"format": "pulka-answers/1", "answers": [said]}), "utf-8")
    first, second = pulka("read", scan, "--answers", answers, "--json").json
    assert first["fields"]["d01.tricks.A"]["why"] == "person"
    assert second["fields"]["d01.tricks.A"]["why"] != "person"


def test_a_spoilt_photo_of_a_sheet_that_another_photo_shows_is_a_note(pulka, photographer, tmp_path, monkeypatch):
    photographer().save(tmp_path / "1.jpg")
    whole = cv2.imdecode(np.frombuffer(photographer().jpeg, np.uint8), cv2.IMREAD_COLOR)
    cv2.imwrite(str(tmp_path / "2.png"), whole)
    real = desk.batch.read_photo

    def read(photo, known, answers):
        (reading,) = real(photo, known, answers)
        if photo.source == "1.jpg":
            return [Reading("1.jpg", 1, "unreadable", Text("смазано", "blurred"), reading.sheet)]
        return [reading]

    monkeypatch.setattr(desk.batch, "read_photo", read)
    ran = pulka("read", tmp_path, "--json", "--jobs", 1)
    assert ran.code == 0
    (reading,) = ran.json
    assert sorted(reading["pictures"]) == ["1.jpg", "2.png"]
    assert "снимок 1.jpg не прочитан (смазано)" in reading["notes"][-1]
    assert "· снимок 1.jpg не прочитан" in pulka("read", tmp_path, "--jobs", 1).out
    assert pulka("read", tmp_path / "1.jpg", "--jobs", 1).code == 3


def test_a_terminal_sees_how_far_it_is_and_how_long_it_will_take(photographer, tmp_path):
    pty = pytest.importorskip("pty")
    photographer().save(tmp_path / "1.jpg")
    for number in range(3):
        (tmp_path / f"{number}.png").write_text(f"no picture {number}")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", "from desk.cli import main; main()", "read", str(tmp_path), "--jobs", "1"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:
            pass  # that is how a terminal ends
    assert running.returncode == 3
    assert "Чтение" in shown.decode() and "осталось" in shown.decode() and "/4" in shown.decode()


def test_a_name_that_is_no_text_is_read_and_written_down(pulka, photographer, tmp_path):
    photo = photographer().save(tmp_path / "a\x1b[2J\udcff.jpg")
    ran = pulka("read", photo, "-o", tmp_path / "out", "--json")
    assert ran.code != 4, ran.err
    (reading,) = ran.json
    assert (reading["source"], reading["pictures"]) == ("a[2J?.jpg", ["a[2J?.jpg"])
    assert "\x1b" not in pulka("read", photo, "-o", tmp_path / "out").out


def test_an_empty_path_is_wrong_usage(pulka):
    ran = pulka("read", "", "--lang", "en")
    assert ran.code == 2
    assert ran.complaints == ["pulka: empty path"]


def test_a_path_that_cannot_be_opened_does_not_stop_the_rest(pulka, photographer, tmp_path):
    long = tmp_path / ("a" * 300 + ".jpg")
    ran = pulka("read", long, photographer().save(tmp_path / "1.jpg"), "--json")
    assert ran.code == 3
    locked, read = ran.json
    assert "файл не открывается" in locked["reason"]
    assert read["status"] != "unreadable"


@pytest.mark.parametrize("colour", [255, (0, 0, 0, 0)])
def test_a_picture_with_nothing_in_it_is_not_blurred(pulka, tmp_path, colour):
    Image.new("L" if colour == 255 else "RGBA", (900, 1200), colour).save(tmp_path / "a.png")
    ran = pulka("read", tmp_path / "a.png")
    assert ran.code == 3
    assert "нет нашего протокола" in ran.out


def test_a_failure_is_told_in_one_line():
    page = desk.batch.failed(Picture("a.jpg", data=b""), "en", "error: (-215)\n  in function 'resize'\n")
    assert "(error: (-215) in function 'resize')" in page.reading["reason"]


@pytest.mark.parametrize("kept", [True, False])
def test_an_interrupt_is_one_line_and_what_was_read_stays(photographer, tmp_path, kept):
    folder, out = tmp_path / "photos", tmp_path / "out"
    folder.mkdir()
    (folder / "0.jpg").write_text("no picture")
    for number in range(1, 30):
        (folder / f"{number}.jpg").write_bytes(photographer().jpeg + b"%d\xff\xd9" % number)
    program = [sys.executable, "-c", "from desk.cli import main; main()", "read", folder, "--jobs", "2"]
    running = subprocess.Popen(
        [*program, "-o", out] if kept else program,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not list(out.glob("*.json")) and kept:
        time.sleep(0.02)
    if not kept:
        time.sleep(3)
    # As a terminal does it: to the program and to its workers alike.
    os.killpg(running.pid, signal.SIGINT)
    said, complaints = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == b""
    expected = "прервано; прочитанное сохранено, запустите ещё раз" if kept else "прервано"
    assert complaints.decode().splitlines() == [f"pulka: {expected}"]
    assert bool(list(out.glob("*.json"))) is kept


def test_a_program_that_is_killed_leaves_no_word_of_pythons(photographer, tmp_path):
    folder, out = tmp_path / "photos", tmp_path / "out"
    folder.mkdir()
    (folder / "0.jpg").write_text("no picture")
    for number in range(1, 30):
        (folder / f"{number}.jpg").write_bytes(photographer().jpeg + b"%d\xff\xd9" % number)
    program = [sys.executable, "-c", "from desk.cli import main; main()", "read", folder, "--jobs", "2", "-o", out]
    with (tmp_path / "said").open("wb") as said:
        running = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=said)
        until = time.monotonic() + 60
        while time.monotonic() < until and not list(out.glob("*.json")):
            time.sleep(0.02)
        running.kill()
        running.wait(timeout=60)
    # Its workers end, and then what Python keeps to clear up after them.
    time.sleep(3)
    assert (tmp_path / "said").read_text() == ""


@pytest.mark.parametrize(
    ("what", "said"), [("desk.edge", []), ("desk.answers", ["pulka: interrupted"])], ids=["at first", "later"]
)
def test_an_interrupt_while_the_program_loads_is_no_traceback(what, said):
    """Of an interrupt as it loads, a compiled library makes an ImportError."""
    interrupted = f"import sys; sys.modules['{what}'] = type(sys)('{what}')\n"
    interrupted += "def load(name): raise ImportError('initialization failed') from KeyboardInterrupt()\n"
    interrupted += f"sys.modules['{what}'].__getattr__ = load\n"
    interrupted += "from desk.cli import main\nmain()"
    words = [sys.executable, "-c", interrupted, "read", "a.jpg", "--lang", "en"]
    ran = subprocess.run(words, capture_output=True, timeout=60, text=True)
    assert (ran.returncode, ran.stderr.splitlines()) == (130, said)


def test_many_boxes_out_of_sight_are_told_in_one_line():
    names = [f"d{deal:02d}.pool.A" for deal in range(1, 10)]
    reading = {
        "source": "1.jpg",
        "pages": {"1.jpg": [1]},
        "page": 1,
        "sheet": dict.fromkeys(("event", "round", "table", "id", "convention", "pool", "form", "rows")) | {"names": {}},
        "fields": {name: {"state": "unreadable"} for name in names} | {"d11.pool.A": {"state": "doubtful"}},
        "game": None,
        "review": [{"field": name, "best": "", "other": [], "why": "unseen"} for name in [*names, "d11.pool.A"]],
        "mistakes": [],
        "notes": [],
        "settlement": {"played": None, "written": None},
    }
    out = io.StringIO()
    show_reading(Console(file=out, width=200), reading, "en")
    said = out.getvalue()
    assert "9 boxes that matter cannot be seen (deal 1, pool of A … deal 9, pool of A): take another photo" in said
    assert "deal 11, pool of A" in said and "deal 5" not in said


def test_what_follows_from_open_questions_is_told_as_not_final(pulka, photographer, tmp_path):
    (reading,) = pulka("read", photographer(mistakes=1).save(tmp_path / "1.jpg"), "--json", "--lang", "en").json
    mistake = reading["mistakes"][0]
    question = {"field": mistake["field"], "best": "4", "other": [], "why": "unclear"}
    asked = reading | {"review": [question]}
    out = io.StringIO()
    show_reading(Console(file=out, width=200), asked, "en")
    assert f"perhaps: {mistake['message']}" in out.getvalue()
    assert out.getvalue().endswith("not final: questions open: 1\n")
    out = io.StringIO()
    show_reading(Console(file=out, width=200), reading | {"review": []}, "en")
    assert mistake["message"] in out.getvalue()
    assert "perhaps:" not in out.getvalue() and "not final" not in out.getvalue()


def test_a_sheet_on_which_nothing_is_written_is_called_so(pulka, tmp_path):
    out = tmp_path / "blank.pdf"
    pulka("print", "protocol", "--pool", 20, "-o", out)
    ran = pulka("read", out, "--lang", "en")
    assert ran.code == 0
    assert "  nothing is written on this sheet\n" in ran.out and "deals" not in ran.out and "as played" not in ran.out
    (reading,) = pulka("read", out, "--json").json
    hidden = reading["fields"] | {"d24.pool.A": {"state": "unreadable"}}
    said = io.StringIO()
    show_reading(Console(file=said, width=200), reading | {"fields": hidden}, "ru")
    assert "на этом листе ничего не написано, насколько его видно" in said.getvalue()


def test_a_question_offers_each_number_once_and_as_it_can_be_answered():
    question = {"field": "d03.mountain.A", "best": "06", "other": ["6", "76", "076", ""], "why": "unclear"}
    line = question_line(question, "en")
    assert line == "deal 3, mountain of A: looks like 06, or perhaps 76 or empty — unclear"
    several = {"field": "d01.declarer.A", "best": "", "other": ["x", "-", "1"], "why": "unclear"}
    line = question_line(several, "ru")
    assert line == "сдача 1, «играет А»: похоже на пустую клетку, а может быть, отметка, прочерк или 1 — unclear"
    told = question | {"best": "7", "other": ["9"]}
    assert question_line(told, "en", told=True) == "deal 3, mountain of A: you answered 7, or perhaps 9 — unclear"
    assert question_line(told | {"best": "-"}, "ru", told=True).startswith("сдача 3, гора А: ваш ответ — прочерк,")
    assert question_line(several | {"other": []}, "en").endswith("looks like an empty box — unclear")
    reading = {
        "source": "1.jpg",
        "pages": {"1.jpg": [1]},
        "page": 1,
        "pictures": ["1.jpg"],
        "sheet": {"id": "TRRM-CA5K", "code": "?"},
        "fields": {},
        "review": [question],
    }
    out = io.StringIO()
    show_how_to_answer(Console(file=out, width=200), [reading], "en")
    example = out.getvalue().splitlines()[1]
    assert example.endswith('{"sheet": "TRRM-CA5K", "field": "d03.mountain.A", "value": "…"}]}')
    # Nobody can send it back as it is; filled in it is an answer.
    with pytest.raises(AnswersError):
        answers_from(example)
    (answer,) = answers_from(example.replace("…", "6"))
    assert (answer.sheet, answer.field, answer.value) == ("TRRM-CA5K", "d03.mountain.A", "6")


def test_pictures_that_the_program_drew_are_not_read_as_photos(pulka, photographer, tmp_path):
    photographer().save(tmp_path / "one.jpg")
    first = pulka("read", tmp_path, "-o", tmp_path, "--json").json
    again = pulka("read", tmp_path, "-o", tmp_path, "--json")
    assert len(list(tmp_path.glob("*.jpg"))) == 2 and again.json == first
    (drawn,) = [path for path in tmp_path.glob("*.jpg") if path.name != "one.jpg"]
    ran = pulka("read", drawn)
    assert ran.code == 2 and any("картинка самой программы" in line for line in ran.complaints)
