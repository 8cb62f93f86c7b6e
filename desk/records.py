"""`pulka settle`, `pulka check` and `pulka conventions`: game records, and the rules they are settled by."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desk.edge import ExitCode, Lang, Stop, in_file, input_data, input_file, put_json
from desk.report import PERHAPS, console, show_check, show_convention, show_conventions, show_open, show_settlement
from desk.texts import text_of
from desk.words import difference_text
from scoring import Convention, Game, convention_names, ledger, load_convention
from scoring.audit import AFTER_THE_END, Difference, compare
from scoring.convention import OPTIONS, ConventionError, option_text
from scoring.files import (
    RecordError,
    game_from_csv,
    game_from_dict,
    game_from_json,
    json_in,
    read_convention,
)
from scoring.game import COLUMNS, Cell, RuleError, cells_of
from scoring.report import check_report, settlement_report
from scoring.settlement import METHODS
from scoring.text import Text


@dataclass(frozen=True, slots=True)
class Record:
    """A game record and, where it is of a sheet that was read, the fields asked about and those out of sight."""

    game: Game
    asked: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()

    @property
    def unread(self) -> list[tuple[int, Cell]]:
        """The boxes of running totals that are out of sight, by deal."""
        rows = [(deal.deal, cell) for deal in self.game.deals for cell in cells_of(self.game.seats)]
        return [(deal, cell) for deal, cell in rows if cell.field(deal) in self.unseen]


def settle_record(
    file: str, sheet: str | None, lang: Lang, method: str, price: int | None, *, by_hand: bool, as_json: bool
) -> ExitCode:
    """Settle the record in a file, of several sheets read the one of this number, and tell of it."""
    if method not in METHODS:
        listed = ", ".join(METHODS)
        raise Stop(
            Text(
                f"--method {method}: нет такого расчёта; есть {listed}",
                f"--method {method}: no such working; there are {listed}",
            )
        )
    record = record_in(file, sheet)
    try:
        report = settlement_report(record.game, lang, method, price, by_hand=by_hand)
    except RuleError as error:
        raise Stop(*(in_file(file, v.text) for v in error.violations)) from error
    if as_json:
        put_json(report | _open_json([record]))
    else:
        out = console()
        show_open(out, file, len(record.asked), lang)
        show_settlement(out, report, record.game.players, lang)
    played_on = record.game.totals is None and ledger(record.game).played_on(record.game.rules) is not None
    return ExitCode.PERSON if record.asked or played_on else ExitCode.DONE


def check_record(
    file: str, sheet: str | None, against: str | None, lang: Lang, *, fines: bool, as_json: bool
) -> ExitCode:
    """Check the record in a file, and hold it against another secretary's, and tell of it.

    Of several sheets read it is the one of the number `sheet`.
    """
    record = record_in(file, sheet)
    records, game = [record], record.game
    report = check_report(game, lang, record.unread)
    for mistake in report["mistakes"]:
        if mistake["field"] in record.asked:
            mistake["fine"] = None  # nobody is fined for what may have been misread
    if against is not None:
        records.append(record_in(against, chosen=False))
        report["differences"] = [
            {
                "deal": d.deal,
                "field": d.field,
                "message": ((PERHAPS if asked else Text("", "")) + difference_text(d)).in_(lang),
            }
            for d, asked in _apart(*records)
        ]
    if report["message"]:
        report["message"] = _nothing_written(record, file).in_(lang)
    report |= _open_json(records)
    if as_json:
        put_json(report)
    if report["violations"]:
        raise Stop(*(in_file(file, Text(v["message"], v["message"])) for v in report["violations"]))
    if not as_json:
        out = console()
        for name, one in zip((file, against or ""), records, strict=False):
            show_open(out, name, len(one.asked), lang)
        show_check(out, report, game.players, lang, fines=fines, by_totals=game.totals is not None, asked=record.asked)
    wrong = report["result"] is not None and report["result"]["verdict"] == "wrong"
    played_on = any(note["code"] == AFTER_THE_END for note in report["notes"])
    left = report["mistakes"] or wrong or played_on or report.get("differences") or any(one.asked for one in records)
    return ExitCode.PERSON if left else ExitCode.DONE


def _open_json(records: Collection[Record]) -> dict[str, int]:
    """How many questions of the sheets are open, where any are: what is said of these is not final."""
    count = sum(len(record.asked) for record in records)
    return {"open_questions": count} if count else {}


def _apart(one: Record, two: Record) -> Iterator[tuple[Difference, bool]]:
    """Where two records differ, but for what cannot be seen in the photo of either; whether a person is asked of it."""
    unseen = one.unseen | two.unseen
    asked = (one.asked | two.asked) - unseen
    for found in compare(one.game, two.game):
        if found.field == "players" and not _named_apart(one.game.players, two.game.players):
            continue
        if found.field == "start" and one.game.start is not None and two.game.start is not None:
            boxes = [cell for cell in cells_of(one.game.seats) if cell.field(0) in unseen]
            ours, theirs = one.game.start, two.game.start
            alike = theirs.changed({cell: ours[cell] - theirs[cell] for cell in boxes})
            if alike == ours:
                continue
            found = replace(found, two=alike)
        elif _is_of(found, unseen):
            continue
        yield found, _is_of(found, asked)


def _named_apart(ours: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    """Whether two records name other players; that one of them does not know a name is no difference."""
    known = [{seat: name for seat, name in names.items() if name not in ("", seat)} for names in (ours, theirs)]
    return set(ours) != set(theirs) or any(known[0][seat] != known[1][seat] for seat in known[0].keys() & known[1])


def _is_of(found: Difference, fields: Collection[str]) -> bool:
    """Whether one of these fields of the form may be why two records differ.

    A mark or a trick count may change all that is told of a deal.
    """
    if found.deal is None:
        return any(name.startswith({"start": "d00.", "result": "result."}.get(found.field, "-")) for name in fields)
    row = f"d{found.deal:02d}."
    if found.field.split(".")[0] in COLUMNS:
        return row + found.field in fields
    return any(name.startswith(row) and name.split(".")[1] not in COLUMNS for name in fields)


def _nothing_written(record: Record, file: str) -> Text:
    """What to say of a record that has no entries to check: what it has instead, and what can be done with that."""
    game = record.game
    if record.unread:
        return Text(
            "ни одного написанного итога на снимке не видно: проверять нечего",
            "no written total can be seen in the photo: nothing to check",
        )
    if game.totals is not None:
        there = Text(
            "в записи только итоги, без сдач: откуда они взялись, не проверить",
            "the record has the totals alone, no deals: how they came about cannot be checked",
        )
    else:
        there = Text("в записи только сдачи, итогов игроки не писали", "the record has deals alone, no written totals")
    if game.result is not None:
        return there + Text("; проверен только расчёт", "; only the settlement is checked")
    return there + Text(f"; рассчитать игру: pulka settle {file}", f"; to settle the game: pulka settle {file}")


def record_in(file: str, sheet: str | None = None, *, chosen: bool = True) -> Record:
    """The game record in a file, or on standard input where it is `-`; Stop with all that is wrong with it.

    Of a sheet that was read, what `pulka read` kept or printed of it will do; of several, `sheet` is the number of one.
    `chosen` says that --sheet can choose it.
    """
    text = text_of(sys.stdin.buffer.read() if file == "-" else input_data(file), file)
    if not text.strip():
        raise Stop(in_file(file, Text("файл пуст; ожидается запись игры", "the file is empty; expected a game record")))
    first = text.lstrip()[0]
    try:
        if first == "[":  # a file of readings is a list, as no game record is
            return _record_read(file, text, sheet, chosen=chosen)
        if sheet is not None:
            said = Text(
                "--sheet выбирает лист из прочитанных, а здесь запись одной игры",
                "--sheet chooses among sheets that were read, and this is the record of one game",
            )
            raise Stop(in_file(file, said))
        by_lines = first != "{" and Path(file).suffix.lower() != ".json"
        return Record(game_from_csv(text) if by_lines else game_from_json(text))
    except RecordError as error:
        raise Stop(*(in_file(file, problem.text) for problem in error.problems)) from error


def _record_read(file: str, text: str, sheet: str | None, *, chosen: bool) -> Record:
    """The game of a sheet in a file of readings."""
    data = json_in(text)
    readings = [one for one in data if isinstance(one, dict) and one.get("format") == "pulka-reading/1"]
    if not readings or len(readings) != len(data):
        said = Text("нужна запись игры или прочитанный лист", "expected a game record or a sheet that was read")
        raise Stop(in_file(file, said))
    reading = _one_of(file, readings, sheet, chosen=chosen)
    if reading.get("game") is None:
        said = Text(
            "на этом листе игра ещё не прочитана: сначала ответьте, что это за лист (pulka read)",
            "no game is read on this sheet yet: first answer which sheet it is (pulka read)",
        )
        raise Stop(in_file(file, said))
    try:
        asked = frozenset(str(question["field"]) for question in reading["review"])
        unseen = frozenset(name for name, field in reading["fields"].items() if field["state"] == "unreadable")
    except (KeyError, TypeError, AttributeError):
        said = Text(
            "прочитанный лист повреждён: прочитайте снимок ещё раз (pulka read)",
            "the reading is damaged: read the photo again (pulka read)",
        )
        raise Stop(in_file(file, said)) from None
    return Record(game_from_dict(reading["game"]), asked, unseen)


MOST_NAMED = 24
"""Of more sheets in a file than this only the first are named, and how many follow."""


def _one_of(file: str, readings: Sequence[Mapping[str, Any]], sheet: str | None, *, chosen: bool) -> Mapping[str, Any]:
    """The reading of the sheet of this number, or the only one; Stop, naming those there are, where that is none."""
    known = [(reading.get("sheet") or {}).get("id") for reading in readings]
    numbers = list(dict.fromkeys(str(number) for number in known if number is not None))
    listed = ", ".join(numbers[:MOST_NAMED]) or "—"
    more = len(numbers) - MOST_NAMED
    there = Text(listed, listed) + (Text(f" и ещё {more}", f" and {more} more") if more > 0 else Text("", ""))
    if sheet is None and len(readings) == 1:
        return readings[0]
    if sheet is None and (len(numbers) != 1 or None in known):
        if not chosen:
            said = Text(
                f"прочитанных листов здесь {len(readings)}, а нужен один; листы одного стола сверяет pulka read",
                f"{len(readings)} sheets were read here, and one is needed; pulka read compares sheets of one table",
            )
            raise Stop(in_file(file, said))
        example = numbers[0] if numbers else "7K3M-9RXA"
        said = Text(
            f"прочитанных листов здесь {len(readings)}, выберите один, например --sheet {example}; есть: ",
            f"{len(readings)} sheets were read here, choose one, such as --sheet {example}; there are ",
        )
        raise Stop(in_file(file, said + there))
    number = _number(sheet) if sheet is not None else numbers[0]
    found = [reading for reading, id_ in zip(readings, known, strict=True) if id_ == number]
    if not found:
        said = Text(f"листа {number} здесь нет; есть: ", f"sheet {number} is not here; there are ")
        raise Stop(in_file(file, said + there))
    if len(found) > 1:
        together = f"sheet-{number}.json"
        pages = ", ".join(str(reading.get("page")) for reading in found)
        said = Text(
            f"лист {number} здесь не один раз (страницы {pages}); всё вместе — в {together} рядом",
            f"sheet {number} is here more than once (pages {pages}); all of it together is in {together} beside this",
        )
        if Path(file).name == together:
            said = Text(
                f"листов с номером {number} здесь {len(found)}: сначала ответьте pulka read, который из них какой",
                f"there are {len(found)} sheets of the number {number}: first answer pulka read which of them is which",
            )
        raise Stop(in_file(file, said))
    return found[0]


def _number(sheet: str) -> str:
    from desk.answers import AnswersError, sheet_number  # all that reads pictures comes with it

    try:
        return sheet_number(sheet)
    except AnswersError as error:
        raise Stop(Text("--sheet: ", "--sheet: ") + error.problems[0]) from error


def tell_conventions(name: str | None, lang: Lang, *, as_json: bool) -> None:
    """Tell of one convention, or of a table's own in a TOML file, or list them all."""
    try:
        if name and name.endswith(".toml"):
            known = [read_convention(input_file(name))]
        else:
            known = [load_convention(name)] if name else [load_convention(each) for each in convention_names()]
    except ConventionError as error:
        raise Stop(error.text) from error
    if as_json:
        listed = [_convention_json(convention, lang) for convention in known]
        put_json(listed[0] if name else listed)
    elif name:
        show_convention(console(), known[0], lang)
    else:
        show_conventions(console(), known, lang)


def _convention_json(convention: Convention, lang: Lang) -> dict[str, Any]:
    return {
        "name": convention.name,
        "title": convention.title.in_(lang),
        "source": convention.source,
        "options": {
            name: {"value": _plain(getattr(convention, name)), "text": option_text(convention, name).in_(lang)}
            for name in OPTIONS
        },
    }


def _plain(value: Any) -> Any:
    """An option's value as JSON holds it."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "__slots__") and not hasattr(value, "numerator"):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return str(value)
