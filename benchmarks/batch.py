"""How many photos a minute a batch reads with one process and with several, against what the machine itself gives.

    OMP_NUM_THREADS=1 python -m benchmarks.batch --photos 200 --out benchmarks/figures/batch.txt

Two processors that share one core's works do not do twice the work of one. What can be had is measured as well: the
same photos read by as many programs side by side, each with its share, which know nothing of each other.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from benchmarks.speed import flat, write_shot
from desk.demo import fill_in


def make_photo(folder: Path, seed: int) -> None:
    """A sheet of its own, filled in and photographed."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, 91])
    page = fill_in(folder / f"blank-{seed}.pdf", rng, "ru", deals=20).page
    write_shot(folder / f"{seed:04d}.jpg", page, flat(rng), rng)
    (folder / f"blank-{seed}.pdf").unlink()


def seconds(batches: list[list[Path]], jobs: int, folder: Path) -> float:
    """How long it takes to read the batches, each by a program of its own with so many processes."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    running = []
    for i, batch in enumerate(batches):
        out = str(folder / f"read-{jobs}-{len(batches)}-{i}")
        command = [
            sys.executable,
            "-c",
            "from desk.cli import main; main()",
            "read",
            *map(str, batch),
            "-o",
            out,
            "--jobs",
            str(jobs),
        ]
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for program in running:
        if program.wait() not in (0, 1):
            raise RuntimeError(f"reading ended with {program.returncode}")
    return time.perf_counter() - start


def main() -> None:
    """Photograph, read and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
            list(pool.map(make_photo, [folder] * args.photos, range(args.photos)))
        photos = sorted(folder.glob("*.jpg"))
        one = seconds([photos], 1, folder)
        pooled = seconds([photos], args.jobs, folder)
        apart = seconds([photos[i :: args.jobs] for i in range(args.jobs)], 1, folder)
    lines = [
        f"{len(photos)} photos of 12 megapixels, 20 deals each, {os.cpu_count()} processors",
        f"  --jobs 1                  {one:6.1f} s   {60 * len(photos) / one:6.0f} a minute",
        f"  --jobs {args.jobs}                  {pooled:6.1f} s   {60 * len(photos) / pooled:6.0f} a minute   "
        f"{one / pooled:.2f} x   (target 1.8 x)",
        f"  {args.jobs} programs side by side  {apart:6.1f} s   {60 * len(photos) / apart:6.0f} a minute   "
        f"{one / apart:.2f} x",
    ]
    print(*lines, sep="\n")
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
