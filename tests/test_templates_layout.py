import itertools

import pytest

from templates import MARK_VALUES, SEATS, Form, FormError, form_names, layout_json, load_form

FORMS = [("protocol", 3), ("protocol", 4)]
MOST_ROWS = 25
COLUMNS_OF_A_DEAL = ("declarer", "contract", "whist", "tricks", "pool", "mountain", "whists")


def sizes():
    return [(name, players, rows) for name, players in FORMS for rows in (1, 2, 10, 24, MOST_ROWS)]


@pytest.fixture(params=sizes(), ids=lambda size: "-".join(map(str, size)))
def form(request) -> Form:
    return load_form(*request.param)


def expected_ids(form: Form) -> list[str]:
    seats = form.seats
    ids = []
    for deal in range(form.rows + 1):
        if deal:
            ids += [f"d{deal:02d}.declarer.{seat}" for seat in seats]
            ids += [f"d{deal:02d}.contract.{choice}" for choice in ("6", "7", "8", "9", "10", "misere", "raspasy")]
            ids += [f"d{deal:02d}.whist.{seat}" for seat in seats]
            ids += [f"d{deal:02d}.tricks.{seat}" for seat in seats]
        for seat in seats:
            ids += [f"d{deal:02d}.pool.{seat}", f"d{deal:02d}.mountain.{seat}"]
            ids += [f"d{deal:02d}.whists.{seat}.{other}" for other in seats if other != seat]
    return ids + [f"{column}.{seat}" for column in ("name", "result") for seat in seats]


def test_ids_are_the_agreed_ones(form):
    assert sorted(field.id for field in form.fields) == sorted(expected_ids(form))


def test_a_field_says_what_its_id_says(form):
    for field in form.fields:
        parts = [field.column, field.seat, field.on, field.choice]
        if field.deal is not None:
            parts.insert(0, f"d{field.deal:02d}")
        assert ".".join(part for part in parts if part) == field.id
        kind = {"declarer": "mark", "contract": "mark", "whist": "mark", "name": "text"}
        assert field.kind == kind.get(field.column, "number")


def overlap(a, b) -> bool:
    return min(a.x + a.w, b.x + b.w) - max(a.x, b.x) > 1e-9 and min(a.y + a.h, b.y + b.h) - max(a.y, b.y) > 1e-9


def within(inner, outer) -> bool:
    return (
        inner.x >= outer.x
        and inner.y >= outer.y
        and inner.x + inner.w <= outer.x + outer.w
        and inner.y + inner.h <= outer.y + outer.h
    )


def test_nothing_overlaps(form):
    taken = [f.box for f in form.fields] + [m.box for m in form.markers] + list(form.codes)
    # Sorted from top to bottom, only boxes that begin above another's end can meet it.
    taken.sort(key=lambda box: box.y)
    for i, box in enumerate(taken):
        for other in itertools.takewhile(lambda other, box=box: other.y < box.y + box.h, taken[i + 1 :]):
            assert not overlap(box, other), (box, other)


def test_fields_of_deals_lie_in_the_frame_and_clear_of_every_rule(form):
    for field in form.fields:
        if field.column == "result":
            assert field.box.y > form.frame.y + form.frame.h
            continue
        assert within(field.box, form.frame)
        for rule in form.rules:
            start, size = (field.box.y, field.box.h) if rule.horizontal else (field.box.x, field.box.w)
            across, length = (field.box.x, field.box.w) if rule.horizontal else (field.box.y, field.box.h)
            beside = across + length <= rule.start or across >= rule.stop
            clear = rule.at + rule.width / 2 <= start or rule.at - rule.width / 2 >= start + size
            assert beside or clear, (field.id, rule)


def test_boxes_are_large_enough_for_a_hand(form):
    for field in form.fields:
        if field.kind == "number":
            assert field.box.w >= 7.4 and field.box.h >= 5.7, field
        elif field.kind == "mark":
            assert (round(field.box.w, 6), round(field.box.h, 6)) == (3.6, 3.6)


def test_page_marks_keep_their_distance(form):
    width, height = form.page
    assert [m.place for m in form.markers] == list(range(12))
    printed = [f.box for f in form.fields] + [s.box for s in form.slots] + list(form.codes)
    printed.append(form.frame.inset(-max(rule.width for rule in form.rules) / 2))
    for marker in form.markers:
        box = marker.box
        assert min(box.x, box.y, width - box.x - box.w, height - box.y - box.h) >= 6
        assert box.w == box.h >= 10
        for other in printed:
            assert not overlap(box.inset(-1.7), other), (marker, other)


def test_every_form_has_its_page_marks_in_the_same_places():
    placed = {tuple(load_form(name, players).markers) for name, players in FORMS}
    assert len(placed) == 1
    ids = [m.id(value) for m in placed.pop() for value in range(MARK_VALUES)]
    assert len(set(ids)) == len(ids) and max(ids) < 1000


def test_codes_are_far_apart_and_square(form):
    (x0, y0), (x1, y1) = (code.centre for code in form.codes)
    assert abs(x1 - x0) > 200 and abs(y1 - y0) > 100
    assert all(code.w == code.h >= 12 for code in form.codes)


def test_the_dealer_goes_round(form):
    dealers = [form.dealer(deal) for deal in range(1, 9)]
    assert dealers[0] == form.seats[-1]
    for before, after in itertools.pairwise(dealers):
        assert form.seats[(form.seats.index(before) + 1) % form.players] == after


@pytest.mark.parametrize(("name", "players"), FORMS)
@pytest.mark.parametrize("rows", [-1, 0, MOST_ROWS + 1, 100])
def test_rows_that_do_not_fit_are_refused_with_what_fits(name, players, rows):
    with pytest.raises(FormError, match=f"1 to {MOST_ROWS}"):
        load_form(name, players, rows)


def test_unknown_forms_are_refused_with_what_there_is():
    with pytest.raises(FormError, match="protocol for 4"):
        load_form("protocol", 7)
    with pytest.raises(FormError, match="protocol for 3"):
        load_form("napkin", 4)
    with pytest.raises(FormError, match="no version 99"):
        load_form("protocol", 4, version=99)
    assert form_names() == ("protocol",)


def test_layout_as_data(form):
    data = layout_json(form)
    assert data["page"] == {"width": 297, "height": 210}
    assert [f["id"] for f in data["fields"]] == [f.id for f in form.fields]
    for said, field in zip(data["fields"], form.fields, strict=True):
        assert said["box"] == [round(v, 3) for v in (field.box.x, field.box.y, field.box.w, field.box.h)]
        assert set(said) == {"id", "kind", "deal", "column", "seat", "on", "choice", "box", "turn"}
    assert set(form.seats) <= set(SEATS)
