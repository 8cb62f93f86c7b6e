import json
from collections import Counter

import numpy as np
import pytest

from benchmarks.reading import CONVENTIONS, _count_settlement, _spots, fill_in, kept, report, run, wilson
from recognize.simulation.table import UNFORESEEN


def test_sheets_are_of_every_kind():
    papers = [fill_in(seed, np.random.default_rng(seed)) for seed in range(80)]
    assert Counter(paper.game.convention for paper in papers) == dict.fromkeys(CONVENTIONS, 20)
    assert Counter((paper.game.convention, paper.form.players) for paper in papers)["rostov", 3] == 10
    assert sum(not paper.slips for paper in papers) >= 10
    assert {slip.kind for paper in papers for slip in paper.slips} > set(UNFORESEEN)
    assert any(paper.forgotten for paper in papers)
    assert {fix.kind for paper in papers for fix in paper.fixes.values()} >= {"struck", "overwritten", "cancelled"}
    for paper in papers:
        assert set(paper.values) | set(paper.fixes) <= set(paper.form.by_id)
        assert set().union(*(_spots(slip) for slip in paper.slips)) <= set(paper.form.by_id)


def test_every_total_on_the_paper_is_settled_by_those_below_zero_too():
    paper = next(
        paper
        for paper in (fill_in(seed, np.random.default_rng(seed)) for seed in range(3, 400, 4))
        if any(value.startswith("-") and len(value) > 1 for value in paper.values.values())
    )
    numbers = [
        name for name, value in paper.values.items()
        if name.split(".")[1] in ("pool", "mountain", "whists") and value not in ("", "-")
    ]  # fmt: skip
    assert len(paper.as_written().written) == len(numbers)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"), [(0, 100, 0.0, 0.0370), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)]
)
def test_wilsons_interval(part, whole, low, high):
    assert wilson(part, whole) == pytest.approx((low, high), abs=1e-4)


def test_a_run_that_was_broken_off_goes_on_with_what_is_left(tmp_path):
    path = tmp_path / "reading-clean.jsonl"
    done = {
        "seed": 8,
        "players": 3,
        "convention": "sochi",
        "program": "-",
        "ms": {},
        "count": {"sheets": 1, "found": 1},
    }
    path.write_text(json.dumps(done) + '\n{"seed": 9, "pla', "utf-8")
    run([8, 9], "clean", None, None, 1, path)
    records = kept(path)
    assert records[8] == done
    assert sorted(records) == [8, 9]
    assert records[9]["count"]["fields"] > 600
    assert set(records[9]["ms"]) == {"simulate", "decode", "find", "read", "decide"}
    before = path.read_text("utf-8")
    run([8, 9], "clean", None, None, 1, path)
    assert path.read_text("utf-8") == before
    text = report(list(records.values()), "clean")
    assert "clean: 2 sheets" in text
    assert "READ BY 2 DIFFERENT PROGRAMS" in text


def test_a_sheet_that_asks_is_not_counted_as_settled():
    class Asking:
        asked = {"d01.pool.A"}

    count = Counter()
    _count_settlement(count, fill_in(1, np.random.default_rng(1)), Asking())
    assert not count
