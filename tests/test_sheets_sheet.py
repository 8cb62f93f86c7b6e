import dataclasses

import pytest

from sheets import Sheet, SheetError, make_sheets
from templates import load_form

FORM = load_form("protocol", 4)


def test_every_table_and_copy_has_its_own_identity():
    sheets = make_sheets(FORM, convention="sochi", pool=20, round=3, tables=range(1, 6), copies=2)
    assert [sheet.identity.table for sheet in sheets] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert len({sheet.identity.serial for sheet in sheets}) == 10
    assert {sheet.identity.round for sheet in sheets} == {3}


def test_serials_are_random_unless_seeded():
    def serial(seed=None):
        return make_sheets(FORM, convention="sochi", seed=seed)[0].identity.serial

    assert serial() != serial()
    assert serial(1) == serial(1) != serial(2)


def test_names_go_to_their_tables():
    names = {2: {"A": "Иванов", "D": "Орлов"}}
    one, two = make_sheets(FORM, convention="sochi", tables=(1, 2), names=names)
    assert one.names == {} and two.names == names[2]


def test_what_does_not_agree_is_refused():
    with pytest.raises(SheetError, match="not printed: 7"):
        make_sheets(FORM, convention="sochi", tables=(1, 2), names={7: {"A": "Иванов"}})
    with pytest.raises(SheetError, match="no seat E"):
        make_sheets(FORM, convention="sochi", tables=(1,), names={1: {"E": "Иванов"}})
    with pytest.raises(SheetError, match="whist"):
        make_sheets(FORM, convention="sochi", options={"whist": "gentleman"})
    (sheet,) = make_sheets(FORM, convention="sochi")
    with pytest.raises(SheetError, match="code would speak"):
        Sheet(FORM, dataclasses.replace(sheet.identity, rows=5))


def test_the_refusal_speaks_both_languages():
    with pytest.raises(SheetError) as refused:
        make_sheets(FORM, convention="sochi", tables=(1,), names={1: {"E": "Иванов"}})
    assert refused.value.ru.startswith("нет места E") and refused.value.en == str(refused.value)
