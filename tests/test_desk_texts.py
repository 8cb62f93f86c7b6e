import pytest

from desk.edge import Stop
from desk.texts import text_of

RUSSIAN = 'pulka-game/1;"Иванов-Петров А. С.";МакДональд;ОРЛОВ;«Кубок» № 5 — ёж'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1251"])
def test_text_is_read_as_it_was_saved(encoding):
    assert text_of(RUSSIAN.encode(encoding), "x.csv") == RUSSIAN
    assert text_of("{}".encode(encoding), "x.csv") == "{}"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("1;Иванов", "koi8-r"),
        ("1;Иванов", "cp866"),
        ("1;Иванов", "mac-cyrillic"),
        ("1;Müller", "cp1252"),
        ("1;José", "latin-1"),
        ("1;Łukasz", "cp1250"),
    ],
)
def test_an_encoding_that_is_not_certain_is_not_guessed(text, encoding):
    with pytest.raises(Stop) as stopped:
        text_of(text.encode(encoding), "x.csv")
    (said,) = stopped.value.texts
    assert said.ru == "x.csv: это не текст в UTF-8; сохраните файл ещё раз, выбрав кодировку UTF-8"
    assert said.en.startswith("x.csv: this is not UTF-8 text; save")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "это снимок, а нужен текст; листы со снимков и из PDF читает «pulka read»"),
        (b"\x89PNG\r\n", "это снимок"),
        (b"\0\0\0\x18ftypheic", "это снимок"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "это снимок"),
        (b"%PDF-1.4\n%text", "это PDF, а нужен текст"),
        (b"PK\3\4....xl/workbook.xml", "это книга Excel или LibreOffice; сохраните таблицу как CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "это книга Excel"),
        (b"PK\3\4....IMG_1.jpg", "это архив"),
        (b"a\0b", "это не текст"),
        (b"\xff\xfea", "это не текст в UTF-8"),
    ],
)
def test_what_is_no_text_is_called_by_its_name(data, said):
    with pytest.raises(Stop) as stopped:
        text_of(data, "x")
    (line,) = stopped.value.texts
    assert said in line.ru
    assert "«" not in line.en
