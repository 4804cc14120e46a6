"""The die's curve, and contact with it."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from supra.problems.contact import pushed_out, surface
from supra.problems.die import Die
from supra.problems.errors import ProblemError

HEIGHTS = np.array([15.0, 18.2, 16.1, 16.1, 17.5, 15.3, 18.9, 16.6])
DIE = Die.from_knots(HEIGHTS, 0.0, 50.0)


def test_between_inner_knots_the_curve_is_the_monotone_hermite_interpolant():
    knots = np.linspace(0, 50, 8)
    x = np.linspace(knots[1], knots[-2], 301)
    np.testing.assert_allclose(DIE.profile(x), PchipInterpolator(knots, HEIGHTS)(x), atol=1e-12)
    np.testing.assert_allclose(DIE.profile(knots), HEIGHTS, atol=1e-12)


def test_the_curve_stays_between_neighbouring_knots():
    for seed in range(50):
        die = Die.from_knots(np.random.default_rng(seed).random(8), 0.0, 7.0)
        values = die.profile(np.linspace(0, 7, 701))[:-1].reshape(7, 100)
        low = np.minimum(die.heights[:-1], die.heights[1:])
        high = np.maximum(die.heights[:-1], die.heights[1:])
        assert (values.min(axis=1) >= low - 1e-12).all()
        assert (values.max(axis=1) <= high + 1e-12).all()


def test_the_curve_is_level_at_its_ends_and_beyond():
    assert (DIE.slopes[[0, -1]] == 0).all()
    np.testing.assert_array_equal(DIE.profile(np.array([-3.0, 52.0])), HEIGHTS[[0, -1]])


def test_the_compiled_curve_is_the_same_and_its_slope_is_its_derivative():
    for x in np.linspace(-4, 54, 117):
        height, slope = surface(DIE, x)
        assert height == pytest.approx(DIE.profile(np.array([x]))[0], abs=1e-12)
        near = DIE.profile(np.array([x - 1e-6, x + 1e-6]))
        assert slope == pytest.approx(np.diff(near)[0] / 2e-6, abs=1e-5)


def test_a_point_inside_goes_to_the_surface_along_its_normal():
    travel = 2.0
    for x in np.linspace(-2, 52, 41):
        height, slope = surface(DIE, x)
        new_x, new_y = pushed_out(DIE, travel, x, height - travel + 1e-3)
        assert new_y == pytest.approx(surface(DIE, new_x)[0] - travel, abs=1e-12)
        moved = np.array([new_x - x, new_y - (height - travel + 1e-3)])
        assert moved @ [1, slope] == pytest.approx(0, abs=1e-12)
        assert moved[1] < 0


def test_a_point_outside_stays():
    assert pushed_out(DIE, 1.0, 20.0, 10.0) == (20.0, 10.0)


@pytest.mark.parametrize(
    ("heights", "right"), [([15.0], 50.0), ([15.0, np.nan], 50.0), ([15.0, 16.0], -1.0)]
)
def test_what_is_no_die_is_refused(heights, right):
    with pytest.raises(ProblemError, match="at least two knots of finite height"):
        Die.from_knots(np.array(heights), 0.0, right)
