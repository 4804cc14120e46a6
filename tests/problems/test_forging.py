"""Dynamics and contact: waves in bars, conservation, energy, and refinement."""

from math import sqrt

import numpy as np
import pytest

from supra.problems.die import Die
from supra.problems.elastoplastic import Material
from supra.problems.errors import ProblemError
from supra.problems.forging import Press, follow, forge
from supra.problems.sheet import Sheet

STEEL = Material()
ELASTIC = Material(strength=1e6)
LENGTH, HEIGHT, SPEED = 50.0, 15.0, 3000.0
FAR = Die.from_knots(np.full(2, 1e9), 0.0, 1.0)
WAVY = np.array([2.1, 0.6, 0.0, 3.1, 3.6, 1.2, 1.9, 2.8])


def block(ny=6, material=STEEL):
    return Sheet.from_rectangle(LENGTH, HEIGHT, (10 * ny // 3, ny), material.density)


def die_over_block(heights):
    return Die.from_knots(HEIGHT + np.asarray(heights) - np.min(heights), 0.0, LENGTH)


def press(heights=WAVY, ny=6, travel=6.0, steps=10, courant=0.9, material=STEEL):
    """The benchmark's block and die on a mesh of our choice."""
    sheet = block(ny, material)
    times = np.arange(1, steps + 1) / steps * travel / SPEED
    how = Press(die_over_block(heights), SPEED, sheet.outline, sheet.cells[0] + 1, courant)
    return follow(sheet, how, times, material)


# Waves in a bar


def force_of_impact(material, speed):
    """Stress under a die that hits a slender bar, before any wave comes back."""
    length, cells = 40.0, 160
    bar = Sheet.from_rectangle(0.5, length, (2, cells), material.density)
    die = Die.from_knots(np.full(2, length), -1.0, 2.0)
    back = 2 * length / sqrt(material.young / material.density)
    result = forge(bar, die, speed, np.linspace(0.3, 0.9, 7) * back, material)
    return result.force[1:].mean() / 0.5


def test_an_elastic_bar_meets_the_die_with_density_times_wave_speed_times_speed():
    expected = sqrt(ELASTIC.young * ELASTIC.density) * 100.0
    assert force_of_impact(ELASTIC, 100.0) == pytest.approx(expected, rel=5e-3)


def test_a_bar_hit_beyond_yield_sends_an_elastic_and_a_plastic_wave():
    # The first wave takes the velocity at which the bar yields, the slower one the rest.
    metal = Material(hardening=20e3)
    E, H, strength, density = metal.young, metal.hardening, metal.strength, metal.density
    at_yield = strength / sqrt(E * density)
    tangent = E * H / (E + H)
    expected = strength + sqrt(tangent * density) * (SPEED - at_yield)
    assert expected > 1.2 * strength
    assert force_of_impact(metal, SPEED) == pytest.approx(expected, rel=1e-2)


# Conservation


@pytest.mark.parametrize("material", [ELASTIC, STEEL])
def test_a_free_body_keeps_its_momentum_and_angular_momentum(material):
    body = Sheet.from_rectangle(5.0, 3.0, (8, 5), material.density)
    rng = np.random.default_rng(0)
    body.velocity[:] = 5000 * rng.uniform(-1, 1, body.velocity.shape)

    def momenta():
        (x, y), (u, v), m = body.position, body.velocity, body.mass
        return np.array([m @ u, m @ v, m @ (x * v - y * u)])

    # A floor for the step would change masses; far from crushing it does not act.
    before = momenta()
    result = follow(body, Press(FAR, 0.0, body.outline, 0), np.array([2e-5]), material)
    np.testing.assert_allclose(momenta(), before, rtol=1e-10, atol=1e-12 * np.abs(before).max())
    assert np.abs(result.positions[:, :, 0] - result.positions[:1, :1, 0]).max() > 1
    if material is STEEL:
        assert result.energy[0, 2] > 0


def test_an_elastic_free_body_keeps_its_energy():
    body = Sheet.from_rectangle(5.0, 3.0, (8, 5), ELASTIC.density)
    x, y = body.position / np.array([[5.0], [3.0]])
    body.velocity[:] = 2000 * np.array([np.cos(np.pi * x) * y, np.sin(np.pi * y) * x])
    before = 0.5 * body.mass @ (body.velocity**2).sum(axis=0)
    press = Press(FAR, 0.0, body.outline, 0, courant=0.1)
    energy = follow(body, press, np.linspace(1e-6, 1e-4, 100), ELASTIC).energy
    assert energy[:, 1].max() > 0.2 * before
    # Velocities are half a step beside the positions: the sum swings, but does not drift.
    total = energy.sum(axis=1) / before
    np.testing.assert_allclose(total, 1, atol=0.03)
    assert total[:50].mean() == pytest.approx(total[50:].mean(), abs=2e-3)


def test_the_die_s_work_is_kinetic_elastic_and_plastic_energy():
    result = press(ny=12)
    total = result.energy.sum(axis=1)
    np.testing.assert_allclose(total, result.work, rtol=3e-3)
    assert total[-1] == pytest.approx(result.work[-1], rel=3e-4)
    assert result.energy[-1, 0] < 1e-3 * result.work[-1]  # as good as in equilibrium
    assert (np.diff(result.energy[:, 2]) > 0).all()  # dissipation


# Contact


def test_no_node_is_inside_the_die():
    result = press(ny=12)
    die = die_over_block(WAVY)
    for k, travel in enumerate(np.arange(1, 11) / 10 * 6.0):
        x, y = result.positions[:, :, k].reshape(-1, 2).T
        assert (y - die.profile(x) + travel).max() < 1e-10


def test_the_die_only_pushes():
    assert (press(ny=12, steps=40).force >= 0).all()


def test_what_the_die_does_not_touch_follows_elastically():
    result = press(heights=[9, 9, 9, 9, 9, 9, 9, 0], travel=0.5)
    assert np.abs(result.positions[:6] - block().grid[:6, :, None]).max() < 1e-2
    assert result.positions[-1, -1, -1, 1] == pytest.approx(HEIGHT - 0.5, abs=0.02)


def test_the_bottom_does_not_move():
    result = press()
    np.testing.assert_array_equal(result.positions[:, 0], np.repeat(block().grid[:, :1], 10, 1))


def test_a_symmetric_die_deforms_symmetrically():
    heights = np.array([0.5, 2.0, 0.0, 3.0, 3.0, 0.0, 2.0, 0.5])
    positions = press(heights, ny=9).positions
    mirrored = positions[::-1] * [-1, 1] + [LENGTH, 0]
    np.testing.assert_allclose(positions, mirrored, atol=1e-8)


def test_a_mirrored_die_deforms_mirrored():
    mirrored = press(WAVY[::-1]).positions[::-1] * [-1, 1] + [LENGTH, 0]
    np.testing.assert_allclose(press().positions, mirrored, atol=1e-8)


# Refinement


def relative(a, b, start):
    """Difference of displacements."""
    return np.linalg.norm(a - b) / np.linalg.norm(b - start)


def test_half_the_step_of_time_changes_little():
    whole, half, quarter = (press(courant=c).positions for c in (0.8, 0.4, 0.2))
    start = block().grid[:, :, None]
    assert relative(whole, quarter, start) < 5e-3
    assert relative(half, quarter, start) < relative(whole, quarter, start)


@pytest.mark.slow
def test_displacements_converge_with_the_mesh():
    meshes = (6, 12, 24, 36)
    results = [press(ny=n, steps=4).positions[:: n // 3, :: n // 3] for n in meshes]
    start = block(3).grid[:, :, None]
    errors = [relative(r, results[-1], start) for r in results[:-1]]
    assert errors[0] > 1.5 * errors[1] > 1.5**2 * errors[2]
    assert errors[2] < 0.01


@pytest.mark.slow
def test_heavier_elements_do_not_change_the_result(monkeypatch):
    positions = press(ny=15).positions
    monkeypatch.setattr("supra.problems.forging.SHORTEST", 0.01)
    assert relative(positions, press(ny=15).positions, block(15).grid[:, :, None]) < 1e-3


# Errors


def test_a_crushed_block_says_so():
    sheet = block()
    times = np.linspace(0.1, 1, 10) * 14.9 / 1e6
    with pytest.raises(ProblemError, match=r"Elements were crushed.*20 × 6 elements.*less relief"):
        forge(sheet, die_over_block(WAVY), 1e6, times, STEEL)
