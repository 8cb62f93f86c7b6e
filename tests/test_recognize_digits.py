import itertools

import cv2
import numpy as np
import pytest

from recognize import digits
from recognize.digits import SYMBOLS, read_number, read_numbers
from recognize.simulation.hand import Correction, make_writer, write_sheet
from templates import load_form

PX = 12
FORM = load_form("protocol", 4)
NUMBERS = [field for field in FORM.fields if field.kind == "number" and field.deal]


def blank_page() -> np.ndarray:
    """The form's lines alone, grey on white."""
    width, height = FORM.page
    page = np.full((round(height * PX), round(width * PX)), 235, np.uint8)
    for rule in FORM.rules:
        across, along = round(rule.at * PX), (round(rule.start * PX), round(rule.stop * PX))
        ends = ((along[0], across), (along[1], across)) if rule.horizontal else ((across, along[0]), (across, along[1]))
        cv2.line(page, *ends, 130, max(round(rule.width * PX), 1))
    return page


def written(values: dict[str, str], seed: int, corrections: dict[str, Correction] | None = None) -> list[np.ndarray]:
    """Cut-outs of the fields named, filled in by one made-up person, at the reader's six pixels a millimetre."""
    rng = np.random.default_rng(seed)
    page = write_sheet(blank_page(), PX, FORM, values, make_writer(rng), rng, corrections)
    page = cv2.resize(page, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    cuts = []
    for name in values:
        box = FORM.by_id[name].box.inset(-1.0)
        x, y, w, h = (round(v * PX / 2) for v in (box.x, box.y, box.w, box.h))
        cuts.append(page[y : y + h, x : x + w])
    return cuts


def some_numbers(seed: int, count: int = 60) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(NUMBERS), count, replace=False)
    return {NUMBERS[i].id: str(rng.integers(0, 10 ** int(rng.integers(1, 4)))) for i in chosen}


def test_numbers_of_made_up_people_are_read() -> None:
    right, count = 0, 0
    for seed in range(5):
        values = some_numbers(seed)
        readings = read_numbers(written(values, seed))
        right += sum(r.value == v for r, v in zip(readings, values.values(), strict=True))
        count += len(values)
    assert right / count > 0.93, f"{right} of {count}"


def test_confident_readings_are_hardly_ever_wrong() -> None:
    wrong, confident = 0, 0
    for seed in range(5, 10):
        values = some_numbers(seed)
        for reading, value in zip(read_numbers(written(values, seed)), values.values(), strict=True):
            if reading.confidence > 0.99:
                confident += 1
                wrong += reading.value != value
    assert confident > 150
    assert wrong <= 2


def test_empty_fields_are_empty_for_certain() -> None:
    values = {field.id: "" for field in NUMBERS[:200]}
    readings = read_numbers(written(values, 3))
    assert all(reading.value == "" and reading.probability("") > 0.98 for reading in readings)


def test_a_dash_is_neither_a_one_nor_nothing() -> None:
    values = {field.id: "-" for field in NUMBERS[7:150:6]}
    readings = [r for seed in range(3) for r in read_numbers(written(values, seed))]
    assert sum(reading.value == "-" for reading in readings) >= 0.95 * len(readings)
    assert not any(reading.value == "1" and reading.confidence > 0.9 for reading in readings)


def test_scribbled_out_with_nothing_beside_is_struck() -> None:
    values = {field.id: "" for field in NUMBERS[7:150:6]}
    fixes = {name: Correction("scribbled", "47") for name in values}
    readings = [r for seed in range(3) for r in read_numbers(written(values, seed, fixes))]
    assert sum(reading.struck > 0.5 and reading.value == "" for reading in readings) >= 0.8 * len(readings)


def test_a_number_beside_a_struck_one_counts_alone() -> None:
    values = {field.id: "6" for field in NUMBERS[7:150:6]}
    fixes = {name: Correction("struck", "8") for name in values}
    readings = [r for seed in range(3) for r in read_numbers(written(values, seed, fixes))]
    assert sum(reading.value == "6" for reading in readings) >= 0.7 * len(readings)


def test_a_reading_is_a_distribution() -> None:
    for reading in read_numbers(written(some_numbers(1, 30), 1)):
        best = reading.best(8)
        shares = [share for _, share in best]
        assert shares == sorted(shares, reverse=True)
        assert 0.5 < sum(shares) + reading.struck <= 1 + 1e-6
        assert reading.struck > 0.4 or best[0] == (reading.value, reading.confidence)
        assert reading.struck > 0.4 or reading.probability(reading.value) == reading.confidence
        assert all(0 <= reading.probability(text) <= 1 for text in ("", "-", "7", "24", "1999", "x", "#"))
        assert reading.probability("#") == reading.probability("12a") == 0


def test_one_at_a_time_is_as_good_as_a_batch() -> None:
    cuts = written(some_numbers(2, 20), 2)
    for alone, together in zip(map(read_number, cuts), read_numbers(cuts), strict=True):
        assert alone.value == together.value
        assert alone.confidence == pytest.approx(together.confidence, abs=1e-4)
    assert read_numbers([]) == []


def test_light_size_and_colour_hardly_matter() -> None:
    cuts = [cv2.cvtColor(cut, cv2.COLOR_BGR2GRAY) for cut in written(some_numbers(4, 40), 4)]
    plain = read_numbers(cuts)
    sure = [i for i, reading in enumerate(plain) if reading.confidence > 0.99]
    assert len(sure) > 20
    darker = [np.clip(cut * (0.45 + 0.3 * np.linspace(0, 1, cut.shape[1])), 0, 255).astype(np.uint8) for cut in cuts]
    larger = [cv2.resize(cut, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC) for cut in cuts]
    blue = [cv2.merge([np.maximum(cut, 120), cut, cut]) for cut in cuts]
    for others in (darker, larger, blue):
        same = sum(other.value == plain[i].value for i, other in enumerate(read_numbers(others)) if i in sure)
        assert same >= 0.95 * len(sure)


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((0, 5), np.uint8),
        np.zeros((20, 20), np.float32),
        np.zeros((20, 20, 4), np.uint8),
        np.zeros(9, np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(picture: np.ndarray) -> None:
    with pytest.raises(ValueError, match="picture"):
        read_number(picture)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (200, 3), (28, 28), (50, 57), (500, 900)])
def test_any_size_is_read_as_something(shape: tuple[int, int]) -> None:
    reading = read_number(np.full(shape, 200, np.uint8))
    assert reading.value == ""
    assert 0 <= reading.confidence <= 1


def random_columns(seed: int, steps: int = 4) -> np.ndarray:
    share = np.random.default_rng(seed).dirichlet(np.full(len(SYMBOLS) + 1, 0.3), steps)
    return np.log(np.maximum(share, 1e-9)).astype(np.float32)


def spelt(path: tuple[int, ...]) -> str:
    return "".join(SYMBOLS[s] for s, _ in itertools.groupby(path) if s < len(SYMBOLS))


def totals_of(columns: np.ndarray) -> dict[str, float]:
    """The probability of every text that the columns can spell, the long way."""
    share = np.exp(columns.astype(np.float64))
    totals: dict[str, float] = {}
    for path in itertools.product(range(len(SYMBOLS) + 1), repeat=len(columns)):
        text = spelt(path)
        totals[text] = totals.get(text, 0.0) + float(np.prod(share[np.arange(len(path)), path]))
    return totals


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_sums_over_all_spellings(seed: int) -> None:
    columns = random_columns(seed)
    totals = totals_of(columns)
    for text in ["", "7", "11", "-", "#", "3210", max(totals, key=totals.__getitem__)]:
        assert digits._probability(digits._steps(columns), text) == pytest.approx(
            totals.get(text, 0), rel=1e-5, abs=1e-12
        )
    allowed = {text: total for text, total in totals.items() if text == "#" or digits.is_text(text)}
    found = digits._search(columns)
    assert next(iter(found)) == max(allowed, key=allowed.__getitem__)
    assert all(share <= allowed[text] + 1e-6 for text, share in found.items())
    assert next(iter(found.values())) > 0.9 * max(allowed.values())


AS_IT_IS = digits.Calibration(digits.Odds(1, 0, 0, 1), digits.Odds(1, 0, 0, 1))


@pytest.mark.parametrize("seed", range(3))
def test_several_views_say_the_geometric_mean(seed: int) -> None:
    views = [random_columns(seed + 10 * i, steps=3) for i in range(2)]
    one, other = (totals_of(columns) for columns in views)
    means = {text: (one[text] * other[text]) ** 0.5 for text in one if text == "#" or digits.is_text(text)}
    reading = digits.decode(np.stack(views)[None], AS_IT_IS)[0]
    assert next(iter(reading.shares)) == max(means, key=means.__getitem__)
    assert sum(reading.shares.values()) < 1
    for text, share in reading.shares.items():
        in_each = (max(totals[text], digits._LEAST) for totals in (one, other))
        assert share * reading.total == pytest.approx(float(np.prod(list(in_each))) ** 0.5, rel=1e-4)
    # One that was not listed is weighed in the same way.
    unlisted = next(text for text in means if text not in reading.shares and means[text] > 1e-6 and text != "#")
    assert reading.probability(unlisted) == pytest.approx(means[unlisted] / reading.total, rel=1e-4)


def test_no_view_rules_out_what_the_others_see() -> None:
    sure, other = np.full((2, 1, 1, len(SYMBOLS) + 1), -80.0)
    sure[..., 6], other[..., 0] = 0.0, 0.0
    reading = digits.decode(np.concatenate([sure, other])[None], AS_IT_IS)[0]
    assert reading.probability("6") == pytest.approx(reading.probability("0"), rel=0.1) == pytest.approx(0.5, rel=0.1)


def test_calibrated_odds_grow_with_the_nets_own() -> None:
    odds = digits.Odds(0.7, -0.2, 0.5, 0.9999)
    claimed = [odds(np.log(p)) for p in (0.1, 0.5, 0.9, 0.99, 0.999999)]
    assert claimed == sorted(claimed)
    assert claimed[-1] <= 0.9999


def test_where_one_thing_is_sure_nothing_else_is_likely() -> None:
    blank = np.full((40, 90), 220, np.uint8)
    assert read_number(blank).probability("10") < 1e-6
    for reading in read_numbers(written(some_numbers(6, 30), 6)):
        if reading.confidence > 0.9999:
            others = [reading.probability(str(n)) for n in range(1000) if str(n) != reading.value]
            assert sum(others) < 1e-3


def test_only_what_two_views_leave_in_doubt_is_shown_twice_more() -> None:
    pictures = written(some_numbers(3), 3)
    readings = [r for blur in (0.6, 3) for r in read_numbers([cv2.GaussianBlur(p, (0, 0), blur) for p in pictures])]
    shown = {views: [r.top for r in readings if len(r.columns) == views and not r.bare] for views in (2, 4)}
    assert shown[2] and shown[4] and min(shown[2]) >= -1e-3
