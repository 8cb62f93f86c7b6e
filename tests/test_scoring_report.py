"""The plain dicts of ``pulka settle --json`` and ``pulka check --json``."""

from __future__ import annotations

from dataclasses import replace

import pytest

import scoring
from scoring import Deal, Game, Totals, Written
from scoring.game import RuleError
from scoring.report import check_report, settlement_report
from scoring.text import Text, joined

NINE = Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"})
GAME = Game("sochi", {"A": "Иванов", "B": "Петров", "C": "Сидоров"}, [NINE], pool=10)


def test_a_settlement_as_the_interface_has_it() -> None:
    report = settlement_report(GAME, "ru")
    assert report["format"] == "pulka-settlement/1" and report["convention"] == "sochi"
    entry = {
        "column": "pool",
        "seat": "A",
        "on": None,
        "add": "8",
        "total": "8",
        "why": "девятерная сыграна (Кодекс 4.2.1)",
    }
    assert report["ledger"] == [{"deal": 1, "entries": [entry]}]
    assert report["totals"]["A"] == {"pool": "8", "mountain": "0", "whists": {"B": "0", "C": "0"}}
    assert report["settlement"] == {"A": "160/3", "B": "-80/3", "C": "-80/3"}
    assert report["rounded"] == {"A": 54, "B": -27, "C": -27}
    assert report["steps"][-1]["figures"] == report["settlement"]
    assert report["steps"][0]["text"] == "Выравнивание пуль до 10: переигранное с горы, недоигранное на гору"
    assert settlement_report(GAME, "en")["ledger"][0]["entries"][0]["why"] == "nine made (Kodeks 4.2.1)"
    assert not {"money", "notes", "permitted"} & set(report)
    by_hand = settlement_report(GAME, by_hand=True)["permitted"]
    assert {"A": 54, "B": -27, "C": -27} in by_hand and {"A": 53, "B": -26, "C": -27} in by_hand
    assert settlement_report(GAME, stake=10)["money"] == {"A": "534", "B": "-267", "C": "-267"}


def test_a_settlement_from_totals_alone() -> None:
    totals = Totals({"A": 10, "B": 10, "C": 10}, {"A": 2, "B": 5, "C": 8}, {})
    report = settlement_report(replace(GAME, deals=(), totals=totals), "en", "mountain")
    assert report["ledger"] == [] and report["settlement"] == {"A": "30", "B": "0", "C": "-30"}
    assert report["steps"][0]["text"] == "Amnesty: everyone takes 2 off the mountain"


def test_deals_after_the_end_are_noted() -> None:
    tens = [replace(NINE, deal=n, contract="10") for n in range(1, 6)]
    report = settlement_report(replace(GAME, deals=tuple(tens)), "en")
    assert report["notes"] == ["the game was over with deal 3, yet more deals follow"]


def test_a_broken_record_is_refused_with_its_violations() -> None:
    with pytest.raises(RuleError) as caught:
        settlement_report(replace(GAME, pool=-5))
    assert [v.code for v in caught.value.violations] == ["pool"]
    report = check_report(replace(GAME, pool=-5), "en")
    assert [v["message"] for v in report["violations"]] == ["a pool of -5; expected a whole number from 1 to 9999"]
    assert report["settlement"] == {"played": None, "written": None}


def test_an_audit_in_plain_data() -> None:
    sheet = replace(GAME, written=(Written(1, "pool", "A", 6),), result={"A": 40, "B": -20, "C": -20})
    report = check_report(sheet, "ru")
    assert [m["field"] for m in report["mistakes"]] == ["d01.pool.A"]
    assert report["settlement"] == {
        "played": {"A": "160/3", "B": "-80/3", "C": "-80/3"},
        "written": {"A": "40", "B": "-20", "C": "-20"},
    }
    assert report["difference"] == {"A": "-40/3", "B": "20/3", "C": "20/3"}
    assert report["result"]["verdict"] == "exact"


def test_the_public_names() -> None:
    assert scoring.__all__ == sorted(scoring.__all__) and len(scoring.__all__) <= 15
    assert all(hasattr(scoring, name) for name in scoring.__all__)


def test_text() -> None:
    text = Text("да", "yes")
    assert text.in_("ru") == "да" and text.in_("en") == "yes" and (text + text).en == "yesyes"
    assert joined([text, text], ", ") == Text("да, да", "yes, yes")
    with pytest.raises(ValueError, match="unknown language"):
        text.in_("de")
