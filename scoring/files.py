"""Game records as JSON and CSV, in and out without loss.

An error names the line, the deal and the seat, what stands there and what is expected; all errors of a file come
together.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from scoring.convention import Convention, ConventionError, Number, convention_from_table, whole
from scoring.game import COLUMNS, CONTRACTS, DEFENCES, SEATS, TRUMPS, Cell, Deal, Game, Totals, Written, cells_of
from scoring.text import Text, figure, seat_text, system_text

FORMAT = "pulka-game/1"

MOST_WRITTEN = 9999
"""What a box on a sheet holds at most."""

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file: where (line, deal, seat, as far as they are known) and what."""

    message: Text
    line: int | None = None
    deal: int | None = None
    seat: str | None = None

    @property
    def text(self) -> Text:
        """The whole line: the place, then the message."""
        ru, en = [], []
        if self.line is not None:
            ru.append(f"строка {self.line}")
            en.append(f"line {self.line}")
        if self.deal is not None:
            ru.append(f"сдача {self.deal}")
            en.append(f"deal {self.deal}")
        if self.seat is not None:
            ru.append(f"место {seat_text(self.seat).ru}")
            en.append(f"seat {self.seat}")
        place = Text(", ".join(ru) + ": ", ", ".join(en) + ": ") if ru else Text("", "")
        return place + self.message


class RecordError(ValueError):
    """Raised when a file is not the game record it should be; ``problems`` holds everything that is wrong with it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Keep the problems."""
        super().__init__("; ".join(problem.text.en for problem in problems))
        self.problems = problems


def read_game(path: Path) -> Game:
    """The game record in a ``.json`` or ``.csv`` file; RecordError where it cannot be had."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        said = Text("файл не открывается: ", "the file cannot be opened: ") + system_text(error)
        raise RecordError((Problem(said),)) from error
    except UnicodeDecodeError as error:
        raise _single("это не текст в UTF-8", "this is not UTF-8 text") from error
    if not text.strip():
        raise _single("файл пуст; ожидается запись игры", "the file is empty; expected a game record")
    return game_from_csv(text) if path.suffix.lower() == ".csv" else game_from_json(text)


def write_game(game: Game, path: Path) -> None:
    """Write a game record as ``.json`` or ``.csv``, by the name of the file."""
    text = game_to_csv(game) if path.suffix.lower() == ".csv" else game_to_json(game)
    path.write_text(text, encoding="utf-8", newline="")


def read_convention(path: Path) -> Convention:
    """A table's own convention: a TOML with ``base`` (a preset) and ``options``; else ConventionError."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise ConventionError(
            Text(f"{path.name}: файл не открывается", f"{path.name}: the file cannot be opened")
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        at = (f": строка {found[1]}, знак {found[2]}", f": line {found[1]}, column {found[2]}") if found else ("", "")
        said = Text(f"{path.name}: это не TOML", f"{path.name}: this is not TOML") + Text(*at)
        raise ConventionError(said) from error
    return convention_from_table(table, path.stem)


def _single(ru: str, en: str, line: int | None = None) -> RecordError:
    return RecordError((Problem(Text(ru, en), line),))


# --- JSON ------------------------------------------------------------------------------------------------------------


def game_from_json(text: str) -> Game:
    """A game record from JSON text; RecordError with every problem, each with its line."""
    data = json_in(text)
    lines, repeated = lines_in(text)
    reader = _Reader(lines)
    for path in repeated:
        reader.say(path, f"«{path[-1]}» встречается дважды", f"{path[-1]!r} occurs twice")
    return reader.finish(data)


def json_in(text: str) -> Any:
    """The data of a JSON text, decimals exact; RecordError, with the line, where it is none."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split()
        shown = rest[0][:12] if rest else ""
        if not rest:
            said = Text("текст обрывается", "the text breaks off")
        elif shown[0] in "“”„«»‘’'":
            said = Text(
                f"у «{shown}» не те кавычки, нужны прямые двойные", f"{shown!r} needs straight double quotation marks"
            )
        elif error.msg.startswith("Illegal trailing comma") or (
            shown[0] in "]}" and text[: error.pos].rstrip().endswith(",")
        ):
            said = Text("лишняя запятая перед закрывающей скобкой", "a comma too many before the closing bracket")
        elif error.msg == "Expecting ',' delimiter":
            said = Text(
                f"перед «{shown}» нет запятой или закрывающей скобки",
                f"a comma or a bracket is missing before {shown!r}",
            )
        else:
            said = Text(f"непонятно «{shown}»", f"{shown!r} is not expected")
        raise _single(
            f"это не JSON: {said.ru} (знак {error.colno})",
            f"this is not JSON: {said.en} (column {error.colno})",
            error.lineno,
        ) from None
    except RecursionError:
        raise _single(
            "это не JSON: скобки вложены без конца", "this is not JSON: brackets nested without end"
        ) from None
    except (ValueError, ArithmeticError):
        raise _single("это не JSON: таких чисел не бывает", "this is not JSON: a number in it is none") from None


def game_from_dict(data: Any) -> Game:
    """A game record from a dict as JSON would give it; RecordError with every problem."""
    return _Reader({}).finish(data)


def game_to_json(game: Game) -> str:
    """A game record as JSON text, one deal and one written entry a line."""
    data = game_to_dict(game)
    parts = []
    for key, value in data.items():
        if key in ("deals", "written"):
            items = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value)
            parts.append(f" {json.dumps(key)}: [\n{items}]" if items else f" {json.dumps(key)}: []")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def game_to_dict(game: Game) -> dict[str, Any]:
    """A game record as a dict of plain values, as JSON holds it."""
    data: dict[str, Any] = {"format": FORMAT, "convention": game.convention}
    if game.options:
        data["options"] = _plain(game.options)
    data["pool"] = game.pool
    data["players"] = dict(game.players)
    if game.raspasy_run:
        data["raspasy_run"] = game.raspasy_run
    if game.start is not None:
        data["start"] = totals_to_dict(game.start)
    if game.totals is not None:
        data["totals"] = totals_to_dict(game.totals)
    else:
        data["deals"] = [_deal_to_dict(deal) for deal in game.deals]
    if game.written:
        data["written"] = [
            {"deal": w.deal, "column": w.column, "seat": w.seat} | ({"on": w.on} if w.on else {}) | {"value": w.value}
            for w in game.written
        ]
    if game.result is not None:
        data["result"] = {seat: _number_out(value) for seat, value in game.result.items()}
    return data


def totals_to_dict(totals: Totals, out: Any = None) -> dict[str, Any]:
    """Totals by seat, as a record and a result hold them; ``out`` turns each figure into what is written."""
    out = out or _number_out
    return {
        s: {
            "pool": out(totals.pool[s]),
            "mountain": out(totals.mountain[s]),
            "whists": {o: out(v) for o, v in totals.whists[s].items()},
        }
        for s in totals.seats
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return figure(value) if isinstance(value, Fraction) else value


def _number_out(value: Number) -> int | str:
    return value if isinstance(value, int) else figure(value)


def _deal_to_dict(deal: Deal) -> dict[str, Any]:
    data: dict[str, Any] = {"deal": deal.deal}
    for name in ("dealer", "declarer", "contract", "trump"):
        if getattr(deal, name) is not None:
            data[name] = getattr(deal, name)
    if deal.defence:
        data["defence"] = dict(deal.defence)
    if deal.tricks:
        data["tricks"] = dict(deal.tricks)
    if deal.open is not None:
        data["open"] = deal.open
    if deal.multiplier != 1:
        data["multiplier"] = deal.multiplier
    for name in ("dark", "without_talon", "totus"):
        if getattr(deal, name):
            data[name] = True
    if deal.conceded:
        data["conceded"] = deal.conceded
    if deal.talon_units:
        data["talon_units"] = _number_out(deal.talon_units)
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def lines_in(text: str) -> tuple[dict[Path_, int], list[Path_]]:
    """The line of every value of a valid JSON text, by its path, and the paths that occur twice."""
    lines: dict[Path_, int] = {}
    repeated: list[Path_] = []
    path: list[str | int] = []
    inside: list[str] = []
    key = False
    line, last = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", last, token.start())
        last = token.start()
        word = token.group()
        if word in "}]":
            inside.pop()
            path.pop()
            key = False  # where the braces are empty none came
            continue
        if word == ",":
            if inside[-1] == "[":
                path[-1] = int(path[-1]) + 1
            else:
                key = True
            continue
        if word == ":":
            continue
        if key:
            path[-1] = json.loads(word)
            key = False
            if tuple(path) in lines:
                repeated.append(tuple(path))
            lines[tuple(path)] = line
            continue
        lines.setdefault(tuple(path), line)
        if word in "{[":
            inside.append(word)
            path.append(0)
            key = word == "{"
            if key:
                path[-1] = ""
    return lines, repeated


class _Reader:
    """Turns plain data into a record, gathering every problem on the way."""

    def __init__(self, lines: Mapping[Path_, int]) -> None:
        self.lines = lines
        self.problems: list[Problem] = []
        self.deal: int | None = None

    def finish(self, data: Any) -> Game:
        game = self.game(data)
        if self.problems or game is None:
            raise RecordError(tuple(self.problems))
        return game

    def say(self, path: Path_, ru: str, en: str, seat: str | None = None) -> None:
        line = None
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                line = self.lines[path[:length]]
                break
        self.problems.append(Problem(Text(ru, en), line, self.deal, seat))

    def wrong(self, path: Path_, value: Any, ru: str, en: str, seat: str | None = None) -> None:
        name = ".".join(str(p) for p in path if isinstance(p, str))
        self.say(
            path,
            f"{name or 'запись'}: стоит {_quoted(value)}, ожидается {ru}",
            f"{name or 'record'}: found {_quoted(value)}, expected {en}",
            seat,
        )

    def table(self, data: Any, path: Path_) -> dict[str, Any]:
        if isinstance(data, Mapping):
            return dict(data)
        self.wrong(path, data, "имена и значения в скобках {…}", "names and values in braces {…}")
        return {}

    def items(self, data: Any, path: Path_) -> list[Any]:
        if isinstance(data, list | tuple):
            return list(data)
        self.wrong(path, data, "список […]", "a list […]")
        return []

    def integer(self, value: Any, path: Path_, seat: str | None = None) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.wrong(path, value, "целое число", "a whole number", seat)
        return 0

    def total(self, value: Any, path: Path_, seat: str) -> int:
        """What stands in a box; by some conventions a mountain or a pool can go below zero."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_WRITTEN:
            return value
        self.wrong(
            path,
            value,
            f"целое число не больше {MOST_WRITTEN}",
            f"a whole number up to {MOST_WRITTEN}",
            seat,
        )
        return 0

    def number(self, value: Any, path: Path_, seat: str | None = None) -> Number:
        if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}(/[1-9]\d{0,8})?", value):
            return whole(Fraction(value))
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
            return value
        self.wrong(
            path,
            value,
            'целое число или дробь в кавычках, например "15/2"',
            'a whole number or a fraction such as "15/2"',
            seat,
        )
        return 0

    def truth(self, value: Any, path: Path_) -> bool:
        if isinstance(value, bool):
            return value
        self.wrong(path, value, "true или false", "true or false")
        return False

    def choice(self, value: Any, path: Path_, known: tuple[str, ...], seat: str | None = None) -> str:
        if isinstance(value, str) and value in known:
            return value
        if not isinstance(value, str) and str(value) in known:
            self.wrong(path, value, f'"{value}" в кавычках', f'"{value}" in quotation marks', seat)
        else:
            letter = _russian_letter(value) if known == SEATS else Text("", "")
            self.wrong(path, value, " ".join(known) + letter.ru, " ".join(known) + letter.en, seat)
        return known[0]

    def unknown(self, data: Mapping[str, Any], known: tuple[str, ...], path: Path_) -> None:
        for key in data:
            if key not in known:
                self.say(
                    (*path, key),
                    f"лишнее «{key}»; здесь бывают: {', '.join(known)}",
                    f"unexpected {key!r}; known here: {', '.join(known)}",
                )

    def by_seat(self, data: Any, path: Path_, read: Any) -> dict[str, Any]:
        found = {}
        for seat, value in self.table(data, path).items():
            if seat not in SEATS:
                letter = _russian_letter(seat)
                self.say(
                    (*path, seat),
                    f"{path[-1]}: нет места {_quoted(seat)}; места: {' '.join(SEATS)}{letter.ru}",
                    f"{path[-1]}: no seat {_quoted(seat)}; seats are {' '.join(SEATS)}{letter.en}",
                )
                continue
            found[seat] = read(value, (*path, seat), seat)
        return found

    def game(self, data: Any) -> Game | None:
        if not isinstance(data, Mapping):
            self.wrong((), data, f"запись игры {FORMAT}", f"a game record {FORMAT}")
            return None
        if data.get("format") != FORMAT:
            self.wrong(("format",), data.get("format"), f'"{FORMAT}"', f'"{FORMAT}"')
            return None
        self.unknown(
            data,
            (
                "format",
                "convention",
                "options",
                "pool",
                "players",
                "start",
                "deals",
                "written",
                "totals",
                "result",
                "raspasy_run",
            ),
            (),
        )
        convention = data.get("convention")
        if not isinstance(convention, str):
            self.wrong(("convention",), convention, "название конвенции", "the name of a convention")
            convention = "sochi"
        pool = data.get("pool")
        if pool is not None and pool != "mean":
            pool = self.integer(pool, ("pool",))
        players = self.by_seat(data.get("players"), ("players",), self.name)
        start = self.totals(data["start"], ("start",)) if data.get("start") is not None else None
        totals = self.totals(data["totals"], ("totals",)) if data.get("totals") is not None else None
        if "deals" not in data and totals is None:
            self.say((), "нет ни сдач (deals), ни итогов (totals)", "neither deals nor totals")
        deals = [
            self.one_deal(item, ("deals", i), i) for i, item in enumerate(self.items(data.get("deals", []), ("deals",)))
        ]
        self.deal = None
        for i, (before, after) in enumerate(pairwise(deals), 1):
            if after.deal < before.deal:
                self.say(
                    ("deals", i, "deal"),
                    f"сдача {after.deal} стоит после сдачи {before.deal}; ожидается порядок, в каком играли",
                    f"deal {after.deal} comes after deal {before.deal}; expected the order in which they were played",
                )
        written = [
            self.one_written(item, ("written", i))
            for i, item in enumerate(self.items(data.get("written", []), ("written",)))
        ]
        self.deal = None
        result = self.by_seat(data["result"], ("result",), self.number) if data.get("result") is not None else None
        options = self.table(data.get("options", {}), ("options",))
        run = self.integer(data.get("raspasy_run", 0), ("raspasy_run",))
        if self.problems:
            return None
        return Game(convention, players, tuple(deals), pool, options, start, tuple(written), totals, result, run)

    def name(self, value: Any, path: Path_, seat: str) -> str:
        if isinstance(value, str):
            return value
        self.wrong(path, value, "имя", "a name", seat)
        return ""

    def totals(self, data: Any, path: Path_) -> Totals:
        pool, mountain, whists = {}, {}, {}
        for seat, row in self.by_seat(data, path, lambda value, at, _: self.table(value, at)).items():
            self.unknown(row, COLUMNS, (*path, seat))
            pool[seat] = self.number(row.get("pool", 0), (*path, seat, "pool"), seat)
            mountain[seat] = self.number(row.get("mountain", 0), (*path, seat, "mountain"), seat)
            whists[seat] = self.by_seat(row.get("whists", {}), (*path, seat, "whists"), self.number)
        for seat, row in whists.items():
            for on in row:
                if on == seat or on not in pool:
                    self.say(
                        (*path, seat, "whists", on),
                        f"висты на {seat_text(on).ru}; ожидается другой игрок",
                        f"whists on {on}; expected another player",
                        seat,
                    )
        return Totals(pool, mountain, whists)

    def one_deal(self, data: Any, path: Path_, index: int) -> Deal:
        row = self.table(data, path)
        number = row.get("deal")
        self.deal = number if isinstance(number, int) else index + 1
        self.unknown(
            row,
            (
                "deal",
                "dealer",
                "declarer",
                "contract",
                "trump",
                "defence",
                "tricks",
                "open",
                "multiplier",
                "dark",
                "without_talon",
                "conceded",
                "talon_units",
                "totus",
            ),
            path,
        )
        seat = {
            name: self.choice(row[name], (*path, name), SEATS)
            for name in ("dealer", "declarer")
            if row.get(name) is not None
        }
        return Deal(
            self.integer(number, (*path, "deal")),
            self.choice(row.get("contract"), (*path, "contract"), CONTRACTS),
            seat.get("dealer"),
            seat.get("declarer"),
            self.choice(row["trump"], (*path, "trump"), TRUMPS) if row.get("trump") is not None else None,
            self.by_seat(
                row.get("defence") or {}, (*path, "defence"), lambda v, at, s: self.choice(v, at, DEFENCES, s)
            ),
            self.by_seat(row.get("tricks") or {}, (*path, "tricks"), self.integer),
            self.truth(row["open"], (*path, "open")) if row.get("open") is not None else None,
            self.integer(row.get("multiplier", 1), (*path, "multiplier")),
            self.truth(row.get("dark", False), (*path, "dark")),
            self.truth(row.get("without_talon", False), (*path, "without_talon")),
            self.integer(row.get("conceded", 0), (*path, "conceded")),
            self.number(row.get("talon_units", 0), (*path, "talon_units")),
            self.truth(row.get("totus", False), (*path, "totus")),
        )

    def one_written(self, data: Any, path: Path_) -> Written:
        row = self.table(data, path)
        number = row.get("deal")
        self.deal = number if isinstance(number, int) else None
        self.unknown(row, ("deal", "column", "seat", "on", "value"), path)
        seat = self.choice(row.get("seat"), (*path, "seat"), SEATS)
        return Written(
            self.integer(number, (*path, "deal")),
            self.choice(row.get("column"), (*path, "column"), COLUMNS, seat),
            seat,
            self.total(row.get("value"), (*path, "value"), seat),
            self.choice(row["on"], (*path, "on"), SEATS, seat) if row.get("on") is not None else None,
        )


def _russian_letter(name: Any) -> Text:
    """What to add where a seat's letter is a Russian one: it may look the same as the Latin one that is expected."""
    letter = next((part for part in str(name).split(".") if re.fullmatch("[А-Яа-я]", part)), None)
    if letter is None:
        return Text("", "")
    return Text(
        f" («{letter}» — русская буква, а места пишут латинскими: А Б В Г — это A B C D)",
        f" (“{letter}” is a Russian letter, seats are Latin ones: А Б В Г are A B C D)",
    )


def _quoted(value: Any) -> str:
    if value is None:
        return "—"
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


# --- CSV -------------------------------------------------------------------------------------------------------------

_HEAD = "convention, pool, raspasy_run, option.…, player.…, start.…, totals.…, result.…"
_DEAL_COLUMNS = ("dealer", "declarer", "contract", "trump")
_EXTRA_COLUMNS = ("open", "multiplier", "dark", "without_talon", "conceded", "talon_units", "totus")


def game_to_csv(game: Game) -> str:
    """A game record as CSV: the head as name and value, then one deal a line with what was written in it."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow([FORMAT])
    sheet.writerow(["convention", game.convention])
    sheet.writerow(["pool", "" if game.pool is None else game.pool])
    if game.raspasy_run:
        sheet.writerow(["raspasy_run", game.raspasy_run])
    for name, value in game.options.items():
        sheet.writerow([f"option.{name}", _option_out(_plain(value))])
    for seat, player in game.players.items():
        sheet.writerow([f"player.{seat}", player])
    for head, totals in (("start", game.start), ("totals", game.totals)):
        for cell in cells_of(totals.seats) if totals is not None else ():
            sheet.writerow([f"{head}.{_cell_name(cell)}", _number_out((totals or Totals({}, {}, {}))[cell])])
    for seat, amount in (game.result or {}).items():
        sheet.writerow([f"result.{seat}", _number_out(amount)])
    if game.totals is not None:
        return out.getvalue()
    seats = sorted({*game.players, *(s for d in game.deals for s in (*d.defence, *d.tricks))})
    cells = sorted({w.cell for w in game.written}, key=lambda c: (COLUMNS.index(c.column), c.seat, c.on or ""))
    header = [
        "deal",
        *_DEAL_COLUMNS,
        *(f"defence.{s}" for s in seats),
        *(f"tricks.{s}" for s in seats),
        *_EXTRA_COLUMNS,
    ]
    sheet.writerow(header + [_cell_name(cell) for cell in cells])
    left = list(game.written)

    def take(number: int) -> list[Any]:
        """The next written value of every box of a deal, taken off the pile."""
        row: list[Any] = []
        for cell in cells:
            entry = next((w for w in left if w.deal == number and w.cell == cell), None)
            if entry is not None:
                left.remove(entry)
            row.append("" if entry is None else entry.value)
        return row

    blank = [""] * (len(header) - 1)
    if any(w.deal == 0 for w in left):
        sheet.writerow([0, *blank, *take(0)])
    for deal in game.deals:
        data = _deal_to_dict(deal)
        row: list[Any] = [deal.deal, *(data.get(name, "") for name in _DEAL_COLUMNS)]
        row += [deal.defence.get(s, "") for s in seats] + [deal.tricks.get(s, "") for s in seats]
        row += [_truth_out(data.get(name, "")) for name in _EXTRA_COLUMNS]
        sheet.writerow(row + take(deal.deal))
    while left:
        number = left[0].deal
        sheet.writerow([number, *blank, *take(number)])
    return out.getvalue()


def game_from_csv(text: str) -> Game:
    """A game record from CSV text, comma or semicolon; RecordError with every problem, each with its line."""
    second = text.split("\n", 2)[1] if "\n" in text else ""
    delimiter = ";" if ";" in second and "," not in second.split(";")[0] else ","
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        start = 1
        for row in reader:
            if any(value.strip() for value in row):
                rows.append((start, [value.strip() for value in row]))
            start = reader.line_num + 1
    except csv.Error as error:
        # All that a strict reader minds is a quotation mark in the wrong place, or none where one is due.
        raise _single(
            "это не CSV: кавычки не на месте или не закрыты",
            "this is not CSV: quotation marks out of place or not closed",
            reader.line_num,
        ) from error
    if not rows or rows[0][1][0] != FORMAT:
        found = rows[0][1][0] if rows else ""
        raise _single(f"стоит {_quoted(found)}, ожидается {FORMAT}", f"found {_quoted(found)}, expected {FORMAT}", 1)
    return _CsvReader(rows[1:]).game()


class _CsvReader:
    """Turns the rows of a CSV into the plain data of a record, with the line of everything."""

    def __init__(self, rows: list[tuple[int, list[str]]]) -> None:
        self.rows = rows
        self.data: dict[str, Any] = {"format": FORMAT}
        self.lines: dict[Path_, int] = {}
        self.problems: list[Problem] = []

    def game(self) -> Game:
        header: list[str] | None = None
        for line, row in self.rows:
            if header is None and row[0] == "deal":
                header = self._header(row, line)
            elif header is None:
                self._head(line, row)
            else:
                self._deal(line, row, header)
        if header is not None:
            self.data.setdefault("deals", [])
        reader = _Reader(self.lines)
        reader.problems += self.problems
        return reader.finish(self.data)

    def _say(self, line: int, ru: str, en: str, deal: int | None = None) -> None:
        self.problems.append(Problem(Text(ru, en), line, deal))

    def _put(self, path: Path_, value: Any, line: int) -> None:
        spot: dict[Any, Any] = self.data
        for step in path[:-1]:
            spot = spot.setdefault(step, {})
        if path[-1] in spot:
            self._say(
                line, f"«{'.'.join(map(str, path))}» встречается дважды", f"{'.'.join(map(str, path))!r} occurs twice"
            )
        spot[path[-1]] = value
        self.lines[path] = line

    def _head(self, line: int, row: list[str]) -> None:
        name, _, rest = row[0].partition(".")
        value = row[1] if len(row) > 1 else ""
        if any(row[2:]):
            self._say(
                line,
                f"лишнее после значения: {_quoted(' '.join(row[2:]))}",
                f"more than one value: {_quoted(' '.join(row[2:]))}",
            )
        if row[0] == "convention":
            self._put(("convention",), value, line)
        elif row[0] in ("pool", "raspasy_run"):
            self._put((row[0],), _typed(value), line)
        elif name == "option" and rest:
            self._put(("options", rest), _option_in(value), line)
        elif name == "player" and rest:
            self._put(("players", rest), value, line)
        elif name in ("start", "totals") and rest:
            cell = _cell_from(rest)
            if cell is None:
                letter = _russian_letter(rest)
                self._say(
                    line,
                    f"{_quoted(row[0])}: нет такой графы{letter.ru}",
                    f"{_quoted(row[0])}: no such column{letter.en}",
                )
            else:
                path = (
                    (name, cell.seat, "whists", cell.on or "")
                    if cell.column == "whists"
                    else (name, cell.seat, cell.column)
                )
                self._put(path, _typed(value), line)
        elif name == "result" and rest:
            self._put(("result", rest), _typed(value), line)
        else:
            self._say(
                line,
                f"стоит {_quoted(row[0])}, ожидается {_HEAD} или строка deal",
                f"found {_quoted(row[0])}, expected {_HEAD} or the deal row",
            )

    def _header(self, row: list[str], line: int) -> list[str]:
        for i, name in enumerate(row):
            known = name == "deal" or name in _DEAL_COLUMNS or name in _EXTRA_COLUMNS or _cell_from(name)
            group, _, seat = name.partition(".")
            if not known and not (group in ("defence", "tricks") and seat in SEATS):
                letter = _russian_letter(name)
                self._say(
                    line, f"нет такой графы: {_quoted(name)}{letter.ru}", f"no such column: {_quoted(name)}{letter.en}"
                )
            if name in row[:i]:
                self._say(line, f"графа {_quoted(name)} встречается дважды", f"column {_quoted(name)} occurs twice")
        return row

    def _deal(self, line: int, row: list[str], header: list[str]) -> None:
        number = _typed(row[0])
        deal = number if isinstance(number, int) else None
        if len(row) > len(header) and any(row[len(header) :]):
            self._say(
                line,
                f"в строке {len(row)} значений, граф {len(header)}",
                f"{len(row)} values in the line, {len(header)} columns",
                deal,
            )
        made: dict[str, Any] = {}
        here = len(self.data.setdefault("deals", []))
        for name, value in zip(header[1:], row[1:], strict=False):
            if value == "":
                continue
            group, _, seat = name.partition(".")
            if group in COLUMNS:
                cell = _cell_from(name)
                if cell is None:
                    continue
                entry: dict[str, Any] = {
                    "deal": number,
                    "column": cell.column,
                    "seat": cell.seat,
                    "value": _typed(value),
                }
                if cell.on:
                    entry["on"] = cell.on
                written = self.data.setdefault("written", [])
                self.lines["written", len(written)] = line
                written.append(entry)
            elif seat:
                made.setdefault(group, {})[seat] = value if group == "defence" else _typed(value)
            else:
                made[name] = value if name in _DEAL_COLUMNS else _typed(value)
        if made:
            self.lines["deals", here] = line
            self.data["deals"].append({"deal": number, **made})


def _cell_name(cell: Cell) -> str:
    return ".".join(part for part in cell if part)


def _cell_from(name: str) -> Cell | None:
    parts = name.split(".")
    if parts[0] in ("pool", "mountain") and len(parts) == 2 and parts[1] in SEATS:
        return Cell(parts[0], parts[1])
    if parts[0] == "whists" and len(parts) == 3 and parts[1] in SEATS and parts[2] in SEATS and parts[1] != parts[2]:
        return Cell("whists", parts[1], parts[2])
    return None


def _typed(value: str) -> Any:
    """What a CSV value is: a whole number, true or false, nothing, or the words themselves."""
    if re.fullmatch(r"-?\d{1,12}", value):
        return int(value)
    return {"true": True, "false": False, "": None}.get(value, value)


def _truth_out(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _option_out(value: Any) -> str:
    """An option as CSV holds it: words as they are, everything else (and words that look like it) as JSON."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, ensure_ascii=False)


def _option_in(value: str) -> Any:
    try:
        return json.loads(value, parse_float=Decimal)
    except ValueError:
        return value
