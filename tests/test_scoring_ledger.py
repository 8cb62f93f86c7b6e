"""One deal, many rules: what every option adds to which box, and why."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from scoring import Deal, Game, Totals, ledger, load_convention, post
from scoring.ledger import State, is_over, opening


def added(
    convention: str,
    deal: Deal,
    players: int = 3,
    limit: int | None = None,
    start: Totals | None = None,
    run: int = 0,
    **options: object,
) -> dict:
    """What a deal adds, by "A.pool", "A.mountain" or "B.A" for whists of B on A."""
    _, entries = post(load_convention(convention, options), opening(players, limit, start, run), deal)
    for entry in entries:
        assert entry.why.ru and entry.why.en
    return {f"{e.seat}.{e.on or e.column}": e.add for e in entries}


def game(
    contract: str,
    own: int,
    first: str = "whist",
    second: str = "pass",
    b: int | None = None,
    dealer: str | None = None,
    **more: object,
) -> Deal:
    """A plays against B, who speaks first, and C."""
    tricks = {}
    if "whist" in (first, second):
        if first == second == "whist":
            tricks = {"A": own, "B": b or 0, "C": 10 - own - (b or 0)}
        else:
            tricks = {"A": own, ("B" if first == "whist" else "C"): 10 - own}
    return Deal(1, contract, declarer="A", dealer=dealer, defence={"B": first, "C": second}, tricks=tricks, **more)  # type: ignore[arg-type]


def test_the_passers_tricks_count_for_the_lone_whister() -> None:
    expected = {"A.pool": 2, "B.A": 8}
    for tricks in ({"A": 6}, {"A": 6, "B": 4}, {"A": 6, "B": 3}, {"A": 6, "B": 3, "C": 1}, {"B": 3, "C": 1}):
        deal = Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks=tricks)
        assert added("sochi", deal) == expected


def test_a_missing_whister_follows_from_the_other() -> None:
    both = {"B": "whist", "C": "whist"}
    assert added("sochi", Deal(1, "6", declarer="A", defence=both, tricks={"A": 6, "B": 3})) == {
        "A.pool": 2,
        "B.A": 6,
        "C.A": 2,
    }
    assert added("sochi", Deal(1, "6", declarer="A", defence=both, tricks={"A": 6, "C": 3})) == {
        "A.pool": 2,
        "B.A": 2,
        "C.A": 6,
    }


def test_overtricks_give_nothing_and_short_whisters_pay() -> None:
    assert added("sochi", game("7", 9)) == {"A.pool": 4, "B.A": 4, "B.mountain": 4}
    assert added("sochi", game("7", 9), defender_multiplier="1/2")["B.mountain"] == 2
    assert "B.mountain" not in added("sochi", game("7", 9), defender_multiplier=0)
    assert added("sochi", game("9", 10)) == {"A.pool": 8, "B.mountain": 8}


@pytest.mark.parametrize(
    ("rule", "own", "b", "expected"),
    [
        ("last", 10, 0, {"C.mountain": 6}),
        ("both", 10, 0, {"B.mountain": 6, "C.mountain": 6}),
        ("split", 10, 0, {"B.mountain": 3, "C.mountain": 3}),
        ("each", 10, 0, {"B.mountain": 6, "C.mountain": 6}),
        ("each", 8, 2, {"B.A": 12, "C.mountain": 6}),
        ("last", 9, 1, {"B.A": 6}),
        ("both", 9, 0, {"C.A": 6}),
    ],
)
def test_who_answers_on_an_eight(rule: str, own: int, b: int, expected: dict) -> None:
    assert added("sochi", game("8", own, "whist", "whist", b), high_responsibility=rule) == {"A.pool": 6} | expected


@pytest.mark.parametrize(
    ("shortage", "own", "b", "expected"),
    [
        ("capped", 7, 0, {"B.mountain": 2, "C.A": 6}),
        ("personal", 7, 0, {"B.mountain": 4, "C.A": 6}),
        ("personal", 6, 0, {"C.A": 8}),
        ("capped", 9, 0, {"B.mountain": 4, "C.mountain": 2, "C.A": 2}),
    ],
)
def test_shortage_on_a_six(shortage: str, own: int, b: int, expected: dict) -> None:
    """Nobody is fined when the pair met its four; else nobody for more than the pair lacks, or each for himself."""
    assert added("sochi", game("6", own, "whist", "whist", b), shortage=shortage) == {"A.pool": 2} | expected


def test_ten_whisted_checked_and_for_consolation() -> None:
    assert added("sochi", game("10", 10)) == {"A.pool": 10, "B.mountain": 10}
    assert added("piter", game("10", 10)) == {"A.pool": 10}
    checked = Deal(1, "10", declarer="A", defence={"B": "pass", "C": "pass"}, tricks={"A": 9, "B": 1, "C": 0})
    assert added("piter", checked) == {"A.mountain": 20, "B.A": 40, "C.A": 20}
    assert added("classic", checked) == {"A.mountain": 10, "B.A": 10, "C.A": 10}
    assert added("classic", game("10", 9)) == {"A.mountain": 10, "B.A": 10, "C.A": 10}


def test_consolation() -> None:
    down = game("7", 5, dealer="D")
    assert added("sochi", down, 4) == {"A.mountain": 8, "B.A": 28, "C.A": 8, "D.A": 8}
    assert added("sochi", down, 4, dealer_consolation=False) == {"A.mountain": 8, "B.A": 28, "C.A": 8}
    assert added("sochi", down, 4, consolation="none") == {"A.mountain": 8, "B.A": 20}
    assert added("sochi", down, 4, consolation=10) == {"A.mountain": 8, "B.A": 40, "C.A": 20, "D.A": 20}
    assert added("sochi", down, 4, consolation_passer=False) == {"A.mountain": 8, "B.A": 28, "D.A": 8}


def test_gentlemans_whist() -> None:
    """All whists and both consolations halved, the dealer's own consolation apart, halves kept exact."""
    assert added("leningrad", game("6", 5, dealer="D"), 4) == {"A.mountain": 4, "B.A": 14, "C.A": 14, "D.A": 4}
    assert added("leningrad", game("6", 6)) == {"A.pool": 2, "B.A": 16}
    assert added("fspr", game("7", 7)) == {"A.pool": 4, "B.A": 12, "C.A": 12}
    odd = added("sochi", game("6", 5), whist="gentleman", values=[1, 2, 3, 4, 5, 10], consolation="none")
    assert odd == {"A.mountain": 1, "B.A": Fraction(5, 2), "C.A": Fraction(5, 2)}
    two = added("leningrad", Deal(1, "6", declarer="A", defence={"B": "whist"}, tricks={"A": 5, "B": 5}), 2)
    assert two == {"A.mountain": 4, "B.A": 24}


def test_half_whist_and_the_returned_whist() -> None:
    assert added("leningrad", game("6", 0, "pass", "half")) == {"A.pool": 2, "C.A": 8}
    assert added("sochi", game("7", 0, "pass", "half")) == {"A.pool": 4, "C.A": 4}
    returned = game("6", 5, "whist", "half", dealer="D")
    assert added("fspr", returned, 4) == {"A.mountain": 4, "B.A": 28, "D.A": 4}
    assert added("fspr", game("7", 7, "whist", "half")) == {"A.pool": 4, "B.A": 12, "C.A": 12}
    assert added("sochi", returned, 4) == {"A.mountain": 2, "B.A": 12, "C.A": 2, "D.A": 2}


def test_conceding_and_dark_bombs() -> None:
    assert added("sochi", Deal(1, "7", declarer="A", conceded=3)) == {"A.mountain": 12}
    assert added("classic", Deal(1, "7", declarer="A", conceded=3, multiplier=4, dark=True)) == {"A.mountain": 96}
    assert added("classic", game("6", 5, multiplier=2)) == {"A.mountain": 4, "B.A": 24, "C.A": 4}


# --- raspasy ---------------------------------------------------------------------------------------------------------

RASPASY = Deal(1, "raspasy", tricks={"A": 0, "B": 4, "C": 6})


@pytest.mark.parametrize(
    ("convention", "run", "expected"),
    [
        ("sochi", 0, {"A.pool": 1, "B.mountain": 4, "C.mountain": 6}),
        ("sochi", 1, {"A.pool": 2, "B.mountain": 8, "C.mountain": 12}),
        ("sochi", 7, {"A.pool": 3, "B.mountain": 12, "C.mountain": 18}),
        ("leningrad", 2, {"A.pool": 6, "B.mountain": 24, "C.mountain": 36}),
        ("piter", 3, {"A.mountain": -6, "B.mountain": 24, "C.mountain": 36}),
        ("hard-piter", 2, {"A.mountain": -8, "B.mountain": 32, "C.mountain": 48}),
        ("fspr", 0, {"A.mountain": -4, "B.mountain": 8, "C.mountain": 12}),
        ("moscow", 5, {"A.pool": 1, "A.B": 20, "A.C": 30}),
    ],
)
def test_the_price_of_raspasy(convention: str, run: int, expected: dict) -> None:
    assert added(convention, RASPASY, run=run) == expected


def test_raspasy_options() -> None:
    assert added("sochi", RASPASY, raspasy_zero="none") == {"B.mountain": 4, "C.mountain": 6}
    two = Deal(1, "raspasy", tricks={"A": 0, "B": 0, "C": 10})
    assert added("moscow", two) == {"A.pool": 1, "B.pool": 1, "A.C": 25, "B.C": 25}
    above = Deal(1, "raspasy", tricks={"A": 2, "B": 3, "C": 5})
    assert added("moscow", above, raspasy_count="above_minimum") == {"A.B": 5, "A.C": 15}
    assert added("moscow", above, raspasy_whists=[5, 10], run=1) == {"A.B": 30, "A.C": 50}
    odd = Deal(1, "raspasy", tricks={"A": 1, "B": 1, "C": 8})
    assert added("moscow", odd, raspasy_count="above_minimum") == {"A.C": Fraction(35, 2), "B.C": Fraction(35, 2)}


def test_the_dealers_talon_tricks() -> None:
    """They are written where they are recorded; his zero counts by the convention."""
    took = Deal(1, "raspasy", dealer="D", tricks={"A": 2, "B": 3, "C": 4, "D": 1})
    none = Deal(1, "raspasy", dealer="D", tricks={"A": 2, "B": 3, "C": 5, "D": 0})
    idle = Deal(1, "raspasy", dealer="D", tricks={"A": 2, "B": 3, "C": 5})
    assert added("leningrad", took, 4)["D.mountain"] == 2
    assert added("leningrad", none, 4)["D.pool"] == 2
    assert not any(box.startswith("D") for box in added("leningrad", idle, 4))
    assert not any(box.startswith("D") for box in added("piter", none, 4))
    assert added("moscow", idle, 4)["D.pool"] == 1
    assert "D.pool" not in added("moscow", idle, 4, raspasy_zero_dealer=False)


def run_after(convention: str, deal: Deal, run: int = 2) -> int:
    state, _ = post(load_convention(convention), opening(3)._replace(run=run), deal)
    return state.run


@pytest.mark.parametrize(
    ("convention", "deal", "run", "left"),
    [
        ("leningrad", game("6", 5), 2, 0),
        ("sochi", Deal(1, "misere", declarer="A", tricks={"A": 3}), 2, 0),
        ("piter", game("7", 7), 2, 0),
        ("piter", game("6", 6), 2, 2),
        ("piter", game("7", 6), 2, 2),
        ("piter", game("8", 0, "pass", "pass"), 2, 2),
        ("piter", game("10", 10), 2, 2),
        ("piter", Deal(1, "misere", declarer="A", tricks={"A": 0}), 2, 2),
        ("hard-piter", game("7", 7), 1, 0),
        ("hard-piter", game("7", 7), 2, 2),
        ("hard-piter", game("8", 8), 5, 0),
        ("classic", game("8", 0, "pass", "pass"), 2, 0),
        ("classic", game("6", 0, "pass", "pass"), 2, 2),
        ("classic", Deal(1, "misere", declarer="A", tricks={"A": 0}), 2, 0),
        ("piter", RASPASY, 2, 3),
    ],
)
def test_the_exit_from_raspasy(convention: str, deal: Deal, run: int, left: int) -> None:
    assert run_after(convention, deal, run) == left


# --- pools -----------------------------------------------------------------------------------------------------------


def test_help_goes_to_the_largest_open_pool_then_to_the_left() -> None:
    ten = Deal(1, "10", dealer="B", declarer="A", defence={"C": "pass", "D": "pass"})
    start = Totals({"A": 18, "B": 15, "C": 17, "D": 17}, {}, {})
    assert added("sochi", ten, 4, 20, start) == {
        "A.pool": 2, "C.pool": 3, "A.C": 30, "D.pool": 3, "A.D": 30, "B.pool": 2, "A.B": 20,
    }  # fmt: skip
    equal = Totals({"A": 20, "B": 17, "C": 17, "D": 17}, {}, {})
    assert added("sochi", ten, 4, 20, equal) == {
        "B.pool": 3, "A.B": 30, "C.pool": 3, "A.C": 30, "D.pool": 3, "A.D": 30, "A.mountain": -1,
    }  # fmt: skip
    assert added("leningrad", ten, 4, 20, equal) == {"A.pool": 10}


def test_help_is_worth_what_a_pool_point_weighs() -> None:
    start = Totals({"A": 9, "B": 4, "C": 0}, {}, {})
    helped = added("leningrad", game("6", 0, "pass"), 3, 10, start, help=True)
    assert helped == {"A.pool": 1, "B.pool": 1, "A.B": 20}


def test_the_premium_for_no_trick_is_not_the_dealers() -> None:
    none = Deal(1, "raspasy", dealer="D", tricks={"A": 0, "B": 5, "C": 5, "D": 0})
    entered = added("sochi", none, 4, premiums={"zero_raspasy": 25})
    assert entered == {"A.pool": 1, "D.pool": 1, "B.mountain": 5, "C.mountain": 5, "A.B": 25, "A.C": 25, "A.D": 25}


def test_the_zero_of_raspasy_helps_too() -> None:
    start = Totals({"A": 20, "B": 3, "C": 8}, {}, {})
    assert added("sochi", RASPASY, 3, 20, start) == {"C.pool": 1, "A.C": 10, "B.mountain": 4, "C.mountain": 6}


@pytest.mark.parametrize(
    ("convention", "pools", "over"),
    [
        ("sochi", (2, 10, 9), False),
        ("sochi", (3, 10, 9), True),
        ("leningrad", (22, 0, 0), True),
        ("leningrad", (21, 0, 0), False),
        ("fspr", (50, 50, 50), False),
    ],
)
def test_the_end_of_the_game(convention: str, pools: tuple[int, ...], over: bool) -> None:
    """A nine to a pool of ten each: every pool closed, or the sum of thirty reached; by the clock never."""
    start = Totals(dict(zip("ABC", pools, strict=True)), {}, {})
    nine = Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"})
    rules = load_convention(convention)
    state, _ = post(rules, opening(3, 10, start), nine)
    assert is_over(rules, state) == state.over == over


def test_piter_never_ends_inside_raspasy() -> None:
    rules = load_convention("piter")
    start = Totals({"A": 20, "B": 8, "C": 0}, {}, {})
    inside, _ = post(
        rules, opening(3, 10, start, run=1), Deal(1, "6", declarer="A", defence={"B": "pass", "C": "pass"})
    )
    assert not is_over(rules, inside)
    out, _ = post(rules, inside, game("7", 7))
    assert is_over(rules, out) and out.over
    later, _ = post(rules, out, RASPASY)
    assert later.over


def test_the_premium_for_the_least_mountain_is_written_once() -> None:
    """Races go on after their end: the raspasy and the exit that follow bring no second prize."""
    rules = load_convention("races")
    state = opening(3, 22, Totals({"A": 40, "B": 22, "C": 2}, {"A": 8, "B": 20, "C": 60}, {}))
    prizes = []
    for deal in (game("7", 7), RASPASY, game("7", 7)):
        state, entries = post(rules, state, deal)
        prizes.append([e.add for e in entries if e.column == "whists" and e.add == 200])
    assert prizes == [[200, 200], [], []]


def test_a_ledger_knows_where_the_game_was_over() -> None:
    free = [Deal(n, "10", declarer="A", defence={"B": "pass", "C": "pass"}) for n in range(1, 6)]
    record = Game("leningrad", {"A": "", "B": "", "C": ""}, free, pool=10)
    assert ledger(record).over_at(record.rules) == 3


# --- the state and the words -----------------------------------------------------------------------------------------


def test_the_state_is_a_small_value() -> None:
    state, _ = post(load_convention("sochi"), opening(4, 20), game("6", 5, dealer="D"))
    assert isinstance(state, State) and hash(state) == hash(pickle.loads(pickle.dumps(state)))
    assert opening(4, 20).cells == (0,) * 20


def test_posting_twice_from_one_state_gives_the_same() -> None:
    rules, state = load_convention("rostov"), opening(3, 10)
    assert post(rules, state, RASPASY) == post(rules, state, RASPASY)
    assert state == opening(3, 10)


def test_why_in_both_languages() -> None:
    _, entries = post(load_convention("sochi"), opening(3), game("6", 5))
    why = {(e.column, e.seat): e.why for e in entries}
    assert why["mountain", "A"].ru == "без 1: 1 × 2 = 2 (Кодекс 4.2.1)"
    assert why["mountain", "A"].en == "down 1: 1 × 2 = 2 (Kodeks 4.2.1)"
    assert why["whists", "B"].ru.startswith("5 взяток на висте: 5 × 2 = 10 (Кодекс 4.2.1); консоляция: 1 × 2 = 2")
    _, entries = post(
        load_convention("sochi"), opening(3, 10, Totals({"A": 9, "B": 4, "C": 0}, {}, {})), game("6", 0, "pass")
    )
    why = {(e.column, e.seat): e.why for e in entries}
    assert why["pool", "A"].ru == "шестерная сыграна, до закрытия пули 1 (Кодекс 4.2.3)"
    assert why["pool", "B"].ru == "помощь, помогает А: 1 очко (Кодекс 4.2.3)"
    assert why["whists", "A"].en == "whists for help: 1 × 10 = 10 (Kodeks 4.2.3)"
