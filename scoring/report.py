"""What ``pulka settle --json`` and ``pulka check --json`` print: plain dicts, figures exact, in one language."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from scoring.audit import Audit, Mistake, Note, check, fine, remarks
from scoring.convention import Number, whole
from scoring.files import totals_to_dict
from scoring.game import Cell, Game, RuleError, violations
from scoring.ledger import Entry, ledger
from scoring.settlement import money, permitted, rounded, settle, working
from scoring.text import Text, figure


def settlement_report(
    game: Game, lang: str = "ru", method: str = "mean", stake: Number | None = None, *, by_hand: bool = False
) -> dict[str, Any]:
    """Ledger and settlement of a game as a dict in the format ``pulka-settlement/1``.

    ``method`` chooses the working shown in ``steps``: ``mountain``, ``mean`` or ``circles``. With a ``stake`` (in the
    smallest coin) the money is there too, with ``by_hand`` every table that Kodeks 4.2.12 permits. RuleError, with all
    violations, where the record breaks the rules.

    >>> from scoring.game import Deal
    >>> nine = Deal(1, "9", declarer="A", defence={"B": "pass", "C": "pass"})
    >>> settlement_report(Game("sochi", {"A": "", "B": "", "C": ""}, [nine]))["settlement"]
    {'A': '160/3', 'B': '-80/3', 'C': '-80/3'}
    """
    broken = violations(game)
    if broken:
        raise RuleError(broken)
    convention = game.rules
    lines: list[dict[str, Any]] = []
    noted: tuple[Note, ...] = ()
    if game.totals is not None:
        totals = game.totals
    else:
        book = ledger(game)
        noted = remarks(game, book.played_on(convention))
        totals = book.end.totals()
        lines = [
            {"deal": deal.deal, "entries": [entry_to_dict(entry, lang) for entry in deal.entries]}
            for deal in book.deals
        ]
    exact = settle(totals, convention)
    report: dict[str, Any] = {
        "format": "pulka-settlement/1",
        "convention": game.convention,
        "ledger": lines,
        "totals": totals_to_dict(totals, _figure),
        "settlement": _figures(exact),
        "rounded": rounded(exact),
        "steps": [
            {"text": step.text.in_(lang), "figures": _figures(step.figures)}
            for step in working(totals, convention, method, game.limit)
        ],
    }
    if noted:
        report["notes"] = [note.message.in_(lang) for note in noted]
    if by_hand:
        report["permitted"] = list(permitted(totals, convention))
    if stake is not None:
        report["money"] = _figures(money(exact, stake))
    return report


def check_report(game: Game, lang: str = "ru", unread: Collection[tuple[int, Cell]] = ()) -> dict[str, Any]:
    """The audit of a game's written entries as a dict in the format ``pulka-check/1``; ``unread`` as for ``check``."""
    return audit_to_dict(check(game, unread), game, lang)


def audit_to_dict(audit: Audit, game: Game, lang: str = "ru") -> dict[str, Any]:
    """An audit as plain data."""
    report: dict[str, Any] = {
        "format": "pulka-check/1",
        "convention": game.convention,
        "violations": [
            {"code": v.code, "deal": v.deal, "seat": v.seat, "field": v.field, "message": v.text.in_(lang)}
            for v in audit.violations
        ],
        "mistakes": [mistake_to_dict(mistake, lang) for mistake in audit.mistakes],
        "notes": [
            {
                "deal": note.deal,
                "code": note.code,
                "message": note.message.in_(lang),
                "changes": {_cell(cell): _figure(amount) for cell, amount in note.changes.items()},
            }
            for note in audit.notes
        ],
        "settlement": {
            "played": _figures(audit.played) if audit.played is not None else None,
            "written": _figures(audit.written) if audit.written is not None else None,
        },
        "difference": _figures(audit.difference),
        "result": None,
        "message": None,
    }
    if audit.result is not None:
        judged = audit.result
        report["result"] = {
            "verdict": judged.verdict,
            "differences": _figures(judged.differences),
            "message": judged.message.in_(lang),
        }
    if audit.empty:
        nothing = Text(
            "в записи нет ни одного написанного итога: проверять нечего",
            "no written totals in the record: nothing to check",
        )
        report["message"] = nothing.in_(lang)
    return report


def mistake_to_dict(mistake: Mistake, lang: str = "ru") -> dict[str, Any]:
    """One mistake as plain data: the keys of a reading's ``mistakes``, and what it did."""
    fined = fine(mistake)
    return {
        "deal": mistake.deal,
        "field": mistake.field,
        "column": mistake.column,
        "seat": mistake.seat,
        "on": mistake.on,
        "kind": mistake.kind,
        "written": mistake.written,
        "expected": _plain(mistake.expected),
        "message": mistake.message.in_(lang),
        "due": _plain(mistake.due),
        "corrected": mistake.corrected,
        "instead": _cell(mistake.instead) if mistake.instead is not None else None,
        "changes": {_cell(cell): _figure(amount) for cell, amount in mistake.changes.items()},
        "cost": _figures(mistake.cost),
        "fine": None
        if fined is None
        else {"cell": _cell(fined.cell), "amount": _figure(fined.amount), "message": fined.message.in_(lang)},
    }


def entry_to_dict(entry: Entry, lang: str = "ru") -> dict[str, Any]:
    """One entry of the ledger as plain data."""
    return {
        "column": entry.column,
        "seat": entry.seat,
        "on": entry.on,
        "add": _figure(entry.add),
        "total": _figure(entry.total),
        "why": entry.why.in_(lang),
    }


def _cell(cell: Cell) -> str:
    return ".".join(part for part in cell if part)


def _plain(value: Number) -> int | str:
    value = whole(value)
    return value if isinstance(value, int) else figure(value)


def _figure(value: Number) -> str:
    return figure(whole(value))


def _figures(values: Mapping[str, Number]) -> dict[str, str]:
    return {key: _figure(value) for key, value in values.items()}
