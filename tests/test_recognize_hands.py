"""A player's figures are read as his other boxes show them, and no box speaks for itself."""

import pytest

from recognize import decide as deciding
from recognize.decide import decide
from recognize.hands import _pairs, by_hand
from recognize.ink import answered_ink
from recognize.reading import FieldReading
from tests.test_recognize_decide import clear_ink, saying, sheet_of


def boxes_with(form, values, figure, seat):
    return [
        field.id
        for field in form.fields
        if field.seat == seat and field.column in ("pool", "mountain", "whists") and figure in values.get(field.id, "")
    ]


def taken_for(form, values, surely):
    """A perfect reader's ink, but that the figure which a player wrote most often looks like a 7; the boxes with it."""
    changed = max((boxes_with(form, values, f, s) for s in form.seats for f in "012468"), key=len)
    figure = next(f for f in "012468" if all(f in values[name] for name in changed))
    ink = clear_ink(form, values)
    for name in changed:
        ink[name] = saying({values[name].replace(figure, "7"): surely, values[name]: 0.999 - surely, "": 0.0005})
    return ink, changed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_habit_is_learnt_from_the_boxes_that_the_rules_explain(seed, monkeypatch):
    sheet, _, values, _ = sheet_of("sochi", 4, seed)
    ink, changed = taken_for(sheet.form, values, 0.97)
    assert len(changed) >= 4
    decision = decide(sheet, ink)
    asked = {question.field for question in decision.review}
    assert [name for name in changed if decision.fields[name].value != values[name] and name not in asked] == []
    monkeypatch.setattr(deciding, "by_hand", lambda *_: {})
    assert len(asked) < len({question.field for question in decide(sheet, ink).review})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_figure_that_falls_apart_into_two_is_known_by_the_other_boxes(seed, monkeypatch):
    sheet, _, values, _ = sheet_of("sochi", 4, seed)
    changed = max((boxes_with(sheet.form, values, f, s) for s in sheet.form.seats for f in "0246"), key=len)
    figure = next(f for f in "0246" if all(f in values[name] for name in changed))
    ink = clear_ink(sheet.form, values)
    for name in changed:
        apart = values[name].replace(figure, "73", 1)
        ink[name] = saying({apart: 0.99, values[name]: 0.0005, "": 0.0005})
    decision = decide(sheet, ink)
    asked = {question.field for question in decision.review}
    assert len(changed) >= 4
    assert [name for name in changed if decision.fields[name].value != values[name] and name not in asked] == []
    monkeypatch.setattr(deciding, "by_hand", lambda *_: {})
    assert len(asked) < len({question.field for question in decide(sheet, ink).review})


@pytest.mark.parametrize(
    ("written", "read", "pairs"),
    [
        ("14", "161", [("1", "1"), ("4", "61")]),
        ("42", "612", [("4", "61"), ("2", "2")]),
        ("4", "11", [("4", "11")]),
        ("12", "19", [("1", "1"), ("2", "9")]),
        ("10", "6", [("10", "6")]),
        ("-", "57", [("-", "57")]),
    ],
)
def test_what_was_read_is_laid_beside_what_was_written(written, read, pairs):
    assert _pairs(written, read) == pairs


def test_one_box_tells_nothing_of_itself():
    sheet, _, values, _ = sheet_of("sochi", 4, 2)
    ink, changed = taken_for(sheet.form, values, 0.95)
    only = {name: one for name, one in ink.items() if name not in changed[1:]}
    ink = clear_ink(sheet.form, values) | {changed[0]: only[changed[0]]}
    read = by_hand(sheet.form, ink, decide(sheet, ink).fields).get(changed[0], ink[changed[0]])
    assert read.best == ink[changed[0]].best and read(values[changed[0]]) <= ink[changed[0]](values[changed[0]])


def test_an_answer_for_one_box_helps_the_others():
    sheet, _, values, _ = sheet_of("sochi", 4, 1)
    ink, changed = taken_for(sheet.form, values, 0.998)
    before = decide(sheet, ink).fields
    answered = {name: answered_ink(values[name], ink[name]) for name in changed[:3]}
    after = decide(sheet, {**ink, **answered}).fields
    right = [sum(fields[name].value == values[name] for name in changed[3:]) for fields in (before, after)]
    assert right[1] == len(changed[3:]) >= right[0]


def test_another_players_figures_are_left_alone():
    sheet, _, values, _ = sheet_of("sochi", 4, 3)
    ink, changed = taken_for(sheet.form, values, 0.95)
    otherwise = by_hand(sheet.form, ink, decide(sheet, ink).fields)
    likelier = {
        name for name, read in otherwise.items() if read(values.get(name, "")) > 2 * ink[name](values.get(name, ""))
    }
    assert likelier and {sheet.form.by_id[name].seat for name in likelier} == {sheet.form.by_id[changed[0]].seat}


def test_a_mistake_in_a_peculiar_hand_is_still_found():
    sheet, _, values, slips = sheet_of("sochi", 4, 4, ["arithmetic"])
    ink, changed = taken_for(sheet.form, values, 0.95)
    decision = decide(sheet, ink)
    assert len(changed) >= 4
    named = {m.field for m in decision.mistakes} | {q.field for q in decision.review}
    assert slips[0].field in named


@pytest.mark.parametrize(
    ("names", "believed"),
    [
        (("d11.pool.A", "d12.pool.A"), False),
        (("d11.pool.A", "d11.mountain.A"), False),
        (("d11.pool.A", "d12.mountain.A"), True),
        (("d11.tricks.A", "d12.tricks.A"), True),
        (("d11.tricks.A", "d11.tricks.B"), True),
    ],
)
def test_boxes_of_one_row_or_column_do_not_speak_for_each_other(names, believed):
    """A slip is carried on from total to total, and one deal changes several: that is no way of writing."""
    sheet, _, values, _ = sheet_of("sochi", 4, 1)
    ink = clear_ink(sheet.form, values)
    doubted = {name: saying({"16": 0.9966, "6": 0.0015, "": 0.0005}) for name in names}
    by_rules = FieldReading("6", 0.95, "doubtful", "rules", (("16", 0.05),))
    fields = {**decide(sheet, ink).fields, **dict.fromkeys(names, by_rules)}
    otherwise = by_hand(sheet.form, {**ink, **doubted}, fields)
    gained = [otherwise.get(name, doubted[name])("6") / doubted[name]("6") for name in names]
    assert min(gained) > 2 if believed else max(gained) <= 1
