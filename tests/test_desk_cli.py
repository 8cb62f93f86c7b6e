import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from jsonschema import Draft202012Validator

import scoring
from scoring import convention_names
from scoring.files import game_from_json, game_to_csv
from sheets import look_up, register_path, remember
from templates import decode, layout_json, load_form

EXAMPLES = Path(__file__).parent.parent / "examples"

# --- print and layout


def test_print_makes_a_sheet_a_table_and_remembers_them(pulka, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("стол;А;Б;В;Г\n" + "".join(f"{n};Ив{n};Пе{n};Си{n};Ор{n}\n" for n in (1, 2, 3)), "utf-8")
    out = tmp_path / "round.pdf"
    order = ["print", "protocol", "--pool", 20, "-o", out, "--tables", "1-3", "--names", names, "--copies", 2]
    ran = pulka(*order, "--event", "Кубок  клуба", "--round", 2, "--option", "whist=gentleman", "--json")
    assert ran.code == 0
    sheets = ran.json["sheets"]
    assert [sheet["table"] for sheet in sheets] == [1, 1, 2, 2, 3, 3]
    assert len({sheet["code"] for sheet in sheets}) == 6
    identity = decode(sheets[2]["code"])
    assert (identity.round, identity.pool, identity.convention) == (2, 20, "sochi")
    assert identity.options == {"whist": "gentleman"}
    remembered = look_up(identity)
    assert remembered.event == "Кубок клуба"
    assert remembered.names == {"A": "Ив2", "B": "Пе2", "C": "Си2", "D": "Ор2"}
    with pypdfium2.PdfDocument(out) as document:
        assert len(document) == 6
        text = document[4].get_textpage().get_text_bounded()
    for word in ("Кубок клуба", "Ив3", "Ор3", "джентльменский"):
        assert word in text


@pytest.mark.parametrize(
    ("count", "ru", "en"),
    [(1, "1 лист", "1 sheet"), (2, "2 листа", "2 sheets"), (5, "5 листов", "5 sheets"), (11, "11 листов", "11 sheets")],
)
def test_sheets_are_counted_in_both_languages(pulka, tmp_path, count, ru, en):
    for lang, said in (("ru", ru), ("en", en)):
        out = tmp_path / f"{lang}.pdf"
        ran = pulka("print", "protocol", "-o", out, "--tables", f"1-{count}", "--lang", lang)
        assert ran.out == f"{out}: {said}\n"


def test_print_speaks_the_language_asked_for(pulka, tmp_path):
    out = tmp_path / "en.pdf"
    ran = pulka("--lang", "en", "print", "protocol", "--players", 3, "-o", out, "--convention", "leningrad")
    assert ran.code == 0
    assert ran.out == f"{out}: 1 sheet\n"
    with pypdfium2.PdfDocument(out) as document:
        text = document[0].get_textpage().get_text_bounded()
    assert "Declarer" in text
    assert "Leningrad" in text


def test_tables_come_from_the_names_where_nobody_says_them(pulka, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("7;Ан;Бе;Ве\n4;Ге;Де;Же\n", "utf-8")
    ran = pulka("print", "protocol", "--players", 3, "-o", tmp_path / "o.pdf", "--names", names, "--json")
    assert [sheet["table"] for sheet in ran.json["sheets"]] == [4, 7]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (["--pool", "-5"], "--pool -5: нужно целое число от 1 до 9999"),
        (["--pool", "0"], "--pool 0"),
        (["--pool", "двадцать"], "--pool двадцать"),
        (["--tables", "1-1000000"], "--tables 1-1000000"),
        (["--tables", "100000"], "пишите номера от 1 до 99999"),
        (["--option", "whist=greedy", "--option", "whist=gentleman"], "--option whist: указано и greedy, и gentleman"),
        (["--tables", "1-1999", "--copies", "2"], "листов вышло бы 3998"),
        (["--paper", "letter"], "бланки есть только на A4"),
        (["--convention", "kamchatka"], "kamchatka"),
        (["--option", "premiums=misere 30"], "premiums"),
        (["--rows", "0"], "--rows 0"),
        (["--event", "Турнир " * 200], "лист не напечатать: на листе не умещается"),
    ],
)
def test_an_order_that_cannot_be_printed_leaves_nothing(pulka, tmp_path, order, said):
    ran = pulka("print", "protocol", "-o", tmp_path / "o.pdf", *order)
    assert ran.code == 2
    (line,) = ran.complaints
    assert said in line
    assert list(tmp_path.iterdir()) == []
    assert not register_path().exists()


def test_names_for_tables_that_are_not_printed_are_refused(pulka, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("7;Ан;Бе;Ве\n4;Ге;Де;Же\n", "utf-8")
    ran = pulka("print", "protocol", "--players", 3, "-o", tmp_path / "o.pdf", "--names", names, "--tables", "1-6")
    assert ran.code == 2
    assert "есть имена для стола 7, а в --tables 1-6 его нет" in ran.err


def test_what_is_odd_about_who_sits_where_is_told_and_printed_all_the_same(pulka, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("1;Иванов;Петров;;Орлов\n2;Белова;Гусев;Ким;Фролов\n3;иванов;Зайцев;Гусев;Панина\n", "utf-8")
    ran = pulka("print", "protocol", "-o", tmp_path / "o.pdf", "--names", names, "--tables", "1-4")
    assert (ran.code, ran.out) == (0, f"{tmp_path / 'o.pdf'}: 4 листа\n")
    assert ran.complaints == [
        "pulka: names.csv: нет имён для стола 4",
        "pulka: names.csv: места без имени: стол 1, место В",
        "pulka: names.csv: Иванов не на одном месте: стол 1, место А; стол 3, место А",
        "pulka: names.csv: Гусев не на одном месте: стол 2, место Б; стол 3, место В",
    ]
    whole = pulka("print", "protocol", "-o", tmp_path / "p.pdf", "--names", EXAMPLES / "seating.csv")
    assert whole.err == ""


def test_a_name_that_does_not_fit_is_refused_with_its_place(pulka, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text(f"1;Ан;Бе;Ве;Ге\n12;Ан;{'Длинный' * 30};Ве;Ге\n", "utf-8")
    ran = pulka("print", "protocol", "-o", tmp_path / "o.pdf", "--names", names)
    assert ran.code == 2 and ran.complaints[0].endswith("(стол 12, место Б)")


def test_a_file_that_is_there_is_never_replaced(pulka, tmp_path):
    out = tmp_path / "o.pdf"
    assert pulka("print", "protocol", "-o", out).code == 0
    first, given_out = out.read_bytes(), register_path().read_bytes()
    ran = pulka("print", "protocol", "-o", out)
    assert ran.code == 2
    (line,) = ran.complaints
    assert "такой файл уже есть, и он остаётся как был: выберите другое имя" in line
    assert out.read_bytes() == first
    assert register_path().read_bytes() == given_out


def test_a_place_that_cannot_be_written_to_is_said(pulka, tmp_path):
    assert "нет такой папки" in pulka("print", "protocol", "-o", tmp_path / "none" / "o.pdf").err
    assert "это папка" in pulka("print", "protocol", "-o", tmp_path).err


def test_what_is_no_regular_file_is_never_replaced(pulka, tmp_path):
    pipe = tmp_path / "pipe.pdf"
    os.mkfifo(pipe)
    ran = pulka("print", "protocol", "-o", pipe)
    assert ran.code == 2
    (line,) = ran.complaints
    assert "это не обычный файл" in line
    assert pipe.is_fifo()
    assert "нужно имя файла" in pulka("print", "protocol", "-o", "-").complaints[0]
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize(("name", "named"), [("round1.txt", "round1.pdf"), ("round1", "round1.pdf")])
def test_sheets_are_printed_as_a_pdf_alone(pulka, tmp_path, name, named):
    ran = pulka("print", "protocol", "-o", tmp_path / name, "--lang", "en")
    assert (ran.code, ran.complaints) == (
        2,
        [f"pulka: {tmp_path / name}: sheets are a PDF: name it {tmp_path / named}"],
    )
    assert list(tmp_path.iterdir()) == []
    assert pulka("print", "protocol", "-o", tmp_path / "ROUND.PDF").code == 0


def test_sheets_are_good_even_where_they_cannot_be_remembered(pulka, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PULKA_HOME", str(tmp_path / "file"))
    ran = pulka("print", "protocol", "-o", tmp_path / "o.pdf")
    assert ran.code == 1
    assert f"листы напечатаны, но не внесены в список {register_path()}" in ran.err
    assert "PULKA_HOME" in ran.err and len(ran.complaints) == 1
    assert (tmp_path / "o.pdf").exists()


def test_a_damaged_list_of_printed_sheets_is_told_of(pulka, photographer, tmp_path):
    taken = photographer()
    photo = taken.save(tmp_path / "1.jpg")
    remember([replace(taken.sheet, event="Кубок")])
    good = register_path().read_bytes()
    whole = pulka("read", photo, "--json")
    assert (whole.complaints, whole.json[0]["sheet"]["event"]) == ([], "Кубок")
    register_path().write_bytes(good.replace(b'"code"', b'"cod') + good)
    ran = pulka("read", photo, "--json", "--lang", "en")
    (line,) = ran.complaints
    assert ran.code == 1 and ran.json[0]["sheet"]["event"] == "Кубок"
    assert line.startswith(f"pulka: {register_path()}: lines of the list of printed sheets that are damaged: 1 of 2")
    before = register_path().read_bytes()
    printed = pulka("print", "protocol", "-o", tmp_path / "o.pdf")
    (line,) = printed.complaints
    assert printed.code == 1 and str(register_path()) in line and "испорчено строк: 1 из 2" in line
    # What was there stays, and the new sheets are known.
    assert register_path().read_bytes().startswith(before)
    assert look_up(decode(json.loads(register_path().read_bytes().splitlines()[-1])["code"])) is not None


@pytest.mark.parametrize("flag", [[], ["--json"]])
def test_layout_is_the_form_in_millimetres(pulka, flag):
    ran = pulka("layout", "protocol", "--players", 3, "--rows", 12, *flag)
    assert ran.code == 0
    assert ran.json == layout_json(load_form("protocol", 3, 12))


# --- game records


RECORD = {
    "format": "pulka-game/1",
    "convention": "sochi",
    "pool": 20,
    "players": {"A": "Иванов", "B": "Петров", "C": "Сидоров", "D": "Орлов"},
    "deals": [
        {
            "deal": 1,
            "dealer": "D",
            "declarer": "A",
            "contract": "6",
            "defence": {"B": "whist", "C": "pass"},
            "tricks": {"A": 6, "B": 4},
        },
        {"deal": 2, "dealer": "A", "declarer": "C", "contract": "misere", "tricks": {"C": 1}},
        {"deal": 3, "dealer": "B", "contract": "raspasy", "tricks": {"A": 2, "C": 3, "D": 5}},
    ],
    "written": [
        {"deal": 1, "column": "pool", "seat": "A", "value": 2},
        {"deal": 1, "column": "whists", "seat": "B", "on": "A", "value": 8},
        {"deal": 2, "column": "mountain", "seat": "C", "value": 10},
        {"deal": 3, "column": "mountain", "seat": "A", "value": 2},
        {"deal": 3, "column": "mountain", "seat": "C", "value": 13},
        {"deal": 3, "column": "mountain", "seat": "D", "value": 5},
    ],
}


def changed(**changes):
    """The record as JSON text, with deal 1 (`deal_…`), a written value or the head changed."""
    record = json.loads(json.dumps(RECORD))
    for name, value in changes.items():
        if name.startswith("deal_"):
            record["deals"][0][name.removeprefix("deal_")] = value
        elif name == "written":
            record["written"][1]["value"] = value
        else:
            record[name] = value
    return json.dumps(record, ensure_ascii=False)


@pytest.fixture
def record(tmp_path):
    def saved(text=None, name="game.json"):
        file = tmp_path / name
        file.write_text(text if text is not None else changed(), "utf-8")
        return file

    return saved


def test_settle_gives_every_entry_its_reason_and_the_result(pulka, record):
    ran = pulka("settle", record())
    assert ran.code == 0
    for words in ("висты Б на А", "4 взятки на висте", "мизер не сыгран", "Средняя гора", "А Иванов", "−85"):
        assert words in ran.out
    result = pulka("settle", record(), "--json").json
    assert result["settlement"] == {"A": "37", "B": "53", "C": "-85", "D": "-5"}
    assert result["format"] == "pulka-settlement/1"


def test_settle_takes_csv_and_standard_input_as_well(pulka, record, monkeypatch):
    import io

    expected = pulka("settle", record(), "--json").json
    text = game_to_csv(game_from_json(changed()))
    assert pulka("settle", record(text, "game.csv"), "--json").json == expected
    for given in (text, changed(), "\ufeff" + changed()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert pulka("settle", "-", "--json").json == expected


def test_check_finds_nothing_in_an_honest_record_and_says_so(pulka, record):
    ran = pulka("check", record(), "--lang", "en")
    assert ran.code == 0
    assert "No mistakes in the writing." in ran.out


def test_check_says_what_it_can_check_in_a_record_without_entries(pulka, tmp_path):
    examples = Path(__file__).parent.parent / "examples"
    ran = pulka("check", examples / "totals.json")
    assert ran.code == 0
    assert "только итоги, без сдач" in ran.out and "проверен только расчёт" in ran.out and "расчёт верен" in ran.out
    assert "по итогам" in ran.out and "по сдачам  " not in ran.out
    data = json.loads((examples / "totals.json").read_text("utf-8"))
    data["result"] = {"A": 56, "B": -107, "C": 103, "D": -52}
    (tmp_path / "wrong.json").write_text(json.dumps(data), "utf-8")
    ran = pulka("check", tmp_path / "wrong.json", "--lang", "en")
    assert ran.code == 1
    (line,) = [line.split() for line in ran.out.splitlines() if line.lstrip().startswith("A Иванов")]
    assert line[-3:] == ["55", "56", "+1"]
    del data["result"]
    (tmp_path / "bare.json").write_text(json.dumps(data), "utf-8")
    assert f"pulka settle {tmp_path / 'bare.json'}" in pulka("check", tmp_path / "bare.json", "--json").json["message"]
    deals = json.loads((examples / "honest.json").read_text("utf-8"))
    del deals["written"]
    (tmp_path / "deals.json").write_text(json.dumps(deals), "utf-8")
    ran = pulka("check", tmp_path / "deals.json", "--lang", "en")
    assert f"no written totals; to settle the game: pulka settle {tmp_path / 'deals.json'}" in ran.out


def test_check_names_the_mistake_and_what_it_costs(pulka, record):
    file = record(changed(written=10))
    ran = pulka("check", file)
    assert ran.code == 1
    assert "написано 10, должно быть 8" in ran.out
    assert "А −2, Б +2" in ran.out
    (mistake,) = pulka("check", file, "--json").json["mistakes"]
    assert (mistake["field"], mistake["written"], mistake["expected"]) == ("d01.whists.B.A", 10, 8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "файл пуст"),
        ("not a record", "это не JSON"),
        ('{"format": "other/1"}', "pulka-game/1"),
        (changed(deal_tricks={"A": 7, "B": 4}), "сдача 1: всего записано: 11 взяток; ожидается не больше 10"),
        (changed(deal_tricks={"A": 11}), "сдача 1, место А: записано: 11 взяток; в сдаче их 10"),
        (changed(deal_defence={"B": "whist", "D": "whist"}), "сдача 1, место Г: вистует сдающий"),
        (changed(pool=-5), "пуля до -5; ожидается целое число от 1 до 9999"),
        (changed(pool=10000), "пуля до 10000; ожидается целое число от 1 до 9999"),
        (changed(deal_contract=6), 'contract: стоит 6, ожидается "6" в кавычках'),
        (changed(deals=[]), "итоги записаны, а ни одной сдачи (deals) нет"),
        ("null", "запись: стоит —, ожидается запись игры pulka-game/1"),
        (changed(convention="sotchi"), "нет конвенции «sotchi»"),
    ],
    ids=[
        "empty",
        "text",
        "other format",
        "eleven in all",
        "eleven tricks",
        "dealer whists",
        "pool of -5",
        "pool of 10000",
        "contract as a number",
        "no deals",
        "null",
        "convention",
    ],
)
@pytest.mark.parametrize("command", ["settle", "check"])
def test_a_record_against_the_rules_is_said_where_it_is(pulka, record, command, text, said):
    file = record(text)
    ran = pulka(command, file)
    assert ran.code == 2
    assert ran.out == ""
    assert any(said in line for line in ran.complaints), ran.err
    for line in ran.complaints:
        assert line.startswith(f"pulka: {file}: ")
    assert len(ran.complaints) <= 2
    assert not re.search("[а-яё]", pulka(command, file, "--lang", "en").err.replace("sotchi", ""), re.I)


def test_check_as_json_lists_what_the_record_breaks(pulka, record):
    ran = pulka("check", record(changed(deal_tricks={"A": 11})), "--json")
    assert ran.code == 2
    (violation,) = ran.json["violations"]
    assert (violation["deal"], violation["seat"], violation["field"]) == (1, "A", "tricks")


# --- conventions


def test_conventions_lists_them_all_and_tells_of_each(pulka):
    listed = pulka("conventions")
    assert listed.code == 0
    for name in convention_names():
        assert name in listed.out
        one = pulka("conventions", name, "--lang", "en")
        assert one.code == 0
        assert name in one.out
    as_data = pulka("conventions", "--json").json
    assert [convention["name"] for convention in as_data] == list(convention_names())
    sochi = pulka("conventions", "sochi", "--json").json
    assert sochi["options"]["values"]["value"] == [2, 4, 6, 8, 10, 10]
    assert sochi["options"]["half_whist"]["value"] is True


@pytest.mark.parametrize("method", ["mean", "mountain", "circles"])
def test_settle_shows_the_working_asked_for_with_one_result(pulka, record, method):
    ran = pulka("settle", record(), "--method", method, "--json")
    assert ran.code == 0 and ran.json["settlement"] == pulka("settle", record(), "--json").json["settlement"]
    assert ran.json["steps"]


def test_settle_in_money_and_by_hand(pulka, record):
    ran = pulka("settle", record(), "--stake", "5", "--by-hand", "--json")
    assert sum(int(amount) for amount in ran.json["money"].values()) == 0
    assert all(sum(table.values()) == 0 for table in ran.json["permitted"]) and ran.json["permitted"]
    shown = pulka("settle", record(), "--stake", "5", "--by-hand", "--lang", "ru").out
    assert "Деньги" in shown and "4.2.12" in shown
    for bad in (["--stake", "0"], ["--stake", "x"], ["--method", "guess"]):
        ran = pulka("settle", record(), *bad)
        assert ran.code == 2 and len(ran.complaints) == 1 and bad[0] in ran.complaints[0]


@pytest.mark.parametrize("command", ["settle", "check"])
def test_deals_after_the_end_need_a_person_and_missing_ones_are_noted(pulka, tmp_path, command):
    data = json.loads((EXAMPLES / "honest.json").read_text("utf-8"))
    more = {"deal": 14, "dealer": "A", "contract": "raspasy", "tricks": {"B": 3, "C": 3, "D": 4}}
    (tmp_path / "on.json").write_text(json.dumps(data | {"deals": [*data["deals"], more], "written": []}), "utf-8")
    ran = pulka(command, tmp_path / "on.json")
    assert ran.code == 1 and "· пулька окончена сдачей 13, дальше записаны ещё сдачи" in ran.out
    gap = [deal for deal in data["deals"] if deal["deal"] not in (3, 4)]
    (tmp_path / "gap.json").write_text(json.dumps(data | {"deals": gap, "written": []}), "utf-8")
    ran = pulka(command, tmp_path / "gap.json", "--lang", "en")
    assert ran.code == 0 and "· deals 3 to 4 are not recorded" in ran.out


@pytest.fixture
def several_read(tmp_path):
    """A file of readings: two sheets, and one whose code could not be read."""

    def saved(*ids, name="scan.json"):
        game = json.loads((EXAMPLES / "honest.json").read_text("utf-8"))
        read = {"format": "pulka-reading/1", "source": "scan.pdf", "fields": {}, "review": []}
        readings = [
            read | {"page": page, "sheet": {"id": id_}, "game": game | {"pool": 10 * page}}
            for page, id_ in enumerate(ids, 1)
        ]
        (tmp_path / name).write_text(json.dumps(readings), "utf-8")
        return tmp_path / name

    return saved


def test_of_several_sheets_read_one_is_chosen_by_its_number(pulka, several_read):
    file = several_read("7K3M-9RXA", "935S-9A43", None)
    for command in ("settle", "check"):
        ran = pulka(command, file)
        assert ran.code == 2
        assert ran.complaints == [
            f"pulka: {file}: прочитанных листов здесь 3, выберите один, например --sheet 7K3M-9RXA; "
            "есть: 7K3M-9RXA, 935S-9A43"
        ]
        assert pulka(command, file, "--sheet", "7к3м 9rxa", "--json").code in (0, 1)
    one, two = (pulka("settle", file, "--sheet", n, "--json").json for n in ("7K3M-9RXA", "935S-9A43"))
    assert one["steps"] != two["steps"]
    ran = pulka("settle", file, "--sheet", "7K3M-9RXB", "--lang", "en")
    assert ran.complaints == [f"pulka: {file}: sheet 7K3M-9RXB is not here; there are 7K3M-9RXA, 935S-9A43"]
    assert "не номер листа" in pulka("settle", file, "--sheet", "1").err
    assert "запись одной игры" in pulka("settle", EXAMPLES / "honest.json", "--sheet", "7K3M-9RXA").err


def test_of_a_sheet_that_is_on_two_pages_the_file_of_both_is_named(pulka, several_read):
    assert (
        "(страницы 1, 2); всё вместе — в sheet-7K3M-9RXA.json"
        in pulka("settle", several_read("7K3M-9RXA", "7K3M-9RXA")).err
    )
    twins = several_read("7K3M-9RXA", "7K3M-9RXA", name="sheet-7K3M-9RXA.json")
    assert "сначала ответьте pulka read, который из них какой" in pulka("settle", twins).err


def test_check_compares_two_secretaries_records(pulka, record, tmp_path):
    mine = record()
    theirs = tmp_path / "theirs.json"
    data = json.loads(mine.read_text(encoding="utf-8"))
    assert pulka("check", mine, "--against", mine, "--json").json["differences"] == []
    data["deals"][0]["contract"] = "7"
    theirs.write_text(json.dumps(data), encoding="utf-8")
    ran = pulka("check", mine, "--against", theirs, "--json")
    assert ran.code == 1 and [d["deal"] for d in ran.json["differences"]] == [1]
    assert "≠" in pulka("check", mine, "--against", theirs).out


def test_where_two_records_differ_is_said_in_the_words_of_the_game(pulka, record):
    theirs = json.loads(changed(deal_contract="7", deal_tricks={"A": 6, "B": 3, "C": 1}, pool=10))
    theirs["deals"][0]["defence"]["C"] = "whist"
    theirs["deals"][1] |= {"declarer": "B", "tricks": {"B": 1}}
    theirs["written"][1]["value"] = 9
    theirs["options"] = {"whist": "gentleman"}
    del theirs["deals"][2]
    theirs["written"] = theirs["written"][:3]
    other = record(json.dumps(theirs), "theirs.json")
    said = [line[2:] for line in pulka("check", record(), "--against", other).out.splitlines() if line[:1] == "≠"]
    assert said == [
        "отличия от конвенции: ничего и whist gentleman",
        "пуля до: 20 и 10",
        "сдача 1, заказ: 6 и 7",
        "сдача 1, ответы на заказ: В пас и В вист",
        "сдача 1, взятки: Б 4 и Б 3, В 1",
        "сдача 1, висты Б на А: 8 и 9",
        "сдача 2, играет: В и Б",
        "сдача 2, взятки: В 1 и Б 1",
        "сдача 3, записана: распасы и ничего",
        "сдача 3, гора А: 2 и ничего",
        "сдача 3, гора В: 13 и ничего",
        "сдача 3, гора Г: 5 и ничего",
    ]


@pytest.fixture
def reading(record):
    """A file of one sheet as `pulka read` keeps it, `out_of_sight` the boxes that the photo does not show."""

    def saved(name="reading.json", out_of_sight=(), asked=(), written=None):
        game = json.loads(changed() if written is None else changed(written=written))
        hidden = [name.split(".") for name in out_of_sight]
        places = [
            [f"d{w['deal']:02d}", w["column"], w["seat"], *([w["on"]] if "on" in w else [])] for w in game["written"]
        ]
        game["written"] = [w for w, place in zip(game["written"], places, strict=True) if place not in hidden]
        sheet = {
            "format": "pulka-reading/1",
            "fields": {name: {"value": "", "confidence": 0.0, "state": "unreadable"} for name in out_of_sight},
            "review": [{"field": name, "best": "", "other": [], "why": "…"} for name in (*out_of_sight, *asked)],
            "game": game,
        }
        return record(json.dumps([sheet]), name)

    return saved


UNSEEN = ("d01.whists.B.A", "d03.mountain.D")


@pytest.mark.parametrize("command", ["settle", "check"])
def test_a_reading_with_open_questions_is_not_told_as_final(pulka, reading, command):
    file = reading(out_of_sight=UNSEEN)
    for lang, said in (
        ("ru", "на этом листе не отвечено вопросов: 2 (их задаёт pulka read) — всё, что ниже, предварительно"),
        ("en", "2 questions of this sheet are open (pulka read asks them): what follows is not final"),
    ):
        ran = pulka(command, file, "--lang", lang)
        assert (ran.code, ran.out.splitlines()[0]) == (1, f"{file}: {said}")
    schema = json.loads(
        (Path(scoring.__file__).parent / "schema" / f"{command.replace('settle', 'settlement')}.json").read_text(
            "utf-8"
        )
    )
    told = pulka(command, file, "--json")
    Draft202012Validator(schema).validate(told.json)
    assert (told.code, told.json["open_questions"]) == (1, 2)
    answered = pulka(command, reading("answered.json"), "--json")
    assert answered.code == 0 and "open_questions" not in answered.json
    assert "предварительно" not in pulka(command, reading("answered.json")).out


def test_what_cannot_be_seen_is_neither_forgotten_nor_a_difference_nor_fined(pulka, record, reading):
    file = reading(out_of_sight=UNSEEN)
    ran = pulka("check", file, "--fines", "--lang", "en")
    assert "No mistakes in what was read." in ran.out and "forgotten" not in ran.out
    assert pulka("check", file, "--json").json["mistakes"] == []
    for one, two in ((file, record()), (record(), file)):
        against = pulka("check", one, "--against", two, "--json")
        assert (against.code, against.json["differences"], against.json["open_questions"]) == (1, [], 2)
    assert len(pulka("check", record(), "--against", reading(written=7), "--json").json["differences"]) == 1
    # Of a deal whose marks are out of sight nothing is compared; of another one everything.
    other = json.loads(changed(deal_contract="7", deal_tricks={"A": 7, "B": 3}))
    other["deals"][1]["tricks"] = {"C": 2}
    theirs = record(json.dumps(other), "theirs.json")
    apart = pulka("check", reading(out_of_sight=["d01.contract.6"]), "--against", theirs, "--json").json["differences"]
    assert [(d["deal"], d["field"]) for d in apart] == [(2, "tricks")]


def test_totals_carried_over_out_of_sight_are_no_difference(pulka, record, reading):
    start = {s: {"pool": 0, "mountain": 0, "whists": {}} for s in "ABCD"}
    mine, theirs = json.loads(reading(out_of_sight=["d00.pool.A"]).read_text("utf-8")), json.loads(changed())
    mine[0]["game"]["start"], theirs["start"] = start, json.loads(json.dumps(start))
    theirs["start"]["A"]["pool"] = 4
    one = record(json.dumps(mine), "one.json")
    ran = pulka("check", one, "--against", record(json.dumps(theirs), "two.json"), "--json")
    assert ran.json["differences"] == []
    theirs["start"]["B"]["pool"] = 6
    ran = pulka("check", one, "--against", record(json.dumps(theirs), "two.json"), "--json", "--lang", "en")
    assert [d["message"] for d in ran.json["differences"]] == ["carried forward: pool of B 0 and pool of B 6"]


def test_a_mistake_that_is_asked_about_is_told_as_perhaps_one(pulka, record, reading):
    file = reading(asked=["d01.whists.B.A"], written=10)
    ran = pulka("check", file, "--fines", "--lang", "en", "--against", record())
    assert "  perhaps: Deal 1" in ran.out and "fine by" not in ran.out
    assert "≠ perhaps: deal 1, whists of B on A: 10 and 8" in ran.out
    assert "fine by" in pulka("check", reading(written=10), "--fines", "--lang", "en").out


def test_players_whose_names_one_record_does_not_know_are_no_difference(pulka, record):
    players = {"A": "A", "B": "", "C": "Сидоров", "D": "Орлов"}
    for names, apart in ((players, []), (players | {"C": "Седов"}, ["players"])):
        other = record(changed(players=names), "other.json")
        for one, two in ((record(), other), (other, record())):
            found = pulka("check", one, "--against", two, "--json").json["differences"]
            assert [d["field"] for d in found] == apart


def test_names_that_no_form_has_are_no_boxes(pulka, reading):
    odd = json.loads(reading().read_text("utf-8"))
    odd[0]["fields"] = {name: {"state": "unreadable"} for name in ("d", "dxx.pool.A", "d01.tricks", "date")}
    file = reading()
    file.write_text(json.dumps(odd), "utf-8")
    assert pulka("check", file, "--against", file).code == 0


def test_a_reading_that_is_damaged_is_called_so(pulka, record):
    ran = pulka("check", record(json.dumps([{"format": "pulka-reading/1", "game": json.loads(changed())}])))
    assert ran.code == 2 and "прочитайте снимок ещё раз" in ran.err and len(ran.complaints) == 1


def test_check_names_the_fines_for_whoever_asks(pulka):
    path = EXAMPLES / "two-mistakes.json"
    assert "4.2.7" in pulka("check", path, "--fines").out and "4.2.7" not in pulka("check", path).out


def test_a_tables_own_convention_is_read_from_toml(pulka, tmp_path):
    path = tmp_path / "club.toml"
    path.write_text('base = "sochi"\n[options]\nwhist = "gentleman"\n', encoding="utf-8")
    ran = pulka("conventions", path, "--json")
    assert ran.code == 0 and ran.json["options"]["whist"]["value"] == "gentleman"
    path.write_text("base = 7", encoding="utf-8")
    ran = pulka("conventions", path)
    assert ran.code == 2 and len(ran.complaints) == 1


@pytest.mark.parametrize("command", ["settle", "check"])
def test_a_record_is_read_in_the_encoding_that_windows_saves_it_in(pulka, tmp_path, command):
    for name, encoding in (("two-mistakes.csv", "cp1251"), ("two-mistakes.json", "cp1251"), ("honest.json", "utf-16")):
        saved = tmp_path / name
        saved.write_bytes((EXAMPLES / name).read_text("utf-8").encode(encoding))
        assert pulka(command, saved, "--json").out == pulka(command, EXAMPLES / name, "--json").out


@pytest.mark.parametrize("command", ["settle", "check"])
def test_a_photo_given_as_a_record_is_called_one(pulka, photographer, tmp_path, command):
    photo = photographer().save(tmp_path / "game.json")
    ran = pulka(command, photo, "--lang", "en")
    assert (ran.code, ran.complaints) == (
        2,
        [f"pulka: {photo}: this is a picture, and a text is needed; “pulka read” reads sheets from photos and PDFs"],
    )
