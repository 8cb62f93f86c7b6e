"""Every worked number of the founding documents that the rules confirm, one test a document's example."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from scoring import Deal, Game, Totals, ledger, load_convention, settle
from scoring.game import SEATS
from scoring.ledger import opening, post
from scoring.settlement import (
    METHODS,
    close_early,
    judge,
    money,
    mountain_result,
    newcomer,
    permitted,
    rounded,
    working,
)

SOCHI, LENINGRAD = load_convention("sochi"), load_convention("leningrad")


def value(convention: str, players: int, deal: Deal, options: dict | None = None) -> list[F]:
    """What one deal is worth to each seat, in whists."""
    game = Game(convention, dict.fromkeys(SEATS[:players], ""), [deal], options=options or {})
    return list(settle(ledger(game).end.totals(), game.rules).values())


def made(contract: str, own: int, players: int = 3, whist: str = "whist") -> Deal:
    """A's contract against B, who whists, and C, who passes; D deals when there are four."""
    tricks = {} if whist == "pass" else {"A": own, "B": 10 - own}
    return Deal(
        1,
        contract,
        dealer="D" if players == 4 else None,
        declarer="A",
        defence={"B": whist, "C": "pass"},
        tricks=tricks,
    )


# --- Kodeks, part 4 --------------------------------------------------------------------------------------------------


def test_kodeks_4_1_1_remainder_off_the_mountain() -> None:
    """Two points are missing to the end, a nine is made: two to the pool, six off the mountain, even below zero."""
    start = Totals({"A": 8, "B": 10, "C": 10, "D": 10}, {"A": 0, "B": 0, "C": 0, "D": 0}, {})
    nine = Deal(1, "9", dealer="D", declarer="A", defence={"B": "pass", "C": "pass"})
    state, entries = post(SOCHI, opening(4, 10, start), nine)
    assert {(e.column, e.seat): e.add for e in entries} == {("pool", "A"): 2, ("mountain", "A"): -6}
    assert state.totals().mountain["A"] == -6


def test_kodeks_4_1_1_six_points_are_worth_fifteen_whists_from_each() -> None:
    off = Totals(dict.fromkeys("ABCD", 0), {"A": -6}, {})
    assert list(mountain_result(off, SOCHI).values()) == [45, -15, -15, -15]


def test_kodeks_4_1_1_gusarik_with_an_indivisible_mountain_writes_off_half() -> None:
    start = Totals({"A": 8, "B": 10}, {"A": 0, "B": 0}, {})
    nine = Deal(1, "9", declarer="A", defence={"B": "pass"})
    for name, off in (("gusarik", -6), ("gusarik-indivisible", -3)):
        rules = load_convention(name)
        state, entries = post(rules, opening(2, 10, start), nine)
        assert [e.add for e in entries if e.column == "mountain"] == [off]
        # The price of the game does not depend on when it is played.
        fresh, _ = post(rules, opening(2, None), nine)
        gained = settle(state.totals(), rules)["A"] - settle(start, rules)["A"]
        assert gained == settle(fresh.totals(), rules)["A"]


def test_gusarik_indivisible_point_costs_the_whole_ten() -> None:
    totals = Totals({"A": 10, "B": 10}, {"A": 12, "B": 4}, {"A": {"B": 60}, "B": {"A": 48}})
    assert settle(totals, load_convention("gusarik"))["B"] == 28
    assert settle(totals, load_convention("gusarik-indivisible"))["B"] == 68


def test_kodeks_4_2_3_3_leningrad_eight_at_48_of_50() -> None:
    for contract, pool in (("8", 54), ("9", 56)):
        start = Totals(dict.fromkeys("ABC", 48), {}, {})
        state, _ = post(
            LENINGRAD, opening(3, 50, start), Deal(1, contract, declarer="A", defence={"B": "pass", "C": "pass"})
        )
        assert state.totals().pool["A"] == pool
    levelled = working(Totals({"A": 54, "B": 48, "C": 48}, dict.fromkeys("ABC", 20), {}), LENINGRAD, "mean", 50)[
        0
    ].figures
    assert levelled == {"A": 12, "B": 24, "C": 24}
    levelled = working(Totals({"A": 56, "B": 48, "C": 48}, dict.fromkeys("ABC", 20), {}), LENINGRAD, "mean", 50)[
        0
    ].figures
    assert levelled["A"] == 20 - 12


def test_kodeks_4_2_12_three_players_lose_a_third_each() -> None:
    """A point off one mountain, three whists from each of the others: they lose a third of a whist each."""
    totals = Totals(dict.fromkeys("ABC", 0), {"A": 4, "B": 0, "C": 0}, {})
    exact = settle(totals, SOCHI)
    tables = permitted(totals, SOCHI)
    assert {"A": -26, "B": 13, "C": 13} in tables
    assert exact["B"] - 13 == F(1, 3)


def test_kodeks_4_2_12_only_where_something_breaks() -> None:
    """Mountains that divide by three leave nothing to correct: the exact table is the only one."""
    whole = Totals(dict.fromkeys("ABC", 0), {"A": 4, "B": 7, "C": 10}, {"A": {"B": 5}})
    assert permitted(whole, SOCHI) == (dict(zip("ABC", (35, -5, -30), strict=True)),)


def test_kodeks_3_1_2_newcomer() -> None:
    assert newcomer(Totals({"A": 10, "B": 4, "C": 3}, {"A": 2, "B": 9, "C": 0}, {})) == (5, 4)


# --- «Расчет пули в преферансе» --------------------------------------------------------------------------------------


FOUR_CIRCLES = Totals({"A": 78, "B": 74, "C": 32, "D": 22}, {"A": 78, "B": 60, "C": 34, "D": 76}, {})


def test_four_circles_step_by_step() -> None:
    steps = working(FOUR_CIRCLES, LENINGRAD, "circles", 50)
    assert list(steps[0].figures.values()) == [22, 12, 70, 132]
    assert list(steps[1].figures.values()) == [10, 0, 58, 120]
    assert "188" not in steps[2].text.ru and steps[2].text.ru == "Средняя гора: (10 + 0 + 58 + 120) : 4 = 47"
    assert list(steps[3].figures.values()) == [370, 470, -110, -730]
    assert [len(step.figures) for step in steps[4:7]] == [4, 4, 4]
    assert all(sum(step.figures.values()) == 0 for step in steps[3:])


def test_thirty_sixes_in_leningrad() -> None:
    """The document prints 10,6, cut off: exact is 32/3; 30 sixes bring 320."""
    six = made("6", 6)
    assert value("leningrad", 3, six)[0] == F(32, 3)
    state = opening(3, 20)
    for _ in range(30):
        state, _ = post(LENINGRAD, state, six)
    assert state.totals().pool["A"] == 60
    assert settle(state.totals(), LENINGRAD)["A"] == 320


def test_thirty_sixes_in_sochi_help_the_partners() -> None:
    """Closing his own pool and helping with forty points: 400 whists less 240 written on him."""
    state = opening(3, 20)
    for _ in range(30):
        state, _ = post(SOCHI, state, made("6", 6))
    totals = state.totals()
    assert set(totals.pool.values()) == {20}
    assert sum(totals.whists["A"].values()) == 400
    assert totals.whists["B"]["A"] == 240
    assert settle(totals, SOCHI)["A"] == 160


def test_nine_by_the_neat_trick() -> None:
    """In a pulka to two points a nine of sochi helps 60 whists' worth, eight are written: 52; leningrad twice that."""
    state, _ = post(SOCHI, opening(4, 2), made("9", 9, 4))
    totals = state.totals()
    assert sum(totals.whists["A"].values()) == 60
    assert settle(totals, SOCHI)["A"] == 52
    assert value("leningrad", 4, made("9", 9, 4))[0] == 104


def test_five_sixes_do_not_quite_pay_for_one_down() -> None:
    """The document says that it takes five sixes to make up for one down one: strictly it takes six."""
    down, six = value("sochi", 3, made("6", 5))[0], value("sochi", 3, made("6", 6))[0]
    assert 5 * six + down < 0 < 6 * six + down
    assert 4 * six == F(64, 3)


def test_raspasy_in_the_third_round_with_and_without_amnesty() -> None:
    """2-3-5 would be 3-2-5 tricks at two: 6, 4, 10; with the amnesty 2, 0, 6; the settlement is the same."""
    raspasy = Deal(1, "raspasy", tricks={"A": 3, "B": 2, "C": 5})
    nets = []
    for amnesty, expected in ((False, [6, 4, 10]), (True, [2, 0, 6])):
        rules = load_convention("sochi", {"raspasy_prices": [1, 2, 2], "raspasy_amnesty": amnesty})
        state, _ = post(rules, opening(3)._replace(run=1), raspasy)
        assert list(state.totals().mountain.values()) == expected
        nets.append(settle(state.totals(), rules))
    assert nets[0] == nets[1]


def test_one_short_of_six_twelve_and_two() -> None:
    """(5 + 1) x 2 = 12 to the whister, 2 to the passer; two down: two tricks more for each."""
    totals = ledger(Game("sochi", dict.fromkeys("ABC", ""), [made("6", 5)])).end.totals()
    assert (totals.whists["B"]["A"], totals.whists["C"]["A"], totals.mountain["A"]) == (12, 2, 2)
    totals = ledger(Game("sochi", dict.fromkeys("ABC", ""), [made("6", 4)])).end.totals()
    assert (totals.whists["B"]["A"], totals.whists["C"]["A"], totals.mountain["A"]) == (16, 4, 4)


# --- «Преферанс во всех видах» ---------------------------------------------------------------------------------------

BOOK = Totals(
    dict.fromkeys("ABCD", 0), {"A": 4, "B": 10, "C": 21, "D": 16},
    {"A": {"B": 2}, "C": {"A": 10, "B": 50}, "D": {"A": 42, "B": 78}},
)  # fmt: skip


def test_book_both_ways_and_the_exact_result() -> None:
    """The book's two ways print different whole tables; both are permitted, and it gives the exact one itself."""
    exact = settle(BOOK, SOCHI)
    assert list(exact.values()) == [F(75, 2), F(-205, 2), F(-45, 2), F(175, 2)]
    first, second = (
        dict(zip("ABCD", (38, -102, -24, 88), strict=True)),
        dict(zip("ABCD", (37, -103, -23, 89), strict=True)),
    )
    assert judge(first, BOOK, SOCHI).verdict == judge(second, BOOK, SOCHI).verdict == "permitted"
    assert judge(exact, BOOK, SOCHI).verdict == "exact"
    assert judge(dict(zip("ABCD", (38, -102, -24, 89), strict=True)), BOOK, SOCHI).verdict == "wrong"
    assert judge(dict(zip("ABCD", (40, -102, -26, 88), strict=True)), BOOK, SOCHI).verdict == "wrong"


def test_earlier_edition_compensates_with_two_whists() -> None:
    totals = Totals(dict.fromkeys("ABCD", 0), {"A": 0, "B": 5, "C": 15, "D": 11}, BOOK.whists)
    exact = settle(totals, SOCHI)
    assert list(exact.values()) == [F(55, 2), F(-205, 2), F(-25, 2), F(175, 2)]
    # One point off B's mountain, two whists from each of the others.
    table = {s: int(v + (F(3, 2) if s == "B" else F(-1, 2))) for s, v in exact.items()}
    assert table in permitted(totals, SOCHI)


def test_early_stop_settles_the_same() -> None:
    totals = Totals({"A": 10, "B": 6, "C": 3}, {"A": 8, "B": 12, "C": 5}, {"A": {"B": 20}, "C": {"A": 14}})
    closed = close_early(totals, 10, SOCHI)
    assert list(closed.mountain.values()) == [8, 16, 12]
    assert settle(closed, SOCHI) == settle(totals, SOCHI)
    leningrad = close_early(totals, 10, LENINGRAD)
    assert settle(leningrad, LENINGRAD) == settle(totals, LENINGRAD)


def test_ural_siberian_has_no_consolation_and_one_trick_on_misere() -> None:
    rules = load_convention("ural-siberian")
    _, entries = post(rules, opening(3), made("6", 5))
    assert {(e.seat, e.on): e.add for e in entries if e.column == "whists"} == {("B", "A"): 10}
    _, entries = post(rules, opening(3), Deal(1, "misere", declarer="A", tricks={"A": 4}))
    assert [e.add for e in entries] == [10]


# --- «Общие правила карточной игры преферанс», 7.2 -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "row"),
    [
        ("6", (2, 4, 8, 16)),
        ("7", (4, 8, 16, 32)),
        ("8", (6, 12, 24, 48)),
        ("9", (8, 16, 32, 64)),
        ("10", (10, 20, 40, 80)),
    ],
)
def test_classic_table_of_prices(contract: str, row: tuple[int, ...]) -> None:
    """Light games plain, on a bomb, a double bomb and a triple one; dark ones cost twice that."""
    rules = load_convention("classic")
    for dark in (False, True):
        for multiplier, price in zip((1, 2, 4, 8), row, strict=True):
            deal = Deal(
                1,
                contract,
                dealer="D",
                declarer="A",
                defence={"B": "pass", "C": "pass"},
                multiplier=multiplier,
                dark=dark,
            )
            _, entries = post(rules, opening(4), deal)
            assert [e.add for e in entries] == [price * (2 if dark else 1)]


@pytest.mark.parametrize("multiplier", [1, 2, 4, 8])
def test_classic_misere_on_bombs(multiplier: int) -> None:
    rules = load_convention("classic")
    for taken, amount in ((0, 10), (2, 20)):
        _, entries = post(
            rules, opening(4), Deal(1, "misere", dealer="D", declarer="A", tricks={"A": taken}, multiplier=multiplier)
        )
        assert [e.add for e in entries] == [amount * multiplier]


def test_classic_seven_down_one_on_a_bomb() -> None:
    """8 in the mountain, 40 whists to the whister, 8 to the passer and to the dealer: 56 and 60 net off the mountain.

    The document says 80 whists by the mountain: that is the gross amount, a quarter of it comes back.
    """
    deal = Deal(
        1, "7", dealer="D", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4}, multiplier=2
    )
    rules = load_convention("classic")
    state, entries = post(rules, opening(4), deal)
    assert {(e.column, e.seat): e.add for e in entries} == {
        ("mountain", "A"): 8, ("whists", "B"): 40, ("whists", "C"): 8, ("whists", "D"): 8,
    }  # fmt: skip
    assert mountain_result(state.totals(), rules)["A"] == -60
    assert settle(state.totals(), rules)["A"] == -116


def test_classic_half_of_a_made_game_comes_off_the_mountain() -> None:
    """One point to the pool, one off the mountain; with no mountain both go to the pool."""
    rules = load_convention("classic")
    start = Totals(dict.fromkeys("ABC", 0), {"A": 5}, {})
    _, entries = post(rules, opening(3, None, start), made("6", 6, whist="pass"))
    assert {e.column: e.add for e in entries} == {"pool": 1, "mountain": -1}
    _, entries = post(rules, opening(3), made("6", 6, whist="pass"))
    assert {e.column: e.add for e in entries} == {"pool": 2}


def test_classic_zero_on_raspasy_is_lost_without_a_mountain() -> None:
    rules = load_convention("classic")
    raspasy = Deal(1, "raspasy", tricks={"A": 0, "B": 4, "C": 6})
    for mountain, off in ((0, None), (1, -1), (7, -1)):
        _, entries = post(rules, opening(3, None, Totals(dict.fromkeys("ABC", 0), {"A": mountain}, {})), raspasy)
        assert next((e.add for e in entries if e.seat == "A"), None) == off


def test_classic_totus() -> None:
    rules = load_convention("classic")
    start = Totals(dict.fromkeys("ABC", 4), {"A": 30}, {})
    made_totus = Deal(1, "10", declarer="A", defence={"B": "pass", "C": "pass"}, tricks={"A": 10}, totus=True)
    state, _ = post(rules, opening(3, 20, start), made_totus)
    assert (state.totals().pool["A"], state.totals().mountain["A"]) == (20, 0)
    failed = Deal(
        1, "10", declarer="A", defence={"B": "pass", "C": "pass"}, tricks={"A": 9, "B": 1, "C": 0}, totus=True
    )
    state, _ = post(rules, opening(3, 20, start), failed)
    assert state.totals().mountain["A"] == 60


def test_talon_premiums() -> None:
    """An ace is worth one trick, ace and king two; the dealer writes, or the two opponents half each."""
    four = Deal(1, "6", dealer="D", declarer="A", defence={"B": "pass", "C": "pass"}, talon_units=3)
    _, entries = post(SOCHI, opening(4), four)
    assert [(e.seat, e.add) for e in entries if e.column == "whists"] == [("D", 6)]
    three = Deal(1, "6", declarer="A", defence={"B": "pass", "C": "pass"}, talon_units=1)
    _, entries = post(SOCHI, opening(3), three)
    assert [(e.seat, e.add) for e in entries if e.column == "whists"] == [("B", 1), ("C", 1)]
    _, entries = post(load_convention("moscow", {"talon_premium": 7}), opening(4), four)
    assert [(e.seat, e.add) for e in entries if e.column == "whists"] == [("D", 21)]


# --- «Преферанс», стр. 6 ---------------------------------------------------------------------------------------------


def test_moscow_greedy_for_comparison() -> None:
    _, entries = post(load_convention("moscow", {"whist": "greedy"}), opening(3), made("6", 5))
    assert {(e.seat, e.add) for e in entries if e.column == "whists"} == {("B", 20), ("C", 10)}


def test_moscow_zero_of_nine() -> None:
    _, entries = post(load_convention("moscow"), opening(3), Deal(1, "raspasy", tricks={"A": 0, "B": 1, "C": 9}))
    assert {(e.column, e.seat, e.on): e.add for e in entries} == {
        ("whists", "A", "B"): 5, ("whists", "A", "C"): 45, ("pool", "A", None): 1,
    }  # fmt: skip


def test_leningrad_table() -> None:
    for contract, price in (("6", 2), ("7", 4), ("8", 6), ("9", 8), ("10", 10)):
        rate = LENINGRAD.rates[contract]
        assert (rate.price, rate.whist, rate.under, rate.short) == (price, 2 * price, 2 * price, price)
    assert (LENINGRAD.rates["misere"].price, LENINGRAD.rates["misere"].under) == (10, 20)


def test_leningrad_gentleman_and_greedy() -> None:
    """4 x (5 + 1 + 1) : 2 = 14 each; greedily 24 and 4."""
    _, entries = post(LENINGRAD, opening(3), made("6", 5))
    assert {(e.column, e.seat): e.add for e in entries} == {
        ("mountain", "A"): 4,
        ("whists", "B"): 14,
        ("whists", "C"): 14,
    }
    _, entries = post(load_convention("leningrad", {"whist": "greedy"}), opening(3), made("6", 5))
    assert {(e.column, e.seat): e.add for e in entries} == {
        ("mountain", "A"): 4,
        ("whists", "B"): 24,
        ("whists", "C"): 4,
    }


def test_leningrad_levelling_to_the_limit() -> None:
    """Pools 40, 60, 52 of 50, mountains 100 each become 120, 80, 96; amnestied 40, 0, 16.

    The document prints 133,3, 186,6, 213,3 and 26,6, cut off; exact are 400/3, 560/3, -640/3 and 80/3.
    """
    totals = Totals({"A": 40, "B": 60, "C": 52}, dict.fromkeys("ABC", 100), {})
    steps = working(totals, LENINGRAD, "mountain", 50)
    assert list(steps[0].figures.values()) == [120, 80, 96]
    assert list(steps[1].figures.values()) == [40, 0, 16]
    assert list(steps[2].figures.values()) == [F(400, 3), 0, F(160, 3)]
    assert list(steps[-1].figures.values()) == [F(-640, 3), F(560, 3), F(80, 3)]
    assert list(settle(totals, LENINGRAD).values()) == [F(-640, 3), F(560, 3), F(80, 3)]


def test_rostov_common_pool() -> None:
    """Of 100 in four pools the mean is 25: 60 takes 70 off the mountain, 5 puts 40 on it."""
    totals = Totals({"A": 60, "B": 5, "C": 20, "D": 15}, dict.fromkeys("ABCD", 100), {})
    levelled = working(totals, load_convention("rostov-common-pool"))[0].figures
    assert (levelled["A"], levelled["B"]) == (30, 140)


def test_rostov_premiums() -> None:
    """50 for a misère, 50 for closing first, 50 for the least mountain at the end, all on everyone."""
    rules = load_convention("rostov-premiums")
    start = Totals({"A": 2, "B": 10, "C": 9}, {"A": 8, "B": 4, "C": 0}, {})
    _, entries = post(
        rules,
        opening(3, 10, Totals({"A": 2, "B": 8, "C": 9}, {}, {})),
        Deal(1, "misere", declarer="A", tricks={"A": 0}),
    )
    whists = {(e.seat, e.on): e.add for e in entries if e.column == "whists"}
    # Misère 50 and first close 50 on each, ten for the point that closes C and ten for the one that B gets.
    assert whists == {("A", "B"): 110, ("A", "C"): 110}
    _, entries = post(rules, opening(3, 10, start), Deal(1, "misere", declarer="A", tricks={"A": 0}))
    whists = {(e.seat, e.on): e.add for e in entries if e.column == "whists"}
    # The misère closes A and helps C with one point, the last off A's mountain; then C has the least mountain.
    assert whists == {("A", "B"): 50, ("A", "C"): 60, ("C", "A"): 50, ("C", "B"): 50}


def test_races_prizes() -> None:
    """The first to the limit writes 300 on each; the least mountain at the end 200 on each, ties share."""
    rules = load_convention("races")
    start = Totals({"A": 14, "B": 20, "C": 24}, {"A": 8, "B": 8, "C": 60}, {})
    _, entries = post(rules, opening(3, 22, start), Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"}))
    assert {(e.seat, e.on): e.add for e in entries if e.column == "whists"} == {("A", "C"): 100, ("B", "C"): 100}
    fresh = Totals({"A": 14, "B": 0, "C": 0}, {}, {})
    _, entries = post(rules, opening(3, 22, fresh), Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"}))
    assert {(e.seat, e.on): e.add for e in entries if e.column == "whists"} == {("A", "B"): 300, ("A", "C"): 300}


def test_rules_of_russian_preferans_kazakhstan() -> None:
    """Pool, mountain and whists on the scale 8 to 40; the passing partner writes no consolation."""
    _, entries = post(load_convention("kazakhstan"), opening(4), made("6", 5, 4))
    assert {(e.column, e.seat): e.add for e in entries} == {
        ("mountain", "A"): 8,
        ("whists", "B"): 48,
        ("whists", "D"): 8,
    }


# --- what a deal is worth to the declarer ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("convention", "players", "options", "free", "done", "down"),
    [
        (
            "sochi",
            3,
            {},
            (F(40, 3), F(80, 3), 40, F(160, 3)),
            (F(16, 3), F(44, 3), 28, F(136, 3)),
            (F(-82, 3), F(-152, 3), -70, F(-256, 3)),
        ),
        ("sochi", 4, {}, (15, 30, 45, 60), (7, 18, 33, 52), (-31, -58, -81, -100)),
        ("leningrad", 4, {"whist": "greedy"}, (30, 60, 90, 120), (14, 36, 66, 104), (-62, -116, -162, -200)),
        ("rostov", 4, {"whist": "greedy"}, (15, 30, 45, 60), (7, 18, 33, 52), (-55, -76, -93, -106)),
        ("rostov", 4, {}, (15, 30, 45, 60), (7, 18, 33, 52), (-55, -76, -93, -106)),
    ],
)
def test_value_of_a_deal(convention: str, players: int, options: dict, free: tuple, done: tuple, down: tuple) -> None:
    for place, contract in enumerate(("6", "7", "8", "9")):
        need = int(contract)
        assert value(convention, players, made(contract, need, players, "pass"), options)[0] == free[place]
        assert value(convention, players, made(contract, need, players), options)[0] == done[place]
        assert value(convention, players, made(contract, need - 1, players), options)[0] == down[place]


@pytest.mark.parametrize(
    ("convention", "players", "amount"),
    [("sochi", 3, F(200, 3)), ("sochi", 4, 75), ("leningrad", 4, 150), ("rostov", 4, 75)],
)
def test_value_of_a_misere(convention: str, players: int, amount: F) -> None:
    dealer = "D" if players == 4 else None
    assert value(convention, players, Deal(1, "misere", dealer=dealer, declarer="A", tricks={"A": 0}))[0] == amount
    assert value(convention, players, Deal(1, "misere", dealer=dealer, declarer="A", tricks={"A": 1}))[0] == -amount


def test_money_rounds_once_and_sums_to_zero() -> None:
    paid = money({"A": F(16, 3), "B": F(4, 3), "C": F(-20, 3)}, F(1, 2), F(1, 100))
    assert sum(paid.values()) == 0
    assert paid == {"A": F(267, 100), "B": F(67, 100), "C": F(-334, 100)}
    with pytest.raises(ValueError, match="stake"):
        money({"A": F(1), "B": F(-1)}, -1)


def test_whole_whists_of_equal_remainders() -> None:
    assert rounded({"A": F(1, 3), "B": F(1, 3), "C": F(-2, 3)}) == {"A": 1, "B": 0, "C": -1}


def test_unknown_method() -> None:
    assert METHODS == ("mountain", "mean", "circles")
    with pytest.raises(ValueError, match="no method"):
        working(BOOK, SOCHI, "guess")
