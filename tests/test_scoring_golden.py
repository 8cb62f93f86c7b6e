"""Published and derived numbers: what a deal adds, what stands after it, and what a game settles to.

Each case names its public source. Where a published figure is rounded or wrong, the right one stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from scoring import Deal, Game, Totals, ledger, settle, violations
from scoring.game import SEATS, Cell, cells_of
from scoring.settlement import METHODS, rounded, working

REFINISHRU = {"whist": "greedy", "raspasy_amnesty": True, "raspasy_zero_multiplier": "2"}
"""The piter of github:refinishru-Andre/pulka."""


@dataclass(frozen=True)
class Case:
    """Deals read "contract declarer defender:decision … | tricks | extras", totals "pool mountain on:whists …"."""

    name: str
    source: str
    convention: str
    players: int
    pool: int | str | None = None
    options: dict = field(default_factory=dict)
    start: dict | None = None
    deals: list = field(default_factory=list)
    totals: dict | None = None
    added: str | None = None
    after: dict | None = None
    net: str | None = None
    note: str = ""

    def game(self) -> Game:
        return Game(
            self.convention,
            dict.fromkeys(SEATS[: self.players], ""),
            tuple(deal(number, text) for number, text in enumerate(self.deals, 1)),
            pool=self.pool,
            options=self.options,
            start=totals(self.start) if self.start else None,
            totals=totals(self.totals) if self.totals else None,
        )


def deal(number: int, text: str) -> Deal:
    """A deal from its short notation."""
    played, tricks, extras = (part.strip() for part in (text + " | | ").split("|")[:3])
    contract, *rest = played.split()
    declarer = rest[0] if rest and ":" not in rest[0] else None
    return Deal(
        number,
        contract,
        declarer=declarer,
        defence=dict(word.split(":") for word in rest if ":" in word),
        tricks={word[0]: int(word[1:]) for word in tricks.split()},
        **{
            key: value if key == "dealer" else int(value) for key, value in (word.split("=") for word in extras.split())
        },
    )


def totals(rows: dict[str, str]) -> Totals:
    """Totals from their short notation."""
    pool, mountain, whists = {}, {}, {}
    for seat, row in rows.items():
        words = row.split()
        pool[seat], mountain[seat] = int(words[0]), int(words[1])
        whists[seat] = {word[0]: int(word[2:]) for word in words[2:]}
    return Totals(pool, mountain, whists)


def changes(text: str) -> dict[Cell, Fraction]:
    """Amounts by box from "A.pool 2, B.A 8"."""
    found = {}
    for item in filter(None, text.split(", ")):
        place, amount = item.split()
        seat, what = place.split(".")
        found[Cell("whists", seat, what) if what in SEATS else Cell(what, seat)] = Fraction(amount)
    return found


CASES = [
    Case(
        "S000-02",
        "«Расчет пули в преферансе»",
        "sochi",
        3,
        deals=["6 A B:whist C:pass | A6 B4 C0"],
        added="A.pool 2, B.A 8",
        note="the text prints 5,3, cut off; the third text has 5 1/3",
        net="16/3 4/3 -20/3",
    ),
    Case(
        "S000-04",
        "«Расчет пули в преферансе»",
        "leningrad",
        4,
        deals=["9 A B:whist C:pass | A9 B1 C0 | dealer=D"],
        added="A.pool 8, B.A 16",
        net="104 -24 -40 -40",
    ),
    Case(
        "S000-05",
        "«Расчет пули в преферансе»",
        "sochi",
        4,
        deals=["6 A B:whist C:whist | A5 B2 C3 | dealer=D"],
        added="A.mountain 2, B.A 6, C.A 8, D.A 2",
        net="-31 11 13 7",
    ),
    Case(
        "S000-05L",
        "«Расчет пули в преферансе»",
        "leningrad",
        4,
        deals=["6 A B:whist C:whist | A5 B2 C3 | dealer=D"],
        added="A.mountain 4, B.A 12, C.A 16, D.A 4",
        net="-62 22 26 14",
    ),
    Case(
        "S000-06",
        "«Расчет пули в преферансе» third text",
        "sochi",
        3,
        deals=["6 A B:whist C:pass | A6 B4 C0"],
        added="A.pool 2, B.A 8",
        net="16/3 4/3 -20/3",
    ),
    Case(
        "S000-07",
        "«Расчет пули в преферансе» third text",
        "sochi",
        3,
        deals=["6 A B:pass C:pass"],
        added="A.pool 2",
        net="40/3 -20/3 -20/3",
    ),
    Case(
        "S000-08",
        "«Расчет пули в преферансе» third text",
        "sochi",
        3,
        deals=["6 A B:whist C:pass | A7 B3 C0"],
        added="A.pool 2, B.mountain 2, B.A 6",
        net="14 -14 0",
    ),
    Case(
        "S000-09",
        "«Расчет пули в преферансе» third text",
        "sochi",
        3,
        deals=["7 A B:whist C:pass | A7 B3 C0"],
        added="A.pool 4, B.A 12",
        net="44/3 -4/3 -40/3",
    ),
    Case(
        "S000-10",
        "«Расчет пули в преферансе» third text",
        "sochi",
        3,
        deals=["6 A B:whist C:pass | A5 B5 C0"],
        added="A.mountain 2, B.A 12, C.A 2",
        net="-82/3 56/3 26/3",
    ),
    Case(
        "S000-20",
        "«Расчет пули в преферансе» second text",
        "sochi",
        3,
        deals=["misere A | A0 B5 C5"],
        added="A.pool 10",
    ),
    Case(
        "S000-21",
        "«Расчет пули в преферансе» second text",
        "sochi",
        3,
        deals=["misere A | A2 B4 C4"],
        added="A.mountain 20",
    ),
    Case(
        "S000-30",
        "«Расчет пули в преферансе» «4 кружочка»",
        "leningrad",
        4,
        pool=50,
        totals={"A": "78 78", "B": "74 60", "C": "32 34", "D": "22 76"},
        net="370 470 -110 -730",
    ),
    Case(
        "S000-31",
        "«Расчет пули в преферансе» (our variant)",
        "leningrad",
        4,
        pool="mean",
        totals={"A": "78 78", "B": "74 60", "C": "32 34", "D": "22 76"},
        net="370 470 -110 -730",
    ),
    Case(
        "S001-03",
        "«Преферанс во всех видах», 4-е изд., method 2",
        "sochi",
        4,
        totals={"A": "0 0 B:2", "B": "0 6", "C": "0 17 A:10 B:50", "D": "0 12 A:42 B:78"},
        note="published 37 -103 -23 89, permitted by Kodeks 4.2.12; the book itself gives the exact figures",
        net="75/2 -205/2 -45/2 175/2",
    ),
    Case(
        "KZ-01",
        "https://www.kazedu.kz/referat/39901/1",
        "sochi",
        4,
        totals={"A": "0 0 B:2", "B": "0 5", "C": "0 15 A:10 B:50", "D": "0 11 A:42 B:78"},
        net="55/2 -205/2 -25/2 175/2",
    ),
    Case(
        "KZ-02",
        "https://www.kazedu.kz/referat/39901/1",
        "sochi",
        4,
        totals={"A": "0 0 B:2", "B": "0 5", "C": "0 15 A:10 B:50", "D": "0 11 A:42 B:78"},
        note="published with two whists of compensation for a mountain point; exact here",
        net="55/2 -205/2 -25/2 175/2",
    ),
    Case(
        "S002-1",
        "«Общие правила карточной игры преферанс», 7.2, ex.1",
        "classic",
        4,
        deals=["6 A B:whist C:pass | A6 B4 C0 | dealer=D"],
        added="A.pool 2, B.A 8",
    ),
    Case(
        "S004-01",
        "«Преферанс», стр. 6",
        "moscow",
        3,
        deals=["6 A B:whist C:pass | A5 B5 C0"],
        added="A.mountain 2, B.A 15, C.A 15",
    ),
    Case("S004-03", "«Преферанс», стр. 6", "moscow", 3, deals=["raspasy | A2 B3 C5"], added="A.B 15, A.C 25"),
    Case("S004-05", "«Преферанс», стр. 6", "moscow", 3, deals=["raspasy | A2 B2 C6"], added="A.C 15, B.C 15"),
    Case(
        "S004-06",
        "«Преферанс», стр. 6",
        "moscow",
        4,
        deals=["raspasy | A2 B3 C5 | dealer=D"],
        added="D.pool 1, A.B 15, A.C 25",
    ),
    Case(
        "S004-07",
        "«Преферанс», стр. 6 premiums",
        "rostov",
        3,
        options={"premiums": {"misere": 50, "zero_ras": 25}},
        deals=["misere A | A0 B5 C5"],
        added="A.pool 10, A.B 50, A.C 50",
    ),
    Case(
        "S004-08",
        "«Преферанс», стр. 6 premiums",
        "rostov",
        3,
        options={"premiums": {"misere": 50, "zero_ras": 25}},
        deals=["raspasy | A0 B1 C9"],
        added="A.pool 1, A.B 30, A.C 70",
    ),
    Case("S004-LM", "«Преферанс», стр. 6", "leningrad", 3, deals=["misere A | A1 B5 C4"], added="A.mountain 20"),
    Case(
        "S004-13",
        "«Преферанс», стр. 6",
        "leningrad",
        3,
        deals=["6 A B:whist C:whist | A5 B3 C2"],
        added="A.mountain 4, B.A 16, C.A 12",
        note="the printed cells 12x4=16 and 8x4=12 are misprints for 12+4 and 8+4",
    ),
    Case(
        "RP-01",
        "https://review-pref.ru/literatura/76/197/ (table 8)",
        "sochi",
        3,
        totals={"A": "0 0 B:70 C:100", "B": "0 0 A:114 C:96", "C": "0 0 B:180 A:140"},
        net="-84 -40 124",
    ),
    Case(
        "SK-01",
        "https://fb2book.info/readbook-23039-preferans-istoriya-strategiya-taktika-page-7 (Skuratov)",
        "leningrad",
        4,
        deals=["6 A B:whist C:pass | A6 B4 C0 | dealer=D"],
        added="A.pool 2, B.A 16",
        net="14 6 -10 -10",
    ),
    Case(
        "SK-02",
        "https://fb2book.info/readbook-23039-preferans-istoriya-strategiya-taktika-page-7 (Skuratov)",
        "leningrad",
        4,
        deals=["6 A B:whist C:pass | A7 B3 C0 | dealer=D"],
        added="A.pool 2, B.mountain 2, B.A 12",
        net="23 -13 -5 -5",
    ),
    Case(
        "LL-23",
        "github:ll1r1k-1337/preference docs/rules.md TS-23",
        "sochi",
        3,
        deals=["misere A | A2 B4 C4"],
        added="A.mountain 20",
    ),
    Case(
        "LL-34",
        "github:ll1r1k-1337/preference docs/rules.md TS-34",
        "sochi",
        3,
        deals=["6 A B:whist C:whist | A7 B1 C2"],
        added="A.pool 2, B.mountain 2, B.A 2, C.A 4",
    ),
    Case(
        "LL-35",
        "github:ll1r1k-1337/preference docs/rules.md TS-35",
        "sochi",
        3,
        options={"shortage": "personal"},
        deals=["6 A B:whist C:whist | A7 B0 C3"],
        added="A.pool 2, B.mountain 4, C.A 6",
    ),
    Case(
        "LL-35c",
        "github:ll1r1k-1337/preference docs/rules.md TS-35 (mainstream reading)",
        "sochi",
        3,
        deals=["6 A B:whist C:whist | A7 B0 C3"],
        added="A.pool 2, B.mountain 2, C.A 6",
        note="the source fines each whister for himself; the main stream caps it at what the pair lacks",
    ),
    Case(
        "LL-39",
        "github:ll1r1k-1337/preference docs/rules.md TS-39",
        "sochi",
        3,
        deals=["10 A B:whist C:whist | A8 B1 C1"],
        added="A.mountain 20, B.A 30, C.A 30",
    ),
    Case(
        "LL-S2",
        "github:ll1r1k-1337/preference docs/rules.md scenario 2",
        "sochi",
        3,
        totals={"A": "4 2 B:22", "B": "3 2 A:12", "C": "0 8 A:8 B:12"},
        note="the source divides by n - 1: wrong",
        net="116/3 14/3 -130/3",
    ),
    Case(
        "LL-S3",
        "github:ll1r1k-1337/preference docs/rules.md scenario 3",
        "sochi",
        3,
        totals={"A": "2 9", "B": "0 42", "C": "14 10"},
        note="the source divides by n - 1: wrong, 3/2 of the right figures",
        net="80 -270 190",
    ),
    Case(
        "LL-44",
        "github:ll1r1k-1337/preference docs/rules.md TS-44",
        "sochi",
        3,
        pool=10,
        start={"A": "10 0", "B": "7 0", "C": "4 0"},
        deals=["6 A B:pass C:pass"],
        after={"A": "10 0 B:20", "B": "9 0", "C": "4 0"},
    ),
    Case(
        "RK-03",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        3,
        deals=["8 A B:pass C:whist | A6 B1 C3"],
        added="A.mountain 12, C.A 36, B.A 12",
        note="the source knows no consolation; the main stream writes it",
    ),
    Case(
        "RK-03n",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        3,
        options={"consolation": "none"},
        deals=["8 A B:pass C:whist | A6 B1 C3"],
        added="A.mountain 12, C.A 24",
    ),
    Case(
        "RK-05",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        3,
        deals=["8 A B:whist C:whist | A9 B1 C0"],
        added="A.pool 6, B.A 6",
        note="the source fines the second whister though the pair made its trick; the main stream does not",
    ),
    Case(
        "RK-07",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        3,
        deals=["10 A B:pass C:whist | A10 B0 C0"],
        added="A.pool 10, C.mountain 10",
    ),
    Case(
        "RK-11",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        3,
        totals={"A": "0 2", "B": "0 5", "C": "0 8"},
        note="the source divides by n - 1: wrong",
        net="30 0 -30",
    ),
    Case(
        "RK-12",
        "github:rostiktc2-star/preferans-score src/domain/engine.test.ts",
        "sochi",
        4,
        totals={"A": "0 0", "B": "0 0", "C": "0 0", "D": "0 3"},
        note="the source divides by n - 1: wrong (10 each, right is 7 1/2)",
        net="15/2 15/2 15/2 -45/2",
    ),
    Case(
        "MF-01",
        "github:mathfewmatthews-dev/preferans-score tests/e2e/audit/pool-overflow.spec.ts",
        "sochi",
        3,
        pool=20,
        start={"A": "16 5", "B": "18 0", "C": "19 0"},
        deals=["10 A B:pass C:pass"],
        after={"A": "20 2 C:10 B:20", "B": "20 0", "C": "20 0"},
    ),
    Case(
        "MF-02",
        "github:mathfewmatthews-dev/preferans-score tests/e2e/audit/pool-overflow.spec.ts",
        "sochi",
        3,
        pool=20,
        start={"A": "16 5", "B": "10 0", "C": "0 0"},
        deals=["10 A B:pass C:pass"],
        after={"A": "20 5 B:60", "B": "16 0", "C": "0 0"},
    ),
    Case(
        "MF-03",
        "github:mathfewmatthews-dev/preferans-score tests/e2e/audit/pool-overflow.spec.ts",
        "sochi",
        3,
        pool=20,
        start={"A": "16 2", "B": "20 0", "C": "20 0"},
        deals=["10 A B:pass C:pass"],
        after={"A": "20 -4", "B": "20 0", "C": "20 0"},
    ),
    Case(
        "MF-06",
        "github:mathfewmatthews-dev/preferans-score tests/e2e/audit/gameplay.spec.ts",
        "piter",
        3,
        options={"raspasy_zero": "pool"},
        deals=["raspasy | A0 B3 C7"],
        added="A.pool 2, B.mountain 6, C.mountain 14",
    ),
    Case(
        "MF-08",
        "github:mathfewmatthews-dev/preferans-score tests/e2e/audit/gameplay.spec.ts",
        "sochi",
        4,
        options={"defender_multiplier": "1/2"},
        deals=["6 A B:whist C:pass | A6 B4 C0 | dealer=D talon_units=2"],
        added="A.pool 2, D.A 4, B.A 8",
    ),
    Case(
        "RF-01",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["7 A B:whist C:whist | B1 C2 A7"],
        added="A.pool 4, B.A 8, C.A 16",
    ),
    Case(
        "RF-02",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["6 A B:pass C:whist | A7 B1 C2"],
        added="A.pool 2, C.mountain 2, C.A 12",
    ),
    Case(
        "RF-03",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["8 A B:whist C:whist | A9 B1 C0"],
        added="A.pool 6, B.A 12",
    ),
    Case(
        "RF-07",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["6 A B:whist C:whist | A7 B1 C2"],
        added="A.pool 2, B.mountain 2, B.A 4, C.A 8",
    ),
    Case(
        "RF-08",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["9 A B:whist C:whist | A10 B0 C0"],
        added="A.pool 8, B.mountain 8, C.mountain 8",
    ),
    Case(
        "RF-09",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["6 A B:whist C:whist | A5 B2 C3"],
        added="A.mountain 4, B.A 12, C.A 16",
    ),
    Case(
        "RF-12",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["9 A B:pass C:pass"],
        added="A.pool 8",
    ),
    Case(
        "RF-13",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["6 A B:pass C:half"],
        added="A.pool 2, C.A 8",
    ),
    Case(
        "RF-14",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["7 A B:half C:pass"],
        added="A.pool 4, B.A 8",
    ),
    Case(
        "RF-16",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["misere B | A5 B2 C3"],
        added="B.mountain 40",
    ),
    Case(
        "RF-21",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["6 A |  | conceded=3"],
        added="A.mountain 12",
    ),
    Case(
        "RF-22",
        "github:refinishru-Andre/pulka src/engine/calc.test.ts",
        "piter",
        3,
        options=REFINISHRU,
        deals=["8 B |  | conceded=3"],
        added="B.mountain 36",
    ),
    Case(
        "FS-03",
        "github:refinishru-Andre/pulka FSPR engine tests, FSPR 6",
        "fspr",
        4,
        deals=["8 B C:whist D:whist | B6 C2 D2 | dealer=A", "raspasy | A4 B2 C4 D0 | dealer=B"],
        added="B.mountain 28, A.mountain 8, C.mountain 8, D.mountain -4, C.B 48, D.B 48, A.B 24",
    ),
    Case(
        "FS-04",
        "github:refinishru-Andre/pulka FSPR engine tests, FSPR 6",
        "fspr",
        3,
        deals=["7 A B:whist C:pass | A7 B3 C0"],
        added="A.pool 4, B.A 12, C.A 12",
    ),
    Case(
        "PG-03",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        pool=10,
        start={"A": "9 0", "B": "4 0", "C": "0 0"},
        deals=["6 A B:pass C:pass"],
        after={"A": "10 0 B:10", "B": "5 0", "C": "0 0"},
    ),
    Case(
        "PG-04",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        deals=["6 A B:pass C:half"],
        added="A.pool 2, C.A 4",
    ),
    Case(
        "PG-05",
        "preferans tests of a game collection on GitHub (Kodeks)",
        "kodeks",
        3,
        deals=["6 A B:whist C:whist | A9 B1 C0"],
        added="A.pool 2, B.mountain 2, C.mountain 4, B.A 2",
    ),
    Case(
        "PG-06",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        options={"defender_multiplier": "1/2"},
        deals=["6 A B:whist C:whist | A9 B1 C0"],
        added="A.pool 2, B.mountain 1, C.mountain 2, B.A 2",
    ),
    Case(
        "PG-07",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        deals=["8 A B:whist C:whist | A10 B0 C0"],
        added="A.pool 6, C.mountain 6",
    ),
    Case(
        "PG-09",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        options={"whist": "gentleman"},
        deals=["6 A B:whist C:pass | A5 B3 C2"],
        added="A.mountain 2, B.A 7, C.A 7",
    ),
    Case(
        "PG-13",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        deals=["7 A |  | conceded=3"],
        added="A.mountain 12",
    ),
    Case(
        "PG-14",
        "preferans tests of a game collection on GitHub",
        "sochi",
        3,
        deals=["6 A B:whist C:whist | A6 B3 C1 | talon_units=2"],
        added="A.pool 2, B.A 8, C.A 4",
        note="the source lets one opponent write the whole talon premium; the FSPR shares it",
    ),
    Case(
        "PG-17",
        "preferans tests of a game collection on GitHub",
        "classic",
        3,
        deals=["6 A B:whist C:whist | A6 B3 C1 | multiplier=2"],
        added="A.pool 4, B.A 12, C.A 4",
    ),
    Case(
        "PG-19",
        "preferans tests of a game collection on GitHub",
        "leningrad",
        3,
        totals={"A": "12 0", "B": "10 0", "C": "8 0"},
        net="40 0 -40",
    ),
    Case(
        "DG-01",
        "github:DmytroGusev/preferans Tests/PreferansEngineTests/SettlementTests.swift",
        "sochi",
        3,
        deals=["6 A B:whist C:whist | A6 B2 C2"],
        added="A.pool 2, B.A 4, C.A 4",
    ),
    Case(
        "OWN-02",
        "from the rule: piter ten checked",
        "piter",
        3,
        deals=["10 A B:whist C:pass | A10 B0 C0"],
        added="A.pool 10",
    ),
    Case(
        "OWN-03",
        "from the rule: «Общие правила карточной игры преферанс», 7.2, ten",
        "classic",
        4,
        deals=["10 A B:pass C:pass | A9 B0 C1 | dealer=D"],
        added="A.mountain 10, B.A 10, C.A 10, D.A 10",
    ),
    Case(
        "OWN-05",
        "from the rule: piter 8 both",
        "piter",
        3,
        deals=["8 A B:whist C:whist | A10 B0 C0"],
        added="A.pool 6, B.mountain 6, C.mountain 6",
    ),
    Case(
        "OWN-08",
        "from the rule: misere no whists",
        "leningrad",
        4,
        deals=["misere A | A3 B4 C3 | dealer=D"],
        added="A.mountain 60",
        net="-450 150 150 150",
    ),
    Case(
        "OWN-10",
        "from the rule: gusarik divisible gora",
        "sochi",
        2,
        totals={"A": "10 12 B:60", "B": "10 4 A:48"},
        net="-28 28",
    ),
    Case(
        "OWN-12",
        "from the rule: early stop, «Преферанс во всех видах»",
        "sochi",
        3,
        pool=10,
        totals={"A": "10 8 B:20", "B": "6 12", "C": "3 5 A:14"},
        net="46 -60 14",
    ),
    Case(
        "OWN-13",
        "from the rule: money",
        "sochi",
        3,
        totals={"A": "0 3", "B": "0 0 A:20", "C": "0 9 B:12"},
        net="-10 48 -38",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_published_numbers(case: Case) -> None:
    game = case.game()
    assert not violations(game)
    if case.deals:
        book = ledger(game)
        end = book.end.totals()
        if case.added is not None:
            added: dict[Cell, Fraction] = {}
            for posted in book.deals:
                for entry in posted.entries:
                    added[entry.cell] = added.get(entry.cell, Fraction(0)) + entry.add
            assert added == changes(case.added)
        if case.after is not None:
            after = totals(case.after)
            assert {cell: end[cell] for cell in cells_of(game.seats)} == {
                cell: after[cell] for cell in cells_of(game.seats)
            }
    else:
        end = game.totals
    assert end is not None
    if case.net is not None:
        exact = settle(end, game.rules)
        assert list(exact.values()) == [Fraction(word) for word in case.net.split()]
        for method in METHODS:
            assert working(end, game.rules, method, game.limit)[-1].figures == exact
        assert sum(rounded(exact).values()) == 0
