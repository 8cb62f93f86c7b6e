"""How well handwriting is read, beside others: `python -m benchmarks.handwriting --data DIR -o DIR`.

Reads the same fields, by people nobody was trained on, with the shipped nets, with Tesseract (digits, one line) where
it is installed, and with a plain digit net of the same size trained on MNIST, and writes `handwriting.json`,
`reliability.png` and `mistakes.png`. `--data` is the folder of character sets that the training takes.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytesseract
import torch
from torch import nn

from recognize import digits, marks
from recognize.cells import NUMBER_MARGIN_MM, PX_PER_MM
from recognize.training.camera import LEVELS, cut_out
from recognize.training.characters import Array, load_writers
from recognize.training.fields import Library, number_field
from recognize.training.measure import ELSEWHERE, EUROPE, Read, answer, interval, measure_marks, measure_numbers
from recognize.training.render import field_box
from recognize.training.train import run, session

EDGE = round(NUMBER_MARGIN_MM * PX_PER_MM)
"""Pixels around the inside of a field in its cut-out."""

INK_ROWS = 28
"""Rows and columns of an MNIST picture."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--fields", type=int, default=6000, help="plain fields a level and part of the world")
    parser.add_argument("--beside", type=int, default=200, help="fields a level for the table beside others")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cv2.setNumThreads(1)
    model = Path(digits.__file__).parent / "model"
    numbers, boxes = session(model / "numbers.onnx"), session(model / "marks.onnx")
    figures: dict[str, Any] = {}
    figures["numbers"], reads = measure_numbers(
        options.data, lambda p: digits.read_prepared(numbers, p), options.seed, options.fields
    )
    figures["seconds"] = seconds([read.picture for read in reads if read.picture.shape[1] == digits.WIDTHS[0]][:250])
    figures["marks"] = measure_marks(options.data, lambda p: run(boxes, p), options.seed, 4 * options.fields)
    figures["beside_others"] = beside_others(options.data, options.seed, options.beside)
    (options.out / "handwriting.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    bins = figures["numbers"]["calibration"]["bins"]
    cv2.imwrite(str(options.out / "reliability.png"), reliability(reads))
    cv2.imwrite(str(options.out / "mistakes.png"), worst(reads))
    print(json.dumps({k: v for k, v in figures.items() if k != "bins"}, indent=1), len(bins))


def seconds(prepared: list[Array]) -> dict[str, float]:
    """How long these fields and 400 mark boxes take on one core, in milliseconds for each, the median of nine."""
    rng = np.random.default_rng(0)
    fields = [rng.integers(100, 230, (49, 56), dtype=np.uint8) for _ in prepared]
    boxes = [rng.integers(100, 230, (31, 31), dtype=np.uint8) for _ in range(400)]

    def median(work: Any) -> float:
        times = []
        for _ in range(9):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        return 1000 * sorted(times)[4]

    net, pictures = digits.shipped_net("numbers"), np.stack(prepared)
    return {
        "number, reading": median(lambda: digits.read_prepared(net, pictures)) / len(fields),
        "number, preparing": median(lambda: [digits.prepare(field) for field in fields]) / len(fields),
        "mark, all": median(lambda: marks.read_marks(boxes)) / len(boxes),
    }


def beside_others(data: Path, seed: int, count: int) -> dict[str, Any]:
    """The share of the same plain fields that each reader gets right, by part of the world and level."""
    writers = load_writers(data, "test", np.random.default_rng(seed))
    plain_net = mnist_net(data, seed)
    table: dict[str, Any] = {}
    for place, weights in (("europe", EUROPE), ("elsewhere", ELSEWHERE)):
        library = Library(writers, weights)
        for level in LEVELS:
            rng = np.random.default_rng([seed, len(table)])
            right = {"this net": 0, "MNIST net": 0, "Tesseract": 0}
            for _ in range(count):
                field = number_field(rng, library, field_box(rng), kind="plain", borrow=False)
                cut = cut_out(rng, field.picture, field.box, LEVELS[level], NUMBER_MARGIN_MM, PX_PER_MM)
                right["this net"] += answer(digits.read_number(cut)) == field.label
                right["MNIST net"] += read_by_parts(plain_net, cut) == field.label
                if shutil.which("tesseract"):
                    right["Tesseract"] += read_by_tesseract(cut) == field.label
            table[f"{place}, {level}"] = {
                name: {"right": hits / count, "interval": [1 - v for v in interval(count - hits, count)[::-1]]}
                for name, hits in right.items()
            } | {"fields": count}
    return table


def read_by_tesseract(cut: Array) -> str:
    """What Tesseract makes of the inside of a field, three times as large."""
    inside = cut[EDGE:-EDGE, EDGE:-EDGE]
    large = cv2.resize(inside, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    large = cv2.copyMakeBorder(large, 20, 20, 20, 20, cv2.BORDER_REPLICATE)
    said = pytesseract.image_to_string(large, config="--psm 7 -c tessedit_char_whitelist=0123456789")
    return str(said).strip().replace(" ", "")


class PlainNet(nn.Module):
    """An ordinary digit classifier of about as many weights as the number net: (N, 1, 28, 28) → (N, 10)."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 49, 90), nn.ReLU(), nn.Dropout(0.3), nn.Linear(90, 10),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """See the class."""
        return self.layers(x)


def mnist_net(data: Path, seed: int) -> PlainNet:
    """A plain net after three rounds over MNIST, with small shifts."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    archive = np.load(data / "mnist.npz")
    pictures, labels = archive["X"], archive["y"].astype(int)
    net = PlainNet()
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(3):
        for part in np.array_split(rng.permutation(len(labels)), len(labels) // 128):
            x = torch.from_numpy(pictures[part].astype(np.float32) / 255)[:, None]
            x = torch.roll(x, tuple(int(v) for v in rng.integers(-2, 3, 2)), (2, 3))
            loss = nn.functional.cross_entropy(net(x), torch.from_numpy(labels[part]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    net.eval()
    return net


def read_by_parts(net: PlainNet, cut: Array) -> str:
    """The usual way with an MNIST net: cut the ink into connected parts, left to right, and classify each."""
    inside = cut[EDGE + 1 : -EDGE - 1, EDGE + 1 : -EDGE - 1]
    inside = cv2.resize(inside, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    level, ink = cv2.threshold(inside, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    if float(inside.max()) - level < 20:
        return ""
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink)
    parts = [stats[i] for i in range(1, count) if stats[i][3] >= 18 and stats[i][4] >= 25]
    said = ""
    for x, y, w, h, _ in sorted(parts, key=lambda part: part[0]):
        glyph = ink[y : y + h, x : x + w].astype(np.float32)
        scale = 20 / max(w, h)
        small = cv2.resize(glyph, (max(round(w * scale), 1), max(round(h * scale), 1)), interpolation=cv2.INTER_AREA)
        frame = np.zeros((INK_ROWS, INK_ROWS), np.float32)
        top, left = (INK_ROWS - small.shape[0]) // 2, (INK_ROWS - small.shape[1]) // 2
        frame[top : top + small.shape[0], left : left + small.shape[1]] = small
        with torch.no_grad():
            said += str(int(net(torch.from_numpy(frame / 255)[None, None]).argmax()))
    return said


def reliability(reads: list[Read], side: int = 480) -> Array:
    """A picture of what was claimed (across) against what came true (up), for the unsure part as log odds of error."""
    claimed = np.array([read.confidence for read in reads])
    right = np.array([read.right for read in reads])
    picture = np.full((side + 80, side + 90, 3), 255, np.uint8)
    ends = -5.0, 0.0

    def at(error: float, true_error: float) -> tuple[int, int]:
        x, y = ((np.log10(max(v, 1e-5)) - ends[0]) / (ends[1] - ends[0]) for v in (error, true_error))
        return 70 + round(side * (1 - x)), 20 + round(side * y)

    for power in range(-5, 1):
        x, y = at(10.0**power, 10.0**power)
        cv2.line(picture, (x, 20), (x, 20 + side), (225, 225, 225), 1)
        cv2.line(picture, (70, y), (70 + side, y), (225, 225, 225), 1)
        text = f"{10.0**power:g}"
        cv2.putText(picture, text, (x - 20, side + 40), 0, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
        cv2.putText(picture, text, (8, y + 4), 0, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    cv2.line(picture, at(1, 1), at(1e-5, 1e-5), (150, 150, 150), 1, cv2.LINE_AA)
    for part in np.array_split(np.argsort(claimed), 16):
        wrong = int((~right[part]).sum())
        low, high = interval(wrong, len(part))
        error = 1 - float(claimed[part].mean())
        cv2.line(picture, at(error, max(low, 1e-5)), at(error, high), (190, 120, 40), 1, cv2.LINE_AA)
        cv2.circle(picture, at(error, wrong / len(part)), 4, (190, 80, 20), -1, cv2.LINE_AA)
    cv2.putText(picture, "claimed chance of error (log)", (170, side + 65), 0, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
    cv2.putText(picture, "share wrong", (72, 14), 0, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
    return picture


def worst(reads: list[Read], count: int = 20) -> Array:
    """The mistakes claimed most surely: the field as the net saw it, what stands in it and what was read."""
    mistakes = sorted((read for read in reads if not read.right), key=lambda read: -read.confidence)[:count]
    tiles = []
    for read in mistakes + [None] * (-len(mistakes) % 5):
        tile = np.full((160, 210), 255, np.uint8)
        if read is not None:
            large = cv2.resize(255 - read.picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
            tile[4 : 4 + large.shape[0], 6 : 6 + large.shape[1]] = large
            said = f"is {read.label or 'empty'}, read {read.answer or 'empty'} {100 * read.confidence:.1f}%"
            cv2.putText(tile, said, (4, 120), 0, 0.42, 0, 1, cv2.LINE_AA)
            cv2.putText(tile, f"{read.kind}, {read.level}, {read.writer}", (4, 140), 0, 0.36, 0, 1, cv2.LINE_AA)
        tiles.append(tile)
    return np.vstack([np.hstack(tiles[i : i + 5]) for i in range(0, len(tiles), 5)])


if __name__ == "__main__":
    sys.exit(main())
