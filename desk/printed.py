"""The list of printed sheets on this machine: what it knows of them, and what is wrong with it."""

from collections.abc import Mapping

from desk.edge import in_file
from scoring.text import Text, system_text
from sheets import Entry, damaged, printed, register_path


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
        bad, count = damaged()
    except OSError as error:
        said = Text("список напечатанных листов не открывается (", "the list of printed sheets cannot be opened (")
        said += system_text(error) + Text("): имена и турнир неизвестны", "): names and events are unknown")
        return in_file(str(path), said)
    if not bad:
        return None
    first = Text(f"начиная со строки {bad[0]}", f"the first is line {bad[0]}")
    said = Text(
        f"в списке напечатанных листов испорчено строк: {len(bad)} из {count} ({first.ru}); имена и турнир этих "
        "листов неизвестны: поправьте файл в текстовом редакторе, верните копию или уберите его",
        f"lines of the list of printed sheets that are damaged: {len(bad)} of {count} ({first.en}); names and "
        "events of these sheets are unknown: put it right in a text editor, restore a copy, or move it away",
    )
    return in_file(str(path), said)
