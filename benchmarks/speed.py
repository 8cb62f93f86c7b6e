"""What reading a 12-megapixel photo costs, step by step, as a multiple of what decoding it costs.

    OMP_NUM_THREADS=1 python -m benchmarks.speed --out benchmarks/figures/speed.txt

Filled sheets are photographed flat, bent, and in every condition; each step is timed in processor seconds, on one core,
in one process, several times over, and set against `cv2.imread(path, 0)` on the same file in the same run. *Rescue* are
the shots on which the first look for marks found too few, or the page map had to grow into a part that it lost; how
many there are in each condition is counted as well.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import cv2
import numpy as np

from desk.demo import PAGE_PX_PER_MM, fill_in
from recognize import lines as page_lines
from recognize import locate
from recognize.cells import cut_fields
from recognize.identify import identify, known_forms
from recognize.locate import find_marks, fit_page, sheets_of
from recognize.photo import open_photos
from recognize.pipeline import LEAST_FIELDS, LEAST_ON_LINE, read_cells, read_photo
from recognize.simulation.bend import Bend
from recognize.simulation.camera import CONDITIONS, as_jpeg, draw_shot, photograph
from recognize.simulation.shots import Shot
from templates import load_form

STEPS = ("imread", "open", "find marks", "share out", "identify", "fit page", "cut fields", "read fields", "decide")
QUALITY = 95
"""JPEG as phones write it; what the simulated camera packs by itself is smaller and quicker to decode."""


def flat(rng: np.random.Generator) -> Shot:
    """A decent photo of a sheet that lies flat."""
    return replace(draw_shot("mild", rng), bend=Bend())


def bent(rng: np.random.Generator) -> Shot:
    """A decent photo of a sheet that is bent by 12 to 22 mm."""
    return draw_shot("strong-curl", rng)


def write_shot(path: Path, page: np.ndarray, shot: Shot, rng: np.random.Generator) -> None:
    """Photograph a page and leave the file as the camera, or the messenger, would."""
    photo = photograph(page, PAGE_PX_PER_MM, shot, rng)
    path.write_bytes(photo.encoded if shot.shrink is not None else as_jpeg(photo, QUALITY))


def measured(path: Path) -> tuple[dict[str, float], bool]:
    """The processor milliseconds of every step on one photo and of the whole, and whether it took the rescue path."""
    taken: dict[str, float] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        found = work()
        taken[name] = 1000 * (time.process_time() - began)
        return found

    step("imread", lambda: cv2.imread(str(path), 0))
    (photo,) = step("open", lambda: list(open_photos(path)))
    grey, form = photo.grey, known_forms()[0]
    with (
        mock.patch.object(page_lines, "_grown", wraps=page_lines._grown) as grown,
        mock.patch.object(locate, "_marks_in", wraps=locate._marks_in) as looked,
    ):
        found = step("find marks", lambda: find_marks(grey, form.dictionary))
        rescue = looked.call_count > 1
        sheets = step("share out", lambda: sheets_of(grey, found, form))
        if sheets:
            known = step("identify", lambda: identify(grey, sheets[0], lambda serial: None))
            said = known.identity or known.by_marks
            if said is not None:
                form = load_form("protocol", said.players, said.rows, said.version)
                fit = step("fit page", lambda: fit_page(grey, sheets[0], form))
                rescue |= grown.call_count > 0
                if fit is not None and fit.on_line >= LEAST_ON_LINE:
                    cells = step("cut fields", lambda: cut_fields(grey, fit, form))
                    if np.mean([cell.sure for cell in cells]) >= LEAST_FIELDS:
                        step("read fields", lambda: read_cells(cells))
    step("whole", lambda: [read_photo(photo) for photo in open_photos(path)])
    if "read fields" in taken:
        taken["decide"] = taken["whole"] - sum(taken[name] for name in STEPS if name in taken and name != "imread")
    return taken, rescue


def table(title: str, shots: list[dict[str, float]], target: float, megabytes: float) -> list[str]:
    """The medians over some photos, as lines."""
    lines = [f"{title}: {len(shots)} photos of {megabytes:.1f} MB", f"  {'':14}{'ms':>8}{'x imread':>10}"]
    middle = {name: float(np.median([s[name] for s in shots if name in s])) for name in (*STEPS, "whole")}
    for name in (*STEPS, "whole"):
        # Multiples photo by photo: the files differ.
        times = float(np.median([s[name] / s["imread"] for s in shots if name in s]))
        aim = f"   (target {target:g})" if name == "whole" else ""
        lines.append(f"  {name:14}{middle[name]:8.1f}{times:10.2f}{aim}")
    return lines


def main() -> None:
    """Photograph, time and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=7, help="photos flat, and as many bent")
    parser.add_argument("--each", type=int, default=5, help="photos a condition, to count and time the rescues")
    parser.add_argument("--repeat", type=int, default=3, help="runs a photo, of which the quickest counts")
    parser.add_argument("--conditions", default=",".join(CONDITIONS))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    lines: list[str] = []

    def say(more: list[str]) -> None:
        lines.extend(more)
        print(*more, sep="\n", flush=True)

    say([f"{platform.machine()}, Python {platform.python_version()}, OpenCV {cv2.__version__}, NumPy {np.__version__}"])
    with tempfile.TemporaryDirectory() as folder:
        pages = [fill_in(Path(folder) / "blank.pdf", np.random.default_rng(s), "ru", deals=20).page for s in range(3)]
        path = Path(folder) / "photo.jpg"

        def timed(shot: Shot, seed: int, rng: np.random.Generator, repeat: int) -> tuple[dict[str, float], bool, float]:
            write_shot(path, pages[seed % len(pages)], shot, rng)
            runs = [measured(path) for _ in range(repeat)]
            best = {name: min(run[0][name] for run in runs) for name in runs[0][0]}
            return best, runs[0][1], path.stat().st_size / 1e6

        warm = np.random.default_rng(0)
        timed(flat(warm), 0, warm, 1)
        for title, draw, target in (("flat", flat, 3.0), ("bent", bent, 5.0)):
            runs = []
            for seed in range(args.photos):
                rng = np.random.default_rng([seed, 77])
                runs.append(timed(draw(rng), seed, rng, args.repeat))
            say(table(title, [run[0] for run in runs], target, float(np.median([run[2] for run in runs]))))
        rescued, shares, count = [], [], 0
        for condition in args.conditions.split(","):
            took = 0
            for seed in range(args.each):
                rng = np.random.default_rng([seed, 78, sum(map(ord, condition))])
                best, rescue, size = timed(draw_shot(condition, rng), seed, rng, 1)
                count += 1
                if rescue:
                    took += 1
                    rescued.append((best, size))
            if took:
                shares.append(f"{condition} {took}")
        if rescued:
            sizes = float(np.median([size for _, size in rescued]))
            say(table("rescue", [best for best, _ in rescued], 15.0, sizes))
        said = f" ({', '.join(shares)} of {args.each} each)" if shares else ""
        say([f"rescue path taken by {len(rescued)} of {count} photos over the conditions{said}"])
        write_shot(path, pages[0], flat(warm), warm)
        say([f"peak memory of a process that reads one such photo: {worker_memory(path):.0f} MB (target 400)"])
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def worker_memory(path: Path) -> float:
    """The peak memory in MB of a fresh process that reads one photo, and nothing else; on Linux only."""
    # Not getrusage: that goes on from the peak of the process which started this one.
    program = (
        "import sys; from pathlib import Path; from recognize.pipeline import read_file;"
        "list(read_file(Path(sys.argv[1]))); print(Path('/proc/self/status').read_text())"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    (peak,) = (line.split()[1] for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    return int(peak) / 1024


if __name__ == "__main__":
    main()
