"""Sheets with mistakes, written out by hand: what is found, where, of what kind, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from scoring import Deal, Game, Totals, Written, check, ledger
from scoring.audit import KINDS, Audit, compare, fine
from scoring.game import Cell
from scoring.report import audit_to_dict, check_report, settlement_report
from scoring.settlement import judge

NAMES = {"A": "Иванов", "B": "Петров", "C": "Сидоров", "D": "Орлов"}


def game(*deals: Deal, convention: str = "sochi", players: int = 3, **more: object) -> Game:
    more = {"pool": "mean"} | more  # no limit, and that is said
    return Game(convention, {s: NAMES[s] for s in "ABCD"[:players]}, deals, **more)  # type: ignore[arg-type]


def six(number: int, own: int = 6, declarer: str = "A", players: int = 3, contract: str = "6") -> Deal:
    """A contract of the declarer against a lone whister on his left."""
    seats = "ABC"
    left = seats[(seats.index(declarer) + 1) % 3]
    right = seats[(seats.index(declarer) + 2) % 3]
    return Deal(number, contract, dealer="D" if players == 4 else None, declarer=declarer,
                defence={left: "whist", right: "pass"}, tricks={declarer: own, left: 10 - own})  # fmt: skip


def paper(record: Game, **changes: int | None) -> Game:
    """The honest sheet with some boxes changed: ``d2_whists_B_A=16``, or ``None`` for an empty box."""
    boxes = {(d.deal, e.cell): int(e.total) for d in ledger(record).deals for e in d.entries}
    for name, value in changes.items():
        deal, column, seat, *on = name.split("_")
        box = int(deal[1:]), Cell(column, seat, on[0] if on else None)
        if value is None:
            del boxes[box]
        else:
            boxes[box] = value
    return replace(record, written=[Written(d, c.column, c.seat, v, c.on) for (d, c), v in boxes.items()])


def found(audit: Audit) -> list[tuple[str, str, int | None, object]]:
    return [(m.field, m.kind, m.written, m.expected) for m in audit.mistakes]


def whists_difference(audit: Audit) -> dict[str, Fraction]:
    """The difference explained: the costs of the mistakes, which must be all of it."""
    cost = {seat: Fraction(0) for seat in audit.difference}
    for mistake in audit.mistakes:
        for seat, amount in mistake.cost.items():
            cost[seat] += amount
    assert cost == audit.difference
    return audit.difference


TEN_SIXES = game(*(six(n) for n in range(1, 11)))


def test_arithmetic_carried_on_through_nine_rows_is_one_mistake() -> None:
    """Whists 8, 16, 24 … with 26 in the third row and two too many ever after."""
    sheet = paper(TEN_SIXES, **{f"d{n}_whists_B_A": 8 * n + 2 for n in range(3, 11)})
    audit = check(sheet)
    assert found(audit) == [("d03.whists.B.A", "arithmetic", 26, 24)]
    assert whists_difference(audit) == {"A": -2, "B": 2, "C": 0}
    message = audit.mistakes[0].message
    assert message.ru.startswith("Сдача 3, Петров, висты на: Иванов: написано 26, должно быть 24 — ошибка в счёте")
    assert message.en.startswith("Deal 3, Петров, whists on Иванов: written 26, expected 24 - arithmetic")


def test_transposed_digits_carried_on() -> None:
    """12 written as 21, and nine too many from there on."""
    record = game(six(1, own=7), six(2, own=7), six(3), players=3)
    assert [e.total for d in ledger(record).deals for e in d.entries if e.cell == Cell("whists", "B", "A")] == [
        6,
        12,
        20,
    ]
    audit = check(paper(record, d2_whists_B_A=21, d3_whists_B_A=29))
    assert found(audit) == [("d02.whists.B.A", "transposed digits", 21, 12)]
    assert whists_difference(audit)["B"] == 9


@pytest.mark.parametrize(
    ("wrote", "kind"),
    [
        (58, "wrong price"),
        (45, "arithmetic"),
        (34, "arithmetic"),
        (28, "arithmetic"),
        (72, "entered twice"),
        (200, "unexplained"),
        (187, "unexplained"),
    ],
)
def test_kinds_of_a_wrong_total(wrote: int, kind: str) -> None:
    """A seven two down: 5 tricks and 2 of consolation at 4 are 28 on top of 16; at the price of an eight 42.

    34 is a ten lost in carrying, 28 the entry without what stood above it.
    """
    record = game(six(1, own=4), six(2, contract="7", own=5))
    boxes = [e.total for d in ledger(record).deals for e in d.entries if e.cell == Cell("whists", "B", "A")]
    assert boxes == [16, 44]
    audit = check(paper(record, d2_whists_B_A=wrote))
    assert [m.kind for m in audit.mistakes] == [kind]
    if kind == "unexplained":
        assert f"+{wrote - 44}" in audit.mistakes[0].message.ru and f"+{wrote - 44}" in audit.mistakes[0].message.en


def test_a_six_written_double_is_at_the_price_of_a_seven() -> None:
    """Twice as much is the next contract's price only for a six; the message names both ways."""
    audit = check(paper(game(six(1), six(2)), d1_whists_B_A=16, d2_whists_B_A=24))
    assert found(audit) == [("d01.whists.B.A", "wrong price", 16, 8)]
    assert "дважды" in audit.mistakes[0].message.ru and "twice" in audit.mistakes[0].message.en


def test_transposed_digits_over_the_limit_are_transposed_digits() -> None:
    record = game(*(six(n) for n in range(1, 7)), pool=20)
    assert found(check(paper(record, d6_pool_A=21))) == [("d06.pool.A", "transposed digits", 21, 12)]


def test_a_late_row_is_late_by_one_row() -> None:
    """The whists of the first deal are missing, those of the third as many as its own: two mistakes."""
    record = game(six(1), Deal(2, "misere", declarer="C", tricks={"C": 2}), six(3, own=7))
    audit = check(paper(record, d1_whists_B_A=None, d3_whists_B_A=8))
    assert found(audit) == [("d01.whists.B.A", "forgotten", None, 8), ("d03.whists.B.A", "arithmetic", 8, 6)]
    whists_difference(audit)


def test_consolation_left_out() -> None:
    """Five tricks and no consolation: 10 instead of 12 is not bad arithmetic, a part is missing."""
    audit = check(paper(game(six(1), six(2, own=5)), d2_whists_B_A=18))
    assert found(audit) == [("d02.whists.B.A", "forgotten", 18, 20)]
    assert "консоляция" in audit.mistakes[0].message.ru and "consolation" in audit.mistakes[0].message.en


def test_forgotten_for_good_and_forgotten_then_made_up() -> None:
    audit = check(paper(TEN_SIXES, **{"d4_whists_B_A": None} | {f"d{n}_whists_B_A": 8 * n - 8 for n in range(5, 11)}))
    assert found(audit) == [("d04.whists.B.A", "forgotten", None, 32)]
    assert whists_difference(audit)["B"] == -8
    audit = check(paper(TEN_SIXES, d4_whists_B_A=None))
    assert found(audit) == [("d04.whists.B.A", "forgotten", None, 32)]
    assert audit.mistakes[0].corrected == 5 and not any(whists_difference(audit).values())
    assert [note.deal for note in audit.notes] == [5]


def test_forgotten_and_made_up_much_later() -> None:
    late = {f"d{n}_whists_B_A": 8 * n - 8 for n in range(5, 9)}
    audit = check(paper(TEN_SIXES, d4_whists_B_A=None, **late))
    assert found(audit) == [("d04.whists.B.A", "forgotten", None, 32)]
    assert audit.mistakes[0].corrected == 9


def test_one_box_a_row_too_low() -> None:
    """The whists of the second deal stand in the third row, where nothing was due in that box."""
    record = game(six(1), six(2, own=7), six(3, declarer="B"))
    sheet = paper(record, d2_whists_B_A=None)
    sheet = replace(sheet, written=(*sheet.written, Written(3, "whists", "B", 14, "A")))
    assert found(check(sheet)) == [("d02.whists.B.A", "wrong row", None, 14)]


def test_a_column_running_one_row_late_is_one_mistake() -> None:
    """From the fourth row on every total stands a row too low; the last one is missing."""
    record = game(*(six(n, own=6 + n % 2) for n in range(1, 9)))
    right = [int(e.total) for d in ledger(record).deals for e in d.entries if e.cell == Cell("whists", "B", "A")]
    late = {f"d{n}_whists_B_A": right[n - 2] for n in range(5, 9)}
    audit = check(paper(record, d4_whists_B_A=None, **late))
    assert found(audit) == [("d04.whists.B.A", "wrong row", None, right[3])]
    assert whists_difference(audit)["B"] == right[6] - right[7]


def test_a_whole_row_written_one_line_too_low() -> None:
    """Every box of the row: one mistake a box, each in the row where it was due, and nothing lasting."""
    record = game(six(1), six(2, own=5), six(3, declarer="B"))
    boxes = [e for e in ledger(record).deals[1].entries]
    sheet = paper(record)
    moved = [w for w in sheet.written if w.deal != 2]
    moved += [Written(3, e.column, e.seat, int(e.total), e.on) for e in boxes]
    audit = check(replace(sheet, written=moved))
    assert {(m.deal, m.cell, m.kind) for m in audit.mistakes} == {(2, e.cell, "wrong row") for e in boxes}
    assert not any(audit.difference.values())


def test_the_last_deal_written_in_the_row_below_it() -> None:
    """A row in which nothing was played holds what was due in the one above: in the wrong row, and nothing lost."""
    record = game(six(1), six(2, own=5), six(3, declarer="B"))
    sheet = paper(record, d1_whists_B_A=9)
    low = [replace(w, deal=4) if w.deal == 3 else w for w in sheet.written]
    audit = check(replace(sheet, written=low))
    boxes = {e.cell for e in ledger(record).deals[2].entries}
    assert {(m.deal, m.cell) for m in audit.mistakes if m.kind == "wrong row"} == {(3, cell) for cell in boxes}
    assert found(audit)[0] == ("d01.whists.B.A", "arithmetic", 9, 8)


def test_a_total_in_a_row_between_two_deals() -> None:
    """Written once more it changes nothing; another one is a mistake like any."""
    record = game(six(1), six(3))
    sheet = paper(record)
    for value, mistakes in ((2, []), (5, [("d02.pool.A", "unexplained", 5, 2)])):
        written = (*sheet.written, Written(2, "pool", "A", value))
        assert found(check(replace(sheet, written=written)))[:1] == mistakes


def test_a_row_too_high() -> None:
    record = game(six(1, declarer="B"), six(2))
    sheet = paper(record, d2_pool_A=None)
    audit = check(replace(sheet, written=(*sheet.written, Written(1, "pool", "A", 2))))
    assert [(m.field, m.kind) for m in audit.mistakes] == [("d01.pool.A", "wrong row")]
    assert not any(audit.difference.values())


@pytest.mark.parametrize(
    ("other", "kind"),
    [("whists_B_C", "wrong opponent"), ("mountain_B", "wrong column"), ("whists_C_A", "wrong player")],
)
def test_an_entry_in_another_box(other: str, kind: str) -> None:
    """Added to the other box's total, and carried on from there."""
    record = game(six(1), six(2), six(3))
    audit = check(paper(record, d2_whists_B_A=None, d3_whists_B_A=16, **{f"d2_{other}": 8}))
    assert [(m.field, m.kind, m.written, m.expected) for m in audit.mistakes] == [
        ("d02." + other.replace("_", "."), kind, 8, 0)
    ]
    assert audit.mistakes[0].instead == Cell("whists", "B", "A")
    assert whists_difference(audit)
    assert "Петров, висты на: Иванов" in audit.mistakes[0].message.ru


def test_a_total_copied_into_the_neighbours_column() -> None:
    """The new total 16 stands in the column of whists on C instead of on A: one mistake, all of the difference."""
    record = game(six(1), six(2), six(3))
    audit = check(paper(record, d2_whists_B_A=None, d2_whists_B_C=16, d3_whists_B_A=16))
    assert found(audit) == [("d02.whists.B.C", "wrong opponent", 16, 0)]
    assert whists_difference(audit)["B"] == 8


def test_two_entries_exchanged() -> None:
    """Both whist; each wrote the other's tricks."""
    both = Deal(1, "6", declarer="A", defence={"B": "whist", "C": "whist"}, tricks={"A": 6, "B": 3, "C": 1})
    audit = check(paper(game(both, six(2)), d1_whists_B_A=2, d1_whists_C_A=6, d2_whists_B_A=10))
    assert found(audit) == [("d01.whists.B.A", "wrong player", 2, 6)]
    assert whists_difference(audit) == {"A": 0, "B": -4, "C": 4}


def test_two_totals_exchanged() -> None:
    """The totals 22 and 20 stand in each other's boxes, and each is carried on from there."""
    both = {"B": "whist", "C": "whist"}
    record = game(
        Deal(1, "6", declarer="A", defence=both, tricks={"A": 5, "B": 3, "C": 2}),
        Deal(2, "6", declarer="A", defence=both, tricks={"A": 5, "B": 5, "C": 0}),
    )
    boxes = {e.cell: e.total for e in ledger(record).deals[1].entries}
    assert (boxes[Cell("whists", "B", "A")], boxes[Cell("whists", "C", "A")]) == (20, 8)
    audit = check(paper(record, d2_whists_B_A=8, d2_whists_C_A=20))
    assert [(m.cell, m.kind) for m in audit.mistakes] in (
        [(Cell("whists", "B", "A"), "wrong player")],
        [(Cell("whists", "C", "A"), "wrong player")],
    )
    assert whists_difference(audit)["B"] == -12


def test_a_forgotten_entry_that_the_next_one_cancels() -> None:
    """Two points for one down are forgotten, then two come off the mountain: nought is right again."""
    start = Totals({"A": 10, "B": 10, "C": 10}, {}, {})
    record = game(six(1, own=5), Deal(2, "6", declarer="A", defence={"B": "pass", "C": "pass"}), pool=10, start=start)
    audit = check(paper(record, d1_mountain_A=None, d2_mountain_A=0))
    assert [(m.field, m.corrected) for m in audit.mistakes] == [("d01.mountain.A", 2)]
    assert not any(whists_difference(audit).values())


def test_a_small_sum_is_arithmetic_before_a_far_price() -> None:
    """One trick of a seven is 4; 6 is an eight's price, 8 a nine's or twice, 2 a six's, 7 bad arithmetic."""
    one = Deal(1, "7", declarer="A", defence={"B": "whist", "C": "whist"}, tricks={"A": 7, "B": 1, "C": 2})
    kinds = {wrote: check(paper(game(one), d1_whists_B_A=wrote)).mistakes[0].kind for wrote in (2, 6, 7, 8, 10, 24)}
    assert kinds == {
        2: "wrong price", 6: "wrong price", 7: "arithmetic", 8: "entered twice", 10: "wrong price", 24: "arithmetic",
    }  # fmt: skip
    two = Deal(1, "6", declarer="A", defence={"B": "whist", "C": "whist"}, tricks={"A": 6, "B": 1, "C": 3})
    assert check(paper(game(two), d1_whists_B_A=5)).mistakes[0].kind == "arithmetic"
    assert check(paper(game(two), d1_whists_B_A=8)).mistakes[0].kind == "wrong price"


def test_a_total_copied_from_the_neighbour() -> None:
    """Nothing was due in the box, and what stands in it is the neighbour's total."""
    record = game(six(1), six(2))
    audit = check(paper(record, d2_whists_C_A=16))
    assert [(m.field, m.kind) for m in audit.mistakes] == [("d02.whists.C.A", "unexplained")]
    assert "повторяет итог «Петров, висты на: Иванов»" in audit.mistakes[0].message.ru
    odd = check(paper(record, d2_whists_C_A=77)).mistakes[0].message
    assert "не объясняет ни одна сдача" in odd.ru and "+77" in odd.ru and "no deal explains" in odd.en


def test_the_same_entry_in_two_boxes() -> None:
    audit = check(paper(game(six(1), six(2)), d1_whists_B_C=8))
    assert found(audit) == [("d01.whists.B.C", "entered twice", 8, 0)]


def test_entered_again_in_the_next_row() -> None:
    record = game(six(1), Deal(2, "misere", declarer="C", tricks={"C": 2}), six(3))
    audit = check(paper(record, d2_whists_B_A=16, d3_whists_B_A=24))
    assert found(audit) == [("d02.whists.B.A", "entered twice", 16, 8)]


def test_two_slips_that_cancel_in_one_box() -> None:
    """Two too many in the third row, two too few in the seventh: the first is a mistake, the return is noted."""
    audit = check(paper(TEN_SIXES, **{f"d{n}_whists_B_A": 8 * n + 2 for n in range(3, 7)}))
    assert found(audit) == [("d03.whists.B.A", "arithmetic", 26, 24)]
    assert audit.mistakes[0].corrected == 7
    assert [note.deal for note in audit.notes if note.code == "put_right"] == [7]
    assert not any(whists_difference(audit).values())


def test_two_slips_that_cancel_in_the_settlement() -> None:
    """B has three too many on A and A three too many on B: no whist changes hands, both are found."""
    sheet = paper(game(six(1), six(2, declarer="C"), six(3)), d1_whists_B_A=11, d3_whists_B_A=19, d2_whists_A_B=3)
    audit = check(sheet)
    assert {(m.deal, m.cell) for m in audit.mistakes} == {(1, Cell("whists", "B", "A")), (2, Cell("whists", "A", "B"))}
    assert not any(whists_difference(audit).values())


def test_a_second_slip_in_the_same_box() -> None:
    slips = {f"d{n}_whists_B_A": 8 * n + (2 if n < 7 else 5) for n in range(3, 11)}
    audit = check(paper(TEN_SIXES, **slips))
    assert found(audit) == [("d03.whists.B.A", "arithmetic", 26, 24), ("d07.whists.B.A", "arithmetic", 61, 58)]
    assert [m.due for m in audit.mistakes] == [24, 56]
    assert whists_difference(audit)["B"] == 5


def test_only_one_of_two_slips_put_right() -> None:
    slips = {f"d{n}_whists_B_A": 8 * n + 2 for n in (3, 4)} | {f"d{n}_whists_B_A": 8 * n + 5 for n in (5, 6)}
    audit = check(paper(TEN_SIXES, **slips, **{f"d{n}_whists_B_A": 8 * n + 2 for n in range(7, 11)}))
    assert [(m.deal, m.corrected) for m in audit.mistakes] == [(3, None), (5, 7)]
    assert whists_difference(audit)["B"] == 2


def test_unchanged_boxes_filled_in_are_no_mistakes() -> None:
    sheet = paper(TEN_SIXES)
    extra = [Written(n, "mountain", s, 0) for n in range(1, 11) for s in "ABC"]
    extra += [Written(n, "whists", "C", 0, "A") for n in range(1, 11)]
    audit = check(replace(sheet, written=(*sheet.written, *extra)))
    assert not audit.mistakes and not audit.notes


def test_an_old_total_written_again_where_something_was_due_is_forgotten() -> None:
    audit = check(paper(game(six(1), six(2)), d2_whists_B_A=8))
    assert [(m.field, m.kind, m.written) for m in audit.mistakes] == [("d02.whists.B.A", "forgotten", 8)]


def test_nothing_written_says_so_and_is_no_error() -> None:
    audit = check(TEN_SIXES)
    assert audit.empty and not audit.mistakes and audit.written is None and audit.played is not None
    assert "нечего" in check_report(TEN_SIXES)["message"] and "nothing" in check_report(TEN_SIXES, "en")["message"]


def test_a_broken_record_comes_back_as_its_violations() -> None:
    audit = check(game(Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 5})))
    assert audit.violations and audit.played is None and audit.written is None


# --- pool and help ---------------------------------------------------------------------------------------------------

START = Totals({"A": 9, "B": 4, "C": 0}, {}, {})
FREE = Deal(1, "6", declarer="A", defence={"B": "pass", "C": "pass"})


def test_missed_help() -> None:
    """One point closes A's pool, the other should have helped B; A wrote both into his own pool."""
    record = game(FREE, pool=10, start=START)
    audit = check(paper(record, d1_pool_A=11, d1_pool_B=None, d1_whists_A_B=None))
    assert found(audit) == [("d01.pool.A", "missed help", 11, 10)]
    whists_difference(audit)
    audit = check(paper(record, d1_pool_B=None, d1_whists_A_B=None))
    assert found(audit) == [("d01.whists.A.B", "missed help", None, 10)]
    whists_difference(audit)
    audit = check(paper(record, d1_pool_B=None))
    assert found(audit) == [("d01.pool.B", "missed help", None, 5)]


def test_missed_help_again_is_a_mistake_again() -> None:
    """A goes on writing everything into his own pool: a mistake in each deal, and no whist changes hands."""
    record = game(FREE, replace(FREE, deal=2), pool=10, start=START)
    left_out = {f"d{n}_{box}": None for n in (1, 2) for box in ("pool_B", "whists_A_B")}
    audit = check(paper(record, **left_out, d1_pool_A=11, d2_pool_A=13))
    assert found(audit) == [("d01.pool.A", "missed help", 11, 10), ("d02.pool.A", "missed help", 13, 11)]
    assert not any(whists_difference(audit).values())


def test_help_by_the_paper_after_a_forgotten_point_is_no_second_mistake() -> None:
    """A forgets two points, so on the paper his pool closes a deal later: whom he helps follows from the paper."""
    nine = Deal(2, "9", declarer="A", defence={"B": "pass", "C": "pass"})
    record = game(FREE, nine, replace(FREE, deal=3), replace(FREE, deal=4), pool=10)
    honest = {(d.deal, e.cell): e.add for d in ledger(record).deals for e in d.entries}
    assert honest[3, Cell("pool", "B")] == 2 and honest[3, Cell("whists", "A", "B")] == 20
    sheet = paper(
        record,
        d1_pool_A=None,
        d2_pool_A=8,
        d3_pool_A=10,
        d3_pool_B=None,
        d3_whists_A_B=None,
        d4_pool_B=2,
        d4_whists_A_B=20,
    )
    audit = check(sheet)
    assert found(audit) == [("d01.pool.A", "forgotten", None, 2)]
    assert audit.mistakes[0].changes == {Cell("pool", "B"): -2, Cell("whists", "A", "B"): -20}
    whists_difference(audit)
    # A slip in the same row is still one.
    slipped = check(replace(sheet, written=[replace(w, value=21) if w.value == 20 else w for w in sheet.written]))
    assert [m.field for m in slipped.mistakes] == ["d01.pool.A", "d04.whists.A.B"]
    whists_difference(slipped)


def test_pool_over_the_limit() -> None:
    record = game(FREE, pool=10, start=START)
    audit = check(paper(record, d1_pool_A=11))
    assert found(audit) == [("d01.pool.A", "pool over the limit", 11, 10)]


def test_help_to_the_wrong_player() -> None:
    record = game(FREE, pool=10, start=START)
    audit = check(paper(record, d1_pool_B=None, d1_pool_C=1, d1_whists_A_B=None, d1_whists_A_C=10))
    assert {(m.field, m.kind) for m in audit.mistakes} == {
        ("d01.pool.C", "wrong player"),
        ("d01.whists.A.C", "wrong opponent"),
    }
    whists_difference(audit)


def test_the_pool_counted_down() -> None:
    """Whoever counts down from ten writes 8, 6, 4: no mistake; a slip shows in his own figures."""
    record = game(six(1), six(2), six(3), pool=10)
    audit = check(paper(record, d1_pool_A=8, d2_pool_A=6, d3_pool_A=4))
    assert not audit.mistakes and [note.code for note in audit.notes] == ["counting_down"]
    assert audit.played == audit.written
    audit = check(paper(record, d1_pool_A=8, d2_pool_A=6, d3_pool_A=5))
    assert found(audit) == [("d03.pool.A", "arithmetic", 5, 4)]
    whists_difference(audit)


def test_one_step_is_counting_down_only_in_company() -> None:
    """2 of 10 after a nine is a mistake, unless someone else at the table counts down."""
    nine = Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"})
    assert found(check(paper(game(nine, pool=10), d1_pool_A=2))) == [("d01.pool.A", "wrong price", 2, 8)]
    company = [six(n, declarer="B") for n in (2, 3)]
    audit = check(paper(game(nine, *company, pool=10), d1_pool_A=2, d2_pool_B=8, d3_pool_B=6))
    assert not audit.mistakes and [note.seat for note in audit.notes] == ["A", "B"]
    # Of two entries one is missing, and the other could be either.
    more = [replace(nine, deal=4)]
    sheet = paper(game(nine, *company, *more, pool=20), d1_pool_A=None, d2_pool_B=18, d3_pool_B=16, d4_pool_A=4)
    assert [note.seat for note in check(sheet).notes if note.code == "counting_down"] == ["B"]


def test_one_late_pool_entry_is_not_counting_down() -> None:
    """8 of 10 is both 10 - 2 and 6 + 2 with the six forgotten: the pool is counted up."""
    eight = Deal(1, "8", declarer="A", defence={"B": "pass", "C": "pass"})
    record = game(eight, six(2), pool=10)
    assert [(m.field, m.kind) for m in check(paper(record, d1_pool_A=None)).mistakes] == [("d01.pool.A", "forgotten")]


# --- what settles the same -------------------------------------------------------------------------------------------

RASPASY = Deal(1, "raspasy", tricks={"A": 0, "B": 4, "C": 6})


def test_zero_in_the_pool_or_off_the_mountain() -> None:
    for convention, sheet in (
        ("sochi", {"d1_pool_A": None, "d1_mountain_A": -1}),
        ("leningrad", {"d1_pool_A": None, "d1_mountain_A": -4}),
        ("fspr", {"d1_mountain_A": None, "d1_pool_A": 2}),
    ):
        audit = check(paper(game(RASPASY, convention=convention), **sheet))
        assert not audit.mistakes and [note.code for note in audit.notes] == ["equivalent"]
        assert audit.played == audit.written


def test_pools_closed_in_the_last_row() -> None:
    """An early stop: pools closed to ten, what is missing on the mountains, twice in leningrad."""
    for convention, weight in (("sochi", 1), ("leningrad", 2)):
        record = game(six(1), six(2, declarer="B"), pool=10, convention=convention)
        sheet = paper(record, d2_pool_B=10, d2_pool_A=10, d2_pool_C=10,
                      d2_mountain_A=8 * weight, d2_mountain_B=8 * weight, d2_mountain_C=10 * weight)  # fmt: skip
        audit = check(sheet)
        assert not audit.mistakes and [note.code for note in audit.notes] == ["equivalent"] * 3
        assert audit.played == audit.written
        early = check(paper(record, d1_pool_A=10, d1_mountain_A=8 * weight))
        assert early.mistakes and early.mistakes[0].deal == 1
        wrong = check(paper(record, d2_pool_A=10, d2_mountain_A=8 * weight + 1))
        assert wrong.mistakes and whists_difference(wrong)["A"] < 0


def test_half_a_game_off_the_mountain_in_classic() -> None:
    record = game(Deal(1, "misere", declarer="A", tricks={"A": 1}), six(2), convention="classic")
    audit = check(paper(record, d2_pool_A=2, d2_mountain_A=None))
    assert not audit.mistakes and [note.code for note in audit.notes] == ["equivalent"]
    assert audit.played == audit.written
    sochi = check(paper(game(Deal(1, "misere", declarer="A", tricks={"A": 1}), six(2)), d2_pool_A=1, d2_mountain_A=9))
    assert sochi.mistakes


def test_amnesty_on_raspasy_is_a_note_when_everyone_plays() -> None:
    raspasy = Deal(1, "raspasy", tricks={"A": 3, "B": 2, "C": 5})
    audit = check(paper(game(raspasy), d1_mountain_A=1, d1_mountain_B=None, d1_mountain_C=3))
    assert not audit.mistakes and [note.code for note in audit.notes] == ["amnesty"]
    assert audit.played == audit.written


def test_amnesty_with_an_idle_dealer_moves_whists() -> None:
    """Three of four forgive themselves two tricks: 15 whists to the dealer's cost, and every box is named."""
    raspasy = Deal(1, "raspasy", dealer="D", tricks={"A": 3, "B": 2, "C": 5})
    audit = check(paper(game(raspasy, players=4), d1_mountain_A=1, d1_mountain_B=None, d1_mountain_C=3))
    assert {m.cell.seat for m in audit.mistakes} == {"A", "B", "C"}
    assert whists_difference(audit) == {"A": 5, "B": 5, "C": 5, "D": -15}


def test_more_on_every_mountain_is_no_amnesty() -> None:
    raspasy = Deal(1, "raspasy", tricks={"A": 3, "B": 2, "C": 5})
    audit = check(paper(game(raspasy), d1_mountain_A=5, d1_mountain_B=4, d1_mountain_C=7))
    assert len(audit.mistakes) == 3 and not audit.notes


def test_an_amnesty_taken_back_by_one_is_a_mistake() -> None:
    first = Deal(1, "raspasy", tricks={"A": 3, "B": 2, "C": 5})
    second = Deal(2, "misere", declarer="A", tricks={"A": 1})
    audit = check(paper(game(first, second), d1_mountain_A=1, d1_mountain_B=None, d1_mountain_C=3, d2_mountain_A=13))
    assert [m.field for m in audit.mistakes] == ["d02.mountain.A"]
    whists_difference(audit)


def test_a_half_rounded_is_a_note() -> None:
    """Two tied winners share 5 x 5 whists: 12 1/2 each, 12 or 13 on paper."""
    deal = Deal(1, "raspasy", tricks={"A": 1, "B": 1, "C": 8})
    tie = Deal(2, "raspasy", tricks={"A": 0, "B": 5, "C": 5})
    record = Game(
        "moscow", NAMES_3, (deal, tie), "mean", options={"raspasy_whists": 5, "raspasy_count": "above_minimum"}
    )
    totals = ledger(record).end.totals()
    assert totals.whists["A"]["C"] == Fraction(35, 2) + 25
    boxes = [Written(d.deal, e.column, e.seat, int(e.total), e.on) for d in ledger(record).deals for e in d.entries]
    audit = check(replace(record, written=boxes))
    assert not audit.mistakes and [note.code for note in audit.notes] == ["rounded"] * 2
    right = [w for w in boxes if w.deal == 1] + [
        replace(w, value=43) for w in boxes if w.cell == Cell("whists", "A", "C")
    ][1:]
    again = check(replace(record, written=right), unread={(2, w.cell) for w in boxes})
    assert not again.mistakes and {note.code for note in again.notes} == {"rounded"}


NAMES_3 = {"A": "", "B": "", "C": ""}


# --- the carry-over row, unread boxes, the result --------------------------------------------------------------------


def test_the_carry_over_row_is_checked_against_the_start() -> None:
    start = Totals({"A": 4, "B": 2, "C": 0}, {"A": 6}, {"B": {"A": 12}})
    record = game(six(1), start=start)
    row = [Written(0, "pool", "A", 4), Written(0, "mountain", "A", 8), Written(0, "whists", "B", 12, "A")]
    sheet = paper(record)
    audit = check(replace(sheet, written=(*row, *sheet.written)))
    assert [(m.field, m.written, m.expected) for m in audit.mistakes] == [("d00.mountain.A", 8, 6)]
    assert audit.mistakes[0].message.ru.startswith("Перенос")


def test_the_carry_over_row_is_the_start_where_none_is_given() -> None:
    sheet = game(
        six(1), written=[Written(0, "pool", "A", 4), Written(1, "pool", "A", 6), Written(1, "whists", "B", 8, "A")]
    )
    audit = check(sheet)
    assert not audit.mistakes and audit.totals_played is not None and audit.totals_played.pool["A"] == 6


def test_an_unread_box_is_not_forgotten() -> None:
    sheet = paper(TEN_SIXES, d4_whists_B_A=None)
    audit = check(sheet, unread={(4, Cell("whists", "B", "A"))})
    assert not audit.mistakes
    # A slip somewhere at or under the unread box shows in the next box that can be read.
    slipped = paper(TEN_SIXES, d4_whists_B_A=None, **{f"d{n}_whists_B_A": 8 * n + 3 for n in range(5, 11)})
    assert [m.field for m in check(slipped, unread={(4, Cell("whists", "B", "A"))}).mistakes] == ["d05.whists.B.A"]


def test_the_written_result_is_judged_by_the_totals_as_written() -> None:
    record = game(six(1), six(2), six(3))
    sheet = paper(record)
    assert check(replace(sheet, result={"A": 16, "B": 4, "C": -20})).result.verdict == "exact"  # type: ignore[union-attr]
    wrong = check(replace(sheet, result={"A": 16, "B": 5, "C": -20})).result
    assert wrong is not None and wrong.verdict == "wrong" and "сумма 1" in wrong.message.ru


def test_deals_that_are_missing_and_deals_after_the_end_are_noted() -> None:
    nine = [Deal(n, "9", declarer="A", defence={"B": "pass", "C": "pass"}) for n in (2, 3, 6, 8)]
    record = replace(game(*nine), pool=8)
    said = [
        "сдача 1 не записана",
        "сдачи 4–5 не записаны",
        "сдача 7 не записана",
        "пулька окончена сдачей 6, дальше записаны ещё сдачи",
    ]
    assert [note.message.ru for note in check(record).notes] == said
    assert settlement_report(record)["notes"] == said
    assert [note.code for note in check(paper(record)).notes] == ["deals_missing"] * 3 + ["after_the_end"]
    goes_on = replace(record, start=Totals(dict.fromkeys("ABC", 0), dict.fromkeys("ABC", 0), {}))
    assert "сдача 1 не записана" not in settlement_report(goes_on)["notes"]
    assert not check(replace(record, deals=nine[1:2], pool=8, start=goes_on.start)).notes


def test_that_no_pool_limit_is_given_is_noted() -> None:
    (note,) = check(replace(TEN_SIXES, pool=None)).notes
    assert note.code == "no_limit" and "помощи не бывает" in note.message.ru
    assert not check(replace(TEN_SIXES, pool=30)).notes


HALVES = Game(
    "sochi", NAMES, totals=Totals(dict.fromkeys("ABCD", 10), dict(zip("ABCD", (0, 5, 10, 8), strict=True)), {})
)
"""Exact: A 57 1/2, B 7 1/2, C -42 1/2, D -22 1/2."""


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ((58, 8, -43, -23), "rounded"),  # the sum is zero, one way or the other
        ((58, 7, -43, -22), "rounded"),
        ((58, 8, -42, -22), "rounded"),  # each by itself, a half up: the sum is 2
        ((Fraction(115, 2), 7, -42, -22), "rounded"),
        ((59, 8, -43, -24), "wrong"),  # more than a whist beside
        ((58, 8, -43, -21), "wrong"),
        ((Fraction(115, 2), Fraction(15, 2), Fraction(-85, 2), Fraction(-45, 2)), "exact"),
    ],
)
def test_a_result_rounded_to_whole_whists_is_right(figures: tuple[int | Fraction, ...], verdict: str) -> None:
    judged = judge(dict(zip("ABCD", figures, strict=True)), HALVES.totals, HALVES.rules)  # type: ignore[arg-type]
    assert judged.verdict == verdict


def test_a_whole_figure_is_not_to_be_rounded() -> None:
    record = replace(HALVES, totals=Totals(dict.fromkeys("ABCD", 10), dict.fromkeys("ABCD", 4), {}), result={})
    judged = judge({"A": 1, "B": -1, "C": 0, "D": 0}, record.totals, record.rules)  # type: ignore[arg-type]
    assert judged.verdict == "wrong"


def test_what_is_wrong_with_a_result_is_told_by_name_and_as_people_write_it() -> None:
    found = check(replace(HALVES, result={"A": 60, "B": 7, "C": -43, "D": -24})).result
    assert found is not None
    assert found.message.ru == (
        "расчёт неверен: Иванов 60 вместо 57 1/2, Петров 7 вместо 7 1/2, Сидоров −43 вместо −42 1/2, "
        "Орлов −24 вместо −22 1/2"
    )
    off = check(replace(HALVES, result={"A": 50, "B": 7, "C": -43, "D": -22})).result
    assert off is not None and off.message.ru.startswith("расчёт не сходится, сумма −8, а должна быть 0: Иванов 50")


# --- fines, comparison, plain data -----------------------------------------------------------------------------------


def test_fines_of_kodeks_4_2_7() -> None:
    """Whists in excess are written back by the victim, pool points go to the writer's mountain; too little is none."""
    record = game(six(1), six(2))
    whists = fine(check(paper(record, d2_whists_B_A=18)).mistakes[0])
    assert whists is not None and (whists.cell, whists.amount) == (Cell("whists", "A", "B"), 2)
    pool = fine(check(paper(record, d2_pool_A=7)).mistakes[0])
    assert pool is not None and (pool.cell, pool.amount) == (Cell("mountain", "A"), 3)
    assert fine(check(paper(record, d2_whists_B_A=14)).mistakes[0]) is None
    mountain = paper(game(six(1, own=5)), d1_mountain_A=5)
    assert fine(check(mountain).mistakes[0]) is None


def test_two_records_of_one_table() -> None:
    one = paper(TEN_SIXES)
    assert compare(one, one) == ()
    two = replace(paper(TEN_SIXES, d3_whists_B_A=42), deals=(*TEN_SIXES.deals[:4], six(5, own=7), *TEN_SIXES.deals[5:]))
    differences = compare(one, two)
    assert [(d.deal, d.field) for d in differences] == [(3, "whists.B.A"), (5, "tricks")]
    assert differences[0].message.ru == "сдача 3, whists.B.A: 24 и 42"


def test_plain_data_of_a_mistake() -> None:
    sheet = paper(TEN_SIXES, **{f"d{n}_whists_B_A": 8 * n + 2 for n in range(3, 11)})
    report = audit_to_dict(check(sheet), sheet, "en")
    mistake = report["mistakes"][0]
    shown = [mistake[key] for key in ("deal", "field", "column", "seat", "on", "kind", "written", "expected")]
    assert shown == [3, "d03.whists.B.A", "whists", "B", "A", "arithmetic", 26, 24]
    assert mistake["cost"] == {"A": "-2", "B": "2", "C": "0"}
    assert report["difference"] == {"A": "-2", "B": "2", "C": "0"}
    assert mistake["fine"]["cell"] == "whists.A.B"


def test_every_kind_can_be_told() -> None:
    assert len(set(KINDS)) == len(KINDS) == 12


def test_no_message_has_brackets_within_brackets() -> None:
    record = game(Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4}))
    (mistake,) = check(
        replace(record, written=(Written(1, "pool", "A", 2), Written(1, "whists", "B", 7, on="A")))
    ).mistakes
    assert mistake.message.en.endswith("arithmetic; 4 tricks on whist: 4 × 2 = 8 (Kodeks 4.2.1)")
    for text in (mistake.message.ru, mistake.message.en):
        assert text.count("(") == text.count(")") == 1
