import multiprocessing

import pytest

from sheets import look_up, make_sheets, printed, register_path, remember
from templates import encode, load_form

FORM = load_form("protocol", 3)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PULKA_HOME", str(tmp_path / "not" / "yet"))


def sheets_of(seed=1, tables=range(1, 4), **more):
    given = {"event": "Кубок «Ёж»", "names": {2: {"A": "Иванов"}}, "convention_title": "Сочинка"} | more
    return make_sheets(FORM, convention="sochi", tables=tables, seed=seed, **given)


def test_a_printed_sheet_is_found_again():
    sheets = sheets_of(options={"whist": "gentleman"}, options_in_words=("вист джентльменский",))
    assert look_up(sheets[1].identity) is None
    remember(sheets)
    entry = look_up(sheets[1].identity)
    assert entry is not None
    assert (entry.event, entry.names, entry.convention_title) == ("Кубок «Ёж»", {"A": "Иванов"}, "Сочинка")
    assert entry.options_in_words == ("вист джентльменский",)
    assert look_up(sheets_of(seed=2)[1].identity) is None


def test_the_newest_print_counts():
    remember(sheets_of())
    remember(sheets_of(names={2: {"A": "Петров"}}))
    entry = look_up(sheets_of()[1].identity)
    assert entry is not None and entry.names == {"A": "Петров"}


def test_sheets_are_found_by_their_numbers():
    assert printed() == {}
    remember(sheets_of())
    remember(sheets_of(seed=2))
    register_path().write_bytes(register_path().read_bytes() + b'{"code": "none"}\n[]\n\xff')
    sheets = (*sheets_of(), *sheets_of(seed=2))
    found = printed()
    assert {number: entry.code for number, entry in found.items()} == {
        sheet.identity.serial: encode(sheet.identity) for sheet in sheets
    }
    assert len(found) == 6 and found[sheets[1].identity.serial].names == {"A": "Иванов"}


@pytest.mark.parametrize("torn", [1, 2, 30, 100])
def test_a_torn_last_line_costs_only_itself(torn):
    remember(sheets_of())
    whole = register_path().read_bytes()
    register_path().write_bytes(whole[:-torn])
    first, second, last = (sheet.identity for sheet in sheets_of())
    assert look_up(first) and look_up(second)
    assert (look_up(last) is not None) == (torn == 1)  # where only the line's end is lost the entry is whole
    again = sheets_of(seed=9)
    remember(again)
    assert all(look_up(sheet.identity) for sheet in again)
    assert look_up(first) and look_up(second)


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"[]\n", b"null\n", b'{"code": 1}\n', b"\n\n", b'{"names": []}\n'])
def test_foreign_lines_are_passed_over(line):
    remember(sheets_of())
    path = register_path()
    path.write_bytes(path.read_bytes() + line)
    remember(sheets_of(seed=5))
    assert look_up(sheets_of()[0].identity) and look_up(sheets_of(seed=5)[0].identity)


def _print_many(seed: int) -> None:
    for i in range(10):
        remember(sheets_of(seed=100 * seed + i, tables=range(1, 21), names=None))


def test_programs_printing_at_the_same_time_lose_nothing():
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_print_many, args=(seed,)) for seed in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    for seed in (100, 205, 309):
        assert all(look_up(sheet.identity) for sheet in sheets_of(seed=seed, tables=range(1, 21), names=None))
    assert sum(bool(line) for line in register_path().read_bytes().splitlines()) == 3 * 10 * 20


def test_a_register_that_cannot_be_written_says_so(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PULKA_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError):
        remember(sheets_of())
