"""Many pictures: each content read once, several pictures of a sheet as one, none of them able to stop the rest."""

import hashlib
import io
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from desk.answers import Answer, by_place
from desk.edge import Lang
from desk.folder import ANSWERS, Folder, Record, told
from desk.picture import draw_reading
from desk.printed import damage, register
from desk.report import is_copy_question
from desk.tables import compared, games_of, sheet_before
from recognize.beside import Carried
from recognize.photo import Grey, Photo, PhotoError, open_photos, photos_in
from recognize.pipeline import Answers, merged, named, papers, read_photo, sheet_info
from recognize.reading import Evidence, Reading, reading_json
from scoring.text import Text, plain_name
from sheets import Entry
from templates import Identity, decode, encode, load_form

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
    """A picture file: its name and where it is, or its bytes where they are at hand.

    Where several files have one name, theirs have as much of the folders before it as tells them apart.
    """

    name: str
    path: Path | None = None
    data: bytes | None = None

    def content(self) -> bytes:
        """The file's bytes; OSError where they cannot be had."""
        if self.data is not None:
            return self.data
        return self.path.read_bytes() if self.path is not None else b""

    @property
    def ways(self) -> set[str]:
        """What a person may call it: with the folder or without."""
        bare = self.name.rpartition("/")[2]
        return {self.name, bare} | ({f"{self.path.absolute().parent.name}/{bare}"} if self.path is not None else set())

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

Engine = Callable[[Sequence[Picture], Work], Generator[tuple[int, Pages], None, None]]
"""Reads pictures and yields the sheets of each, with its place among them, as they are done; closed, it stops."""


# --- one picture ------------------------------------------------------------------------------------------------------


def read_pages(picture: Picture, work: Work) -> Pages:
    """Every sheet in every picture of a file, read; whatever goes wrong is a reading too."""
    pages: list[Page] = []
    number = 1
    try:
        for photo in _photos(picture):
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


def _photos(picture: Picture) -> Iterator[Photo]:
    if picture.path is None:
        yield from photos_in(picture.name, picture.content())
        return
    for photo in open_photos(picture.path):
        yield replace(photo, source=picture.name + photo.source.removeprefix(plain_name(picture.path.name)))


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
    """The reading as plain data, with the language of its sentences and the pictures behind it, and their pages."""
    return reading_json(reading, lang) | {"lang": lang} | _behind({reading.source: [reading.page]})


def _behind(pages: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """What a reading says of the pictures behind it: their names, and of which pages of each it is."""
    return {"pictures": list(pages), "pages": {name: list(of) for name, of in pages.items()}}


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
    answers_file: Path | None = None,
    folder: Folder | None = None,
    again: bool = False,
    track: Callable[[Iterator[Any], int], Iterator[Any]] = lambda steps, total: steps,
) -> Batch:
    """Read the pictures, but those only that `folder` has not; `track` shows the steps of the reading, as they go.

    `answers` are given with this run, in `answers_file`; those kept in the folder count as well. OSError where the
    folder cannot be written.
    """
    if folder is not None:
        folder.learn(answers)
    names: dict[str, list[str]] = {}
    first: dict[str, Picture] = {}
    ways: dict[str, set[str]] = {}
    for picture in pictures:
        digest = picture.digest
        first.setdefault(digest, picture)
        names.setdefault(digest, []).append(picture.name)
        for way in picture.ways:
            ways.setdefault(way, set()).add(digest)
    counting = folder.answers if folder is not None else answers
    called = {way: [first[digest].name for digest in of] for way, of in ways.items()}
    meant = [(answer, _as_called(answer, called)) for answer in counting]
    said = by_place(known for _, known in meant if known is not None)
    work = Work(lang, folder is not None, said, register())
    records: dict[str, Record] = {}
    if folder is not None and not again:
        for digest, picture in first.items():
            if (kept := folder.kept(digest, picture.name, said)) is not None:
                records[digest] = kept
    fresh = [digest for digest in first if digest not in records]
    with closing(engine([first[digest] for digest in fresh], work)) as steps:
        for place, pages in track(steps, len(fresh)):
            digest = fresh[place]
            record = records[digest] = _record(first[digest], pages, said)
            if folder is not None:
                folder.keep(digest, first[digest].name, record, [page.overlay for page in pages])
    sheets = _Sheets(work, folder)
    for digest in first:
        sheets.add(records[digest], names[digest])
    kept_before = []
    if folder is not None:
        kept_before = [r for d, r in folder.records.items() if not any(known.startswith(d) for known in first)]
    for record in kept_before:
        sheets.add(record, [])
    readings, differ = compared(sheets.readings())
    elsewhere = [reading for record in kept_before for reading in record]
    idle: dict[tuple[Text, str, Text], list[str]] = {}
    for answer, known in meant:
        if (why := _why_not_counted(known, readings, elsewhere)) is not None:
            files = [str(answers_file)] if answers_file is not None and answer in answers else []
            files += [str(folder.path / ANSWERS)] if folder is not None else []
            files = list(dict.fromkeys(files))
            where = Text(" и ".join(files), " and ".join(files))
            idle.setdefault((where, answer.place, why), []).append(answer.field)
    warnings = [_idle_text(*what, fields) for what, fields in idle.items()]
    if (amiss := damage()) is not None:
        warnings.insert(0, amiss)
    return Batch(readings, warnings, differ)


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


@dataclass(frozen=True, slots=True)
class _Seen:
    """One reading of a sheet: what its picture is called in this run, and the answers that count for it.

    `of_picture` are those among them that were told of the picture, and not of the sheet's number. `bare` is what the
    picture alone said, of a sheet yet to be named; None where nothing was read in it.
    """

    reading: dict[str, Any]
    called: Sequence[str]
    counted: Mapping[str, str]
    of_picture: Mapping[str, str]
    bare: Reading | None


@dataclass(frozen=True, slots=True)
class _Paper:
    """The readings of one sheet of paper, and its code: as printed, or as a person told it.

    `twin` says that another paper carries the same printed code, `copied` that nobody has told yet which this one is.
    """

    code: str
    seen: Sequence[_Seen]
    twin: bool = False
    copied: bool = False


class _Sheets:
    """The readings of many pictures, sorted by the sheet that they are of."""

    def __init__(self, work: Work, folder: Folder | None) -> None:
        self.work, self.folder = work, folder
        self.groups: dict[str, list[_Seen]] = {}

    def add(self, record: Record, names: Sequence[str]) -> None:
        """Add the readings of a picture called `names` in this run; without a name it is there to be merged only."""
        nameless = [reading | {"sheet": None} for reading in record]
        both = zip(told(record, self.work.answers), told(nameless, self.work.answers), strict=True)
        for number, ((reading, counted), (_, of_picture)) in enumerate(both):
            code = (reading["sheet"] or {}).get("code")
            if not names and (code not in self.groups or reading["kept"]["evidence"] is None):
                continue
            place = reading["source"].removeprefix(reading["kept"]["file"])
            called = [name + place for name in dict.fromkeys(names)] or [reading["source"]]
            key = code or f"{reading['kept']['file']} {len(self.groups)} {number}"
            self.groups.setdefault(key, []).append(_Seen(reading, called, counted, of_picture, _bare(reading)))

    def readings(self) -> list[dict[str, Any]]:
        """A reading for every sheet of paper: of several pictures merged, of a continuation with the sheet before."""
        taken: set[str] = set()
        sheets = [paper for code, group in self.groups.items() for paper in self._papers(code, group, taken)]
        first = [self._one(paper) for paper in sheets]
        games = games_of(first)
        found: list[dict[str, Any]] = []
        several: dict[str, list[dict[str, Any]]] = {}
        for number, (paper, reading) in enumerate(zip(sheets, first, strict=True)):
            before = sheet_before(number, first, games) if not paper.copied else None
            found.append(self._one(paper, before) if before is not None else reading)
            if before is not None or paper.twin or len(paper.seen) > 1:
                several.setdefault(reading["sheet"]["id"], []).append(found[-1])
        if self.folder is not None:
            for sheet, together in several.items():
                self.folder.keep_sheet(sheet, together)
        return found

    def _papers(self, code: str, group: Sequence[_Seen], taken: set[str]) -> Iterator[_Paper]:
        """The sheets of paper that carry one code: more than one where a blank was copied, or printed twice.

        `taken` are the codes that people told of papers before, and those told of these are added to it.
        """
        by_bare = {id(one.bare): one for one in group if one.bare is not None}
        if not by_bare:
            yield from (_Paper(code, [one]) for one in group)
            return
        missed = [one for one in group if one.bare is None]
        apart = papers([one.bare for one in group if one.bare is not None])
        for found in apart:
            seen = [by_bare[id(bare)] for bare in found]
            said = self._code_told(code, seen, taken) if len(apart) > 1 else code
            yield _Paper(said or code, [*seen, *missed], len(apart) > 1, said is None)
            missed = []

    def _code_told(self, code: str, seen: Sequence[_Seen], taken: set[str]) -> str | None:
        """The code that a person told of a paper whose own another one carries, too; None where nobody did.

        That is its own, or that of another blank of the same form; never one that another paper has.
        """
        for answer in (one.of_picture["sheet"] for one in seen if "sheet" in one.of_picture):
            said = encode(decode(answer))
            if said not in taken and (said == code or (said not in self.groups and _same_form(said, code))):
                taken.add(said)
                return said
        return None

    def _one(self, paper: _Paper, before: Carried | None = None) -> dict[str, Any]:
        """The reading of a sheet of paper; `before` is what the sheet that it continues ends with."""
        read = [one for one in paper.seen if one.bare is not None]
        if not read:
            (one,) = paper.seen
            return _printed(one.reading, _pages([one]))
        reading, counted = read[0].reading, read[0].counted
        if (
            before is None
            and len(read) == 1
            and not paper.copied
            and (reading["sheet"]["code"] or paper.code) == paper.code
            and (reading["lang"], reading["kept"]["answered"]) == (self.work.lang, counted)
        ):
            found = _printed(reading, _pages(read))
        else:
            found = self._merged(paper, read, before)
        # No picture is passed over: neither one that says the same as another, nor one that cannot be read.
        notes = []
        for one in paper.seen:
            names = ", ".join(one.called)
            if one.bare is None:
                notes.append(
                    Text(
                        f"снимок {names} не прочитан ({one.reading['reason']}); лист прочитан по другому снимку",
                        f"the photo {names} could not be read ({one.reading['reason']}); the sheet was read from "
                        "another",
                    )
                )
            elif len(one.called) > 1:
                notes.append(Text(f"один и тот же снимок: {names}", f"one and the same photo: {names}"))
        told = [*found["notes"], *(note.in_(self.work.lang) for note in notes)]
        return found | {"notes": told} | _behind(_pages([*read, *(one for one in paper.seen if one.bare is None)]))

    def _merged(self, paper: _Paper, read: Sequence[_Seen], before: Carried | None) -> dict[str, Any]:
        identity = decode(paper.code)
        info = sheet_info(load_form(identity.form, identity.players, identity.rows, identity.version), identity)
        # An answer for a sheet's number says nothing of which of two papers with that number is meant.
        of_sheet = {} if paper.copied else self.work.answers.get(info.id or "", {})
        answered = {name: value for one in read for name, value in one.of_picture.items()} | dict(of_sheet)
        bare = [replace(one.bare, sheet=info) for one in read if one.bare is not None]
        together = merged(bare, answered, copied=paper.copied, before=before)
        return _printed(as_json(self.work.remembered(together), self.work.lang), _pages(read))


def _bare(reading: Mapping[str, Any]) -> Reading | None:
    """What a picture alone said, as it was kept."""
    kept = reading["kept"]["evidence"]
    if kept is None:
        return None
    evidence = Evidence(kept["likely"], kept["struck"], frozenset(kept["unseen"]))
    return Reading(reading["source"], reading["page"], "clear", evidence=evidence)


def _same_form(code: str, other: str) -> bool:
    one, two = decode(code), decode(other)
    return (one.form, one.version, one.players, one.rows) == (two.form, two.version, two.players, two.rows)


def _printed(reading: dict[str, Any], pages: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The reading as it is printed, with the names and pages of all pictures behind it."""
    return {key: value for key, value in reading.items() if key != "kept"} | _behind(pages)


def _pages(seen: Sequence[_Seen]) -> dict[str, list[int]]:
    """The pages of every picture behind these readings of a sheet."""
    pages: dict[str, list[int]] = {}
    for one in seen:
        for name in one.called:
            of = pages.setdefault(name, [])
            if one.reading["page"] not in of:
                of.append(one.reading["page"])
    return pages


# --- answers that found no place --------------------------------------------------------------------------------------


def _as_called(answer: Answer, called: Mapping[str, Sequence[str]]) -> Answer | None:
    """The answer for the picture as it is known here; None where different pictures are called so.

    `called` are the names here of all pictures that a person may call so, of copies the first.
    """
    if answer.source is None:
        return answer
    parts = answer.source.split("/")
    for count in range(len(parts), 0, -1):  # what follows is a file in an archive
        if names := called.get("/".join(parts[:count])):
            return replace(answer, source="/".join([names[0], *parts[count:]])) if len(names) == 1 else None
    return answer


def _why_not_counted(
    answer: Answer | None, readings: Sequence[Mapping[str, Any]], elsewhere: Sequence[Mapping[str, Any]]
) -> Text | None:
    """Why an answer could not be counted in, and what to do; None where it was.

    No answer is one for a name that different pictures have; `elsewhere` are the readings that the folder has of other
    pictures than these.
    """
    mend = Text("; исправьте или удалите", "; correct or delete")
    if answer is None:
        return Text(
            'не учтено, так называются разные снимки; укажите и папку, например "source": "суббота/1.jpg"',
            'not counted in, different pictures have this name; give the folder, too: "source": "saturday/1.jpg"',
        )
    of = [reading for reading in readings if _is_of(answer, reading)]
    if len(of) > 1 and answer.sheet is not None:
        return Text(
            'таких листов несколько, и чей это ответ, неясно: укажите вместо номера листа имя снимка, "source"',
            'there are several such sheets, and it is not clear which is meant: give the picture\'s name, "source", '
            "instead of the sheet's number",
        )
    if len(of) > 1:
        return Text(
            'листов на снимке несколько, и чей это ответ, неясно: укажите вместо имени снимка номер листа, "sheet"',
            "there are several sheets in the picture, and it is not clear which is meant: give the sheet's number, "
            '"sheet", instead of the picture\'s name',
        )
    reading = next((one for one in (*of, *elsewhere) if _is_of(answer, one)), None)
    if reading is None:
        return Text(
            "такого листа среди снимков нет; прочитайте и его снимок, а если здесь опечатка, исправьте или удалите",
            "there is no such sheet among the pictures; read its photo, too, or, if this is a slip, correct or delete",
        )
    if reading["status"] == "unreadable":
        return None
    if answer.field != "sheet":
        if answer.field in reading["fields"]:
            return None
        return Text("такой клетки на этом листе нет", "this sheet has no such field") + mend
    code = reading["sheet"]["code"]
    if any(is_copy_question(reading, question) for question in reading["review"]):
        return (
            Text(
                "код не учтён, это код бланка другой формы или другого листа среди снимков",
                "the code does not count, it is of a blank of another form, or of another sheet among the pictures",
            )
            + mend
        )
    if code is None or decode(code) != decode(answer.value):
        return (
            Text(
                "код не учтён, на снимке лист с другим кодом",
                "the code does not count, the sheet in the picture has another",
            )
            + mend
        )
    return None


def _idle_text(files: Text, place: str, why: Text, fields: Sequence[str]) -> Text:
    """What is said of answers for one sheet or picture that could not be counted in."""
    named = ", ".join(fields)
    head = Text(f": ответ для {place}, {named}: ", f": the answer for {place}, {named}: ")
    if len(fields) > 1:
        head = Text(f": ответы для {place}, {named}: ", f": the answers for {place}, {named}: ")
    return files + head + why


def _is_of(answer: Answer, reading: Mapping[str, Any]) -> bool:
    """Whether an answer is for the sheet of a reading."""
    if answer.sheet is not None:
        return bool((reading["sheet"] or {}).get("id") == answer.sheet)
    pages = reading.get("pages") or {reading["source"]: [reading["page"]]}  # what was kept long ago has none
    return answer.page in pages.get(answer.source, ())
