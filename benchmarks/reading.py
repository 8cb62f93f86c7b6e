"""How much of a filled sheet is read right, asked about, and silently wrong; with the rules and without.

    python -m benchmarks.reading --data DIR --sheets 300 --condition mild --out benchmarks/figures

Games are made up and written down: slips of every kind, forgotten and crossed-out boxes, and now and then a slip that
the model of the writing knows nothing of. Real people's characters (writers that no training saw, from the UNIPEN
stroke sets in DIR) fill the printed sheet, the simulated camera photographs it, and `recognize` reads the JPEG. Without
--data the hands are the made-up ones. The truth is known throughout.

What was counted on each sheet is a line of `reading-CONDITION.jsonl` in the --out folder as soon as it is done, and the
report `reading-CONDITION.txt` is made from the lines: a run that was broken off goes on with the sheets that lack one.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2

import recognize
import scoring
from recognize.cells import Cell, cut_fields
from recognize.decide import Decision, decide
from recognize.identify import identify
from recognize.locate import find_sheets, fit_page
from recognize.pipeline import read_cells
from recognize.reading import FieldReading
from recognize.search import Sheet
from recognize.simulation.camera import draw_shot, photograph
from recognize.simulation.hand import Correction, Image, Writer, at_table, make_writer, real_writers, write_sheet
from recognize.simulation.table import (
    CONVENTIONS,
    CORRECTED,
    MISTAKES,
    UNFORESEEN,
    Slip,
    correct,
    forget,
    play,
    write_down,
)
from recognize.simulation.writers import is_held_out
from scoring import Game, check, ledger
from scoring.convention import load_convention
from scoring.game import Cell as Place
from scoring.game import RuleError, Written
from sheets import make_sheets, print_sheets
from templates import Field, Form, load_form

DPI = 300
TOTALS = ("pool", "mountain", "whists")
SPECIAL = ("declarer", "contract", "whist", "tricks")

FORGOTTEN = 0.01
"""In this share of the deals something in the special columns is forgotten."""
UNKNOWN = 0.2
"""On this share of the sheets there is a slip that the model does not know."""

STEPS = ("simulate", "decode", "find", "read", "decide")

Record = dict[str, Any]
"""A line: seed, players, convention, the digest of the program that read the sheet, the milliseconds that each step
took, and all that was counted."""


# --- a sheet and the truth of it --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paper:
    """A filled sheet: what was played and written, the slips in it, the boxes forgotten, and how figures came about."""

    form: Form
    game: Game
    values: Mapping[str, str]
    slips: Sequence[Slip]
    forgotten: Collection[str]
    fixes: Mapping[str, Correction]

    def foreseen(self) -> list[Slip]:
        """The slips of the kinds that the model knows."""
        return [slip for slip in self.slips if slip.kind not in UNFORESEEN]

    def as_written(self) -> Game:
        """The game record with what stands on the paper, to settle both ways by the rules alone."""
        written = []
        for name, value in self.values.items():
            row, column, *who = name.split(".")
            if column in TOTALS and value.removeprefix("-").isdigit():
                written.append(Written(int(row[1:]), column, who[0], int(value), who[1] if who[1:] else None))
        return replace(self.game, written=tuple(written))


def fill_in(seed: int, rng: np.random.Generator) -> Paper:
    """A game played and written down: each number of players and convention in turn."""
    convention = CONVENTIONS[seed % 4]
    players = 3 + seed // 4 % 2
    form = load_form("protocol", players)
    game = play(convention, players, int(rng.integers(12, form.rows)), rng)
    odds = np.array(list(MISTAKES.values()))
    kinds = rng.choice(list(MISTAKES), int(rng.choice([0, 0, 1, 1, 2, 3, 4])), p=odds / odds.sum()).tolist()
    if rng.random() < UNKNOWN:
        kinds.append(str(rng.choice(UNFORESEEN)))
    values, slips = write_down(game, rng, kinds)
    values, forgotten = forget(values, FORGOTTEN, rng)
    return Paper(form, game, values, slips, forgotten, correct(values, form.seats, CORRECTED, rng))


def blank_page(players: int) -> Image:
    """A blank protocol as pixels at 300 dpi, (height, width, 3)."""
    form = load_form("protocol", players)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "blank.pdf"
        print_sheets(path, make_sheets(form, convention="sochi", pool=20, event="Проба", round=1, tables=[1], seed=1))
        page = pypdfium2.PdfDocument(path.read_bytes())[0]
        return np.ascontiguousarray(page.render(scale=DPI / 72).to_numpy()[:, :, :3])


@cache
def kept_page(players: int) -> Image:
    """The same, printed once; not to be written on."""
    return blank_page(players)


@cache
def _writers(data: Path | None) -> list[Writer]:
    if data is None:
        rng = np.random.default_rng(99)
        return [make_writer(rng) for _ in range(30)]
    return [writer for name, writer in real_writers(data).items() if is_held_out(name)]


def written_page(paper: Paper, data: Path | None, rng: np.random.Generator) -> Image:
    """The sheet as several people wrote it, flat, as pixels at 300 dpi."""
    who = at_table(_writers(data), paper.form.seats, rng)
    return write_sheet(kept_page(paper.form.players), DPI / 25.4, paper.form, paper.values, who, rng, paper.fixes)


def take_photo(paper: Paper, condition: str, data: Path | None, rng: np.random.Generator) -> bytes:
    """The sheet written and photographed, as the bytes of a JPEG."""
    page = written_page(paper, data, rng)
    return photograph(page, DPI / 25.4, draw_shot(condition, rng), rng).encoded


# --- reading it -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """A sheet read: by the picture alone, with the rules, and the pictures of its fields."""

    alone: Decision
    decision: Decision
    cells: Mapping[str, Cell]

    @property
    def asked(self) -> set[str]:
        """The fields that a person is asked about."""
        return {question.field for question in self.decision.review}


@contextmanager
def _timed(times: dict[str, float], step: str) -> Iterator[None]:
    """Note how many milliseconds of processor time a step takes."""
    start = time.process_time()
    yield
    times[step] = round(1000 * (time.process_time() - start), 1)


def read_photo(encoded: bytes, paper: Paper, count: Counter, times: dict[str, float]) -> Result | None:
    """The photo read as the program does, each step timed; None where no sheet is found in it."""
    form, game = paper.form, paper.game
    with _timed(times, "decode"):
        flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
        grey = np.asarray(cv2.imdecode(np.frombuffer(encoded, np.uint8), flags), dtype=np.uint8)
    with _timed(times, "find"):
        sheets = find_sheets(grey, form)
        identity = identify(grey, sheets[0], lambda serial: None).identity if sheets else None
        fit = fit_page(grey, sheets[0], form) if sheets else None
    count["identified"] += identity is not None
    if fit is None:
        return None
    count["found"] += 1
    with _timed(times, "read"):
        cells = cut_fields(grey, fit, form)
        ink, struck = read_cells(cells)
    with _timed(times, "decide"):
        rules = load_convention(game.convention)
        decision = decide(Sheet(form, game.convention, rules, {}, game.limit, dict(game.players)), ink, struck)
    alone = decide(Sheet(form, None, None, {}, None, {}), ink, struck)
    return Result(alone, decision, {cell.field.id: cell for cell in cells})


def one_sheet(seed: int, condition: str, data: Path | None, keep: Path | None) -> Record:
    """Everything counted on one sheet."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 7])
    paper = fill_in(seed, rng)
    count: Counter = Counter(sheets=1, honest=not paper.slips)
    times: dict[str, float] = {}
    with _timed(times, "simulate"):
        encoded = take_photo(paper, condition, data, rng)
    result = read_photo(encoded, paper, count, times)
    if result is not None:
        _count_fields(count, paper, result)
        _count_alone(count, paper, result)
        _count_questions(count, result)
        _count_slips(count, paper, result)
        _count_unforeseen(count, paper, result)
        _count_deals(count, paper, result)
        _count_settlement(count, paper, result)
        if keep is not None:
            _keep(keep, condition, seed, paper, result)
    return {
        "seed": seed,
        "players": paper.form.players,
        "convention": paper.game.convention,
        "program": program(),
        "ms": times,
        "count": {name: int(n) for name, n in count.items() if n},
    }


@cache
def program() -> str:
    """A digest of what reads: the code, the rules and the nets."""
    digest = hashlib.sha256()
    for package in (recognize, scoring):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts
            if path.suffix in (".py", ".toml", ".json", ".onnx") and inside[0] not in ("training", "simulation"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


# --- counting ---------------------------------------------------------------------------------------------------------


def _kind(paper: Paper, field: Field) -> str:
    if field.kind == "mark":
        return "mark"
    return {"": "empty", "-": "dash"}.get(paper.values.get(field.id, ""), "number")


def _silent(got: FieldReading, true: str) -> bool:
    """Whether a field that nobody is asked about is wrong; that it cannot be seen is said, and a dash says nothing."""
    return got.value != true and got.state != "unreadable" and {got.value, true} != {"", "-"}


def _count_fields(count: Counter, paper: Paper, result: Result) -> None:
    asked = result.asked
    for field in paper.form.fields:
        if field.kind == "text":
            continue
        true, got = paper.values.get(field.id, ""), result.decision.fields[field.id]
        kind, right, told = _kind(paper, field), got.value == true, field.id not in asked
        outcome = {
            f"{kind} fields": True,
            f"{kind} right": right,
            f"{kind} right unasked": right and told,
            "fields": True,
            "fields unseen": got.state == "unreadable",
        }
        if told and not right:
            outcome["silent errors"] = _silent(got, true)
            outcome[f"silent errors, {field.column}"] = _silent(got, true)
            outcome["silent errors said to be doubtful"] = _silent(got, true) and got.state == "doubtful"
            outcome["dash taken for nothing"] = {got.value, true} == {"", "-"}
            outcome["unseen, filled and not asked"] = got.state == "unreadable" and true not in ("", "-")
        if field.id in paper.fixes:
            how = "corrected" if true else "crossed out"
            outcome |= {
                f"{how} fields": True,
                f"{how} right unasked": right and told,
                f"{how} asked": not told,
                f"{how} silent": told and _silent(got, true),
            }
        count.update(name for name, so in outcome.items() if so)
    count["sheets with silent errors"] += count["silent errors"] > 0


def _count_alone(count: Counter, paper: Paper, result: Result) -> None:
    """The picture alone, everything that it is not sure of asked about."""
    asked = {question.field for question in result.alone.review}
    for field in paper.form.fields:
        if field.kind == "text":
            continue
        true, seen = paper.values.get(field.id, ""), result.alone.fields[field.id]
        count[f"{_kind(paper, field)} right by image"] += seen.value == true
        count["silent errors by image"] += field.id not in asked and _silent(seen, true)
        count["questions by image"] += field.id in asked and seen.state != "unreadable"


def _count_questions(count: Counter, result: Result) -> None:
    count["sheets asking nothing"] += not result.decision.review
    for question in result.decision.review:
        first, *rest = question.field.split(".")
        column = rest[0] if rest and first != "result" else first
        count["questions"] += 1
        count[f"questions, {column}"] += 1
        count[f"reasons, {re.sub(r'[0-9]+', 'N', question.why.en)}"] += 1
        count["questions, only whether a dash"] += {question.best, *question.other} == {"", "-"}


def _count_slips(count: Counter, paper: Paper, result: Result) -> None:
    """The slips made, against the mistakes found: by the reader, and by the rules where every field is known."""
    found = {mistake.field: mistake.kind for mistake in result.decision.mistakes}
    findable = {mistake.field: mistake.kind for mistake in check(paper.as_written()).mistakes}
    for slip in paper.foreseen():
        at = slip.field in found
        beside = not at and bool(_spots(slip) & found.keys())
        asked = not at and not beside and slip.field in result.asked
        outcome = {
            "slips": True,
            "slips found": at,
            "slips half found": beside,
            "slips found, kind right": at and found[slip.field] == slip.kind,
            "slips found, and asked about": at and slip.field in result.asked,
            "slips asked about": asked,
            "slips missed": not (at or beside or asked),
            "slips that the rules find": slip.field in findable,
            "slips that the rules find, kind right": findable.get(slip.field) == slip.kind,
        }
        count.update(name for name, so in outcome.items() if so)
        count.update(f"{name}: {slip.kind}" for name, so in outcome.items() if so)
    spots = set().union(*(_spots(slip) for slip in paper.slips))
    for field in found.keys() - spots - result.asked:
        count["invented"] += 1
        count["invented, and by the rules as well"] += field in findable
        count["invented on honest sheets"] += not paper.slips


def _spots(slip: Slip) -> set[str]:
    """The fields at which a slip may rightly be told of."""
    spots = {slip.field}
    if slip.instead is not None:
        spots.add(slip.instead.field(slip.deal))
    if slip.kind == "row too low":
        spots.add(slip.cell.field(slip.deal + 1))
    return spots


def _count_unforeseen(count: Counter, paper: Paper, result: Result) -> None:
    """The slips that the model does not know: two that cancel count as one that is put right later, a row as one."""
    found = {mistake.field for mistake in result.decision.mistakes}
    places: dict[tuple[str, object], set[str]] = {}
    for slip in paper.slips:
        if slip.kind in UNFORESEEN:
            same = slip.cell if slip.kind == "cancelling" else slip.deal
            places.setdefault((slip.kind, same), set()).update(_spots(slip))
    for (kind, _), spots in places.items():
        end = "found" if spots & found else "asked" if spots & result.asked else "silent"
        count.update(("unforeseen", f"unforeseen: {kind}", f"unforeseen {end}", f"unforeseen {end}: {kind}"))


def _count_deals(count: Counter, paper: Paper, result: Result) -> None:
    """What the deals as decided are worth against those played; and what becomes of boxes left empty by mistake."""
    played, told = _worth(paper.game), _worth(result.decision.game)
    rows = {field.split(".")[0] for field in result.asked}
    for deal, worth in played.items():
        right = told.get(deal) == worth
        count["deals"] += 1
        count["deals right"] += right
        count["deals wrong, nothing asked in the row"] += not right and f"d{deal:02d}" not in rows
    count["deals that there were not"] += len(told.keys() - played.keys())
    for name in paper.forgotten:
        count["forgotten"] += 1
        count["forgotten, asked in the row"] += name.split(".")[0] in rows


def _worth(game: Game | None) -> dict[int, dict[Place, Any]]:
    """What every deal adds to every box; nothing where the deals break the rules."""
    if game is None:
        return {}
    try:
        deals = ledger(replace(game, written=())).deals
    except RuleError:
        return {}
    return {posted.deal: {entry.cell: entry.add for entry in posted.entries} for posted in deals}


def _count_settlement(count: Counter, paper: Paper, result: Result) -> None:
    if result.asked:
        return
    truth = check(paper.as_written())
    told = result.decision
    played, written = (
        side is not None and {seat: str(value) for seat, value in side.items()} == dict(said or {})
        for side, said in ((truth.played, told.played), (truth.written, told.written))
    )
    count["settled as played"] += played
    count["settled as written"] += written
    count["settled both ways"] += played and written


def _keep(folder: Path, condition: str, seed: int, paper: Paper, result: Result) -> None:
    """Leave the pictures of the fields that were read wrongly, with the rules or without."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, cell in result.cells.items():
        true, got, seen = paper.values.get(name, ""), result.decision.fields[name], result.alone.fields[name]
        if got.value == seen.value == true or {got.value, seen.value, true} <= {"", "-"}:
            continue
        what = "silent" if name not in result.asked and _silent(got, true) else condition
        label = f"{what}-{seed:05d}-{name}-{true or 'empty'}-{seen.value or 'empty'}-{got.value or 'empty'}"
        cv2.imwrite(
            str(folder / f"{label}.png"), cv2.resize(cell.image, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
        )


# --- the report -------------------------------------------------------------------------------------------------------


def report(records: Sequence[Record], condition: str) -> str:
    """The lines of a condition as a table for people."""
    total = _total(records)
    programs = Counter(record["program"] for record in records)
    lines = [
        f"{condition}: {total['sheets']} sheets ({total['honest']} without a slip), {total['found']} found, "
        f"{total['identified']} identified by their code"
    ]
    if len(programs) > 1:
        lines.append(f"  READ BY {len(programs)} DIFFERENT PROGRAMS: {dict(programs)}")
    for part in (_silence_lines, _question_lines, _field_lines, _slip_lines, _deal_lines, _alone_lines):
        lines += part(total)
    lines += _group_lines(records)
    lines += _time_lines(records)
    return "\n".join(line.rstrip() for line in lines)


def _total(records: Sequence[Record]) -> Counter:
    total: Counter = Counter()
    for record in records:
        total.update(record["count"])
    return total


def _share(total: Counter, name: str, of: str, called: str | None = None) -> str:
    part, whole = total[name], total[of]
    return f"  {called or name:44} {part:8.0f} of {whole:8.0f}  {100 * part / whole if whole else 0:8.3f} %"


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share, by default at 95 %."""
    if not whole:
        return 0.0, 1.0
    share, squared = part / whole, z * z / whole
    middle = (share + squared / 2) / (1 + squared)
    reach = z * (share * (1 - share) / whole + squared / (4 * whole)) ** 0.5 / (1 + squared)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def _one_in(share: float) -> str:
    return f"1 in {1 / share:,.0f}" if share > 1e-12 else "none"


def _silence_lines(total: Counter) -> list[str]:
    silent, fields = total["silent errors"], total["fields"] - total["fields unseen"]
    low, high = wilson(silent, fields)
    where = ", ".join(f"{name} {n}" for name, n in _named(total, "silent errors, "))
    return [
        f"  silent errors: {silent} of {fields} fields on {total['sheets with silent errors']} sheets"
        + (f" ({where}; {total['silent errors said to be doubtful']} said to be doubtful)" if where else ""),
        f"    {_one_in(silent / max(fields, 1))}; with 95 % at least {_one_in(low)} and at most {_one_in(high)}",
        f"    beside these: dashes and nothing confused {total['dash taken for nothing']}; "
        f"fields out of sight {total['fields unseen']}, "
        f"{total['unseen, filled and not asked']} of them filled and not asked about",
    ]


def _named(total: Counter, prefix: str) -> list[tuple[str, int]]:
    """The counts whose names begin so, without the beginning, the largest first."""
    found = [(name.removeprefix(prefix), n) for name, n in total.items() if name.startswith(prefix) and n]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _question_lines(total: Counter) -> list[str]:
    sheets = max(total["found"], 1)
    lines = [
        f"  questions a sheet: {total['questions'] / sheets:.3f}",
        _share(total, "sheets asking nothing", "found"),
        "    by column: " + ", ".join(f"{name} {n}" for name, n in _named(total, "questions, ")),
    ]
    return lines + [f"    {n:6} {reason}" for reason, n in _named(total, "reasons, ")]


def _field_lines(total: Counter) -> list[str]:
    kinds = ("number", "mark", "dash", "empty")
    lines = [_share(total, f"{kind} right unasked", f"{kind} fields") for kind in kinds]
    for how in ("corrected", "crossed out"):
        lines.append(
            _share(total, f"{how} right unasked", f"{how} fields")
            + f"   asked {total[f'{how} asked']}, silent {total[f'{how} silent']}"
        )
    return lines


def _slip_lines(total: Counter) -> list[str]:
    # Half found: only that an entry is missing from the box where it belongs, not where it stands instead.
    names = ("slips found", "slips found, kind right", "slips half found", "slips asked about", "slips missed")
    ceiling = ("slips that the rules find", "slips that the rules find, kind right")
    lines = [_share(total, name, "slips") for name in (*names, *ceiling)]
    lines.append(
        f"    {'':18}" + "".join(f"{head:>7}" for head in ("made", "found", "kind", "half", "asked", "missed"))
    )
    for kind in MISTAKES:
        lines.append(f"    {kind:18}" + "".join(f"{total[f'{name}: {kind}']:7}" for name in ("slips", *names)))
    lines.append(
        f"  invented: {total['invented']} ({100 * total['invented'] / max(total['found'], 1):.1f} per 100 sheets), "
        f"{total['invented on honest sheets']} of them on sheets without a slip, "
        f"{total['invented, and by the rules as well']} told by the rules of a perfect reading as well"
    )
    for kind in ("", *(f": {kind}" for kind in UNFORESEEN)):
        ends = [total[f"unforeseen {end}{kind}"] for end in ("found", "asked", "silent")]
        lines.append(
            f"  {'unforeseen' + kind:28} {total[f'unforeseen{kind}']:5}, "
            f"found {ends[0]} / asked {ends[1]} / silent {ends[2]}"
        )
    return lines


def _deal_lines(total: Counter) -> list[str]:
    return [
        _share(total, "deals right", "deals"),
        _share(total, "deals wrong, nothing asked in the row", "deals"),
        f"  deals that there were not: {total['deals that there were not']}",
        _share(total, "forgotten, asked in the row", "forgotten", "forgotten boxes, asked in the row"),
        *(
            _share(total, f"settled {how}", "sheets asking nothing", f"settled {how}, of sheets asking nothing")
            for how in ("as played", "as written", "both ways")
        ),
    ]


def _alone_lines(total: Counter) -> list[str]:
    fields = total["fields"] - total["fields unseen"]
    return [
        "  without the rules, all fields surer than 0.999 taken as read, the rest asked about:",
        *(_share(total, f"{kind} right by image", f"{kind} fields") for kind in ("number", "mark", "dash", "empty")),
        f"    silent errors {total['silent errors by image']} of {fields}; "
        f"questions a sheet {total['questions by image'] / max(total['found'], 1):.2f}",
    ]


def _group_lines(records: Sequence[Record]) -> list[str]:
    heads = ("", "sheets", "silent", "questions", "none", "unasked", "found", "invented", "both ways")
    lines = ["  " + f"{heads[0]:12}" + "".join(f"{head:>11}" for head in heads[1:])]
    groups: list[tuple[str, str, Any]] = [(f"{n} players", "players", n) for n in (3, 4)]
    groups += [(name, "convention", name) for name in CONVENTIONS]
    for title, key, value in groups:
        one = _total([record for record in records if record[key] == value])
        row = (
            f"{one['found']:11}{one['silent errors']:11}{one['questions'] / max(one['found'], 1):11.2f}",
            *(
                f"{100 * one[name] / max(one[of], 1):10.1f}%"
                for name, of in (
                    ("sheets asking nothing", "found"),
                    ("number right unasked", "number fields"),
                    ("slips found", "slips"),
                )
            ),
            f"{one['invented']:11}",
            f"{100 * one['settled both ways'] / max(one['sheets asking nothing'], 1):10.1f}%",
        )
        lines.append(f"  {title:12}" + "".join(row))
    return lines


def _time_lines(records: Sequence[Record]) -> list[str]:
    lines = ["  milliseconds a sheet, of one core (mean, 95th percentile, most):"]
    for step in STEPS:
        times = np.array([record["ms"].get(step, 0.0) for record in records])
        lines.append(f"    {step:8} {times.mean():8.0f} {np.percentile(times, 95):8.0f} {times.max():8.0f}")
    return lines


# --- running it -------------------------------------------------------------------------------------------------------


def kept(path: Path) -> dict[int, Record]:
    """The lines of a file, by seed; one that is not whole was being written when the run was broken off."""
    records: dict[int, Record] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            records[record["seed"]] = record
    return records


def run(seeds: Sequence[int], condition: str, data: Path | None, keep: Path | None, jobs: int, path: Path) -> None:
    """Count the sheets that have no line yet, and write each one's as soon as it is done."""
    left = [seed for seed in seeds if seed not in kept(path)]
    if not left:
        return
    # A fork of a process in which the nets have run may wait for ever.
    spawn = get_context("spawn")
    with path.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs, spawn) as pool:
        # Never on the end of a line that was broken off.
        file.write("\n" if path.stat().st_size else "")
        for done in as_completed([pool.submit(one_sheet, seed, condition, data, keep) for seed in left]):
            file.write(json.dumps(done.result(), ensure_ascii=False) + "\n")
            file.flush()


def main() -> None:
    """Run the sheets and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of character sets; without it the hands are made up")
    parser.add_argument("--sheets", type=int, default=20)
    parser.add_argument("--first", type=int, default=20_000, help="the first seed")
    parser.add_argument("--condition", default="mild")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for the pictures of fields that were read wrongly")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the lines and the report")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"reading-{args.condition}.jsonl"
    seeds = range(args.first, args.first + args.sheets)
    run(seeds, args.condition, args.data, args.keep, args.jobs, path)
    records = kept(path)
    text = report([records[seed] for seed in sorted(records)], args.condition)
    path.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
