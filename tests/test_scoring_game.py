"""Game records: immutable, and every rule they break is reported, all at once."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from scoring import Deal, Game, Totals, Written, ledger, violations
from scoring.game import Cell, RuleError, Seats, defenders, sitting_out

THREE = {"A": "", "B": "", "C": ""}
FOUR = THREE | {"D": ""}
MISERE = {"contract": "misere", "declarer": "A", "tricks": {"A": 1}}
RASPASY = {"contract": "raspasy", "tricks": {"A": 1, "B": 2, "C": 7}}
NO_TRICKS = (("tricks", "B", "tricks"), ("tricks", "C", "tricks"))
BOTH = {"B": "whist", "C": "whist"}
SIX = {"contract": "6", "declarer": "A", "defence": {"B": "whist", "C": "pass"}, "tricks": {"A": 6, "B": 4}}


def broken(
    deal: dict, players: dict | None = None, convention: str = "sochi", **game: object
) -> list[tuple[str, str | None, str | None]]:
    """The code, seat and field of everything wrong with a record of one deal."""
    record = Game(convention, players or THREE, [Deal(1, **deal)], **game)  # type: ignore[arg-type]
    found = violations(record)
    for violation in found:
        assert violation.text.ru and violation.text.en
    return [(v.code, v.seat, v.field) for v in found]


def test_records_cannot_be_changed() -> None:
    deal = Deal(1, **SIX)
    with pytest.raises(FrozenInstanceError):
        deal.contract = "7"  # type: ignore[misc]
    with pytest.raises(TypeError, match="immutable"):
        deal.tricks["A"] = 7  # type: ignore[index]
    with pytest.raises(TypeError):
        deal.defence.update(B="pass")  # type: ignore[attr-defined]
    game = Game("sochi", THREE, [deal], options={"whist": "gentleman"})
    assert pickle.loads(pickle.dumps(game)) == game
    assert hash(deal) == hash(Deal(1, **SIX)) and isinstance(deal.tricks, Seats)


def test_written_entries_come_in_the_order_of_the_sheet() -> None:
    entries = [Written(2, "pool", "A", 4), Written(1, "whists", "B", 8, "A"), Written(1, "pool", "A", 2)]
    assert Game("sochi", THREE, written=entries).written == (entries[2], entries[1], entries[0])


def test_totals_fill_in_zeros() -> None:
    totals = Totals({"A": 1, "B": 2}, {}, {"A": {"B": 5}})
    assert totals.mountain == {"A": 0, "B": 0} and totals.whists["B"] == {"A": 0}
    assert totals[Cell("whists", "A", "B")] == 5 and totals[Cell("pool", "B")] == 2
    assert totals.changed({Cell("mountain", "B"): 3}).mountain["B"] == 3 and totals.mountain["B"] == 0


def test_who_sits_out() -> None:
    seats = ("A", "B", "C", "D")
    assert sitting_out(Deal(1, "6", dealer="C"), seats) == "C"
    assert sitting_out(Deal(1, **SIX), seats) == "D"
    assert sitting_out(Deal(1, "raspasy", tricks={"A": 3, "B": 3, "D": 4}), seats) == "C"
    assert sitting_out(Deal(1, "6", dealer="C"), ("A", "B", "C")) is None
    assert defenders("D", "B", seats) == ("A", "C")


def test_an_honest_record() -> None:
    assert broken(SIX) == []
    assert broken(SIX | {"dealer": "D"}, FOUR) == []
    assert broken({"contract": "raspasy", "dealer": "B", "tricks": {"A": 2, "C": 3, "D": 5}}, FOUR) == []
    assert broken({"contract": "raspasy", "dealer": "B", "tricks": {"A": 2, "C": 3, "D": 4, "B": 1}}, FOUR) == []
    assert broken({"contract": "misere", "declarer": "C", "tricks": {"C": 1}}) == []
    assert broken(SIX | {"tricks": {"A": 6}}) == []
    assert broken(SIX | {"tricks": {"A": 6, "B": 3, "C": 1}}) == []


@pytest.mark.parametrize(
    ("deal", "expected"),
    [
        (SIX | {"tricks": {"A": 6, "B": 5}}, [("tricks", None, "tricks")]),
        (SIX | {"tricks": {"A": 6, "B": 4, "C": 1}}, [("tricks", None, "tricks")]),
        (SIX | {"tricks": {"A": 5, "B": 4}}, [("tricks", None, "tricks")]),
        (SIX | {"tricks": {"A": 5, "B": 4, "C": 0}}, [("tricks", None, "tricks")]),
        (SIX | {"defence": BOTH, "tricks": {"A": 5, "B": 4, "C": 0}}, [("tricks", None, "tricks")]),
        (SIX | {"tricks": {"A": 11}}, [("tricks", "A", "tricks")]),
        (SIX | {"tricks": {"A": -1}}, [("tricks", "A", "tricks")]),
        (SIX | {"tricks": {"B": 4}}, [("tricks", "A", "tricks")]),
        (SIX | {"tricks": {}}, [("tricks", "A", "tricks")]),
        (SIX | {"defence": BOTH, "tricks": {"A": 6}}, [*NO_TRICKS]),
        (SIX | {"defence": {"B": "whist"}}, [("defence", "C", "defence")]),
        (SIX | {"defence": {"B": "pass", "C": "pass"}}, [("tricks", None, "tricks")]),
        (SIX | {"defence": {"A": "whist", "B": "whist", "C": "pass"}}, [("defence", "A", "defence")]),
        (SIX | {"defence": {"B": "wist", "C": "pass"}, "tricks": {}}, [("defence", "B", "defence")]),
        (SIX | {"declarer": None}, [("declarer", None, "declarer")]),
        (SIX | {"declarer": "E"}, [("seat", "E", "declarer")]),
        (SIX | {"tricks": {"A": 6, "Z": 4}}, [("seat", "Z", "tricks")]),
        (SIX | {"contract": "5"}, [("contract", None, "contract")]),
        (SIX | {"trump": "stars"}, [("trump", None, "trump")]),
        (SIX | {"multiplier": 2}, [("multiplier", None, "multiplier")]),
        (SIX | {"dark": True}, [("dark", None, "dark")]),
        (SIX | {"without_talon": True}, [("without_talon", None, "without_talon")]),
        (SIX | {"totus": True}, [("totus", None, "totus")]),
        (SIX | {"conceded": 3}, [("conceded", "A", "conceded")]),
        (SIX | {"talon_units": -1}, [("talon", None, "talon_units")]),
        (MISERE | {"conceded": 3}, [("conceded", "A", "conceded")]),
        ({"contract": "misere", "declarer": "A"}, [("tricks", "A", "tricks")]),
        (MISERE | {"defence": {"B": "whist"}}, [("defence", "B", "defence")]),
        (RASPASY | {"declarer": "A"}, [("declarer", "A", "declarer")]),
        ({"contract": "raspasy", "tricks": {"A": 1, "B": 2, "C": 8}}, [("tricks", None, "tricks")]),
        ({"contract": "raspasy", "tricks": {"A": 1}}, [*NO_TRICKS]),
        ({"contract": "raspasy", "tricks": {"A": 9, "B": 9}}, [("tricks", "C", "tricks")]),
        (RASPASY | {"defence": {"C": "whist"}}, [("defence", "C", "defence")]),
        (SIX | {"contract": "8", "defence": {"B": "pass", "C": "half"}, "tricks": {}}, [("half", "C", "defence")]),
        (SIX | {"defence": {"B": "half", "C": "half"}, "tricks": {}}, [("half", "C", "defence")]),
    ],
)  # fmt: skip
def test_a_broken_deal(deal: dict, expected: list) -> None:
    assert broken(deal) == expected


def test_the_sitting_out_dealer() -> None:
    deal = SIX | {"dealer": "D"}
    assert broken(deal | {"defence": {"B": "whist", "C": "pass", "D": "whist"}}, FOUR) == [("defence", "D", "defence")]
    assert broken(deal | {"declarer": "D", "tricks": {"D": 6}}, FOUR) == [("declarer", "D", "declarer")]
    assert broken(deal | {"tricks": {"A": 6, "B": 3, "D": 1}}, FOUR) == [("tricks", "D", "tricks")]
    assert broken({"contract": "misere", "declarer": "A", "tricks": {"A": 0}}, FOUR) == [("dealer", None, "dealer")]
    raspasy = {"contract": "raspasy", "dealer": "D", "tricks": {"A": 2, "B": 2, "C": 3, "D": 3}}
    assert broken(raspasy, FOUR) == [("tricks", "D", "tricks")]


def test_rules_of_a_convention() -> None:
    assert broken(SIX | {"trump": "spades"}, convention="classic") == [("stalingrad", None, "defence")]
    assert broken(SIX | {"multiplier": 8, "dark": True, "without_talon": True}, convention="classic") == []
    assert broken(SIX | {"defence": {"B": "whist", "C": "half"}}, convention="leningrad") == []
    nine = {"contract": "9", "declarer": "A", "defence": {"B": "whist", "C": "half"}, "tricks": {"A": 9}}
    assert broken(nine, convention="fspr") == []
    assert broken(nine, convention="leningrad") == [("half", "B", "defence")]
    assert broken(SIX | {"defence": {"B": "whist", "C": "half"}}, convention="piter") == [("half", "B", "defence")]
    assert broken(SIX | {"conceded": 3, "defence": {}, "tricks": {}}, convention="fspr") == [
        ("conceded", "A", "conceded")
    ]
    checked = {
        "contract": "10",
        "declarer": "A",
        "defence": {"B": "pass", "C": "pass"},
        "tricks": {"A": 9, "B": 1, "C": 0},
    }
    assert broken(checked, convention="piter") == []
    assert broken(checked, convention="sochi") == [("tricks", None, "tricks")]
    assert broken(SIX | {"without_talon": True, "contract": "9", "tricks": {"A": 9}}, convention="piter") == []


def test_everything_wrong_is_reported_at_once() -> None:
    record = Game(
        "sochi",
        FOUR,
        [
            Deal(1, "6", dealer="D", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 5}),
            Deal(2, "6", dealer="A", declarer="B", defence={"A": "whist", "C": "pass", "D": "pass"}),
            Deal(2, "misere", dealer="B", declarer="C", tricks={"C": 11}),
        ],
        pool=-5,
        written=[
            Written(9, "pool", "A", 2),
            Written(1, "whists", "B", 8, "B"),
            Written(1, "pool", "C", 1, "A"),
            Written(1, "luck", "C", 1),
        ],
    )
    lines = [v.text.en for v in violations(record)]
    assert lines == [
        "a pool of -5; expected a whole number from 1 to 9999",
        "deal 1: 11 tricks in all; expected 10 at most",
        "deal 1, seat C: pool with 'on' A; only whists have it",
        "deal 1, seat B: whists on B; expected another player",
        "deal 1, seat C: an entry in column 'luck'; expected pool, mountain, whists",
        "deal 2, seat A: a whist by the dealer, who sits out",
        "deal 2: the deal's number is repeated or below 1",
        "deal 2, seat C: 11 tricks written; a deal has 10",
        "deal 9, seat A: an entry for a deal that is not in the record",
    ]
    assert violations(record)[1].text.ru == "сдача 1: всего записано: 11 взяток; ожидается не больше 10"
    with pytest.raises(RuleError, match="11 tricks") as caught:
        ledger(record)
    assert len(caught.value.violations) == len(lines)


def test_the_head_of_a_record() -> None:
    good = Game("sochi", THREE, [Deal(1, **SIX)])
    assert [v.code for v in violations(replace(good, players={"A": "", "C": ""}))] == ["players"]
    assert [v.code for v in violations(replace(good, players={"A": ""}))] == ["players"]
    assert [v.code for v in violations(replace(good, convention="bridge"))] == ["convention"]
    assert [v.code for v in violations(replace(good, options={"whist": "kind"}))] == ["convention"]
    assert [v.code for v in violations(replace(good, pool=0))] == ["pool"]
    assert [v.code for v in violations(replace(good, pool="lots"))] == ["pool"]
    assert violations(replace(good, pool="mean")) == ()
    assert [v.code for v in violations(replace(good, raspasy_run=-1))] == ["raspasy_run"]
    two = Totals({"A": 1, "B": 1}, {}, {})
    assert [v.code for v in violations(replace(good, start=two))] == ["seats"]
    assert [v.code for v in violations(replace(good, totals=Totals({"A": 1, "B": -1, "C": 0}, {}, {})))] == [
        "pool",
        "both",
    ]
    assert [v.code for v in violations(replace(good, result={"A": 0}))] == ["seats"]
    totals = replace(
        good, deals=(), totals=Totals({"A": 1, "B": 1, "C": 0}, {}, {}), written=[Written(1, "pool", "A", 1)]
    )
    assert "an entry for a deal that is not in the record" in [v.message.en for v in violations(totals)]
    twice = [Written(1, "pool", "A", 2), Written(1, "pool", "A", 4)]
    assert [v.message.en for v in violations(replace(good, written=twice))] == ["two entries in one box (A, pool)"]
