"""`pulka read`: pictures in, readings told or printed as JSON, kept in a folder where one is given."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from desk.answers import Answer, AnswersError, answers_from
from desk.batch import Batch, Engine, Picture, is_our_own, read_batch
from desk.cluster import read_there
from desk.edge import NOT_REGULAR, ExitCode, Lang, Stop, complain, in_file, input_data, put_json
from desk.folder import Folder, is_reading
from desk.processes import read_here
from desk.report import alone_in_their_pictures, console, show_how_to_answer, show_reading, show_unreadable
from desk.texts import text_of
from recognize.identify import tesseract_found
from recognize.photo import PICTURES, find_pictures
from scoring.text import Text, plain_name, system_text


@dataclass(frozen=True, slots=True)
class Wish:
    """How to read: where to keep the readings, what a person answered, how many pictures at a time, and where."""

    out: Path | None
    answers: Path | None
    again: bool
    jobs: int | None
    cluster: str | None
    as_json: bool


def read_pictures(paths: Sequence[str], wish: Wish, lang: Lang) -> ExitCode:
    """Read the pictures at the paths (`-` is standard input) and tell of them."""
    engine = read_there(wish.cluster) if wish.cluster is not None else read_here(wish.jobs or _cores())
    told = _answers(wish.answers) if wish.answers is not None else ()
    pictures, amiss = _pictures(paths, lang)
    if not pictures:
        return ExitCode.USAGE
    batch = _read(pictures, wish, lang, engine, told)
    for warning in batch.warnings:
        complain(warning.in_(lang))
    if wish.as_json:
        put_json(batch.readings)
    else:
        _show(batch.readings, lang)
    if amiss:
        return ExitCode.USAGE
    if any(reading["status"] == "unreadable" for reading in batch.readings):
        return ExitCode.NO_SHEET
    asked = any(reading["review"] or reading["mistakes"] for reading in batch.readings)
    return ExitCode.PERSON if asked or batch.differ or batch.warnings else ExitCode.DONE


def _cores() -> int:
    """The cores this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pictures(paths: Sequence[str], lang: Lang) -> tuple[list[Picture], bool]:
    """The pictures behind the paths, and whether some of these were no good, which has been said of each."""
    if "" in paths:
        raise Stop(Text("пустой путь", "empty path"))
    found, missing = find_pictures([Path(path) for path in paths if path != "-"])
    # A device or a pipe may never end.
    endless = [path for path in found if _is_endless(path)]
    for path in missing:
        complain(Text(f"{path}: нет такого файла или папки", f"{path}: no such file or folder").in_(lang))
    for path in endless:
        complain(in_file(str(path), NOT_REGULAR).in_(lang))
    photos = [path for path in found if path not in endless and not is_our_own(path)]
    for name in paths:
        if Path(name) in found and Path(name) not in (*photos, *endless):
            said = Text("это картинка самой программы, а не снимок", "a picture that this program drew, not a photo")
            complain(in_file(name, said).in_(lang))
    broken = [link for name in paths if name not in ("-", "") for link in _broken_links(Path(name))]
    for link in broken:
        said = Text("ссылка на файл, которого нет", "a link to a file that is not there")
        complain(in_file(str(link), said).in_(lang))
    names = _names(photos)
    pictures = [Picture(names[path], path) for path in photos]
    if "-" in paths:
        pictures.append(Picture("stdin", data=sys.stdin.buffer.read()))
    if not pictures and not missing and not endless and not broken:
        listed = ", ".join(paths)
        if len(paths) == 1 and _is_of_readings(Path(paths[0])):
            raise Stop(
                in_file(
                    listed,
                    Text(
                        "здесь лежит прочитанное, а не снимки: укажите папку со снимками, а эту — после -o",
                        "this holds readings, not photos: name the folder of the photos, and this one after -o",
                    ),
                )
            )
        raise Stop(
            Text(
                f"{listed}: нет ни одного снимка; читаются {' '.join(PICTURES)}",
                f"{listed}: no picture in it; {' '.join(PICTURES)} can be read",
            )
        )
    return pictures, bool(missing or endless or broken)


def _names(photos: Sequence[Path]) -> dict[Path, str]:
    """What the pictures are called: by the file's name, and where several have it, with the folders before it."""
    parts = {path: [plain_name(part) for part in path.absolute().parts] for path in photos}
    names = {path: parts[path][-1] for path in photos}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        count = Counter(names.values())
        if len(count) == len(names):
            break
        for path in photos:
            if count[names[path]] > 1:
                names[path] = "/".join(parts[path][-depth:])
    return names


def _broken_links(path: Path) -> list[Path]:
    """The links in a folder that lead nowhere and are called as pictures are; none in what is no folder."""
    try:
        links = [link for link in path.rglob("*") if link.suffix.lower() in PICTURES and link.is_symlink()]
        return [link for link in sorted(links) if not link.exists()]
    except OSError:
        return []  # opening it will say why


def _is_of_readings(path: Path) -> bool:
    """Whether it is a folder in which this program keeps what it read."""
    return path.is_dir() and any(is_reading(file) for file in path.glob("*.json"))


def _is_endless(path: Path) -> bool:
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:
        return False  # opening it will say why


def _answers(file: Path) -> tuple[Answer, ...]:
    name = str(file)
    try:
        return answers_from(text_of(input_data(name), name))
    except AnswersError as error:
        raise Stop(*(in_file(name, problem) for problem in error.problems)) from error


def _read(pictures: Sequence[Picture], wish: Wish, lang: Lang, engine: Engine, answers: Sequence[Answer]) -> Batch:
    """Read the pictures, kept in the folder of the wish and taken from there, and show how far it is."""
    out = wish.out
    try:
        folder = Folder(out, lang) if out is not None else None
    except OSError as error:
        raise Stop(
            Text(f"{out}: папку не создать: ", f"{out}: the folder cannot be made: ") + system_text(error)
        ) from error

    def track(steps: Iterator[Any], total: int) -> Iterator[Any]:
        what, left = Text("Чтение|осталось", "Reading|left").in_(lang).split("|")
        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(left), TimeRemainingColumn())
        shown = total > 0 and sys.stderr.isatty()
        with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as progress:
            yield from progress.track(steps, total=total)

    try:
        return read_batch(
            pictures,
            lang,
            engine,
            answers=answers,
            answers_file=wish.answers,
            folder=folder,
            again=wish.again,
            track=track,
        )
    except KeyboardInterrupt as error:
        if folder is None:
            raise
        raise Stop(
            Text(
                "прервано; прочитанное сохранено, запустите ещё раз",
                "interrupted; what was read is kept, run it again",
            ),
            code=ExitCode.INTERRUPTED,
        ) from error
    except OSError as error:
        if folder is None:
            raise
        # The folder, or whatever has the name of a file in it.
        what = error.filename if isinstance(error, FileExistsError) else out
        raise Stop(Text(f"{what}: не записывается: ", f"{what}: cannot be written: ") + system_text(error)) from error


def _show(readings: Sequence[dict[str, Any]], lang: Lang) -> None:
    """Tell people of the readings: the sheets, how to answer, and what could not be read."""
    out = console()
    for reading, alone in zip(readings, alone_in_their_pictures(readings), strict=True):
        if reading["status"] != "unreadable":
            show_reading(out, reading, lang, alone=alone)
    show_how_to_answer(out, readings, lang)
    failed = [reading for reading in readings if reading["status"] == "unreadable"]
    show_unreadable(out, failed, lang)
    if any(r["sheet"] and r["sheet"]["code"] is None for r in readings) and not tesseract_found():
        print(_ABOUT_TESSERACT.in_(lang))


_ABOUT_TESSERACT = Text(
    "Если установить Tesseract, лист с испорченным квадратным кодом узнаётся по коду, напечатанному буквами.",
    "With Tesseract installed, a sheet whose square codes are spoilt can be told by its code in letters.",
)
