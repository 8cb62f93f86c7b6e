"""A sheet folded twice, as the simulated camera sees it: the truth that finding is measured by must be the truth."""

import numpy as np
import pytest

from recognize.simulation.bend import Bend, Surface

FOLDS = [Bend("fold", 12, 3, 0.5, second=-15, second_place=0.48), Bend("fold", -8, 90, 1 / 3, second=20)]
EYE = np.array([40.0, 120.0, 500.0])


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(1).uniform((-148, -105), (148, 105), (500, 2))


@pytest.mark.parametrize("bend", FOLDS)
def test_what_the_camera_sees_of_a_point_is_that_point(bend, points):
    surface = Surface(bend, 297, 210)
    assert np.allclose(surface.hit(EYE, surface.to_space(points) - EYE), points, atol=1e-6)


@pytest.mark.parametrize("bend", FOLDS)
def test_lengths_along_the_creases_are_kept(bend, points):
    surface = Surface(bend, 297, 210)
    angle = np.deg2rad(bend.direction)
    for axis in ((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))):
        step = surface.to_space(points + 0.01 * np.array(axis)) - surface.to_space(points)
        assert np.allclose(np.linalg.norm(step, axis=1), 0.01, rtol=1e-4)


def test_both_creases_stand_up_as_high_as_they_should():
    def rise(bend: Bend) -> float:
        surface = Surface(bend, 297, 210)
        x, y = np.meshgrid(np.linspace(-148, 148, 149), np.linspace(-105, 105, 106))
        height = surface.to_space(np.column_stack([x.ravel(), y.ravel()]))[:, 2]
        return float(height.max() - height.min())

    assert rise(Bend("fold", 12, 0, 0.5)) == pytest.approx(12, abs=0.5)
    assert rise(Bend("fold", 12, 0, 0.5, second=8)) == pytest.approx(20, abs=0.5)
