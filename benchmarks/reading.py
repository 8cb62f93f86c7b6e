"""How much of a filled sheet is read right, asked about, and silently wrong; with the rules and without.

    python -m benchmarks.reading --data DIR --sheets 20 --condition mild --out benchmarks/reading-mild.txt

Games are made up and written down, slips included; real people's characters (writers that no training saw, from the
UNIPEN stroke sets in DIR) fill the printed sheet, the simulated camera photographs it, and `recognize` reads the JPEG.
Without --data the hands are the made-up ones. The truth is known throughout.
"""

import argparse
import json
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from benchmarks.finding import DPI, blank_page
from recognize.cells import cut_fields
from recognize.decide import Sheet, decide
from recognize.identify import identify
from recognize.locate import find_sheets, fit_page
from recognize.pipeline import read_cells
from recognize.simulation.camera import draw_shot, photograph
from recognize.simulation.hand import Correction, make_pen, make_writer, real_writers, write_sheet
from recognize.simulation.table import play, write_down
from recognize.simulation.writers import is_held_out
from scoring import check
from scoring.convention import load_convention
from templates import load_form

CONVENTIONS = ("sochi", "leningrad", "piter", "rostov")


@cache
def _blank(players: int) -> np.ndarray:
    return blank_page(players)


@cache
def _writers(data: Path | None) -> list:
    if data is None:
        rng = np.random.default_rng(99)
        return [make_writer(rng) for _ in range(30)]
    return [writer for name, writer in real_writers(data).items() if is_held_out(name)]


def one_sheet(seed: int, condition: str, data: Path | None, corrected: float, keep: Path | None) -> Counter:
    """Everything counted on one sheet."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 7])
    players = 3 if seed % 3 == 0 else 4
    convention = CONVENTIONS[seed % len(CONVENTIONS)]
    form = load_form("protocol", players)
    game = play(convention, players, int(rng.integers(12, 25)), rng)
    values, slips = write_down(game, rng, int(rng.choice([0, 0, 1, 1, 2, 3, 4])))
    pens = _writers(data)
    who = {seat: pens[int(rng.integers(len(pens)))] for seat in (*form.seats, "recorder")}
    who = {seat: _with_pen(writer, rng) for seat, writer in who.items()}
    page = write_sheet(_blank(players), DPI / 25.4, form, values, who, rng, _corrections(values, form, corrected, rng))
    photo = photograph(page, DPI / 25.4, draw_shot(condition, rng), rng)
    count: Counter = Counter(sheets=1)
    read = _read(photo.encoded, form, convention, game, count)
    if read is None:
        return count
    ink, alone, decision, sure = read
    asked = {question.field for question in decision.review}
    for field in form.fields:
        if field.kind == "text":
            continue
        true = values.get(field.id, "")
        got, seen = decision.fields[field.id], alone[field.id]
        kind = "mark" if field.kind == "mark" else "filled" if true else "empty"
        count[f"{kind} fields"] += 1
        count[f"{kind} right by image"] += seen.value == true
        count[f"{kind} right"] += got.value == true
        count[f"{kind} right unasked"] += got.value == true and field.id not in asked
        if seen.value != true and seen.confidence < 0.9:
            count[f"{kind} wrong by image below 0.9"] += 1
        if got.value != true and field.id not in asked:
            # Said to be unseen, in a place where nothing is due, is not silence; and a dash says nothing.
            idle = "dash taken for nothing" if {got.value, true} == {"", "-"} else "silent errors"
            count["unseen and not asked" if got.state == "unreadable" else idle] += 1
        count["fields unseen"] += got.state == "unreadable"
        if got.value != true or seen.value != true:
            silent = {got.value or "-", true or "-"} != {"-"} and got.value != true
            silent = silent and field.id not in asked and got.state != "unreadable"
            _keep(keep, "silent" if silent else condition, seed, field.id, true, seen, got, sure[field.id])
    count["questions"] += len(asked)
    count["sheets asking nothing"] += not asked
    _count_mistakes(count, slips, decision, asked, values)
    truth = check(_as_written(game, values))
    if not asked:
        right = truth.played and {s: str(v) for s, v in truth.played.items()} == dict(decision.played or {})
        count["settled as played right, of those"] += bool(right)
        wrote = truth.written and {s: str(v) for s, v in truth.written.items()} == dict(decision.written or {})
        count["settled as written right, of those"] += bool(wrote)
    return count


def _read(encoded: bytes, form, convention, game, count):
    data = np.frombuffer(encoded, np.uint8)
    start = time.perf_counter()
    grey = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    count["ms decode"] += 1000 * (time.perf_counter() - start)
    start = time.perf_counter()
    sheets = find_sheets(grey, form)
    if not sheets:
        return None
    identity = identify(grey, sheets[0], lambda serial: None).identity
    count["identified"] += identity is not None
    fit = fit_page(grey, sheets[0], form)
    count["ms find"] += 1000 * (time.perf_counter() - start)
    if fit is None:
        return None
    count["found"] += 1
    start = time.perf_counter()
    cells = cut_fields(grey, fit, form)
    ink, struck = read_cells(cells)
    count["ms read"] += 1000 * (time.perf_counter() - start)
    alone = decide(Sheet(form, None, None, {}, None, {}), ink, struck).fields
    start = time.perf_counter()
    rules = load_convention(convention)
    decision = decide(Sheet(form, convention, rules, {}, game.pool, dict(game.players)), ink, struck)
    count["ms decide"] += 1000 * (time.perf_counter() - start)
    return ink, alone, decision, {cell.field.id: cell for cell in cells}


def _with_pen(writer, rng):
    from dataclasses import replace

    return replace(writer, pen=make_pen(rng))


def _corrections(values, form, share, rng):
    """Some numbers come about by correction: struck out and written again, or overwritten."""
    fixes = {}
    for name, value in values.items():
        if form.by_id[name].kind == "number" and value.isdigit() and rng.random() < share:
            wrong = str(int(value) + int(rng.choice([1, 2, 10])))
            fixes[name] = Correction(str(rng.choice(["struck", "struck", "overwritten"])), wrong)
    return fixes


def _as_written(game, values):
    """The game record with what stands on the paper, to settle both ways by the rules alone."""
    from dataclasses import replace

    from scoring.game import Written

    written = []
    for name, value in values.items():
        parts = name.split(".")
        if parts[1] in ("pool", "mountain", "whists") and value.lstrip("-").isdigit():
            written.append(Written(int(parts[0][1:]), parts[1], parts[2], int(value), parts[3] if parts[3:] else None))
    return replace(game, written=tuple(written))


def _count_mistakes(count, slips, decision, asked, values):
    """Slips that the rules alone find on the paper, against the mistakes that the reading found."""
    found = {m.field: m.kind for m in decision.mistakes}
    for slip in slips:
        count["slips"] += 1
        if slip.field in found:
            count["slips found at their cell"] += 1
            count["slips found, kind right"] += found[slip.field] == slip.kind
        elif slip.field in asked:
            count["slips asked about"] += 1
        else:
            count["slips otherwise"] += 1
    spots = {slip.field for slip in slips} | {
        f"d{slip.deal:02d}." + ".".join(p for p in slip.instead if p) for slip in slips if slip.instead
    }
    count["mistakes invented"] += sum(field not in spots and field not in asked for field in found)


def _keep(keep, what, seed, name, true, seen, got, cell):
    if keep is None:
        return
    keep.mkdir(parents=True, exist_ok=True)
    label = f"{what}-{seed:05d}-{name}-{true or 'empty'}-{seen.value or 'empty'}-{got.value or 'empty'}"
    cv2.imwrite(str(keep / f"{label}.png"), cv2.resize(cell.image, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC))


def main() -> None:
    """Run the sheets and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of character sets; without it the hands are made up")
    parser.add_argument("--sheets", type=int, default=20)
    parser.add_argument("--first", type=int, default=20_000, help="the first seed")
    parser.add_argument("--condition", default="mild")
    parser.add_argument("--corrected", type=float, default=0.01, help="share of numbers that were corrected")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for the cells that were read wrongly")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    total: Counter = Counter()
    seeds = range(args.first, args.first + args.sheets)
    fixed = [args.condition], [args.data], [args.corrected], [args.keep]
    with ProcessPoolExecutor(args.jobs) as pool:
        for count in pool.map(one_sheet, seeds, *(part * args.sheets for part in fixed)):
            total.update(count)
    text = report(total, args.condition)
    print(text)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
        args.out.with_suffix(".json").write_text(json.dumps(dict(total), indent=1), encoding="utf-8")


def report(total: Counter, condition: str) -> str:
    """The counts as a table for people."""
    sheets = total["sheets"]
    lines = [f"{condition}: {sheets} sheets, {total['found']} found, {total['identified']} identified by their code"]

    def share(name: str, of: str) -> None:
        part, whole = total[name], total[of]
        lines.append(f"  {name:38} {part:7.0f} of {whole:7.0f}  {100 * part / whole if whole else 0:8.3f} %")

    for kind in ("mark", "filled", "empty"):
        for what in ("right by image", "right", "right unasked"):
            share(f"{kind} {what}", f"{kind} fields")
        lines.append(
            f"  {kind} wrong by image: {total[f'{kind} fields'] - total[f'{kind} right by image']}, "
            f"of these below 0.9 confidence: {total[f'{kind} wrong by image below 0.9']}"
        )
    fields = sum(total[f"{kind} fields"] for kind in ("mark", "filled", "empty"))
    unseen = f"{total['fields unseen']} unseen, {total['unseen and not asked']} of them filled and not asked about"
    unseen += f"; dashes and nothing confused: {total['dash taken for nothing']}"
    lines.append(f"  silent errors: {total['silent errors']} of {fields} fields ({unseen})")
    lines.append(
        f"  questions a sheet: {total['questions'] / sheets:.2f}; asking nothing: {total['sheets asking nothing']}"
    )
    for name in ("slips found at their cell", "slips found, kind right", "slips asked about", "slips otherwise"):
        share(name, "slips")
    lines.append(f"  mistakes invented: {total['mistakes invented']}")
    for name in ("settled as played right, of those", "settled as written right, of those"):
        share(name, "sheets asking nothing")
    steps = ", ".join(f"{step} {total['ms ' + step] / sheets:.0f}" for step in ("decode", "find", "read", "decide"))
    lines.append(f"  milliseconds a sheet: {steps}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
