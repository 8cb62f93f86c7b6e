"""What weighing a sheet by the rules costs, and how it grows with the number of deals.

    python -m benchmarks.deciding --out benchmarks/figures/deciding.txt

Games are played and written down by `recognize.simulation.table`, mistakes and all; every field reads with the doubt
that the number reader has on mild photos (one in fifty is wrong). Milliseconds of the processor, the median over the
sheets.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from recognize.decide import decide
from recognize.ink import Ink, mark_ink, number_ink
from recognize.search import Sheet
from recognize.simulation.table import CONVENTIONS, play, write_down
from scoring.convention import load_convention
from templates import Form, load_form

DEALS = (12, 24, 48, 96, 200)
BARE = 0.95
"""The share of empty boxes that the reader takes for bare paper: on simulated sheets it was that of the numbers' boxes,
and more of the marks'."""


def long_form(players: int, rows: int) -> Form:
    """The protocol with so many rows, on a page of no size that could be printed."""
    form = load_form("protocol", players)
    beside = tuple(field for field in form.fields if not field.deal)
    row = [field for field in form.fields if field.deal == 1]
    rest = tuple(
        replace(field, id=f"d{deal:02d}" + field.id[3:], deal=deal) for deal in range(1, rows + 1) for field in row
    )
    return replace(form, rows=rows, fields=beside + rest)


def doubtful_ink(form: Form, values: dict[str, str], rng: np.random.Generator) -> dict[str, Ink]:
    """Ink that mostly says what was written, with a second value beside, and now and then another value.

    As in the reader, empty boxes share one ink, but for the twentieth of them that is not bare.
    """
    ink: dict[str, Ink] = {}
    bare = {"mark": mark_ink(1e-6, 0.0), "number": number_ink([("", 0.9999)], lambda _: 1e-8, bare=True)}
    for field in form.fields:
        value = values.get(field.id, "")
        if not value and field.kind in bare and rng.random() < BARE:
            ink[field.id] = bare[field.kind]
        elif field.kind == "mark":
            ink[field.id] = mark_ink(0.9999 if value else 1e-6, 0.0)
        elif field.kind == "number" and not value:
            ink[field.id] = number_ink([("", 0.9999)], lambda _: 1e-8)
        elif field.kind == "number":
            other = value[:-1] + str(rng.integers(10)) if value[-1].isdigit() else "1"
            sure = float(rng.choice([0.999, 0.95, 0.3], p=[0.85, 0.13, 0.02]))
            shares = {value: sure, other: 1 - sure - 1e-4, "": 1e-5}
            ink[field.id] = number_ink(shares.items(), lambda text, shares=shares: shares.get(text, 1e-7))
    return ink


def milliseconds(deals: int, sheets: int) -> float:
    """The median over sheets of so many deals."""
    took = []
    for seed in range(sheets):
        rng = np.random.default_rng([seed, deals])
        players = 3 + seed % 2
        convention = CONVENTIONS[seed % 4]
        # A pool that never closes, so that the game goes on as long as it should.
        game = play(convention, players, deals, rng, pool=None)
        values, _ = write_down(game, rng, int(rng.integers(4)))
        form = long_form(players, deals)
        sheet = Sheet(form, convention, load_convention(convention), {}, None, dict(game.players))
        ink = doubtful_ink(form, values, rng)
        begun = time.process_time()
        decide(sheet, ink)
        took.append(1000 * (time.process_time() - begun))
    return float(np.median(took))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheets", type=int, default=24, help="sheets of each length")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = ["deals  ms a sheet  ms a deal"]
    for deals in DEALS:
        ms = milliseconds(deals, args.sheets)
        lines.append(f"{deals:5d}  {ms:10.1f}  {ms / deals:9.2f}")
        print(lines[-1], flush=True)
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
