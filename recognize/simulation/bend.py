"""A sheet of paper bent in three dimensions: developable, so that no length on it changes.

Folded twice it is a little off that: lengths are kept along both directions of the creases, but a quarter leans two
ways at once and so is sheared, by the product of its slopes, where real paper bulges instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Points as rows."""

BendKind = Literal["flat", "arch", "edge", "wave", "roll", "fold"]

_STEP_MM = 0.1
_BEYOND_MM = 20.0
_FAR_MM = 20_000.0


@dataclass(frozen=True, slots=True)
class Bend:
    """How a sheet is bent: which kind, how many millimetres it rises, and along which direction on the page.

    `direction` is in degrees from the page's x axis (90 is down the page): along it the height changes, across it
    the sheet stays straight. `place` (0-1) shifts where along it the bend sits: the crest of an arch, the crease of
    a fold, the start of a lifted edge, the phase of a wave. `second` is the height of a second fold at right angles, in
    millimetres, whose crease sits at `second_place`; 0 is none.
    """

    kind: BendKind = "flat"
    height: float = 0.0
    direction: float = 0.0
    place: float = 0.5
    second: float = 0.0
    second_place: float = 0.5


@dataclass(frozen=True)
class Surface:
    """A sheet of `width` × `height` millimetres lying bent on the desk (height 0), its middle above (0, 0)."""

    bend: Bend
    width: float
    height: float

    @cached_property
    def _axes(self) -> tuple[Points, Points]:
        angle = np.deg2rad(self.bend.direction)
        along = np.array([np.cos(angle), np.sin(angle)])
        return along, np.array([-along[1], along[0]])

    @cached_property
    def _profile(self) -> tuple[Points, Points, Points]:
        return self._cross_section(self.bend, self._axes[0])

    @cached_property
    def _second(self) -> tuple[Points, Points, Points] | None:
        if not self.bend.second:
            return None
        return self._cross_section(Bend("fold", self.bend.second, place=self.bend.second_place), self._axes[1])

    def _cross_section(self, bend: Bend, along: Points) -> tuple[Points, Points, Points]:
        """Arc length, distance along the desk and height of the cross-section, beyond the sheet on both sides."""
        reach = (abs(along[0]) * self.width + abs(along[1]) * self.height) / 2
        count = int(np.ceil((reach + _BEYOND_MM) / _STEP_MM))
        arc = np.linspace(-count, count, 2 * count + 1) * _STEP_MM
        # The slope is the sine of the angle the paper makes with the desk, so rise and run follow with length kept.
        slope = _slope(bend, reach)((arc[:-1] + arc[1:]) / 2)
        run = np.concatenate([[0.0], np.cumsum(np.sqrt(1 - slope**2) * _STEP_MM)])
        rise = np.concatenate([[0.0], np.cumsum(slope * _STEP_MM)])
        run, rise = run - run[count], rise - rise[np.abs(arc) <= reach].min()
        # Beyond the sheet it is thought to go on straight, as far as any camera looks.
        ends = np.array([-_FAR_MM, _FAR_MM])
        straight = [np.sqrt(1 - slope[[0, -1]] ** 2) * ends, slope[[0, -1]] * ends]
        arc, run, rise = (
            np.concatenate([line[:1] + far[:1], line, line[-1:] + far[1:]])
            for line, far in ((arc, ends), (run, straight[0]), (rise, straight[1]))
        )
        return arc, run, rise

    def to_space(self, sheet: Points) -> Points:
        """(N, 2) millimetres on the sheet from its middle -> (N, 3): on the desk, and height above it."""
        along, across = self._axes
        arc, run, rise = self._profile
        t, u = sheet @ along, sheet @ across
        height = np.interp(t, arc, rise)
        if self._second is not None:
            height = height + np.interp(u, self._second[0], self._second[2])
            u = np.interp(u, *self._second[:2])
        flat = np.interp(t, arc, run)[:, None] * along + u[:, None] * across
        return np.concatenate([flat, height[:, None]], axis=1)

    def slope_at(self, sheet: Points) -> Points:
        """(N, 2) millimetres on the sheet -> (N, 2) slope of the paper there, height by desk x and y."""
        slope = np.zeros_like(sheet)
        for axis, section in zip(self._axes, (self._profile, self._second), strict=True):
            if section is not None:
                arc, run, rise = section
                t = sheet @ axis
                d = 0.5
                climb = np.interp(t + d, arc, rise) - np.interp(t - d, arc, rise)
                way = np.interp(t + d, arc, run) - np.interp(t - d, arc, run)
                slope = slope + (climb / way)[:, None] * axis
        return slope

    def hit(self, eye: Points, rays: Points) -> Points:
        """Where rays (N, 3) from the eye (3,) meet the sheet, as (N, 2) millimetres on it; beyond its edges it is
        thought to go on straight."""
        sections = [(self._axes[0], self._profile)]
        if self._second is not None:
            sections.append((self._axes[1], self._second))
        slant = rays[:, :2] / rays[:, 2:]
        lines = [(eye[:2] @ axis, slant @ axis, run, rise, np.gradient(rise, run)) for axis, (_, run, rise) in sections]
        z = np.zeros(len(rays))
        for _ in range(12):
            miss, steepness = z, np.ones(len(rays))
            for start, speed, run, rise, gradient in lines:
                s = start + speed * (z - eye[2])
                miss = miss - np.interp(s, run, rise)
                steepness = steepness - np.interp(s, run, gradient) * speed
            step = miss / steepness
            z = z - step
            if np.abs(step).max() < 1e-6:
                break
        desk = eye[:2] + slant * (z - eye[2])[:, None]
        along, across = self._axes
        t, u = np.interp(desk @ along, self._profile[1], self._profile[0]), desk @ across
        if self._second is not None:
            u = np.interp(u, self._second[1], self._second[0])
        return t[:, None] * along + u[:, None] * across


def _slope(bend: Bend, reach: float) -> Callable[[Points], Points]:
    """The sine of the paper's angle as a function of the arc length from the sheet's middle (|t| <= reach on it)."""
    h, length = bend.height, 2 * reach
    at = (bend.place - 0.5) * length

    def held(inner: Callable[[Points], Points]) -> Callable[[Points], Points]:
        """Beyond the sheet the paper is thought to go on as steep as at its edge."""
        return lambda t: inner(np.clip(t, -reach, reach))

    match bend.kind:
        case "flat":
            return np.zeros_like
        case "arch":
            # A crest at `at` falling to both edges: two half cosines that meet level.
            left, right = at + reach, reach - at

            def arch(t: Points) -> Points:
                side = np.where(t < at, left, right)
                u = np.abs(t - at) / side
                return np.sign(at - t) * h * np.pi / 2 / side * np.sin(np.pi * np.clip(u, 0, 1))

            return held(arch)
        case "edge":
            # Flat up to `at`, from there curving upwards to the far edge (along a diagonal: to the far corner).
            lifted = reach - at
            return held(lambda t: h * 2 * np.clip((t - at) / lifted, 0, 1) / lifted)
        case "wave":
            waves = 1.5
            turn = 2 * np.pi * waves / length
            return held(lambda t: h / 2 * turn * np.sin(turn * t + 2 * np.pi * bend.place))
        case "roll":
            # A piece of a cylinder, edges up: paper that was rolled for the post.
            radius = (reach**2 + h**2) / (2 * h)
            return held(lambda t: np.sin(t / radius))
        case "fold":
            # Two flat halves and a crease a few millimetres round, standing up like a roof or a valley.
            steep = h / reach
            return held(lambda t: -steep * np.tanh((t - at) / 2.0))
