"""What the tests share: a register of their own, the command line in one call, and the photographer."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from desk.cli import app
from desk.demo import PAGE_PX_PER_MM, fill_in
from desk.edge import language, run
from recognize.simulation.camera import photograph
from recognize.simulation.shots import draw_shot
from recognize.simulation.table import Slip
from sheets import Sheet


@pytest.fixture(autouse=True)
def _own_register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the register of printed sheets of whoever runs it, nor depends on his language."""
    monkeypatch.setenv("PULKA_HOME", str(tmp_path / "pulka-home"))
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG", "PULKA_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tesseract() -> None:
    """For tests that need Tesseract: skipped where it is not installed, failed there under PULKA_REQUIRE_TESSERACT."""
    if shutil.which("tesseract") is None:
        if os.environ.get("PULKA_REQUIRE_TESSERACT"):
            pytest.fail("Tesseract is not installed, and PULKA_REQUIRE_TESSERACT asks for it")
        pytest.skip("Tesseract is not installed")


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaints(self) -> list[str]:
        return self.err.splitlines()


@pytest.fixture
def pulka(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """The command line, run in this process: `pulka("read", path, "--json")`."""

    def command(*arguments: object) -> Ran:
        words = [str(argument) for argument in arguments]
        capfd.readouterr()
        code = run(app, words, language(words, {}))
        said = capfd.readouterr()
        return Ran(code, said.out, said.err)

    return command


@dataclass(frozen=True)
class Photographed:
    """A filled sheet and its photo: what the paper says in every field, the mistakes in it, and the JPEG."""

    sheet: Sheet
    values: Mapping[str, str]
    slips: tuple[Slip, ...]
    jpeg: bytes

    def save(self, path: Path) -> Path:
        path.write_bytes(self.jpeg)
        return path


Photographer = Callable[..., Photographed]


@pytest.fixture(scope="session")
def photographer(tmp_path_factory: pytest.TempPathFactory) -> Photographer:
    """Fills in and photographs a sheet: `photographer(seed, condition)`; the same call gives the same photo once more.

    A small game on a small picture, so that it is quick: eight deals at some 7 pixels a millimetre.
    """
    folder = tmp_path_factory.mktemp("photographer")
    taken: dict[tuple[Any, ...], Photographed] = {}

    def take(
        seed: int = 4,
        condition: str = "clean",
        *,
        players: int = 4,
        deals: int = 8,
        rows: int | None = None,
        mistakes: int = 0,
        corrections: int = 0,
        size: tuple[int, int] = (2400, 1800),
        torn_codes: bool = False,
    ) -> Photographed:
        key = (seed, condition, players, deals, rows, mistakes, corrections, size, torn_codes)
        if key not in taken:
            rng = np.random.default_rng(seed)
            filled = fill_in(
                folder / "blank.pdf",
                rng,
                "ru",
                players=players,
                deals=deals,
                rows=rows,
                mistakes=mistakes,
                corrections=corrections,
            )
            if torn_codes:
                for code in filled.sheet.form.codes:
                    x, y, w, h = (round(v * PAGE_PX_PER_MM) for v in (code.x, code.y, code.w, code.h))
                    filled.page[y : y + h, x : x + w // 2] = 255
            shot = replace(draw_shot(condition, rng), size=size)
            photo = photograph(filled.page, PAGE_PX_PER_MM, shot, rng)
            taken[key] = Photographed(filled.sheet, filled.values, filled.slips, photo.encoded)
        return taken[key]

    return take
