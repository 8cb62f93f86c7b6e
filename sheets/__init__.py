"""Ink on paper: a form and an event become a PDF, and each sheet says in a code what it is."""

from sheets.identity import Identity, IdentityError, decode, encode, sheet_id
from sheets.pdf import print_sheets
from sheets.sheet import Sheet, SheetError, make_sheets
from sheets.words import WORDS, Lang

__all__ = [
    "WORDS",
    "Identity",
    "IdentityError",
    "Lang",
    "Sheet",
    "SheetError",
    "decode",
    "encode",
    "make_sheets",
    "print_sheets",
    "sheet_id",
]
