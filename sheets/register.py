"""The register of printed sheets: what does not fit in a sheet's code is found again by the code."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from platformdirs import user_data_dir

from sheets.sheet import Sheet
from templates import Identity, IdentityError, decode, encode


@dataclass(frozen=True, slots=True)
class Entry:
    """A printed sheet as the register remembers it; `printed` is the time in UTC, ISO 8601."""

    code: str
    event: str
    names: Mapping[str, str]
    convention_title: str
    options_in_words: tuple[str, ...]
    printed: str


def register_path() -> Path:
    """Where the register is: `sheets.jsonl` in $PULKA_HOME, or in the user's data folder for pulka."""
    return Path(os.environ.get("PULKA_HOME") or user_data_dir("pulka", appauthor=False)) / "sheets.jsonl"


def remember(sheets: Sequence[Sheet]) -> None:
    """Add the sheets to the register. Raises OSError where it cannot be written; what was in it stays.

    All lines go out in one write at the end of the file, so that programs printing at the same time do not mix theirs.
    """
    printed = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [
        json.dumps(
            {
                "code": encode(sheet.identity),
                "event": sheet.event,
                "names": dict(sheet.names),
                "convention_title": sheet.convention_title,
                "options_in_words": sheet.options_in_words,
                "printed": printed,
            },
            ensure_ascii=False,
        )
        for sheet in sheets
    ]
    path = register_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(line + "\n" for line in lines).encode()
    with path.open("ab+", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a line torn by a crash must not swallow ours
                data = b"\n" + data
        if file.write(data) != len(data):
            raise OSError(f"no room to write the register of sheets: {path}")
        os.fsync(file.fileno())


def look_up(identity: Identity) -> Entry | None:
    """What the register knows of a sheet, the newest where it was printed again; None for one printed elsewhere.

    Lines that are torn or not the register's are passed over. Raises OSError where the register cannot be read.
    """
    code = encode(identity)
    for line in reversed(_lines()):
        if code.encode() in line and (entry := _entry(line)) and entry.code == code:
            return entry
    return None


def printed() -> dict[int, Entry]:
    """Every sheet in the register by its number, for when only the number can still be read.

    Raises OSError where the register cannot be read.
    """
    return {serial: entry for serial, entry in map(_numbered, _lines()) if entry is not None and serial is not None}


def damaged() -> tuple[list[int], int]:
    """The lines of the register that hold no sheet, counted from 1, and how many lines it has.

    Raises OSError where the register cannot be read.
    """
    lines = _lines()
    return [at for at, line in enumerate(lines, 1) if line.strip() and _numbered(line)[0] is None], len(lines)


def _numbered(line: bytes) -> tuple[int | None, Entry | None]:
    """A sheet with its number; nothing where the line holds none, or its code is none."""
    entry = _entry(line)
    try:
        return (decode(entry.code).serial, entry) if entry is not None else (None, None)
    except IdentityError:
        return None, None


def _lines() -> list[bytes]:
    try:
        return register_path().read_bytes().splitlines()
    except FileNotFoundError:
        return []


def _entry(line: bytes) -> Entry | None:
    try:
        kept = json.loads(line)
        return Entry(
            code=str(kept["code"]),
            event=str(kept["event"]),
            names={str(seat): str(name) for seat, name in kept["names"].items()},
            convention_title=str(kept["convention_title"]),
            options_in_words=tuple(str(option) for option in kept["options_in_words"]),
            printed=str(kept["printed"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
