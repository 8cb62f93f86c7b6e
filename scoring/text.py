"""Messages as data: every sentence exists in Russian and in English, and the edge of the program picks one."""

from __future__ import annotations

import errno
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

RUSSIAN_SEATS = {"A": "А", "B": "Б", "C": "В", "D": "Г"}


@dataclass(frozen=True, slots=True)
class Text:
    """A message in both languages.

    >>> Text("сдача", "deal").in_("en")
    'deal'
    """

    ru: str
    en: str

    def in_(self, lang: str) -> str:
        """The message in ``lang``: ``"ru"`` or ``"en"``; ValueError for any other."""
        if lang == "ru":
            return self.ru
        if lang == "en":
            return self.en
        raise ValueError(f"unknown language {lang!r}: ru or en")

    def __add__(self, other: Text) -> Text:
        """Both messages run together, language by language."""
        return Text(self.ru + other.ru, self.en + other.en)


def joined(parts: list[Text], separator: str = "; ") -> Text:
    """Several messages as one, with ``separator`` between them."""
    return Text(separator.join(p.ru for p in parts), separator.join(p.en for p in parts))


def figure(value: int | Fraction) -> str:
    """A number as the project writes it: an integer or a fraction in lowest terms.

    >>> figure(Fraction(-307, 3))
    '-307/3'
    """
    return str(value)


def figure_text(value: str | int | Fraction) -> str:
    """An exact figure as people write it: a real minus sign, whole whists before the fraction.

    >>> figure_text("-307/3"), figure_text(38)
    ('−102 1/3', '38')
    """
    exact = Fraction(value)
    sign = "−" if exact < 0 else ""
    whole, rest = divmod(abs(exact), 1)
    parts = [str(whole)] if whole or not rest else []
    return sign + " ".join(parts + ([str(rest)] if rest else []))


def counted(number: int | Fraction, one: str, few: str, many: str) -> str:
    """A Russian noun after its number: 1 взятка, 2 взятки, 5 взяток, 1/2 взятки.

    >>> [counted(n, "взятка", "взятки", "взяток") for n in (1, 3, 11, 25)]
    ['1 взятка', '3 взятки', '11 взяток', '25 взяток']
    """
    if isinstance(number, Fraction) and number.denominator != 1:
        return f"{figure_text(number)} {few}"
    units, tens = abs(int(number)) % 10, abs(int(number)) % 100
    if 11 <= tens <= 14 or units == 0 or units >= 5:
        return f"{number} {many}"
    return f"{number} {one if units == 1 else few}"


def tricks_text(number: int | Fraction) -> Text:
    """So many tricks, in words of both languages."""
    return Text(counted(number, "взятка", "взятки", "взяток"), f"{number} trick{'' if number == 1 else 's'}")


def points_text(number: int | Fraction) -> Text:
    """So many points, in words of both languages."""
    return Text(counted(number, "очко", "очка", "очков"), f"{number} point{'' if number == 1 else 's'}")


def whists_text(number: int | Fraction) -> Text:
    """So many whists, in words of both languages."""
    return Text(counted(number, "вист", "виста", "вистов"), f"{number} whist{'' if number == 1 else 's'}")


def seat_text(seat: str) -> Text:
    """A seat's letter as each language prints it: A is А, B is Б, C is В, D is Г."""
    return Text(RUSSIAN_SEATS.get(seat, seat), seat)


def plain_name(name: str) -> str:
    """A file's name as it can be shown and written down: without control characters, and in whole characters.

    >>> plain_name("a\\x1b[2J\\udcff.jpg")
    'a[2J?.jpg'
    """
    whole = name.encode("utf-8", "replace").decode()
    return "".join(c for c in whole if unicodedata.category(c) != "Cc")


_SYSTEM = {
    errno.ENOENT: Text("нет такого файла или папки", "no such file or folder"),
    errno.EACCES: Text("нет доступа", "no permission"),
    errno.EPERM: Text("нет доступа", "no permission"),
    errno.EISDIR: Text("это папка", "it is a folder"),
    errno.ENOTDIR: Text("часть пути — не папка", "part of the path is no folder"),
    errno.EEXIST: Text("это имя занято", "the name is taken"),
    errno.ENAMETOOLONG: Text("имя слишком длинное", "the name is too long"),
    errno.ENOSPC: Text("на диске нет места", "no space left on the disk"),
    errno.EFBIG: Text("файл велик для этого диска", "the file is too large for the disk"),
    errno.EDQUOT: Text("отведённое место на диске кончилось", "the disk quota is used up"),
    errno.EIO: Text("диск не отвечает или испорчен", "the disk does not answer or is damaged"),
    errno.ELOOP: Text("ссылки идут по кругу", "the links go round in a circle"),
    errno.EMFILE: Text("открыто слишком много файлов", "too many files are open"),
    errno.EROFS: Text("диск только для чтения", "the disk is read-only"),
}


def system_text(error: OSError) -> Text:
    """Why the system refused a file, in both languages where it is one of the usual reasons, else in its own words."""
    said = error.strerror or str(error)
    return _SYSTEM.get(error.errno or 0, Text(said, said))
