"""Many pictures: read in several processes, kept in a folder, none of them able to stop the rest."""

import hashlib
import io
import json
import os
import re
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2

from desk.edge import Lang
from desk.picture import draw_reading
from recognize.photo import Grey, PhotoError, open_photos
from recognize.pipeline import named, read_photo
from recognize.reading import Reading, reading_json
from scoring.text import Text
from sheets import look_up, register_path
from templates import Identity, decode, load_form

OVERLAY_QUALITY = 82


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet read: the reading as `pulka read --json` prints it, and the picture of it (JPEG), if any."""

    reading: dict[str, Any]
    overlay: bytes | None


def read_all(paths: Sequence[Path], lang: Lang, jobs: int, *, overlays: bool) -> Iterator[tuple[Page, ...]]:
    """The sheets of every picture file, in the order of `paths`, read in `jobs` processes.

    A file whose reading brings its process down is read once more alone, and if that fails too, it is `unreadable`.
    """
    if jobs == 1 or len(paths) == 1:
        yield from (read_pages(path, lang, overlays=overlays) for path in paths)
        return
    done, alone = 0, False
    while done < len(paths):
        now = paths[done : done + 1] if alone else paths[done:]
        pool = ProcessPoolExecutor(
            1 if alone else min(jobs, len(now)), mp_context=get_context("spawn"), initializer=_start_worker
        )
        try:
            waiting = [pool.submit(_read_pages, path, lang, overlays) for path in now]
            for pages in waiting:
                yield pages.result()
                done += 1
            alone = False
        except BrokenProcessPool:
            if alone:
                yield (_failed(paths[done], lang, "BrokenProcessPool"),)
                done += 1
            alone = not alone
        finally:
            pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    """One picture, one core; and an interrupt is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)


def _read_pages(path: Path, lang: Lang, overlays: bool) -> tuple[Page, ...]:
    return read_pages(path, lang, overlays=overlays)


def read_pages(path: Path, lang: Lang, *, overlays: bool) -> tuple[Page, ...]:
    """Every sheet in every picture of a file, read; whatever goes wrong is a reading too."""
    pages: list[Page] = []
    number = 1
    try:
        for photo in open_photos(path):
            number = photo.page + 1
            for found in read_photo(photo, printed_here):
                reading = remembered(found)
                overlay = _overlay(photo.grey, reading, lang) if overlays else None
                pages.append(Page(as_json(reading, lang), overlay))
    except PhotoError as error:
        pages.append(Page(as_json(Reading(path.name, number, "unreadable", error.text), lang), None))
    except Exception as error:
        # One bad picture never stops the rest, whatever it does to us.
        pages.append(_failed(path, lang, f"{type(error).__name__}: {error}", number))
    return tuple(pages)


def _overlay(grey: Grey, reading: Reading, lang: Lang) -> bytes | None:
    """The picture of what was read, as a JPEG; None where no page was found."""
    sheet = reading.sheet
    if sheet is None:
        return None
    form = load_form(sheet.form, sheet.players, sheet.rows, sheet.version)
    picture = draw_reading(grey, reading, form, lang)
    if picture is None:
        return None
    packed = io.BytesIO()
    picture.save(packed, "JPEG", quality=OVERLAY_QUALITY, optimize=True)
    return packed.getvalue()


def _failed(path: Path, lang: Lang, what: str, page: int = 1) -> Page:
    reason = Text(
        f"сбой программы при чтении ({what}): снимите лист ещё раз, а этот снимок пришлите нам",
        f"the program failed on it ({what}): take the photo again, and send us this one",
    )
    return Page(as_json(Reading(path.name, page, "unreadable", reason), lang), None)


def as_json(reading: Reading, lang: Lang) -> dict[str, Any]:
    """The reading as plain data, with the language of its sentences."""
    return reading_json(reading, lang) | {"lang": lang}


def printed_here(serial: int) -> Identity | None:
    """The sheet of this number in the register of printed sheets, for when its codes cannot be read."""
    try:
        lines = register_path().read_bytes().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            identity = decode(json.loads(line)["code"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if identity.serial == serial:
            return identity
    return None


def remembered(reading: Reading) -> Reading:
    """The reading with the event and the players that the register of printed sheets knows by its code."""
    if reading.sheet is None or reading.sheet.code is None:
        return reading
    try:
        entry = look_up(decode(reading.sheet.code))
    except OSError:
        return reading
    return named(reading, entry.event or None, dict(entry.names)) if entry is not None else reading


# --- a folder of readings ---------------------------------------------------------------------------------------------


class Folder:
    """A folder with one JSON for every picture file, and beside it the picture of what was read."""

    def __init__(self, path: Path, lang: Lang) -> None:
        """Make the folder where it is not there yet; OSError where it cannot be made."""
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.lang = path, lang

    def stem(self, picture: Path) -> str:
        """The name of a picture's files here: its own, and the beginning of its content's hash."""
        name = re.sub(r"[^\w.-]+", "_", picture.stem)[:60] or "picture"
        return f"{name}-{_digest(picture)[:12]}"

    def kept(self, picture: Path) -> list[dict[str, Any]] | None:
        """The readings kept of this very content, in this language; None where it is yet to be read.

        What could not be read is tried again.
        """
        try:
            readings = json.loads((self.path / f"{self.stem(picture)}.json").read_text(encoding="utf-8"))
            good = all(r["lang"] == self.lang and r["status"] != "unreadable" for r in readings)
            return readings if readings and good else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, picture: Path, pages: Sequence[Page]) -> None:
        """Write the readings of a picture file: the drawn pages first, so that a JSON that is there is complete."""
        stem = self.stem(picture)
        for number, page in enumerate(pages, 1):
            if page.overlay is not None:
                name = f"{stem}.jpg" if len(pages) == 1 else f"{stem}-{number}.jpg"
                write_whole(self.path / name, page.overlay)
        data = json.dumps([page.reading for page in pages], ensure_ascii=False, indent=1) + "\n"
        write_whole(self.path / f"{stem}.json", data.encode())


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return hashlib.sha256(str(path).encode()).hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
