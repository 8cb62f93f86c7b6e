"""A folder of readings: every picture once, every answer for ever, and never a file half written."""

import errno
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from desk.answers import Answer, AnswersError, answers_from, answers_text, newest
from desk.edge import Lang, Stop, in_file
from desk.texts import text_of
from recognize.pipeline import Answers, told_of
from scoring.text import Text, system_text

Record = list[dict[str, Any]]
"""The readings of one picture file, as `pulka read --json` prints them, each with a key `kept` of what it takes to
decide again: the name the file had, the answers counted in, what the picture alone said, and which program read it; and
under `drawn` the file with the picture of what was read, if there is one."""

ANSWERS = "answers.json"

_RECORD = re.compile(r".*-([0-9a-f]{12})\.json")
_PART = ".part-"
_STALE_S = 600
"""A half-written file older than this was left by a program that was killed."""


@cache
def program() -> str:
    """Which program reads here: a short digest of its version and its nets."""
    try:
        said = version("pulka")
    except PackageNotFoundError:  # it runs where its files lie
        said = ""
    digest = hashlib.sha256(said.encode())
    for file in sorted((files("recognize") / "model").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".onnx") or file.name == "calibration.json":
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


class Folder:
    """A folder with one JSON for every picture file, the picture of what was read beside it, and the answers."""

    def __init__(self, path: Path, lang: Lang) -> None:
        """Make the folder where it is not there yet, and take in what it has. OSError where that cannot be done.

        Stop where the answers kept in it are damaged: they are a person's work, and must not be written over.
        """
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.lang = path, lang
        for part in path.glob(f"{_PART}*"):
            if time.time() - part.stat().st_mtime > _STALE_S:
                part.unlink(missing_ok=True)
        self.answers: tuple[Answer, ...] = ()
        if (path / ANSWERS).exists():
            self.answers = _answers_in(path / ANSWERS)
        self.records: dict[str, Record] = {}
        self._stems: dict[str, str] = {}
        for file in sorted(path.glob("*.json")):
            if (named := _RECORD.fullmatch(file.name)) and file.is_file() and (record := _record(file)):
                self.records[named[1]] = record
                self._stems[named[1]] = file.stem

    def learn(self, answers: Sequence[Answer]) -> None:
        """Keep new answers with the old; of two for one field the new one."""
        together = newest(self.answers, answers)
        if together != self.answers:
            self.answers = together
            self._write(ANSWERS, answers_text(together))

    def kept(self, digest: str, name: str, answers: Answers) -> Record | None:
        """The readings kept of a picture of this content; None where it is yet to be read, or to be read again.

        That is where it could not be read, or was read in the other language, with other answers, or by another version
        of the program or its nets, or where the picture of what was read is gone. `name` is the photo's present one.
        """
        record = self.records.get(digest[:12])
        if record is None:
            return None
        record = renamed(record, name)
        good = all(r["lang"] == self.lang and r["status"] != "unreadable" for r in record)
        good = good and all(r["kept"].get("program") == program() for r in record)
        # To draw it alone would take as long: finding the sheet is most of the work.
        good = good and all((self.path / drawn).is_file() for r in record if (drawn := r["kept"].get("drawn")))
        return record if good and all(r["kept"]["answered"] == t for r, t in told(record, answers)) else None

    def keep(self, digest: str, name: str, record: Record, overlays: Sequence[bytes | None]) -> None:
        """Write the readings of a picture: the drawn pages first, so that a JSON that is there is complete."""
        title = re.sub(r"[^\w.-]+", "_", Path(name).stem)[:60] or "picture"
        # A picture that came under another name before keeps its files.
        stem = self._stems.setdefault(digest[:12], f"{title}-{digest[:12]}")
        stamped: Record = []
        for number, (reading, overlay) in enumerate(zip(record, overlays, strict=True), 1):
            drawn = None
            if overlay is not None:
                drawn = f"{stem}.jpg" if len(overlays) == 1 else f"{stem}-{number}.jpg"
                write_whole(self.path / drawn, overlay)
            stamped.append(reading | {"kept": reading["kept"] | {"program": program(), "drawn": drawn}})
        self._write_json(f"{stem}.json", stamped)
        self.records[digest[:12]] = stamped

    def keep_sheet(self, sheet: str, readings: Sequence[Mapping[str, Any]]) -> None:
        """Write what several pictures of a sheet say together."""
        self._write_json(f"sheet-{sheet}.json", readings)

    def _write_json(self, name: str, data: Any) -> None:
        self._write(name, json.dumps(data, ensure_ascii=False, indent=1) + "\n")

    def _write(self, name: str, text: str) -> None:
        path = self.path / name
        if not path.is_file() or path.read_bytes() != text.encode():
            write_whole(path, text.encode())


def told(record: Record, answers: Answers) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Every reading of a picture file with the answers that count for it."""
    places = [(r["source"], r["page"]) for r in record]
    return [
        (r, told_of(answers, r["source"], r["page"], (r["sheet"] or {}).get("id"), places.count(place) == 1))
        for r, place in zip(record, places, strict=True)
    ]


def renamed(record: Record, name: str) -> Record:
    """The readings of a picture file that was called something else when it was read."""
    return [
        r | {"source": name + r["source"].removeprefix(r["kept"]["file"]), "kept": r["kept"] | {"file": name}}
        for r in record
    ]


_DAMAGED = Text(
    "поправьте в текстовом редакторе или переименуйте файл: в нём ответы людей, и без него их придётся дать заново",
    "put it right in a text editor, or rename the file: it holds people's answers, to be given anew without it",
)


def _answers_in(path: Path) -> tuple[Answer, ...]:
    """The answers kept in a file; Stop, with what to do, where it is damaged or cannot be opened."""
    name = str(path)
    if not path.is_file():
        raise Stop(
            in_file(name, Text("это не файл с ответами людей: уберите это", "it is no file of answers: move it away"))
        )
    try:
        return answers_from(text_of(path.read_bytes(), name))
    except OSError as error:
        said = Text("ответы людей не открываются: ", "people's answers cannot be opened: ") + system_text(error)
        raise Stop(in_file(name, said)) from error
    except AnswersError as error:
        first, *more = error.problems
        listed = [_DAMAGED, first, *more] if more else [first + Text("; ", "; ") + _DAMAGED]
        raise Stop(*(in_file(name, said) for said in listed)) from error


def is_reading(path: Path) -> bool:
    """Whether a file holds what this program read in a picture."""
    return _RECORD.fullmatch(path.name) is not None and path.is_file() and _record(path) is not None


def _record(path: Path) -> Record | None:
    """The readings in a file; None where it is not one of ours, or one of an older program."""
    try:
        readings = json.loads(path.read_text(encoding="utf-8"))
        whole = all({"lang", "status", "source", "page", "sheet", "kept"} <= r.keys() for r in readings)
        return readings if readings and whole and all("answered" in r["kept"] for r in readings) else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all.

    OSError where it cannot be written, or where something other than a regular file has the name: to rename over a
    device or a pipe would put a file in its place.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "not a regular file", str(path))
    handle, name = tempfile.mkstemp(prefix=_PART, dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
