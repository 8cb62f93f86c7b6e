"""What the nets learn from: who is learnt from at all, and how fields are composed. (Learning itself needs PyTorch.)"""

import numpy as np
import pytest

from recognize.simulation.hand import make_writer
from recognize.training.characters import load_writers, part_of
from recognize.training.fields import BORDER, KINDS, SCALE, STRUCK, Library, Sheet, number_field
from recognize.training.filled import marks_to_learn, numbers_to_calibrate, numbers_to_learn
from recognize.training.mark_fields import CANCELLED, EMPTY, MARKED, SIDE, _outlines

PEOPLE = [f"somebody_{i:03d}" for i in range(60)]
STROKE = np.array([[0, 0], [60, 120], [127, 255], [90, 160]])


def save_strokes(path, labels, people):
    strokes = [STROKE] * len(labels)
    np.savez(path, y=np.array(labels), w=np.array(people), region=np.full(len(labels), "USA"),
             pts=np.concatenate(strokes).astype(np.uint8),
             stroke_off=np.cumsum([0] + [len(s) for s in strokes]).astype(np.int32),
             char_off=np.arange(len(labels) + 1, dtype=np.int32),
             rel_size=np.ones((len(labels), 2), np.float32))  # fmt: skip


@pytest.fixture(scope="module")
def character_sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    for name, labels in (("digits", "0123456789"), ("symbols", "-")):
        everybody = [(label, person) for person in PEOPLE for label in labels]
        save_strokes(folder / f"unipen_{name}.npz", *zip(*everybody, strict=True))
    pictures = np.zeros((20, 28, 28), np.uint8)
    pictures[:, 5:23, 12:16] = 255
    labels = np.array(list("0123456789" * 2))
    for name in ("swiss_numbers_16", "semeion", "mnist", "optdigits_orig", "handwritten62_bd"):
        np.savez(folder / f"{name}.npz", X=pictures, y=labels, w=np.array(PEOPLE[:20]), near_cut=np.zeros(20, bool))
    return folder


def test_nobody_is_in_two_parts_and_nameless_sets_serve_training_only(character_sets):
    parts = {
        part: {writer.id: writer for writer in load_writers(character_sets, part, np.random.default_rng(0))}
        for part in ("train", "calibrate", "test")
    }
    for part, writers in parts.items():
        people = [name for name in writers if name in PEOPLE]
        assert people
        assert all(part_of(name) == part for name in people)
        assert ("optdigits_orig" in writers) is ("handwritten62_bd" in writers) is (part == "train")


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_says_what_stands_in_it(character_sets, kind):
    library = Library(load_writers(character_sets, "train", np.random.default_rng(0)))
    fields = [number_field(np.random.default_rng(seed), library, (9.4, 6.2), kind) for seed in range(8)]
    again = number_field(np.random.default_rng(0), library, (9.4, 6.2), kind)
    assert (again.picture == fields[0].picture).all()
    assert again.label == fields[0].label
    for field in fields:
        assert field.kind == kind
        assert 0 <= field.picture.min() < 0.9
        if kind in ("empty", "struck", "dash"):
            assert field.label == {"empty": "", "struck": STRUCK, "dash": "-"}[kind]
        else:
            assert field.label.removeprefix("-" if kind == "minus" else "").isdigit()


def test_a_mark_box_is_printed_where_the_camera_looks_for_it():
    for seed in range(5):
        sheet = Sheet((SIDE, SIDE))
        _outlines(np.random.default_rng(seed), sheet)
        inside = slice(round((BORDER + 0.5) * SCALE), round((BORDER + SIDE - 0.5) * SCALE))
        for side in (BORDER, BORDER + SIDE):
            assert sheet.paper[inside, round(side * SCALE)].max() < 0.95
            assert sheet.paper[round(side * SCALE), inside].max() < 0.95
        assert sheet.paper[inside, inside].min() == 1


@pytest.fixture(scope="module")
def made_up_people():
    return [make_writer(np.random.default_rng(seed)) for seed in range(6)]


def labels_of(fields):
    return [fact[0] for facts in fields.facts.values() for fact in facts]


def test_to_learn_from_a_sheet_is_what_stands_there_and_little_of_what_is_empty(made_up_people):
    sheets = [numbers_to_learn(made_up_people, 1, sheet) for sheet in (5, 8, 11)]
    again = numbers_to_learn(made_up_people, 1, 5)
    assert all((again.pictures[width] == pictures).all() for width, pictures in sheets[0].pictures.items())
    labels = [label for sheet in sheets for label in labels_of(sheet)]
    assert labels.count("") < len(labels) / 2
    # A box crossed out with nothing put beside is told apart from one in which nobody wrote.
    assert STRUCK in labels
    assert all(label.isdigit() for label in labels if label not in ("", "-", STRUCK))
    # A game has few odd totals of three figures; to learn from there is every number.
    assert {label[-1] for label in labels if label.isdigit()} == set("0123456789")


def test_to_calibrate_by_a_sheet_is_all_that_is_not_bare_and_crossed_out_is_empty(made_up_people):
    labels = [label for sheet in range(4) for label in labels_of(numbers_to_calibrate(made_up_people, 1, sheet))]
    assert STRUCK not in labels
    assert labels.count("") > len(labels) / 2


def test_mark_boxes_of_a_sheet_say_whether_they_are_marked_or_cancelled(made_up_people):
    pictures, says = marks_to_learn(made_up_people, 1, 2)
    assert len(pictures) == len(says)
    assert set(says) == {EMPTY, MARKED, CANCELLED}
    inside = [picture[8:-8, 8:-8].mean() for picture in pictures]
    ink = {what: np.mean([i for i, said in zip(inside, says, strict=True) if said == what]) for what in set(says)}
    assert ink[EMPTY] < ink[MARKED] < ink[CANCELLED]
