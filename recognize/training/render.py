"""Fields by the hundred thousand, composed or from filled sheets, prepared as for the reader, on all cores."""

import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import cv2
import numpy as np

from recognize import marks
from recognize.cells import MARK_MARGIN_MM, NUMBER_MARGIN_MM
from recognize.digits import prepare
from recognize.simulation.hand import Writer as Hand
from recognize.training.camera import LEVELS, cut_out
from recognize.training.characters import Array, Writer
from recognize.training.fields import Library, number_field
from recognize.training.filled import numbers_to_learn
from recognize.training.mark_fields import SIDE, Crosses, mark_field
from recognize.training.pictures import Fact, Fields, by_width, joined

_library: Library
_people: Sequence[Hand]
_crosses: Crosses


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


def from_sheets(people: Sequence[Hand], fill: Callable[..., Any], sheets: int, seed: int, jobs: int = 2) -> list[Any]:
    """What `fill` (see `filled`) takes from each of so many sheets that such people fill in."""
    global _people
    _people = people
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return pool.starmap(_sheet, [(fill, seed, sheet) for sheet in range(sheets)], chunksize=1)


def stream_numbers(
    writers: list[Writer], people: Sequence[Hand], chunk: int, sheets: int, seed: int, first: int = 0
) -> Iterator[Fields]:
    """Without end from number `first` on: `chunk` composed fields and those of so many sheets, made by the way."""
    global _library, _people
    _library, _people = Library(writers), people
    with multiprocessing.get_context("fork").Pool(1) as pool:

        def begin(i: int) -> Any:
            composed = (seed, 1_000_000 + i, chunk, tuple(LEVELS), 2, None, True)
            return pool.apply_async(_mixed, (composed, range(i * sheets, (i + 1) * sheets)))

        coming = begin(first)
        for i in itertools.count(first + 1):
            ready = coming.get()
            coming = begin(i)
            yield ready


def _mixed(composed: tuple[Any, ...], sheets: Iterable[int]) -> Fields:
    return joined([_numbers(composed), *(_sheet(numbers_to_learn, composed[0], sheet) for sheet in sheets)])


def _sheet(fill: Callable[..., Any], seed: int, sheet: int) -> Any:
    cv2.setNumThreads(1)
    return fill(_people, seed, sheet)


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
