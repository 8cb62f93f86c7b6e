"""Number fields as people fill them in, on clean paper: characters of one writer, corrections, lines, neighbours.

Nothing here knows of cameras; see `camera.py`. Lengths are millimetres; the picture is `SCALE` pixels a millimetre.
"""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from recognize.training.characters import FIELD_HEIGHT, Array, Character, Writer

SCALE = 12
"""Pixels a millimetre of the clean picture."""
BORDER = 2.0
"""Millimetres of surroundings on every side of the field's inside box."""
STRUCK = "#"
"""The label of a field that was crossed out with nothing put in its place."""
INSET = 0.2
"""Millimetres between the inside box and the printed line around it."""


Where = tuple[float, float] | Callable[[float, float], tuple[float, float]]
"""A point in millimetres, or what takes a width and a height to one."""


@dataclass(frozen=True, slots=True)
class Pen:
    """What draws: line width in millimetres, how dark (1 is black), how grainy, how much the line skips."""

    width: float
    dark: float
    grain: float = 0.0
    skip: float = 0.0


@dataclass(frozen=True, slots=True)
class Field:
    """A clean picture (float32, 1 is white paper) of a field with inside box `box` = (w, h) millimetres, and its truth.

    `kind` says how it was made, for the figures: plain, dot, underlined, beside, inner, overwritten, struck, dash,
    minus, empty.
    """

    picture: Array
    box: tuple[float, float]
    label: str
    kind: str
    writer: str
    group: str


def _bank(blur: float, gain: float) -> Array:
    rough = np.random.default_rng(7).standard_normal((512, 512)).astype(np.float32)
    return cv2.GaussianBlur(rough, (0, 0), blur) * gain if blur else rough


_NOISE = (_bank(0, 1), _bank(1.2, 3.6), _bank(0.7, 2))


def noise(rng: np.random.Generator, shape: tuple[int, ...], softness: int) -> Array:
    """A cut-out of ready-made noise (drawing it anew took a third of the time): 0 rough, 1 soft, 2 in between."""
    bank = _NOISE[softness]
    y, x = rng.integers(0, bank.shape[0] - shape[0]), rng.integers(0, bank.shape[1] - shape[1])
    return bank[y : y + shape[0], x : x + shape[1]]


class Library:
    """Writers to draw characters from, Europeans and strokes weighted up."""

    GROUP_WEIGHTS = {
        "unipen_europe": 0.2,
        "unipen": 0.3,
        "swiss": 0.2,
        "semeion": 0.04,
        "optdigits_orig": 0.08,
        "handwritten62_bd": 0.04,
        "mnist": 0.14,
    }

    def __init__(self, writers: list[Writer], weights: dict[str, float] | None = None) -> None:
        """`weights` says how often each group is drawn; a group's writers are drawn by the root of what they wrote."""
        self.weights = weights or self.GROUP_WEIGHTS
        self.groups: dict[str, list[Writer]] = {}
        for writer in writers:
            if self.weights.get(writer.group):
                self.groups.setdefault(writer.group, []).append(writer)
        self.names = sorted(self.groups)
        share = np.array([self.weights[name] for name in self.names])
        self.shares = share / share.sum()
        self.within = {}
        for name, members in self.groups.items():
            root = np.sqrt([sum(len(w.by_label.get(d, ())) for d in "0123456789") for w in members])
            self.within[name] = root / root.sum()
        self.dashes = [c for w in writers for c in w.by_label.get("-", ())]

    def writer(self, rng: np.random.Generator) -> Writer:
        """A writer by chance."""
        name = self.names[rng.choice(len(self.names), p=self.shares)]
        return self.groups[name][rng.choice(len(self.groups[name]), p=self.within[name])]

    def character(self, rng: np.random.Generator, writer: Writer, label: str) -> Character:
        """A character by the writer; one of the same group's where this writer left none with that label."""
        own = writer.by_label.get(label)
        while not own:
            own = self.groups[writer.group][rng.integers(len(self.groups[writer.group]))].by_label.get(label)
        return own[rng.integers(len(own))]


LEAST_ROOM = 2.3
"""Millimetres a digit needs: what does not fit into a box is not written there."""


def number_text(rng: np.random.Generator, writer: Writer, borrow: bool, most: int) -> str:
    """A number as totals go: mostly two digits, at most `most`, a leading 1 and a closing 0 more than their share.

    Without `borrow` only digits that the writer left are used.
    """
    allowed = "0123456789" if borrow else "".join(d for d in "0123456789" if writer.by_label.get(d))
    digits = list(allowed)
    count = min(int(rng.choice([1, 2, 3, 4], p=[0.3, 0.4, 0.25, 0.05])), most)
    text = "".join(rng.choice(digits) for _ in range(count))
    if count > 1:
        firsts = [d for d in digits if d != "0"]
        if text[0] == "0" and firsts:
            text = str(rng.choice(firsts)) + text[1:]
        if "1" in allowed and rng.random() < 0.15:
            text = "1" + text[1:]
        if "0" in allowed and rng.random() < 0.12:
            text = text[:-1] + "0"
        elif rng.random() < 0.05:
            text = text[0] * count
    return text


def pen(rng: np.random.Generator) -> Pen:
    """A pen by chance: ball pen, gel pen, pencil or felt, in a colour that came out some grey."""
    kind = rng.choice(4, p=[0.5, 0.2, 0.22, 0.08])
    if kind == 0:
        return Pen(
            rng.uniform(0.25, 0.5), rng.uniform(0.45, 0.9), 0.08, rng.choice([0.0, 0.15, 0.4], p=[0.6, 0.3, 0.1])
        )
    if kind == 1:
        return Pen(rng.uniform(0.35, 0.65), rng.uniform(0.6, 0.97))
    if kind == 2:
        return Pen(rng.uniform(0.3, 0.7), rng.uniform(0.28, 0.7), rng.uniform(0.1, 0.4), rng.choice([0.0, 0.2]))
    return Pen(rng.uniform(0.7, 1.1), rng.uniform(0.55, 0.95))


class Sheet:
    """A piece of paper around one field, to draw on. Points are millimetres from the inside box's top left corner."""

    def __init__(self, box: tuple[float, float]) -> None:
        """A blank piece around an inside box of (w, h) millimetres."""
        self.box = box
        self.shape = (round((box[1] + 2 * BORDER) * SCALE), round((box[0] + 2 * BORDER) * SCALE))
        self.paper = np.ones(self.shape, np.float32)
        self.layer = np.zeros(self.shape, np.uint8)

    def line(self, points: Array, width: float) -> None:
        """Draw a stroke into the present layer of ink."""
        if len(points) == 1:
            points = np.concatenate([points, points + 0.05])
        pixels = np.round((points + BORDER) * SCALE * 16).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(self.layer, [pixels], False, 255, max(1, round(width * SCALE)), cv2.LINE_AA, shift=4)

    def character(self, character: Character, matrix: Array, width: float, bend: Array) -> None:
        """Draw a character; `matrix` (2×3) takes its own units to millimetres, `bend` (2×2) waves the line."""
        if character.strokes is not None:
            for stroke in character.strokes:
                wave = stroke + bend[0] * np.sin(stroke[:, ::-1] * bend[1] * 6 + bend[1] * 20)
                self.line((wave @ matrix[:, :2].T + matrix[:, 2]).astype(np.float32), width)
            return
        assert character.distance is not None
        to_unit = np.array([[1, 0, -character.origin[0]], [0, 1, -character.origin[1]], [0, 0, FIELD_HEIGHT]])
        full = np.vstack([matrix, [0, 0, 1]]) @ (to_unit / FIELD_HEIGHT)
        full = np.array([[SCALE, 0, BORDER * SCALE], [0, SCALE, BORDER * SCALE], [0, 0, 1]]) @ full
        unit = SCALE * float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
        height, wide = character.distance.shape
        corners = full @ np.array([[0, wide, 0, wide], [0, 0, height, height], [1, 1, 1, 1]])
        x1, y1 = np.maximum(np.floor(corners[:2].min(axis=1)).astype(int), 0)
        x2, y2 = np.minimum(np.ceil(corners[:2].max(axis=1)).astype(int), [self.shape[1], self.shape[0]])
        if x1 >= x2 or y1 >= y2:
            return
        local = full[:2] - np.array([[0, 0, x1], [0, 0, y1]])
        distance = cv2.warpAffine(
            character.distance.astype(np.float32),
            local,
            (int(x2 - x1), int(y2 - y1)),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=-1,
        )
        more = (width * SCALE - character.natural * unit) / 2
        more = float(np.clip(more, -0.15 * character.natural * unit, 0.1 * unit))
        ink = np.clip(distance * unit + more + 0.5, 0, 1) * 255
        part = self.layer[y1:y2, x1:x2]
        np.maximum(part, ink.astype(np.uint8), out=part)

    def ink(self, rng: np.random.Generator, pen: Pen) -> None:
        """Put the present layer on the paper with a pen, and begin a new one."""
        mask = self.layer.astype(np.float32) * (1 / 255)
        if pen.grain:
            mask *= np.clip(1 - pen.grain * noise(rng, self.shape, 1), 0, 1.3)
        if pen.skip:
            coarse = rng.random((self.shape[0] // 12 + 1, self.shape[1] // 12 + 1)).astype(np.float32)
            coarse = cv2.resize(coarse, self.shape[::-1], interpolation=cv2.INTER_LINEAR)
            mask *= 1 - pen.skip * np.clip(coarse * 2 - 0.6, 0, 1)
        self.paper *= 1 - np.clip(mask, 0, 1) * pen.dark
        self.layer = np.zeros(self.shape, np.uint8)


FINEST = 5.5
NARROWEST = 3.5
"""Nobody writes digits lower or narrower than so many widths of the pen: they would fill up."""


@dataclass(frozen=True, slots=True)
class Hand:
    """How one person writes in this field: size of a digit, slant, turn, room between digits, unevenness.

    `vary` is how far digits may stray from those that were recorded: 1 to learn from, 0 to measure on.
    """

    size: float
    slant: float
    turn: float
    gap: float
    uneven: float
    pen: Pen
    vary: float = 1.0


def hand(rng: np.random.Generator, box: tuple[float, float], vary: float = 1.0) -> Hand:
    """A way of writing by chance for a box of that size."""
    drawn_with = pen(rng)
    size = float(np.clip(rng.lognormal(np.log(0.62), 0.2), 0.3, 1.05)) * min(box[1], 7.5)
    return Hand(
        size=max(size, FINEST * drawn_with.width),
        slant=float(rng.normal(0.05, 0.14)),
        turn=float(rng.normal(0, 0.05)),
        gap=float(rng.choice([rng.uniform(-0.1, 0.04), rng.uniform(0.04, 0.3)], p=[0.2, 0.8])),
        uneven=float(rng.uniform(0.01, 0.07)),
        pen=drawn_with,
        vary=vary,
    )


def place(rng: np.random.Generator, characters: list[Character], hand: Hand, where: Where, most: float) -> list[Array]:
    """Matrices (2×3) that set the characters in a line around `where`, at most `most` millimetres wide."""
    heights = [
        hand.size * c.height * rng.normal(1, hand.uneven) if c.label != "-" else hand.size * 0.5 for c in characters
    ]
    stretch = float(rng.normal(1, 0.1))
    widths = [
        h * c.aspect * stretch if c.label != "-" else hand.size * rng.uniform(0.3, 1.1)
        for h, c in zip(heights, characters, strict=True)
    ]
    gaps = [hand.size * (hand.gap + rng.normal(0, 0.04)) for _ in characters[1:]]
    total = sum(widths) + sum(gaps)
    shrink = min(1.0, most / total) if total > 0 else 1.0
    # Where there is little room people write narrower sooner than lower.
    squeeze = shrink**0.6
    low = shrink / squeeze
    cos, sin = np.cos(hand.turn), np.sin(hand.turn)
    turn = np.array([[cos, -sin], [sin, cos]])
    matrices = []
    x = -total * shrink / 2
    for i, (character, height, width) in enumerate(zip(characters, heights, widths, strict=True)):
        h, w = height * low, width * shrink
        bottom = hand.size * low / 2 + rng.normal(0, hand.uneven) * hand.size
        if character.label == "-":
            bottom = h / 2
        own = rng.normal(0, hand.uneven)
        tilt = np.array([[np.cos(own), -np.sin(own)], [np.sin(own), np.cos(own)]])
        unit = h if character.label != "-" else w
        scale = np.array([[w / max(character.aspect, 0.02) if character.label != "-" else w, 0], [0, unit]])
        # People differ more than the few whose writing there is: every digit gets a lean and a width of its own.
        lean, wide, rise = rng.normal(0, (0.06, 0.07, 0.03)) * hand.vary
        shear = np.array([[1 + wide, lean - hand.slant], [rise, 1]])
        linear = turn @ tilt @ shear @ scale
        middle = (
            np.array([character.aspect / 2, 0.5]) if character.label != "-" else np.array([0.5, 0.5 / character.aspect])
        )
        target = turn @ np.array([x + w / 2, bottom - h / 2])
        matrices.append(np.hstack([linear, (target - linear @ middle)[:, None]]))
        x += w + (gaps[i] * shrink if i < len(gaps) else 0)
    x1, y1, x2, y2 = extent_of(characters, matrices)
    target = np.array(where(x2 - x1, y2 - y1) if callable(where) else where)
    move = target - [(x1 + x2) / 2, (y1 + y2) / 2]
    return [matrix + np.array([[0, 0, move[0]], [0, 0, move[1]]]) for matrix in matrices]


def write(
    rng: np.random.Generator,
    sheet: Sheet,
    library: Library,
    writer: Writer,
    text: str,
    hand: Hand,
    where: Where,
    most: float,
) -> Array:
    """Write `text` into the sheet's present layer; returns the extent (x1, y1, x2, y2) in millimetres.

    `where` is the middle of the text, or takes its width and height to that.
    """
    characters, matrices, width = laid_out(rng, library, writer, text, hand, where, most)
    for character, matrix in zip(characters, matrices, strict=True):
        bend = np.array([rng.normal(0, 0.02, 2) * hand.vary, rng.uniform(0.5, 1.5, 2)])
        sheet.character(character, matrix, width, bend)
    return extent_of(characters, matrices)


def laid_out(
    rng: np.random.Generator, library: Library, writer: Writer, text: str, hand: Hand, where: Where, most: float
) -> tuple[list[Character], list[Array], float]:
    """The writer's characters for `text`, the matrices that set them, and the pen's width; nothing is drawn yet."""
    characters = [
        europeanised(rng, library.character(rng, writer, c), writer, hand.vary) if c != "-" else _dash(rng, library)
        for c in text
    ]
    matrices = place(rng, characters, hand, where, most)
    return characters, matrices, finest(characters, matrices, hand.pen.width)


def finest(characters: list[Character], matrices: list[Array], width: float) -> float:
    """The pen's width, less where digits had to be squeezed so much that it would fill them up."""
    for character, matrix in zip(characters, matrices, strict=True):
        if character.label != "-":
            across, down = np.linalg.norm(matrix[:, :2], axis=0)
            # A 1 is narrow by nature: it counts as wide as it would be if it were a 0.
            width = min(width, down / FINEST, across * max(character.aspect, 0.45) / NARROWEST)
    return float(width)


def extent_of(characters: list[Character], matrices: list[Array]) -> Array:
    """(x1, y1, x2, y2) of characters set with these matrices."""
    corners = []
    for character, matrix in zip(characters, matrices, strict=True):
        wide = character.aspect if character.label != "-" else 1.0
        high = 1.0 if character.label != "-" else 1 / max(character.aspect, 1)
        corners.append(matrix @ np.array([[0, wide, 0, wide], [0, 0, high, high], [1, 1, 1, 1]]))
    points = np.hstack(corners)
    return np.concatenate([points.min(axis=1), points.max(axis=1)])


def europeanised(rng: np.random.Generator, character: Character, writer: Writer, vary: float) -> Character:
    """Sometimes an American digit as a European writes it: 1 with an up-stroke, 7 crossed, 0 slashed."""
    if writer.group != "unipen" or character.strokes is None or rng.random() >= 0.4 * vary:
        return character
    strokes = list(character.strokes)
    a = character.aspect
    if character.label == "1" and a < 0.35 and len(strokes) == 1:
        top = strokes[0][np.argmin(strokes[0][:, 1])]
        reach = rng.uniform(0.15, 0.75)
        foot = top + np.array([-reach * rng.uniform(0.5, 1.2), reach])
        middle = (top + foot) / 2 + rng.normal(0, 0.03, 2)
        strokes.insert(0, np.array([foot, middle, top], np.float32))
        low = min(float(foot[0]), 0.0)
        strokes = [(s - [low, 0]).astype(np.float32) for s in strokes]
        return Character("1", a - low, character.height, tuple(strokes))
    if character.label == "7" and len(strokes) == 1:
        y = rng.uniform(0.4, 0.6)
        near = strokes[0][np.argmin(np.abs(strokes[0][:, 1] - y) + 0.3 * (np.arange(len(strokes[0])) < 3))]
        half, rise = rng.uniform(0.15, 0.3), rng.normal(0.03, 0.05)
        strokes.append(np.array([near + [-half, rise], near + [half, -rise]], np.float32))
    elif character.label == "0" and rng.random() < 0.4 and 0.35 < a < 1.2:
        over = rng.uniform(-0.1, 0.1)
        strokes.append(np.array([[a * (0.1 - over), 0.9 + over], [a * (0.9 + over), 0.1 - over]], np.float32))
    return Character(character.label, a, character.height, tuple(strokes))


def _dash(rng: np.random.Generator, library: Library) -> Character:
    if library.dashes and rng.random() < 0.5:
        return library.dashes[rng.integers(len(library.dashes))]
    bow = rng.normal(0, 0.06, 5).cumsum()
    line = np.stack([np.linspace(0, 1, 5), bow - bow.min()], axis=1).astype(np.float32)
    return Character("-", 1 / max(float(np.ptp(bow)), 0.02), 1.0, (line,))


def printed_lines(rng: np.random.Generator, sheet: Sheet) -> None:
    """The printed lines around the field, light or heavy, as one printer printed them."""
    dark = rng.uniform(0.2, 0.85)
    w, h = sheet.box
    for upright, at in ((True, -INSET), (True, w + INSET), (False, -INSET), (False, h + INSET)):
        width = float(rng.choice([0.18, 0.35, 0.5], p=[0.7, 0.25, 0.05])) * rng.uniform(0.8, 1.5)
        low, high = [(at + BORDER + side * width / 2) * SCALE for side in (-1, 1)]
        # A line's edges fall between pixels: darken each pixel by what of it is covered.
        size = sheet.shape[1] if upright else sheet.shape[0]
        cover = np.clip(np.minimum(np.arange(1, size + 1), high) - np.maximum(np.arange(size), low), 0, 1)
        cover = 1 - dark * cover.astype(np.float32)
        sheet.paper *= cover[None, :] if upright else cover[:, None]


def neighbours(rng: np.random.Generator, sheet: Sheet, library: Library, writer: Writer, share: float) -> None:
    """What stands in the fields around, where it reaches towards this one; `share` of the sides are filled."""
    w, h = sheet.box
    for side in range(4):
        if rng.random() > share:
            continue
        by = writer if rng.random() < 0.4 else library.writer(rng)
        style = hand(rng, sheet.box)
        text = "".join(rng.choice(list("0123456789")) for _ in range(rng.choice([1, 2, 3], p=[0.4, 0.45, 0.15])))
        # Only the part next to the line shows, so the number is set near it, sometimes over it.
        over = abs(rng.normal(0, 0.8)) if rng.random() < 0.6 else -rng.uniform(0, 1.0)
        digits = text[:2] if side < 2 else text
        aside = rng.normal(0, 0.6) if side < 2 else rng.uniform(-0.25, 0.25) * w

        def beyond(
            wide: float,
            high: float,
            side: int = side,
            over: float = over,
            aside: float = aside,
            count: int = len(digits),
        ) -> tuple[float, float]:
            # A digit stays on its own side by its middle: past that nobody could tell whose it is.
            reach = min(over, 0.38 * wide / count if side < 2 else 0.4 * high)
            if side < 2:
                return (-INSET - wide / 2 + reach if side == 0 else w + INSET + wide / 2 - reach), h / 2 + aside
            return w / 2 + aside, (-INSET - high / 2 + reach if side == 2 else h + INSET + high / 2 - reach)

        write(rng, sheet, library, by, digits, style, beyond, w)
        sheet.ink(rng, style.pen)


def dirt(rng: np.random.Generator, sheet: Sheet, strong: float = 1.0, streak: float = 0.35) -> None:
    """What is on paper besides writing: specks, a fold, streaks (taking at most `streak` of the light), stains."""
    h, w = sheet.shape
    if rng.random() < 0.25 * strong:
        for _ in range(rng.integers(1, 6)):
            radius = min(abs(rng.normal(0, 1.4)) + 0.6, 2.6)
            point = (int(rng.uniform(0, w) * 16), int(rng.uniform(0, h) * 16))
            spot = np.zeros(sheet.shape, np.uint8)
            cv2.circle(spot, point, int(radius * 16), 255, -1, cv2.LINE_AA, shift=4)
            sheet.paper *= 1 - spot.astype(np.float32) * (rng.uniform(0.1, 0.8) / 255)
    if rng.random() < 0.12 * strong:
        # A fold: a soft line right through, dark or bright, or one beside the other.
        y, x = np.mgrid[0:h, 0:w].astype(np.float32)
        angle = rng.choice([0, np.pi / 2]) + rng.normal(0, 0.15)
        away = (x - rng.uniform(0, w)) * np.float32(np.cos(angle)) + (y - rng.uniform(0, h)) * np.float32(np.sin(angle))
        wide = rng.uniform(1.5, 6)
        fold = np.exp(-((away / wide) ** 2)) * rng.uniform(0.03, 0.22)
        if rng.random() < 0.5:
            fold -= np.exp(-(((away - 2.5 * wide) / wide) ** 2)) * rng.uniform(0.03, 0.1)
        sheet.paper *= 1 - fold
    if rng.random() < 0.08 * strong:
        # A printer's or scanner's streak.
        at, thick = int(rng.integers(0, w)), int(rng.integers(1, 5))
        sheet.paper[:, at : at + thick] *= 1 - rng.uniform(0.05, streak)
    if rng.random() < 0.1 * strong:
        stain = cv2.resize(rng.random((4, 5)).astype(np.float32), (w, h), interpolation=cv2.INTER_CUBIC)
        sheet.paper *= 1 - rng.uniform(0.03, 0.2) * np.clip(stain * 2 - 0.8, 0, 1)


def show_through(rng: np.random.Generator, sheet: Sheet, library: Library) -> None:
    """What is on the back of the paper, mirrored, soft and weak."""
    back = Sheet(sheet.box)
    style = hand(rng, sheet.box)
    w, h = sheet.box
    text = "".join(rng.choice(list("0123456789")) for _ in range(rng.integers(1, 4)))
    write(rng, back, library, library.writer(rng), text, style, (w * rng.uniform(0, 1), h * rng.uniform(0, 1)), w)
    soft = cv2.GaussianBlur(back.layer[:, ::-1].astype(np.float32), (0, 0), rng.uniform(1.5, 4))
    sheet.paper *= 1 - soft * (rng.uniform(0.02, 0.07) / 255)


def strike(rng: np.random.Generator, sheet: Sheet, extent: Array, width: float, lone: bool) -> None:
    """Cross out what lies in `extent`: one line, two, a cross, a zigzag, a scribble, a block of close strokes.

    A `lone` digit with one short line through it may be a crossed 7 or a slashed 0: lines go past it, more or less.
    """
    x1, y1, x2, y2 = extent
    w, h = max(x2 - x1, 0.8), max(y2 - y1, 0.8)
    kind = rng.choice(6, p=[0.32, 0.2, 0.14, 0.08, 0.12, 0.14] if lone else [0.4, 0.17, 0.1, 0.09, 0.12, 0.12])
    if lone and kind < 2:
        x1, x2 = x1 - rng.uniform(0.2, 0.9), x2 + rng.uniform(0.2, 0.9)
    else:
        x1, x2 = x1 - w * rng.uniform(0, 0.2), x2 + w * rng.uniform(0, 0.2)

    def wobbly(points: list[tuple[float, float]]) -> Array:
        corners = np.array(points)
        steps = np.linspace(0, len(corners) - 1, max(6 * (len(corners) - 1), 2))
        line = np.stack([np.interp(steps, np.arange(len(corners)), corners[:, i]) for i in (0, 1)], axis=1)
        return (line + rng.normal(0, 0.04, line.shape)).astype(np.float32)

    def y(low: float, high: float) -> float:
        return float(y1 + h * rng.uniform(low, high))

    if kind == 0:
        steep = rng.random() < 0.5
        left, right = (y(0.65, 1.05), y(-0.05, 0.35)) if steep else (y(0.3, 0.7), y(0.3, 0.7))
        sheet.line(wobbly([(x1, left), (x2, right)]), width)
    elif kind == 1:
        for low in (0.2, 0.55):
            sheet.line(wobbly([(x1, y(low, low + 0.25)), (x2, y(low, low + 0.25))]), width)
    elif kind == 2:
        sheet.line(wobbly([(x1, y(-0.05, 0.2)), (x2, y(0.8, 1.05))]), width)
        sheet.line(wobbly([(x1, y(0.8, 1.05)), (x2, y(-0.05, 0.2))]), width)
    elif kind == 3:
        turns = int(rng.integers(4, 9))
        xs = np.linspace(x1, x2, turns)
        sheet.line(wobbly([(x, y(0.0, 0.25) if i % 2 else y(0.75, 1.0)) for i, x in enumerate(xs)]), width)
    elif kind == 5:
        for _ in range(rng.integers(1, 4)):
            turns = int((x2 - x1 + 0.4) / rng.uniform(0.2, 0.45)) + 4
            xs = np.linspace(x1 - 0.2, x2 + 0.2, turns) + rng.normal(0, 0.1, turns)
            ys = np.where(np.arange(turns) % 2, y1 - 0.2, y2 + 0.2) + rng.normal(0, 0.25, turns)
            sheet.line(np.stack([xs, ys], axis=1).astype(np.float32), width)
    else:
        turns = int(rng.integers(8, 30))
        xs, ys = rng.uniform(x1, x2, turns), y1 + h * rng.uniform(0.05, 0.95, turns)
        sheet.line(wobbly(list(zip(xs, ys, strict=True))), width)


KINDS = {
    "plain": 0.605,
    "dot": 0.03,
    "underlined": 0.015,
    "beside": 0.085,
    "inner": 0.02,
    "overwritten": 0.045,
    "struck": 0.04,
    "dash": 0.03,
    "minus": 0.005,
    "empty": 0.125,
}
"""How often fields are made in each way."""


def number_field(
    rng: np.random.Generator,
    library: Library,
    box: tuple[float, float],
    kind: str | None = None,
    borrow: bool = True,
) -> Field:
    """A field of that size filled in by chance or in the given way.

    Without `borrow` every digit is one that this writer left, as it was recorded: that is for measuring.
    """
    if kind is None:
        kind = str(rng.choice(list(KINDS), p=np.array(list(KINDS.values())) / sum(KINDS.values())))
    sheet = Sheet(box)
    writer = library.writer(rng)
    style = hand(rng, box, vary=1.0 if borrow else 0.0)
    w, h = box
    printed_lines(rng, sheet)
    if rng.random() < (0.3 if kind == "empty" else 0.08):
        show_through(rng, sheet, library)
    neighbours(rng, sheet, library, writer, share=0.45 if kind == "empty" else 0.2)
    room = w / LEAST_ROOM
    if kind == "inner":
        room -= 1
    elif kind == "beside":
        room -= 0.5
    text = number_text(rng, writer, borrow, max(int(room), 1))
    label = {"empty": "", "struck": STRUCK, "dash": "-", "minus": "-" + text[:2]}.get(kind, text)
    most = w * (rng.uniform(0.8, 1.0) if rng.random() < 0.9 else rng.uniform(1.0, 1.18))
    # Many people begin at the left line, some end at the right one, whatever the room.
    aside = float(rng.choice([0.0, -1.0, 1.0], p=[0.6, 0.27, 0.13]))
    spread = rng.choice([0.12, 0.3], p=[0.7, 0.3])

    def somewhere(wide: float, high: float) -> tuple[float, float]:
        room_x, room_y = max(w - wide, 0) / 2, max(h - high, 0) / 2
        across = float(np.clip(aside + rng.normal(0, 0.15) if aside else rng.normal(0, 2 * spread), -1, 1))
        # A dash on the printed line nobody would see.
        down = float(np.clip(rng.normal(0, 2 * spread), -1, 1)) * (0.6 if kind == "dash" else 1.0)
        # Over the line by a little is common; further and it would be the neighbour's.
        over = rng.normal(0, (0.05, 0.07)).clip(-0.15, 0.15) * style.size
        return w / 2 + across * room_x + float(over[0]), h / 2 + down * room_y + float(over[1])

    def put(text: str, room: float = most) -> Array:
        return write(rng, sheet, library, writer, text, style, somewhere, room)

    if kind in ("plain", "dash", "minus"):
        put(label)
    elif kind == "dot":
        x1, y1, x2, y2 = put(text, room=most * 0.88)
        at = np.array([[x2 + rng.uniform(0.1, 0.6), y2 - rng.uniform(0, 0.3)]], np.float32)
        tail = rng.normal(0, 0.12, (1, 2)) if rng.random() < 0.7 else np.array([[-0.2, 0.6]])
        sheet.line(np.concatenate([at, at + tail]).astype(np.float32), style.pen.width * rng.uniform(1, 1.5))
    elif kind == "underlined":
        x1, y1, x2, y2 = put(text)
        under = y2 + rng.uniform(0.1, 0.5)
        for _ in range(rng.integers(1, 3)):
            ends = [[x1 - 0.2, under + rng.normal(0, 0.15)], [x2 + 0.2, under + rng.normal(0, 0.15)]]
            sheet.line(np.array(ends, np.float32), style.pen.width)
            under += 0.5
    elif kind == "overwritten":
        _overwritten(rng, sheet, library, writer, text, style, somewhere, most)
    elif kind == "struck":
        extent = put(text)
        if rng.random() < 0.3:
            sheet.ink(rng, style.pen)
        for _ in range(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])):
            strike(rng, sheet, extent, style.pen.width, len(text) == 1)
    elif kind == "inner":
        _inner(rng, sheet, library, writer, text, style, most)
    elif kind == "beside":
        _beside(rng, sheet, library, writer, text, style)
    if kind != "empty":
        sheet.ink(rng, style.pen)
    dirt(rng, sheet, strong=2.0 if kind == "empty" else 0.7)
    return Field(sheet.paper, box, label, kind, writer.id, writer.group)


def _sized(style: Hand, size: float, heavier: float = 1.0) -> Hand:
    width = min(style.pen.width * heavier, size / FINEST)
    pen = Pen(width, style.pen.dark, style.pen.grain, style.pen.skip)
    return Hand(size, style.slant, style.turn, style.gap, style.uneven, pen, style.vary)


def _overwritten(
    rng: np.random.Generator,
    sheet: Sheet,
    library: Library,
    writer: Writer,
    text: str,
    style: Hand,
    where: Where,
    most: float,
) -> None:
    """One digit or the whole first written as another, then written over, mostly heavier or twice."""
    if rng.random() < 0.35:
        old_text = "".join(rng.choice(list("0123456789")) for _ in text)
        x1, y1, x2, y2 = write(rng, sheet, library, writer, old_text, style, where, most)
        centre = ((x1 + x2) / 2 + rng.normal(0, 0.2), (y1 + y2) / 2 + rng.normal(0, 0.2))
        if rng.random() < 0.5:
            sheet.ink(rng, Pen(style.pen.width, style.pen.dark * rng.uniform(0.5, 1), style.pen.grain, style.pen.skip))
        characters, matrices, width = laid_out(rng, library, writer, text, style, centre, most)
        bend = np.array([rng.normal(0, 0.02, 2) * style.vary, rng.uniform(0.5, 1.5, 2)])
        for character, matrix in zip(characters, matrices, strict=True):
            for _ in range(rng.integers(1, 4)):
                jitter = np.array([[0, 0, 1], [0, 0, 1]]) * rng.normal(0, 0.06, (2, 1))
                sheet.character(character, matrix + jitter, width * rng.uniform(1.25, 1.7), bend)
        return
    at = rng.integers(len(text))
    first = str(rng.choice([d for d in "0123456789" if d != text[at]]))
    characters, matrices, width = laid_out(rng, library, writer, text, style, where, most)
    old = library.character(rng, writer, first)
    bend = np.array([rng.normal(0, 0.02, 2) * style.vary, rng.uniform(0.5, 1.5, 2)])
    high = matrices[at][:, :2] * (1, 1)
    middle = matrices[at] @ np.array([characters[at].aspect / 2, 0.5, 1])
    wide = high * [min(1.0, 1.6 * max(characters[at].aspect, 0.3) / max(old.aspect, 0.1)), 1]
    shift = middle - wide @ np.array([old.aspect / 2, 0.5]) + rng.normal(0, 0.12, 2)
    sheet.character(old, np.hstack([wide, shift[:, None]]), width, bend)
    if rng.random() < 0.6:
        lighter = Pen(style.pen.width, style.pen.dark * rng.uniform(0.5, 1), style.pen.grain, style.pen.skip)
        sheet.ink(rng, lighter)
    again = 2 if rng.random() < 0.5 else 1
    for i, (character, matrix) in enumerate(zip(characters, matrices, strict=True)):
        for turn in range(again if i == at else 1):
            heavier = rng.uniform(1.35, 2.0) if i == at else 1.0
            moved = matrix + np.array([[0, 0, 1], [0, 0, 1]]) * rng.normal(0, 0.08, (2, 1)) * turn
            sheet.character(character, moved, width * heavier, bend)


def _inner(
    rng: np.random.Generator, sheet: Sheet, library: Library, writer: Writer, text: str, style: Hand, most: float
) -> None:
    """One digit of the number struck out and the right one put beside it: 2, a struck 4, 5 is 25."""
    w, h = sheet.box
    at = int(rng.integers(len(text) + 1))
    wrong = str(rng.choice(list("0123456789")))
    whole = text[:at] + wrong + text[at:]
    style = _sized(style, min(style.size, 0.7 * h))
    characters = [europeanised(rng, library.character(rng, writer, c), writer, style.vary) for c in whole]
    gap = Hand(style.size, style.slant, style.turn, max(style.gap, 0.12), style.uneven, style.pen, style.vary)
    centre = (w / 2 + rng.normal(0, 0.3), h / 2 + rng.normal(0, 0.3))
    matrices = place(rng, characters, gap, centre, most)
    width = finest(characters, matrices, style.pen.width)
    for i, (character, matrix) in enumerate(zip(characters, matrices, strict=True)):
        bend = np.array([rng.normal(0, 0.02, 2) * style.vary, rng.uniform(0.5, 1.5, 2)])
        sheet.character(character, matrix, width, bend)
        if i == at:
            corners = matrix @ np.array([[0, character.aspect, 0, character.aspect], [0, 0, 1, 1], [1, 1, 1, 1]])
            extent = np.concatenate([corners.min(axis=1), corners.max(axis=1)])
            for _ in range(rng.integers(1, 3)):
                strike(rng, sheet, extent, width, lone=False)


def _beside(rng: np.random.Generator, sheet: Sheet, library: Library, writer: Writer, text: str, style: Hand) -> None:
    """A number struck out and the new one beside, above, below, or after a dot."""
    w, h = sheet.box
    old = "".join(rng.choice(list("0123456789")) for _ in range(max(1, len(text) + int(rng.integers(-1, 2)))))[:3]
    new = _sized(style, style.size)
    # Side by side only where both have room.
    broad = (len(old) + len(text)) * LEAST_ROOM * 0.8 < w
    where = rng.choice(["right", "above", "below", "left"], p=[0.5, 0.28, 0.14, 0.08] if broad else [0, 0.67, 0.33, 0])
    if where in ("right", "left"):
        share = len(old) / (len(old) + len(text))
        share = float(np.clip(share + rng.normal(0, 0.05), 0.25, 0.7))
        size = min(style.size, 1.7 * w * (1 - share) / max(len(text), 1), 1.7 * w * share / len(old))
        struck, new = _sized(style, max(size, 1.4)), _sized(style, max(size * rng.uniform(0.9, 1.15), 1.5))
        sign = 1 if where == "right" else -1
        old_at = (w * (0.5 - sign * (1 - share) / 2) + rng.normal(0, 0.15), h / 2 + rng.normal(0, 0.4))
        new_at = (w * (0.5 + sign * share / 2) + rng.normal(0, 0.15), h / 2 + rng.normal(0, 0.5))
        old_room, new_room = w * share * 0.95, w * (1 - share) * rng.uniform(0.95, 1.25)
        new_at = (new_at[0] + sign * max(new_room - w * (1 - share), 0) / 2, new_at[1])
    else:
        low = rng.uniform(0.48, 0.6)
        struck = _sized(style, min(style.size, h * low))
        new = _sized(style, max(h * (1 - low) * rng.uniform(0.8, 1.15), 1.4))
        sign = 1 if where == "above" else -1
        drift = rng.normal(0, 0.1) * w
        old_at = (w / 2 - drift + rng.normal(0, 0.3), h * (0.5 + sign * (1 - low) / 2))
        new_at = (w / 2 + drift + rng.normal(0, 0.6), h * (0.5 - sign * low / 2))
        old_room, new_room = w * 0.9, w * 0.85
    extent = write(rng, sheet, library, writer, old, struck, old_at, old_room)
    for _ in range(rng.choice([1, 2], p=[0.8, 0.2])):
        strike(rng, sheet, extent, style.pen.width, len(old) == 1)
    if where == "right" and rng.random() < 0.15:
        dot = np.array([[extent[2] + 0.1, extent[3]], [extent[2] + 0.2, extent[3] + 0.1]], np.float32)
        sheet.line(dot, style.pen.width * 1.3)
    write(rng, sheet, library, writer, text, new, new_at, new_room)
