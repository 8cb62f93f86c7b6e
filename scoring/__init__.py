"""The rules of preferans: what a deal is worth, how a game settles, and what was written wrong.

>>> from scoring import Deal, Game, ledger, settle
>>> deals = [
...     Deal(1, "6", declarer="A", defence={"B": "whist", "C": "pass"}, tricks={"A": 6, "B": 4}),
...     Deal(2, "misere", declarer="C", tricks={"C": 1}),
... ]
>>> game = Game("sochi", {"A": "Ivanov", "B": "Petrov", "C": "Sidorov"}, deals, pool=10)
>>> totals = ledger(game).end.totals()
>>> totals.pool["A"], totals.mountain["C"], totals.whists["B"]["A"]
(2, 10, 8)
>>> {seat: str(whists) for seat, whists in settle(totals, game.rules).items()}
{'A': '116/3', 'B': '104/3', 'C': '-220/3'}
"""

from scoring.audit import Mistake, check
from scoring.convention import Convention, convention_names, load_convention
from scoring.game import Deal, Game, Totals, Violation, Written, violations
from scoring.ledger import Entry, ledger, post
from scoring.settlement import settle

__all__ = [
    "Convention",
    "Deal",
    "Entry",
    "Game",
    "Mistake",
    "Totals",
    "Violation",
    "Written",
    "check",
    "convention_names",
    "ledger",
    "load_convention",
    "post",
    "settle",
    "violations",
]
