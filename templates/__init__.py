"""What a form is: page, marks, fields and printed lines as data, in millimetres. No drawing, no pixels."""

from templates.form import SEATS, Box, Field, Form, Marker, Rule, Slot
from templates.layout import FormError, form_names, layout_json, load_form

__all__ = [
    "SEATS",
    "Box",
    "Field",
    "Form",
    "FormError",
    "Marker",
    "Rule",
    "Slot",
    "form_names",
    "layout_json",
    "load_form",
]
