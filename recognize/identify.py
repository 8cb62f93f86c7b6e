"""Which sheet is it: the page marks spell its number, the code in two places and the clear text say the rest."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import pytesseract
import zxingcpp

from recognize.locate import rough_map
from recognize.page import Marks, PageMap
from recognize.photo import Grey
from templates import (
    Box,
    Form,
    FormError,
    Identity,
    IdentityError,
    MarkIdentity,
    decode,
    decode_as_read,
    form_names,
    from_marks,
    load_form,
)

CODE_MARGIN_MM = 3.0

Known = Callable[[int], Identity | None]
"""Looks a sheet up by its number among those printed here; None for one that is not known."""


@dataclass(frozen=True, slots=True)
class Identified:
    """What is known of which sheet it is: all, or what the marks say, or nothing.

    `conflict` tells that the code and the marks speak of different sheets; then neither is believed.
    """

    identity: Identity | None = None
    by_marks: MarkIdentity | None = None
    conflict: bool = False


@cache
def known_forms() -> tuple[Form, ...]:
    """Every form in its newest version and usual number of rows."""
    found = []
    for name in form_names():
        for players in (2, 3, 4):
            try:
                found.append(load_form(name, players))
            except FormError:
                continue
    return tuple(found)


def identify(grey: Grey, marks: Marks, known: Known) -> Identified:
    """Which sheet the marks found belong to.

    Its square codes are looked for where the marks say they must be; where both are lost, the sheet is looked up by the
    number in its marks; where that is not known here, its code in clear text is read by Tesseract. A code with another
    number than the marks is another sheet's, lying beside this one.
    """
    by_marks = from_marks({place: mark.value for place, mark in marks.items()})
    serial = by_marks.serial if by_marks else None
    # The codes and marks of all forms have the same places, so any form serves to look for them.
    form = known_forms()[0]
    rough = rough_map(marks, form)
    if rough is None:
        return Identified(None, by_marks)
    codes = {code.serial: code for box in form.codes for code in _codes(_crop(grey, rough, box))}
    if not codes:
        codes = {code.serial: code for code in _codes(_shrunk(grey))}
    if serial is not None and serial in codes:
        return Identified(codes[serial], by_marks)
    if serial is None and len(codes) == 1:
        return Identified(next(iter(codes.values())))
    looked_up = known(serial) if serial is not None else None
    if looked_up is not None:
        return Identified(looked_up, by_marks)
    read = _from_text(grey, rough, form)
    if read is not None and serial in (None, read.serial):
        return Identified(read, by_marks)
    return Identified(None, by_marks, conflict=bool(codes) or read is not None)


def _crop(grey: Grey, page_map: PageMap, box: Box) -> Grey:
    return page_map.flatten(grey, page_map.cells(box.inset(-CODE_MARGIN_MM)), 12.0)


def _shrunk(grey: Grey) -> Grey:
    """Half the picture's size where it is large: quicker to look through, and as good."""
    if max(grey.shape) < 2000:
        return grey
    return cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def _codes(picture: Grey) -> list[Identity]:
    found = []
    for code in zxingcpp.read_barcodes(np.ascontiguousarray(picture), formats=zxingcpp.BarcodeFormat.QRCode):
        try:
            found.append(decode(code.text))
        except IdentityError:
            continue
    return found


@cache
def tesseract_found() -> bool:
    """Whether Tesseract is installed; without it a sheet whose codes and number are lost must be named by a person."""
    return shutil.which("tesseract") is not None


def _from_text(grey: Grey, page_map: PageMap, form: Form) -> Identity | None:
    if not tesseract_found():
        return None
    box = form.slot["code"].inset(-0.8)
    line = page_map.flatten(grey, (box.x, box.y, box.w, box.h), 16.0)
    try:
        text = pytesseract.image_to_string(line, config="--psm 6", timeout=20)
    except (pytesseract.TesseractError, RuntimeError, OSError):
        return None
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    # A long code takes two lines, and something of the heading above it may have been read along.
    for candidate in ["".join(lines[i:j]) for i in range(len(lines)) for j in range(len(lines), i, -1)]:
        try:
            return decode_as_read(candidate)
        except IdentityError:
            continue
    return None
