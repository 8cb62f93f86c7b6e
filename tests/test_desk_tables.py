import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desk.demo import PAGE_PX_PER_MM, render
from desk.tables import compared
from recognize.simulation.camera import photograph
from recognize.simulation.hand import make_writer, write_sheet
from recognize.simulation.shots import draw_shot
from scoring.files import game_from_dict
from scoring.game import COLUMNS
from sheets import make_sheets, print_sheets

EXAMPLE = Path(__file__).parent.parent / "examples" / "two-mistakes.json"


def reading(sheet="7K3M-9RXA", *, table=5, asked=(), unseen=(), lang="ru", change=lambda game: None):
    """What `pulka read` says of a sheet with the example's game, changed by `change`."""
    game = json.loads(EXAMPLE.read_text("utf-8"))
    change(game)
    of = {"event": None, "round": 1, "table": table, "players": 4, "convention": "sochi", "pool": 20}
    return {
        "sheet": {"id": sheet, **of},
        "game": game,
        "fields": {name: {"state": "unreadable"} for name in unseen},
        "review": [{"field": name} for name in asked],
        "notes": ["first"],
        "lang": lang,
    }


def notes(*readings):
    found, differ = compared(readings)
    assert all(one["notes"][0] == "first" for one in found)
    return [one["notes"][1:] for one in found], differ


def first_whists(game):
    return next(w for w in game["written"] if w["column"] == "whists")


def test_two_records_that_agree_say_so():
    said, differ = notes(reading(), reading("AAAA-BBBB"))
    assert said == [["с листом AAAA-BBBB того же стола сходится"], ["с листом 7K3M-9RXA того же стола сходится"]]
    assert not differ


@pytest.mark.parametrize("other", [reading("AAAA-BBBB", table=6), reading(), reading("AAAA-BBBB", table=None)])
def test_only_other_sheets_of_the_same_table_are_compared(other):
    assert notes(reading(), other) == ([[], []], False)


def test_where_they_differ_is_said_once_from_either_side():
    def change(game):
        # One slip, carried on in every later total of the box.
        first = first_whists(game)
        for w in game["written"]:
            if (w["column"], w["seat"], w.get("on")) == ("whists", first["seat"], first.get("on")):
                w["value"] += 2

    where = first_whists(reading()["game"])
    (mine, theirs), differ = notes(reading(lang="en"), reading("AAAA-BBBB", change=change))
    assert differ
    assert mine == [
        "differs from sheet AAAA-BBBB of the same table (here - there): "
        f"deal {where['deal']}, whists of {where['seat']} on {where['on']}: {where['value']} - {where['value'] + 2}"
    ]
    assert f": {where['value'] + 2} — {where['value']}" in theirs[0] and ";" not in theirs[0]


def test_what_one_repeats_and_the_other_leaves_empty_is_no_difference():
    def change(game):
        w = first_whists(game)
        later = max(deal["deal"] for deal in game["deals"])
        taken = {(x["column"], x["seat"], x.get("on")) for x in game["written"] if x["deal"] == w["deal"] + 1}
        assert w["deal"] < later and (w["column"], w["seat"], w.get("on")) not in taken
        game["written"].append(w | {"deal": w["deal"] + 1})

    assert not notes(reading(), reading("AAAA-BBBB", change=change))[1]


def test_deals_are_compared_in_the_words_of_the_game():
    def change(game):
        deal = next(d for d in game["deals"] if d.get("defence") and len(d["tricks"]) > 1)
        seat = next(seat for seat, said in deal["defence"].items() if said == "whist")
        deal["tricks"][seat] += 1
        deal["contract"] = "7" if deal["contract"] != "7" else "6"
        del game["deals"][-1]
        game["written"] = [w for w in game["written"] if w["deal"] <= game["deals"][-1]["deal"]]

    ((mine,), _), differ = notes(reading(), reading("AAAA-BBBB", change=change))
    assert differ
    assert ", заказ: " in mine and ", взятки " in mine and ": есть — нет" in mine


def test_what_is_asked_about_anyway_is_not_told_of():
    def change(game):
        first_whists(game)["value"] += 2

    w = first_whists(reading()["game"])
    name = f"d{w['deal']:02d}.whists.{w['seat']}.{w['on']}"
    for doubts in ({"asked": [name]}, {"unseen": [name]}):
        assert not notes(reading(**doubts), reading("AAAA-BBBB", change=change))[1]


def test_a_sheet_with_nothing_written_is_no_record_to_compare():
    def wipe(game):
        game["deals"], game["written"] = [], []

    blank = [reading(sheet, change=wipe) for sheet in ("AAAA-BBBB", "CCCC-DDDD")]
    assert notes(*blank) == ([[], []], False)
    assert notes(reading(), *blank) == ([[], [], []], False)


def test_a_continuation_is_no_second_record_and_another_game_is_named():
    nothing = {seat: {"pool": 2, "mountain": 0, "whists": {}} for seat in "ABCD"}
    assert notes(reading(), reading("AAAA-BBBB", change=lambda game: game.update(start=nothing)))[0] == [[], []]

    def change(game):
        for deal in game["deals"]:
            deal["contract"] = {"6": "7"}.get(deal["contract"], "6")

    said, differ = notes(reading(), reading("AAAA-BBBB", change=change))
    assert said[0] == ["на листе AAAA-BBBB того же стола записана другая игра: не перепутаны ли бланки?"]
    assert not differ
    # Of many such sheets there is one note.
    said, differ = notes(*(reading("AAAA-BBB" + s, lang="en") for s in "BC"), reading(lang="en", change=change))
    assert said[2] == [
        "sheets AAAA-BBBB, AAAA-BBBC of the same table record other games: were the blanks mixed up?",
    ]
    assert [len(one) for one in said] == [2, 2, 1] and not differ


def test_every_game_is_parsed_once(monkeypatch):
    parsed = []
    monkeypatch.setattr("desk.tables.game_from_dict", lambda record: parsed.append(record) or game_from_dict(record))
    compared([reading(f"AAAA-BBB{number}") for number in range(5)])
    assert len(parsed) == 5


def test_readings_are_left_as_they_were():
    before = reading(), reading("AAAA-BBBB")
    same = copy.deepcopy(before)
    compared(before)
    assert before == same


def test_two_sheets_of_one_table_are_compared_as_they_are_read(pulka, photographer, tmp_path):
    for seed in (1, 2):
        photographer(seed).save(tmp_path / f"{seed}.jpg")
    first, second = pulka("read", tmp_path, "--json", "--jobs", 1).json
    assert (
        f"на листе {second['sheet']['id']} того же стола записана другая игра: не перепутаны ли бланки?"
        in first["notes"]
    )
    # What was read of a sheet can be checked against another, as two records can.
    for number, one in enumerate((first, second)):
        (tmp_path / f"{number}.json").write_text(json.dumps([one]), "utf-8")
    ran = pulka("check", tmp_path / "0.json", "--against", tmp_path / "1.json", "--json")
    assert ran.code == 1 and ran.json["differences"]
    (tmp_path / "both.json").write_text(json.dumps([first, second]), "utf-8")
    ran = pulka("check", tmp_path / "0.json", "--against", tmp_path / "both.json")
    assert ran.code == 2 and "листы одного стола сверяет pulka read" in ran.complaints[0]
    ran = pulka("settle", tmp_path / "both.json")
    assert ran.code == 2 and "прочитанных листов здесь 2" in ran.complaints[0]


def ends(values):
    """The last totals of a sheet, as they are carried over to the next."""
    last = {name[4:]: value for name, value in sorted(values.items()) if name.split(".")[1] in COLUMNS}
    return {f"d00.{box}": value for box, value in last.items()}


def second_sheet(photographed, carried, path):
    """A photo of the next sheet of that table, with nothing but its carry-over row filled in."""
    rng = np.random.default_rng(8)
    one = photographed.sheet
    said = {"convention": "sochi", "pool": one.identity.pool, "event": one.event, "round": 1, "tables": [5]}
    (sheet,) = make_sheets(one.form, **said, names={5: dict(one.names)}, seed=99)
    print_sheets(path.with_suffix(".pdf"), [sheet], "ru")
    writers = {key: make_writer(rng) for key in ("recorder", *one.form.seats)}
    page = write_sheet(render(path.with_suffix(".pdf")), PAGE_PX_PER_MM, one.form, carried, writers, rng, {})
    path.write_bytes(photograph(page, PAGE_PX_PER_MM, replace(draw_shot("clean", rng), size=(2400, 1800)), rng).encoded)


def test_a_sheet_that_goes_on_is_held_against_the_one_before(pulka, photographer, tmp_path):
    first = photographer()
    carried = ends(first.values)
    name = next(name for name, value in carried.items() if name.split(".")[1] == "whists" and len(value) == 2)
    wrong = str(int(carried[name]) + 10)
    first.save(tmp_path / "1.jpg")
    second_sheet(first, carried | {name: wrong}, tmp_path / "2.jpg")
    one, two = pulka("read", tmp_path / "1.jpg", tmp_path / "2.jpg", "--json", "--jobs", 1).json
    assert one["mistakes"] == []
    assert [(m["field"], m["kind"], m["written"], m["expected"]) for m in two["mistakes"]] == [
        (name, "carry-over", int(wrong), int(carried[name]))
    ]
    # In either order, and with the readings kept between two runs.
    kept = tmp_path / "kept"
    pulka("read", tmp_path / "2.jpg", "-o", kept, "--jobs", 1)
    again = pulka("read", tmp_path / "2.jpg", tmp_path / "1.jpg", "-o", kept, "--json", "--jobs", 1).json
    assert [m["field"] for one in again for m in one["mistakes"]] == [name]
    alone = pulka("read", tmp_path / "2.jpg", "--json", "--jobs", 1).json
    assert alone[0]["mistakes"] == []
