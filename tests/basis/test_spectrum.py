"""Eigenvalues of shapes whose spectrum is known: second order over three meshes."""

from collections.abc import Callable

import numpy as np
import pytest

from supra.basis import LaplacianBasis
from supra.domain import Mesh, shapes

from . import oracles


def cylinder(resolution: int, height: float = 0.8) -> Mesh:
    """Surface of a cylinder of radius 1: a strip bent round and glued at its seam."""
    angle = np.linspace(0, 2 * np.pi, 6 * resolution + 1)
    x, z = np.meshgrid(angle, np.linspace(0, height, resolution + 1), indexing="ij")
    return Mesh.from_structured(np.stack([np.cos(x), np.sin(x), z], axis=-1)).welded()


def cut_annulus(resolution: int) -> Mesh:
    """A polar grid whose first and last line coincide, glued."""
    angle = np.linspace(0, 2 * np.pi, 6 * resolution + 1)
    r, x = np.meshgrid(np.linspace(0.5, 1, resolution + 1), angle, indexing="ij")
    return Mesh.from_structured(np.stack([r * np.cos(x), r * np.sin(x)], axis=-1)).welded()


def circle(resolution: int) -> Mesh:
    """A closed curve of segments in the plane."""
    angle = np.linspace(0, 2 * np.pi, 4 * resolution + 1)
    return Mesh.from_structured(np.stack([np.cos(angle), np.sin(angle)], axis=-1)).welded()


NEUMANN, DIRICHLET = "neumann", "dirichlet"
CASES = {
    "interval": (shapes.interval, (16, 32, 64), NEUMANN, oracles.box_spectrum((1,), 6)),
    "held interval": (shapes.interval, (16, 32, 64), DIRICHLET, oracles.box_spectrum((1,), 6, 1)),
    "circle": (circle, (8, 16, 32), NEUMANN, np.array([0, 1, 1, 4, 4, 9, 9])),
    "square": (shapes.square, (10, 20, 40), NEUMANN, oracles.box_spectrum((1, 1), 12)),
    "held square": (shapes.square, (10, 20, 40), DIRICHLET, oracles.box_spectrum((1, 1), 8, 1)),
    "disk": (shapes.disk, (6, 12, 24), NEUMANN, oracles.disk_spectrum(10, NEUMANN)),
    "held disk": (shapes.disk, (8, 16, 32), DIRICHLET, oracles.disk_spectrum(10, DIRICHLET)),
    "annulus": (shapes.annulus, (6, 12, 24), NEUMANN, oracles.annulus_spectrum(0.5, 10, NEUMANN)),
    "held annulus": (
        shapes.annulus,
        (12, 24, 48),
        DIRICHLET,
        oracles.annulus_spectrum(0.5, 7, DIRICHLET),
    ),
    "glued polar grid": (
        cut_annulus,
        (5, 10, 20),
        NEUMANN,
        oracles.annulus_spectrum(0.5, 10, NEUMANN),
    ),
    "sphere": (shapes.sphere, (4, 8, 16), NEUMANN, oracles.sphere_spectrum(16)),
    "glued cylinder": (
        cylinder,
        (5, 10, 20),
        NEUMANN,
        oracles.cylinder_spectrum(2 * np.pi, 0.8, 10),
    ),
    "torus": (shapes.torus, (5, 10, 20), NEUMANN, oracles.torus_spectrum(1.0, 0.4, 9)),
}
SOLID_CASES = {
    "cube": (shapes.cube, (4, 8, 16), NEUMANN, oracles.box_spectrum((1, 1, 1), 7)),
    "held cube": (shapes.cube, (5, 10, 20), DIRICHLET, oracles.box_spectrum((1, 1, 1), 4, 1)),
    "held ball": (shapes.ball, (4, 8, 16), DIRICHLET, oracles.ball_spectrum(4)),
}
Case = tuple[Callable[[int], Mesh], tuple[int, ...], str, np.ndarray]


def eigenvalue_errors(case: Case) -> np.ndarray:
    """Largest relative error of the non-zero eigenvalues on each mesh, absolute of the others."""
    shape, resolutions, boundary, exact = case
    scale = np.where(exact > 1e-9, exact, 1)  # an oracle that computes may miss 0 by its rounding
    errors = []
    for resolution in resolutions:
        found = LaplacianBasis.from_mesh(shape(resolution), len(exact), boundary).eigenvalues
        errors.append((np.abs(found - exact) / scale).max())
    return errors


@pytest.mark.parametrize("name", CASES)
def test_eigenvalues_converge_at_second_order(name):
    errors = eigenvalue_errors(CASES[name])
    assert errors[-1] < 0.03
    np.testing.assert_allclose(oracles.observed_orders(errors), 2, atol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLID_CASES)
def test_eigenvalues_of_solids_converge_at_second_order(name):
    errors = eigenvalue_errors(SOLID_CASES[name])
    assert errors[-1] < 0.03
    np.testing.assert_allclose(oracles.observed_orders(errors), 2, atol=0.25)


@pytest.mark.parametrize(("name", "resolution"), [("cube", 6), ("held cube", 8), ("held ball", 6)])
def test_eigenvalues_of_solids_are_near_the_exact_ones(name, resolution):
    shape, _, boundary, exact = SOLID_CASES[name]
    found = LaplacianBasis.from_mesh(shape(resolution), len(exact), boundary).eigenvalues
    np.testing.assert_allclose(found, exact, rtol=0.08, atol=1e-9)


def test_sphere_eigenvalues_come_with_multiplicity_two_l_plus_one():
    found = LaplacianBasis.from_mesh(shapes.sphere(16), 25).eigenvalues
    assert [np.rint(value) for value in found] == [
        el * (el + 1) for el in range(5) for _ in range(2 * el + 1)
    ]


def test_a_seam_that_is_not_glued_has_another_spectrum():
    angle = np.linspace(0, 2 * np.pi, 61)
    r, x = np.meshgrid(np.linspace(0.5, 1, 11), angle, indexing="ij")
    cut = Mesh.from_structured(np.stack([r * np.cos(x), r * np.sin(x)], axis=-1))
    first = [LaplacianBasis.from_mesh(mesh, 2).eigenvalues[1] for mesh in (cut, cut.welded())]
    assert first[0] < 0.5 * first[1]  # half a wave fits round the cut ring, a whole one else
