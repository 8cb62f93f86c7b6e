import random

import pytest
import segno
from hypothesis import given, settings
from hypothesis import strategies as st

from templates.identity import (
    _ALPHABET,
    CONVENTIONS,
    OPTIONS,
    WORDS,
    Identity,
    IdentityError,
    MarkIdentity,
    decode,
    decode_as_read,
    encode,
    from_marks,
    mark_values,
    sheet_id,
)

PLAIN = Identity("protocol", 1, 4, 24, "sochi", 20, 2, 5, 0x89ABCDEF)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.integers(0, 999).map(str), min_size=1, max_size=6).map(" ".join),
    text,
)
identities = st.builds(
    Identity,
    form=st.one_of(st.just("protocol"), text),
    version=st.integers(1, 40),
    players=st.integers(2, 4),
    rows=st.integers(1, 200),
    convention=st.one_of(st.sampled_from(CONVENTIONS), text),
    pool=st.none() | st.integers(0, 500),
    round=st.none() | st.integers(0, 40),
    table=st.none() | st.integers(0, 2000),
    serial=st.integers(0, 2**32 - 1),
    options=st.dictionaries(st.one_of(st.sampled_from(OPTIONS), text), values, max_size=5),
)


@settings(deadline=None)
@given(identities)
def test_round_trip(identity):
    code = encode(identity)
    assert decode(code) == identity
    assert all(len(group) == 4 for group in code.split("-"))
    assert sheet_id(identity) in code


@settings(deadline=None)
@given(identities, st.data())
def test_forgives_how_people_type(identity, data):
    code = encode(identity).lower()
    zero = data.draw(st.sampled_from("0oOqQоО"))  # Latin, then Cyrillic
    one = data.draw(st.sampled_from("1iIlL"))
    dash = data.draw(st.sampled_from(["", " ", " – ", "-\n"]))
    typed = code.replace("0", zero).replace("1", one).replace("-", dash)
    assert decode(f" {typed} ") == identity


@settings(max_examples=8, deadline=None)
@given(identities)
def test_every_single_change_is_refused(identity):
    code = encode(identity)
    for i, was in enumerate(code):
        if was == "-":
            continue
        for now in _ALPHABET:
            if now != was:
                with pytest.raises(IdentityError):
                    decode(code[:i] + now + code[i + 1 :])


@settings(max_examples=15, deadline=None)
@given(identities)
def test_lost_doubled_and_swapped_characters_are_refused(identity):
    code = encode(identity).replace("-", "")
    for i in range(len(code)):
        broken = [code[:i] + code[i + 1 :], code[:i] + code[i] + code[i:], code[:i]]
        if i and code[i - 1] != code[i]:
            broken.append(code[: i - 1] + code[i] + code[i - 1] + code[i + 1 :])
        if i + 4 <= len(code):
            broken.append(code[:i] + code[i + 4 :])
        for text in broken:
            with pytest.raises(IdentityError):
                decode(text)


@pytest.mark.parametrize(
    "read",
    ["93SS-9A63-12D8-TRRM-CA5K", "9355 9A63 IZDB TRRM CA5K", "935$-9A63-12DB-TRRM-CA5K\n", "935S9A6312DBTRRMCA5K"],
)
def test_what_text_readers_take_for_one_another_is_put_right(read):
    assert decode_as_read(read) == PLAIN


@pytest.mark.parametrize("read", ["9355-9A63-1ZD8-TRRM-CASK", "935S-9A63-12DB-TRRM-CA5", "935S-9A63-12DB-TRRM-CA7K"])
def test_more_than_that_is_refused(read):
    with pytest.raises(IdentityError):
        decode_as_read(read)


def test_text_that_is_no_code_is_never_put_right():
    rng = random.Random(8)
    for _ in range(100):
        with pytest.raises(IdentityError):
            decode_as_read("".join(rng.choices("0123568BDGSZ", k=20)))


def test_random_codes_are_refused():
    rng = random.Random(7)
    for _ in range(5_000):
        with pytest.raises(IdentityError):
            decode("".join(rng.choices(_ALPHABET, k=20)))


@pytest.mark.parametrize("text", ["", "   ", "----", "https://example.org/x", "#" * 20, "0" * 20, "Z" * 40, "ТУЗ"])
def test_foreign_texts_are_refused_with_a_sentence(text):
    with pytest.raises(IdentityError, match="code"):
        decode(text)


@pytest.mark.parametrize("change", [{"players": 5}, {"players": 0}, {"rows": 0}, {"serial": 2**32}, {"pool": -5}])
def test_what_no_code_can_hold_is_refused(change):
    plain = {name: getattr(PLAIN, name) for name in PLAIN.__slots__}
    with pytest.raises(IdentityError, match=next(iter(change))):
        encode(Identity(**plain | change))


def test_a_plain_sheet_fits_the_smallest_square_code():
    assert len(encode(PLAIN)) == len("XXXX-XXXX-XXXX-XXXX-XXXX")
    assert segno.make(encode(PLAIN).replace("-", ""), micro=False, error="m").designator == "1-M"


def test_codes_on_paper_stay_what_they_are():
    # Sheets already printed must be read for ever: these lines may only be added to.
    options = {"whist": "gentleman", "consolation": "10", "exit": "6 7", "house": "Ё"}
    printed = {
        "935S-9A63-12DB-TRRM-CA5K": PLAIN,
        "9249-S000-8940-AJSG-9G4W-0AU3-FENT-PA00-B882-80C0-0000-000Z-553N": Identity(
            "protocol", 1, 3, 18, "moscow", None, None, None, 1, options
        ),
    }
    assert {encode(identity): identity for identity in printed.values()} == printed


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4]), st.integers(1, 25), st.data())
def test_any_eight_page_marks_spell_the_number(serial, players, rows, data):
    identity = Identity("protocol", 1, players, rows, "sochi", 20, 1, 1, serial)
    values = dict(enumerate(mark_values(identity)))
    lost = data.draw(st.sets(st.integers(0, 11), max_size=4))
    found = from_marks({place: value for place, value in values.items() if place not in lost})
    assert found == MarkIdentity(1, players, rows, serial)


@given(st.integers(0, 2**32 - 1), st.integers(0, 11), st.integers(1, 63))
def test_one_misread_page_mark_of_all_is_put_right(serial, place, change):
    values = dict(enumerate(mark_values(Identity("protocol", 1, 4, 24, "sochi", 20, 1, 1, serial))))
    values[place] ^= change
    assert from_marks(values).serial == serial


def test_misread_page_marks_hardly_ever_spell_another_sheet():
    dice = random.Random(1)
    wrong = 0
    for _ in range(2000):
        serial = dice.getrandbits(32)
        values = dict(enumerate(mark_values(Identity("protocol", 1, 4, 24, "sochi", 20, 1, 1, serial))))
        for place in dice.sample(range(12), 3):
            values[place] = dice.randrange(64)
        found = from_marks(values)
        wrong += found is not None and found.serial != serial
    assert wrong <= 20


def test_fewer_than_eight_page_marks_say_nothing():
    values = mark_values(Identity("protocol", 1, 4, 24, "sochi", 20, 1, 1, 7))
    assert from_marks(dict(enumerate(values[:7]))) is None
