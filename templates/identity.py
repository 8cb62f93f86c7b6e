"""What the code on a sheet says, both ways: a few characters that a square code holds and a person can type."""

import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from reedsolo import ReedSolomonError, RSCodec

FORMS = ("protocol",)
CONVENTIONS = (
    "sochi",
    "kodeks",
    "leningrad",
    "piter",
    "hard-piter",
    "fspr",
    "moscow",
    "rostov",
    "classic",
    "kazakhstan",
    "ural-siberian",
    "gusarik",
    "gusarik-indivisible",
    "races",
    "rostov-premiums",
    "rostov-common-pool",
    "custom",
)
OPTIONS = (
    "values",
    "mountain_multiplier",
    "whist_multiplier",
    "defender_multiplier",
    "obligation",
    "high_responsibility",
    "shortage",
    "whist",
    "consolation",
    "dealer_consolation",
    "pool_weight",
    "whists_per_point",
    "help",
    "raspasy",
    "raspasy_prices",
    "raspasy_amnesty",
    "raspasy_zero",
    "raspasy_zero_multiplier",
    "raspasy_zero_dealer",
    "raspasy_whists",
    "raspasy_count",
    "exit",
    "premiums",
    "consolation_passer",
    "ten",
    "half_whist",
    "return_whist",
    "return_takes_all",
    "concede",
    "stalingrad",
    "talon_premium",
    "without_talon",
    "multipliers",
    "dark",
    "totus",
    "made_games",
    "misere_penalty",
    "divisible_mountain",
    "end",
    "raspasy_zero_below",
    "exit_by",
)
WORDS = (
    "true",
    "false",
    "none",
    "greedy",
    "gentleman",
    "gentleman_always",
    "last",
    "both",
    "split",
    "each",
    "capped",
    "personal",
    "price",
    "pool",
    "mountain",
    "whists",
    "full",
    "above_minimum",
    "1/2",
    "misere",
    "first_close",
    "zero_raspasy",
    "least_mountain",
    "whisted",
    "checked",
    "consolation",
    "half",
    "tricks",
    "one",
    "closed",
    "sum",
    "sum_after_exit",
    "time",
    "bid",
    "made",
)
# A name's place in these tables is what stands on paper for ever: append, never reorder. What they lack goes as text.

_LAYOUT = 1  # of the packed fields; it sits in the first two bits
_SERIAL_BITS = 32
_CHECK_BITS = 24
_CHECK_POLYNOMIAL, _CHECK_START = 0x864CFB, 0xB704CE  # CRC-24 of RFC 4880: sees every change within 24 bits in a row
_ALPHABET = "0123456789ABCDEFGHJKMNPRSTUVWXYZ"  # no I, L, O and Q: too like 1 and 0, for people and for text readers
_GROUP = 4
# What people type or a text reader sees for a character of ours; the capitals after О are Cyrillic.
_READ_AS = str.maketrans("OQILАВЕКМНОРСТУХ", "0011ABEKMH0PCTYX", "- ‐‑‒–—−\u00a0\t\r\n")
# What a text reader takes for one another in the bold capitals of a printed code.
_ALIKE = {"5": "S", "S": "58B", "8": "BS", "B": "8S", "2": "Z", "Z": "2", "6": "G", "G": "6", "0": "D", "D": "0"}
_READ_BY_MACHINE = str.maketrans(")$|", "JS1")


class IdentityError(ValueError):
    """The text is no sheet's code, or the sheet cannot be put into one; the message is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which sheet this is: what its code says.

    `options` holds those that differ from the convention's preset, option -> value, as strings. `pool`, `round` and
    `table` are None where the sheet leaves them open. `serial` is a random 32-bit number of the single sheet of paper.
    """

    form: str
    version: int
    players: int
    rows: int
    convention: str
    pool: int | None
    round: int | None
    table: int | None
    serial: int
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Keep a copy of the options in the order of their names, so that equal sheets have equal codes."""
        object.__setattr__(self, "options", dict(sorted(self.options.items())))


def encode(identity: Identity) -> str:
    """The sheet's code: groups of four characters joined by dashes, 20 characters for a sheet without options.

    Raises IdentityError where a number is outside what a code can hold.
    """
    limits = {"version": (1, None), "players": (1, 4), "rows": (1, None), "serial": (0, 2**_SERIAL_BITS - 1)}
    limits |= {name: (0, None) for name in ("pool", "round", "table") if getattr(identity, name) is not None}
    for name, (least, most) in limits.items():
        value = getattr(identity, name)
        if value < least or (most is not None and value > most):
            raise IdentityError(f"{name} {value} cannot be put into a sheet's code")
    bits = _Bits()
    bits.put(_LAYOUT, 2)
    bits.put_name(identity.form, FORMS, 3)
    bits.put_number(identity.version - 1, 2)
    bits.put(identity.players - 1, 2)
    bits.put_number(identity.rows - 1, 6)
    bits.put_name(identity.convention, CONVENTIONS, 5)
    bits.put_optional(identity.pool, 6)
    bits.put_optional(identity.round, 4)
    bits.put_optional(identity.table, 6)
    bits.put_number(len(identity.options), 2)
    for option, value in identity.options.items():
        bits.put_name(option, OPTIONS, 6)
        words = value.split(" ")
        bits.put_number(len(words) - 1, 2)
        for word in words:
            bits.put_word(word)
    # Whole groups of characters, so that a lost one shows; the serial and the check come last: see sheet_id.
    bits.put(0, -(bits.length + _SERIAL_BITS + _CHECK_BITS) % (5 * _GROUP))
    bits.put(identity.serial, _SERIAL_BITS)
    bits.put(_check(bits.value, bits.length), _CHECK_BITS)
    text = "".join(_ALPHABET[bits.value >> shift & 31] for shift in range(bits.length - 5, -1, -5))
    return "-".join(text[i : i + _GROUP] for i in range(0, len(text), _GROUP))


def decode(text: str) -> Identity:
    """The sheet a code stands for; case, spaces, dashes, O for 0, I or L for 1 and Cyrillic look-alikes do not matter.

    Raises IdentityError, with a sentence that says what is wrong, where the text is not exactly a sheet's code.
    """
    characters = text.upper().translate(_READ_AS)
    if not characters or any(c not in _ALPHABET for c in characters):
        raise IdentityError(f"{_shown(text)} is not a sheet's code: those are made of digits and Latin capitals")
    if len(characters) % _GROUP or len(characters) < 5 * _GROUP:
        raise IdentityError(f"the code {_shown(text)} is incomplete: a sheet's code is five or more groups of four")
    value = 0
    for c in characters:
        value = value << 5 | _ALPHABET.index(c)
    length = 5 * len(characters)
    if _check(value >> _CHECK_BITS, length - _CHECK_BITS) != value & (1 << _CHECK_BITS) - 1:
        raise IdentityError(f"the code {_shown(text)} is misread or foreign: its check does not fit")
    bits = _Bits(value >> _CHECK_BITS, length - _CHECK_BITS)
    if bits.take(2) != _LAYOUT:
        raise IdentityError(f"the code {_shown(text)} is of another kind than this program prints")
    try:
        identity = _unpack(bits)
        exact = encode(identity).replace("-", "") == characters
    except (_TornError, IndexError, UnicodeError, IdentityError):
        exact = False
    if not exact:
        raise IdentityError(f"the code {_shown(text)} says nothing this program knows: a newer one may have printed it")
    return identity


def decode_as_read(text: str) -> Identity:
    """The sheet whose printed code a text reader made `text` of: up to two characters may be taken for their likes.

    The check tells which; no more than some hundred readings are tried against its sixteen million values. Raises
    IdentityError where none or more than one of them is a sheet's code.
    """
    try:
        return decode(text)
    except IdentityError as error:
        failure = error
    characters = text.upper().translate(_READ_BY_MACHINE).translate(_READ_AS)
    swaps = [(i, other) for i, c in enumerate(characters) for other in _ALIKE.get(c, "")]
    found = []
    for count in (0, 1, 2):
        for chosen in itertools.combinations(swaps, count):
            candidate = list(characters)
            for i, other in chosen:
                candidate[i] = other
            with contextlib.suppress(IdentityError):
                found.append(decode("".join(candidate)))
    if len(found) != 1:
        raise failure
    return found[0]


def sheet_id(identity: Identity) -> str:
    """A short id for people and file names, such as `7K3M-9RXA`: the last two groups of the code on the sheet."""
    return encode(identity)[-(2 * _GROUP + 1) :]


MARKS = 12
"""How many page marks carry the sheet's number between them."""
MARK_VALUES = 64
"""How many values one mark can take: it carries six bits, and its place besides."""

_SPARE_MARKS = 4  # as many may be lost; an error among those seen costs two of them
_MARK_CHECK_BITS = 6
_SPELL = RSCodec(_SPARE_MARKS, nsize=MARKS, c_exp=6)


@dataclass(frozen=True, slots=True)
class MarkIdentity:
    """What the page marks alone say of a sheet: enough to read it, and the number to find the rest by."""

    version: int
    players: int
    rows: int
    serial: int


def mark_values(identity: Identity) -> tuple[int, ...]:
    """The value of every page mark, 0 to 63, by its place: the sheet's number, spelled so that any eight of twelve do.

    A Reed-Solomon code over six-bit symbols. Raises IdentityError where form, version or rows are too large for it.
    """
    bits = _Bits()
    sizes = ((FORMS.index(identity.form), 1), (identity.version - 1, 2), (identity.players - 1, 2), (identity.rows, 5))
    for value, width in (*sizes, (identity.serial, _SERIAL_BITS)):
        if not 0 <= value < 1 << width:
            raise IdentityError(f"{value} cannot be put into the page marks")
        bits.put(value, width)
    bits.put(_check(bits.value, bits.length) & (1 << _MARK_CHECK_BITS) - 1, _MARK_CHECK_BITS)
    symbols = [bits.value >> shift & MARK_VALUES - 1 for shift in range(bits.length - 6, -1, -6)]
    return tuple(_SPELL.encode(bytearray(symbols)))


def from_marks(values: Mapping[int, int]) -> MarkIdentity | None:
    """What marks seen say, place -> value; None where too few were seen or they contradict one another."""
    lost = [place for place in range(MARKS) if place not in values]
    if len(lost) > _SPARE_MARKS:
        return None
    try:
        symbols, whole, _ = _SPELL.decode(bytearray(values.get(p, 0) for p in range(MARKS)), erase_pos=lost)
    except ReedSolomonError:
        return None
    wrong = sum(whole[place] != value for place, value in values.items())
    if wrong > 1:
        return None
    value = 0
    for symbol in symbols:
        value = value << 6 | symbol
    length = 6 * len(symbols)
    bits = _Bits(value >> _MARK_CHECK_BITS, length - _MARK_CHECK_BITS)
    if _check(bits.value, bits.length) & (1 << _MARK_CHECK_BITS) - 1 != value & (1 << _MARK_CHECK_BITS) - 1:
        return None
    if bits.take(1) >= len(FORMS):
        return None
    return MarkIdentity(bits.take(2) + 1, bits.take(2) + 1, bits.take(5), bits.take(_SERIAL_BITS))


def _unpack(bits: "_Bits") -> Identity:
    form = bits.take_name(FORMS, 3)
    version = bits.take_number(2) + 1
    players = bits.take(2) + 1
    rows = bits.take_number(6) + 1
    convention = bits.take_name(CONVENTIONS, 5)
    pool, round_, table = bits.take_optional(6), bits.take_optional(4), bits.take_optional(6)
    options: dict[str, str] = {}
    for _ in range(bits.take_number(2)):
        option = bits.take_name(OPTIONS, 6)
        options[option] = " ".join([bits.take_word() for _ in range(bits.take_number(2) + 1)])
    serial = bits.value & (1 << _SERIAL_BITS) - 1
    return Identity(form, version, players, rows, convention, pool, round_, table, serial, options)


def _check(value: int, length: int) -> int:
    """CRC-24 of `length` bits, first bit first."""
    check = _CHECK_START
    for shift in range(length - 1, -1, -1):
        feedback = (check >> 23 ^ value >> shift) & 1
        check = (check << 1) & 0xFFFFFF ^ (_CHECK_POLYNOMIAL if feedback else 0)
    return check


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


class _TornError(Exception):
    """More bits were asked for than there are."""


class _Bits:
    """A row of bits to put things at the end of, or to take them from the front of."""

    def __init__(self, value: int = 0, length: int = 0) -> None:
        self.value, self.length, self.taken = value, length, 0

    def put(self, value: int, width: int) -> None:
        self.value, self.length = self.value << width | value, self.length + width

    def take(self, width: int) -> int:
        self.taken += width
        if self.taken > self.length:
            raise _TornError
        return self.value >> self.length - self.taken & (1 << width) - 1

    def put_number(self, value: int, group: int) -> None:
        """Any number from 0 up in groups of `group` bits, lowest first, each after a bit: do more follow?"""
        while True:
            rest = value >> group
            self.put(bool(rest) << group | value & (1 << group) - 1, group + 1)
            if not rest:
                return
            value = rest

    def take_number(self, group: int) -> int:
        value = shift = 0
        while True:
            part = self.take(group + 1)
            value |= (part & (1 << group) - 1) << shift
            shift += group
            if not part >> group:
                return value

    def put_optional(self, value: int | None, group: int) -> None:
        self.put_number(0 if value is None else value + 1, group)

    def take_optional(self, group: int) -> int | None:
        value = self.take_number(group)
        return value - 1 if value else None

    def put_name(self, name: str, table: tuple[str, ...], width: int) -> None:
        """The name's place in the table from 1 up in `width` bits, or 0 and the name itself."""
        self.put(table.index(name) + 1 if name in table else 0, width)
        if name not in table:
            self.put_text(name)

    def take_name(self, table: tuple[str, ...], width: int) -> str:
        place = self.take(width)
        return table[place - 1] if place else self.take_text()

    def put_word(self, word: str) -> None:
        """One word of an option's value: from the table (2 and up), a number (1) or text (0)."""
        if word in WORDS:
            self.put_number(WORDS.index(word) + 2, 5)
        elif word.isascii() and word.isdigit() and str(int(word)) == word:
            self.put_number(1, 5)
            self.put_number(int(word), 4)
        else:
            self.put_number(0, 5)
            self.put_text(word)

    def take_word(self) -> str:
        kind = self.take_number(5)
        if kind > 1:
            return WORDS[kind - 2]
        return str(self.take_number(4)) if kind else self.take_text()

    def put_text(self, text: str) -> None:
        data = text.encode()
        self.put_number(len(data), 4)
        self.put(int.from_bytes(data), 8 * len(data))

    def take_text(self) -> str:
        size = self.take_number(4)
        return self.take(8 * size).to_bytes(size).decode()
