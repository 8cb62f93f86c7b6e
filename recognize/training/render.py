"""Fields by the hundred thousand: composed, photographed and prepared as the reader prepares them, on all cores."""

import itertools
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from recognize import marks
from recognize.cells import MARK_MARGIN_MM, NUMBER_MARGIN_MM
from recognize.digits import HEIGHT, WIDTHS, prepare
from recognize.training.camera import LEVELS, cut_out
from recognize.training.characters import Array, Writer
from recognize.training.fields import Library, number_field
from recognize.training.mark_fields import SIDE, Crosses, mark_field

_library: Library
_crosses: Crosses


Fact = tuple[str, str, str, str, str]
"""What is known of a picture: label, kind, writer, group, level."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Prepared pictures by their width, and for each its row in `facts`."""

    pictures: dict[int, Array]
    facts: dict[int, list[Fact]]

    @property
    def count(self) -> int:
        """How many fields there are."""
        return sum(len(facts) for facts in self.facts.values())


def render_numbers(
    writers: list[Writer],
    count: int,
    seed: int,
    *,
    levels: Sequence[str] = tuple(LEVELS),
    photos: int = 1,
    kinds: Sequence[str] | None = None,
    borrow: bool = True,
    weights: dict[str, float] | None = None,
    jobs: int = 2,
) -> Fields:
    """`count` pictures of number fields; each field composed is photographed `photos` times."""
    global _library
    _library = Library(writers, weights)
    size = 500
    tasks = [(seed, i, size, tuple(levels), photos, kinds, borrow) for i in range(max(count // size, 1))]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return joined(pool.map(_numbers, tasks, chunksize=1))


def stream_numbers(writers: list[Writer], chunk: int, seed: int, first: int = 0) -> Iterator[Fields]:
    """Chunks of `chunk` pictures without end from number `first` on, the next always being made in another process."""
    global _library
    _library = Library(writers)
    with multiprocessing.get_context("fork").Pool(1) as pool:

        def begin(i: int) -> Any:
            return pool.apply_async(_numbers, ((seed, i, chunk, tuple(LEVELS), 2, None, True),))

        coming = begin(1_000_000 + first)
        for i in itertools.count(1_000_001 + first):
            ready = coming.get()
            coming = begin(i)
            yield joined([ready])


def by_width(found: Sequence[tuple[Array, Fact]]) -> Fields:
    """Prepared pictures and what is known of each, in order."""
    none = {width: np.zeros((0, HEIGHT, width), np.uint8) for width in WIDTHS}
    pictures = {width: [picture for picture, _ in found if picture.shape[1] == width] for width in WIDTHS}
    facts = {width: [fact for picture, fact in found if picture.shape[1] == width] for width in WIDTHS}
    return Fields({width: np.stack(own) if own else none[width] for width, own in pictures.items()}, facts)


def joined(parts: Sequence[Fields]) -> Fields:
    """All fields of the parts, in order."""
    return Fields(
        {width: np.concatenate([part.pictures[width] for part in parts]) for width in WIDTHS},
        {width: [fact for part in parts for fact in part.facts[width]] for width in WIDTHS},
    )


def _numbers(task: tuple[Any, ...]) -> Fields:
    seed, chunk, size, levels, photos, kinds, borrow = task
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, chunk])
    found: list[tuple[Array, Fact]] = []
    while len(found) < size:
        field = number_field(
            rng, _library, field_box(rng), kind=str(rng.choice(list(kinds))) if kinds else None, borrow=borrow
        )
        for _ in range(photos):
            level = str(rng.choice(levels))
            density = float(rng.choice([6, rng.uniform(5, 8)]))
            cut = cut_out(rng, field.picture, field.box, LEVELS[level], NUMBER_MARGIN_MM, density)
            found.append((prepare(cut), (field.label, field.kind, field.writer, field.group, level)))
    return by_width(found)


def render_marks(
    writers: list[Writer], count: int, seed: int, *, levels: Sequence[str] = tuple(LEVELS), jobs: int = 2
) -> tuple[Array, Array, list[tuple[str, str, str]]]:
    """`count` prepared pictures of mark boxes; what each says (0 empty, 1 marked, 2 cancelled); kind, writer, level."""
    global _crosses
    _crosses = Crosses(writers)
    size = 1000
    tasks = [(seed, i, size, tuple(levels)) for i in range(max(count // size, 1))]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        parts = list(pool.imap(_marks, tasks))
    facts = [fact for part in parts for fact in part[2]]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), facts


def _marks(task: tuple[Any, ...]) -> tuple[Array, Array, list[tuple[str, str, str]]]:
    seed, chunk, size, levels = task
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, chunk, 2])
    pictures: list[Array] = []
    says: list[int] = []
    facts: list[tuple[str, str, str]] = []
    while len(pictures) < size:
        field = mark_field(rng, _crosses)
        for _ in range(2):
            level = str(rng.choice(levels))
            density = float(rng.choice([6, rng.uniform(5, 8)]))
            cut = cut_out(rng, field.picture, (SIDE, SIDE), LEVELS[level], MARK_MARGIN_MM, density)
            pictures.append(marks.prepare(cut))
            says.append(field.says)
            facts.append((field.kind, field.writer, level))
    return np.stack(pictures), np.array(says), facts


def field_box(rng: np.random.Generator) -> tuple[float, float]:
    """The inside of a number box of the protocol form, in millimetres: four players or three, many rows or few."""
    width = float(rng.choice([7.4, 9.4, 11.5, 14.0], p=[0.55, 0.13, 0.19, 0.13]))
    height = float(rng.choice([6.2, rng.uniform(6.2, 8.6)], p=[0.6, 0.4]))
    return width + float(rng.normal(0, 0.15)), height
