"""How well the nets read people they have never seen: every figure with its count and an interval."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recognize import digits, marks
from recognize.training.calibrate import expected_error
from recognize.training.camera import LEVELS
from recognize.training.characters import Array, Writer, load_marks, load_writers
from recognize.training.fields import KINDS, STRUCK
from recognize.training.render import Fields, render_marks, render_numbers

EUROPE = {"unipen_europe": 0.5, "swiss": 0.5}
ELSEWHERE = {"unipen": 0.7, "mnist": 0.2, "semeion": 0.1}
"""From which sets' held-out writers the fields of either part of the world are drawn, and how often."""


@dataclass(frozen=True, slots=True)
class Read:
    """One field as it was read: the truth (`label`, "#" for struck out), the answer, the confidence in it."""

    label: str
    answer: str
    confidence: float
    kind: str
    writer: str
    level: str
    picture: Array
    reading: digits.NumberReading

    @property
    def right(self) -> bool:
        """Whether the answer is the truth."""
        return self.label == self.answer


def answer(reading: digits.NumberReading) -> str:
    """The reading as one label: the text, or "#" where it was struck out."""
    return STRUCK if not reading.value and reading.struck > reading.probability("") else reading.value


Reader = Callable[[Array], list[digits.NumberReading]]
"""Takes prepared pictures of one width to readings."""


def read_fields(fields: Fields, reader: Reader) -> list[Read]:
    """Every field read."""
    reads = []
    for width, pictures in fields.pictures.items():
        if not len(pictures):
            continue
        for picture, reading, (label, kind, writer, _, level) in zip(
            pictures, reader(pictures), fields.facts[width], strict=True
        ):
            reads.append(Read(label, answer(reading), reading.confidence, kind, writer, level, picture, reading))
    return reads


def interval(wrong: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share, spread = wrong / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z * float(np.sqrt(share * (1 - share) / count + spread / 4 / count)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def by_writer(reads: list[Read], rng: np.random.Generator, draws: int = 1000) -> tuple[float, float]:
    """A 95 % interval of the share right with the writers, not the fields, drawn anew: what other people would give."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for read in reads:
        counts[read.writer][0] += read.right
        counts[read.writer][1] += 1
    table = np.array(list(counts.values()))
    drawn = table[rng.integers(0, len(table), (draws, len(table)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return float(low), float(high)


def share_right(reads: list[Read]) -> dict[str, Any]:
    """The share right with its intervals, and how many are wrong among the surest 98 % and from a confidence on."""
    rng = np.random.default_rng(0)
    wrong = sum(not read.right for read in reads)
    low, high = interval(wrong, len(reads))
    surest = sorted(reads, key=lambda read: -read.confidence)[: int(0.98 * len(reads))]
    missed = sum(not read.right for read in surest)
    kept_low, kept_high = interval(missed, len(surest))
    error, _ = expected_error(np.array([r.confidence for r in reads]), np.array([r.right for r in reads]))
    return {
        "fields": len(reads),
        "writers": len({read.writer for read in reads}),
        "right": 1 - wrong / len(reads),
        "interval": [1 - high, 1 - low],
        "interval_by_writer": list(by_writer(reads, rng)),
        "wrong_in_10000_of_the_surest_98": 1e4 * missed / len(surest),
        "wrong_in_10000_interval": [1e4 * kept_low, 1e4 * kept_high],
        "calibration_error": error,
        "wrong_of_kept": {f"{least:g}": _kept(reads, least) for least in (0.9, 0.99, 0.999)},
    }


def _kept(reads: list[Read], least: float) -> list[int]:
    """How many reads are wrong though at least so sure, and how many are so sure."""
    sure = [read for read in reads if read.confidence >= least]
    return [sum(not read.right for read in sure), len(sure)]


def measure_numbers(data: Path, reader: Reader, seed: int, count: int) -> tuple[dict[str, Any], list[Read]]:
    """Figures on held-out writers, `count` plain fields for each level and part of the world; and all that was read."""
    writers = load_writers(data, "test", np.random.default_rng(seed))
    figures: dict[str, Any] = {"plain": {}}
    every: list[Read] = []
    for place, weights in (("europe", EUROPE), ("elsewhere", ELSEWHERE)):
        for level in LEVELS:
            seed += 1
            reads = _reads(writers, count, seed, reader, levels=(level,), kinds=("plain",), weights=weights)
            figures["plain"][f"{place}, {level}"] = share_right(reads)
            every += reads
    by_person = {writer: [r for r in every if r.writer == writer] for writer in {r.writer for r in every}}
    figures["european_writers"] = {
        writer: share_right(reads)
        for writer, reads in sorted(by_person.items())
        if writer.startswith(("val_", "gmd_", "imp_", "ch_")) and len(reads) >= 50
    }
    both = {group: share / 2 for group, share in (EUROPE | ELSEWHERE).items()}
    figures["kinds"] = {}
    for kind in KINDS:
        if kind not in ("plain", "empty"):
            seed += 1
            reads = _reads(writers, count // 3, seed, reader, kinds=(kind,), weights=both)
            figures["kinds"][kind] = share_right(reads)
            every += reads
    empties = _reads(writers, 4 * count, seed + 1, reader, kinds=("empty",), weights=both)
    filled = sum(read.answer != "" for read in empties)
    figures["empty"] = {
        "fields": len(empties),
        "called_filled": filled,
        "in_20000": 2e4 * filled / len(empties),
        "in_20000_interval": [2e4 * v for v in interval(filled, len(empties))],
        "called_filled_with_confidence_over_0.9": sum(r.answer != "" and r.confidence > 0.9 for r in empties),
    }
    plain = [read for read in every if read.kind == "plain"]
    figures["missed"] = {"plain_fields": len(plain), "called_empty": sum(read.answer == "" for read in plain)}
    every += empties
    error, bins = expected_error(np.array([r.confidence for r in every]), np.array([r.right for r in every]))
    figures["calibration"] = {"error": error, "bins": bins, "fields": len(every)}
    figures["confusion"] = confusion(plain)
    figures["mistakes_are"] = dict(Counter(mistake(read) for read in plain if not read.right).most_common())
    return figures, every


def _reads(writers: list[Writer], count: int, seed: int, reader: Reader, **how: Any) -> list[Read]:
    return read_fields(render_numbers(writers, count, seed, borrow=False, **how), reader)


def confusion(reads: list[Read]) -> list[list[int]]:
    """Ten rows of what was written, ten columns of what was read, over fields read with the right count of digits."""
    table = np.zeros((10, 10), int)
    for read in reads:
        if len(read.label) == len(read.answer) and (read.label + read.answer).isdigit():
            for written, said in zip(read.label, read.answer, strict=True):
                table[int(written), int(said)] += 1
    return [[int(v) for v in row] for row in table]


def mistake(read: Read) -> str:
    """What kind of mistake a wrong reading is."""
    if read.answer in ("", STRUCK, "-"):
        return {"": "called empty", STRUCK: "called struck out", "-": "called a dash"}[read.answer]
    if len(read.answer) == len(read.label):
        wrong = [(a, b) for a, b in zip(read.label, read.answer, strict=True) if a != b]
        return f"{wrong[0][0]} read as {wrong[0][1]}" if len(wrong) == 1 else "several digits"
    return "a digit too many" if len(read.answer) > len(read.label) else "a digit too few"


def measure_marks(data: Path, hear: Any, seed: int, count: int) -> dict[str, Any]:
    """Figures for marks, `count` boxes a level; crosses and slashes by held-out writers."""
    figures: dict[str, Any] = {}
    claimed: list[float] = []
    right: list[bool] = []
    for level in LEVELS:
        seed += 1
        pictures, says, facts = render_marks(load_marks(data, "test"), count, seed, levels=(level,))
        readings = marks.decode(hear(pictures))
        said = np.array([2 if r.cancelled > 0.5 else 1 if r.value else 0 for r in readings])
        # What matters is marked or not; empty for cancelled is harmless, and told apart in its own figure.
        wrong = (said == 1) != (says == 1)
        sure = np.array([abs(r.probability - 0.5) > 0.49 for r in readings])
        kinds = Counter(fact[0] for fact, bad in zip(facts, wrong, strict=True) if bad)
        total = Counter(fact[0] for fact in facts)
        figures[level] = {
            "boxes": len(says),
            "wrong": int(wrong.sum()),
            "in_20000": 2e4 * float(wrong.mean()),
            "in_20000_interval": [2e4 * v for v in interval(int(wrong.sum()), len(says))],
            "wrong_and_claimed_over_0.99": int((wrong & sure).sum()),
            "cancelled_called_empty_or_back": int(((said != says) & ~wrong).sum()),
            "wrong_by_kind": {kind: [kinds[kind], total[kind]] for kind in sorted(total)},
        }
        claimed += [max(r.probability, 1 - r.probability) for r in readings]
        right += [not bad for bad in wrong]
    error, _ = expected_error(np.array(claimed), np.array(right))
    figures["calibration_error"] = error
    return figures
