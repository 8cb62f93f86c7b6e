"""Conventions: presets, options, and what a person reads about them."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from scoring import convention_names, load_convention
from scoring.convention import (
    OPTIONS,
    PRICED,
    ConventionError,
    Premiums,
    describe,
    differing,
    option_text,
    parse_option,
)
from scoring.files import read_convention

TABLE = {
    # option: sochi, leningrad, piter, hard-piter, fspr, moscow, classic, kazakhstan
    "mountain_multiplier": (1, 2, 2, 2, 2, 1, 1, 1),
    "whist_multiplier": (1, 2, 2, 2, 2, 1, 1, 1),
    "defender_multiplier": (1, 1, 1, 1, 1, Fraction(1, 2), 1, 1),
    "high_responsibility": ("last", "last", "both", "both", "both", "last", "last", "last"),
    "shortage": ("capped",) * 8,
    "whist": ("greedy", "gentleman", "gentleman", "gentleman", "gentleman_always", "gentleman", "greedy", "greedy"),
    "consolation": ("price", "price", "price", "price", "price", 10, "price", "price"),
    "dealer_consolation": (True,) * 8,
    "pool_weight": (1, 2, 2, 2, 2, 1, 1, 1),
    "whists_per_point": (10,) * 8,
    "help": (True, False, False, False, False, True, True, True),
    "raspasy": ("mountain",) * 5 + ("whists", "mountain", "mountain"),
    "raspasy_amnesty": (False,) * 8,
    "raspasy_zero": ("pool", "pool", "mountain", "mountain", "mountain", "pool", "mountain", "pool"),
    "raspasy_zero_multiplier": (1, 1, 1, 1, 2, 1, 1, 1),
    "raspasy_zero_dealer": (True, True, False, False, False, True, True, True),
    "exit": ((6,), (6,), (7,), (7, 8), (7,), (6,), (7,), (6,)),
}


def test_presets_hold_the_published_options() -> None:
    names = ("sochi", "leningrad", "piter", "hard-piter", "fspr", "moscow", "classic", "kazakhstan")
    for option, values in TABLE.items():
        for name, value in zip(names, values, strict=True):
            assert getattr(load_convention(name), option) == value, (name, option)
    for name, ten in zip(names, (1, 1, 0, 0, 1, 1, 1, 1), strict=True):
        assert load_convention(name).obligation == (4, 2, 1, 1, ten)
    assert load_convention("kazakhstan").values == (8, 16, 24, 32, 40, 40)
    assert load_convention("hard-piter").raspasy_prices == (2, 4, 8)
    assert load_convention("rostov-premiums").premiums == Premiums(50, 50, 25, 50)


def test_every_preset_loads_and_says_where_it_comes_from() -> None:
    assert convention_names()[0] == "sochi"
    assert {"kodeks", "rostov", "ural-siberian", "gusarik", "gusarik-indivisible", "races"} <= set(convention_names())
    for name in convention_names():
        convention = load_convention(name)
        assert convention.name == name and convention.source and convention.title.ru and convention.title.en
        assert set(convention.rates) == set(PRICED)
        assert pickle.loads(pickle.dumps(convention)) == convention


def test_kodeks_and_rostov_are_sochi_and_moscow() -> None:
    assert differing(load_convention("kodeks"), load_convention("sochi")) == ()
    assert differing(load_convention("rostov"), load_convention("moscow")) == ()


def test_kamchatka_has_no_published_values() -> None:
    assert "kamchatka" not in convention_names()
    with pytest.raises(ConventionError, match="no published values"):
        load_convention("kamchatka")
    own = load_convention("sochi", {"pool_weight": "3/2", "whists_per_point": 12})
    assert (own.pool_weight, own.whists_per_point) == (Fraction(3, 2), 12)


def test_options_change_a_preset() -> None:
    own = load_convention("sochi", {"defender_multiplier": "1/2", "exit": [7, 8], "values": {c: 5 for c in PRICED}})
    assert (own.defender_multiplier, own.exit, own.values) == (Fraction(1, 2), (7, 8), (5,) * 6)
    assert load_convention("sochi", {"values": [2, 4, 6, 8, 10]}).values == (2, 4, 6, 8, 10, 10)
    assert load_convention("rostov", {"premiums": {"misere": 50, "zero_ras": 25}}).premiums == Premiums(50, 0, 25, 0)
    assert load_convention("sochi", {"consolation": 10}).rates["9"].consolation == 10
    assert load_convention("sochi", {"consolation": "none"}).rates["6"].consolation == 0


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("whist", "friendly", "one of: greedy, gentleman, gentleman_always"),
        ("whist_multiplier", "two", "a whole number or a fraction"),
        ("whist_multiplier", -1, "not below zero"),
        ("whist_multiplier", 1.5, "a whole number or a fraction"),
        ("whist_multiplier", True, "a whole number or a fraction"),
        ("whist_multiplier", "1/0", "a whole number or a fraction"),
        ("help", "yes", "true or false"),
        ("help", 1, "true or false"),
        ("values", [2, 4], "six prices"),
        ("obligation", [4, 2], "five numbers"),
        ("exit", "6 half", "a whole number"),
        ("exit", [], "at least one number"),
        ("raspasy_prices", [], "at least one number"),
        ("without_talon", ["5"], "contracts out of"),
        ("premiums", {"beauty": 5}, "premiums misere"),
        ("premiums", 5, "a table of premiums"),
        ("consolation", "some", "a whole number"),
    ],
)
def test_a_wrong_option_names_itself_what_stands_there_and_what_is_expected(
    option: str, value: object, expected: str
) -> None:
    with pytest.raises(ConventionError) as caught:
        load_convention("sochi", {option: value})
    assert option in caught.value.text.en and option in caught.value.text.ru
    assert expected in caught.value.text.en


def test_unknown_names() -> None:
    with pytest.raises(ConventionError, match="no convention 'sotchi'"):
        load_convention("sotchi")
    with pytest.raises(ConventionError, match="no option 'wist'"):
        parse_option("wist", 1)


def test_true_and_one_are_different_option_values() -> None:
    assert load_convention("sochi", {"help": True}).help is True
    with pytest.raises(ConventionError):
        load_convention("sochi", {"help": 1})


def test_a_convention_in_words() -> None:
    for name in convention_names():
        for line in describe(load_convention(name)):
            assert line.ru.strip() and line.en.strip()
    english = [line.en for line in describe(load_convention("rostov-premiums"))]
    assert english[0] == "Rostov with premiums (rostov-premiums)"
    assert english.index("Differs from sochi in:") < english.index("Otherwise as sochi:")
    assert "  consolation for an undertrick: 10 whists" in english
    russian = [line.ru for line in describe(load_convention("hard-piter"))]
    assert "  цена взятки на распасах подряд: 2–4–8" in russian
    assert option_text(load_convention("fspr"), "half_whist").ru == "полвиста на 6 и 7: да"
    assert all(option.rule for option in OPTIONS.values())


def test_a_tables_own_convention(tmp_path: Path) -> None:
    path = tmp_path / "dacha.toml"
    path.write_text(
        'base = "leningrad"\n[title]\nru = "Дача"\nen = "Dacha"\n[options]\nwhist = "greedy"\n', encoding="utf-8"
    )
    own = read_convention(path)
    assert (own.name, own.title.ru, own.whist, own.pool_weight) == ("dacha", "Дача", "greedy", 2)
    for text, expected in (
        ("base =", "not TOML"),
        ('base = "leningrad"\nwhist = "greedy"', "unexpected 'whist'"),
        ('base = "x"', "no convention"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConventionError, match=expected):
            read_convention(path)
    with pytest.raises(ConventionError, match="cannot be opened"):
        read_convention(tmp_path / "missing.toml")
