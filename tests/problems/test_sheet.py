"""Elements and their forces: patch test, energy, and the stable step against eigenvalues."""

import numpy as np
import pytest

from supra.problems.elastoplastic import Material, moduli, respond
from supra.problems.errors import ProblemError
from supra.problems.sheet import Sheet, energies, set_forces, weigh

STEEL = Material()
LAW = moduli(STEEL)
ELASTIC = LAW._replace(strength=1e9)


def sheet(cells=(7, 6), length=5.0, height=3.0):
    return Sheet.from_rectangle(length, height, cells, STEEL.density)


def forces(body, law):
    set_forces(body, law)
    nx, ny = body.cells
    return body.force.reshape(2, ny + 1, nx + 1)


@pytest.mark.parametrize("size", [1e-4, 0.2])  # elastic, and far into the plastic range
def test_patch_test(size):
    """A uniform deformation is in equilibrium inside, with the tractions P N on the sides."""
    body, rng = sheet(), np.random.default_rng(0)
    F = np.eye(2) + size * rng.uniform(-1, 1, (2, 2))
    body.position[:] = F @ body.position
    f = forces(body, LAW)
    stress, _, alpha = respond(tuple(F.ravel()), (1.0, 0.0, 1.0), 0.0, LAW)
    P = np.reshape(stress, (2, 2))
    assert (alpha > 0) == (size > 0.1)
    scale = np.abs(P).max()
    np.testing.assert_allclose(f[:, 1:-1, 1:-1], 0, atol=1e-10 * scale)
    np.testing.assert_allclose(f[:, 1:-1].sum(axis=(1, 2)), 0, atol=1e-10 * scale)
    np.testing.assert_allclose(-f[:, -1].sum(axis=1), P[:, 1] * 5, rtol=1e-9)
    np.testing.assert_allclose(-f[:, :, -1].sum(axis=1), P[:, 0] * 3, rtol=1e-9)


def test_a_pressed_bar_carries_the_closed_form_s_force():
    E, nu, strength, H, _ = STEEL
    body = sheet((2, 20), 1.0, 10.0)
    start = body.position.copy()
    for strain in -np.linspace(0, 0.4, 30)[1:]:
        alpha = (E * abs(strain) - strength) / (E + H)
        stress = -(strength + H * alpha)
        across = -nu * stress / E + alpha / 2
        body.position[:] = np.exp([[across], [strain]]) * start
        f = forces(body, LAW)
        np.testing.assert_allclose(-f[1, -1].sum(), stress / np.exp(strain), rtol=1e-9)
        np.testing.assert_allclose(f[0], 0, atol=1e-8)
    np.testing.assert_allclose(body.plastic()[..., 3], alpha, rtol=1e-9)


def wobbled(body, size, seed=1):
    rng = np.random.default_rng(seed)
    body.position[:] += size * rng.uniform(-1, 1, body.position.shape)
    return body


def test_elastic_forces_are_the_energy_s_gradient():
    body = wobbled(sheet((3, 2)), 0.01)
    f = forces(body, ELASTIC).reshape(2, -1).copy()
    step = 1e-6
    for index in np.ndindex(body.position.shape):
        values = []
        for sign in (1, -1):
            body.position[index] += sign * step
            values.append(energies(body, ELASTIC)[1])
            body.position[index] -= sign * step
        assert -f[index] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5, abs=1e-2)


def highest_frequency(body):
    """Of the linearised elastic motion, from differences of the forces."""
    f = lambda: forces(body, ELASTIC).ravel().copy()  # noqa: E731
    columns, step = [], 1e-7
    for index in np.ndindex(body.position.shape):
        body.position[index] += step
        ahead = f()
        body.position[index] -= 2 * step
        columns.append((f() - ahead) / (2 * step))
        body.position[index] += step
    stiffness = np.array(columns)
    root = np.sqrt(np.tile(body.mass, 2))
    symmetric = stiffness / root / root[:, None]
    return np.sqrt(np.linalg.eigvalsh((symmetric + symmetric.T) / 2)[-1])


def stretched(body, F):
    """Deformed plastically, as far as the state knows, so that stresses do not matter."""
    F = np.array(F)
    body.position[:] = F @ body.position
    C = np.linalg.inv(F) @ np.linalg.inv(F).T
    body.state[:] = np.repeat([C[0, 0], C[0, 1], C[1, 1], 0.0], body.state.shape[-1] // 4)
    return body


@pytest.mark.parametrize(
    "F",
    [
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.5, 0.0], [0.0, 0.5]],
        [[1.0, 0.9], [0.0, 1.0]],
        [[1.2, 1.0], [-0.2, 0.6]],
    ],
)
def test_the_stable_step_is_two_over_the_highest_frequency(F):
    body = stretched(sheet((6, 6), 3.0, 3.0), F)
    step = weigh(body, LAW, 0.0)
    limit = 2 / highest_frequency(body)
    assert 0.75 * limit < step <= 1.0001 * limit


def test_heavier_elements_are_stable_at_the_step_that_was_asked_for():
    body = stretched(sheet((6, 6), 3.0, 3.0), [[1.5, 0.0], [0.0, 0.5]])
    short = weigh(body, LAW, 0.0)
    assert weigh(body, LAW, 2 * short) == pytest.approx(2 * short)
    assert 2 * short <= 1.0001 * 2 / highest_frequency(body)
    assert body.mass.sum() == pytest.approx(4 * STEEL.density * 9)


def test_masses_add_up_to_the_body_s():
    body = sheet()
    assert body.mass.sum() == pytest.approx(STEEL.density * 15)
    before = body.mass.copy()
    weigh(body, LAW, 0.0)
    np.testing.assert_allclose(body.mass, before, rtol=1e-12)


def test_a_folded_element_has_no_stable_step():
    body = sheet()
    body.position[1, 10] += 2.0
    assert weigh(body, LAW, 0.0) == 0


def test_elements_beyond_the_last_full_strip_are_counted_once():
    for cells in [(1, 1), (32, 1), (33, 1), (31, 2)]:
        body = sheet(cells)
        F = np.array([[1.001, 0.0], [0.0, 1.0]])
        body.position[:] = F @ body.position
        stress = respond(tuple(F.ravel()), (1.0, 0.0, 1.0), 0.0, LAW)[0]
        f = forces(body, LAW)
        assert f[0, :, 0].sum() == pytest.approx(3 * stress[0])
        assert body.plastic().shape == (cells[0] * cells[1], 4, 4)


def test_the_grid_has_columns_first_and_the_outline_is_sides_and_top():
    body = sheet((4, 2), 4.0, 2.0)
    x, y = np.meshgrid(np.arange(5.0), np.arange(3.0), indexing="ij")
    np.testing.assert_array_equal(body.grid, np.stack([x, y], axis=-1))
    points = body.position[:, body.outline].T
    assert sorted(map(tuple, points)) == [
        (0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 1), (4, 2),
    ]  # fmt: skip


def test_a_sheet_of_no_size_is_refused():
    with pytest.raises(ProblemError, match="positive sides and at least one element"):
        sheet((0, 3))
