"""The rules weigh what the ink can say; they never overwrite it."""

import numpy as np
import pytest

from benchmarks.reading import fill_in
from recognize.decide import decide
from recognize.ink import UNSEEN, answered_ink, mark_ink, number_ink
from recognize.pipeline import _seen_otherwise
from recognize.rows import Row, RowInk, row_candidates, tricks_probability
from recognize.search import Sheet
from recognize.simulation.table import play, write_down
from recognize.totals import Step, backward, forward
from scoring import check
from scoring.convention import load_convention
from scoring.game import COLUMNS
from templates import load_form


def clear_ink(form, values):
    """A perfect reader's ink."""
    ink = {}
    for field in form.fields:
        value = values.get(field.id, "")
        if field.kind == "mark":
            ink[field.id] = mark_ink(0.99999 if value else 0.00001, 0.0)
        elif field.kind == "number":
            ink[field.id] = saying({value: 1.0})
    return ink


def saying(shares):
    return number_ink(shares.items(), lambda value: shares.get(value, 1e-9))


def sheet_of(convention, players, seed, mistakes=0, habit="sparse"):
    rng = np.random.default_rng(seed)
    form = load_form("protocol", players)
    game = play(convention, players, 20, rng)
    values, slips = write_down(game, rng, mistakes, habit)
    sheet = Sheet(form, convention, load_convention(convention), {}, game.pool, dict(game.players))
    return sheet, game, values, slips


@pytest.mark.parametrize("convention", ["sochi", "leningrad", "piter", "rostov"])
@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("habit", ["sparse", "dashes", "full"])
def test_a_clear_honest_sheet_asks_nothing_and_settles(convention, players, habit):
    sheet, game, values, _ = sheet_of(convention, players, 1, habit=habit)
    decision = decide(sheet, clear_ink(sheet.form, values))
    assert decision.review == () and decision.mistakes == ()
    assert {n: f.value for n, f in decision.fields.items() if f.value} == {n: v for n, v in values.items() if v}
    played = {seat: str(value) for seat, value in check(game).played.items()}
    assert decision.played == played == decision.written


@pytest.mark.parametrize(
    "kind",
    ["arithmetic", "forgotten", "wrong price", "wrong opponent", "transposed digits", "entered twice", "wrong column",
     "wrong row", "wrong player", "cancelling", "copied total", "row too low"],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_a_slip_on_clear_ink_is_a_mistake_or_a_question_never_silence(kind, seed):
    sheet, _, values, slips = sheet_of("sochi", 4, seed, [kind])
    decision = decide(sheet, clear_ink(sheet.form, values))
    asked = {question.field for question in decision.review}
    found = {mistake.field for mistake in decision.mistakes}
    assert slips and slips[0].field in found | asked
    # What is on the paper stays what is on the paper.
    for name, field in decision.fields.items():
        assert field.value == values.get(name, "") or name in asked


@pytest.mark.parametrize("seed", range(4))
def test_totals_of_the_last_deal_in_the_row_below_are_in_the_wrong_row_and_the_rest_is_still_audited(seed):
    sheet, game, values, slips = sheet_of("sochi", 3, seed, ["arithmetic"])
    last = f"d{game.deals[-1].deal:02d}"
    due = [name for name in values if name.startswith(last) and name.split(".")[1] in COLUMNS]
    low = {f"d{game.deals[-1].deal + 1:02d}{name[3:]}": values.pop(name) for name in due}
    decision = decide(sheet, clear_ink(sheet.form, values | low))
    found = {mistake.field: mistake.kind for mistake in decision.mistakes}
    # Help that stands a row late is help that was missed at first.
    assert {found.get(name) for name in due} <= {"wrong row", "missed help"}
    assert "wrong row" in found.values()
    assert slips[0].field in found
    assert decision.played == {seat: str(value) for seat, value in check(game).played.items()}


def test_a_total_written_far_below_the_last_deal_is_asked_about_and_the_rest_is_still_audited():
    sheet, game, values, _ = sheet_of("sochi", 3, 1)
    stray = f"d{sheet.form.rows:02d}"
    assert game.deals[-1].deal + 1 < sheet.form.rows
    decision = decide(sheet, clear_ink(sheet.form, values | {f"{stray}.pool.A": "77"}))
    assert f"{stray}.contract.6" in {question.field for question in decision.review}
    assert decision.played == {seat: str(value) for seat, value in check(game).played.items()} == decision.written
    assert decision.mistakes == ()


@pytest.mark.parametrize("seed", [*range(24), 20047, 20095, 500226])
def test_on_clear_ink_no_made_up_table_is_settled_wrongly_in_silence(seed):
    """Slips of every kind, those among them that the model does not know, boxes forgotten and put right."""
    paper = fill_in(seed, np.random.default_rng([seed, 7]))
    game = paper.game
    sheet = Sheet(paper.form, game.convention, load_convention(game.convention), {}, game.pool, dict(game.players))
    decision = decide(sheet, clear_ink(paper.form, paper.values))
    if not decision.review:
        assert decision.played == {seat: str(value) for seat, value in check(game).played.items()}
        assert decision.written == {seat: str(value) for seat, value in check(paper.as_written()).written.items()}


def test_why_nothing_is_audited_is_said():
    sheet, _, _, _ = sheet_of("sochi", 3, 1)
    decision = decide(sheet, clear_ink(sheet.form, {"d03.pool.A": "77"}))
    assert decision.played is None
    assert [question.field for question in decision.review] == ["d03.contract.6"]
    assert any("there are no deals" in note.en for note in decision.notes)


def test_the_rules_make_a_one_or_seven_sure():
    sheet, _, values, _ = sheet_of("sochi", 4, 2)
    name = next(n for n, v in values.items() if n.split(".")[1] == "whists" and "1" in v)
    ink = clear_ink(sheet.form, values) | {name: saying({values[name]: 0.45, values[name].replace("1", "7", 1): 0.55})}
    field = decide(sheet, ink).fields[name]
    assert (field.value, field.state, field.why) == (values[name], "clear", "rules")


def test_a_confident_reading_that_contradicts_everything_is_asked_about_not_corrected():
    sheet, _, values, _ = sheet_of("sochi", 4, 3)
    name = [n for n, v in values.items() if n.split(".")[1] == "whists" and len(v) == 2][3]
    other = str(int(values[name]) + 2)
    decision = decide(sheet, clear_ink(sheet.form, values) | {name: saying({other: 0.999, values[name]: 0.001})})
    assert name in {question.field for question in decision.review}


def test_a_forgotten_mark_that_the_rest_makes_sure_is_noted_and_not_filled_in():
    sheet, _, values, _ = sheet_of("sochi", 4, 4)
    name = next(n for n in values if n.split(".")[1] == "contract" and n.startswith("d05"))
    gone = {n: v for n, v in values.items() if n != name}
    decision = decide(sheet, clear_ink(sheet.form, gone))
    assert decision.fields[name].value == ""
    assert decision.review == ()
    (note,) = decision.notes
    assert note.en == f"deal 5 [{name}]: there is no mark, but the rest of the deal calls for one"
    assert [deal.contract for deal in decision.game.deals if deal.deal == 5] == [name.split(".")[2]]


def test_a_trick_written_against_which_the_totals_are_reckoned_is_asked_about():
    """A misère with one trick, entered as if it had been made: a slip in the tricks, or in the totals."""
    sheet, game, values, _ = sheet_of("sochi", 3, 0)
    made = next(d for d in game.deals if d.contract == "misere" and d.tricks[d.declarer] == 0)
    field = f"d{made.deal:02d}.tricks.{made.declarer}"
    decision = decide(sheet, clear_ink(sheet.form, values | {field: "1"}))
    assert field in {question.field for question in decision.review}


def test_the_more_figures_are_read_the_less_it_may_be_that_nothing_is_written():
    one, two, nothing = (number_ink([(text, 0.999)], lambda value: 0.0) for text in ("2", "22", ""))
    assert nothing("2") > one("") > 9 * two("") > 0
    # It is rather another figure that nobody foresaw.
    assert one("7") > one("") and two("27") > two("")


def test_a_nought_before_a_number_says_nothing():
    sheet, _, values, _ = sheet_of("sochi", 4, 3)
    name = next(n for n, v in values.items() if n.split(".")[1] == "whists" and len(v) == 2)
    seen = saying({"0" + values[name]: 0.95, values[name]: 0.04, "": 1e-6})
    decision = decide(sheet, clear_ink(sheet.form, values) | {name: seen})
    assert decision.fields[name].value == values[name] and decision.fields[name].confidence > 0.999
    assert decision.review == ()
    without_rules = decide(Sheet(sheet.form, None, None, {}, None, {}), {name: seen})
    assert without_rules.fields[name].value == values[name]


def test_nobody_takes_more_than_ten_tricks():
    dash = {"-": 0.2, "57": 0.7, "52": 0.1}
    assert tricks_probability(None, "57") < 1e-4 * tricks_probability(None, "-")
    # What looks like a number that cannot stand there does not speak for a trick count that was not due.
    ink = RowInk(1, None, "ABC", marks_of("6", "A"), {"A": saying({"10": 0.999}), "B": saying(dash), "C": saying(dash)})
    best = row_candidates(ink, False, False)[0]
    assert (best.contract, best.declarer, best.tricks) == ("6", "A", ())


def test_a_row_that_may_be_empty_is_one_of_its_candidates():
    faint = {key: mark_ink(0.5, 0.0) if key == ("contract", "6") else mark for key, mark in marks_of("6", "A").items()}
    ink = RowInk(1, None, "ABC", faint, {seat: saying({"": 1.0}) for seat in "ABC"})
    rows = row_candidates(ink, True, True)
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True) and len(rows) <= 40
    assert Row(1, None, None) in rows or scores[0] >= 14


def marks_of(contract, declarer):
    called = {("contract", contract), ("declarer", declarer)}
    keys = [(column, seat) for column in ("declarer", "whist") for seat in "ABC"]
    keys += [("contract", c) for c in ("6", "7", "8", "9", "10", "misere", "raspasy")]
    return {key: mark_ink(0.99999 if key in called else 0.00001, 0.0) for key in keys}


def test_what_cannot_be_seen_is_unreadable_and_asked_about_where_something_is_due():
    sheet, _, values, _ = sheet_of("sochi", 4, 5)
    due = next(n for n in values if n.split(".")[1] == "whists")
    idle = "d24.pool.A"
    decision = decide(sheet, clear_ink(sheet.form, values) | {due: UNSEEN, idle: UNSEEN})
    assert decision.fields[due].state == "unreadable" and decision.fields[due].value == ""
    assert due in {question.field for question in decision.review}


def test_without_rules_the_picture_alone_speaks():
    sheet, _, values, _ = sheet_of("sochi", 4, 6)
    name = next(iter(n for n in values if n.split(".")[1] == "pool"))
    ink = clear_ink(sheet.form, values) | {name: saying({"4": 0.6, "9": 0.4})}
    decision = decide(Sheet(sheet.form, None, None, {}, None, {}), ink)
    assert decision.game is None and decision.fields[name].value == "4"
    assert [question.field for question in decision.review] == [name]


def test_an_answer_is_stronger_than_ink_and_settles_what_hangs_on_it():
    sheet, _, values, _ = sheet_of("sochi", 4, 3)
    name = [n for n, v in values.items() if n.split(".")[1] == "whists" and len(v) == 2][3]
    other = str(int(values[name]) + 2)
    ink = clear_ink(sheet.form, values) | {name: saying({other: 0.999, values[name]: 0.001})}
    for answer in (values[name], other):
        decision = decide(sheet, ink | {name: answered_ink(answer)})
        assert decision.fields[name].value == answer and decision.fields[name].why == "person"
        assert name not in {question.field for question in decision.review}
        assert bool(decision.mistakes) == (answer == other)


@pytest.mark.parametrize("seed", [3, 4])
def test_an_answer_that_cannot_be_is_asked_about_again(seed):
    sheet, _, values, _ = sheet_of("sochi", 4, seed)
    name = next(n for n, v in values.items() if n.split(".")[1] == "tricks" and v not in ("", "-", "0"))
    decision = decide(sheet, clear_ink(sheet.form, values) | {name: answered_ink("99")})
    assert decision.fields[name].value == "99" and name in {question.field for question in decision.review}


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_a_row_in_which_nothing_is_marked_is_told_by_its_totals_and_asked_about(seed):
    sheet, game, values, _ = sheet_of("sochi", 4, seed)
    special = ("declarer", "contract", "whist", "tricks")
    gone = {n: v for n, v in values.items() if not (n.startswith("d05.") and n.split(".")[1] in special)}
    decision = decide(sheet, clear_ink(sheet.form, gone))
    assert any(question.field.startswith("d05.contract.") for question in decision.review)
    assert decision.played == {seat: str(value) for seat, value in check(game).played.items()}
    # Who looked and saw that nothing is marked has answered.
    ink = clear_ink(sheet.form, gone)
    looked = {question.field: answered_ink("", ink[question.field]) for question in decision.review}
    after = decide(sheet, ink | looked)
    assert after.review == () and after.played == decision.played
    (unmarked,) = (name for name in values if name.startswith("d05.contract."))
    due = f"deal 5 [{unmarked}]: there is no mark, but the rest of the deal calls for one"
    assert due in [note.en for note in after.notes]


def test_totals_that_no_deal_explains_are_asked_about_not_passed_over():
    sheet, _, values, _ = sheet_of("sochi", 4, 4)
    special = ("declarer", "contract", "whist", "tricks")
    gone = {n: v for n, v in values.items() if not (n.startswith("d05.") and n.split(".")[1] in special)}
    box = next(n for n in gone if n.startswith("d05."))
    odd = gone | {box: str(int(gone[box]) + 37), "d05.whists.A.B": "331"}
    decision = decide(sheet, clear_ink(sheet.form, odd))
    assert any(question.field.startswith("d05.") for question in decision.review)


def test_a_deal_in_doubt_is_asked_about_though_every_box_is_plain():
    # The dealer's nought on raspasy stands there, and its points are missing: forgotten, or was it not to count?
    sheet, game, values, _ = sheet_of("leningrad", 4, 1015)
    box = "d19.pool.B"
    assert game.deals[18].tricks["B"] == 0 and box in values
    decision = decide(sheet, clear_ink(sheet.form, {n: v for n, v in values.items() if n != box}))
    assert any(question.field.startswith("d19.") for question in decision.review)


def test_what_a_person_answered_is_noted_with_its_box_and_not_asked_again():
    sheet, _, values, _ = sheet_of("sochi", 4, 9)
    name = next(n for n, v in values.items() if n.split(".")[1] == "tricks" and v not in ("", "-", "0"))
    other = str(int(values[name]) - 1)
    ink = clear_ink(sheet.form, values)
    decision = decide(sheet, ink | {name: answered_ink(other, ink[name])})
    assert decision.review == () and any(name in note.en for note in decision.notes)


def carried_slip():
    """A sheet on which a slip stands below another total of its column: the names of both boxes, and what is due."""
    for seed in range(40):
        sheet, game, values, slips = sheet_of("sochi", 4, seed, ["arithmetic"])
        column = slips[0].field.split(".", 1)[1]
        above = [name for name in sorted(values) if name.endswith("." + column) and name < slips[0].field]
        if above:
            return sheet, values, slips[0], above[-1]
    raise AssertionError


def test_a_mistake_is_no_surer_than_the_total_above_it():
    sheet, values, slip, above = carried_slip()
    ink = clear_ink(sheet.form, values)
    (claimed,) = decide(sheet, ink).mistakes
    assert claimed.field == slip.field and claimed.confidence > 0.97
    # What is read above makes a difference to what is due below: here the slip may stand there instead.
    other = str(int(values[above]) + slip.written - slip.expected)
    decision = decide(sheet, ink | {above: saying({values[above]: 0.5, other: 0.5})})
    asked = {question.field for question in decision.review}
    assert above in asked and {m.field for m in decision.mistakes if m.confidence > 0.97} <= asked


def test_what_a_person_says_stands_there_is_not_asked_about_as_misread():
    sheet, values, slip, _ = carried_slip()
    ink = clear_ink(sheet.form, values)
    ink[slip.field] = saying({str(slip.written): 0.6, str(slip.expected): 0.4})
    (doubted,) = (m for m in decide(sheet, ink).mistakes if m.field == slip.field)
    assert slip.field in {question.field for question in decide(sheet, ink).review} and doubted.confidence < 0.95
    after = decide(sheet, ink | {slip.field: answered_ink(values[slip.field], ink[slip.field])})
    assert slip.field not in {question.field for question in after.review}
    assert slip.field in {mistake.field for mistake in after.mistakes}


@pytest.mark.parametrize("seen", [True, False])
def test_a_mistake_may_stand_in_a_doubtful_total_above_it_which_settles_it(seen):
    sheet, values, slip, above = carried_slip()
    other = str(int(values[above]) + slip.written - slip.expected)
    doubtful = saying({values[above]: 0.5, other: 0.5}) if seen else UNSEEN
    ink = clear_ink(sheet.form, values) | {above: doubtful}
    decision = decide(sheet, ink)
    (claimed,) = decision.mistakes
    assert claimed.field == slip.field and claimed.confidence <= (0.6 if seen else 0.5)
    first, second = decision.review
    assert (first.field, second.field) == (above, slip.field) and "another question" in second.why.en
    # Either answer settles it.
    for answer, at in ((values[above], slip.field), (other, above)):
        after = decide(sheet, ink | {above: answered_ink(answer, ink[above])})
        (mistake,) = after.mistakes
        assert mistake.field == at and mistake.confidence > 0.95 and not after.review


@pytest.mark.parametrize(("players", "seed"), [(3, 22), (4, 11)])
def test_where_the_deal_is_in_doubt_a_plain_total_is_not_called_misread(players, seed):
    # Points of the pool stand in the mountain: or did the declarer give up? No ink can tell.
    sheet, _, values, (slip,) = sheet_of("sochi", players, seed, ["wrong column"])
    (question,) = decide(sheet, clear_ink(sheet.form, values)).review
    assert question.field == slip.field and "played otherwise" in question.why.en


def test_a_total_written_once_more_says_less_than_one_that_is_new():
    # Whoever's 9 is taken for a 1 is misread so in every row in which he writes his 90 again.
    seen = saying({"10": 0.93, "90": 0.06, "": 1e-6})
    either = {(10, 0): 0.5, (90, 0): 0.5}
    after, _ = forward(either, Step("d09.mountain.C", seen, 0, rewritten=0.9))
    assert 1 < after[10, 0] / after[90, 0] < 5
    new, _ = forward({(0, 0): 0.5, (80, 0): 0.5}, Step("d09.mountain.C", seen, 10, rewritten=0.9))
    assert new[10, 0] / new[90, 0] > 12
    # An empty box is no total written once more.
    empty = saying({"": 0.999})
    _, values = backward(dict.fromkeys(either, 1.0), either, Step("d09.mountain.C", empty, 0, rewritten=0.9))
    assert values[""] > 0.999


@pytest.mark.parametrize(("players", "seed"), [(4, 1), (4, 5), (3, 7)])
def test_two_deals_in_each_others_rows_are_said_and_settle_as_played(players, seed):
    sheet, game, values, _ = sheet_of("sochi", players, seed)
    rows = {"d06.": "d07.", "d07.": "d06."}
    paper = {rows.get(name[:4], name[:4]) + name[4:]: value for name, value in values.items()}
    decision = decide(sheet, clear_ink(sheet.form, paper))
    assert [note.en for note in decision.notes] == ["deals 6 and 7 are written in each other's rows"]
    assert decision.review == () and decision.mistakes == ()
    assert {n: f.value for n, f in decision.fields.items() if f.value} == {n: v for n, v in paper.items() if v}
    played = {seat: str(value) for seat, value in check(game).played.items()}
    assert decision.played == played == decision.written


def test_a_slip_in_exchanged_rows_is_told_where_it_stands():
    sheet, _, values, _ = sheet_of("sochi", 3, 7)
    name = next(n for n in sorted(values) if n.startswith("d09.") and n.split(".")[1] in ("whists", "mountain"))
    slipped = {n: str(int(v) + 1) for n, v in values.items() if n[3:] == name[3:] and n >= name and v.isdigit()}
    rows = {"d06.": "d07.", "d07.": "d06.", "d09.": "d10.", "d10.": "d09."}
    paper = {rows.get(n[:4], n[:4]) + n[4:]: value for n, value in (values | slipped).items()}
    decision = decide(sheet, clear_ink(sheet.form, paper))
    assert [(m.deal, m.field) for m in decision.mistakes] == [(10, "d10." + name[4:])]
    assert len(decision.notes) == 2 and decision.review == ()


def test_an_answer_against_what_the_photo_clearly_shows_is_told_of():
    ink = {"d10.whists.D.B": saying({"61": 0.9999}), "d01.pool.A": saying({"4": 0.6, "9": 0.4}), "d02.pool.A": UNSEEN}
    told = {"d10.whists.D.B": "16", "d01.pool.A": "9", "d02.pool.A": "12"}
    (note,) = _seen_otherwise(ink, told)
    assert note.en.startswith('[d10.whists.D.B]: the answer "16" is taken, though the photo clearly says: 61;')
    assert not list(_seen_otherwise(ink, {"d10.whists.D.B": "61"}))


def test_a_result_that_only_some_wrote_down_is_said_to_be_unchecked():
    sheet, _, values, _ = sheet_of("sochi", 4, 1)
    ink = clear_ink(sheet.form, values | {"result.A": "999", "result.B": "5"})
    notes = [note.en for note in decide(sheet, ink).notes]
    assert notes == ["the result is written for 2 of 4 players: it is not checked"]


def test_a_mark_out_of_sight_is_not_said_to_be_missing():
    sheet, _, values, _ = sheet_of("sochi", 4, 1)
    name = next(n for n in sorted(values) if n.startswith("d10.declarer"))
    hidden = {n: UNSEEN for n in clear_ink(sheet.form, values) if n.startswith("d10.declarer")}
    decision = decide(sheet, clear_ink(sheet.form, values) | hidden)
    assert decision.fields[name].state == "unreadable"
    assert not [note for note in decision.notes if "no mark" in note.en]
