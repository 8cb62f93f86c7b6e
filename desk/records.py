"""`pulka settle`, `pulka check` and `pulka conventions`: game records, and the rules they are settled by."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desk.edge import ExitCode, Lang, Stop, in_file, input_data, input_file, put_json
from desk.report import console, show_check, show_convention, show_conventions, show_settlement
from desk.texts import text_of
from desk.words import difference_text
from scoring import Convention, Game, convention_names, load_convention
from scoring.audit import compare
from scoring.convention import OPTIONS, ConventionError, option_text
from scoring.files import (
    RecordError,
    game_from_csv,
    game_from_dict,
    game_from_json,
    json_in,
    read_convention,
)
from scoring.game import RuleError
from scoring.report import check_report, settlement_report
from scoring.settlement import METHODS
from scoring.text import Text


def settle_record(file: str, lang: Lang, method: str, price: int | None, *, by_hand: bool, as_json: bool) -> ExitCode:
    """Settle the record in a file and tell of it."""
    if method not in METHODS:
        listed = ", ".join(METHODS)
        raise Stop(
            Text(
                f"--method {method}: нет такого расчёта; есть {listed}",
                f"--method {method}: no such working; there are {listed}",
            )
        )
    game = record_in(file)
    try:
        report = settlement_report(game, lang, method, price, by_hand=by_hand)
    except RuleError as error:
        raise Stop(*(in_file(file, v.text) for v in error.violations)) from error
    if as_json:
        put_json(report)
    else:
        show_settlement(console(), report, game.players, lang)
    return ExitCode.DONE


def check_record(file: str, against: str | None, lang: Lang, *, fines: bool, as_json: bool) -> ExitCode:
    """Check the record in a file, and hold it against another secretary's, and tell of it."""
    game = record_in(file)
    report = check_report(game, lang)
    if against is not None:
        differences = compare(game, record_in(against))
        report["differences"] = [
            {"deal": d.deal, "field": d.field, "message": difference_text(d).in_(lang)} for d in differences
        ]
    if report["message"]:
        report["message"] = _nothing_written(game, file).in_(lang)
    if as_json:
        put_json(report)
    if report["violations"]:
        raise Stop(*(in_file(file, Text(v["message"], v["message"])) for v in report["violations"]))
    if not as_json:
        show_check(console(), report, game.players, lang, fines=fines, by_totals=game.totals is not None)
    wrong = report["result"] is not None and report["result"]["verdict"] == "wrong"
    return ExitCode.PERSON if report["mistakes"] or wrong or report.get("differences") else ExitCode.DONE


def _nothing_written(game: Game, file: str) -> Text:
    """What to say of a record that has no entries to check: what it has instead, and what can be done with that."""
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


def record_in(file: str) -> Game:
    """The game record in a file, or on standard input where it is `-`; Stop with all that is wrong with it.

    Of a sheet that was read, what `pulka read` kept or printed of it will do.
    """
    text = text_of(sys.stdin.buffer.read() if file == "-" else input_data(file), file)
    if not text.strip():
        raise Stop(in_file(file, Text("файл пуст; ожидается запись игры", "the file is empty; expected a game record")))
    first = text.lstrip()[0]
    try:
        if first == "[":  # a file of readings is a list, as no game record is
            return _game_read(file, text)
        by_lines = first != "{" and Path(file).suffix.lower() != ".json"
        return game_from_csv(text) if by_lines else game_from_json(text)
    except RecordError as error:
        raise Stop(*(in_file(file, problem.text) for problem in error.problems)) from error


def _game_read(file: str, text: str) -> Game:
    """The game of the one sheet in a file of readings."""
    data = json_in(text)
    games = [one.get("game") for one in data if isinstance(one, dict) and one.get("format") == "pulka-reading/1"]
    if len(games) != 1 or len(data) != 1:
        said = Text(
            f"нужна запись игры или один прочитанный лист, а их здесь {len(games)}",
            f"expected a game record or one sheet read, and there are {len(games)}",
        )
        raise Stop(in_file(file, said))
    if games[0] is None:
        raise Stop(in_file(file, Text("на этом листе игра не прочитана", "no game could be read on this sheet")))
    return game_from_dict(games[0])


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
