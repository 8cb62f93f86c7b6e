"""Many pictures: each content read once, several pictures of a sheet as one, none of them able to stop the rest."""

import hashlib
import io
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

import cv2

from desk.answers import Answer, by_place, for_copies
from desk.edge import Lang
from desk.folder import Folder, Record, told
from desk.picture import draw_reading
from desk.tables import compared, sheet_before
from recognize.beside import Carried
from recognize.photo import Grey, PhotoError, open_photos, photos_in
from recognize.pipeline import Answers, merged, named, papers, read_photo, sheet_info
from recognize.reading import Evidence, Reading, reading_json
from scoring.text import Text
from sheets import Entry, printed
from templates import Identity, decode, load_form

OVERLAY_QUALITY = 82

OUR_OWN = b"pulka: what was read, drawn on the photo"
"""The comment in a picture that this program drew: it is no photo of a sheet and must not be read as one."""


def is_our_own(path: Path) -> bool:
    """Whether a file is a picture that this program drew; a file that cannot be read is not."""
    try:
        with path.open("rb") as file:
            return OUR_OWN in file.read(4096)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture file: its name and where it is, or its bytes where they are at hand."""

    name: str
    path: Path | None = None
    data: bytes | None = None

    def content(self) -> bytes:
        """The file's bytes; OSError where they cannot be had."""
        if self.data is not None:
            return self.data
        return self.path.read_bytes() if self.path is not None else b""

    @property
    def digest(self) -> str:
        """SHA-256 of the content; of the path where the file cannot be read."""
        try:
            if self.data is None and self.path is not None:
                with self.path.open("rb") as file:
                    return hashlib.file_digest(file, "sha256").hexdigest()
            return hashlib.sha256(self.content()).hexdigest()
        except OSError:
            return hashlib.sha256(os.fsencode(str(self.path))).hexdigest()


@dataclass(frozen=True, slots=True)
class Work:
    """What reading a picture takes besides the picture: the same in every process and on every machine.

    `printed` is the register of printed sheets by their numbers.
    """

    lang: Lang
    overlays: bool = False
    answers: Answers = field(default_factory=dict)
    printed: Mapping[int, Entry] = field(default_factory=dict)

    def known(self, serial: int) -> Identity | None:
        """The sheet of this number, for when its codes cannot be read."""
        entry = self.printed.get(serial)
        return decode(entry.code) if entry is not None else None

    def remembered(self, reading: Reading) -> Reading:
        """The reading with the event and the players that the register of printed sheets knows by its code."""
        if reading.sheet is None or reading.sheet.code is None:
            return reading
        entry = self.printed.get(decode(reading.sheet.code).serial)
        if entry is None or entry.code != reading.sheet.code:
            return reading
        return named(reading, entry.event or None, dict(entry.names))


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet read: the reading as `pulka read --json` prints it, the picture of it (JPEG), if any, the evidence."""

    reading: dict[str, Any]
    overlay: bytes | None = None
    evidence: Evidence | None = None


Pages = tuple[Page, ...]

Engine = Callable[[Sequence[Picture], Work], Iterator[tuple[int, Pages]]]
"""Reads pictures and yields the sheets of each, with its place among them, as they are done."""


def register() -> Mapping[int, Entry]:
    """The register of printed sheets; empty where it cannot be read."""
    try:
        return printed()
    except OSError:
        return {}


# --- one picture ------------------------------------------------------------------------------------------------------


def read_pages(picture: Picture, work: Work) -> Pages:
    """Every sheet in every picture of a file, read; whatever goes wrong is a reading too."""
    pages: list[Page] = []
    number = 1
    try:
        for photo in (
            open_photos(picture.path) if picture.path is not None else photos_in(picture.name, picture.content())
        ):
            number = photo.page + 1
            for found in read_photo(photo, work.known, work.answers):
                reading = work.remembered(found)
                overlay = _overlay(photo.grey, reading, work.lang) if work.overlays else None
                pages.append(Page(as_json(reading, work.lang), overlay, reading.evidence))
    except PhotoError as error:
        pages.append(Page(as_json(Reading(picture.name, number, "unreadable", error.text), work.lang)))
    except Exception as error:
        # One bad picture never stops the rest, whatever it does to us.
        pages.append(failed(picture, work.lang, f"{type(error).__name__}: {error}", number))
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
    picture.save(packed, "JPEG", quality=OVERLAY_QUALITY, optimize=True, comment=OUR_OWN)
    return packed.getvalue()


def failed(picture: Picture, lang: Lang, what: str, page: int = 1) -> Page:
    """The reading of a picture on which the program itself failed."""
    what = " ".join(what.split())
    reason = Text(
        f"сбой программы при чтении ({what}): снимите лист ещё раз, а этот снимок пришлите нам",
        f"the program failed on it ({what}): take the photo again, and send us this one",
    )
    return Page(as_json(Reading(picture.name, page, "unreadable", reason), lang))


def as_json(reading: Reading, lang: Lang) -> dict[str, Any]:
    """The reading as plain data, with the language of its sentences and the pictures behind it."""
    return reading_json(reading, lang) | {"lang": lang, "pictures": [reading.source]}


# --- many, in processes of this machine -------------------------------------------------------------------------------


def read_here(jobs: int) -> Engine:
    """Reads in `jobs` processes of this machine.

    A picture whose reading brings its process down is read once more alone, and if that fails too, it is `unreadable`.
    """

    def engine(pictures: Sequence[Picture], work: Work) -> Iterator[tuple[int, Pages]]:
        if jobs == 1 or len(pictures) == 1:
            yield from ((i, read_pages(picture, work)) for i, picture in enumerate(pictures))
            return
        left = list(range(len(pictures)))
        while left:
            yield from _until_it_breaks(pictures, work, left, jobs)
            # Those under way when a process died are among the first of what is left, and one of them is to blame.
            for i in left[: jobs + 1]:
                alone = [i]
                yield from _until_it_breaks(pictures, work, alone, 1)
                if alone:
                    yield i, (failed(pictures[i], work.lang, "BrokenProcessPool"),)
                left.remove(i)

    return engine


def _until_it_breaks(
    pictures: Sequence[Picture], work: Work, left: list[int], jobs: int
) -> Iterator[tuple[int, Pages]]:
    """Read the pictures at the places `left` and take out of it those done, until all are or a process dies."""
    context = get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(left)), mp_context=context, initializer=_start_worker)
    others = active_children()
    try:
        with _interrupts_held():
            waiting = {pool.submit(_read_pages, pictures[i], work): i for i in left}
        for done in as_completed(list(waiting)):
            i = waiting.pop(done)
            pages = done.result()
            left.remove(i)
            yield i, pages
    except BrokenProcessPool:
        return
    except (KeyboardInterrupt, GeneratorExit):
        # Nobody waits for what is under way any more.
        for worker in active_children():
            if worker not in others:
                worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """An interrupt waits until the end of this; the processes begun meanwhile never get one, not even as they load."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """One picture, one core; an interrupt is the parent's business, and a parent that was killed is the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _read_pages(picture: Picture, work: Work) -> Pages:
    return read_pages(picture, work)


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """All pictures read: a reading for every sheet, in the order of the pictures, and what people should be told."""

    readings: list[dict[str, Any]]
    warnings: list[Text]
    differ: bool = False
    """Whether two sheets of one table tell different things."""


def read_batch(
    pictures: Sequence[Picture],
    lang: Lang,
    engine: Engine,
    *,
    answers: Sequence[Answer] = (),
    folder: Folder | None = None,
    again: bool = False,
    track: Callable[[Iterator[Any], int], Iterator[Any]] = lambda steps, total: steps,
) -> Batch:
    """Read the pictures, but those only that `folder` has not; `track` shows the steps of the reading, as they go.

    `answers` are given with this run; those kept in the folder count as well. OSError where the folder cannot be
    written.
    """
    if folder is not None:
        folder.learn(answers)
    names: dict[str, list[str]] = {}
    first: dict[str, Picture] = {}
    for picture in pictures:
        digest = picture.digest
        first.setdefault(digest, picture)
        names.setdefault(digest, []).append(picture.name)
    said, warnings = _unambiguous(by_place(folder.answers if folder is not None else answers), names)
    for copies in names.values():
        said = for_copies(said, list(dict.fromkeys(copies)))
    work = Work(lang, folder is not None, said, register())
    records: dict[str, Record] = {}
    if folder is not None and not again:
        for digest, picture in first.items():
            if (kept := folder.kept(digest, picture.name, said)) is not None:
                records[digest] = kept
    fresh = [digest for digest in first if digest not in records]
    for place, pages in track(engine([first[digest] for digest in fresh], work), len(fresh)):
        digest = fresh[place]
        record = records[digest] = _record(first[digest], pages, said)
        if folder is not None:
            folder.keep(digest, first[digest].name, record, [page.overlay for page in pages])
    sheets = _Sheets(work, folder)
    for digest in first:
        sheets.add(records[digest], names[digest])
    if folder is not None:
        for digest, record in folder.records.items():
            if not any(known.startswith(digest) for known in first):
                sheets.add(record, [])
    readings, differ = compared(sheets.readings())
    return Batch(readings, [*warnings, *_unused(answers, readings, names)], differ)


def _record(picture: Picture, pages: Pages, answers: Answers) -> Record:
    """The readings of a picture as they are kept."""
    record: Record = [
        page.reading | {"kept": {"file": picture.name, "answered": {}, "evidence": _evidence_json(page.evidence)}}
        for page in pages
    ]
    return [r | {"kept": r["kept"] | {"answered": counted}} for r, counted in told(record, answers)]


def _evidence_json(evidence: Evidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {
        "likely": {name: dict(values) for name, values in evidence.likely.items()},
        "struck": dict(evidence.struck),
        "unseen": sorted(evidence.unseen),
    }


class _Sheets:
    """The readings of many pictures, sorted by the sheet that they are of."""

    def __init__(self, work: Work, folder: Folder | None) -> None:
        self.work, self.folder = work, folder
        self.groups: dict[str, list[tuple[dict[str, Any], list[str], dict[str, str]]]] = {}

    def add(self, record: Record, names: Sequence[str]) -> None:
        """Add the readings of a picture called `names` in this run; without a name it is there to be merged only."""
        for number, (reading, counted) in enumerate(told(record, self.work.answers)):
            code = (reading["sheet"] or {}).get("code")
            if not names and (code not in self.groups or reading["kept"]["evidence"] is None):
                continue
            place = reading["source"].removeprefix(reading["kept"]["file"])
            called = [name + place for name in dict.fromkeys(names)] or [reading["source"]]
            key = code or f"{reading['kept']['file']} {len(self.groups)} {number}"
            self.groups.setdefault(key, []).append((reading, called, counted))

    def readings(self) -> list[dict[str, Any]]:
        """A reading for every sheet of paper: of several pictures merged, of a continuation with the sheet before."""
        by_code = {code: self._one_sheet(code, group) for code, group in self.groups.items()}
        first = [reading for found in by_code.values() for reading in found]
        for code, group in self.groups.items():
            before = sheet_before(by_code[code][0], first) if len(by_code[code]) == 1 else None
            if before is not None:
                by_code[code] = self._one_sheet(code, group, before)
        return [reading for found in by_code.values() for reading in found]

    def _one_sheet(
        self,
        code: str,
        group: list[tuple[dict[str, Any], list[str], dict[str, str]]],
        before: Carried | None = None,
    ) -> list[dict[str, Any]]:
        read = [one for one in group if one[0]["kept"]["evidence"] is not None]
        if not read:
            return [_printed(reading, called) for reading, called, _ in group]
        missed = [one for one in group if one[0]["kept"]["evidence"] is None]
        reading, called, counted = read[0]
        if (
            before is None
            and len(read) == 1
            and (reading["lang"], reading["kept"]["answered"]) == (self.work.lang, counted)
        ):
            found = [_printed(reading, called)]
        else:
            found = self._merged(code, read, before)
        # A photo of the same sheet that cannot be read is not missed, but named.
        for reading, called, _ in missed:
            note = Text(
                f"снимок {called[0]} не прочитан ({reading['reason']}); лист прочитан по другому снимку",
                f"the photo {called[0]} could not be read ({reading['reason']}); the sheet was read from another",
            )
            found[0] = found[0] | {
                "pictures": [*found[0]["pictures"], *called],
                "notes": [*found[0]["notes"], note.in_(self.work.lang)],
            }
        if self.folder is not None and (len(group) > 1 or before is not None):
            self.folder.keep_sheet(found[0]["sheet"]["id"], found)
        return found

    def _merged(
        self, code: str, read: list[tuple[dict[str, Any], list[str], dict[str, str]]], before: Carried | None
    ) -> list[dict[str, Any]]:
        identity = decode(code)
        form = load_form(identity.form, identity.players, identity.rows, identity.version)
        info = sheet_info(form, identity)
        all_read = []
        told_by: dict[int, tuple[list[str], dict[str, str]]] = {}
        for reading, called, counted in read:
            kept = reading["kept"]["evidence"]
            evidence = Evidence(kept["likely"], kept["struck"], frozenset(kept["unseen"]))
            one = Reading(reading["source"], reading["page"], "clear", None, info, evidence=evidence)
            all_read.append(one)
            told_by[id(one)] = called, counted
        sorted_out = papers(all_read)
        copied = len(sorted_out) > 1
        by_sheet = {} if copied else dict(self.work.answers.get(info.id or "", {}))
        found = []
        for paper in sorted_out:
            answered: dict[str, str] = {}
            for one in paper:
                called, counted = told_by[id(one)]
                # An answer for a sheet's number says nothing of which of two papers with that number is meant.
                answered |= self.work.answers.get(called[0], {}) if copied else counted
            together = merged(paper, answered | by_sheet, copied=copied, before=before)
            pictures = list(dict.fromkeys(name for one in paper for name in told_by[id(one)][0]))
            found.append(_printed(as_json(self.work.remembered(together), self.work.lang), pictures))
        return found


def _printed(reading: dict[str, Any], pictures: Sequence[str]) -> dict[str, Any]:
    """The reading as it is printed, with the names of all pictures behind it."""
    return {key: value for key, value in reading.items() if key != "kept"} | {"pictures": list(pictures)}


# --- answers that found no place --------------------------------------------------------------------------------------


def _unambiguous(answers: Answers, names: Mapping[str, Sequence[str]]) -> tuple[Answers, list[Text]]:
    """The answers without those for a name that different pictures have."""
    count = Counter(name for called in names.values() for name in set(called))
    twice = {place for place in answers if count[place.partition("#")[0].partition("/")[0]] > 1}
    warnings = [
        Text(
            f"ответы для {place} не учтены: так называются разные снимки, переименуйте один из них",
            f"the answers for {place} do not count: different pictures have this name, rename one of them",
        )
        for place in sorted(twice)
    ]
    return {place: told for place, told in answers.items() if place not in twice}, warnings


def _unused(
    answers: Sequence[Answer], readings: Sequence[Mapping[str, Any]], names: Mapping[str, Sequence[str]]
) -> list[Text]:
    """What to say of answers that could not be counted in."""
    said: dict[str, Text] = {}
    for answer in answers:
        where = answer.sheet or answer.source or ""
        of = [
            reading
            for reading in readings
            if (
                (reading["sheet"] or {}).get("id") == answer.sheet
                if answer.sheet is not None
                else answer.source in reading["pictures"] and answer.page == reading["page"]
            )
        ]
        if not of:
            said[answer.place] = Text(
                f"ответ для {where}: такого листа среди снимков нет",
                f"the answer for {where}: there is no such sheet among the pictures",
            )
        elif len(of) > 1:
            said[answer.place] = Text(
                f"ответ для {where}: таких листов несколько, и чей это ответ, неясно",
                f"the answer for {where}: there are several such sheets, and it is not clear which is meant",
            )
        elif of[0]["status"] != "unreadable" and answer.field == "sheet":
            code = of[0]["sheet"]["code"]
            if code is None or decode(code) != decode(answer.value):
                said[f"{answer.place} sheet"] = Text(
                    f"ответ для {where}: код не учтён, на снимке лист с другим кодом",
                    f"the answer for {where}: the code does not count, the sheet in the picture has another",
                )
        elif of[0]["status"] != "unreadable" and answer.field not in of[0]["fields"]:
            said[f"{answer.place} {answer.field}"] = Text(
                f"ответ для {where}: на этом листе нет клетки {answer.field}",
                f"the answer for {where}: this sheet has no field {answer.field}",
            )
    return list(said.values())
