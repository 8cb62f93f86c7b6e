"""The list of printed sheets on this machine: what it knows of them, and what is wrong with it."""

import json
from collections.abc import Mapping

from desk.edge import in_file
from scoring.text import Text, system_text
from sheets import Entry, printed, register_path
from templates import decode


def register() -> Mapping[int, Entry]:
    """The printed sheets by their numbers; empty where the list cannot be read."""
    try:
        return printed()
    except OSError:
        return {}


def damage() -> Text | None:
    """What is wrong with the list of printed sheets, in one line with its path; None where nothing is."""
    path = register_path()
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return None
    except OSError as error:
        said = Text("список напечатанных листов не открывается (", "the list of printed sheets cannot be opened (")
        said += system_text(error) + Text("): имена и турнир неизвестны", "): names and events are unknown")
        return in_file(str(path), said)
    bad = [number for number, line in enumerate(lines, 1) if line.strip() and not _is_entry(line)]
    if not bad:
        return None
    first = Text(f"начиная со строки {bad[0]}", f"the first is line {bad[0]}")
    said = Text(
        f"в списке напечатанных листов испорчено строк: {len(bad)} из {len(lines)} ({first.ru}); имена и турнир этих "
        "листов неизвестны: поправьте файл в текстовом редакторе, верните копию или уберите его",
        f"lines of the list of printed sheets that are damaged: {len(bad)} of {len(lines)} ({first.en}); names and "
        "events of these sheets are unknown: put it right in a text editor, restore a copy, or move it away",
    )
    return in_file(str(path), said)


def _is_entry(line: bytes) -> bool:
    try:
        kept = json.loads(line)
        decode(str(kept["code"]))
        return isinstance(kept["names"], dict) and {"event", "convention_title", "options_in_words"} <= kept.keys()
    except (ValueError, KeyError, TypeError, AttributeError):  # a code that is none is a ValueError too
        return False
