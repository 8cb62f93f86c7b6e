"""What a form is: page, marks, fields and printed lines as data, in millimetres. No drawing, no pixels."""

from templates.form import SEATS, Box, Field, Form, Marker, Rule, Slot
from templates.identity import Identity, IdentityError, decode, decode_as_read, encode, sheet_id
from templates.layout import FormError, form_names, layout_json, load_form

__all__ = [
    "SEATS",
    "Box",
    "Field",
    "Form",
    "FormError",
    "Identity",
    "IdentityError",
    "Marker",
    "Rule",
    "Slot",
    "decode",
    "decode_as_read",
    "encode",
    "form_names",
    "layout_json",
    "load_form",
    "sheet_id",
]
