"""What varies between one photograph of a sheet and another, and how often: calibrated on 400 real phone photos.

Measured there: tilt 6-47°, median 22; 6-12 pixels a millimetre, about 4 after a messenger; darkest over brightest part
of the page 0.29-0.70 in linear light, median 0.55, in shadows down to 0.06; blur 0.5-1.7 px; white of the paper
142-232; noise 0.2-1 grey level; JPEG quality 30-96.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from recognize.simulation.bend import Bend, BendKind
from recognize.simulation.desks import DeskKind

Side = Literal["left", "top", "right", "bottom"]
Turn = Literal[0, 90, 180, 270]


@dataclass(frozen=True, slots=True)
class Shadow:
    """A cast shadow: everything on the `angle` side (degrees on the desk) of a line through `at`, millimetres on the
    page, or with `width` a band of that width. `left` is the share of light left inside, `soft` the edge in mm."""

    at: tuple[float, float]
    angle: float
    left: float
    soft: float
    width: float | None = None


@dataclass(frozen=True, slots=True)
class Occluder:
    """A thing lying on or held over the page: a thumb or a pen from outside pointing to `tip`, a card, a cup or a ruler
    longer than the page with its middle at `tip` (millimetres on the page); `angle` is where it comes from, `size` its
    width in mm."""

    kind: Literal["thumb", "pen", "card", "cup", "ruler"]
    tip: tuple[float, float]
    angle: float
    size: float


@dataclass(frozen=True, slots=True)
class Shot:
    """Everything that varies between one photograph of a sheet and another.

    Angles are degrees, lengths on the paper millimetres, blurs pixels of the full picture. `tilt` is between the
    line of sight and the upright on the sheet, `azimuth` where the photographer stands (90: at the lower edge),
    `roll` how crooked the phone is held, `turn` by how many degrees clockwise the sheet stands in the picture.
    `fill` is the share of the frame, in its tighter direction, that the sheet's outline takes; `cut` moves the sheet
    out of the frame until so many mm are gone at the sides named. `shrink` is the long side in pixels after a
    messenger, with `jpeg` its quality (the camera's own is then 90). `print_stretch` is by how much the print is wider
    than it should be, its height left alone. `toner` below 1, and `copied`, ask whoever makes the page to pass the
    blank print through `as_printed` before anything is written on it; the camera changes nothing by them.
    """

    size: tuple[int, int] = (4032, 3024)
    tilt: float = 0.0
    azimuth: float = 90.0
    roll: float = 0.0
    turn: Turn = 0
    fill: float = 0.9
    offset: tuple[float, float] = (0.0, 0.0)
    cut: tuple[tuple[Side, float], ...] = ()
    distortion: float = 0.0
    bend: Bend = Bend()
    print_scale: float = 1.0
    print_shift: tuple[float, float] = (0.0, 0.0)
    scribbles: int = 0
    desk: DeskKind | Literal["any"] = "any"
    cluttered: bool = False
    light: float = 0.7
    light_from: float = 240.0
    shadows: tuple[Shadow, ...] = ()
    lamp: tuple[float, float, float] = (1.0, 1.0, 1.0)
    glare: tuple[float, float, float, float] | None = None
    white: float = 200.0
    contrast: float = 0.2
    defocus: float = 0.7
    motion: float = 0.0
    motion_angle: float = 0.0
    noise: float = 0.5
    sharpen: float = 0.4
    jpeg: int = 90
    shrink: int | None = None
    occluders: tuple[Occluder, ...] = ()
    toner: float = 1.0
    copied: bool = False
    print_stretch: float = 1.0


_PAGE = (297.0, 210.0)
"""Shots are drawn for an A4 sheet lying crosswise, which every form here is."""
_CORNERS = ((0.0, 0.0, 225.0), (1.0, 0.0, 315.0), (1.0, 1.0, 45.0), (0.0, 1.0, 135.0))
"""The sheet's corners as shares of its size, and the direction that leads outwards there."""
_SIDES: tuple[Side, ...] = ("left", "top", "right", "bottom")


def draw_shot(condition: str, rng: np.random.Generator) -> Shot:
    """A shot of a condition, by name one of CONDITIONS, or of two at once: "tilt+shadow".

    `mild` is the middle of what people send, `hard` its bad end, `messenger` a mild one shrunk; each of the others is
    a decent shot with one fault. Raises ValueError for a name not known.
    """
    shot = _decent(rng)
    for name in condition.split("+"):
        if name not in _FAMILIES:
            raise ValueError(f"no condition {name!r}; there are {', '.join(CONDITIONS)}")
        before, shot = shot, _FAMILIES[name](shot, rng)
        # What one fault puts over the sheet, cuts off or darkens, another does not undo.
        shot = replace(
            shot,
            occluders=before.occluders + (shot.occluders if shot.occluders != before.occluders else ()),
            cut=before.cut + (shot.cut if shot.cut != before.cut else ()),
            shadows=before.shadows + (shot.shadows if shot.shadows != before.shadows else ()),
        )
    return shot


def _decent(rng: np.random.Generator) -> Shot:
    """The middle of the measured ranges: whole sheet in view, gently bent, no shadow with an edge."""
    kinds: tuple[BendKind, ...] = ("flat", "arch", "edge", "wave", "roll")
    warm = float(rng.normal(0, 0.10))
    return Shot(
        tilt=float(rng.triangular(6, 15, 30)),
        azimuth=_around(rng, 90, 45) if rng.random() < 0.75 else float(rng.uniform(0, 360)),
        roll=float(rng.normal(0, 3)),
        turn=0 if rng.random() < 0.8 else 180,
        fill=float(rng.uniform(0.74, 0.96)),
        distortion=float(rng.uniform(-0.008, 0.008)),
        bend=_bend(kinds[rng.integers(len(kinds))], 0.5, 6, rng),
        print_scale=float(rng.choice([1.0, 1.0, 0.97, rng.uniform(0.96, 1.005)])),
        print_shift=(float(rng.normal(0, 0.7)), float(rng.normal(0, 0.7))),
        light=float(rng.triangular(0.32, 0.46, 0.63)),
        light_from=float(rng.uniform(0, 360)),
        lamp=(float(np.exp(-warm)), 1.0, float(np.exp(warm))),
        white=float(rng.triangular(155, 195, 225)),
        contrast=float(rng.uniform(0.0, 0.3)),
        defocus=float(rng.uniform(0.5, 1.1)),
        motion=float(rng.choice([0.0, 0.0, rng.uniform(0, 2)])),
        motion_angle=float(rng.uniform(0, 180)),
        noise=float(rng.uniform(0.2, 0.8)),
        sharpen=float(rng.uniform(0.1, 0.7)),
        jpeg=int(rng.integers(82, 97)),
    )


def _around(rng: np.random.Generator, middle: float, spread: float) -> float:
    return float((middle + rng.uniform(-spread, spread)) % 360)


def _bend(kind: BendKind, least: float, most: float, rng: np.random.Generator) -> Bend:
    direction = float(rng.choice([0, 90, 180, 270]) + rng.normal(0, 12) if rng.random() < 0.6 else rng.uniform(0, 360))
    place = float(rng.uniform(0.35, 0.65)) if kind != "edge" else float(rng.uniform(0.2, 0.7))
    return Bend(kind, float(rng.uniform(least, most)), direction, place)


def _curl(least: float, most: float) -> Callable[[Shot, np.random.Generator], Shot]:
    kinds: tuple[BendKind, ...] = ("arch", "edge", "wave", "roll")
    return lambda shot, rng: replace(shot, bend=_bend(kinds[rng.integers(len(kinds))], least, most, rng))


def _clean(shot: Shot, rng: np.random.Generator) -> Shot:
    return replace(shot, tilt=float(rng.uniform(0, 10)), bend=Bend(), light=0.8, motion=0.0, turn=0)


def _tilted(shot: Shot, rng: np.random.Generator) -> Shot:
    return replace(shot, tilt=float(rng.uniform(28, 47)), azimuth=float(rng.uniform(0, 360)))


def _turned(shot: Shot, rng: np.random.Generator) -> Shot:
    turns: tuple[Turn, ...] = (90, 180, 270)
    turn = turns[rng.integers(3)]
    upright = turn != 180 and rng.random() < 0.7
    return replace(shot, turn=turn, size=(3024, 4032) if upright else (4032, 3024))


def _corners_covered(count: int) -> Callable[[Shot, np.random.Generator], Shot]:
    def cover(shot: Shot, rng: np.random.Generator) -> Shot:
        things = []
        for at in rng.choice(4, count, replace=False):
            x, y, outwards = _CORNERS[int(at)]
            reach = rng.uniform(8, 22, 2)
            tip = np.abs(np.array([x, y]) * _PAGE - reach)
            kinds: tuple[Literal["thumb", "card", "cup"], ...] = ("thumb", "card", "cup")
            kind = kinds[rng.integers(3)]
            size = {"thumb": rng.uniform(16, 24), "card": 58.0, "cup": rng.uniform(50, 80)}[kind]
            if kind != "thumb":
                # The middle of a card or cup lies off the sheet; it only reaches over the corner.
                tip += 18 * (2 * np.array([x, y]) - 1)
            things.append(Occluder(kind, (float(tip[0]), float(tip[1])), _around(rng, outwards, 25), float(size)))
        return replace(shot, occluders=tuple(things))

    return cover


def _corner_cut(shot: Shot, rng: np.random.Generator) -> Shot:
    across: Side = "left" if rng.random() < 0.5 else "right"
    down: Side = "top" if rng.random() < 0.5 else "bottom"
    # A crooked picture loses the corner, not the two whole sides.
    return replace(
        shot,
        roll=float(rng.choice([-1, 1]) * rng.uniform(5, 9)),
        cut=((across, float(rng.uniform(0, 8))), (down, float(rng.uniform(0, 8)))),
    )


def _side_cut(least: float, most: float) -> Callable[[Shot, np.random.Generator], Shot]:
    return lambda shot, rng: replace(shot, cut=((_SIDES[rng.integers(4)], float(rng.uniform(least, most))),))


def _shadow(rng: np.random.Generator, left: tuple[float, float], soft: tuple[float, float]) -> Shadow:
    at = (float(rng.uniform(0.2, 0.8) * _PAGE[0]), float(rng.uniform(0.2, 0.8) * _PAGE[1]))
    width = float(rng.uniform(40, 140)) if rng.random() < 0.5 else None
    return Shadow(at, float(rng.uniform(0, 360)), float(rng.uniform(*left)), float(rng.uniform(*soft)), width)


def _shadowed(shot: Shot, rng: np.random.Generator) -> Shot:
    shadows = [_shadow(rng, (0.06, 0.5), (1, 4) if rng.random() < 0.6 else (6, 40))]
    if rng.random() < 0.3:
        shadows.append(_shadow(rng, (0.3, 0.7), (3, 20)))
    return replace(shot, shadows=tuple(shadows))


def _blurred(shot: Shot, rng: np.random.Generator) -> Shot:
    if rng.random() < 0.5:
        return replace(shot, defocus=float(rng.uniform(1.7, 5.0)))
    return replace(shot, motion=float(rng.uniform(6, 40)))


def _dim(shot: Shot, rng: np.random.Generator) -> Shot:
    return replace(
        shot,
        white=float(rng.uniform(70, 142)),
        noise=float(rng.uniform(1.5, 6)),
        contrast=0.1,
        light=float(rng.uniform(0.29, 0.5)),
        jpeg=int(rng.integers(60, 90)),
    )


def _messenger(shot: Shot, rng: np.random.Generator) -> Shot:
    shrink = (1280, 1600, int(rng.integers(960, 1280)))[rng.choice(3, p=[0.6, 0.28, 0.12])]
    return replace(shot, shrink=shrink, jpeg=int(rng.integers(40, 80)))


def _scribbled(shot: Shot, rng: np.random.Generator) -> Shot:
    return replace(shot, scribbles=int(rng.integers(2, 9)))


def _thumb(shot: Shot, rng: np.random.Generator) -> Shot:
    side = _SIDES[rng.integers(4)]
    along = float(rng.uniform(0.2, 0.8))
    reach = float(rng.uniform(8, 22))
    x, y, outwards = {
        "left": (reach, along * _PAGE[1], 180.0),
        "right": (_PAGE[0] - reach, along * _PAGE[1], 0.0),
        "top": (along * _PAGE[0], reach, 270.0),
        "bottom": (along * _PAGE[0], _PAGE[1] - reach, 90.0),
    }[side]
    thumb = Occluder("thumb", (x, y), _around(rng, outwards, 20), float(rng.uniform(16, 24)))
    return replace(shot, occluders=(thumb,))


def _ruler(shot: Shot, rng: np.random.Generator) -> Shot:
    x, y = rng.uniform([0.15, 0.3], [0.9, 0.7]) * np.array(_PAGE)
    angle = 90 * float(rng.integers(2)) + float(rng.normal(0, 5))
    return replace(shot, occluders=(Occluder("ruler", (float(x), float(y)), angle, float(rng.uniform(5, 20))),))


def _glaring(shot: Shot, rng: np.random.Generator) -> Shot:
    x, y = rng.uniform(0.1, 0.9, 2) * np.array(_PAGE)
    return replace(shot, glare=(float(x), float(y), float(rng.uniform(25, 60)), float(rng.uniform(0.15, 0.7))))


def _folded(shot: Shot, rng: np.random.Generator) -> Shot:
    # Folded once across the middle or, for an envelope, at a third.
    direction = float(rng.choice([0, 90]) + rng.normal(0, 1))
    place = float(rng.choice([0.5, 1 / 3, 2 / 3]) + rng.normal(0, 0.01))
    height = float(rng.choice([-1, 1]) * rng.uniform(3, 20))
    return replace(shot, bend=Bend("fold", height, direction, place))


def _folded_in_four(shot: Shot, rng: np.random.Generator) -> Shot:
    """Folded twice, the second time across the first, to fit a pocket, and flattened again."""
    shot = _folded(shot, rng)
    second = float(rng.choice([-1, 1]) * rng.uniform(3, 20))
    return replace(shot, bend=replace(shot.bend, second=second, second_place=float(rng.normal(0.5, 0.01))))


def _misprinted(shot: Shot, rng: np.random.Generator) -> Shot:
    """Printed to fit other paper, or drawn in unevenly: 93 to 103 %, a little crooked, up to 2 % wider than high."""
    return replace(
        shot,
        print_scale=float(rng.uniform(0.93, 1.03)),
        print_stretch=float(rng.uniform(0.98, 1.02)),
        print_shift=(float(rng.uniform(-2, 2)), float(rng.uniform(-2, 2))),
    )


_MARK_MIDDLES = (11.0, 79.75, 148.5, 217.25, 286.0)
"""Across the sheet, where the page marks of the two long sides have their middles; those of the short sides lie halfway
down."""


def _marks_lost(shot: Shot, rng: np.random.Generator) -> Shot:
    """A third of the page marks under coins and crumbs."""
    places = [(x, y) for x in _MARK_MIDDLES for y in (11.0, 199.0)] + [(11.0, 105.0), (286.0, 105.0)]
    lost = [places[int(i)] for i in rng.choice(len(places), 4, replace=False)]
    return replace(shot, occluders=tuple(Occluder("cup", place, 0.0, float(rng.uniform(12, 20))) for place in lost))


def _lamplit(shot: Shot, rng: np.random.Generator) -> Shot:
    """One warm lamp in a dark room, near the sheet."""
    warm = float(rng.uniform(0.25, 0.6))
    return replace(
        shot,
        lamp=(float(np.exp(-warm)), 1.0, float(np.exp(warm))),
        light=float(rng.uniform(0.15, 0.32)),
        white=float(rng.uniform(120, 190)),
        noise=float(rng.uniform(0.8, 2.5)),
    )


def _on(desk: DeskKind) -> Callable[[Shot, np.random.Generator], Shot]:
    return lambda shot, rng: replace(shot, desk=desk)


def _combined(shot: Shot, rng: np.random.Generator) -> Shot:
    """Bent, tilted, shadowed and with a corner covered, all at once."""
    shot = _curl(4, 12)(_tilted(shot, rng), rng)
    return _corners_covered(1)(_shadowed(replace(shot, tilt=shot.tilt * 0.8), rng), rng)


def _hard(shot: Shot, rng: np.random.Generator) -> Shot:
    """The bad end of the measured ranges in most respects at once, as careless people send it."""
    shot = _curl(4, 14)(shot, rng)
    shot = replace(
        shot,
        tilt=float(rng.uniform(18, 45)),
        roll=float(rng.normal(0, 6)),
        fill=float(rng.uniform(0.62, 0.9)),
        light=float(rng.uniform(0.29, 0.5)),
        white=float(rng.uniform(142, 190)),
        defocus=float(rng.uniform(1.0, 1.9)),
        motion=float(rng.choice([0.0, rng.uniform(1, 5)])),
        noise=float(rng.uniform(0.7, 1.6)),
        sharpen=float(rng.uniform(0.3, 1.2)),
        jpeg=int(rng.integers(45, 82)),
        cluttered=bool(rng.random() < 0.4),
    )
    if rng.random() < 0.6:
        shot = replace(shot, shadows=(_shadow(rng, (0.2, 0.6), (1, 10)),))
    if rng.random() < 0.3:
        shot = _thumb(shot, rng)
    if rng.random() < 0.2:
        shot = _glaring(shot, rng)
    return shot


_FAMILIES: dict[str, Callable[[Shot, np.random.Generator], Shot]] = {
    "mild": lambda shot, rng: shot,
    "messenger": _messenger,
    "hard": _hard,
    "clean": _clean,
    "tilt": _tilted,
    "turned": _turned,
    "curl": _curl(4, 8),
    "strong-curl": _curl(12, 22),
    "one-corner": _corners_covered(1),
    "two-corners": _corners_covered(2),
    "corner-cut": _corner_cut,
    "side-cut": _side_cut(2, 14),
    "table-cut": _side_cut(28, 58),
    "shadow": _shadowed,
    "blur": _blurred,
    "dim": _dim,
    "scribble": _scribbled,
    "combined": _combined,
    "thumb": _thumb,
    "ruler": _ruler,
    "glare": _glaring,
    "fold": _folded,
    "folded-in-four": _folded_in_four,
    # The print itself is worn or copied, before anyone writes: see as_printed.
    "faint-print": lambda shot, rng: replace(shot, toner=float(rng.uniform(0.25, 0.6))),
    "photocopy": lambda shot, rng: replace(shot, copied=True),
    "misprint": _misprinted,
    "lost-marks": _marks_lost,
    "any-turn": lambda shot, rng: replace(shot, roll=float(rng.uniform(-180, 180)), turn=0),
    "lamp": _lamplit,
    "white-desk": _on("white"),
    "clutter": lambda shot, rng: replace(shot, cluttered=True),
}

CONDITIONS: tuple[str, ...] = tuple(_FAMILIES)
"""The names of the conditions that draw_shot knows."""

_ALIKE = (
    {"curl", "strong-curl", "fold", "folded-in-four"},
    {"turned", "any-turn"},
    {"lamp", "dim"},
    {"side-cut", "table-cut", "corner-cut"},
    {"one-corner", "two-corners"},
)
_NOT_ONE_FAULT = ("mild", "clean", "hard", "combined")

PAIRS: tuple[str, ...] = tuple(
    f"{one}+{two}"
    for one, two in combinations([name for name in CONDITIONS if name not in _NOT_ONE_FAULT], 2)
    if not any({one, two} <= alike for alike in _ALIKE)
)
"""Every two faults that can befall one photo; of two of a kind the second would replace the first."""
