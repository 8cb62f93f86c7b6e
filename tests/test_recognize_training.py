"""What the nets learn from: who is learnt from at all, and how fields are composed. (Learning itself needs PyTorch.)"""

import numpy as np
import pytest

from recognize.training.characters import load_writers, part_of
from recognize.training.fields import BORDER, KINDS, SCALE, STRUCK, Library, Sheet, number_field
from recognize.training.mark_fields import SIDE, _outlines

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
