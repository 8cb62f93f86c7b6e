"""Conventions: sets of named options, one small TOML each, and a table's own changes on top.

The option names are those that a game record and a printed sheet use. A convention never guesses from its name:
everything that changes a number is an option with a value.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from scoring.text import Text, figure, whists_text

Number = int | Fraction

LEVELS = ("6", "7", "8", "9", "10")
PRICED = (*LEVELS, "misere")
PREMIUMS = ("misere", "first_close", "zero_raspasy", "least_mountain")


class ConventionError(ValueError):
    """Raised when a convention or one of its options is not what it should be; ``text`` says it in both languages."""

    def __init__(self, text: Text) -> None:
        """Keep the message in both languages."""
        super().__init__(text.en)
        self.text = text


class Rate(NamedTuple):
    """What one contract is worth in a convention, at multiplier 1."""

    price: Number
    """Pool points for the contract made."""
    under: Number
    """Mountain points for each of the declarer's undertricks (or tricks on a misère)."""
    whist: Number
    """Whists for a whister's trick."""
    short: Number
    """Mountain points for each trick a whister lacks."""
    obligation: int
    """Tricks that the whisters owe together."""
    consolation: Number
    """Whists for each of the declarer's undertricks, to every opponent."""


@dataclass(frozen=True, slots=True)
class Premiums:
    """Rostov's premiums and the prizes of the races: whists written on every opponent."""

    misere: Number = 0
    first_close: Number = 0
    zero_raspasy: Number = 0
    least_mountain: Number = 0


@dataclass(frozen=True, slots=True)
class Convention:
    """A complete set of rules, in the words of a game record's ``options``.

    The defaults are sochi's. :func:`load_convention` makes one from a preset and options.
    """

    name: str
    title: Text
    source: str = ""
    values: tuple[Number, ...] = (2, 4, 6, 8, 10, 10)
    mountain_multiplier: Number = 1
    whist_multiplier: Number = 1
    defender_multiplier: Number = 1
    obligation: tuple[int, ...] = (4, 2, 1, 1, 1)
    high_responsibility: str = "last"
    shortage: str = "capped"
    whist: str = "greedy"
    consolation: str | int | Fraction = "price"
    consolation_passer: bool = True
    dealer_consolation: bool = True
    ten: str = "whisted"
    half_whist: bool = True
    return_whist: tuple[str, ...] = ("6", "7", "8")
    return_takes_all: bool = False
    concede: bool = True
    stalingrad: bool = False
    talon_premium: str | int | Fraction = "price"
    without_talon: tuple[str, ...] = ()
    multipliers: tuple[int, ...] = (1,)
    dark: bool = False
    totus: bool = False
    made_games: str = "pool"
    misere_penalty: str = "tricks"
    pool_weight: Number = 1
    whists_per_point: Number = 10
    divisible_mountain: bool = True
    help: bool = True
    end: str = "closed"
    raspasy: str = "mountain"
    raspasy_prices: tuple[Number, ...] = (1, 2, 3)
    raspasy_whists: tuple[Number, ...] = (5,)
    raspasy_count: str = "full"
    raspasy_amnesty: bool = False
    raspasy_zero: str = "pool"
    raspasy_zero_multiplier: Number = 1
    raspasy_zero_dealer: bool = True
    raspasy_zero_below: bool = True
    exit: tuple[int, ...] = (6,)
    exit_by: str = "bid"
    premiums: Premiums = Premiums()
    rates: Mapping[str, Rate] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work the prices out once, so that a deal only looks them up."""
        rates = {}
        for place, contract in enumerate(PRICED):
            price = self.values[place]
            game = contract != "misere"
            whist = whole(price * self.whist_multiplier) if game else 0
            consolation: Number = 0
            if game and self.consolation != "none":
                consolation = whist if self.consolation == "price" else whole(Fraction(self.consolation))
            rates[contract] = Rate(
                price,
                whole(price * self.mountain_multiplier),
                whist,
                whole(price * self.defender_multiplier) if game else 0,
                self.obligation[place] if game else 0,
                consolation,
            )
        object.__setattr__(self, "rates", rates)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the options alone."""
        return _rebuild, ({f.name: getattr(self, f.name) for f in fields(self) if f.init},)


def _rebuild(values: dict[str, Any]) -> Convention:
    return Convention(**values)


def whole(value: Number) -> Number:
    """The same number, as an int where it is whole.

    >>> whole(Fraction(4, 2)), whole(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    if type(value) is int:
        return value
    return value.numerator if value.denominator == 1 else value


# --- options: what each may be, and how a person reads it ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a convention: its kind, its title and the rule that it comes from."""

    name: str
    kind: str
    title: Text
    choices: Mapping[str, Text] = field(default_factory=dict)
    rule: str = ""


def _choice(name: str, ru: str, en: str, rule: str, **choices: tuple[str, str]) -> Option:
    return Option(name, "choice", Text(ru, en), {k: Text(*v) for k, v in choices.items()}, rule)


def _plain(name: str, kind: str, ru: str, en: str, rule: str, **named: tuple[str, str]) -> Option:
    return Option(name, kind, Text(ru, en), {k: Text(*v) for k, v in named.items()}, rule)


_OPTIONS = (
    _plain("values", "values", "цены игр 6–10 и мизера", "prices of 6–10 and misère", "Kodeks 2.2.2"),
    _plain(
        "mountain_multiplier",
        "number",
        "недобор разыгрывающего в гору, × цену",
        "declarer's undertrick, × price",
        "Kodeks 4.2.1",
    ),
    _plain("whist_multiplier", "number", "взятка на висте, × цену", "a whist trick, × price", "Kodeks 4.2.1"),
    _plain(
        "defender_multiplier",
        "number",
        "недобор вистующего в гору, × цену (0 — безответственный вист)",
        "whister's undertrick, × price (0: no responsibility)",
        "Kodeks 4.2.1",
    ),
    _plain(
        "obligation",
        "obligation",
        "обязательные взятки вистующих на 6–10",
        "tricks the whisters owe on 6–10",
        "Kodeks part 3",
    ),
    _choice(
        "high_responsibility",
        "на 8–10 при двух вистах отвечает",
        "on 8–10 with both whisting, who answers",
        "Kodeks part 3",
        last=("вистовавший последним", "whoever whisted last"),
        both=("каждый полностью", "each in full"),
        split=("оба поровну", "both, in equal parts"),
        each=("каждый, кто без взятки", "everyone without a trick"),
    ),
    _choice(
        "shortage",
        "недобор на 6–7 при двух вистах",
        "shortage on 6–7 with both whisting",
        "Kodeks part 3",
        capped=("не больше недобора пары", "no more than the pair lacks"),
        personal=("личный", "personal"),
    ),
    _choice(
        "whist",
        "вист",
        "whist",
        "«Преферанс», Ленинградка, п. 3",
        greedy=("жлобский", "greedy"),
        gentleman=("джентльменский", "gentleman's, when the declarer is down"),
        gentleman_always=("джентльменский и на сыгранных играх", "gentleman's, on made games too"),
    ),
    _plain(
        "consolation",
        "amount",
        "консоляция за недобор",
        "consolation for an undertrick",
        "«Расчёт пули в преферансе»",
        price=("по цене виста", "the price of a whist"),
        none=("нет", "none"),
    ),
    _plain(
        "consolation_passer",
        "bool",
        "консоляцию пишет и спасовавший",
        "the passer writes consolation too",
        "Rules of Russian Preferans",
    ),
    _plain(
        "dealer_consolation",
        "bool",
        "консоляцию пишет и сдающий",
        "the dealer who sits out writes consolation too",
        "Kodeks part 3",
    ),
    _choice(
        "ten",
        "десятерная",
        "the ten",
        "Kodeks part 3; «Преферанс», варианты ленинградки",
        whisted=("вистуется", "whisted"),
        checked=("проверяется", "checked"),
        consolation=("вистуется, пишется только консоляция", "whisted, only consolation is written"),
    ),
    _plain("half_whist", "bool", "полвиста на 6 и 7", "half-whist on 6 and 7", "«Преферанс», варианты ленинградки"),
    _plain(
        "return_whist",
        "contracts",
        "вернуть вист можно на",
        "a whist may be returned on",
        "«Преферанс», варианты ленинградки",
    ),
    _plain(
        "return_takes_all",
        "bool",
        "вернувший вист пишет все висты",
        "whoever returned the whist writes all whists",
        "FSPR 6",
    ),
    _plain(
        "concede",
        "bool",
        "можно уйти без розыгрыша (без трёх)",
        "a contract may be conceded (three down)",
        "Kodeks part 3",
    ),
    _plain(
        "stalingrad",
        "bool",
        "сталинград (шесть пик вистуют оба)",
        "stalingrad (both must whist six spades)",
        "«Общие правила преферанса»",
    ),
    _plain(
        "talon_premium",
        "amount",
        "за взятку из прикупа",
        "a trick found in the talon",
        "«Общие правила преферанса» 7.2",
        price=("по цене виста", "the price of a whist"),
    ),
    _plain(
        "without_talon", "contracts", "игры без прикупа", "games without the talon", "«Преферанс», варианты ленинградки"
    ),
    _plain("multipliers", "integers", "бомбы", "bombs", "«Общие правила преферанса» 7.2"),
    _plain("dark", "bool", "тёмные игры вдвойне", "dark games count double", "«Общие правила преферанса» 7.2"),
    _plain("totus", "bool", "тотус", "totus", "«Общие правила преферанса» 7.2"),
    _choice(
        "made_games",
        "сыгранная игра пишется",
        "a made contract goes",
        "Kodeks 4.2.3.2",
        pool=("в пулю", "to the pool"),
        half=("половина в пулю, половина с горы", "half to the pool, half off the mountain"),
    ),
    _choice(
        "misere_penalty",
        "штраф на мизере",
        "misère penalty",
        "«Преферанс во всех видах»",
        tricks=("за каждую взятку", "for every trick taken"),
        one=("не больше одной взятки", "for one trick at most"),
    ),
    _plain(
        "pool_weight", "number", "очко пули в очках горы", "mountain points a pool point is worth", "Kodeks 4.2.3.3"
    ),
    _plain("whists_per_point", "number", "вистов в очке горы", "whists a mountain point is worth", "Kodeks 4.2.14"),
    _plain(
        "divisible_mountain",
        "bool",
        "гора делится на игроков",
        "the mountain is divided among the players",
        "Kodeks 4.1.1",
    ),
    _plain("help", "bool", "помощь", "help", "Kodeks 4.2.3"),
    _choice(
        "end",
        "конец игры",
        "the game ends",
        "Kodeks 4.2.3",
        closed=("все пули закрыты", "when every pool is closed"),
        sum=("сумма пуль достигла условленной", "when the pools together reach the limit"),
        sum_after_exit=(
            "сумма пуль достигла условленной, вне распасов",
            "when the pools together reach the limit, but never inside raspasy",
        ),
        time=("по времени", "by the clock"),
    ),
    _choice(
        "raspasy",
        "распасы",
        "raspasy",
        "«Преферанс», московская пулька, п. 4",
        mountain=("на гору", "on the mountain"),
        whists=("на висты", "on whists"),
    ),
    _plain(
        "raspasy_prices",
        "numbers",
        "цена взятки на распасах подряд",
        "price of a trick on raspasy in a row",
        "«Русский преферанс»",
    ),
    _plain(
        "raspasy_whists",
        "numbers",
        "вистов за взятку на распасах",
        "whists a trick on raspasy",
        "«Преферанс», московская пулька, п. 4",
    ),
    _choice(
        "raspasy_count",
        "взятки на распасах считаются",
        "raspasy tricks count",
        "«Преферанс», московская пулька, п. 4",
        full=("все", "in full"),
        above_minimum=("сверх наименьшего", "above the least"),
    ),
    _plain("raspasy_amnesty", "bool", "амнистия на распасах", "amnesty on raspasy", "«Расчёт пули в преферансе»"),
    _choice(
        "raspasy_zero",
        "за ноль взяток на распасах",
        "no trick on raspasy",
        "«Преферанс», Ленинградка, п. 6",
        pool=("в пулю", "to the pool"),
        mountain=("с горы", "off the mountain"),
        none=("ничего", "nothing"),
    ),
    _plain(
        "raspasy_zero_multiplier",
        "number",
        "за ноль взяток, × цену взятки",
        "no trick on raspasy, × price",
        "«Преферанс», Ленинградка, п. 6",
    ),
    _plain(
        "raspasy_zero_dealer",
        "bool",
        "ноль сдающего считается",
        "the dealer's zero counts",
        "«Преферанс», варианты ленинградки",
    ),
    _plain(
        "raspasy_zero_below",
        "bool",
        "за ноль взяток гора может уйти ниже нуля",
        "the zero may take the mountain below nought",
        "«Общие правила преферанса» 7.2",
    ),
    _plain("exit", "integers", "выход из распасов с", "a raspasy run ends with", "«Преферанс», варианты ленинградки"),
    _choice(
        "exit_by",
        "из распасов выводит",
        "what ends a raspasy run",
        "«Преферанс», варианты ленинградки",
        bid=("любая заказанная игра", "any contract named"),
        made=("сыгранная игра", "a contract made"),
        whisted=("сыгранная завистованная игра", "a contract made and whisted"),
    ),
    _plain("premiums", "premiums", "премии", "premiums", "«Преферанс», варианты ростовки"),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _OPTIONS}


def parse_option(name: str, value: Any) -> Any:
    """The value of an option as a :class:`Convention` holds it; ConventionError names the option and what it may be."""
    option = OPTIONS.get(name)
    if option is None:
        close = ", ".join(sorted(OPTIONS))
        raise ConventionError(Text(f"нет правила «{name}»; есть: {close}", f"no option {name!r}; known: {close}"))
    return _PARSERS[option.kind](option, value)


def _refuse(option: Option, value: Any, ru: str, en: str) -> ConventionError:
    found = json.dumps(value, ensure_ascii=False, default=str)
    return ConventionError(
        Text(f"{option.name}: стоит {found}, ожидается {ru}", f"{option.name}: found {found}, expected {en}")
    )


def _number(option: Option, value: Any) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise _refuse(
            option, value, 'целое число или дробь строкой, например "1/2"', 'a whole number or a fraction such as "1/2"'
        )
    try:
        number = whole(Fraction(value))
    except (ValueError, ZeroDivisionError):
        raise _refuse(
            option, value, 'целое число или дробь, например "1/2"', 'a whole number or a fraction such as "1/2"'
        ) from None
    if number < 0:
        raise _refuse(option, value, "число не меньше нуля", "a number not below zero")
    return number


def _integer(option: Option, value: Any) -> int:
    number = _number(option, value)
    if not isinstance(number, int):
        raise _refuse(option, value, "целое число", "a whole number")
    return number


def _items(option: Option, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if isinstance(value, list | tuple):
        return tuple(value)
    return (value,)


def _numbers(option: Option, value: Any) -> tuple[Number, ...]:
    numbers = tuple(_number(option, item) for item in _items(option, value))
    if not numbers:
        raise _refuse(option, value, "хотя бы одно число", "at least one number")
    return numbers


def _integers(option: Option, value: Any) -> tuple[int, ...]:
    numbers = tuple(_integer(option, item) for item in _items(option, value))
    if not numbers:
        raise _refuse(option, value, "хотя бы одно число", "at least one number")
    return numbers


def _values(option: Option, value: Any) -> tuple[Number, ...]:
    if isinstance(value, Mapping):
        value = [value.get(contract) for contract in PRICED]
    numbers = _numbers(option, value)
    if len(numbers) == len(PRICED) - 1:
        numbers = (*numbers, numbers[-1])
    if len(numbers) != len(PRICED):
        raise _refuse(option, value, "шесть цен: 6, 7, 8, 9, 10, мизер", "six prices: 6, 7, 8, 9, 10, misère")
    return numbers


def _obligation(option: Option, value: Any) -> tuple[int, ...]:
    if isinstance(value, Mapping):
        value = [value.get(contract) for contract in LEVELS]
    numbers = _integers(option, value)
    if len(numbers) != len(LEVELS):
        raise _refuse(option, value, "пять чисел: на 6, 7, 8, 9, 10", "five numbers: on 6, 7, 8, 9, 10")
    return numbers


def _bool(option: Option, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _refuse(option, value, "true или false", "true or false")


def _choose(option: Option, value: Any) -> str:
    if isinstance(value, str) and value in option.choices:
        return value
    known = ", ".join(option.choices)
    raise _refuse(option, value, f"одно из: {known}", f"one of: {known}")


def _amount(option: Option, value: Any) -> str | Number:
    if isinstance(value, str) and value in option.choices:
        return value
    return _number(option, value)


def _contracts(option: Option, value: Any) -> tuple[str, ...]:
    items = tuple(str(item) for item in _items(option, value))
    for item in items:
        if item not in PRICED:
            raise _refuse(option, value, "игры из 6, 7, 8, 9, 10, misere", "contracts out of 6, 7, 8, 9, 10, misere")
    return tuple(contract for contract in PRICED if contract in items)


def _premiums(option: Option, value: Any) -> Premiums:
    if value == "none":
        return Premiums()
    if isinstance(value, list | tuple) and len(value) == len(PREMIUMS):
        value = dict(zip(PREMIUMS, value, strict=True))
    if not isinstance(value, Mapping):
        raise _refuse(option, value, "none или таблица премий", "none or a table of premiums")
    named = {}
    for name, amount in value.items():
        full = "zero_raspasy" if name == "zero_ras" else name
        if full not in PREMIUMS:
            raise _refuse(option, value, f"премии {', '.join(PREMIUMS)}", f"premiums {', '.join(PREMIUMS)}")
        named[full] = _number(option, amount)
    return Premiums(**named)


_PARSERS: Mapping[str, Any] = {
    "number": _number,
    "numbers": _numbers,
    "integers": _integers,
    "values": _values,
    "obligation": _obligation,
    "bool": _bool,
    "choice": _choose,
    "amount": _amount,
    "contracts": _contracts,
    "premiums": _premiums,
}


# --- presets ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def convention_names() -> tuple[str, ...]:
    """The names of the conventions known, sochi first."""
    found = [
        f.name[:-5] for f in resources.files("scoring").joinpath("conventions").iterdir() if f.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda name: (name != "sochi", name)))


def load_convention(name: str, options: Mapping[str, Any] | None = None) -> Convention:
    """A preset with ``options`` changed; ConventionError for a name or an option that does not exist.

    >>> load_convention("leningrad").pool_weight
    2
    >>> load_convention("sochi", {"whist": "gentleman"}).whist
    'gentleman'
    """
    if not options:
        return _preset(name)
    return _changed(name, _frozen(options))


def convention_from_table(table: Mapping[str, Any], name: str) -> Convention:
    """A convention from a TOML table: ``base`` (a preset), ``title`` and ``source`` in words, changed ``options``."""
    known = {"base", "title", "source", "options"}
    for key in table:
        if key not in known:
            raise ConventionError(Text(f"{name}: лишнее «{key}»", f"{name}: unexpected {key!r}"))
    base = _preset(table["base"]) if "base" in table else Convention(name, Text(name, name))
    title = table.get("title", {})
    changes = {key: parse_option(key, value) for key, value in table.get("options", {}).items()}
    return replace(
        base,
        name=name,
        title=Text(title.get("ru", name), title.get("en", name)),
        source=table.get("source", base.source),
        **changes,
    )


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *(_frozen(item) for item in value))
    # 1 and True are equal and hash alike; an option must tell them apart.
    return (type(value).__name__, value)


def _thawed(value: Any) -> Any:
    if value and value[0] == "list":
        return [_thawed(item) for item in value[1:]]
    if value and isinstance(value[0], str):
        return value[1]
    return {key: _thawed(item) for key, item in value}


@lru_cache(maxsize=256)
def _changed(name: str, options: tuple[Any, ...]) -> Convention:
    base = _preset(name)
    return replace(base, **{key: parse_option(key, value) for key, value in _thawed(options).items()})


@lru_cache(maxsize=64)
def _preset(name: str) -> Convention:
    if name == "kamchatka":
        raise ConventionError(
            Text(
                "kamchatka: опубликованных цен нет; возьмите sochi и задайте свои pool_weight и whists_per_point",
                "kamchatka: no published values; take sochi and set your own pool_weight and whists_per_point",
            )
        )
    if name not in convention_names():
        known = ", ".join(convention_names())
        raise ConventionError(Text(f"нет конвенции «{name}»; есть: {known}", f"no convention {name!r}; known: {known}"))
    text = resources.files("scoring").joinpath("conventions", f"{name}.toml").read_text("utf-8")
    return convention_from_table(tomllib.loads(text), name)


# --- a convention in words -------------------------------------------------------------------------------------------


def option_text(convention: Convention, name: str) -> Text:
    """One option and its value in words, as a sheet prints it."""
    option = OPTIONS[name]
    return option.title + Text(": ", ": ") + _value_text(option, getattr(convention, name))


def differing(convention: Convention, base: Convention) -> tuple[str, ...]:
    """The names of the options in which two conventions differ."""
    return tuple(name for name in OPTIONS if getattr(convention, name) != getattr(base, name))


def describe(convention: Convention) -> tuple[Text, ...]:
    """A convention as a person would read it, line by line: what differs from sochi first, then the rest."""
    different = differing(convention, _preset("sochi"))
    lines = [convention.title + Text(f" ({convention.name})", f" ({convention.name})")]
    if convention.source:
        lines.append(Text(f"По источнику: {convention.source}", f"Source: {convention.source}"))
    if different:
        lines.append(Text("Отличия от сочинки:", "Differs from sochi in:"))
        lines += [Text("  ", "  ") + option_text(convention, name) for name in different]
        lines.append(Text("В остальном как в сочинке:", "Otherwise as sochi:"))
    lines += [Text("  ", "  ") + option_text(convention, name) for name in OPTIONS if name not in different]
    return tuple(lines)


_PREMIUM_WORDS = {
    "misere": Text("за сыгранный мизер", "a made misère"),
    "first_close": Text("за первое закрытие пули", "closing the pool first"),
    "zero_raspasy": Text("за ноль взяток на распасах", "no trick on raspasy"),
    "least_mountain": Text("за наименьшую гору", "the least mountain"),
}


def _value_text(option: Option, value: Any) -> Text:
    if option.choices and isinstance(value, str):
        return option.choices[value]
    if isinstance(value, bool):
        return Text("да", "yes") if value else Text("нет", "no")
    if isinstance(value, Premiums):
        paid = [(name, getattr(value, name)) for name in PREMIUMS if getattr(value, name)]
        if not paid:
            return Text("нет", "none")
        return Text(
            ", ".join(f"{_PREMIUM_WORDS[name].ru} {whists_text(amount).ru}" for name, amount in paid),
            ", ".join(f"{_PREMIUM_WORDS[name].en} {whists_text(amount).en}" for name, amount in paid),
        )
    if option.kind == "amount":
        return whists_text(value)
    if option.kind == "contracts":
        return _listed(
            ("мизер" if v == "misere" else v for v in value), ("misère" if v == "misere" else v for v in value)
        )
    if option.name == "multipliers" and value == (1,):
        return Text("нет", "none")
    if isinstance(value, tuple):
        joiner = "–" if option.name in ("raspasy_prices", "raspasy_whists", "exit") else " "
        words = joiner.join(figure(v) for v in value)
        return Text(words, words)
    return Text(figure(value), figure(value))


def _listed(ru: Iterable[str], en: Iterable[str]) -> Text:
    text = Text(", ".join(ru), ", ".join(en))
    return text if text.ru else Text("нет", "none")
