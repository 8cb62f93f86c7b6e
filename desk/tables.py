"""Several sheets of one table: where two secretaries' records differ, and which sheet another one goes on from."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from desk.words import field_text, record_text
from recognize.beside import Carried
from scoring import Deal, Game
from scoring.files import RecordError, game_from_dict
from scoring.game import Cell, cells_of
from scoring.text import Text, joined, seat_text

MOST_TOLD = 6
"""Of more differences than these only the first are told, and how many follow."""

SPECIAL = ("declarer", "contract", "whist", "tricks")

Reading = Mapping[str, Any]
"""A reading as `pulka read --json` prints it."""

Difference = tuple[Text, Text, Text]
"""Where two records differ, what stands in the one, and what in the other."""


def compared(readings: Sequence[Reading]) -> tuple[list[dict[str, Any]], bool]:
    """The readings, each with a note on how it agrees with every other sheet of its table; whether any two differ.

    A continuation sheet, which has totals carried over to it, is no second record; nor is one on which nothing is
    written.
    """
    notes: list[list[str]] = [[] for _ in readings]
    strange: list[list[str]] = [[] for _ in readings]
    differ = False
    games = games_of(readings)
    for (i, one), (k, two) in combinations(enumerate(readings), 2):
        if not _same_table(one, two):
            continue
        first, second = games[i], games[k]
        if first is None or second is None or first.start != second.start or _is_blank(first) or _is_blank(second):
            continue
        if _another_game(first, second):
            strange[i].append(two["sheet"]["id"])
            strange[k].append(one["sheet"]["id"])
            continue
        found = list(differences(first, second, _doubted(one) | _doubted(two)))
        differ = differ or bool(found)
        turned = [(where, there, here) for where, here, there in found]
        notes[i].append(_note(two, found).in_(one["lang"]))
        notes[k].append(_note(one, turned).in_(two["lang"]))
    for reading, sheets, told in zip(readings, strange, notes, strict=True):
        if sheets:
            told.append(_strange_note(list(dict.fromkeys(sheets))).in_(reading["lang"]))
    noted = zip(readings, notes, strict=True)
    return [{**reading, "notes": [*reading["notes"], *more]} for reading, more in noted], differ


def sheet_before(which: int, readings: Sequence[Reading], games: Sequence[Game | None]) -> Carried | None:
    """What the sheet ends with that one of these, having totals carried over to it, goes on from; None where there is
    none. `games` are `games_of` the readings.

    It is the sheet of the table most of whose last totals stand in the carry-over row, and no fewer than half of them.
    """
    game = games[which]
    if game is None or game.start is None:
        return None
    most, found = 0.5, None
    for other, before in zip(readings, games, strict=True):
        if before is None or not _same_table(readings[which], other):
            continue
        last = _last_totals(before)
        stood = {cell: value for cell, value in last.items() if value}
        if not stood or before.start == game.start:
            continue
        agree = sum(game.start[cell] == value for cell, value in stood.items()) / len(stood)
        if agree >= most:
            run = 0
            for deal in reversed(before.deals):
                if deal.contract != "raspasy":
                    break
                run += 1
            run += before.raspasy_run if run == len(before.deals) else 0
            most, found = agree, Carried(last, run)
    return found


def _last_totals(game: Game) -> dict[Cell, int]:
    """What stands last in every box of the totals: in a later row, or carried over itself."""
    last = {cell: int(game.start[cell]) if game.start is not None else 0 for cell in cells_of(game.seats)}
    return last | {w.cell: w.value for w in sorted(game.written, key=lambda w: w.deal)}


def _same_table(one: Reading, two: Reading) -> bool:
    sheet, other = one["sheet"], two["sheet"]
    return (
        one["game"] is not None
        and two["game"] is not None
        and sheet["table"] is not None
        and sheet["id"] != other["id"]
        and all(sheet[name] == other[name] for name in ("event", "round", "table", "players", "convention", "pool"))
    )


def games_of(readings: Sequence[Reading]) -> list[Game | None]:
    """The games as read; None where there is none, or where what stands on the paper is no record to compare."""
    return [_game(reading["game"]) if reading["game"] is not None else None for reading in readings]


def _game(record: Any) -> Game | None:
    try:
        return game_from_dict(record)
    except RecordError:
        return None


def _doubted(reading: Reading) -> set[str]:
    """The fields that a person is asked about anyway, or that cannot be seen."""
    unseen = {name for name, field in reading["fields"].items() if field["state"] == "unreadable"}
    return unseen | {question["field"] for question in reading["review"]}


def _is_blank(game: Game) -> bool:
    return not game.deals and not game.written


def _another_game(one: Game, two: Game) -> bool:
    """Whether the records have so little in common that they are of different games."""
    first, second = ({d.deal: (d.contract, d.declarer) for d in game.deals} for game in (one, two))
    both = first.keys() & second.keys()
    return 2 * sum(first[number] == second[number] for number in both) < max(len(first), len(second), 1)


def differences(one: Game, two: Game, doubted: set[str]) -> Iterator[Difference]:
    """Where two records of one table differ, deal by deal; `doubted` are fields of which nothing is to be said."""
    first, second = ({deal.deal: deal for deal in game.deals} for game in (one, two))
    totals = _totals_apart(one, two, doubted)
    for number in sorted({*first, *second, *totals}):
        a, b = first.get(number), second.get(number)
        row = f"d{number:02d}"
        if not any(name.startswith(f"{row}.") and name.split(".")[1] in SPECIAL for name in doubted):
            yield from _deals_apart(number, a, b)
        yield from totals.get(number, ())


def _deals_apart(number: int, one: Deal | None, two: Deal | None) -> Iterator[Difference]:
    place = Text(f"сдача {number}", f"deal {number}")
    if one is None or two is None:
        if one is not two:
            there, not_there = Text("есть", "is there"), Text("нет", "is not")
            yield place, not_there if one is None else there, not_there if two is None else there
        return
    for name, words in (("contract", Text(", заказ", ", contract")), ("declarer", Text(", играет", ", declarer"))):
        here, there = getattr(one, name), getattr(two, name)
        if here != there:
            yield place + words, record_text(name, here), record_text(name, there)
    for seat in sorted({*one.defence, *two.defence}):
        said, other = one.defence.get(seat), two.defence.get(seat)
        if said != other:
            yield place + Text(", ", ", ") + seat_text(seat), record_text("", said), record_text("", other)
    for seat in sorted({*one.tricks, *two.tricks}):
        took, other_took = one.tricks.get(seat, 0), two.tricks.get(seat, 0)
        if took != other_took:
            yield field_text(f"d{number:02d}.tricks.{seat}"), record_text("", took), record_text("", other_took)


def _totals_apart(one: Game, two: Game, doubted: set[str]) -> dict[int, list[Difference]]:
    """Where the totals begin to differ, by deal: what follows from a difference above is none of its own."""
    found: dict[int, list[Difference]] = {}
    papers = [{(w.deal, w.cell): w.value for w in game.written} for game in (one, two)]
    rows = sorted({deal for paper in papers for deal, _ in paper})
    for cell in cells_of(one.seats):
        stands: list[Any] = [one.start[cell] if one.start is not None else 0] * 2
        gap = 0
        for deal in rows:
            name = cell.field(deal)
            if name in doubted:
                break
            stands = [paper.get((deal, cell), before) for paper, before in zip(papers, stands, strict=True)]
            apart = stands[0] - stands[1]
            if apart and apart != gap:
                found.setdefault(deal, []).append(
                    (field_text(name), record_text("", stands[0]), record_text("", stands[1]))
                )
            gap = apart
    return found


def _strange_note(sheets: Sequence[str]) -> Text:
    listed = ", ".join(sheets)
    if len(sheets) > 1:
        return Text(
            f"на листах {listed} того же стола записаны другие игры: не перепутаны ли бланки?",
            f"sheets {listed} of the same table record other games: were the blanks mixed up?",
        )
    return Text(
        f"на листе {listed} того же стола записана другая игра: не перепутаны ли бланки?",
        f"sheet {listed} of the same table records another game: were the blanks mixed up?",
    )


def _note(other: Reading, found: Sequence[Difference]) -> Text:
    sheet = other["sheet"]["id"]
    if not found:
        return Text(f"с листом {sheet} того же стола сходится", f"agrees with sheet {sheet} of the same table")
    told = [where + Text(": ", ": ") + here + Text(" — ", " - ") + there for where, here, there in found[:MOST_TOLD]]
    if (more := len(found) - MOST_TOLD) > 0:
        told.append(Text(f"и ещё {more}", f"and {more} more"))
    return Text(
        f"с листом {sheet} того же стола расходится (здесь — там): ",
        f"differs from sheet {sheet} of the same table (here - there): ",
    ) + joined(told)
