"""A game record: who played, what was dealt and played, and what the players wrote down.

Everything here is frozen data. Whether a record keeps the rules is a report, :func:`violations`, with all that it
breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from scoring.convention import LEVELS, PRICED, Convention, ConventionError, load_convention
from scoring.text import Text, seat_text, tricks_text

Number = int | Fraction
V = TypeVar("V")

SEATS = ("A", "B", "C", "D")
CONTRACTS = (*PRICED, "raspasy")
TRUMPS = ("spades", "clubs", "diamonds", "hearts", "notrump")
DEFENCES = ("whist", "pass", "half")
COLUMNS = ("pool", "mountain", "whists")

MOST_POOL = 9999
"""The highest limit of a pool: no box on a sheet holds more."""


class Seats(dict[str, V]):
    """A mapping from seat to value that nobody can change; equal to a dict with the same items.

    >>> Seats(A=6, B=4)["B"]
    4
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a record is immutable; make a new one")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash by the items, whatever their order."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a plain dict made immutable again."""
        return Seats, (dict(self),)


class Cell(NamedTuple):
    """A box in which a running total stands: the ``whists`` of ``seat`` on ``on``, or a pool or mountain."""

    column: str
    seat: str
    on: str | None = None

    def field(self, deal: int) -> str:
        """The box in a deal's row as forms name it.

        >>> Cell("whists", "B", "A").field(5)
        'd05.whists.B.A'
        """
        return f"d{deal:02d}." + ".".join(part for part in self if part)

    def text(self, players: Mapping[str, str] | None = None) -> Text:
        """The box in words, with the players' names where they are given."""
        who, target = name_text(self.seat, players), name_text(self.on or "", players)
        if self.column == "whists":
            # A name would have to be declined after «на»; a letter stays as it is.
            colon = "" if target == seat_text(self.on or "") else ":"
            return Text(f"{who.ru}, висты на{colon} {target.ru}", f"{who.en}, whists on {target.en}")
        word = {"pool": Text("пуля", "pool"), "mountain": Text("гора", "mountain")}.get(
            self.column, Text("итог", "result")
        )
        return Text(f"{who.ru}, {word.ru}", f"{who.en}, {word.en}")


def name_text(seat: str, players: Mapping[str, str] | None) -> Text:
    """A player's name, or the seat's letter where no name is known."""
    name = (players or {}).get(seat)
    return Text(name, name) if name and name != seat else seat_text(seat)


@dataclass(frozen=True, slots=True)
class Deal:
    """What was dealt and played: everything from which its entries follow.

    ``tricks`` need the declarer's; a lone whister owns whatever the declarer did not take. ``conceded`` is the number
    of undertricks written without play; ``talon_units`` are tricks' worth of talon premium.

    >>> Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4}).contract
    '6'
    """

    deal: int
    contract: str
    dealer: str | None = None
    declarer: str | None = None
    trump: str | None = None
    defence: Mapping[str, str] = field(default_factory=dict)
    tricks: Mapping[str, int] = field(default_factory=dict)
    open: bool | None = None
    multiplier: int = 1
    dark: bool = False
    without_talon: bool = False
    conceded: int = 0
    talon_units: Number = 0
    totus: bool = False

    def __post_init__(self) -> None:
        """Make the two mappings immutable."""
        object.__setattr__(self, "defence", Seats(self.defence))
        object.__setattr__(self, "tricks", Seats(self.tricks))


@dataclass(frozen=True, slots=True)
class Written:
    """A running total that stands on the paper: its deal (0 is the carry-over row), its box and its value."""

    deal: int
    column: str
    seat: str
    value: int
    on: str | None = None

    @property
    def cell(self) -> Cell:
        """The box it stands in."""
        return Cell(self.column, self.seat, self.on)


@dataclass(frozen=True, slots=True)
class Totals:
    """What stands at some moment: every player's pool and mountain and his whists on each other player.

    >>> Totals({"A": 10, "B": 4}, {"A": 0, "B": 2}, {"A": {"B": 8}, "B": {"A": 0}}).whists["A"]["B"]
    8
    """

    pool: Mapping[str, Number]
    mountain: Mapping[str, Number]
    whists: Mapping[str, Mapping[str, Number]]

    def __post_init__(self) -> None:
        """Complete the table with zeros and make it immutable."""
        seats = tuple(self.pool)
        object.__setattr__(self, "pool", Seats(self.pool))
        object.__setattr__(self, "mountain", Seats({s: self.mountain.get(s, 0) for s in seats}))
        rows = {s: Seats({o: self.whists.get(s, {}).get(o, 0) for o in seats if o != s}) for s in seats}
        object.__setattr__(self, "whists", Seats(rows))

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats in order."""
        return tuple(self.pool)

    def __getitem__(self, cell: Cell) -> Number:
        """The total in one box."""
        if cell.column == "whists":
            return self.whists[cell.seat][cell.on or ""]
        return (self.pool if cell.column == "pool" else self.mountain)[cell.seat]

    def changed(self, changes: Mapping[Cell, Number]) -> Totals:
        """The same totals with something added to some boxes."""
        pool, mountain = dict(self.pool), dict(self.mountain)
        whists = {seat: dict(row) for seat, row in self.whists.items()}
        for cell, amount in changes.items():
            if cell.column == "whists":
                whists[cell.seat][cell.on or ""] += amount
            else:
                (pool if cell.column == "pool" else mountain)[cell.seat] += amount
        return Totals(pool, mountain, whists)


def cells_of(seats: tuple[str, ...]) -> Iterator[Cell]:
    """Every box of a table: pools, mountains, then whists row by row."""
    yield from (Cell("pool", s) for s in seats)
    yield from (Cell("mountain", s) for s in seats)
    yield from (Cell("whists", s, o) for s in seats for o in seats if o != s)


@dataclass(frozen=True, slots=True)
class Game:
    """A whole game record: the convention and pool agreed, the players, and deals or totals.

    ``pool`` is the limit, ``None`` for none, or ``"mean"``. ``start`` is what a continuation sheet carries over;
    ``written`` are the running totals on the paper; ``result`` is the final settlement the players wrote, in whists;
    ``raspasy_run`` counts the raspasy in a row just before the first deal.
    """

    convention: str
    players: Mapping[str, str]
    deals: tuple[Deal, ...] = ()
    pool: int | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    start: Totals | None = None
    written: tuple[Written, ...] = ()
    totals: Totals | None = None
    result: Mapping[str, Number] | None = None
    raspasy_run: int = 0

    def __post_init__(self) -> None:
        """Make the collections immutable."""
        object.__setattr__(self, "players", Seats(self.players))
        object.__setattr__(self, "options", _fixed(self.options))
        object.__setattr__(self, "deals", tuple(self.deals))
        object.__setattr__(self, "written", tuple(sorted(self.written, key=_place)))
        if self.result is not None:
            object.__setattr__(self, "result", Seats(self.result))

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats taken, in order."""
        return tuple(sorted(self.players))

    @property
    def rules(self) -> Convention:
        """The convention with the record's options; ConventionError where there is no such thing."""
        return load_convention(self.convention, self.options)

    @property
    def limit(self) -> int | None:
        """The pool limit, where there is one."""
        return self.pool if isinstance(self.pool, int) else None


def _fixed(value: Any) -> Any:
    """An option's value, or all options, with nothing in them that could be changed."""
    if isinstance(value, Mapping):
        return Seats({key: _fixed(item) for key, item in value.items()})
    return tuple(_fixed(item) for item in value) if isinstance(value, list | tuple) else value


def _place(entry: Written) -> tuple[int, int, str, str]:
    """Where an entry comes on the sheet: row by row, pools, mountains, whists."""
    column = COLUMNS.index(entry.column) if entry.column in COLUMNS else len(COLUMNS)
    return entry.deal, column, entry.seat, entry.on or ""


def sitting_out(deal: Deal, seats: tuple[str, ...]) -> str | None:
    """Who sits out: with four players the dealer, or, where no dealer is recorded, whoever the deal does not name."""
    if len(seats) != 4:
        return None
    if deal.dealer is not None:
        return deal.dealer
    named = set(deal.tricks) if deal.contract == "raspasy" else {*deal.defence, deal.declarer}
    left = [seat for seat in seats if seat not in named]
    return left[0] if len(left) == 1 else None


def defenders(declarer: str, out: str | None, seats: tuple[str, ...]) -> tuple[str, ...]:
    """The declarer's opponents in the deal, in the order in which they speak: clockwise from his left.

    >>> defenders("C", "D", ("A", "B", "C", "D"))
    ('A', 'B')
    """
    place = seats.index(declarer)
    return tuple(seat for seat in seats[place + 1 :] + seats[:place] if seat != out)


# --- violations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a record breaks: a short code, the deal and seat, the record's field, and what is wrong with it."""

    code: str
    message: Text
    deal: int | None = None
    seat: str | None = None
    field: str | None = None

    @property
    def text(self) -> Text:
        """The whole line: the place, then the message."""
        where = Text("", "")
        if self.deal is not None:
            where += Text(f"сдача {self.deal}", f"deal {self.deal}")
        if self.seat is not None:
            letter = seat_text(self.seat)
            where += Text(
                f", место {letter.ru}" if where.ru else f"место {letter.ru}",
                f", seat {letter.en}" if where.en else f"seat {letter.en}",
            )
        return where + (Text(": ", ": ") if where.ru else Text("", "")) + self.message


class RuleError(ValueError):
    """Raised when figures are asked of a record that breaks the rules; ``violations`` holds all that is wrong."""

    def __init__(self, broken: tuple[Violation, ...]) -> None:
        """Keep the report."""
        super().__init__("; ".join(v.text.en for v in broken))
        self.violations = broken


def violations(game: Game) -> tuple[Violation, ...]:
    """Every rule that the record breaks, deal by deal; empty for an honest record.

    >>> bad = Game("sochi", {"A": "", "B": "", "C": ""}, [Deal(1, "misere", declarer="A", tricks={"A": 11})])
    >>> [v.text.en for v in violations(bad)]
    ['deal 1, seat A: 11 tricks written; a deal has 10']
    """
    found: list[Violation] = []
    head = _head_violations(game)
    found += head
    if any(v.code in ("players", "convention") for v in head):
        return tuple(found)
    rules, seats = game.rules, game.seats
    seen: set[int] = set()
    for deal in game.deals:
        if deal.deal in seen or deal.deal < 1:
            found.append(
                _broken(
                    deal,
                    "number",
                    None,
                    "deal",
                    "номер сдачи повторён или меньше 1",
                    "the deal's number is repeated or below 1",
                )
            )
        seen.add(deal.deal)
        found += deal_violations(deal, rules, seats)
    found += _written_violations(game, seen)
    return tuple(sorted(found, key=lambda v: (v.deal is not None, v.deal or 0)))


def _head_violations(game: Game) -> list[Violation]:
    found = []
    seats = game.seats
    if seats != SEATS[: len(seats)] or not 2 <= len(seats) <= 4:
        listed = " ".join(seats) or "—"
        found.append(
            Violation(
                "players",
                Text(
                    f"игроки на местах {listed}; ожидаются 2–4 игрока на местах A, B, C, D подряд",
                    f"players at seats {listed}; expected 2 to 4 players at A, B, C, D in order",
                ),
                field="players",
            )
        )
    try:
        game.rules  # noqa: B018 - asked only for its errors
    except ConventionError as error:
        found.append(Violation("convention", error.text, field="convention"))
    if (
        game.pool is not None
        and game.pool != "mean"
        and (not isinstance(game.pool, int) or isinstance(game.pool, bool) or not 1 <= game.pool <= MOST_POOL)
    ):
        found.append(
            Violation(
                "pool",
                Text(
                    f"пуля до {game.pool}; ожидается целое число от 1 до {MOST_POOL}",
                    f"a pool of {game.pool}; expected a whole number from 1 to {MOST_POOL}",
                ),
                field="pool",
            )
        )
    for name, totals in (("start", game.start), ("totals", game.totals)):
        if totals is not None and set(totals.seats) != set(seats):
            found.append(
                Violation(
                    "seats",
                    _other_seats(name, totals.seats, seats),
                    field=name,
                )
            )
        for seat, value in (totals.pool if totals else {}).items():
            if value < 0:
                found.append(
                    Violation(
                        "pool",
                        Text(
                            f"{name}: в пуле {value}; ожидается не меньше нуля",
                            f"{name}: a pool of {value}; expected zero or more",
                        ),
                        None,
                        seat,
                        name,
                    )
                )
    if game.raspasy_run < 0:
        found.append(
            Violation(
                "raspasy_run",
                Text(
                    f"распасов подряд {game.raspasy_run}; ожидается не меньше нуля",
                    f"a raspasy run of {game.raspasy_run}; expected zero or more",
                ),
                field="raspasy_run",
            )
        )
    if game.totals is not None and game.deals:
        found.append(
            Violation(
                "both",
                Text(
                    "в записи и сдачи, и готовые итоги; ожидается одно из двух",
                    "both deals and totals; expected one of them",
                ),
                field="totals",
            )
        )
    if game.result is not None and set(game.result) != set(seats):
        found.append(
            Violation(
                "seats",
                _other_seats("result", tuple(game.result), seats),
                field="result",
            )
        )
    return found


def _other_seats(name: str, there: tuple[str, ...], seats: tuple[str, ...]) -> Text:
    found = Text(f"места {' '.join(there)}", f"seats {' '.join(there)}") if there else Text("пусто", "empty")
    expected = Text(f"; ожидаются места {' '.join(seats)}", f"; expected seats {' '.join(seats)}")
    return Text(f"{name}: ", f"{name}: ") + found + expected


def _broken(deal: Deal, code: str, seat: str | None, field_name: str, ru: str, en: str) -> Violation:
    return Violation(code, Text(ru, en), deal.deal, seat, field_name)


def deal_violations(deal: Deal, rules: Convention, seats: tuple[str, ...]) -> list[Violation]:
    """Every rule that one deal breaks under a convention, for players at ``seats``."""
    found: list[Violation] = []

    def say(code: str, seat: str | None, field_name: str, ru: str, en: str) -> None:
        found.append(_broken(deal, code, seat, field_name, ru, en))

    for name, seat in (("dealer", deal.dealer), ("declarer", deal.declarer)):
        if seat is not None and seat not in seats:
            say(
                "seat",
                seat,
                name,
                f"{name}: нет такого места; ожидается одно из {' '.join(seats)}",
                f"{name}: no such seat; expected one of {' '.join(seats)}",
            )
    for name, table in (("defence", deal.defence), ("tricks", deal.tricks)):
        for seat in table:
            if seat not in seats:
                say(
                    "seat",
                    seat,
                    name,
                    f"{name}: нет такого места; ожидается одно из {' '.join(seats)}",
                    f"{name}: no such seat; expected one of {' '.join(seats)}",
                )
    if deal.contract not in CONTRACTS:
        say(
            "contract",
            None,
            "contract",
            f"заказ {deal.contract!r}; ожидается {', '.join(CONTRACTS)}",
            f"contract {deal.contract!r}; expected {', '.join(CONTRACTS)}",
        )
    if deal.trump is not None and deal.trump not in TRUMPS:
        say(
            "trump",
            None,
            "trump",
            f"козырь {deal.trump!r}; ожидается {', '.join(TRUMPS)}",
            f"trump {deal.trump!r}; expected {', '.join(TRUMPS)}",
        )
    if found:
        return found
    out = sitting_out(deal, seats)
    if len(seats) == 4 and out is None:
        say(
            "dealer",
            None,
            "dealer",
            "не указан сдающий, и по записи не видно, кто сидит на прикупе",
            "no dealer given, and the record does not show who sits out",
        )
        return found
    _extras(deal, rules, say)
    if deal.contract == "raspasy":
        _raspasy(deal, out, seats, say)
    else:
        _contract(deal, out, rules, seats, say)
    return found


_Say = Callable[[str, str | None, str, str, str], None]


def _extras(deal: Deal, rules: Convention, say: _Say) -> None:
    if deal.multiplier not in rules.multipliers:
        known = ", ".join(str(m) for m in rules.multipliers)
        say(
            "multiplier",
            None,
            "multiplier",
            f"множитель {deal.multiplier}; в этой конвенции: {known}",
            f"multiplier {deal.multiplier}; this convention knows {known}",
        )
    if deal.dark and not rules.dark:
        say("dark", None, "dark", "тёмных игр в этой конвенции нет", "this convention has no dark games")
    if deal.without_talon and deal.contract not in rules.without_talon:
        say(
            "without_talon",
            None,
            "without_talon",
            "такой игры без прикупа в этой конвенции нет",
            "this convention has no such game without the talon",
        )
    if deal.totus and (not rules.totus or deal.contract != "10" or deal.multiplier != 1):
        say(
            "totus",
            None,
            "totus",
            "тотус — это десятерная без бомб в классике",
            "totus is a ten without bombs in classic",
        )
    if deal.talon_units and (deal.talon_units < 0 or deal.contract in ("misere", "raspasy")):
        say(
            "talon",
            None,
            "talon_units",
            f"премия за прикуп {deal.talon_units}; ожидается не меньше нуля и не на мизере и не на распасах",
            f"a talon premium of {deal.talon_units}; expected zero or more, and never on misère or raspasy",
        )
    if deal.conceded and (not 1 <= deal.conceded <= 10 or deal.contract not in LEVELS or not rules.concede):
        say(
            "conceded",
            deal.declarer,
            "conceded",
            f"уход без {deal.conceded}; здесь он не разрешён",
            f"conceded {deal.conceded} down; not allowed here",
        )


def _count(deal: Deal, say: _Say) -> bool:
    """Whether the tricks written are possible numbers at all."""
    good = True
    for seat, tricks in deal.tricks.items():
        if not isinstance(tricks, int) or isinstance(tricks, bool) or not 0 <= tricks <= 10:
            say(
                "tricks",
                seat,
                "tricks",
                f"записано: {tricks_text(tricks).ru}; в сдаче их 10"
                if isinstance(tricks, int)
                else f"взяток {tricks!r}; ожидается целое число",
                f"{tricks_text(tricks).en} written; a deal has 10"
                if isinstance(tricks, int)
                else f"tricks {tricks!r}; expected a whole number",
            )
            good = False
    return good


def _raspasy(deal: Deal, out: str | None, seats: tuple[str, ...], say: _Say) -> None:
    if deal.declarer is not None:
        say("declarer", deal.declarer, "declarer", "на распасах нет разыгрывающего", "raspasy has no declarer")
    for seat, said in deal.defence.items():
        if said != "pass":
            say("defence", seat, "defence", "на распасах не вистуют", "nobody whists on raspasy")
    if not _count(deal, say):
        return
    playing = [seat for seat in seats if seat != out]
    missing = [seat for seat in playing if seat not in deal.tricks]
    taken = sum(deal.tricks.values())
    if out is not None and deal.tricks.get(out, 0) > 2:
        say(
            "tricks",
            out,
            "tricks",
            f"{tricks_text(deal.tricks[out]).ru} на прикупе; их не больше двух",
            f"{tricks_text(deal.tricks[out]).en} for the talon; it has at most two",
        )
    if len(missing) > 1 or (missing and taken > 10):
        for seat in missing:
            say(
                "tricks",
                seat,
                "tricks",
                "не записаны взятки; на распасах их пишут все игравшие",
                "tricks not written; on raspasy everyone who played writes them",
            )
    elif not missing and taken != 10:
        say(
            "tricks",
            None,
            "tricks",
            f"всего записано: {tricks_text(taken).ru}; ожидается 10",
            f"{tricks_text(taken).en} in all; expected 10",
        )


def _contract(deal: Deal, out: str | None, rules: Convention, seats: tuple[str, ...], say: _Say) -> None:
    declarer = deal.declarer
    if declarer is None:
        say("declarer", None, "declarer", "не указан разыгрывающий", "no declarer given")
        return
    if declarer == out:
        say(
            "declarer",
            declarer,
            "declarer",
            "разыгрывает сдающий, который сидит на прикупе",
            "the declarer is the dealer, who sits out",
        )
        return
    against = defenders(declarer, out, seats)
    for seat, said in deal.defence.items():
        if said not in DEFENCES:
            say(
                "defence",
                seat,
                "defence",
                f"решение {said!r}; ожидается {', '.join(DEFENCES)}",
                f"decision {said!r}; expected {', '.join(DEFENCES)}",
            )
        elif seat == declarer:
            say("defence", seat, "defence", "разыгрывающий не вистует", "the declarer does not whist")
        elif seat == out and said != "pass":
            say(
                "defence",
                seat,
                "defence",
                "вистует сдающий, который сидит на прикупе",
                "a whist by the dealer, who sits out",
            )
    counted = _count(deal, say)
    taken = sum(deal.tricks.values()) if counted else 0
    if out is not None and deal.tricks.get(out, 0):
        say(
            "tricks",
            out,
            "tricks",
            "взятки у сдающего, который сидит на прикупе",
            "tricks for the dealer, who sits out",
        )
    if deal.conceded and deal.contract != "misere":
        if deal.tricks or any(deal.defence.get(seat) in ("whist", "half") for seat in against):
            say(
                "conceded",
                declarer,
                "conceded",
                "уход без розыгрыша, но записаны вист или взятки",
                "conceded without play, yet a whist or tricks are written",
            )
        return
    if deal.contract == "misere":
        for seat in against:
            if deal.defence.get(seat) in ("whist", "half"):
                say("defence", seat, "defence", "на мизере не вистуют", "nobody whists on misère")
        _played(deal, declarer, against, (), counted, taken, say)
        return
    for seat in against:
        if seat not in deal.defence:
            say("defence", seat, "defence", "не указано, вист или пас", "neither whist nor pass is given")
    whisters = tuple(seat for seat in against if deal.defence.get(seat) == "whist")
    halves = tuple(seat for seat in against if deal.defence.get(seat) == "half")
    if (
        halves
        and (deal.contract not in ("6", "7") or not rules.half_whist or len(halves) > 1)
        and not (whisters and len(halves) == 1)
    ):
        say(
            "half",
            halves[-1],
            "defence",
            "полвиста бывает только на 6 и 7 и только у одного защитника",
            "a half-whist exists on 6 and 7 only, and for one defender only",
        )
    elif halves and whisters and deal.contract not in rules.return_whist:
        say(
            "half",
            whisters[0],
            "defence",
            "вист после полвиста здесь не возвращают",
            "a whist is not returned after a half-whist here",
        )
    if rules.stalingrad and deal.contract == "6" and deal.trump == "spades" and len(whisters) < len(against):
        say(
            "stalingrad", None, "defence", "сталинград: шесть пик вистуют оба", "stalingrad: both must whist six spades"
        )
    if not whisters:
        if deal.tricks and not (deal.contract == "10" and rules.ten != "whisted" and not halves):
            say(
                "tricks",
                None,
                "tricks",
                "никто не вистовал, а взятки записаны",
                "nobody whisted, yet tricks are written",
            )
        elif deal.tricks:
            _played(deal, declarer, against, against, counted, taken, say)
        return
    _played(deal, declarer, against, whisters, counted, taken, say)


def _played(
    deal: Deal, declarer: str, against: tuple[str, ...], whisters: tuple[str, ...], counted: bool, taken: int, say: _Say
) -> None:
    if not counted:
        return
    everyone = (declarer, *against)
    missing = [seat for seat in everyone if seat not in deal.tricks]
    if not missing and taken != 10:
        say(
            "tricks",
            None,
            "tricks",
            f"всего записано: {tricks_text(taken).ru}; ожидается 10",
            f"{tricks_text(taken).en} in all; expected 10",
        )
    elif declarer in missing and not (whisters and len(missing) == 1):
        say("tricks", declarer, "tricks", "не записаны взятки разыгрывающего", "the declarer's tricks are not written")
    elif taken > 10:
        say(
            "tricks",
            None,
            "tricks",
            f"всего записано: {tricks_text(taken).ru}; ожидается не больше 10",
            f"{tricks_text(taken).en} in all; expected 10 at most",
        )
    elif len(whisters) == 1 and taken != 10 and declarer not in missing and whisters[0] not in missing:
        # The passer writes nothing: what he took stands in the whister's box, or the record says it of him.
        say(
            "tricks",
            None,
            "tricks",
            f"всего записано: {tricks_text(taken).ru}; ожидается 10: взятки пасовавшего считают вистующему",
            f"{tricks_text(taken).en} in all; expected 10: what the passer took counts for the whister",
        )
    elif len(whisters) == 2 and sum(seat in missing for seat in whisters) == 2:
        for seat in whisters:
            say("tricks", seat, "tricks", "не записаны взятки вистующего", "the whister's tricks are not written")


def rows_about(deals: Collection[int]) -> range:
    """The rows in which totals of these deals may stand: theirs, those between, and the next above and below.

    Somebody may have written in the wrong row, hardly ever further away. No deals have none.
    """
    return range(min(deals) - 1, max(deals) + 2) if deals else range(0)


def _written_violations(game: Game, deals: set[int]) -> list[Violation]:
    found: list[Violation] = []
    seats = game.seats
    seen: set[tuple[int, Cell]] = set()
    for entry in game.written:

        def say(code: str, ru: str, en: str, entry: Written = entry) -> None:
            found.append(Violation(code, Text(ru, en), entry.deal, entry.seat, "written"))

        if entry.column not in COLUMNS:
            say(
                "written",
                f"запись в графе {entry.column!r}; ожидается {', '.join(COLUMNS)}",
                f"an entry in column {entry.column!r}; expected {', '.join(COLUMNS)}",
            )
        elif entry.seat not in seats:
            say(
                "written",
                f"нет такого места; ожидается одно из {' '.join(seats)}",
                f"no such seat; expected one of {' '.join(seats)}",
            )
        elif entry.column == "whists" and entry.on is None:
            say(
                "written",
                'не сказано, на кого висты; ожидается "on": место другого игрока',
                'whists on nobody; expected "on": another player\'s seat',
            )
        elif entry.column == "whists" and (entry.on not in seats or entry.on == entry.seat):
            say(
                "written",
                f"висты на {seat_text(str(entry.on)).ru}; ожидается другой игрок",
                f"whists on {entry.on}; expected another player",
            )
        elif entry.column != "whists" and entry.on is not None:
            say(
                "written",
                f"в графе {entry.column} стоит «на {seat_text(entry.on).ru}»; это бывает только у вистов",
                f"{entry.column} with 'on' {entry.on}; only whists have it",
            )
        elif entry.deal != 0 and not deals and game.totals is None:
            said = Text(
                "итоги записаны, а ни одной сдачи (deals) нет: проверить их и рассчитать игру не по чему",
                "totals are written, but there are no deals: nothing to check them against or settle the game by",
            )
            if not any(violation.code == "deals" for violation in found):
                found.append(Violation("deals", said, field="deals"))
        elif entry.deal != 0 and entry.deal not in rows_about(deals):
            say("written", "запись к сдаче, которой нет", "an entry for a deal that is not in the record")
        elif (entry.deal, entry.cell) in seen:
            cell = entry.cell.text()
            say("written", f"две записи в одной клетке ({cell.ru})", f"two entries in one box ({cell.en})")
        seen.add((entry.deal, entry.cell))
    return found
