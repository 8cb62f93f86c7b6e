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
    conventions: dict[str, str]
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
        conventions={
            "sochi": "Сочи",
            "kodeks": "Кодекс",
            "leningrad": "Ленинград",
            "piter": "Питер",
            "hard-piter": "Жёсткий Питер",
            "fspr": "ФСПР",
            "moscow": "Москва",
            "rostov": "Ростов",
            "classic": "Классика",
            "kazakhstan": "Казахстанка",
            "ural-siberian": "Урало-Сибирская",
            "gusarik": "Гусарик",
            "races": "Скачки",
            "custom": "По договорённости",
        },
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
            "Отмечают крестом или галочкой; лишнюю отметку отменяют, закрасив клетку целиком.",
            "Неверное число зачёркивают и рядом, в той же клетке, пишут верное.",
            "Пуля, гора, висты — нарастающим итогом, только когда изменились; «на {}» — висты на игрока {}.",
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
        conventions={
            "sochi": "Sochi",
            "kodeks": "Kodeks",
            "leningrad": "Leningrad",
            "piter": "Piter",
            "hard-piter": "Hard Piter",
            "fspr": "FSPR",
            "moscow": "Moscow",
            "rostov": "Rostov",
            "classic": "Classic",
            "kazakhstan": "Kazakhstan",
            "ural-siberian": "Ural-Siberian",
            "gusarik": "Gusarik",
            "races": "Races",
            "custom": "As agreed",
        },
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
            "Mark with a cross or a tick; to cancel a mark, fill its box in completely.",
            "Strike a wrong number out and write the right one beside it, in the same box.",
            "Pool, mountain and whists are running totals, written only when they change; “on {}”: whists on player {}.",
        ),
        result="Result in whists",
        code="Sheet code",
        signatures="Signatures",
        judge="Judge",
    ),
}
