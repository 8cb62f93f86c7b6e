"""The whole way on one made-up sheet: played, printed, filled in, photographed, read, settled, held to the truth."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
from rich.console import Console

from desk.batch import Page, Picture, Work, read_pages
from desk.edge import ExitCode, Lang, Stop, put_json
from desk.folder import write_whole
from desk.report import console, show_reading
from desk.words import field_text, value_text
from recognize.simulation.bend import Bend
from recognize.simulation.camera import photograph
from recognize.simulation.hand import RECORDER, Correction, Image, make_writer, write_sheet
from recognize.simulation.shots import Shadow, Shot
from recognize.simulation.table import Slip, play, write_down
from scoring import Game
from scoring.text import Text, figure_text, system_text
from sheets import Entry, Sheet, make_sheets, print_sheets
from templates import Form, encode, load_form

SEED = 7
"""The sheet that is shown where nobody asks for another."""

PAGE_PX_PER_MM = 300 / 25.4
_EVENT = Text("Кубок «Пулька»", "Pulka Cup")


@dataclass(frozen=True, slots=True)
class Filled:
    """A sheet filled in by made-up people: what the paper says in every field, and the mistakes planted in it."""

    sheet: Sheet
    game: Game
    values: Mapping[str, str]
    slips: tuple[Slip, ...]
    page: Image


def fill_in(
    blank: Path,
    rng: np.random.Generator,
    lang: Lang,
    *,
    convention: str = "sochi",
    players: int = 4,
    deals: int = 14,
    rows: int | None = None,
    mistakes: int | Sequence[str] = 2,
    corrections: int = 3,
) -> Filled:
    """Play a game, print its blank sheet to `blank`, and write the game into it, as a flat picture of the page."""
    form = load_form("protocol", players, rows)
    game = play(convention, players, min(deals, form.rows), rng)
    values, slips = write_down(game, rng, mistakes, habit="sparse")
    (sheet,) = make_sheets(
        form,
        convention=convention,
        convention_title=game.rules.title.in_(lang),
        pool=game.limit,
        event=_EVENT.in_(lang),
        round=1,
        tables=[5],
        names={5: game.players},
        seed=int(rng.integers(2**32)),
    )
    print_sheets(blank, [sheet], lang)
    writers = {key: make_writer(rng) for key in (RECORDER, *form.seats)}
    fixes = _corrections(form, values, slips, corrections, rng)
    page = write_sheet(render(blank), PAGE_PX_PER_MM, form, values, writers, rng, fixes)
    return Filled(sheet, game, values, slips, page)


def render(pdf: Path) -> Image:
    """The first page of a PDF as a grey picture, PAGE_PX_PER_MM pixels a millimetre."""
    with pypdfium2.PdfDocument(pdf) as document:
        bitmap = document[0].render(scale=PAGE_PX_PER_MM * 25.4 / 72, grayscale=True)
        return np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width)


def _corrections(
    form: Form, values: Mapping[str, str], slips: Sequence[Slip], count: int, rng: np.random.Generator
) -> dict[str, Correction]:
    """A few numbers that somebody wrote wrong at first, struck out and put right in the same box."""
    written = [f.id for f in form.fields if f.kind == "number" and values.get(f.id, "").isdigit()]
    right = sorted(set(written) - {slip.field for slip in slips})
    chosen = rng.choice(right, min(count, len(right)), replace=False)
    return {str(name): Correction("struck", str(int(values[str(name)]) + 1 + int(rng.integers(8)))) for name in chosen}


def demo_shot(rng: np.random.Generator) -> Shot:
    """How a phone takes a sheet at a card table: tilted, a little bent, in a room with one lamp and a shadow."""
    return Shot(
        tilt=float(rng.uniform(14, 22)),
        azimuth=float(rng.uniform(60, 120)),
        roll=float(rng.normal(0, 2)),
        fill=0.9,
        bend=Bend("arch", float(rng.uniform(4, 7)), float(rng.uniform(-15, 15)), 0.5),
        desk="baize",
        light=0.55,
        shadows=(Shadow((float(rng.uniform(190, 230)), 120.0), float(rng.uniform(-30, 30)), 0.55, 8.0),),
        lamp=(0.92, 1.0, 1.06),
        white=195.0,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reading held to the truth: fields by how they came out, and which planted mistakes were found."""

    right: int
    asked: tuple[str, ...]
    """Read wrongly, and a person is asked about them."""
    silent: tuple[str, ...]
    """Read wrongly, and nobody would know."""
    found: tuple[Slip, ...]
    half: tuple[Slip, ...]
    """Entries in a wrong box of which only that they are missing in the right one was found."""
    questioned: tuple[Slip, ...]
    """Not claimed, but a person is asked about the box."""
    missed: tuple[Slip, ...]
    unfounded: tuple[str, ...]
    """Fields in which a mistake is claimed that nobody made."""

    @property
    def good(self) -> bool:
        """Whether nothing went wrong in silence."""
        return not self.silent and not self.missed and not self.unfounded


def hold_to_truth(form: Form, values: Mapping[str, str], slips: Sequence[Slip], reading: Mapping[str, Any]) -> Verdict:
    """Compare a reading with what the paper says, field by field and mistake by mistake."""
    asked = {question["field"] for question in reading["review"]}
    wrong = [
        field.id
        for field in form.fields
        if field.kind != "text" and reading["fields"][field.id]["value"] != values.get(field.id, "")
    ]
    claimed = {mistake["field"] for mistake in reading["mistakes"]}
    places = [{s.field} | ({replace(s, cell=s.instead).field} if s.instead else set()) for s in slips]
    found = tuple(slip for slip in slips if slip.field in claimed)
    half = tuple(s for s, place in zip(slips, places, strict=True) if s not in found and place & claimed)
    rest = [(s, place) for s, place in zip(slips, places, strict=True) if s not in found + half]
    count = sum(field.kind != "text" for field in form.fields)
    return Verdict(
        right=count - len(wrong),
        asked=tuple(name for name in wrong if name in asked),
        silent=tuple(name for name in wrong if name not in asked),
        found=found,
        half=half,
        questioned=tuple(slip for slip, place in rest if place & asked),
        missed=tuple(slip for slip, place in rest if not place & asked),
        unfounded=tuple(sorted(claimed - set().union(*places) - asked)),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """What a demo left and found: its files, the sheet as filled in, the reading, and the verdict where it was read."""

    files: Mapping[str, Path]
    filled: Filled
    reading: Mapping[str, Any]
    verdict: Verdict | None


def run_demo(folder: Path, seed: int | None, lang: Lang, *, as_json: bool) -> ExitCode:
    """Go the whole way in a folder and tell of it; without a seed on the sheet that everybody is shown."""
    try:
        shown = demo(folder, SEED if seed is None else seed, lang)
    except OSError as error:
        raise Stop(
            Text(f"{folder}: не записывается: ", f"{folder}: cannot be written: ") + system_text(error)
        ) from error
    if as_json:
        put_json(demo_json(shown))
    else:
        show_demo(console(), shown, lang)
    if shown.verdict is None:
        return ExitCode.NO_SHEET
    return ExitCode.DONE if shown.verdict.good else ExitCode.PERSON


def demo(folder: Path, seed: int, lang: Lang) -> Shown:
    """Go the whole way, and leave the blank, the photo and the reading in `folder`.

    Stop where the folder has files of these names that are not a demo's; OSError where it cannot be written.
    """
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / name for name in ("blank.pdf", "photo.jpg", "reading.json", "read.jpg")}
    there = [path.name for path in files.values() if path.exists() or path.is_symlink()]
    if there and not _made_here(files):
        listed = ", ".join(there)
        raise Stop(
            Text(
                f"{folder}: там уже есть {listed}, и это не прежний показ: выберите другую папку",
                f"{folder}: it has {listed} already, and not from a demo before: choose another folder",
            )
        )
    filled = fill_in(files["blank.pdf"], rng, lang)
    write_whole(files["photo.jpg"], photograph(filled.page, PAGE_PX_PER_MM, demo_shot(rng), rng).encoded)
    # The made-up sheet is known to this reading alone: it has no place in anybody's list of printed sheets.
    sheet = filled.sheet
    entry = Entry(encode(sheet.identity), sheet.event, sheet.names, sheet.convention_title, (), "")
    work = Work(lang, overlays=True, printed={sheet.identity.serial: entry})
    (page,) = read_pages(Picture("photo.jpg", files["photo.jpg"]), work)
    _leave(page, files["reading.json"], files["read.jpg"])
    verdict = None
    if page.reading["status"] != "unreadable":
        verdict = hold_to_truth(filled.sheet.form, filled.values, filled.slips, page.reading)
    return Shown(files, filled, page.reading, verdict)


def _made_here(files: Mapping[str, Path]) -> bool:
    """Whether the files are those of a demo before: its blank, and the reading of its event."""
    if any(path.is_symlink() or (path.exists() and not path.is_file()) for path in files.values()):
        return False
    try:
        (reading,) = json.loads(files["reading.json"].read_bytes())
        event = reading["sheet"]["event"]
        return event in (_EVENT.ru, _EVENT.en) and b"/Creator (pulka)" in files["blank.pdf"].read_bytes()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False


def show_demo(out: Console, shown: Shown, lang: Lang) -> None:
    """Tell of a demo: the files, the reading, and how it compares with the truth."""
    for name, words in (
        ("blank.pdf", Text("чистый бланк", "the blank sheet")),
        ("photo.jpg", Text("он же, заполненный и снятый телефоном", "the same, filled in and photographed")),
        ("reading.json", Text("что прочитано", "what was read")),
        ("read.jpg", Text("прочитанное на самом снимке", "what was read, on the photo itself")),
    ):
        out.print(f"  {shown.files[name]}: {words.in_(lang)}", soft_wrap=True)
    out.print()
    if shown.verdict is None:
        out.print(shown.reading["reason"], soft_wrap=True)
    else:
        show_reading(out, shown.reading, lang)
        _tell(out, shown.filled, shown.reading, shown.verdict, lang)


def demo_json(shown: Shown) -> dict[str, Any]:
    """A demo as plain data."""
    verdict = shown.verdict
    return {
        "files": {name: str(path) for name, path in shown.files.items()},
        "reading": dict(shown.reading),
        "truth": {
            "fields": dict(shown.filled.values),
            "mistakes": [
                {"kind": s.kind, "field": s.field, "written": s.written, "expected": str(s.expected)}
                for s in shown.filled.slips
            ],
        },
        "verdict": None
        if verdict is None
        else {
            "right": verdict.right,
            "wrong_but_asked": list(verdict.asked),
            "wrong_in_silence": list(verdict.silent),
            "mistakes_found": [s.field for s in verdict.found],
            "mistakes_half_found": [s.field for s in verdict.half],
            "mistakes_asked": [s.field for s in verdict.questioned],
            "mistakes_missed": [s.field for s in verdict.missed],
            "mistakes_unfounded": list(verdict.unfounded),
        },
    }


def _leave(page: Page, record: Path, read: Path) -> None:
    data = json.dumps([page.reading], ensure_ascii=False, indent=1) + "\n"
    write_whole(record, data.encode())
    if page.overlay is not None:
        write_whole(read, page.overlay)


def _tell(out: Console, filled: Filled, reading: Mapping[str, Any], verdict: Verdict, lang: Lang) -> None:
    """The comparison with the truth, in words."""
    out.print(Text("Сверка с тем, что было на самом деле", "Held to the truth").in_(lang), style="bold")
    count = verdict.right + len(verdict.asked) + len(verdict.silent)
    written = sum(filled.values.get(f.id, "") != "" for f in filled.sheet.form.fields)
    out.print(
        Text(
            f"  клеток {count} (заполнено {written}): прочитано верно {verdict.right}, неверно, но с вопросом "
            f"{len(verdict.asked)}, неверно и без вопроса {len(verdict.silent)}",
            f"  fields {count} ({written} filled in): right {verdict.right}, wrong but asked about "
            f"{len(verdict.asked)}, wrong in silence {len(verdict.silent)}",
        ).in_(lang),
        soft_wrap=True,
    )
    for name in verdict.silent:
        truth, got = filled.values.get(name, ""), reading["fields"][name]["value"]
        out.print(
            Text(
                f"    {field_text(name).ru}: написано {value_text(truth).ru}, прочитано {value_text(got).ru}",
                f"    {field_text(name).en}: written {value_text(truth).en}, read {value_text(got).en}",
            ).in_(lang),
            soft_wrap=True,
        )
    for slip in filled.slips:
        wrote = "" if slip.written is None else str(slip.written)
        due = figure_text(str(slip.expected))
        place = field_text(slip.field)
        if slip in verdict.found:
            fate = Text("найдена", "found")
        elif slip in verdict.half:
            fate = Text(
                "найдена наполовину: что записи нет там, где ей место",
                "half found: that it is missing where it belongs",
            )
        elif slip in verdict.questioned:
            fate = Text("о ней спрошено", "asked about")
        else:
            fate = Text("НЕ найдена", "NOT found")
        out.print(
            Text(
                f"  ошибка, сделанная нарочно — {place.ru}: {value_text(wrote).ru} вместо {due} — {fate.ru}",
                f"  a mistake made on purpose — {place.en}: {value_text(wrote).en} instead of {due} — {fate.en}",
            ).in_(lang),
            soft_wrap=True,
        )
    for name in verdict.unfounded:
        place = field_text(name)
        out.print(
            Text(f"  найдена ошибка, которой нет: {place.ru}", f"  a mistake claimed that nobody made: {place.en}").in_(
                lang
            )
        )
