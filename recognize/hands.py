"""The hand of each player as one sheet shows it: which of his figures are read as others.

The number reader knows people in general. On a sheet the rules tell what most boxes of a player hold, whatever they are
read as: where his 1 is taken for a 2 in box after box, his next 2 may be a 1 as well, and the rules may decide which.
What a person answered tells it best of all. A box says nothing of itself, nor of any other in its row or its column: a
deal taken for another, or a slip carried on from total to total, makes several of them look like one way of writing,
each by the others. Only boxes elsewhere speak for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from recognize.ink import Ink
from recognize.reading import FieldReading
from templates import Field, Form

ASSUMED = 2.0
"""So many figures read right are taken as seen of everybody's every figure beforehand."""

BEYOND_DOUBT = 0.99999
"""A field surer than this need not be read once more."""

UNUSUAL = 0.01
"""A value less likely than this is one that only a hand unlike most would write so: the more of the figure's usual kind
are seen in the other boxes, the less is left of it."""

Taken = tuple[str, str]
"""A figure as it was written and as it was read: one, or two where it fell apart; a dash may be read as a number."""

_Seen = dict[Taken, float]
"""How often each figure was read as each."""

_Line = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Hand:
    """How often each figure was read as each, in all boxes of a hand that may speak for the one in question."""

    taken: Mapping[Taken, float]
    written: Mapping[str, float]

    def chance(self, written: str, read: str) -> float:
        """P(a text is read so | it was written so), as far as the sheet shows habits of this hand."""
        out = 1.0
        for pair in _pairs(written, read):
            own = ASSUMED if pair[0] == pair[1] else 0.0
            out *= (own + self.taken.get(pair, 0.0)) / (ASSUMED + self.written.get(pair[0], 0.0))
        return out

    def usual(self, written: str, read: str) -> float:
        """What is left of the chance that a text was written which is read as quite another of the same length."""
        out = 1.0
        if len(written) == len(read):
            for a, b in zip(written, read, strict=True):
                if a != b:
                    out /= 1 + self.taken.get((a, a), 0.0)
        return out


def by_hand(form: Form, ink: Mapping[str, Ink], fields: Mapping[str, FieldReading]) -> dict[str, Ink]:
    """The ink of the fields that read otherwise once the habits of their writers are known.

    `fields` are what the rules made of `ink`; what was read in a field's own row and column is not counted for it.
    """
    boxes: dict[str, list[Field]] = defaultdict(list)
    for field in form.fields:
        if field.kind == "number" and field.id in ink and ink[field.id].exact is not None:
            boxes[_writer(field)].append(field)
    out = {}
    for of_writer in boxes.values():
        seen: dict[str, _Seen] = {}
        taken: _Seen = defaultdict(float)
        on: dict[_Line, _Seen] = defaultdict(lambda: defaultdict(float))
        for field in of_writer:
            seen[field.id] = dict(_seen(ink[field.id].under or ink[field.id], fields[field.id]))
            for total in (taken, *(on[line] for line in _lines(field))):
                for pair, weight in seen[field.id].items():
                    total[pair] += weight
        for field in of_writer:
            if fields[field.id].confidence <= BEYOND_DOUBT:
                row, column = (on[line] for line in _lines(field))
                read = _read_by(_without(taken, row, column, seen[field.id]), ink[field.id])
                if read is not None:
                    out[field.id] = read
    return out


def _writer(field: Field) -> str:
    """Whose hand: every player writes his own totals, one of them the tricks of all."""
    return field.seat or "" if field.column != "tricks" else ""


def _lines(field: Field) -> tuple[_Line, _Line]:
    """Its row and its column, along which one mistake changes several totals; a trick count stands for itself."""
    if field.column == "tricks":
        return (field.id, "row", None), (field.id, "column", None)
    return (str(field.deal),), (field.column, field.seat, field.on)


@lru_cache(maxsize=1 << 12)
def _pairs(written: str, read: str) -> list[Taken]:
    """Figure by figure; where one more was read than written, the one was taken for two that leaves the rest alike."""
    if len(written) == len(read):
        return list(zip(written, read, strict=True))
    if len(written) + 1 != len(read) or written == "-":
        return [(written, read)]
    ways = []
    for at, figure in enumerate(written):
        before, after = zip(written[:at], read[:at], strict=True), zip(written[at + 1 :], read[at + 2 :], strict=True)
        ways.append([*before, (figure, read[at : at + 2]), *after])
    return max(ways, key=lambda way: sum(a == b for a, b in way))


def _seen(ink: Ink, field: FieldReading) -> Iterator[tuple[Taken, float]]:
    """What one box says of its writer's figures: as probable as what it holds, and as clear as it was read."""
    read = max((value for value in ink.likely if value), key=ink.likely.__getitem__, default="")
    total: dict[Taken, float] = defaultdict(float)
    for value, share in {field.value: field.confidence, **dict(field.other)}.items():
        if value == "" or (len(read) - len(value) not in (0, 1) and value != "-"):
            continue
        clear = max(ink.likely.get(read, 0.0) - ink.likely.get(value, 0.0), 0.0)
        for pair in _pairs(value, read):
            total[pair] += share * (1.0 if pair[0] == pair[1] else clear)
    yield from total.items()


def _without(taken: _Seen, row: _Seen, column: _Seen, own: _Seen) -> _Hand:
    """The hand as all boxes show it but those of one box's row and column, in both of which it stands itself."""
    rest = {
        pair: max(seen - row.get(pair, 0.0) - column.get(pair, 0.0) + own.get(pair, 0.0), 0.0)
        for pair, seen in taken.items()
    }
    written: dict[str, float] = defaultdict(float)
    for (figure, _), seen in rest.items():
        written[figure] += seen
    return _Hand(rest, written)


def _read_by(hand: _Hand, ink: Ink) -> Ink | None:
    """The ink as it reads in that hand; None where it reads the same."""
    exact = ink.exact
    if exact is None or ink.gross == 0.0:
        return None
    best = ink.best
    if best in ("", "-"):
        return None

    def chance(value: str) -> float:
        own = ink.likely.get(value)
        if own is None:
            own = exact(value)
        if value == "":
            return own
        if own < UNUSUAL:
            own *= hand.usual(value, best)
        taken = (s * hand.chance(value, read) for read, s in ink.likely.items() if read and read != value)
        return own * hand.chance(value, value) + sum(taken)

    shares = {value: chance(value) for value in ink.likely}
    total = max(sum(shares.values()), 1.0)
    return Ink({v: share / total for v, share in shares.items()}, lambda value: chance(value) / total, ink.gross)
