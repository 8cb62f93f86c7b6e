"""Files in and out without loss, and errors that say where, what stands there and what is expected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from scoring import Deal, Game, Totals, Written, check, violations
from scoring.files import (
    RecordError,
    game_from_csv,
    game_from_dict,
    game_from_json,
    game_to_csv,
    game_to_dict,
    game_to_json,
    lines_in,
    read_game,
    write_game,
)
from scoring.report import check_report, settlement_report

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.*") if path.stem != "seating")
SCHEMA = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "scoring" / "schema").glob("*.json")}

FULL = Game(
    "classic",
    {"A": "Анна, «Ася»", "B": 'О"Нил', "C": "C\nD", "D": ""},
    (
        Deal(1, "7", "D", "A", "hearts", {"B": "whist", "C": "half"}, {"A": 7, "B": 3}, True, 4, True, True, 0, 2),
        Deal(2, "10", "A", "B", defence={"C": "pass", "D": "pass"}, tricks={"B": 10}, open=False, totus=True),
        Deal(3, "6", "B", "C", conceded=3),
        Deal(4, "raspasy", "C", tricks={"A": 2, "B": 3, "C": 1, "D": 4}),
    ),
    pool=20,
    options={
        "whist": "gentleman",
        "defender_multiplier": "1/2",
        "exit": (7, 8),
        "dark": True,
        "premiums": {"misere": 50},
    },
    start=Totals({"A": 4, "B": 0, "C": 2, "D": 1}, {"A": -2}, {"B": {"A": 8}}),
    written=(Written(0, "pool", "A", 4), Written(1, "whists", "B", 12, "A"), Written(4, "mountain", "D", -4)),
    result={"A": 1, "B": -1, "C": 0, "D": 0},
    raspasy_run=2,
)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_the_examples(path: Path, tmp_path: Path) -> None:
    """They read, keep the rules, fit the schema, and so do their settlement and their audit; both formats keep them."""
    game = read_game(path)
    assert not violations(game)
    for name, document in (
        ("game", json.loads(game_to_json(game))),
        ("settlement", settlement_report(game, "ru", stake=5, by_hand=True)),
        ("check", check_report(game, "en")),
    ):
        Draft202012Validator(SCHEMA[name]).validate(json.loads(json.dumps(document)))
    if path.suffix == ".json":
        Draft202012Validator(SCHEMA["game"]).validate(json.loads(path.read_text("utf-8")))
    for name in ("copy.json", "copy.csv"):
        write_game(game, tmp_path / name)
        assert read_game(tmp_path / name) == game
    twin = path.with_suffix(".csv" if path.suffix == ".json" else ".json")
    if twin.exists():
        assert read_game(twin) == game


def test_what_the_examples_show() -> None:
    assert len(EXAMPLES) >= 6
    assert not check(read_game(ROOT / "examples" / "honest.json")).mistakes
    assert [m.kind for m in check(read_game(ROOT / "examples" / "two-mistakes.json")).mistakes] == [
        "wrong opponent",
        "arithmetic",
    ]
    judged = check(read_game(ROOT / "examples" / "totals.json")).result
    assert judged is not None and judged.verdict in ("exact", "permitted")


def test_everything_a_record_can_hold_comes_back() -> None:
    assert game_from_json(game_to_json(FULL)) == FULL
    assert game_from_dict(game_to_dict(FULL)) == FULL
    assert game_from_csv(game_to_csv(FULL)) == FULL
    assert game_from_csv(game_to_csv(FULL).replace("\n", "\r\n").replace("C\r\nD", "C\nD")) == FULL


def test_records_that_break_the_rules_come_back_too() -> None:
    """A reader of paper must be able to keep what it read, right or wrong."""
    odd = Game(
        "sochi",
        {"A": "", "B": ""},
        (Deal(1, "6", declarer="C", defence={"D": "whist"}, tricks={"D": 11}), Deal(1, "misere")),
        pool=-5,
        written=(Written(7, "pool", "A", 2), Written(1, "pool", "A", 2), Written(1, "pool", "A", 3)),
    )
    assert violations(odd)
    assert game_from_json(game_to_json(odd)) == odd
    assert game_from_csv(game_to_csv(odd)) == odd


def test_semicolons_and_a_byte_order_mark(tmp_path: Path) -> None:
    """As a Russian spreadsheet saves it."""
    game = read_game(ROOT / "examples" / "two-mistakes.csv")
    text = (ROOT / "examples" / "two-mistakes.csv").read_text("utf-8").replace(",", ";")
    (tmp_path / "excel.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_game(tmp_path / "excel.csv") == game


# --- errors ----------------------------------------------------------------------------------------------------------

HEAD = {"format": "pulka-game/1", "convention": "sochi", "players": {"A": "", "B": ""}}
GOOD = """{
 "format": "pulka-game/1", "convention": "sochi", "pool": 20,
 "players": {"A": "", "B": "", "C": ""},
 "deals": [
  {"deal": 1, "declarer": "A", "contract": "6", "defence": {"B": "whist", "C": "pass"},
   "tricks": {"A": 6, "B": 4}},
  {"deal": 2, "declarer": "C", "contract": "misere", "tricks": {"C": 1}}],
 "written": [
  {"deal": 1, "column": "pool", "seat": "A", "value": 2}]
}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"B": 4}', '"B": "four"}', "line 6, deal 1, seat B: deals.tricks.B: found \"four\", expected a whole number"),
        ('"B": 4}', '"B": 4.5}', "line 6, deal 1, seat B: deals.tricks.B: found 4.5, expected a whole number"),
        ('"B": 4}', '"B": true}', "line 6, deal 1, seat B: deals.tricks.B: found true, expected a whole number"),
        ('"B": 4}', '"E": 4}', 'line 6, deal 1: tricks: no seat "E"; seats are A B C D'),
        ('"B": 4}', '"A": 4}', "line 6: 'A' occurs twice"),
        ('"B": "whist"', '"B": "wist"', 'line 5, deal 1, seat B: deals.defence.B: found "wist", expected'),
        ('"misere"', '"mizer"', 'line 7, deal 2: deals.contract: found "mizer", expected 6 7 8 9 10 misere raspasy'),
        ('"misere"', '8', 'line 7, deal 2: deals.contract: found 8, expected "8" in quotation marks'),
        ('"deal": 2', '"deal": "two"', 'line 7, deal 2: deals.deal: found "two", expected a whole number'),
        ('"declarer": "C"', '"declarer": "X"', 'line 7, deal 2: deals.declarer: found "X", expected A B C D'),
        ('"declarer": "C"', '"player": "C"', "line 7, deal 2: unexpected 'player'; known here: deal, dealer"),
        ('"value": 2', '"value": null', "line 9, deal 1, seat A: written.value: found —, expected a whole number"),
        ('"column": "pool"', '"column": "bank"', 'line 9, deal 1, seat A: written.column: found "bank", expected pool'),
        ('"pool": 20', '"pool": "many"', 'line 2: pool: found "many", expected a whole number'),
        ('"sochi"', '7', "line 2: convention: found 7, expected the name of a convention"),
        ("pulka-game/1", "pulka-game/9", 'line 2: format: found "pulka-game/9", expected "pulka-game/1"'),
        ('"A": "", "B"', '"A": 5, "B"', "line 3, seat A: players.A: found 5, expected a name"),
        ('"written": [', '"written": {', "this is not JSON"),
        ('"pool": 20', '"pool": NaN', "this is not JSON: a number in it is none"),
        ('"value": 2', '"value": 10000', "seat A: written.value: found 10000, expected a whole number up to 9999"),
        ('"value": 2', '"value": -10000', "line 9, deal 1, seat A: written.value: found -10000"),
        ('"deal": 2', '"deal": 0', "line 7: deal 0 comes after deal 1; expected the order in which they were played"),
        ('"pool": 20', '"stake": 1', "line 2: unexpected 'stake'; known here: format"),
        ('"deals": [', '"hands": [', "neither deals nor totals"),
    ],
)  # fmt: skip
def test_a_wrong_json_says_where_and_what(old: str, new: str, expected: str) -> None:
    assert game_from_json(GOOD).deals
    text = GOOD.replace(old, new, 1)
    with pytest.raises(RecordError) as caught:
        game_from_json(text)
    lines = [problem.text.en for problem in caught.value.problems]
    assert any(line.startswith(expected) or expected in line for line in lines), lines
    assert all(problem.text.ru for problem in caught.value.problems)


@pytest.mark.parametrize(("old", "new"), [('"B": 4}', '"В": 4}'), ('"declarer": "A"', '"declarer": "А"')])
def test_a_russian_letter_for_a_seat_is_called_one(old: str, new: str) -> None:
    with pytest.raises(RecordError) as caught:
        game_from_json(GOOD.replace(old, new, 1))
    assert "— русская буква, а места пишут латинскими" in caught.value.problems[0].text.ru
    with pytest.raises(RecordError) as caught:
        game_from_csv(game_to_csv(game_from_json(GOOD)).replace("tricks.A", "tricks.А"))
    assert "“А” is a Russian letter" in caught.value.problems[0].text.en


def test_seats_and_whists_that_are_missing_are_told_in_words() -> None:
    data = json.loads(GOOD) | {"start": {}}
    data["written"] = [{"deal": 1, "column": "whists", "seat": "B", "value": 2}]
    assert [v.text.ru for v in violations(game_from_dict(data))] == [
        "start: пусто; ожидаются места A B C",
        'сдача 1, место Б: не сказано, на кого висты; ожидается "on": место другого игрока',
    ]


def test_all_problems_come_together() -> None:
    with pytest.raises(RecordError) as caught:
        game_from_json(
            GOOD.replace('"A": 6', '"A": "x"').replace('"C": 1', '"C": "y"').replace('"value": 2', '"value": "z"')
        )
    assert [problem.line for problem in caught.value.problems] == [6, 7, 9]
    assert (
        caught.value.problems[0].text.ru
        == 'строка 6, сдача 1, место А: deals.tricks.A: стоит "x", ожидается целое число'
    )


@pytest.mark.parametrize(
    "data", [None, [], 5, "text", {}, {"format": "pulka-game/1", "deals": 5}, {"format": "pulka-game/1", "deals": [5]}]
)
def test_data_of_another_shape(data: object) -> None:
    with pytest.raises(RecordError):
        game_from_dict(data)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda t: t.replace("pulka-game/1", "game", 1), 'line 1: found "game", expected pulka-game/1'),
        (lambda t: t.replace("tricks.A", "trick.A", 1), 'line 8: no such column: "trick.A"'),
        (lambda t: t.replace("tricks.A", "tricks.B", 1), 'line 8: column "tricks.B" occurs twice'),
        (lambda t: t.replace("pool,10", "pool,ten", 1), 'line 3: pool: found "ten", expected a whole number'),
        (lambda t: t.replace("pool,10", "pool,10,20", 1), 'line 3: more than one value: "20"'),
        (lambda t: t.replace("pool,10", "stake,10", 1), 'line 3: found "stake", expected convention, pool'),
        (lambda t: t.replace("player.B", "player.A", 1), "line 5: 'players.A' occurs twice"),
        (lambda t: t.replace("1,D,A,6,", "1,D,A,66,", 1), 'line 9, deal 1: deals.contract: found "66"'),
        (lambda t: t.replace("1,D,A,6,", "one,D,A,6,", 1), 'line 9, deal 1: deals.deal: found "one", expected a'),
        (lambda t: t.replace(",whist,", ",wist,", 1), 'line 9, deal 1, seat B: deals.defence.B: found "wist"'),
        (lambda t: t.rstrip("\n") + ",5\n", "values in the line"),
        (lambda t: t.replace("Иванов", '"Иванов', 1), "this is not CSV"),
    ],
)  # fmt: skip
def test_a_wrong_csv_says_where_and_what(change: Callable[[str], str], expected: str) -> None:
    text = (ROOT / "examples" / "two-mistakes.csv").read_text("utf-8")
    with pytest.raises(RecordError) as caught:
        game_from_csv(change(text))
    lines = [problem.text.en for problem in caught.value.problems]
    assert any(expected in line for line in lines), lines


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name, content, expected in (
        ("empty.json", b"", "empty"),
        ("blank.csv", b" \n", "empty"),
        ("photo.json", b"\xff\xd8\xff\xe0", "not UTF-8"),
        ("list.json", b"[1, 2]", "expected a game record"),
        ("deep.json", b"[" * 100_000, "not JSON"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RecordError, match=expected):
            read_game(tmp_path / name)
    for path in (tmp_path, tmp_path / "missing.json"):
        with pytest.raises(RecordError, match="cannot be opened"):
            read_game(path)


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    validator = Draft202012Validator(SCHEMA["game"])
    assert validator.is_valid(json.loads(GOOD))
    for old, new in (
        ('"B": 4}', '"E": 4}'),
        ('"misere"', '"mizer"'),
        ('"value": 2', '"value": "2"'),
        ('"pool": 20', '"stake": 20'),
    ):
        assert not validator.is_valid(json.loads(GOOD.replace(old, new, 1)))
    Draft202012Validator.check_schema(SCHEMA["game"])
    Draft202012Validator.check_schema(SCHEMA["settlement"])
    Draft202012Validator.check_schema(SCHEMA["check"])


@pytest.mark.parametrize(
    ("text", "ru", "en"),
    [
        ('{"a": 1 2}', "строка 1: это не JSON: перед «2}» нет запятой или закрывающей скобки (знак 9)", "is missing"),
        ('{"a": 1,}', "строка 1: это не JSON: лишняя запятая перед закрывающей скобкой (знак 9)", "a comma too many"),
        ("{a: 1}", "строка 1: это не JSON: непонятно «a:» (знак 2)", "'a:' is not expected (column 2)"),
        ('{"a":\n 1', "строка 2: это не JSON: текст обрывается (знак 3)", "line 2: this is not JSON: the text breaks"),
        ('{"a": 1e99999999999999999999}', "это не JSON: таких чисел не бывает", "a number in it is none"),
        ('{"a": ' + "9" * 5000 + "}", "это не JSON: таких чисел не бывает", "a number in it is none"),
        ("[" * 100_000, "это не JSON: скобки вложены без конца", "brackets nested without end"),
    ],
    ids=["no comma", "comma", "no quotes", "cut short", "exponent", "digits", "nested"],
)  # fmt: skip
def test_what_is_no_json_is_said_in_either_language(text: str, ru: str, en: str) -> None:
    with pytest.raises(RecordError) as caught:
        game_from_json(text)
    (problem,) = caught.value.problems
    assert problem.text.ru == ru
    assert en in problem.text.en


def test_a_total_below_zero_may_stand_on_paper() -> None:
    (entry,) = game_from_json(GOOD.replace('"value": 2', '"value": -3')).written
    assert entry.value == -3


def test_empty_braces_anywhere_leave_the_lines_of_all_that_follows_right() -> None:
    lines, repeated = lines_in('[{},\n{"a": {},\n"b": [],\n"a": 1},\n{}]')
    assert lines == {(): 1, (0,): 1, (1,): 2, (1, "a"): 4, (1, "b"): 3, (2,): 5}
    assert repeated == [(1, "a")]
    assert game_from_json(GOOD.replace('"tricks": {"C": 1}', '"tricks": {}')).deals[1].tricks == {}
