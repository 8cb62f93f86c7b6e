"""Which sheet is it: the page marks tell the form, the code in two places tells the rest."""

import shutil
from functools import cache

import cv2
import numpy as np
import pytesseract
import zxingcpp

from recognize.locate import Marks, PageMap, rough_map
from recognize.photo import Grey
from templates import Box, Form, form_names, load_form
from templates.identity import Identity, IdentityError, decode

CODE_MARGIN_MM = 3.0


@cache
def known_forms() -> tuple[Form, ...]:
    """Every form in its newest version and usual number of rows."""
    return tuple(load_form(name, players) for name in form_names() for players in (2, 3, 4) if _exists(name, players))


def _exists(name: str, players: int) -> bool:
    try:
        load_form(name, players)
    except ValueError:
        return False
    return True


def form_of(marks: Marks) -> Form | None:
    """The form whose page marks these are: the one that most of them belong to."""
    counts = [(sum(m.id in marks.corners for m in form.markers), form) for form in known_forms()]
    best = max((count for count, _ in counts), default=0)
    likeliest = [form for count, form in counts if count == best]
    return likeliest[0] if best and len(likeliest) == 1 else None


def read_identity(grey: Grey, marks: Marks, form: Form) -> Identity | None:
    """What the sheet's code says; None where neither copy nor the clear text can be read with its check value right.

    Looked for where the marks say it must be, then in the whole picture, then as clear text by Tesseract.
    """
    rough = rough_map(marks, form)
    if rough is not None:
        for box in form.codes:
            identity = _from_codes(_code_crop(grey, rough, box))
            if identity:
                return identity
    for shrink in (2, 1):
        identity = _from_codes(cv2.resize(grey, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA))
        if identity:
            return identity
    return _from_text(grey, rough, form) if rough is not None else None


def _code_crop(grey: Grey, page_map: PageMap, box: Box) -> Grey:
    wide = box.inset(-CODE_MARGIN_MM)
    return page_map.flatten(grey, (wide.x, wide.y, wide.w, wide.h), 12.0)


def _from_codes(picture: Grey) -> Identity | None:
    found = {}
    for code in zxingcpp.read_barcodes(np.ascontiguousarray(picture), formats=zxingcpp.BarcodeFormat.QRCode):
        try:
            identity = decode(code.text)
        except IdentityError:
            continue
        found[identity.serial] = identity
    # Two different sheets in one picture: it is not for us to choose.
    return next(iter(found.values())) if len(found) == 1 else None


@cache
def tesseract_found() -> bool:
    """Whether Tesseract is installed; without it a sheet whose square codes are both lost must be named by a person."""
    return shutil.which("tesseract") is not None


def _from_text(grey: Grey, page_map: PageMap, form: Form) -> Identity | None:
    if not tesseract_found() or "code" not in form.slot:
        return None
    box = form.slot["code"]
    line = page_map.flatten(grey, (box.x, box.y, box.w, box.h), 16.0)
    try:
        text = pytesseract.image_to_string(line, config="--psm 6 -c load_system_dawg=0 -c load_freq_dawg=0")
    except (pytesseract.TesseractError, OSError):
        return None
    for candidate in text.splitlines():
        words = candidate.split()
        for start in range(len(words)):
            for stop in range(len(words), start, -1):
                try:
                    return decode("".join(words[start:stop]))
                except IdentityError:
                    continue
    return None
