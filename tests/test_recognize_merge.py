from dataclasses import replace

import pytest

from recognize.ink import UNSEEN, mark_ink, number_ink
from recognize.merge import evidence_of, same_paper, together
from recognize.photo import photos_in
from recognize.pipeline import merged, papers, read_photo, told_of
from recognize.reading import Evidence
from templates import load_form

FORM = load_form("protocol", 4)
POOL, OTHER, BLANK = "d01.pool.A", "d01.pool.B", "d05.pool.A"


def picture(likely, unseen=(), struck=None):
    return Evidence(likely, struck or {}, frozenset(unseen))


def test_what_is_kept_is_what_is_not_surely_empty():
    ink = {
        "a": number_ink([("3", 0.9), ("8", 0.1), ("7", 1e-9)], lambda value: 0.0),
        "b": number_ink([("", 0.99999)], lambda value: 0.0),
        "c": mark_ink(0.999, 0.0),
        "d": UNSEEN,
    }
    kept = evidence_of(ink, {"a": 0.5, "b": 1e-6})
    assert kept.likely == {"a": {"3": 0.9, "8": 0.1}, "c": {"x": 0.999, "": 0.001}}
    assert (kept.struck, kept.unseen) == ({"a": 0.5}, {"d"})


def test_a_field_not_in_one_picture_is_taken_from_the_other():
    seen, not_seen = picture({POOL: {"12": 0.999, "17": 0.001}}), picture({OTHER: {"4": 1.0}}, {POOL})
    for pictures in ([seen, not_seen], [not_seen, seen]):
        ink, _, differ = together(FORM, pictures)
        assert ink[POOL].likely == {"12": 0.999, "17": 0.001}
        assert POOL not in differ
    nowhere, _, _ = together(FORM, [not_seen, not_seen])
    assert nowhere[POOL] is UNSEEN


def test_the_surer_picture_wins():
    sure, unsure = picture({POOL: {"3": 0.9999, "8": 0.0001}}), picture({POOL: {"8": 0.6, "3": 0.4}})
    ink, _, differ = together(FORM, [unsure, sure])
    assert ink[POOL].best == "3"
    assert ink[POOL].likely["3"] > 0.999
    assert not differ
    twice, _, _ = together(FORM, [unsure, unsure])
    assert twice[POOL].likely["8"] == pytest.approx(0.6)


def test_two_sure_pictures_that_contradict_each_other_end_near_even_and_differ():
    three, eight = picture({POOL: {"3": 0.9999, "8": 0.0001}}), picture({POOL: {"8": 0.9998, "3": 0.0002}})
    ink, _, differ = together(FORM, [three, eight])
    assert differ == {POOL}
    assert 0.3 < ink[POOL].likely["3"] < 0.7


def test_a_row_that_is_blank_in_one_picture_was_played_later():
    early, late = picture({POOL: {"3": 0.9999}}), picture({POOL: {"3": 0.9999}, BLANK: {"5": 0.9999}})
    ink, _, differ = together(FORM, [early, late])
    assert ink[BLANK].likely == {"5": 0.9999}
    assert not differ
    # In a row that both have, an entry that only one shows is a contradiction.
    half = picture({POOL: {"3": 0.9999}, OTHER: {"5": 0.9999}})
    assert together(FORM, [early, half])[2] == {OTHER}


def test_a_dash_and_nothing_are_no_contradiction():
    rest = {OTHER: {"4": 0.9999}}
    assert not together(FORM, [picture({POOL: {"-": 0.999}} | rest), picture(rest)])[2]


def test_pictures_of_copied_blanks_are_told_apart():
    numbers = [f"d{deal:02d}.whists.A.B" for deal in range(1, 13)]
    one = picture({name: {str(10 + i): 0.999} for i, name in enumerate(numbers)})
    other = picture({name: {str(50 + i): 0.999} for i, name in enumerate(numbers)})
    worse = picture({name: {str(10 + i + (i < 3)): 0.999} for i, name in enumerate(numbers)})
    assert same_paper(one, one) and same_paper(one, worse)
    assert not same_paper(one, other)


@pytest.fixture(scope="module")
def read(photographer):
    def reading(*arguments, **more):
        (photo,) = photos_in("one.jpg", photographer(*arguments, **more).jpeg)
        (reading,) = read_photo(photo)
        return reading

    return reading


def test_a_reading_decided_again_from_its_evidence_is_the_same(read):
    one = read()
    again = merged([one])
    assert {name: f.value for name, f in again.fields.items()} == {name: f.value for name, f in one.fields.items()}
    assert (again.played, again.written, again.status) == (one.played, one.written, one.status)


def test_two_halves_make_a_whole_sheet(read):
    one = read()
    names = list(one.fields)
    halves = [
        replace(one, source=source, evidence=replace(one.evidence, unseen=frozenset(names[i::2])))
        for i, source in enumerate(("left.jpg", "right.jpg"))
    ]
    assert merged(halves[:1]).status == "review"
    whole = merged(halves)
    assert whole.source == "left.jpg, right.jpg"
    assert (whole.status, whole.played) == ("clear", one.played)
    assert {name: f.value for name, f in whole.fields.items()} == {name: f.value for name, f in one.fields.items()}


def test_where_two_photos_differ_a_person_is_asked_although_the_rules_know(read):
    one = read()
    name = next(n for n, f in one.fields.items() if ".pool." in n and f.value)
    value = one.fields[name].value
    slip = replace(one.evidence, likely={**one.evidence.likely, name: {"99": 0.9999}})
    found = merged([one, replace(one, source="two.jpg", evidence=slip)])
    question = found.review[0]
    assert question.field == name
    assert {question.best, *question.other} == {value, "99"}
    assert "differ" in question.why.en and not question.why.ru.isascii()
    answered = merged([one, replace(one, source="two.jpg", evidence=slip)], {name: value})
    assert answered.status == "clear"
    assert answered.fields[name].why == "person"


def test_another_game_on_a_copied_blank_is_another_paper(read):
    one, other = read(1), read(2)
    assert [len(group) for group in papers([one, one])] == [2]
    forged = replace(other, sheet=one.sheet)
    groups = papers([one, forged, one])
    assert [len(group) for group in groups] == [2, 1]
    alone = merged(groups[1], copied=True)
    assert alone.review[0].field == "sheet"
    assert alone.played == other.played


def test_answers_count_for_the_sheet_before_the_picture_and_only_where_it_is_alone():
    answers = {"S": {"a": "1"}, "one.pdf": {"a": "2", "b": "3"}, "one.pdf#2": {"a": "4"}}
    assert told_of(answers, "one.pdf", 1, "S", alone=True) == {"a": "1", "b": "3"}
    assert told_of(answers, "one.pdf", 1, None, alone=True) == {"a": "2", "b": "3"}
    assert told_of(answers, "one.pdf", 2, None, alone=True) == {"a": "4"}
    assert told_of(answers, "one.pdf", 1, "S", alone=False) == {"a": "1"}


def test_an_answer_is_stronger_than_ink_and_than_the_rules(read, photographer):
    one = read()
    name = next(n for n, f in one.fields.items() if ".tricks." in n and f.value)
    (photo,) = photos_in("one.jpg", photographer().jpeg)
    for answers in ({one.sheet.id: {name: "57"}}, {"one.jpg": {name: "57"}}):
        (told,) = read_photo(photo, answers=answers)
        assert (told.fields[name].value, told.fields[name].why, told.fields[name].state) == ("57", "person", "clear")
        # What the paper cannot mean is said.
        assert any(q.field == name and q.why.en.startswith("by the rest of the deal") for q in told.review)
