"""Train the handwriting nets: `python -m recognize.training.train --data DIR --out recognize/model --seed 1`.

DIR holds the character sets. The nets, their calibration and `report.json` are written into the `--out` folder. A
training that was stopped goes on with its last whole epoch when it is started again in the same way; what it learnt so
far is kept in `training.pt` there until it ends.
"""

import argparse
import json
import sys
import time
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime as ort
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from recognize import digits
from recognize.digits import SYMBOLS
from recognize.training.calibrate import calibrate_marks, calibrate_numbers
from recognize.training.characters import Array, load_marks, load_writers
from recognize.training.filled import marks_to_learn, numbers_to_calibrate, numbers_to_learn, people
from recognize.training.measure import answer, measure_marks, measure_numbers
from recognize.training.net import MarkNet, NumberNet, Readers
from recognize.training.optimise import Learner
from recognize.training.pictures import Fields, joined
from recognize.training.quantise import quantise
from recognize.training.render import from_sheets, render_marks, render_numbers, stream_numbers

NETS = len(digits.VIEWS)
"""So many number nets learn beside each other, from the same fields: they are wrong in different places."""
BATCH = 128
CHUNK = 10_000
"""New pictures of composed fields an epoch."""
SHEETS = 120
"""New sheets an epoch, with some 15,000 fields to learn from."""
MARK_SHEETS = 250
"""Sheets whose mark boxes are learnt from, some 115 a sheet, beside those composed."""
WINDOW = 6
"""What so many epochs brought is learnt from."""
STEPS_AN_EPOCH = 375

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HALVED = DEVICE.type == "cuda" or any(
    torch.cpu.get_capabilities().get(name) for name in ("avx512_bf16", "amx_bf16", "bf16")
)
"""Whether to multiply numbers of 16 bits: a processor without instructions for it takes five times as long over it."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of character sets (*.npz)")
    parser.add_argument("--out", type=Path, required=True, help="where the nets and the report go")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=34, help=f"of the number nets, {STEPS_AN_EPOCH} steps each")
    parser.add_argument("--marks", type=int, default=100_000, help="pictures of mark boxes to learn from")
    options = parser.parse_args()
    # One thread learns while one process draws the next fields: on two cores that is faster than two threads at both.
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    began = time.time()
    options.out.mkdir(parents=True, exist_ok=True)
    write_json(options.out / "calibration.json", UNCALIBRATED)
    asked = {"seed": options.seed, "epochs": options.epochs, "marks": options.marks}
    kept = options.out / "training.pt"
    earlier = torch.load(kept, map_location=DEVICE, weights_only=False) if kept.exists() else {}
    if earlier.get("asked") != asked:
        earlier = {}
        composed, says, _ = render_marks(load_marks(options.data, "train"), options.marks, options.seed)
        filled = from_sheets(people(options.data, "train"), marks_to_learn, MARK_SHEETS, options.seed)
        pictures, answers = zip((composed, says), *filled, strict=True)
        train_marks(np.concatenate(pictures), np.concatenate(answers), options.out, options.seed)
    train_numbers(options.data, options.out, asked, earlier)
    seen = render_numbers(load_writers(options.data, "train", np.random.default_rng(options.seed)), 2_000, options.seed)
    some = max(seen.pictures.values(), key=len)[:1_000]
    quantise(options.out / "numbers.onnx", np.repeat(some[:, None], NETS, axis=1))
    calibrate(options.data, options.out, options.seed)
    report(options.data, options.out, options.seed, asked, began - earlier.get("seconds", 0))
    kept.unlink()


UNCALIBRATED = {
    "numbers": {side: {"slope": 0.8, "shift": 0.0, "steeper": 0.0, "most": 0.9999} for side in ("empty", "filled")},
    "marks": {"slope": 0.8, "least": 0.0001},
}
"""What nets that are still learning are used with."""


def calibrate(data: Path, out: Path, seed: int, sheets: int = 240, boxes: int = 14_000) -> None:
    """Make the nets' confidence hold on sheets filled in by the writers kept for that; writes calibration.json."""
    numbers = session(out / "numbers.onnx")
    tops: dict[str, list[float]] = {"empty": [], "filled": []}
    right: dict[str, list[bool]] = {"empty": [], "filled": []}
    fields = joined(from_sheets(people(data, "calibrate"), numbers_to_calibrate, sheets, seed))
    for width, pictures in fields.pictures.items():
        for reading, fact in zip(digits.read_prepared(numbers, pictures, AS_IT_IS), fields.facts[width], strict=True):
            side = "filled" if answer(reading) else "empty"
            tops[side].append(reading.top)
            right[side].append(reading.value == fact[0])
    pictures, says, _ = render_marks(load_marks(data, "calibrate"), boxes, seed + 2)
    heard = run(session(out / "marks.onnx"), pictures)
    found = {
        "numbers": {side: calibrate_numbers(np.array(tops[side]), np.array(right[side])) for side in tops},
        "marks": calibrate_marks(heard, says),
    }
    write_json(out / "calibration.json", found)
    counts = {side: f"{len(right[side]) - sum(right[side])} of {len(right[side])} wrong" for side in right}
    say(f"calibrated: {found}; {counts}")


AS_IT_IS = digits.Calibration(digits.Odds(1, 0, 0, 1), digits.Odds(1, 0, 0, 1))
"""The nets' own odds."""


def report(data: Path, out: Path, seed: int, asked: dict[str, object], began: float) -> None:
    """Measure the nets on people held out and write report.json beside them."""
    stored = json.loads((out / "calibration.json").read_text(encoding="utf-8"))["numbers"]
    calibration = digits.Calibration(digits.Odds(**stored["empty"]), digits.Odds(**stored["filled"]))
    numbers, boxes = session(out / "numbers.onnx"), session(out / "marks.onnx")
    figures, _ = measure_numbers(data, lambda p: digits.read_prepared(numbers, p, calibration), seed + 50, 3_000)
    people = {
        part: dict(sorted(Counter(w.group for w in load_writers(data, part, np.random.default_rng(seed))).items()))
        for part in ("train", "calibrate", "test")
    }
    write_json(
        out / "report.json",
        {
            "asked": asked,
            "versions": {"torch": torch.__version__, "onnxruntime": ort.__version__, "numpy": np.__version__},
            "minutes": round((time.time() - began) / 60, 1),
            "data": SOURCES,
            "writers": people,
            "numbers": figures,
            "marks": measure_marks(data, lambda p: run(boxes, p), seed + 70, 20_000),
        },
    )


SOURCES = {
    "unipen_digits, unipen_symbols, unipen_letters": "UNIPEN train_r01_v07 (Zenodo 1195803), CC BY 4.0",
    "swiss_numbers_16": "kensanata/numbers, 16x16 copy (KentoNishi/ML-Number-Detection), public domain as stated",
    "semeion": "UCI Semeion Handwritten Digit, CC BY 4.0",
    "optdigits_orig": "UCI Optical Recognition of Handwritten Digits, original pictures, CC BY 4.0",
    "mnist": "MNIST with QMNIST writer ids, CC BY-SA 3.0 as usually given; half of it",
    "handwritten62_bd": "Bishwaprotapi/Hand-Written, MIT",
    "detexify_symbols": "kirel/detexify-data, ODbL 1.0; ticks only",
}
"""What the nets learnt from, with the licence as its publisher states it."""


def session(path: Path) -> ort.InferenceSession:
    """A net to run on two threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(net: ort.InferenceSession, pictures: Array) -> Array:
    """What the net says of prepared pictures."""
    parts = [pictures[i : i + 100, None].astype(np.float32) / 255 for i in range(0, len(pictures), 100)]
    return np.concatenate([net.run(None, {"pictures": part})[0] for part in parts])


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def train_numbers(data: Path, out: Path, asked: Mapping[str, int], earlier: Mapping[str, Any]) -> None:
    """Learn to read number fields, from chance or from where `earlier` was stopped; the net is written every epoch."""
    began = time.time() - earlier.get("seconds", 0)
    torch.manual_seed(asked["seed"])
    rng = np.random.default_rng(asked["seed"])
    writers = load_writers(data, "train", rng)
    hands = people(data, "train")
    composed = render_numbers(load_writers(data, "calibrate", rng), 4_000, asked["seed"] + 1)
    filled = from_sheets(people(data, "calibrate"), numbers_to_calibrate, 40, asked["seed"] + 1)
    check = joined([composed, *filled])
    first = earlier.get("epoch", 0)
    chunks = stream_numbers(writers, hands, CHUNK, SHEETS, asked["seed"], first)
    begun = asked["seed"] + first
    composed = render_numbers(writers, 3 * CHUNK, begun, photos=2)
    filled = from_sheets(hands, numbers_to_learn, 3 * SHEETS, 1000 + begun)
    window = deque([joined([composed, *filled])], WINDOW)
    nets = [NumberNet().to(DEVICE, memory_format=torch.channels_last) for _ in range(NETS)]
    means = [averaged(net, 0.9985) for net in nets]
    learners = [Learner(net, asked["epochs"] * STEPS_AN_EPOCH) for net in nets]
    learning = {"nets": nets, "means": means, "learners": learners}
    if earlier:
        for name, parts in learning.items():
            for part, kept in zip(parts, earlier[name], strict=True):
                part.load_state_dict(kept)
    say(f"numbers: {len(writers)} writers, {len(hands)} of them fill in sheets; learning begins")
    for epoch in range(first, asked["epochs"]):
        fields = joined(list(window))
        losses = [
            one_epoch(net, mean, learner, fields, rng) for net, mean, learner in zip(*learning.values(), strict=True)
        ]
        export_numbers(means, out)
        checked = quick_check(means[0].module, check) if epoch % 4 == 3 else ""
        say(f"numbers, epoch {epoch + 1}, {time.time() - began:.0f} s: losses {np.round(losses, 4)} {checked}")
        state: dict[str, Any] = {name: [part.state_dict() for part in parts] for name, parts in learning.items()}
        state |= {"asked": asked, "epoch": epoch + 1, "seconds": time.time() - began}
        torch.save(state, out / "training.new")
        (out / "training.new").replace(out / "training.pt")
        window.append(next(chunks))
    # Once more: where nothing was left to learn, what lies there may be in whole numbers already.
    export_numbers(means, out)


def one_epoch(
    net: torch.nn.Module, mean: AveragedModel, learner: Learner, fields: Fields, rng: np.random.Generator
) -> float:
    """Learn from `STEPS_AN_EPOCH` batches of the fields; returns the mean loss."""
    losses = []
    for width, part in batches(fields, rng, STEPS_AN_EPOCH):
        pictures = augmented(fields.pictures[width][part], rng)
        wanted = [[SYMBOLS.index(c) for c in fields.facts[width][i][0]] for i in part]
        with torch.autocast(DEVICE.type, torch.bfloat16, HALVED):
            columns = net(pictures.to(DEVICE, memory_format=torch.channels_last))
        loss = spelling_loss(columns, wanted)
        learner.step(loss)
        mean.update_parameters(net)
        losses.append(float(loss.detach()))
    return float(np.mean(losses))


def averaged(net: torch.nn.Module, keep: float) -> AveragedModel:
    """The running mean of a net's weights, which reads better than the net itself."""

    def follow(mean: Tensor, new: Tensor, seen: Tensor | int) -> Tensor:
        # The first weights are chance and must be forgotten soon.
        share = min(keep, (1 + int(seen)) / (10 + int(seen)))
        return mean * share + new * (1 - share)

    return AveragedModel(net, avg_fn=follow, use_buffers=True)


def batches(fields: Fields, rng: np.random.Generator, steps: int) -> list[tuple[int, Array]]:
    """(width, rows) of `steps` batches drawn at random, each field at most once before all were."""
    every: list[tuple[int, Array]] = []
    while len(every) < steps:
        turn = [
            (width, np.sort(part))
            for width, pictures in fields.pictures.items()
            for part in np.array_split(rng.permutation(len(pictures)), max(len(pictures) // BATCH, 1))
        ]
        every += [turn[i] for i in rng.permutation(len(turn))]
    return every[:steps]


def train_marks(pictures: Array, says: Array, out: Path, seed: int, epochs: int = 8, batch: int = 256) -> None:
    """Learn to tell empty, marked and cancelled boxes apart."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = MarkNet().to(DEVICE, memory_format=torch.channels_last)
    mean = averaged(net, 0.998)
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.02)
    steps = epochs * (len(pictures) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps + epochs, pct_start=0.1)
    for epoch in range(epochs):
        shown = []
        for part in np.array_split(rng.permutation(len(pictures)), len(pictures) // batch):
            with torch.autocast(DEVICE.type, torch.bfloat16, HALVED):
                heard = net(augmented(pictures[part], rng).to(DEVICE, memory_format=torch.channels_last))
            loss = torch.nn.functional.nll_loss(heard, torch.from_numpy(says[part]).to(DEVICE))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            mean.update_parameters(net)
            shown.append(float(loss.detach()))
        export(mean.module, torch.zeros(2, 1, 32, 32), out / "marks.onnx", {0: "n"}, {0: "n"})
        say(f"marks, epoch {epoch + 1}: loss {np.mean(shown):.5f}")


def augmented(pictures: Array, rng: np.random.Generator) -> Tensor:
    """Prepared pictures as (N, 1, H, W) floats, each moved by a pixel or two, lighter or darker, grainier."""
    count, h, w = pictures.shape
    padded = np.pad(pictures, ((0, 0), (2, 2), (2, 2)))
    out = np.empty((count, h, w), np.float32)
    for i, (y, x) in enumerate(rng.integers(0, 5, (count, 2))):
        out[i] = padded[i, y : y + h, x : x + w]
    gain = rng.uniform(0.75, 1.25, (count, 1, 1)).astype(np.float32) / 255
    power = torch.from_numpy(rng.uniform(0.8, 1.25, (count, 1, 1)).astype(np.float32))
    light = torch.from_numpy(out * gain).clamp(0, 1) ** power
    grain = torch.from_numpy(rng.uniform(0, 0.05, (count, 1, 1)).astype(np.float32))
    return (light + torch.randn(light.shape) * grain).clamp(0, 1)[:, None]


def spelling_loss(columns: Tensor, wanted: list[list[int]]) -> Tensor:
    """The mean negative log likelihood of the texts; `columns` is (N, T, classes), `wanted` the symbols' numbers."""
    lengths = torch.tensor([len(text) for text in wanted])
    flat = torch.tensor([symbol for text in wanted for symbol in text], device=columns.device)
    inputs = torch.full((len(wanted),), columns.shape[1])
    losses = torch.nn.functional.ctc_loss(
        columns.transpose(0, 1), flat, inputs, lengths, blank=len(SYMBOLS), reduction="none", zero_infinity=True
    )
    return losses.mean()


def export(net: torch.nn.Module, example: Tensor, path: Path, axes: dict[int, str], says: dict[int, str]) -> None:
    """Write a net as ONNX with the input `pictures`, free along `axes`, and the output `says`, free along `says`."""
    new = path.with_suffix(".new")
    training = net.training
    net.eval()
    torch.onnx.export(
        net, (example.to(DEVICE),), str(new), dynamo=False, input_names=["pictures"], output_names=["says"],
        dynamic_axes={"pictures": axes, "says": says}, opset_version=17,
    )  # fmt: skip
    new.replace(path)
    net.train(training)


def export_numbers(means: list[AveragedModel], out: Path) -> None:
    """Write the number nets as they are now."""
    net = Readers(mean.module for mean in means)
    export(net, torch.zeros(2, NETS, 48, 64), out / "numbers.onnx", {0: "n", 3: "w"}, {0: "n", 2: "columns"})


def quick_check(net: torch.nn.Module, check: Fields) -> str:
    """The share of fields read right column by column."""
    net.eval()
    right: dict[str, list[bool]] = {}
    for width, pictures in check.pictures.items():
        for start in range(0, len(pictures), 250):
            part = torch.from_numpy(pictures[start : start + 250].astype(np.float32) / 255)[:, None]
            with torch.no_grad():
                spelt = net(part.to(DEVICE)).argmax(2).cpu().numpy()
            for row, fact in zip(spelt, check.facts[width][start : start + 250], strict=True):
                keep = np.concatenate([[True], row[1:] != row[:-1]]) & (row != len(SYMBOLS))
                text = "".join(SYMBOLS[s] for s in row[keep])
                right.setdefault(fact[1] if fact[1] != "plain" else f"plain {fact[4]}", []).append(text == fact[0])
    net.train()
    return ", ".join(f"{kind} {100 * np.mean(hits):.2f}" for kind, hits in sorted(right.items()))


def write_json(path: Path, content: object) -> None:
    """Write a file that reads well and differs little from run to run."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
