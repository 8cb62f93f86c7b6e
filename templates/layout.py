"""From a form's declaration (one TOML a form and version) to boxes: the only place where coordinates are made."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from templates.form import SEATS, Box, Field, FieldKind, Form, Marker, Rule, Slot


class FormError(ValueError):
    """No such form, or the form cannot be laid out as asked; `ru` and `en` say what to ask for instead."""

    def __init__(self, ru: str, en: str) -> None:
        """Keep the sentence in both languages."""
        super().__init__(en)
        self.ru, self.en = ru, en


def form_names() -> tuple[str, ...]:
    """The names of the forms there are, such as ("protocol",)."""
    return tuple(sorted({name for name, _, _ in _declared()}))


@cache
def load_form(name: str, players: int, rows: int | None = None, version: int | None = None) -> Form:
    """The form `name` for `players`, with `rows` deals (default: as declared), in its newest or the given version.

    Raises FormError where there is no such form or the rows do not fit the page.
    """
    versions = {v: path for n, p, v in _declared() if (n, p) == (name, players) for path in [f"{n}-{p}-v{v}.toml"]}
    if not versions:
        known = sorted({(n, p) for n, p, _ in _declared()})
        raise FormError(
            f"нет бланка «{name}» на {players} игроков; есть {', '.join(f'{n} на {p}' for n, p in known)}",
            f"there is no form {name!r} for {players} players; there is {', '.join(f'{n} for {p}' for n, p in known)}",
        )
    version = max(versions) if version is None else version
    if version not in versions:
        raise FormError(
            f"у бланка «{name}» на {players} нет версии {version}; есть {sorted(versions)}",
            f"form {name!r} for {players} has no version {version}; there is {sorted(versions)}",
        )
    spec = tomllib.loads((files("templates") / "forms" / versions[version]).read_text(encoding="utf-8"))
    return _lay_out(spec, rows)


def layout_json(form: Form) -> dict[str, Any]:
    """The form's geometry as plain data: what `pulka layout` prints. Lengths in millimetres, rounded to 1/1000."""

    def box(b: Box) -> list[float]:
        return [round(v, 3) for v in (b.x, b.y, b.w, b.h)]

    width, height = form.page
    return {
        "form": form.name,
        "version": form.version,
        "players": form.players,
        "rows": form.rows,
        "page": {"width": width, "height": height},
        "markers": {
            "dictionary": form.dictionary,
            "marks": [{"place": m.place, "box": box(m.box)} for m in form.markers],
        },
        "codes": [box(code) for code in form.codes],
        "fields": [
            {
                "id": f.id,
                "kind": f.kind,
                "deal": f.deal,
                "column": f.column,
                "seat": f.seat,
                "on": f.on,
                "choice": f.choice,
                "box": box(f.box),
                "turn": f.turn,
            }
            for f in form.fields
        ],
    }


def _declared() -> Iterator[tuple[str, int, int]]:
    """(name, players, version) of every declared form, from the file names."""
    for path in (files("templates") / "forms").iterdir():
        if path.name.endswith(".toml"):
            name, players, version = path.name.removesuffix(".toml").rsplit("-", 2)
            yield name, int(players), int(version.removeprefix("v"))


def _lay_out(spec: dict[str, Any], rows: int | None) -> Form:
    page, table = spec["page"], spec["table"]
    players: int = spec["players"]
    seats = SEATS[:players]
    rows = table["rows"] if rows is None else rows

    # The cells begin a little inside the middle of the frame's line: it covers no more of them than a heavy rule does.
    frame_over = (table["frame"] - table["heavy"]) / 2
    left, top = table["left"] + frame_over, table["top"] + frame_over
    head = sum(table["heading"])
    room = table["bottom"] - frame_over - top - head
    most = int(room / table["row_least"] + 1e-9) - 1
    if not 1 <= rows <= most:
        raise FormError(
            f"в бланк «{spec['name']}» на {players} не входит строк: {rows}; входит от 1 до {most}",
            f"{rows} rows do not fit form {spec['name']!r} for {players}: 1 to {most} do",
        )
    row_height = min(table["row_most"], room / (rows + 1))
    first_row = top + head

    def row_top(deal: int) -> float:
        return first_row + row_height * deal

    grid = Box(left, top, table["right"] - frame_over - left, row_top(rows + 1) - top)
    columns = _columns(spec["columns"], seats, grid)
    fields: list[Field] = []
    slots = [Slot(name, Box(*box)) for name, box in spec["slots"].items()]
    name_line = top + table["heading"][0]
    for block in columns:
        printed = block["cells"][0]["kind"] == "printed"  # such a column has one heading, as high as the others' two
        heading = Box(block["x"], top, block["w"], head if printed else table["heading"][0])
        if block["head"].startswith("name."):
            letter, field = _lettered("text", "name", block["head"][-1], heading, table["letter"], table["inset"])
            slots.append(letter)
            fields.append(field)
        else:
            slots.append(Slot(block["head"], heading))
        for cell in block["cells"]:
            if cell["sub"]:
                slots.append(Slot(cell["sub"], Box(cell["x"], name_line, cell["w"], table["heading"][1])))
    for deal in range(rows + 1):
        for block in columns:
            for cell in block["cells"]:
                place = Box(cell["x"], row_top(deal), cell["w"], row_height)
                if cell["kind"] == "printed":
                    slots.append(Slot(f"{cell['column']}.{deal}", place))
                elif deal or cell["carried"]:
                    fields.append(_field(cell, deal, place, table))
    x, y, w, h = spec["result"]["box"]
    for i, seat in enumerate(seats):
        box = Box(x + w * i / players, y, w / players, h)
        letter, field = _lettered("number", "result", seat, box, spec["result"]["letter"], table["inset"])
        slots.append(letter)
        fields.append(field)
    return Form(
        name=spec["name"],
        version=spec["version"],
        players=players,
        rows=rows,
        page=(page["width"], page["height"]),
        dictionary=spec["markers"]["dictionary"],
        markers=_markers(spec["markers"], page),
        codes=tuple(Box(*box) for box in spec["codes"]),
        frame=grid.inset(-frame_over),
        rules=_rules(columns, grid, table, row_top, rows),
        fields=tuple(fields),
        slots=tuple(slots),
    )


def _field(cell: dict[str, Any], deal: int, place: Box, table: dict[str, Any]) -> Field:
    if cell["kind"] == "mark":
        side = table["mark"]
        (cx, cy) = place.centre
        box = Box(cx - side / 2, cy - side / 2, side, side)
    else:
        box = place.inset(table["inset"])
    named = [part for part in (cell["column"], cell["seat"], cell["on"], cell["choice"]) if part]
    return Field(
        ".".join([f"d{deal:02d}", *named]),
        cell["kind"],
        deal,
        cell["column"],
        cell["seat"],
        cell["on"],
        cell["choice"],
        box,
    )


def _lettered(kind: FieldKind, column: str, seat: str, place: Box, letter: float, inset: float) -> tuple[Slot, Field]:
    """A place that begins with the seat's letter: the slot of the letter, and the field to write in after it."""
    box = Box(place.x + letter, place.y, place.w - letter, place.h).inset(inset)
    slot = Slot(f"{column}.{seat}", Box(place.x, place.y, letter, place.h))
    return slot, Field(f"{column}.{seat}", kind, None, column, seat, None, None, box)


def _columns(specs: list[dict[str, Any]], seats: str, grid: Box) -> list[dict[str, Any]]:
    """The blocks of the table from left to right, each with its cells; what is left of the width goes to numbers."""
    blocks: list[dict[str, Any]] = []
    for spec in specs:
        if spec["name"] == "totals":
            for seat in seats:
                cells = [_cell(spec, "pool", seat), _cell(spec, "mountain", seat)]
                cells += [_cell(spec, "whists", seat, on=other) for other in seats if other != seat]
                blocks.append({"head": f"name.{seat}", "cells": cells, "margin": 0.0})
            continue
        if "choices" in spec:
            cells = [_cell(spec, spec["name"], None, choice=choice) for choice in spec["choices"]]
        elif spec["kind"] == "printed":
            cells = [_cell(spec, spec["name"], None)]
        else:
            cells = [_cell(spec, spec["name"], seat) for seat in seats]
        blocks.append({"head": f"head.{spec['name']}", "cells": cells, "margin": spec.get("margin", 0.0)})
    all_cells = [cell for block in blocks for cell in block["cells"]]
    fixed = sum(cell["w"] for cell in all_cells if cell["w"]) + sum(2 * block["margin"] for block in blocks)
    share = (grid.w - fixed) / sum(1 for cell in all_cells if not cell["w"])
    x = grid.x
    for block in blocks:
        block["x"] = x
        x += block["margin"]
        for cell in block["cells"]:
            cell["w"] = cell["w"] or share
            cell["x"] = x
            x += cell["w"]
        x += block["margin"]
        block["w"] = x - block["x"]
    return blocks


def _cell(
    spec: dict[str, Any], column: str, seat: str | None, on: str | None = None, choice: str | None = None
) -> dict[str, Any]:
    named = ".".join(part for part in (seat, on, choice) if part)
    return {
        "column": column,
        "kind": spec["kind"],
        "seat": seat,
        "on": on,
        "choice": choice,
        "w": spec.get("width", 0.0),
        "sub": f"sub.{column}.{named}" if named else "",
        "carried": spec.get("carried", False),
    }


def _markers(spec: dict[str, Any], page: dict[str, Any]) -> tuple[Marker, ...]:
    """The page marks clockwise from the top left corner."""
    size, edge = spec["size"], spec["edge"]
    right, bottom = page["width"] - edge - size, page["height"] - edge - size
    across = [edge + (right - edge) * i / (spec["across"] - 1) for i in range(spec["across"])]
    down = [edge + (bottom - edge) * i / (spec["down"] - 1) for i in range(spec["down"])]
    places = [(x, edge) for x in across] + [(right, y) for y in down[1:]]
    places += [(x, bottom) for x in reversed(across[:-1])] + [(edge, y) for y in reversed(down[1:-1])]
    return tuple(Marker(i, Box(x, y, size, size)) for i, (x, y) in enumerate(places))


def _rules(
    columns: list[dict[str, Any]], grid: Box, table: dict[str, Any], row_top: Any, rows: int
) -> tuple[Rule, ...]:
    name_line = grid.y + table["heading"][0]
    frame = grid.inset((table["heavy"] - table["frame"]) / 2)
    left, right, top, bottom = frame.x, frame.x + frame.w, frame.y, frame.y + frame.h
    rules = [
        Rule(True, top, left, right, table["frame"], "frame"),
        Rule(True, bottom, left, right, table["frame"], "frame"),
        Rule(False, left, top, bottom, table["frame"], "frame"),
        Rule(False, right, top, bottom, table["frame"], "frame"),
    ]
    first_block = next(block for block in columns if block["head"] not in ("head.number", "head.dealer"))
    rules.append(Rule(True, name_line, first_block["x"], right, table["light"], "light"))
    for deal in range(rows + 1):
        # The line above the carry-over row, the one below it, and every sixth after that are heavy.
        heavy = deal < 2 or (deal - 1) % 6 == 0
        width = table["heavy"] if heavy else table["light"]
        rules.append(Rule(True, row_top(deal), left, right, width, "heavy" if heavy else "light"))
    for block in columns:
        if block["x"] > grid.x:
            rules.append(Rule(False, block["x"], top, bottom, table["heavy"], "heavy"))
        if block["cells"][0]["kind"] == "number":
            for cell in block["cells"][1:]:
                rules.append(Rule(False, cell["x"], name_line, bottom, table["light"], "light"))
    return tuple(rules)
