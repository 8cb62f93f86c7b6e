import importlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import desk.cluster
from desk.batch import Picture, Work
from desk.cluster import read_there
from desk.edge import Stop
from desk.processes import read_here

pytest.importorskip("distributed")

ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(["", *sys.path]).strip(os.pathsep),
    "OMP_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
}


def begin(*words):
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def address_in(file):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return json.loads(file.read_text("utf-8"))["address"]
        except (OSError, ValueError):
            time.sleep(0.05)
    raise AssertionError("the scheduler does not start")


class Cluster:
    """A scheduler on this machine; called with a number it starts so many workers: its address, their processes."""

    def __init__(self, folder):
        self.folder = folder
        self.scheduler = None
        self.workers = []

    def __call__(self, count):
        file = self.folder / "scheduler.json"
        where = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
        self.scheduler = begin("distributed.cli.dask_scheduler", *where)
        address = address_in(file)
        where = ("--host", "127.0.0.1", "--nthreads", 1, "--local-directory", self.folder / "scratch")
        for _ in range(count):
            self.workers.append(begin("distributed.cli.dask_worker", address, *where, "--no-nanny", "--no-dashboard"))
        return address, self.workers


@pytest.fixture
def cluster(tmp_path):
    started = Cluster(tmp_path)
    yield started
    for process in (*started.workers, started.scheduler):
        process.kill()
        process.wait()


def test_one_of_two_workers_killed_midway_loses_nothing(cluster, pulka, photographer, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for seed in range(1, 6):
        photographer(seed, size=(1600, 1200), deals=3).save(photos / f"{seed}.jpg")
    (photos / "6.jpg").write_text("no picture")
    (photos / "7.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    address, workers = cluster(2)
    pictures = [Picture(path.name, path) for path in sorted(photos.iterdir())]
    work = Work("ru", overlays=True)
    pages, killed = {}, False
    _wait_for(address, 2)
    for place, found in read_there(address)(pictures, work):
        assert place not in pages
        pages[place] = found
        if not killed:
            workers[0].send_signal(signal.SIGKILL)
            killed = True
    here = dict(read_here(1)(pictures, work))
    assert pages.keys() == here.keys()
    for place, found in here.items():
        assert [page.reading for page in pages[place]] == [page.reading for page in found]
        assert [page.overlay for page in pages[place]] == [page.overlay for page in found]
    # The command says the same, in the order of the pictures.
    there = pulka("read", photos, "--cluster", address, "--json")
    assert there.code == 3
    assert there.json == pulka("read", photos, "--json", "--jobs", 1).json
    assert there.err == ""


DEADLY = """
import os
from desk.batch import read_pages

def read(picture, work):
    if picture.name == "2.jpg":
        os._exit(9)
    return read_pages(picture, work)
"""
"""Stands in for the reader: one picture takes the worker with it, as running out of memory would."""


def test_a_picture_that_takes_every_worker_with_it_is_unreadable_and_the_rest_is_read(cluster, tmp_path, monkeypatch):
    (tmp_path / "deadly_worker.py").write_text(DEADLY)
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]]))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(desk.cluster, "_read_remote", importlib.import_module("deadly_worker").read)
    address, _ = cluster(4)
    pictures = [Picture(f"{number}.jpg", data=b"text %d" % number) for number in range(6)]
    _wait_for(address, 4)
    pages = dict(read_there(address)(pictures, Work("en")))
    assert sorted(pages) == list(range(6))
    reasons = [pages[place][0].reading["reason"] for place in range(6)]
    assert [place for place, reason in enumerate(reasons) if "the program failed on it" in reason] == [2]
    assert "KilledWorker" in reasons[2]


def test_without_workers_or_scheduler_it_is_said_in_a_line(cluster, pulka, tmp_path, monkeypatch):
    monkeypatch.setattr(desk.cluster, "CONNECT_S", 1)
    picture = tmp_path / "one.jpg"
    picture.write_text("no picture")
    address, _ = cluster(0)
    for where, said in ((address, "у планировщика нет работников"), ("127.0.0.1:9", "нет планировщика Dask")):
        ran = pulka("read", picture, "--cluster", where)
        assert ran.code == 2
        assert ran.complaints == [f"pulka: --cluster {where}: " + ran.complaints[0].rsplit(": ", 1)[1]]
        assert said in ran.complaints[0]
    assert pulka("read", picture, "--cluster", "no address", "--lang", "en").code == 2


def test_an_address_that_is_none_leaves_no_traceback(tmp_path):
    picture = tmp_path / "one.jpg"
    picture.write_text("no picture")
    program = [sys.executable, "-c", "from desk.cli import main; main()", "read", picture, "--cluster", "nonsense"]
    ran = subprocess.run(program, capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT, timeout=60)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1


def test_a_scheduler_lost_midway_is_said_in_a_line(cluster):
    address, _ = cluster(1)
    _wait_for(address, 1)
    pictures = [Picture(f"{number}.jpg", data=b"text %d" % number) for number in range(40)]
    found = []
    with pytest.raises(Stop) as stopped:
        for place, _pages in read_there(address)(pictures, Work("en")):
            found.append(place)
            cluster.scheduler.kill()
    assert found and len(found) < len(pictures)
    assert "the scheduler is lost" in stopped.value.texts[0].en


def test_workers_without_this_program_are_named(cluster, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def ready():\n    return True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(desk.cluster, "_ready", importlib.import_module("only_here").ready)
    address, _ = cluster(1)
    with pytest.raises(Stop) as stopped:
        list(read_there(address)([Picture("1.jpg", data=b"text")], Work("en")))
    assert "this program is not installed on tcp://127.0.0.1" in stopped.value.texts[0].en


def test_workers_with_another_version_of_it_are_named(cluster, monkeypatch):
    monkeypatch.setattr(desk.cluster, "program", lambda: "0badcafe0123")
    address, _ = cluster(1)
    with pytest.raises(Stop) as stopped:
        list(read_there(address)([Picture("1.jpg", data=b"text")], Work("en")))
    assert "or in another version" in stopped.value.texts[0].en


def _wait_for(address, count):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
