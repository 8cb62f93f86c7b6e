"""Prepared pictures of number fields, by their width, with what is known of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recognize.digits import HEIGHT, WIDTHS
from recognize.training.characters import Array

Fact = tuple[str, str, str, str, str]
"""What is known of a picture: label, kind, writer, group, level."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Prepared pictures by their width, and for each its row in `facts`."""

    pictures: dict[int, Array]
    facts: dict[int, list[Fact]]

    @property
    def count(self) -> int:
        """How many fields there are."""
        return sum(len(facts) for facts in self.facts.values())


def by_width(found: Sequence[tuple[Array, Fact]]) -> Fields:
    """Prepared pictures and what is known of each, in order."""
    none = {width: np.zeros((0, HEIGHT, width), np.uint8) for width in WIDTHS}
    pictures = {width: [picture for picture, _ in found if picture.shape[1] == width] for width in WIDTHS}
    facts = {width: [fact for picture, fact in found if picture.shape[1] == width] for width in WIDTHS}
    return Fields({width: np.stack(own) if own else none[width] for width, own in pictures.items()}, facts)


def joined(parts: Sequence[Fields]) -> Fields:
    """All fields of the parts, in order."""
    return Fields(
        {width: np.concatenate([part.pictures[width] for part in parts]) for width in WIDTHS},
        {width: [fact for part in parts for fact in part.facts[width]] for width in WIDTHS},
    )
