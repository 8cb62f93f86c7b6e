from pathlib import Path

import pytest

from desk.edge import Stop
from desk.order import names_from, rules_of, tables_of

WIDE = {
    1: {"A": "Иванов", "B": "Петров", "C": "Сидоров", "D": "Орлов"},
    2: {"A": "Белова", "B": "Гусев", "D": "Фролов"},
}


def stopped(call, *arguments):
    with pytest.raises(Stop) as caught:
        call(*arguments)
    (text,) = caught.value.texts
    assert caught.value.code == 2
    return text


@pytest.mark.parametrize(
    ("text", "tables"),
    [("1-4", [1, 2, 3, 4]), ("1,3,5-7", [1, 3, 5, 6, 7]), ("12", [12]), (" 2 – 3 , 9", [2, 3, 9]), ("7,5", [7, 5])],
)
def test_tables(text, tables):
    assert tables_of(text) == tables


@pytest.mark.parametrize("text", ["", "a", "0", "3-1", "1-", "1,,2", "-5", "1-2-3", "1;2", "1,1", "1-3,2", "1-99999"])
def test_tables_that_are_not_clear_are_refused(text):
    assert text[:3] in stopped(tables_of, text).ru or "листов" in stopped(tables_of, text).ru


FILES = {
    "wide, heading": "стол;А;Б;В;Г\n1;Иванов;Петров;Сидоров;Орлов\n2;Белова;Гусев;;Фролов\n",
    "wide, no heading": "1;Иванов;Петров;Сидоров;Орлов\n2;Белова;Гусев;;Фролов\n",
    "wide, Latin heading": "table,A,B,C,D\n1,Иванов,Петров,Сидоров,Орлов\n2,Белова,Гусев,,Фролов\n",
    "wide, seats in another order": "Стол\tГ\tВ\tБ\tА\n1\tОрлов\tСидоров\tПетров\tИванов\n2\tФролов\t\tГусев\tБелова\n",
    "list, heading": (
        "Стол;Место;Имя\n1;А;Иванов\n1;Б;Петров\n1;В;Сидоров\n1;Г;Орлов\n2;А;Белова\n2;Б;Гусев\n2;Г;Фролов\n"
    ),
    "list, columns in another order": (
        "name,table,seat\nИванов,1,A\nПетров,1,B\nСидоров,1,C\nОрлов,1,D\nБелова,2,A\nГусев,2,B\nФролов,2,D\n"
    ),
    "list, no heading, spaces": (
        "1; a ;Иванов\n1;b; Петров\n\n1;c;Сидоров\n1;d;Орлов\n2;A;Белова\n2;B;Гусев\n2;D;Фролов\n"
    ),
    "quoted": '"1";"Иванов";"Петров";"Сидоров";"Орлов"\n"2";"Белова";"Гусев";"";"Фролов"',
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16"])
@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_names_in_every_shape_that_tables_are_saved_in(tmp_path, content, encoding):
    file = tmp_path / "names.csv"
    file.write_bytes(content.replace("\n", "\r\n").encode(encoding))
    assert names_from(file, "ABCD") == WIDE


def test_the_example_is_a_seating():
    names = names_from(Path(__file__).parent.parent / "examples" / "seating.csv", "ABCD")
    assert list(names) == [1, 2, 3] and names[1] == {"A": "Иванов", "B": "Петров", "C": "Сидоров", "D": "Орлов"}


def test_russian_and_latin_letters_mean_their_own_seats(tmp_path):
    # The Russian В is the third seat, the Latin B the second.
    file = tmp_path / "names.csv"
    file.write_text("1;В;Сидоров\n", "utf-8")
    assert names_from(file, "ABC") == {1: {"C": "Сидоров"}}
    file.write_text("1;B;Петров\n", "utf-8")
    assert names_from(file, "ABC") == {1: {"B": "Петров"}}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("стол;место;имя\n1;А;Иванов\n1;А;Петров\n", "строка 3: стол 1, место А уже занято: Иванов"),
        ("1;A;Иванов\n1;В;Петров\n", "строка 2: место «В»"),  # Latin A, Russian В: which seat is that?
        ("1;А;Иванов\n1;Г;Петров\n", "строка 2: место «Г»: ожидается одно из А Б В "),
        ("1;Иванов;Петров;Сидоров\nвторой;Белова;Гусев;Фролов\n", "строка 2: стол «второй»"),
        ("1;Иванов;Петров;Сидоров\n1;Белова;Гусев;Фролов\n", "строка 2: стол 1 назван второй раз"),
        ("1;Иванов;Петров;Сидоров\n2;Белова;Гусев\n", "строка 2: граф 3, ожидается 4: стол;А;Б;В"),
        ("1;Иванов;Петров;Сидоров;Орлов\n", "строка 1: граф 5, ожидается 4"),
        ("1;А;\n", "строка 1: нет имени"),
        ("1;А;Иванов\n1;Я;Петров\n", "строка 2: место «Я»: ожидается одно из А Б В "),
        ("1;А;Иванов\n\n1\n", "строка 3: граф 1, ожидается 3: стол;место;имя"),
        ("name,table,seat\nИванов,1\n", "строка 2: граф 2, ожидается 3: имя;стол;место"),
        ('стол;А;Б;В\n1;"Иванов\nстарший";Петров;Сидоров\n2;Белова\n', "строка 4: граф 2"),
        ('1;Иванов;Петров;Сидоров\n2;"Белова;Гусев;Фролов\n3;Ан;Бе;Ве\n', "строка 2: кавычки не на месте"),
        ("1;Ива\u2028нов;Петров;Сидоров\n2;Белова\n", "строка 2: граф 2"),
        ("100000;Иванов;Петров;Сидоров\n", "ожидается номер стола от 1 до 99999"),
        ("кто;где\n1;А\n", "строка 1: непонятный заголовок «кто;где»"),
        ("стол;место;имя\n", "нет ни одной строки"),
        ("", "нет ни одной строки с именами; строка такая: 5;А;Иванов"),
        ("PK\x03\x04\x00\x00xl/", "сохраните таблицу как CSV"),
    ],
)
def test_a_wrong_line_of_names_is_named(tmp_path, content, place):
    file = tmp_path / "names.csv"
    file.write_text(content, "utf-8")
    text = stopped(names_from, file, "ABC")
    assert place in text.ru
    assert text.ru.startswith("names.csv")
    assert text.en.startswith("names.csv")


def test_names_that_are_not_there(tmp_path):
    assert "нет такого файла" in stopped(names_from, tmp_path / "none.csv", "ABC").ru


def test_only_options_that_change_the_convention_are_kept():
    rules, changed = rules_of(
        "sochi", ["whist=gentleman", "consolation=price", "half_whist=false", "pool_weight= 1/2 "]
    )
    assert rules.whist == "gentleman"
    assert rules.half_whist is False
    assert changed == {"whist": "gentleman", "half_whist": "false", "pool_weight": "1/2"}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("whist", "ожидается ИМЯ=ЗНАЧЕНИЕ"),
        ("whist=", "ожидается ИМЯ=ЗНАЧЕНИЕ"),
        ("wist=gentleman", "нет правила «wist»"),
        ("whist=kind", "одно из: greedy, gentleman"),
        ("half_whist=maybe", "true или false"),
    ],
)
def test_an_option_that_is_none_is_refused(option, said):
    assert said in stopped(rules_of, "sochi", [option]).ru
