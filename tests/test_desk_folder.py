import json
import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

import pytest

import desk.folder
from desk.answers import Answer
from desk.cli import main
from desk.edge import Stop
from desk.folder import Folder, renamed, write_whole

PICTURES = 6
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["desk.cli", "desk.reading"])


@pytest.fixture(scope="module")
def photos(photographer, tmp_path_factory):
    """A few sheets on small pictures, some tenths of a second each."""
    folder = tmp_path_factory.mktemp("photos")
    for seed in range(1, PICTURES + 1):
        photographer(seed, size=(1600, 1200), deals=3).save(folder / f"{seed}.jpg")
    return folder


@pytest.fixture
def start(photos, monkeypatch):
    """Starts the program as a process of its own, quickly, with all its imports done."""

    def run(kept, jobs):
        monkeypatch.setattr(sys, "argv", ["pulka", "read", str(photos), "-o", str(kept), "--jobs", str(jobs)])
        process = CONTEXT.Process(target=main)
        process.start()
        return process

    return run


def whole(kept):
    """The records in a folder by name, with what tells a file from one written again; every file must be whole."""
    found = {}
    for path in kept.glob("[!.]*"):
        if path.suffix == ".json":
            assert json.loads(path.read_text("utf-8"))
            found[path.name] = (path.stat().st_ino, path.stat().st_mtime_ns)
        else:
            data = path.read_bytes()
            assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
    return found


def contents(kept):
    return {path.name: path.read_bytes() for path in kept.glob("[!.]*")}


def children_of(parent):
    try:
        return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text("utf-8").split()]
    except OSError:
        return []


def ended(process):
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(("jobs", "kills", "within"), [(1, 16, 0.5), (2, 4, 1.2)])
def test_killed_at_any_moment_and_started_again_it_does_what_is_left(start, tmp_path, jobs, kills, within):
    reference = tmp_path / "reference"
    began = time.monotonic()
    first = start(reference, jobs)
    first.join()
    takes = time.monotonic() - began
    assert first.exitcode in (0, 1)
    expected = contents(reference)
    assert len(expected) == 2 * PICTURES

    kept = tmp_path / "kept"
    dice = random.Random(jobs)
    done, in_the_middle = {}, 0
    for _ in range(kills):
        running = start(kept, jobs)
        running.join(dice.uniform(0.0, within * takes))
        workers = children_of(running.pid)
        running.kill()
        running.join()
        now = whole(kept) if kept.exists() else {}
        assert all(now[name] == was for name, was in done.items()), "a picture was read a second time"
        in_the_middle += len(now) > len(done)
        done = now
        until = time.monotonic() + 20
        while not all(ended(worker) for worker in workers):
            assert time.monotonic() < until, "workers go on although their parent was killed"
            time.sleep(0.05)
        if len(done) == PICTURES:
            for path in kept.iterdir():
                path.unlink()
            done = {}
    assert in_the_middle
    last = start(kept, jobs)
    last.join()
    assert all(whole(kept)[name] == was for name, was in done.items())
    assert contents(kept) == expected


def test_what_a_killed_program_left_half_written_is_cleared_away(tmp_path):
    stale, fresh = tmp_path / ".part-1", tmp_path / ".part-2"
    stale.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(stale, (time.time() - 3600,) * 2)
    Folder(tmp_path, "ru")
    assert not stale.exists()
    assert fresh.exists()  # another program may be writing it


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, b"old")

    def full(*_):
        raise OSError("no room")

    monkeypatch.setattr(desk.folder.os, "fsync", full)
    with pytest.raises(OSError, match="no room"):
        write_whole(path, b"new")
    assert contents(tmp_path) == {"a.json": b"old"}
    assert list(tmp_path.iterdir()) == [path]


def reading(**changes):
    return {
        "lang": "ru",
        "status": "clear",
        "source": "one.jpg",
        "page": 1,
        "sheet": {"id": "S"},
        "kept": {"file": "one.jpg", "answered": {}, "evidence": None},
    } | changes


def test_a_picture_is_known_by_its_content_whatever_it_is_called(tmp_path):
    Folder(tmp_path, "ru").keep("0123456789abcdef", "one.jpg", [reading()], [None])
    folder = Folder(tmp_path, "ru")
    (kept,) = folder.kept("0123456789abcdef", "two.jpg", {})
    assert (kept["source"], kept["kept"]["file"]) == ("two.jpg", "two.jpg")
    folder.keep("0123456789abcdef", "two.jpg", renamed([reading()], "two.jpg"), [b"jpeg"])
    assert sorted(contents(tmp_path)) == ["one-0123456789ab.jpg", "one-0123456789ab.json"]
    # A picture that is gone is drawn again, and to draw it is to read.
    (tmp_path / "one-0123456789ab.jpg").unlink()
    assert folder.kept("0123456789abcdef", "two.jpg", {}) is None
    folder.keep("0123456789abcdef", "two.jpg", renamed([reading()], "two.jpg"), [b"jpeg"])
    assert folder.kept("0123456789abcdef", "two.jpg", {}) is not None
    assert folder.kept("1123456789abcdef", "one.jpg", {}) is None
    assert Folder(tmp_path, "en").kept("0123456789abcdef", "one.jpg", {}) is None
    assert folder.kept("0123456789abcdef", "one.jpg", {"S": {"d01.pool.A": "2"}}) is None
    assert folder.kept("0123456789abcdef", "one.jpg", {"one.jpg": {"d01.pool.A": "2"}}) is None
    assert folder.kept("0123456789abcdef", "two.jpg", {"one.jpg": {"d01.pool.A": "2"}}) is not None


def test_what_another_program_read_is_read_again_and_answers_stay(tmp_path, monkeypatch):
    answer = Answer("d01.pool.A", "1", sheet="7K3M-9RXA")
    folder = Folder(tmp_path, "ru")
    folder.keep("0123456789abcdef", "one.jpg", [reading()], [None])
    folder.learn([answer])
    assert Folder(tmp_path, "ru").kept("0123456789abcdef", "one.jpg", {}) is not None
    with monkeypatch.context() as newer:
        newer.setattr(desk.folder, "program", lambda: "0badcafe0123")
        folder = Folder(tmp_path, "ru")
        assert folder.kept("0123456789abcdef", "one.jpg", {}) is None
        assert folder.answers == (answer,)
        folder.keep("0123456789abcdef", "one.jpg", [reading()], [None])
        assert folder.kept("0123456789abcdef", "one.jpg", {}) is not None
    assert Folder(tmp_path, "ru").kept("0123456789abcdef", "one.jpg", {}) is None


def test_a_program_is_told_by_its_nets(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "numbers.onnx").write_bytes(b"a net")
    said = [desk.folder.program()]
    monkeypatch.setattr(desk.folder, "files", lambda package: tmp_path)
    for net in (b"a net", b"another"):
        (tmp_path / "model" / "numbers.onnx").write_bytes(net)
        desk.folder.program.cache_clear()
        said.append(desk.folder.program())
    desk.folder.program.cache_clear()
    assert len(set(said)) == 3


def test_the_pictures_of_an_archive_go_by_its_new_name():
    inside = reading(source="chat.zip/7.jpg", kept={"file": "chat.zip", "answered": {}, "evidence": None})
    assert renamed([inside], "round 2.zip")[0]["source"] == "round 2.zip/7.jpg"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "[1]", '[{"lang": "ru"}]', "\ufeffx"])
def test_files_that_are_no_records_are_passed_over(tmp_path, text):
    (tmp_path / "one-0123456789ab.json").write_text(text, "utf-8")
    (tmp_path / "notes.json").write_text("{}", "utf-8")
    assert Folder(tmp_path, "ru").records == {}


def test_answers_are_kept_and_the_newer_counts(tmp_path):
    first, second = Answer("d01.pool.A", "1", sheet="7K3M-9RXA"), Answer("d02.pool.A", "4", source="a.jpg", page=2)
    Folder(tmp_path, "ru").learn([first])
    Folder(tmp_path, "ru").learn([second])
    newer = Answer("d01.pool.A", "2", sheet="7K3M-9RXA")
    folder = Folder(tmp_path, "ru")
    assert folder.answers == (first, second)
    folder.learn([newer])
    assert set(Folder(tmp_path, "ru").answers) == {newer, second}
    (tmp_path / "answers.json").write_bytes(b"\xff\xfe")
    with pytest.raises(Stop):
        Folder(tmp_path, "ru")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_of_answers_is_refused_by_its_name(tmp_path, make):
    make(tmp_path / "answers.json")
    with pytest.raises(Stop) as refused:
        Folder(tmp_path, "ru")
    assert refused.value.texts[0].ru == f"{tmp_path / 'answers.json'}: это не файл с ответами людей: уберите это"


def test_a_pipe_called_as_a_reading_is_none(tmp_path):
    os.mkfifo(tmp_path / "one-0123456789ab.json")
    assert Folder(tmp_path, "ru").records == {}


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="not a regular file"):
        write_whole(pipe, b"whole")
    assert pipe.is_fifo()
