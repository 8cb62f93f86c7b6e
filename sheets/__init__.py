"""Ink on paper: a form and an event become a PDF, and each sheet says in a code what it is."""

from sheets.pdf import print_sheets
from sheets.register import Entry, damaged, look_up, printed, register_path, remember
from sheets.sheet import Sheet, SheetError, make_sheets
from sheets.words import WORDS, Lang

__all__ = [
    "WORDS",
    "Entry",
    "Lang",
    "Sheet",
    "SheetError",
    "damaged",
    "look_up",
    "make_sheets",
    "print_sheets",
    "printed",
    "register_path",
    "remember",
]
