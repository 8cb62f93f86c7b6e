"""Text files as people's programs save them: UTF-8, UTF-16, the Windows code page; and what a file is that is none."""

import re

from desk.edge import Stop, in_file
from scoring.text import Text

_PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF89a", b"II*\0", b"MM\0*")
_BOOK = Text(
    "это книга Excel или LibreOffice; сохраните таблицу как CSV",
    "this is a workbook of Excel or LibreOffice; save the table as CSV",
)
_NO_TEXT = Text("это не текст", "this is not text")
_UNKNOWN = Text(
    "это не текст в UTF-8; сохраните файл ещё раз, выбрав кодировку UTF-8",
    "this is not UTF-8 text; save the file once more with the encoding UTF-8",
)

_RUSSIAN_LETTERS = "А-Яа-яЁёІіЇїЄєЎўҐґ"
_WORD = re.compile(rf"[A-Za-z]+|[{_RUSSIAN_LETTERS}][а-яёіїєўґ]*(?:[А-ЯЁІЇЄЎҐ][а-яёіїєўґ]*)*")
_NO_WORD = re.compile(r"[\s\d!-/:-@\[-`{-~«»№–—]+")


def text_of(data: bytes, name: str) -> str:
    """The text of the file `name` with this content; Stop where it is none, or where its encoding is not certain."""
    if (foreign := _foreign(data)) is not None:
        raise Stop(in_file(name, foreign))
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        russian = _windows_russian(data)
        if russian is None:
            raise Stop(in_file(name, _UNKNOWN)) from error
        return russian
    if "\0" in text:
        raise Stop(in_file(name, _NO_TEXT))
    return text


def _foreign(data: bytes) -> Text | None:
    """What a file is that cannot be a text, and what to do with it."""
    is_picture = data.startswith(_PICTURES) or data[4:8] == b"ftyp" or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
    if is_picture or data.startswith(b"%PDF"):
        what = Text("PDF", "a PDF") if data.startswith(b"%PDF") else Text("снимок", "a picture")
        return Text(
            f"это {what.ru}, а нужен текст; листы со снимков и из PDF читает «pulka read»",
            f"this is {what.en}, and a text is needed; “pulka read” reads sheets from photos and PDFs",
        )
    if data.startswith(b"\xd0\xcf\x11\xe0") or (
        data.startswith(b"PK\3\4") and (b"xl/" in data or b"opendocument" in data)
    ):
        return _BOOK
    if data.startswith(b"PK\3\4"):
        return Text(
            "это архив, а нужен текст; снимки из архивов читает «pulka read»",
            "this is an archive, and a text is needed; “pulka read” reads photos from archives",
        )
    return None


def _windows_russian(data: bytes) -> str | None:
    """The text in the Windows code page for Russian; None where that is not certain.

    It is where every word is wholly Latin or wholly Russian, with its capitals where capitals go: in any other code
    page the letters of other alphabets come out within Latin words, capitals after small letters, or as no letters.
    """
    try:
        text = data.decode("cp1251")
    except UnicodeDecodeError:
        return None
    words = _NO_WORD.sub(" ", text).split()
    return text if all(_WORD.fullmatch(word) and not _turned_over(word) for word in words) else None


def _turned_over(word: str) -> bool:
    """Whether a word begins small and goes on in capitals: so KOI8 comes out."""
    return word[0].islower() and not word[1:].islower() and len(word) > 1 and not word.isascii()
