"""The frozen objects a form is made of. All lengths are millimetres from the page's top left corner, y down."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

SEATS = "ABCD"
"""The seats, clockwise; printed as А Б В Г on Russian sheets."""

FieldKind = Literal["mark", "number", "text"]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle on the page, in millimetres."""

    x: float
    y: float
    w: float
    h: float

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the box, (x, y) in millimetres."""
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """The four corners clockwise from the top left, in millimetres."""
        x1, y1 = self.x + self.w, self.y + self.h
        return (self.x, self.y), (x1, self.y), (x1, y1), (self.x, y1)

    def inset(self, by: float) -> "Box":
        """The box drawn in by `by` millimetres on every side (drawn out where negative)."""
        return Box(self.x + by, self.y + by, self.w - 2 * by, self.h - 2 * by)


MARK_STEP = 83
"""How many of the dictionary's thousand ids each of the twelve places has."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A square page mark (ArUco). Its id tells its place on the page, and a value: a part of the sheet's number."""

    place: int
    box: Box

    def id(self, value: int) -> int:
        """The id in the form's dictionary of the mark at this place with a value (0 to 63)."""
        return MARK_STEP * self.place + value


@dataclass(frozen=True, slots=True)
class Field:
    """A place where a person writes: the inside of the box.

    `seat` and `on` name players ("whists of seat on on"); `deal` 0 is the carry-over row and None a field of the
    whole sheet; `turn` is how many degrees clockwise the writing in it is turned.
    """

    id: str
    kind: FieldKind
    deal: int | None
    column: str
    seat: str | None
    on: str | None
    choice: str | None
    box: Box
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A printed line: horizontal at height `at` or vertical at `at` from the left, from `start` to `stop`.

    `role` is `frame` (the thick outside), `heavy` (between groups, and every few rows) or `light`.
    """

    horizontal: bool
    at: float
    start: float
    stop: float
    width: float
    role: Literal["frame", "heavy", "light"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for printed words; what they say in which language is the business of `sheets`.

    `id` is `title`, `place`, `rules`, `options`, `hint`, `code`, `signatures`; `head.<column>`; `name.<seat>` and
    `result.<seat>` (the seat's letter); `sub.<column>.<seat or choice>[.<on>]`; `number.<deal>` or `dealer.<deal>`.
    """

    id: str
    box: Box


@dataclass(frozen=True)
class Form:
    """A form: everything that is printed on it and everything that may be written into it.

    `codes` are the boxes of the square identity codes; `frame` is the middle of the line round the table.
    """

    name: str
    version: int
    players: int
    rows: int
    page: tuple[float, float]
    dictionary: str
    markers: tuple[Marker, ...]
    codes: tuple[Box, ...]
    frame: Box
    rules: tuple[Rule, ...]
    fields: tuple[Field, ...]
    slots: tuple[Slot, ...]

    @property
    def seats(self) -> str:
        """The seats in play, such as "ABC"."""
        return SEATS[: self.players]

    @cached_property
    def by_id(self) -> dict[str, Field]:
        """Every field by its id."""
        return {field.id: field for field in self.fields}

    @cached_property
    def slot(self) -> dict[str, Box]:
        """The box of every place for printed words, by its id."""
        return {slot.id: slot.box for slot in self.slots}

    def dealer(self, deal: int) -> str:
        """The seat that deals in `deal` (1 is the first): A has the first lead in the first deal, then it rotates."""
        return self.seats[(deal - 2) % self.players]
