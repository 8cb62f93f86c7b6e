"""From totals to the result: exact fractions, the ways players work it out on paper, whole whists and money.

Every way gives the same exact result; only rule 4.2.12 of the Kodeks allows other tables, in whole whists.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from scoring.convention import Convention, Number, whole
from scoring.game import Totals, name_text
from scoring.text import Text, figure_text, joined

METHODS = ("mountain", "mean", "circles")


def settle(totals: Totals, convention: Convention) -> dict[str, Fraction]:
    """Every player's whists, exact; they sum to zero (Kodeks 4.2.14).

    >>> from scoring.convention import load_convention
    >>> three = Totals({"A": 0, "B": 0, "C": 0}, {"A": 2, "B": 5, "C": 8}, {})
    >>> [str(v) for v in settle(three, load_convention("sochi")).values()]
    ['30', '0', '-30']
    """
    mutual = pairs(totals)
    return {seat: value + mutual[seat] for seat, value in mountain_result(totals, convention).items()}


def mountain_result(totals: Totals, convention: Convention) -> dict[str, Fraction]:
    """What pools and mountains alone bring every player, in whists: the difference from the mean."""
    seats = totals.seats
    n = len(seats)
    if convention.divisible_mountain:
        value = {s: totals.pool[s] * convention.pool_weight - totals.mountain[s] for s in seats}
        factor = 1
    else:
        # Kodeks 4.1.1: a mountain point costs the opponent the whole ten, while a pool point keeps its value.
        value = {s: Fraction(totals.pool[s] * convention.pool_weight, n) - totals.mountain[s] for s in seats}
        factor = n
    together = sum(value.values())
    return {s: Fraction(convention.whists_per_point * factor * (n * value[s] - together), n) for s in seats}


def pairs(totals: Totals) -> dict[str, Number]:
    """What the whists alone bring every player: his on the others less theirs on him."""
    seats, whists = totals.seats, totals.whists
    return {s: sum(whists[s][o] - whists[o][s] for o in seats if o != s) for s in seats}


def rounded(exact: Mapping[str, Number]) -> dict[str, int]:
    """The same result in whole whists, each within one of the exact one and summing to zero (Kodeks 4.2.12).

    The largest remainders are rounded up; of equal ones, the first seats'.

    >>> rounded({"A": Fraction(75, 2), "B": Fraction(-205, 2), "C": Fraction(-45, 2), "D": Fraction(175, 2)})
    {'A': 38, 'B': -102, 'C': -23, 'D': 87}
    """
    down = {seat: floor(value) for seat, value in exact.items()}
    missing = int(sum(exact.values()) - sum(down.values()))
    for seat in sorted(exact, key=lambda s: (down[s] - Fraction(exact[s]), s))[:missing]:
        down[seat] += 1
    return down


def money(exact: Mapping[str, Number], stake: Number, smallest: Number = 1) -> dict[str, Fraction]:
    """Whists in money at ``stake`` a whist, rounded once to multiples of ``smallest``, summing to zero (Kodeks 4.2.13).

    ``stake`` and ``smallest`` are in the same unit, for example kopecks.

    >>> {s: str(v) for s, v in money({"A": Fraction(16, 3), "B": Fraction(4, 3), "C": Fraction(-20, 3)}, 5).items()}
    {'A': '27', 'B': '7', 'C': '-34'}
    """
    if stake < 0 or smallest <= 0:
        raise ValueError("a stake is not below zero, and the smallest coin is above it")
    units = rounded({seat: Fraction(value) * stake / smallest for seat, value in exact.items()})
    return {seat: Fraction(count) * smallest for seat, count in units.items()}


def close_early(totals: Totals, limit: int, convention: Convention) -> Totals:
    """The totals after an early stop by consent: pools closed, the missing points on the mountain (Kodeks 4.2.3)."""
    weight = convention.pool_weight
    return Totals(
        {s: limit for s in totals.seats},
        {s: totals.mountain[s] + weight * (limit - totals.pool[s]) for s in totals.seats},
        totals.whists,
    )


def newcomer(totals: Totals) -> tuple[int, int]:
    """Pool and mountain of a player who joins a game: the means, rounded against him (Kodeks 3.1.2).

    >>> newcomer(Totals({"A": 7, "B": 4, "C": 2}, {"A": 10, "B": 3, "C": 0}, {}))
    (4, 5)
    """
    n = len(totals.seats)
    pool = Fraction(sum(totals.pool.values())) / n
    mountain = Fraction(sum(totals.mountain.values())) / n
    return floor(pool), ceil(mountain)


# --- the working, as on paper ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the working: what is done, and what every player then has."""

    text: Text
    figures: Mapping[str, Number]
    """By seat, or by ``"B-A"`` for what B writes on A."""


def working(totals: Totals, convention: Convention, method: str = "mean", limit: int | None = None) -> tuple[Step, ...]:
    """The settlement step by step, as a player works it out on paper; the last step is the result.

    ``mountain`` is the Kodeks' variant 1, ``mean`` its variant 2 (4.2.14), ``circles`` the four circles. ``limit`` is
    the pool to which pools are levelled; without one they are levelled to their mean.
    """
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; known: {', '.join(METHODS)}")
    seats = totals.seats
    n, price = len(seats), convention.whists_per_point
    level: Number = limit if limit is not None else whole(Fraction(sum(totals.pool.values())) / n)
    weight = convention.pool_weight
    factor = 1 if convention.divisible_mountain else n
    pool_share = Fraction(weight, factor)
    mountains: dict[str, Number] = {
        s: whole(Fraction(totals.mountain[s] - pool_share * (totals.pool[s] - level))) for s in seats
    }
    steps = []
    if any(totals.pool[s] != level for s in seats):
        steps.append(Step(_levelled(level, pool_share), mountains))
    least = min(mountains.values())
    amnestied = {s: whole(Fraction(mountains[s] - least)) for s in seats}
    if least:
        steps.append(
            Step(
                Text(
                    f"Амнистия: все списывают с горы {figure_text(least)}",
                    f"Amnesty: everyone takes {figure_text(least)} off the mountain",
                ),
                amnestied,
            )
        )
    if method == "mountain":
        steps += _by_mountain(totals, amnestied, Fraction(price * factor, n))
    else:
        steps += _by_mean(totals, amnestied, price * factor, circles=method == "circles")
    return tuple(steps)


def _levelled(level: Number, weight: Fraction) -> Text:
    times = "" if weight == 1 else f", × {figure_text(whole(weight))}"
    return Text(
        f"Выравнивание пуль до {figure_text(level)}: переигранное с горы, недоигранное на гору{times}",
        f"Pools levelled to {figure_text(level)}: what is over comes off the mountain, what is short goes on it{times}",
    )


def _by_mountain(totals: Totals, mountains: Mapping[str, Number], share: Fraction) -> list[Step]:
    """Variant 1: each mountain is shared out in whists, then pairs are compared."""
    seats, whists = totals.seats, totals.whists
    shares = {s: whole(mountains[s] * share) for s in seats}
    written = {f"{s}-{o}": whole(Fraction(whists[s][o] + shares[o])) for s in seats for o in seats if o != s}
    result = {
        s: whole(Fraction(sum(written[f"{s}-{o}"] - written[f"{o}-{s}"] for o in seats if o != s))) for s in seats
    }
    count = len(seats)
    return [
        Step(
            Text(
                f"Каждая гора × 10 : {count} — столько пишет на её хозяина каждый",
                f"Each mountain × 10 : {count} is written on its owner by everyone",
            ),
            shares,
        )
        if share == Fraction(10, count)
        else Step(
            Text(
                f"Каждая гора × {figure_text(whole(share))} — столько пишет на её хозяина каждый",
                f"Each mountain × {figure_text(whole(share))} is written on its owner by everyone",
            ),
            shares,
        ),
        Step(Text("Висты вместе с горой", "Whists with the mountains in them"), written),
        Step(Text("Итог: разница взаимных вистов", "Result: the differences of the mutual whists"), result),
    ]


def _by_mean(totals: Totals, mountains: Mapping[str, Number], price: Number, *, circles: bool) -> list[Step]:
    """Variant 2 and the four circles: the mean mountain, one's own result from it, and the pair differences."""
    seats, whists = totals.seats, totals.whists
    mean = whole(Fraction(sum(mountains.values())) / len(seats))
    own = {s: whole(Fraction(mean - mountains[s]) * price) for s in seats}
    summed = " + ".join(figure_text(mountains[s]) for s in seats)
    steps = [
        Step(
            Text(
                f"Средняя гора: ({summed}) : {len(seats)} = {figure_text(mean)}",
                f"Mean mountain: ({summed}) : {len(seats)} = {figure_text(mean)}",
            ),
            {},
        ),
        Step(
            Text(
                f"{'Первый кружок' if circles else 'С горы'}: (средняя − своя) × {figure_text(price)}",
                f"{'First circle' if circles else 'From the mountain'}: (mean − own) × {figure_text(price)}",
            ),
            own,
        ),
    ]
    differences = {f"{s}-{o}": whole(Fraction(whists[s][o] - whists[o][s])) for s in seats for o in seats if o != s}
    if circles:
        for turn in range(1, len(seats)):
            circle = {s: differences[f"{s}-{seats[(i + turn) % len(seats)]}"] for i, s in enumerate(seats)}
            with_whom = _neighbour(turn, len(seats))
            text = Text(
                f"Кружок {turn + 1}: разница вистов {with_whom.ru}",
                f"Circle {turn + 1}: whist difference {with_whom.en}",
            )
            steps.append(Step(text, circle))
    else:
        steps.append(Step(Text("Разницы взаимных вистов", "Differences of the mutual whists"), differences))
    result = {s: whole(Fraction(own[s] + sum(differences[f"{s}-{o}"] for o in seats if o != s))) for s in seats}
    steps.append(
        Step(
            Text("Двойной кружок: сумма", "Double circle: the sum")
            if circles
            else Text("Итог: сумма", "Result: the sum"),
            result,
        )
    )
    return steps


def _neighbour(turn: int, players: int) -> Text:
    """The player so many seats clockwise, in words."""
    if players == 2:
        return Text("с соперником", "with the opponent")
    if turn == 1:
        return Text("с соседом слева", "with the player on the left")
    if turn == players - 1:
        return Text("с соседом справа", "with the player on the right")
    return Text("с игроком напротив", "with the player opposite")


# --- settlements by hand ---------------------------------------------------------------------------------------------


def compensations(players: int) -> tuple[int, ...]:
    """Whists that every other player corrects for one mountain point (Kodeks 4.2.12), as published."""
    return {2: (5,), 3: (3,), 4: (3, 2)}[players]


def permitted(totals: Totals, convention: Convention) -> tuple[dict[str, int], ...]:
    """Every table in whole whists that rule 4.2.12 of the Kodeks allows; the exact one alone where nothing is broken.

    One mountain point is added to or taken off any players' mountains, and every other player corrects his whists on
    each of them: by three with three players, by three or two (an earlier edition) with four.
    """
    exact = settle(totals, convention)
    seats = totals.seats
    n = len(seats)
    share = Fraction(convention.whists_per_point, n)
    level = Fraction(sum(totals.pool.values())) / n
    mountains = [totals.mountain[s] - convention.pool_weight * (totals.pool[s] - level) for s in seats]
    least = min(mountains)
    if all((share * (m - least)).denominator == 1 for m in mountains):
        return ({s: int(exact[s]) for s in seats},)
    found: dict[tuple[int, ...], None] = {}
    for compensation in compensations(n):
        shift = compensation - share
        for points in itertools.product((0, -1, 1), repeat=n):
            # A point off someone's mountain earns him (n - 1) shares and costs him as many compensations.
            table = [
                exact[s] + sum(-p * shift if k != i else p * shift * (n - 1) for k, p in enumerate(points))
                for i, s in enumerate(seats)
            ]
            if all(value.denominator == 1 for value in table):
                found[tuple(int(value) for value in table)] = None
    return tuple(dict(zip(seats, table, strict=True)) for table in found)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a settlement written by hand is.

    ``exact``; ``permitted`` by rule 4.2.12; ``rounded``, every figure the exact one or a whole whist beside it; or
    ``wrong``.
    """

    verdict: str
    differences: Mapping[str, Number]
    """What was written less the exact result."""
    message: Text


def judge(
    written: Mapping[str, Number], totals: Totals, convention: Convention, players: Mapping[str, str] | None = None
) -> Judgement:
    """Whether a settlement written by hand stands; ``players`` are their names, for the message.

    >>> from scoring.convention import load_convention
    >>> totals = Totals({"A": 0, "B": 0}, {"A": 0, "B": 0}, {"A": {"B": 7}, "B": {"A": 4}})
    >>> judge({"A": 5, "B": -3}, totals, load_convention("sochi")).message.en
    'the settlement does not add up, the sum is 2, not 0: A 5 instead of 3'
    """
    exact = settle(totals, convention)
    differences = {s: whole(Fraction(written[s] - exact[s])) for s in totals.seats}
    if not any(differences.values()):
        return Judgement("exact", differences, Text("расчёт верен", "the settlement is exact"))
    if dict(written) in permitted(totals, convention):
        return Judgement(
            "permitted",
            differences,
            Text("расчёт допустим по правилу 4.2.12", "the settlement is permitted by Kodeks 4.2.12"),
        )
    total = Fraction(sum(differences.values()))
    # To round each figure by itself may move the sum by half a whist for each.
    beside = all(written[s] in (exact[s], floor(exact[s]), ceil(exact[s])) for s in totals.seats)
    if beside and 2 * abs(total) <= len(totals.seats):
        said = Text("расчёт верен, округлён до целых вистов", "the settlement is right, rounded to whole whists")
        if total:
            shown = figure_text(total)
            said += Text(f" (и сумма от этого {shown})", f" (whence the sum {shown})")
        return Judgement("rounded", differences, said)
    apart = [
        name_text(s, players)
        + Text(f" {figure_text(written[s])}", f" {figure_text(written[s])}")
        + Text(" вместо ", " instead of ")
        + Text(figure_text(exact[s]), figure_text(exact[s]))
        for s in totals.seats
        if differences[s]
    ]
    said = Text("расчёт неверен: ", "the settlement is wrong: ")
    if total:
        shown = figure_text(total)
        said = Text(
            f"расчёт не сходится, сумма {shown}, а должна быть 0: ",
            f"the settlement does not add up, the sum is {shown}, not 0: ",
        )
    return Judgement("wrong", differences, said + joined(apart, ", "))
