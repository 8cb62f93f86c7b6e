"""What a form is: page, marks, fields and printed lines as data, in millimetres. No drawing, no pixels."""

from templates.form import MARK_STEP, SEATS, Box, Field, Form, Marker, Rule, Slot
from templates.identity import (
    MARK_VALUES,
    Identity,
    IdentityError,
    MarkIdentity,
    decode,
    decode_as_read,
    encode,
    from_marks,
    mark_values,
    sheet_id,
)
from templates.layout import FormError, form_names, layout_json, load_form

__all__ = [
    "MARK_STEP",
    "MARK_VALUES",
    "SEATS",
    "Box",
    "Field",
    "Form",
    "FormError",
    "Identity",
    "IdentityError",
    "MarkIdentity",
    "Marker",
    "Rule",
    "Slot",
    "decode",
    "decode_as_read",
    "encode",
    "form_names",
    "from_marks",
    "layout_json",
    "load_form",
    "mark_values",
    "sheet_id",
]
