"""Handwritten numbers: from a cut-out picture to a calibrated distribution over what the ink can say.

A small net reads the whole field at once and gives, for every one of some thirty columns, how likely each symbol ends
there (connectionist temporal classification). The probability of any number is then an exact sum over all ways the
columns can spell it, so candidates that nobody listed beforehand can be asked for as well. Of two nets that learnt
beside each other one is shown the field as it is and the other the same field narrower, where that leaves a doubt the
other way round as well, and the geometric mean of what they say is taken: where a hand is strange to them they differ.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import ArrayLike, NDArray

Picture = NDArray[np.uint8]
Array = NDArray[Any]

SYMBOLS = "0123456789-#"
"""What a column can say, besides nothing; `#` is a field crossed out with nothing put in its place."""
HEIGHT = 48
"""Rows of the picture that the net sees."""
WIDTHS = (64, 96)
"""Columns of the picture that the net sees: the least of these that holds it."""

_BLANK = len(SYMBOLS)
_STRUCK = "#"
_BEAM = 24
_NEGLIGIBLE = 1e-5
_EVIDENT = 1e-4
_CLEAR = 1e-3
"""Where two views spell the same with no more doubt than this, two more say the same: on 130 sheets that was so of
8,204 fields of 13,767, none of them was wrong, and by all four views one was less sure than 0.999."""
_CONSIDERED = 8
"""So many of the likeliest texts of each view are weighed."""
_LEAST = 1e-9
"""What one view considers no other holds for less probable than this: strange as it looks there, it may be true."""
_NEXT_TO_NOTHING = 1e-12
_SPELLABLE = re.compile(r"-?|#|-?[0-9]+")
"""What can stand in a field: nothing, a dash, a number; or it is struck out."""
_NOTHING = np.full((1, 1, len(SYMBOLS) + 1), -46.0)
_NOTHING[..., _BLANK] = 0.0


SURE = 3.0
"""Log odds of 20 to 1."""


@dataclass(frozen=True, slots=True)
class Odds:
    """How the net's own log odds become ones that hold, and the most ever claimed.

    They grow by `slope`, and from `SURE` on by `steeper` more: where both views agree the net is surer than it says.
    """

    slope: float
    shift: float
    steeper: float
    most: float

    def __call__(self, top: ArrayLike) -> Array:
        """The calibrated probabilities of answers whose natural logs by the net are `top` (below 0)."""
        odds = np.asarray(top - np.log(-np.expm1(top)))
        odds = self.slope * odds + self.shift + self.steeper * np.maximum(odds - SURE, 0)
        return np.minimum(1 / (1 + np.exp(-odds)), self.most)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Odds for an answer that the field is empty, and for one that something stands in it."""

    empty: Odds
    filled: Odds


@dataclass(frozen=True)
class NumberReading:
    """What a field's ink can say.

    `value` is the likeliest text: digits, "-" for a dash that means nothing, "" where the field is empty or was
    crossed out with nothing put in its place (then `struck` is the larger part). `confidence` is the calibrated
    probability that this is what stands there.
    """

    value: str
    confidence: float
    columns: Array
    """Log probabilities: for every view one row a column of the picture, one entry a symbol, the last for none."""
    shares: Mapping[str, float]
    """The net's own probability, before calibration, of every text that comes into question, the likeliest first."""
    total: float
    """What the geometric means over the views were divided by to get these."""
    inked: bool = False
    """Whether a pen was in the middle of the field beyond doubt: then it is hardly empty."""

    def probability(self, text: str) -> float:
        """How likely `text` is what stands in the field: "24", "-", or "" for an empty field; 0 for anything else."""
        return self._calibrated(text) if is_text(text) else 0.0

    @property
    def bare(self) -> bool:
        """Whether the field is so evenly blank that no net was asked."""
        return self.columns is _NOTHING

    @property
    def struck(self) -> float:
        """How likely the field was crossed out with nothing put in its place."""
        return self._calibrated(_STRUCK)

    @property
    def top(self) -> float:
        """Natural log of the net's own probability of what it holds likeliest, before calibration."""
        return _top(self.shares)

    def best(self, k: int = 3) -> tuple[tuple[str, float], ...]:
        """The `k` likeliest texts with their probabilities, the likeliest first; struck out is not among them."""
        rated = [(text, self._calibrated(text)) for text in list(self.shares)[: k + 3] if text != _STRUCK]
        return tuple(sorted(rated, key=lambda one: -one[1])[:k])

    @cached_property
    def _steps(self) -> list[list[list[float]]]:
        return [_steps(of_view) for of_view in self.columns]

    def _calibrated(self, text: str) -> float:
        if text == next(iter(self.shares)):
            return self.confidence
        own = self.shares.get(text)
        if own is None:
            own = float(_mean([_probability(steps, text) for steps in self._steps])) / self.total
        # What the answer lost by calibration goes to the others, yet none of them becomes likelier than the answer.
        share = min(own / -float(np.expm1(self.top)) * (1 - self.confidence), self.confidence)
        return share * INKED_YET_EMPTY if self.inked and text == "" else share


def read_number(image: Picture) -> NumberReading:
    """Read one cut-out picture of a handwritten number, grey or BGR uint8, dark ink on light ground, of any size.

    The field's own printed lines and a neighbour's ink may be in the picture. Raises ValueError where it is no such
    picture.
    """
    return read_numbers([image])[0]


def read_numbers(images: Sequence[Picture]) -> list[NumberReading]:
    """Read many cut-outs in one batch; see `read_number`. An empty list gives an empty one."""
    greys = [as_grey(image) for image in images]
    bare = NumberReading("", _calibration().empty.most, _NOTHING, {"": 1.0}, 1.0)
    readings = [bare] * len(greys)
    prepared = {i: prepare(grey) for i, grey in enumerate(greys) if not is_bare(grey)}
    for width in WIDTHS:
        where = [i for i, picture in prepared.items() if picture.shape[1] == width]
        if where:
            found = read_prepared(shipped_net("numbers"), np.stack([prepared[i] for i in where]))
            for i, reading in zip(where, found, strict=True):
                readings[i] = replace(reading, inked=has_ink(greys[i]))
    return readings


def read_prepared(
    nets: ort.InferenceSession, pictures: Array, calibration: Calibration | None = None
) -> list[NumberReading]:
    """Readings of prepared pictures (N, rows, columns), calibrated as given or else as shipped."""
    columns = spell(nets, pictures, VIEWS)
    texts, tops = _spelt(columns)
    clear = _alike(texts) & (tops.mean(axis=1) > -_CLEAR)
    readings = iter(decode(columns[clear], calibration))
    if clear.all():
        return list(readings)
    # Each net is shown what the other was: four agree by chance less often than two.
    more = spell(nets, pictures[~clear], VIEWS[::-1])
    doubted = iter(decode(np.concatenate([columns[~clear], more], axis=1), calibration))
    return [next(readings if sure else doubted) for sure in clear]


def decode(columns: Array, calibration: Calibration | None = None) -> list[NumberReading]:
    """Readings from log probabilities (N, views, columns, symbols + 1), calibrated as given or else as shipped."""
    if not len(columns):
        return []
    calibration = calibration or _calibration()
    spelt, tops = _spelt(columns)
    # Where one thing is evident, whatever else it might be need not be sought; it can still be asked for.
    evident = _alike(spelt) & (tops.min(axis=1) > -_EVIDENT)
    considered = [
        own[:1] if sure else list(dict.fromkeys(t for of_view in field for t in list(_search(of_view))[:_CONSIDERED]))
        for own, sure, field in zip(spelt, evident, columns, strict=True)
    ]
    readings = []
    for field, own, by_view in zip(columns, considered, _in_every_view(columns, considered), strict=True):
        shares, total = _together(own, by_view)
        text = next(iter(shares))
        confidence = float((calibration.empty if text == "" else calibration.filled)(_top(shares)))
        readings.append(NumberReading("" if text == _STRUCK else text, confidence, field, shares, total))
    return readings


def _spelt(columns: Array) -> tuple[list[list[str]], Array]:
    """What each view's columns (N, views, columns, symbols + 1) spell, symbol by symbol, and the log of how likely."""
    count, views = columns.shape[:2]
    flat = columns.reshape(count * views, *columns.shape[2:])
    greedy = flat.argmax(axis=2)
    new = np.ones_like(greedy, bool)
    new[:, 1:] = greedy[:, 1:] != greedy[:, :-1]
    texts = ["".join(SYMBOLS[s] for s in row[keep & (row != _BLANK)]) for row, keep in zip(greedy, new, strict=True)]
    tops = _log_probabilities(flat, texts).reshape(count, views)
    return [texts[i * views : (i + 1) * views] for i in range(count)], tops


def _alike(spelt: Sequence[Sequence[str]]) -> Array:
    """Which fields every view spells alike, and as something that can stand there."""
    return np.array([len(set(own)) == 1 and is_text(own[0]) for own in spelt], bool)


def _in_every_view(columns: Array, texts: Sequence[Sequence[str]]) -> Iterator[Array]:
    """For each field (N, views, columns, symbols + 1) the probabilities of its texts, (views, texts)."""
    views = columns.shape[1]
    # Some hundred fields at a time, so that they need little memory.
    for start in range(0, len(columns), 100):
        fields = texts[start : start + 100]
        rows = [(start + i, view, text) for i, own in enumerate(fields) for view in range(views) for text in own]
        which, view, asked = zip(*rows, strict=True)
        found = np.exp(_log_probabilities(columns[list(which), list(view)], asked))
        ends = np.cumsum([views * len(own) for own in fields])[:-1]
        for own, of_field in zip(fields, np.split(found, ends), strict=True):
            yield of_field.reshape(views, len(own))


def _top(shares: Mapping[str, float]) -> float:
    """The natural log of the likeliest text's share."""
    return min(float(np.log(next(iter(shares.values())))), -_NEXT_TO_NOTHING)


def _together(texts: Sequence[str], by_view: Array) -> tuple[dict[str, float], float]:
    """The texts' shares by all views (`by_view` has a row of probabilities for each), falling, and their divisor.

    Whatever else may stand there counts as one more text.
    """
    means = _mean(np.maximum(by_view, _LEAST))
    total = float(means.sum() + _mean(np.maximum(1 - by_view.sum(axis=1), _NEXT_TO_NOTHING)))
    ordered = sorted(zip(means / total, texts, strict=True), key=lambda one: -one[0])
    return {text: float(share) for share, text in ordered}, total


def _mean(by_view: ArrayLike) -> Array:
    """The geometric mean over views (the first axis)."""
    return np.exp(np.log(np.maximum(by_view, 1e-300)).mean(axis=0))


def is_text(text: str) -> bool:
    """Whether a field can hold this: nothing, a dash or a number."""
    return text != _STRUCK and _SPELLABLE.fullmatch(text) is not None


def is_bare(grey: Picture, margin: float = 1 / 6) -> bool:
    """Whether the middle of a field is so even that no pen can have been there: most empty fields need no net.

    `margin` is the share of its height that is not looked at on every side. The weakest pencil in the hardest photos
    stands out more than twice as much as is allowed here.
    """
    h, w = grey.shape
    edge = round(h * margin)
    if h < 16 or w < 3 * edge:
        return False
    soft = cv2.blur(grey, (3, 3))
    # The paper's light is taken from around as well: a box may be filled evenly all over.
    rank = int(0.8 * soft.size)
    light = float(np.partition(soft.ravel(), rank)[rank])
    return light - float(soft[edge:-edge, edge:-edge].min()) < 0.06 * light


INKED_YET_EMPTY = 0.05
"""What is left of the chance that a field with ink in its very middle is empty."""


def has_ink(grey: Picture) -> bool:
    """Whether there is a stroke in the middle of a field: darker than stains and folds, longer than specks.

    On simulated sheets two empty fields in ten thousand had one, and nine filled ones in ten.
    """
    h, w = grey.shape
    ground = cv2.blur(cv2.dilate(cv2.blur(grey, (3, 3)), np.ones((17, 17), np.uint8)), (17, 17))
    middle = slice(h // 4, h - h // 4), slice(w // 4, w - w // 4)
    dark = cv2.compare(grey[middle], cv2.convertScaleAbs(ground[middle], alpha=0.7), cv2.CMP_LE)
    # Twenty pixels where the field is 49 high: four tenths of a square millimetre.
    return cv2.countNonZero(dark) >= 20 * (h / 49) ** 2


def prepare(image: Picture) -> Picture:
    """The picture as the net takes it: ink bright on dark, light evened out, `HEIGHT` rows, one of `WIDTHS` columns.

    Raises ValueError where it is no picture.
    """
    grey = as_grey(image)
    h, w = grey.shape
    scale = min(HEIGHT / h, WIDTHS[-1] / w)
    high, wide = max(round(h * scale), 1), max(round(w * scale), 1)
    grey = cv2.resize(grey, (wide, high), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    ink = even_ink(grey, reach=17)
    room = next(width for width in WIDTHS if width >= wide)
    out = np.zeros((HEIGHT, room), np.uint8)
    top, left = (HEIGHT - high) // 2, (room - wide) // 2
    out[top : top + high, left : left + wide] = ink
    return out


def as_grey(image: Picture) -> Picture:
    """The picture in grey; raises ValueError where it is none."""
    if not isinstance(image, np.ndarray):
        raise ValueError(f"a picture is an array of uint8, grey or BGR, not {type(image).__name__}")
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] != 3):
        raise ValueError(f"a picture is uint8, grey or BGR, not {image.dtype} of shape {image.shape}")
    if not image.size:
        raise ValueError("the picture is empty")
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)) if image.ndim == 3 else image


def even_ink(grey: Picture, reach: int) -> Picture:
    """Ink bright on dark, whatever the light: the ground is the lightest within `reach` pixels, made smooth."""
    ground = cv2.dilate(cv2.blur(grey, (3, 3)), np.ones((reach, reach), np.uint8))
    ground = cv2.blur(ground, (reach, reach))
    ink = 255 - cv2.divide(grey, ground, scale=255)
    h, w = ink.shape
    inside = ink[h // 7 : h - h // 7, w // 7 : w - w // 7].ravel()
    rank = int(0.97 * inside.size)
    strong = float(np.partition(inside, rank)[rank]) if inside.size else 255.0
    return cv2.convertScaleAbs(ink, alpha=215 / min(max(strong, 46.0), 215.0))


VIEWS = (1.0, 13 / 16)
"""How wide each of the nets is shown a field; in reverse where that leaves a doubt.

Most fields hold one or two digits, with room enough; the nets learnt from many that hold three or four.
"""


def spell(nets: ort.InferenceSession, pictures: Array, widths: Sequence[float]) -> Array:
    """What each of the nets says of prepared pictures (N, rows, columns) shown so wide, as `decode` takes it."""
    # Some fifty at a time stay in the cache.
    parts = [pictures[i : i + 50] for i in range(0, len(pictures), 50)]
    views = (np.stack([_narrowed(part, width) for width in widths], axis=1) for part in parts)
    return np.concatenate([nets.run(None, {"pictures": view.astype(np.float32) / 255})[0] for view in views])


def _narrowed(pictures: Array, width: float) -> Array:
    """Prepared pictures (N, rows, columns) with everything in them `width` as wide as it was, in the middle."""
    count, rows, columns = pictures.shape
    narrow = round(width * columns)
    lines = cv2.resize(pictures.reshape(count * rows, columns), (narrow, count * rows), interpolation=cv2.INTER_LINEAR)
    out = np.zeros_like(pictures)
    left = (columns - narrow) // 2
    out[:, :, left : left + narrow] = lines.reshape(count, rows, narrow)
    return out


@cache
def shipped_net(name: str) -> ort.InferenceSession:
    """One of the nets that come with the program, `numbers` or `marks`, to be run on one thread."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    model = (files("recognize") / "model" / f"{name}.onnx").read_bytes()
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@lru_cache(maxsize=1)
def _calibration() -> Calibration:
    stored = json.loads((files("recognize") / "model" / "calibration.json").read_text(encoding="utf-8"))["numbers"]
    return Calibration(Odds(**stored["empty"]), Odds(**stored["filled"]))


_EVEN = 1e-7
"""Columns that say nothing with all but this probability need not be gone through one by one."""


def _steps(columns: Array) -> list[list[float]]:
    """The probabilities of the columns that say something, with one that says nothing for every run of others."""
    shares = np.exp(columns.astype(np.float64))
    idle = shares[:, _BLANK] > 1 - _EVEN
    # Between two like symbols there must be a column of nothing; a second one in a row changes nothing any more.
    keep = ~idle
    keep[1:] |= idle[1:] & ~idle[:-1]
    keep[0] = True
    return shares[keep].tolist()


def _probability(steps: list[list[float]], text: str) -> float:
    """The probability of one text: the forward sum over all ways to spell it."""
    # Plain floats: a field has a handful of steps, too few for arrays to pay.
    symbols = [SYMBOLS.index(c) for c in text]
    twice = [i > 0 and symbols[i] == symbols[i - 1] for i in range(len(symbols))]
    blank = [1.0] + [0.0] * len(symbols)
    ended = [0.0] * len(symbols)
    for step in steps:
        none = step[_BLANK]
        for i in range(len(symbols) - 1, -1, -1):
            before = blank[i] + (0.0 if i == 0 or twice[i] else ended[i - 1])
            blank[i + 1] = (blank[i + 1] + ended[i]) * none
            ended[i] = (ended[i] + before) * step[symbols[i]]
        blank[0] *= none
    return blank[-1] + (ended[-1] if ended else 0.0)


def _log_probabilities(columns: Array, texts: Sequence[str]) -> Array:
    """Natural log of the probability of each text by its columns: the forward sum over all ways to spell it."""
    count, steps, _ = columns.shape
    longest = max(len(text) for text in texts)
    states = np.full((count, 2 * longest + 1), _BLANK)
    for i, text in enumerate(texts):
        states[i, 1 : 2 * len(text) : 2] = [SYMBOLS.index(c) for c in text]
    skip = np.zeros(states.shape, bool)
    skip[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    share = np.exp(
        np.take_along_axis(columns, np.broadcast_to(states[:, None], (count, steps, states.shape[1])), axis=2)
    )
    share = share.astype(np.float64)
    alpha = np.zeros(states.shape)
    alpha[:, :2] = share[:, 0, :2]
    for t in range(1, steps):
        before = alpha.copy()
        before[:, 1:] += alpha[:, :-1]
        before[:, 2:] += alpha[:, :-2] * skip[:, 2:]
        alpha = before * share[:, t]
    last = 2 * np.array([len(text) for text in texts])
    total = alpha[np.arange(count), last]
    total += np.where(last > 0, alpha[np.arange(count), last - 1], 0)
    return np.log(np.maximum(total, 1e-300))


def _search(columns: Array) -> dict[str, float]:
    """The net's likeliest texts with their probabilities, falling (prefix search keeping the `_BEAM` best).

    "#" alone is struck out. A probability misses what was pruned on the way, some hundred-thousandths where the
    writing is clear.
    """
    # Plain floats: a step handles a handful of numbers, too few for arrays to pay.
    beam: dict[str, tuple[float, float]] = {"": (1.0, 0.0)}
    for step in np.exp(columns.astype(np.float64)).tolist():
        none = step[_BLANK]
        likely = [(symbol, share) for symbol, share in zip(SYMBOLS, step, strict=False) if share > _NEGLIGIBLE]
        if not likely:
            beam = {prefix: ((blank + ended) * none, 0.0) for prefix, (blank, ended) in beam.items()}
            continue
        grown: dict[str, list[float]] = {}
        for prefix, (blank, ended) in beam.items():
            last = prefix[-1:]
            own = grown.setdefault(prefix, [0.0, 0.0])
            own[0] += (blank + ended) * none
            if last:
                own[1] += ended * step[SYMBOLS.index(last)]
            for symbol, share in likely:
                if last == _STRUCK or (prefix and symbol in "-#"):
                    continue
                more = grown.setdefault(prefix + symbol, [0.0, 0.0])
                more[1] += (blank if symbol == last else blank + ended) * share
        ranked = sorted(((a + b, a, b, prefix) for prefix, (a, b) in grown.items()), reverse=True)[:_BEAM]
        least = _NEGLIGIBLE * ranked[0][0]
        beam = {prefix: (a, b) for both, a, b, prefix in ranked if both > least}
    found = sorted(beam, key=lambda text: -sum(beam[text]))
    return {text: sum(beam[text]) for text in found}
