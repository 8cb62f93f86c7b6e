"""Totals carried over from the sheet before, and the players' own results, join in and are checked."""

from dataclasses import replace

import pytest

from recognize.beside import Carried
from recognize.decide import decide
from scoring import Game, check
from scoring.game import Cell, Totals
from tests.test_recognize_decide import clear_ink, saying, sheet_of

CARRIED = {Cell("pool", "A"): 14, Cell("mountain", "C"): 38, Cell("whists", "B", "A"): 106, Cell("pool", "D"): 9}


def continued():
    """A sheet that goes on from another, and what stands in its carry-over row."""
    sheet, _, _, _ = sheet_of("sochi", 4, 7)
    values = {"d00." + ".".join(part for part in cell if part): str(value) for cell, value in CARRIED.items()}
    return replace(sheet, before=Carried(CARRIED)), values


def test_what_the_sheet_before_ends_with_makes_a_carried_total_sure():
    sheet, values = continued()
    ink = clear_ink(sheet.form, values) | {"d00.pool.A": saying({"19": 0.7, "14": 0.29, "11": 0.01})}
    field = decide(sheet, ink).fields["d00.pool.A"]
    assert (field.value, field.state) == ("14", "clear")
    assert decide(replace(sheet, before=None), ink).fields["d00.pool.A"].state == "doubtful"


def test_a_total_carried_over_wrongly_is_a_mistake_at_its_box():
    sheet, values = continued()
    values["d00.mountain.C"] = "83"
    (mistake,) = decide(sheet, clear_ink(sheet.form, values)).mistakes
    assert (mistake.field, mistake.kind, mistake.written, mistake.expected) == ("d00.mountain.C", "carry-over", 83, 38)


def test_a_total_not_carried_over_is_a_mistake_too():
    sheet, values = continued()
    del values["d00.whists.B.A"]
    (mistake,) = decide(sheet, clear_ink(sheet.form, values)).mistakes
    assert (mistake.field, mistake.written, mistake.expected) == ("d00.whists.B.A", None, 106)


def test_the_run_of_raspasy_goes_on_over_the_sheets():
    sheet, _ = continued()
    totals = Totals(dict.fromkeys("ABCD", 0), {}, {})
    values = {"d01.contract.raspasy": "x", "d01.tricks.A": "4", "d01.tricks.B": "3", "d01.tricks.C": "3"}
    prices = set()
    for run in (0, 2):
        went_on = replace(sheet, before=Carried({}, run))
        game = decide(went_on, clear_ink(sheet.form, values)).game
        assert isinstance(game, Game) and game.raspasy_run == run
        prices.add(tuple(check(replace(game, start=totals)).played.values()))
    assert len(prices) == 2


@pytest.mark.parametrize("off", [0, 24])
def test_the_players_own_result_is_read_with_the_rules_and_checked(off):
    sheet, game, values, _ = sheet_of("sochi", 4, 3)
    played = check(game).played
    values = dict(values)
    for seat, due in played.items():
        values[f"result.{seat}"] = str(round(due) + (off if seat == "A" else -off if seat == "B" else 0))
    decision = decide(sheet, clear_ink(sheet.form, values))
    named = {m.field: (m.written, m.expected) for m in decision.mistakes}
    if not off:
        assert named == {}
    else:
        assert set(named) == {"result.A", "result.B"}
        assert named["result.A"][0] - float(named["result.A"][1]) == pytest.approx(24, abs=0.5)


def test_a_result_that_only_one_reading_fits_is_sure():
    sheet, game, values, _ = sheet_of("sochi", 4, 3)
    due = {seat: str(round(value)) for seat, value in check(game).played.items()}
    values = values | {f"result.{seat}": text for seat, text in due.items()}
    other = due["A"][:-1] + ("7" if due["A"][-1] != "7" else "1")
    ink = clear_ink(sheet.form, values) | {"result.A": saying({other: 0.6, due["A"]: 0.4})}
    field = decide(sheet, ink).fields["result.A"]
    assert field.value == due["A"]
