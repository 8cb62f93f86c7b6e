"""Every word that is printed on a sheet, in Russian and in English."""

from dataclasses import dataclass
from typing import Literal

Lang = Literal["ru", "en"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language.

    `heads` names the columns, `subs` what stands under a head: several choices each, the first that fits is printed;
    `on` takes the seat whists are written on. `letters` are the seats A, B, C, D.
    """

    letters: dict[str, str]
    event: str
    round: str
    table: str
    date: str
    convention: str
    pool: str
    options: str
    no_options: str
    heads: dict[str, str]
    subs: dict[str, tuple[str, ...]]
    on: tuple[str, ...]
    carried: str
    hint: tuple[str, ...]
    result: str
    code: str
    signatures: str
    judge: str


WORDS: dict[Lang, Words] = {
    "ru": Words(
        letters=dict(zip("ABCD", "АБВГ", strict=True)),
        event="Турнир",
        round="Тур",
        table="Стол",
        date="Дата",
        convention="Конвенция",
        pool="Пуля до",
        options="Отличия от конвенции",
        no_options="нет",
        heads={
            "number": "№",
            "dealer": "сдаёт",
            "declarer": "Играет",
            "contract": "Заказ",
            "whist": "Вист",
            "tricks": "Взятки",
        },
        subs={"pool": ("пуля",), "mountain": ("гора",), "misere": ("М",), "raspasy": ("Р",)},
        on=("висты на {}", "на {}"),
        carried="перенос",
        hint=(
            "Отмечайте крестом или галочкой; отмена — закрасить клетку целиком.",
            "Неверное число зачеркните, верное впишите рядом, в ту же клетку.",
            "Пишите итог, и только там, где он изменился; «на {}» — висты на {}.",
        ),
        result="Результат в вистах",
        code="Код листа",
        signatures="Подписи",
        judge="Судья",
    ),
    "en": Words(
        letters={seat: seat for seat in "ABCD"},
        event="Event",
        round="Round",
        table="Table",
        date="Date",
        convention="Convention",
        pool="Pool to",
        options="Differs from the convention in",
        no_options="nothing",
        heads={
            "number": "№",
            "dealer": "dealer",
            "declarer": "Declarer",
            "contract": "Contract",
            "whist": "Whist",
            "tricks": "Tricks",
        },
        subs={"pool": ("pool",), "mountain": ("mountain", "mount."), "misere": ("M",), "raspasy": ("R",)},
        on=("whists on {}", "on {}"),
        carried="carried forward",
        hint=(
            "Mark with a cross or a tick; to cancel, fill the whole box in.",
            "Strike a wrong number out, write the right one beside it in the box.",
            "Write running totals, only where they change; “on {}”: whists on {}.",
        ),
        result="Result in whists",
        code="Sheet code",
        signatures="Signatures",
        judge="Judge",
    ),
}
