"""How many sheets are found, refused and misplaced, condition by condition, and how exactly fields are placed.

    python -m benchmarks.finding --count 30 --out benchmarks/figures/finding.txt
    python -m benchmarks.finding --pairs --count 2 --out benchmarks/figures/finding-pairs.txt
    python -m benchmarks.finding --filled --data DIR --first 20000 --out benchmarks/figures/finding-filled.txt

Blank sheets are printed, photographed by the simulated camera and fitted; the camera knows the truth. With --filled
they are the sheets of `benchmarks/reading.py`, written by the same hands: figures in a column look like lines. A shot
is *right* when every field that the reader is sure of lies within 1.5 mm of its true place and at least 60 % of the
fields are sure; *refused* when fewer are; *WRONG* when a field that the reader is sure of is further off. *off* counts
the shots on which one is more than 0.8 mm off, which is still in its box.

A refusal is *due* where nobody could read the photo either. That was judged by eye, on the same shots of filled sheets:
where a point is smeared over more than 1.5 mm (out of focus, a disc of four times the blur's sigma; shaken, the length
of the shake), strokes close up, and 3 and 8, 1 and 4 and 7 cannot be told apart; up to 1.1 mm every figure can be read.
In between a person guesses, and the reader, let on, asks about 30 to 600 of 960 fields: there a new photo is the lesser
trouble. A refusal is due as well below 1.6 pixels a millimetre, and where fewer than 60 % of the fields are in the
picture and bare.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import cv2
import numpy as np

from benchmarks.reading import DPI, fill_in, kept_page, written_page
from recognize.locate import find_sheets, fit_page
from recognize.pipeline import LEAST_FIELDS, LEAST_ON_LINE
from recognize.refusal import too_coarse
from recognize.simulation.camera import CONDITIONS, Photo, as_printed, draw_shot, photograph
from recognize.simulation.shots import PAIRS
from templates import Form, load_form

WRONG_MM = 1.5
OFF_MM = 0.8
SMEARED_MM = 1.15
COARSE = 1.6
"""Pixels a millimetre."""


def beyond_reading(photo: Photo, centres: np.ndarray) -> bool:
    """Whether a person could not read the photo either."""
    shot = photo.shot
    as_taken = photo.px_per_mm() * shot.size[0] / photo.image.shape[1]
    smear = max(4 * shot.defocus, shot.motion) / as_taken
    return bool(smear > SMEARED_MM or photo.px_per_mm() < COARSE or photo.visible(centres).mean() < LEAST_FIELDS)


def blank_photo(condition: str, seed: int) -> tuple[Form, Photo]:
    """A blank sheet photographed."""
    players = 4 if seed % 3 else 3
    rng = np.random.default_rng([seed, sum(map(ord, condition))])
    shot = draw_shot(condition, rng)
    photo = photograph(as_printed(kept_page(players), DPI / 25.4, shot, rng), DPI / 25.4, shot, rng)
    return load_form("protocol", players), photo


def filled_photo(condition: str, seed: int, data: Path | None) -> tuple[Form, Photo]:
    """The sheet that `benchmarks/reading.py` fills in and photographs for this seed, with the camera's truth."""
    rng = np.random.default_rng([seed, 7])
    paper = fill_in(seed, rng)
    page = written_page(paper, data, rng)
    shot = draw_shot(condition, rng)
    # What nobody wrote over is as the printer left it.
    blank = kept_page(paper.form.players)
    worn = as_printed(blank, DPI / 25.4, shot, rng)
    return paper.form, photograph(np.where(page == blank, worn, page), DPI / 25.4, shot, rng)


def one_shot(condition: str, seed: int, filled: bool, data: Path | None) -> tuple[str, str, np.ndarray, float]:
    """(condition, verdict, placement errors in mm of the sure fields, share of fields in sight that are sure)."""
    cv2.setNumThreads(1)
    form, photo = filled_photo(condition, seed, data) if filled else blank_photo(condition, seed)
    flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
    grey = cv2.imdecode(np.frombuffer(photo.encoded, np.uint8), flags)
    sheets = find_sheets(grey, form)
    fit = fit_page(grey, sheets[0], form) if sheets else None
    centres = np.array([f.box.centre for f in form.fields if f.kind != "text"])
    refused = "due" if beyond_reading(photo, centres) else "refused"
    if fit is None or fit.on_line < LEAST_ON_LINE or too_coarse(grey, sheets[0], form) is not None:
        return condition, refused, np.zeros(0), 0.0
    visible = photo.visible(centres)
    sure = fit.sure(centres)
    off = np.linalg.norm(fit.map.to_photo(centres) - photo.truth(centres), axis=1) / photo.px_per_mm()
    errors = off[sure & visible]
    share = float(sure[visible].mean()) if visible.any() else 0.0
    if len(errors) and errors.max() > WRONG_MM:
        return condition, "WRONG", errors, share
    return condition, "right" if sure.mean() >= LEAST_FIELDS else refused, errors, share


def main() -> None:
    """Run every condition and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=30, help="shots a condition")
    parser.add_argument("--first", type=int, default=10_000, help="the first seed")
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help='names, or two at once: "tilt+shadow"')
    parser.add_argument("--pairs", action="store_true", help="every two faults together, instead of each alone")
    parser.add_argument("--filled", action="store_true", help="filled sheets instead of blank ones")
    parser.add_argument("--data", type=Path, help="folder of character sets; without it the hands are made up")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = [
        f"{'condition':24} {'shots':>5} {'right':>5} {'refused':>7} {'due':>5} {'WRONG':>5} {'off':>5}  {'sure %':>6}  "
        f"{'mean mm':>7} {'p99 mm':>7} {'max mm':>7}"
    ]
    verdicts = ("right", "refused", "due", "WRONG")
    totals: Counter[str] = Counter()
    everything = []
    with ProcessPoolExecutor(args.jobs) as pool:
        for condition in PAIRS if args.pairs else args.conditions.split(","):
            seeds = range(args.first, args.first + args.count)
            shots = list(pool.map(one_shot, repeat(condition), seeds, repeat(args.filled), repeat(args.data)))
            counts = {v: sum(shot[1] == v for shot in shots) for v in verdicts}
            counts["off"] = sum(shot[2].max(initial=0.0) > OFF_MM for shot in shots)
            totals.update(counts)
            errors = np.concatenate([shot[2] for shot in shots])
            everything.append(errors)
            lines.append(_line(condition, len(shots), counts, float(np.mean([s[3] for s in shots])), errors))
            print(lines[-1], flush=True)
    lines.append(_line("all", sum(totals[v] for v in verdicts), totals, float("nan"), np.concatenate(everything)))
    print(lines[0], lines[-1], sep="\n")
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(name: str, shots: int, counts: Mapping[str, int], share: float, errors: np.ndarray) -> str:
    errors = errors if len(errors) else np.full(1, np.nan)
    return (
        f"{name:24} {shots:5d} {counts['right']:5d} {counts['refused']:7d} {counts['due']:5d} {counts['WRONG']:5d} "
        f"{counts['off']:5d}  "
        f"{100 * share:6.1f}  {errors.mean():7.3f} {np.percentile(errors, 99):7.3f} {errors.max():7.3f}"
    )


if __name__ == "__main__":
    main()
