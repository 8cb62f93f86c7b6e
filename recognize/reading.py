"""What comes out of a photo: every field as read and how surely, the game, the mistakes, and what to look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recognize.page import PageMap
from scoring.files import game_to_dict
from scoring.game import Game
from scoring.text import Text

FORMAT = "pulka-reading/1"

Status = Literal["clear", "review", "unreadable"]
Why = Literal["image", "rules", "person"]
State = Literal["clear", "doubtful", "empty", "struck", "unreadable"]


@dataclass(frozen=True, slots=True)
class FieldReading:
    """What is on the paper in one field: digits, "x" for a mark, "-" for a dash, "" for nothing.

    `confidence` is the calibrated probability that `value` is right; `why` says whether the picture alone, the rules as
    well, or a person's answer made it sure; `other` holds further values worth considering, the likeliest first.
    """

    value: str
    confidence: float
    state: State
    why: Why = "image"
    other: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A field that a person must look at, what it seems to be, what else it may be, and why it is asked."""

    field: str
    best: str
    other: tuple[str, ...]
    why: Text


@dataclass(frozen=True, slots=True)
class SheetInfo:
    """Which sheet this is: its form, and what its code (and the register of printed sheets) says of it.

    `id` is the short one for people, `code` the whole of what is printed on the sheet.
    """

    form: str
    version: int
    players: int
    rows: int
    convention: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    pool: int | None = None
    id: str | None = None
    event: str | None = None
    round: int | None = None
    table: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in the writing, at the field where it was made. `confidence` is the probability that it is one."""

    deal: int
    field: str
    column: str
    seat: str | None
    on: str | None
    kind: str
    written: int | None
    expected: int | str | None
    confidence: float
    message: Text


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the picture alone says of a sheet's fields, in short: enough to decide again, together with another's.

    `likely` holds the likeliest values, with their probabilities, of every field that is not surely empty; `struck` how
    probably a field was crossed out with nothing put in its place; `unseen` the fields that are not in the picture.
    """

    likely: Mapping[str, Mapping[str, float]]
    struck: Mapping[str, float]
    unseen: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One sheet read. `game` is a game record as read; `page_map` places fields in the photo, for drawing.

    `evidence` is what the picture said before anything was decided; None where no field was read.

    `notes` tell what is worth knowing and no mistake: an equivalent way of writing, a total that came right again.
    """

    source: str
    page: int
    status: Status
    reason: Text | None = None
    sheet: SheetInfo | None = None
    fields: Mapping[str, FieldReading] = field(default_factory=dict)
    game: Game | None = None
    mistakes: tuple[Mistake, ...] = ()
    played: Mapping[str, str] | None = None
    written: Mapping[str, str] | None = None
    review: tuple[Question, ...] = ()
    notes: tuple[Text, ...] = ()
    page_map: PageMap | None = None
    evidence: Evidence | None = None


def reading_json(reading: Reading, lang: str) -> dict[str, Any]:
    """The reading as the plain data of `pulka read --json`, sentences in `lang` ("ru" or "en")."""
    sheet = reading.sheet
    return {
        "format": FORMAT,
        "source": reading.source,
        "page": reading.page,
        "status": reading.status,
        "reason": reading.reason.in_(lang) if reading.reason else None,
        "sheet": None
        if sheet is None
        else {
            "form": sheet.form,
            "version": sheet.version,
            "players": sheet.players,
            "rows": sheet.rows,
            "convention": sheet.convention,
            "options": dict(sheet.options),
            "pool": sheet.pool,
            "id": sheet.id,
            "code": sheet.code,
            "event": sheet.event,
            "round": sheet.round,
            "table": sheet.table,
            "names": dict(sheet.names),
        },
        "fields": {
            name: {"value": f.value, "confidence": round(f.confidence, 6), "state": f.state, "why": f.why}
            for name, f in reading.fields.items()
        },
        "game": game_to_dict(reading.game) if reading.game is not None else None,
        "mistakes": [
            {
                "deal": m.deal,
                "field": m.field,
                "column": m.column,
                "seat": m.seat,
                "on": m.on,
                "kind": m.kind,
                "written": m.written,
                "expected": m.expected,
                "confidence": round(m.confidence, 6),
                "message": m.message.in_(lang),
            }
            for m in reading.mistakes
        ],
        "settlement": {
            "played": dict(reading.played) if reading.played is not None else None,
            "written": dict(reading.written) if reading.written is not None else None,
        },
        "notes": [note.in_(lang) for note in reading.notes],
        "review": [
            {"field": q.field, "best": q.best, "other": list(q.other), "why": q.why.in_(lang)} for q in reading.review
        ],
    }
