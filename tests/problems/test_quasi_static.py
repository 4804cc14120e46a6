"""The block against static equilibria: Newton's method with the consistent tangent as an oracle."""

import numpy as np
import pytest

from supra.problems import elastoplastic
from supra.problems.die import Die
from supra.problems.elastoplastic import Material, moduli
from supra.problems.forging import Forging, forge
from supra.problems.sheet import Sheet

from .quasi_static import (
    Block,
    Equilibrium,
    State,
    bulk_and_shear,
    equilibrium,
    press,
    respond,
)

STEEL = Material()
LENGTH, HEIGHT, CELLS = 50.0, 15.0, (20, 6)
BLOCK = Block.from_rectangle(LENGTH, HEIGHT, CELLS)
METRE_PER_SECOND = 1e3  # mm/s


def random_gradients(rng, count, size):
    return np.eye(2) + size * rng.uniform(-1, 1, (count, 2, 2))


def differences(F, state, step):
    """∂P/∂F by central differences."""
    slopes = np.empty((len(F), 2, 2, 2, 2))
    for k, j in np.ndindex(2, 2):
        move = np.zeros((2, 2))
        move[k, j] = step
        ahead, behind = respond(F + move, state, STEEL), respond(F - move, state, STEEL)
        slopes[..., k, j] = (ahead.stress - behind.stress) / (2 * step)
    return slopes


# The law at a point


@pytest.mark.parametrize(
    ("size", "step", "flows"), [(1e-4, 1e-6, False), (0.01, 1e-7, True), (0.1, 1e-6, True)]
)
def test_the_tangent_is_the_derivative_of_the_stress(size, step, flows):
    rng = np.random.default_rng(0)
    F = random_gradients(rng, 20, size)
    state = respond(F, State.virgin(20), STEEL).state
    F = random_gradients(rng, 20, size) @ F
    response = respond(F, state, STEEL)
    assert (response.state.alpha > state.alpha).all() == flows
    error = np.abs(response.tangent - differences(F, state, step))
    assert error.max() < 1e-6 * np.abs(response.tangent).max()


@pytest.mark.parametrize("stretch", [1e-4, 0.05])
def test_the_tangent_is_exact_where_the_principal_values_are_equal(stretch):
    c, s = np.cos(0.3), np.sin(0.3)
    turned = (1 + stretch) * np.array([[[c, -s], [s, c]]])
    apart = turned @ np.diag([1 + 1e-9, 1 - 1e-9])  # they have a direction, but nearly none
    F, state = np.concatenate([turned, apart]), State.virgin(2)
    tangent = respond(F, state, STEEL).tangent
    np.testing.assert_allclose(tangent, differences(F, state, 1e-6), atol=1e-6 * tangent.max())


def test_the_tangent_is_symmetric_because_an_increment_has_a_potential():
    rng = np.random.default_rng(1)
    state = respond(random_gradients(rng, 20, 0.05), State.virgin(20), STEEL).state
    tangent = respond(random_gradients(rng, 20, 0.1), state, STEEL).tangent
    np.testing.assert_allclose(
        tangent, tangent.transpose(0, 3, 4, 1, 2), atol=1e-12 * np.abs(tangent).max()
    )


@pytest.mark.parametrize("size", [3e-4, 1e-3, 0.01, 0.03])
def test_both_laws_give_the_same_stress_and_state_on_random_paths(size):
    rng, law = np.random.default_rng(2), moduli(STEEL)
    F, state = np.tile(np.eye(2), (10, 1, 1)), State.virgin(10)
    for _ in range(10):
        before = state
        F = random_gradients(rng, 10, size) @ F
        stress, _, state, _ = respond(F, before, STEEL)
        for p in range(10):
            plastic = tuple(before.plane[p].ravel()[[0, 1, 3]])
            theirs = elastoplastic.respond(tuple(F[p].ravel()), plastic, before.alpha[p], law)
            np.testing.assert_allclose(np.ravel(stress[p]), theirs[0], atol=1e-8 * STEEL.strength)
            np.testing.assert_allclose(state.plane[p].ravel()[[0, 1, 3]], theirs[1], atol=1e-12)
            assert state.alpha[p] == pytest.approx(theirs[2], rel=1e-9, abs=1e-13)


def test_plastic_flow_keeps_the_volume_and_pressure_alone_changes_it():
    rng, (bulk, _) = np.random.default_rng(3), bulk_and_shear(STEEL)
    F, state = np.tile(np.eye(2), (20, 1, 1)), State.virgin(20)
    for _ in range(10):
        F = random_gradients(rng, 20, 0.05) @ F
        stress, _, state, thickness = respond(F, state, STEEL)
        # The thickness has its own plastic part, which the solver takes from det C_p = 1.
        np.testing.assert_allclose(np.linalg.det(state.plane) * state.across, 1, atol=1e-13)
        pressure = np.trace(stress @ F.swapaxes(1, 2), axis1=1, axis2=2) / 3
        volume = np.linalg.det(F) * thickness
        np.testing.assert_allclose(np.log(volume), pressure / bulk, atol=1e-13)
    assert np.abs(thickness - 1).max() > 0.1


# Newton's method


@pytest.fixture(scope="module")
def flowing() -> list[Equilibrium]:
    """Two increments of 0.1 mm, after which every point has yielded."""
    found = press(BLOCK, np.array([0.1, 0.2]), STEEL)
    assert (found[-1].state.alpha > 0).all()
    return found


def next_increment(flowing, tangent_of=None, steps=30):
    start = 2 * flowing[1].displacement - flowing[0].displacement
    return equilibrium(BLOCK, start, flowing[1].state, STEEL, tangent_of=tangent_of, steps=steps)


def orders(residuals):
    """Observed order from each three successive residuals."""
    falls = np.diff(np.log(residuals))
    return falls[1:] / falls[:-1]


def test_the_stiffness_is_the_derivative_of_the_forces(flowing):
    rng = np.random.default_rng(4)
    at, state = next_increment(flowing).displacement, flowing[1].state
    move = rng.uniform(-1, 1, at.shape)

    def forces(u):
        return BLOCK.force(respond(BLOCK.deformation(u), state, STEEL).stress).ravel()

    slope = (forces(at + 1e-6 * move) - forces(at - 1e-6 * move)) / 2e-6
    stiffness = BLOCK.stiffness(respond(BLOCK.deformation(at), state, STEEL).tangent)
    np.testing.assert_allclose(stiffness @ move.ravel(), slope, atol=1e-6 * np.abs(slope).max())


def test_newton_s_method_converges_quadratically_with_the_consistent_tangent(flowing):
    found = next_increment(flowing)
    assert (found.state.alpha > flowing[1].state.alpha).all()  # every point flows
    assert found.residuals[-1] < 1e-9  # N, round-off: the die's force is 4 kN
    above = np.array([r for r in found.residuals if r > 1e-8])
    assert len(above) >= 5
    assert above[0] > 10
    assert above[-1] < 1e-5
    assert (above[1:] < 0.03 * above[:-1] ** 2).all()
    assert (orders(above) > 1.8).all()


@pytest.mark.parametrize(
    ("other", "rate"),
    [
        (STEEL._replace(strength=1e9), 0.99),  # the elastic tangent
        (STEEL._replace(hardening=1.1 * STEEL.hardening), 0.07),
    ],
)
def test_with_another_metal_s_tangent_it_converges_only_linearly(flowing, other, rate):
    residuals = next_increment(flowing, tangent_of=other, steps=8).residuals
    np.testing.assert_allclose(np.divide(residuals[5:], residuals[4:-1]), rate, atol=0.01)
    np.testing.assert_allclose(orders(residuals[3:]), 1, atol=0.1)


def test_the_die_only_pushes_in_equilibrium_so_that_contact_is_where_it_is_prescribed(flowing):
    for found in flowing:
        assert (found.force[BLOCK.top, 1] < 0).all()
        # What the die presses the bottom holds, and nothing acts sideways.
        np.testing.assert_allclose(found.force.sum(axis=0), 0, atol=1e-8)


# Against explicit dynamics


def forged(travel: float, speed: float, outputs: int) -> Forging:
    """The same mesh under a flat die at a speed in m/s."""
    sheet = Sheet.from_rectangle(LENGTH, HEIGHT, CELLS, STEEL.density)
    flat = Die.from_knots(np.full(2, HEIGHT), 0.0, LENGTH)
    speed = speed * METRE_PER_SECOND
    times = travel / speed * np.arange(1, outputs + 1) / outputs
    return forge(sheet, flat, speed, times, STEEL)


def against_equilibrium(found: list[Equilibrium], travel: float, speed: float):
    """Relative differences of displacements and of mean forces, at every tenth of the travel."""
    outputs, every = 10, len(found) // 10
    dynamic = forged(travel, speed, outputs)
    columns, rows = CELLS[0] + 1, CELLS[1] + 1
    moved = np.stack([e.displacement for e in found[every - 1 :: every]], axis=1)
    moved = moved.reshape(rows, columns, outputs, 2).swapaxes(0, 1)
    start = BLOCK.nodes.reshape(rows, columns, 1, 2).swapaxes(0, 1)
    apart = size(dynamic.positions - start - moved) / size(moved)
    force = np.array([0.0] + [-e.force[BLOCK.top, 1].sum() for e in found])
    mean = ((force[1:] + force[:-1]) / 2).reshape(outputs, every).mean(axis=1)
    return apart, np.abs(dynamic.force / mean - 1)


def size(u):
    """Norm of displacements (columns, rows, t, 2) at each time."""
    return np.sqrt((u**2).sum(axis=(0, 1, 3)))


# The first tenth is left out: the die has just hit the block, and waves go to and fro in it.


def test_slower_dies_come_closer_to_equilibrium():
    """Half the travel. Increments of 0.05 mm leave 0.0003 of the displacements themselves."""
    found = press(BLOCK, np.linspace(0, 3, 61)[1:], STEEL)
    fast, slow = (against_equilibrium(found, 3.0, speed) for speed in (3.0, 1.5))
    assert fast[0][1:].max() < 0.01
    assert fast[0][-1] < 0.003
    assert fast[1][1:].max() < 1e-3
    assert slow[0][1:].max() < fast[0][1:].max() / 2.5
    assert slow[1][1:].max() < fast[1][1:].max() / 2.5


@pytest.mark.slow
def test_explicit_dynamics_tends_to_equilibrium_over_the_whole_travel():
    """What a slow die leaves is the static solver's own error, of first order in its increments."""
    coarse, fine = (press(BLOCK, np.linspace(0, 6, n + 1)[1:], STEEL) for n in (120, 240))
    for speed, largest in [(3.0, 5e-3), (1.5, 1.5e-3), (0.75, 5e-4)]:
        apart, force = against_equilibrium(fine, 6.0, speed)
        assert apart[1:].max() < largest
        assert force[1:].max() < 1.5e-4
    less = apart[-1] / against_equilibrium(coarse, 6.0, 0.75)[0][-1]
    assert less == pytest.approx(0.5, abs=0.05)
