"""Fields, figures and places in the words of people who play."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scoring.audit import Difference
from scoring.game import Totals, cells_of
from scoring.text import Text, figure_text, joined, plain_name, seat_text

_COLUMNS = {
    "pool": Text("пуля {seat}", "pool of {seat}"),
    "mountain": Text("гора {seat}", "mountain of {seat}"),
    "whists": Text("висты {seat} на {on}", "whists of {seat} on {on}"),
    "tricks": Text("взятки {seat}", "tricks of {seat}"),
    "declarer": Text("«играет {seat}»", "“{seat} declares”"),
    "whist": Text("«вистует {seat}»", "“{seat} whists”"),
    "half": Text("«полвиста {seat}»", "“half-whist of {seat}”"),
    "contract": Text("заказ «{choice}»", "contract “{choice}”"),
    "trump": Text("козырь «{choice}»", "trump “{choice}”"),
    "name": Text("имя {seat}", "name of {seat}"),
    "result": Text("результат {seat}", "result of {seat}"),
}
_CHOICES = {
    "misere": Text("мизер", "misère"),
    "raspasy": Text("распасы", "raspasy"),
    "spades": Text("пики", "spades"),
    "clubs": Text("трефы", "clubs"),
    "diamonds": Text("бубны", "diamonds"),
    "hearts": Text("черви", "hearts"),
    "notrump": Text("без козыря", "no trump"),
}
_VALUES = {"": Text("пусто", "empty"), "x": Text("отметка", "a mark"), "-": Text("прочерк", "a dash")}
_LIKE = {"": Text("пустую клетку", "an empty box"), "x": Text("отметку", "a mark")}


def field_text(field_id: str) -> Text:
    """A field of a form as people name it.

    >>> field_text("d07.whists.B.A").ru, field_text("d00.pool.A").en
    ('сдача 7, висты Б на А', 'carried forward, pool of A')
    """
    if field_id == "sheet":
        return Text("лист", "the sheet")
    column, *parts = field_id.split(".")
    place = Text("", "")
    if found := re.fullmatch(r"d(\d\d+)", column):
        deal = int(found[1])
        place = Text(f"сдача {deal}, ", f"deal {deal}, ") if deal else Text("перенос, ", "carried forward, ")
        column, *parts = parts
    first, second = (*parts, "", "")[:2]
    seat, on, choice = seat_text(first), seat_text(second), _CHOICES.get(first, Text(first, first))
    words = _COLUMNS.get(column, Text(column, column))
    return place + Text(
        words.ru.format(seat=seat.ru, on=on.ru, choice=choice.ru),
        words.en.format(seat=seat.en, on=on.en, choice=choice.en),
    )


def value_text(value: str) -> Text:
    """What stands in a field, in words where it is no number."""
    return _VALUES.get(value, Text(value, value))


def like_text(value: str) -> Text:
    """The same as what a field looks like: «похоже на отметку», "looks like a mark"."""
    return _LIKE.get(value, value_text(value))


def player_text(seat: str, names: Mapping[str, str] | None, lang: str) -> str:
    """A player: the seat's letter, and the name where it is known."""
    letter = seat_text(seat).in_(lang)
    name = plain_name((names or {}).get(seat, ""))
    return f"{letter} {name}" if name and name not in (seat, letter) else letter


# --- records held against each other ----------------------------------------------------------------------------------

_RECORD = {
    "convention": Text("конвенция", "convention"),
    "options": Text("отличия от конвенции", "options"),
    "pool": Text("пуля до", "pool"),
    "players": Text("игроки", "players"),
    "start": Text("перенос", "carried forward"),
    "totals": Text("итоги", "totals"),
    "result": Text("результат", "result"),
    "raspasy_run": Text("распасов подряд до начала", "raspasy run before the first deal"),
    "deal": Text("записана", "recorded"),
    "contract": Text("заказ", "contract"),
    "dealer": Text("сдаёт", "dealer"),
    "declarer": Text("играет", "declarer"),
    "trump": Text("козырь", "trump"),
    "defence": Text("ответы на заказ", "defence"),
    "tricks": Text("взятки", "tricks"),
    "multiplier": Text("множитель", "multiplier"),
    "dark": Text("втёмную", "dark"),
    "without_talon": Text("без прикупа", "without the talon"),
    "conceded": Text("отдано взяток без игры", "tricks conceded"),
    "talon_units": Text("прикуп", "talon"),
    "totus": Text("тотус", "totus"),
}
_SAID = {
    "whist": Text("вист", "whist"),
    "pass": Text("пас", "pass"),
    "half": Text("полвиста", "half-whist"),
    "True": Text("да", "yes"),
    "False": Text("нет", "no"),
}


def difference_text(difference: Difference) -> Text:
    """Where two records of a table differ, in the words of people who play."""
    deal, name, one, two = difference.deal, difference.field, difference.one, difference.two
    if "." in name:
        where = field_text(f"d{deal or 0:02d}.{name}")
    else:
        where = Text(f"сдача {deal}, ", f"deal {deal}, ") if deal is not None else Text("", "")
        where += _RECORD.get(name, Text(name, name))
    # Of what is told seat by seat only that in which they differ.
    a, b = _by_seat(one), _by_seat(two)
    if a is not None and b is not None:
        apart = [key for key in {**a, **b} if a.get(key) != b.get(key)]
        one, two = ({key: side[key] for key in apart if key in side} for side in (a, b))
    return where + Text(": ", ": ") + record_text(name, one) + Text(" и ", " and ") + record_text(name, two)


def _by_seat(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Totals):
        return {".".join(part for part in cell if part): value[cell] for cell in cells_of(value.seats)}
    return value if isinstance(value, Mapping) else None


def record_text(name: str, value: Any) -> Text:
    """What a record says under a name, such as a declarer, a contract or the tricks."""
    if value is None or value == {}:
        return Text("ничего", "nothing")
    if isinstance(value, Totals):
        # Box by box they are told on their own.
        return Text("есть", "some")
    if isinstance(value, Mapping):
        parts = [_key_text(name, key) + Text(" ", " ") + record_text("", each) for key, each in value.items()]
        return joined(parts, ", ")
    if name in ("dealer", "declarer"):
        return seat_text(str(value))
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Text(figure_text(str(value)), figure_text(str(value)))
    return {**_CHOICES, **_SAID}.get(str(value), Text(str(value), str(value)))


def _key_text(name: str, key: str) -> Text:
    if name == "options":
        return Text(key, key)
    return field_text(key) if "." in key else seat_text(key)
