"""What a print order says: which form and tables, who sits where, which rules differ; each error names its place."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from desk.edge import Stop, input_data
from desk.texts import text_of
from scoring.convention import Convention, ConventionError, differing, load_convention
from scoring.text import Text, joined, seat_text
from templates import SEATS, Form, FormError, load_form

MOST_SHEETS = 2000
"""More than this in one PDF is a slip of the hand, not an order."""

MOST_TABLE = 99999
"""The highest number of a table."""

_RUSSIAN = dict(zip("АБВГ", SEATS, strict=True))

Names = dict[int, dict[str, str]]


def form_of(name: str, players: int | None, rows: int | None) -> Form:
    """The form that was named; Stop where there is none such."""
    try:
        return load_form(name, players or 0, rows)
    except FormError as error:
        raise Stop(Text(error.ru, error.en)) from error


def tables_of(text: str) -> list[int]:
    """The tables an order names, in its order: `1-12`, `1,3,5-8`; Stop where it is something else.

    >>> tables_of("1, 3, 5-7")
    [1, 3, 5, 6, 7]
    """
    tables: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,5})\s*(?:[-–—]\s*(\d{1,5})\s*)?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last:
            raise Stop(
                Text(
                    f"--tables {text}: непонятно «{part.strip()}»; пишите номера от 1 до {MOST_TABLE} так: 1-12 или "
                    "1,3,5-8",
                    f"--tables {text}: {part.strip()!r} is not clear; write numbers from 1 to {MOST_TABLE} such as "
                    "1-12 or 1,3,5-8",
                )
            )
        if last - first >= MOST_SHEETS:
            raise Stop(too_many(last - first + 1))
        tables += range(first, last + 1)
    for table in tables:
        if tables.count(table) > 1:
            raise Stop(
                Text(f"--tables {text}: стол {table} назван дважды", f"--tables {text}: table {table} is named twice")
            )
    return tables


def too_many(sheets: int) -> Text:
    """The refusal of an order that nobody can have meant."""
    return Text(
        f"листов вышло бы {sheets}, в одном PDF их не больше {MOST_SHEETS}: печатайте по частям",
        f"that would be {sheets} sheets, one PDF holds {MOST_SHEETS} at most: print them in parts",
    )


def option_of(text: str) -> Any:
    """An option's value from the words on the command line: `true` and `false` are themselves, all else stays words."""
    return {"true": True, "false": False}.get(text, text)


def rules_of(convention: str, given: Sequence[str]) -> tuple[Convention, dict[str, str]]:
    """The rules ordered: the convention with `NAME=VALUE` options, and those that differ from the preset, as words."""
    options: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise Stop(
                Text(
                    f"--option {item}: ожидается ИМЯ=ЗНАЧЕНИЕ, например whist=gentleman",
                    f"--option {item}: expected NAME=VALUE, such as whist=gentleman",
                )
            )
        name, value = name.strip(), " ".join(value.split())
        if options.setdefault(name, value) != value:
            raise Stop(
                Text(
                    f"--option {name}: указано и {options[name]}, и {value}; нужно одно",
                    f"--option {name}: both {options[name]} and {value} are given; one is needed",
                )
            )
    try:
        preset = load_convention(convention)
        rules = load_convention(convention, {name: option_of(value) for name, value in options.items()})
    except ConventionError as error:
        raise Stop(error.text) from error
    changed = differing(rules, preset)
    return rules, {name: value for name, value in options.items() if name in changed}


def names_from(path: Path, seats: str) -> Names:
    """The players by table and seat, from a file of lines `table;seat;name` or `table;name;name;…`.

    Commas, semicolons or tabs; UTF-8, UTF-16 or the Windows code page for Russian; with or without a heading. Seats are
    letters, all of them Latin or all of them Russian. Stop names the line that is wrong.
    """
    rows = _rows(path)
    if rows and not rows[0][1][0].isdigit():
        heading, rows = rows[0], rows[1:]
    else:
        heading = None
    if not rows:
        raise Stop(
            Text(
                f"{path.name}: в файле нет ни одной строки с именами; строка такая: 5;А;Иванов или 5;Иванов;Петров;…",
                f"{path.name}: no line with names in it; they look like this: 5;A;Ivanov or 5;Ivanov;Petrov;…",
            )
        )
    if heading is not None:
        order = _order_of(path.name, *heading, seats)
    else:
        order = ["table", "seat", "name"] if _is_list(rows) else ["table", *seats]
    at = order.index("seat") if "seat" in order else None
    letters = _letters([row[at] for _, row in rows if len(row) > at] if at is not None else [])
    names: Names = {}
    for line, row in rows:
        _take(names, path.name, line, row, order, letters, seats)
    return names


def seating_remarks(path: Path, tables: Sequence[int], names: Names, seats: str) -> list[Text]:
    """What is odd about who sits where, a line each: tables and seats without a name, and one name in two places."""
    said = []
    if nameless := [table for table in tables if not names.get(table)]:
        listed = ", ".join(map(str, nameless))
        one = len(nameless) == 1
        said.append(
            Text(
                f"нет имён для {'стола' if one else 'столов'} {listed}",
                f"no names for {'table' if one else 'tables'} {listed}",
            )
        )
    seated = [(table, seat) for table in tables if names.get(table) for seat in seats]
    if empty := [_place(*where) for where in seated if where[1] not in names[where[0]]]:
        said.append(Text("места без имени: ", "seats without a name: ") + joined(empty))
    places: dict[str, list[tuple[int, str]]] = {}
    for table, seat in seated:
        if seat in names[table]:
            places.setdefault(names[table][seat].casefold(), []).append((table, seat))
    for where in places.values():
        if len(where) > 1:
            table, seat = where[0]
            name = names[table][seat]
            twice = Text(f"{name} не на одном месте: ", f"{name} has more than one seat: ")
            said.append(twice + joined([_place(*one) for one in where]))
    return [Text(f"{path.name}: ", f"{path.name}: ") + text for text in said]


def _place(table: int, seat: str) -> Text:
    letter = seat_text(seat)
    return Text(f"стол {table}, место {letter.ru}", f"table {table}, seat {letter.en}")


def places_of(name: str, names: Names) -> Text:
    """Where everybody of this name sits."""
    where = [(table, seat) for table, seated in names.items() for seat, known in seated.items() if known == name]
    return joined([_place(*one) for one in where])


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of the file that hold anything, each with its number."""
    text = text_of(input_data(str(path)), path.name)
    delimiter = max(";\t,", key=text.count)
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row]
            if any(cells):
                rows.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        # All that a strict reader minds is a quotation mark in the wrong place, or none where one is due.
        raise Stop(
            _at(path.name, start, "кавычки не на месте или не закрыты", "quotation marks out of place or not closed")
        ) from error
    return rows


_HEADINGS = {
    "table": ("table", "стол"),
    "seat": ("seat", "место"),
    "name": ("name", "player", "имя", "игрок", "фамилия"),
}


def _order_of(name: str, line: int, heading: list[str], seats: str) -> list[str]:
    """What each column of a file with a heading holds."""
    cells = [cell for cell in heading if cell]
    letters = _letters([cell for cell in cells if len(cell) == 1])
    order = []
    for cell in cells:
        word = cell.lower().strip("№. ")
        known = next((column for column, words in _HEADINGS.items() if word in words), None)
        order.append(known or letters.get(cell.upper(), cell))
    if set(order) in ({"table", "seat", "name"}, {"table", *seats}) and len(order) == len(set(order)):
        return order
    wide = ";".join(seats)
    raise Stop(
        _at(
            name,
            line,
            f"непонятный заголовок «{';'.join(cells)}»; ожидается стол;место;имя или стол;"
            + ";".join(_letters_ru(seats)),
            f"the heading {';'.join(cells)!r} is not clear; expected table;seat;name or table;{wide}",
        )
    )


def _letters_ru(seats: str) -> list[str]:
    return [seat_text(seat).ru for seat in seats]


def _is_list(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether lines without a heading are `table;seat;name`: the second cells of most are letters."""
    return 2 * sum(len(row) > 1 and row[1].upper() in {*SEATS, *_RUSSIAN} for _, row in rows) >= len(rows)


def _letters(used: Sequence[str]) -> Mapping[str, str]:
    """Which seat a letter means: А Б В Г where all the seats in the file are Russian letters, else A B C D."""
    known = {letter.upper() for letter in used} & {*SEATS, *_RUSSIAN}
    return _RUSSIAN if known and known <= set(_RUSSIAN) else {seat: seat for seat in SEATS}


def _take(
    names: Names, name: str, line: int, row: list[str], order: list[str], letters: Mapping[str, str], seats: str
) -> None:
    """One line of the file."""
    width = len(order)
    if len(row) < width or any(row[width:]):
        raise Stop(
            _at(
                name,
                line,
                f"граф {len(row)}, ожидается {width}: {';'.join(_in_russian(order))}",
                f"{len(row)} columns, expected {width}: {';'.join(order)}",
            )
        )
    cells = dict(zip(order, row, strict=False))
    if not cells["table"].isdecimal() or not 1 <= int(cells["table"]) <= MOST_TABLE:
        raise Stop(
            _at(
                name,
                line,
                f"стол «{cells['table']}»: ожидается номер стола от 1 до {MOST_TABLE}",
                f"table {cells['table']!r}: expected the number of a table from 1 to {MOST_TABLE}",
            )
        )
    table = int(cells["table"])
    if "seat" not in order:
        if table in names:
            raise Stop(_at(name, line, f"стол {table} назван второй раз", f"table {table} is named a second time"))
        names[table] = {seat: cells[seat] for seat in seats if cells[seat]}
        return
    seat = letters.get(cells["seat"].upper(), "")
    if seat not in seats or not seat:
        ru, en = " ".join(_letters_ru(seats)), " ".join(seats)
        raise Stop(
            _at(
                name,
                line,
                f"место «{cells['seat']}»: ожидается одно из {ru} (по всему файлу русские буквы или {en} латиницей)",
                f"seat {cells['seat']!r}: expected one of {en} (Latin throughout the file, or {ru} in Russian letters)",
            )
        )
    seated = names.setdefault(table, {})
    if seat in seated:
        letter = seat_text(seat)
        raise Stop(
            _at(
                name,
                line,
                f"стол {table}, место {letter.ru} уже занято: {seated[seat]}",
                f"table {table}, seat {letter.en} is taken already: {seated[seat]}",
            )
        )
    if not cells["name"]:
        raise Stop(_at(name, line, "нет имени", "the name is missing"))
    seated[seat] = cells["name"]


def _in_russian(order: list[str]) -> list[str]:
    words = {"table": "стол", "seat": "место", "name": "имя"}
    return [words.get(column) or seat_text(column).ru for column in order]


def _at(name: str, line: int, ru: str, en: str) -> Text:
    return Text(f"{name}, строка {line}: {ru}", f"{name}, line {line}: {en}")
