"""The finite-volume scheme: free stream, exact fluxes, symmetries of the equations."""

import numpy as np
import pytest

from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.euler import all_primitive, face_value, residual, roe_flux
from supra.problems.gas import GAMMA, free_stream, mach_number

THETA = np.array([0, 0.05, -0.03, 0.02, -0.05, 0.04, 0.01, -0.02])
LEFT, RIGHT = (1.0, 0.7, -0.2, 1.0), (0.8, 0.5, 0.1, 1.3)
NORMAL = np.array([0.6, 1.1])


def exact_flux(flow: tuple, normal: np.ndarray) -> np.ndarray:
    r, u, v, p = flow
    through = r * (u * normal[0] + v * normal[1])
    enthalpy = GAMMA / (GAMMA - 1) * p / r + (u * u + v * v) / 2
    return np.array(
        [through, through * u + p * normal[0], through * v + p * normal[1], through * enthalpy]
    )


def test_the_free_stream_is_preserved_on_the_curved_grid() -> None:
    mesh = CellMesh.from_grid(CGrid().points(THETA), wake=50)
    free = free_stream(0.8, incidence=3.0)
    out = residual(mesh, np.tile(free, (len(mesh.areas), 1)), free)
    away_from_wall = np.setdiff1d(np.arange(len(out)), mesh.wall[:, 0])
    assert np.abs(out[away_from_wall]).max() < 1e-11


def test_equal_states_give_the_exact_flux() -> None:
    np.testing.assert_allclose(roe_flux(LEFT, LEFT, NORMAL), exact_flux(LEFT, NORMAL), rtol=1e-12)


def test_supersonic_flow_is_upwind() -> None:
    fast, other = (1.0, 3.0, 0.0, 1.0), (1.1, 3.1, 0.1, 0.9)
    flux = roe_flux(fast, other, np.array([1.0, 0.0]))
    np.testing.assert_allclose(flux, exact_flux(fast, np.array([1.0, 0.0])), atol=1e-12)


def test_a_contact_at_rest_stays_sharp() -> None:
    flux = roe_flux((1.0, 0.0, 0.3, 1.0), (5.0, 0.0, -0.2, 1.0), np.array([1.0, 0.0]))
    np.testing.assert_allclose(flux, [0, 1, 0, 0], atol=1e-14)


def test_the_flux_turns_with_the_flow_and_changes_sign_with_the_side() -> None:
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s], [s, c]])

    def turned(flow: tuple) -> tuple:
        return (flow[0], *map(float, turn @ flow[1:3]), flow[3])

    flux = np.array(roe_flux(LEFT, RIGHT, NORMAL))
    after = np.array(roe_flux(turned(LEFT), turned(RIGHT), turn @ NORMAL))
    np.testing.assert_allclose(after[[0, 3]], flux[[0, 3]], rtol=1e-12)
    np.testing.assert_allclose(after[1:3], turn @ flux[1:3], rtol=1e-12)
    np.testing.assert_allclose(roe_flux(RIGHT, LEFT, -NORMAL), -flux, rtol=1e-12)


def test_face_values_are_of_third_order_and_do_not_overshoot_a_jump() -> None:
    errors = []
    for h in (0.04, 0.02, 0.01):
        # cell means of sin, whose value at the face 0.3 is wanted
        means = [(np.cos(a) - np.cos(a + h)) / h for a in (0.3 - 2 * h, 0.3 - h, 0.3)]
        errors.append(abs(face_value(*means) - np.sin(0.3)))
    assert np.all(np.log2(np.divide(errors[:-1], errors[1:])) > 2.5)
    assert face_value(0.0, 0.0, 1.0) == pytest.approx(0, abs=1e-4)
    assert face_value(0.0, 1.0, 1.0) == pytest.approx(1, abs=1e-4)


def test_primitive_variables_invert_their_definition() -> None:
    r, u, v, p = RIGHT
    state = np.array([[r, r * u, r * v, p / (GAMMA - 1) + r * (u * u + v * v) / 2]])
    np.testing.assert_allclose(all_primitive(state)[0], RIGHT)
    assert mach_number(np.array([free_stream(0.8)]).T) == pytest.approx(0.8)
    assert free_stream(0.8)[1] == pytest.approx(0.9466, abs=1e-4)
