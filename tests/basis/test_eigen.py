"""The eigensolvers: they agree, their numbers are true, and they fall back."""

import sys

import numpy as np
import pytest
from scipy import linalg, optimize, special

from supra.basis import BasisError, BasisWarning, LaplacianBasis, eigen
from supra.basis.canonical import clusters
from supra.basis.eigen import Eigenproblem, lowest_eigenpairs, lowest_eigenspaces
from supra.basis.fem import stiffness_matrix
from supra.domain import Mesh, MeshWarning, shapes

from .oracles import span_angle

BOXES = {  # more nodes than LAPACK takes by default
    "disk": (shapes.disk(16), "neumann"),
    "held square": (shapes.square(28), "dirichlet"),
    "cube": (shapes.cube(9), "neumann"),
    "sphere": (shapes.sphere(9), "neumann"),
}


def problem_of(mesh: Mesh) -> Eigenproblem:
    return Eigenproblem(stiffness_matrix(mesh), mesh.node_measures, mesh.points, mesh.dimension)


@pytest.mark.parametrize("method", ["shift-invert", "lobpcg"])
@pytest.mark.parametrize("name", BOXES)
def test_the_methods_agree(name, method):
    mesh, boundary = BOXES[name]
    dense, other = (
        LaplacianBasis.from_mesh(mesh, 14, boundary, method=chosen) for chosen in ("dense", method)
    )
    assert (dense.method, other.method) == ("dense", method)
    largest = dense.eigenvalues[-1]
    np.testing.assert_allclose(other.eigenvalues, dense.eigenvalues, atol=1e-8 * largest)
    np.testing.assert_allclose(other.values, dense.values, atol=1e-4)
    for start, stop in clusters(dense.eigenvalues)[:-1]:
        one, two = dense.values[:, start:stop], other.values[:, start:stop]
        assert span_angle(one, two, mesh.weights) < 1e-4


@pytest.mark.parametrize("name", BOXES)
def test_shift_invert_gives_the_vectors_of_lapack(name):
    mesh, boundary = BOXES[name]
    dense, other = (
        LaplacianBasis.from_mesh(mesh, 14, boundary, method=chosen)
        for chosen in ("dense", "shift-invert")
    )
    np.testing.assert_allclose(other.values, dense.values, atol=1e-7)


@pytest.mark.parametrize("method", ["dense", "shift-invert", "lobpcg"])
def test_residuals_and_orthonormality_are_what_they_say(method):
    square = shapes.square(28)
    mesh = square.with_points(square.points * [1, 0.7])  # without repeated eigenvalues
    basis = LaplacianBasis.from_mesh(mesh, 15, method=method)
    mass = mesh.node_measures[:, None]
    vectors = basis.values / np.sqrt(mesh.measure)
    errors = stiffness_matrix(mesh) @ vectors - mass * vectors * basis.eigenvalues
    residuals = np.linalg.norm(errors / np.sqrt(mass), axis=0) / basis.eigenvalues[-1]
    assert residuals.max() < 1e-6
    # stated relative to an eigenvalue a little above the last one that is kept
    assert (residuals < 2 * basis.residuals + 1e-12).all()
    assert (basis.residuals < 1.01 * residuals + 1e-12).all()
    gram = vectors.T @ (mass * vectors)
    assert basis.orthonormality == pytest.approx(np.abs(gram - np.eye(15)).max(), abs=1e-14)


@pytest.mark.parametrize("modes", [1, 2, 3])
@pytest.mark.parametrize("resolution", [6, 60])
def test_the_constant_has_the_eigenvalue_zero_however_few_modes_are_asked_for(resolution, modes):
    basis = LaplacianBasis.from_mesh(shapes.square(resolution), modes)
    assert basis.eigenvalues[0] == 0
    assert (basis.eigenvalues[1:] > 9).all()
    assert basis.residuals.max() < 1e-6
    np.testing.assert_allclose(basis.values[:, 0], 1, atol=1e-6)


@pytest.mark.parametrize("wall", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("layers", [12, 40])
def test_cells_of_a_boundary_layer_do_not_spoil_the_spectrum(layers, wall):
    """Rings from a thin one at radius 0.5 to a far field: J₁'(k·outer) ≈ 0 gives the first pair."""
    growth = optimize.brentq(lambda q: wall * (q**layers - 1) / (q - 1) - 50, 1.001, 99)
    radius = 0.5 + np.concatenate([[0], np.cumsum(wall * growth ** np.arange(layers))])
    r, angle = np.meshgrid(radius, np.linspace(0, 2 * np.pi, 61), indexing="ij")
    mesh = Mesh.from_structured(np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)).welded()
    basis = LaplacianBasis.from_mesh(mesh, 5)
    first = (special.jnp_zeros(1, 1)[0] / 50.5) ** 2
    np.testing.assert_allclose(basis.eigenvalues[1:3], first, rtol=0.05)
    assert basis.orthonormality < 1e-9


@pytest.mark.parametrize("thickness", [1e-9, 1e-11])
def test_a_spectrum_lost_in_round_off_is_an_error(thickness):
    mesh = shapes.square(3)
    with pytest.raises(BasisError, match="round-off"):
        LaplacianBasis.from_mesh(mesh.with_points(mesh.points * [1, thickness]), 4)


def test_eigenspaces_come_whole():
    problem = problem_of(shapes.disk(8))  # 0, a, a, b, b, c, ...
    assert len(clusters(lowest_eigenspaces(problem, 2).values)) >= 3


def many_squares(count: int, resolution: int) -> Mesh:
    one = shapes.square(resolution)
    points = [one.points + np.array([2.0 * i, 0]) for i in range(count)]
    cells = [one.cells + i * len(one.points) for i in range(count)]
    return Mesh(np.concatenate(points), np.concatenate(cells))


def test_every_copy_is_found_when_parts_are_equal():
    """More copies than the block of the iteration has vectors, and more nodes than LAPACK takes."""
    mesh = many_squares(20, 6)
    assert len(mesh.points) > 900
    one = LaplacianBasis.from_mesh(shapes.square(6), 4).eigenvalues
    with pytest.warns(MeshWarning, match="20 connected components"):
        found = LaplacianBasis.from_mesh(mesh, 70).eigenvalues
    np.testing.assert_allclose(found, np.repeat(one, 20)[:70], atol=1e-9)


def test_parts_of_any_size_are_merged_in_order():
    small, large = shapes.square(4), shapes.square(28)
    points = np.concatenate([small.points, 3 * large.points + [5, 0]])
    mesh = Mesh(points, np.concatenate([small.cells, large.cells + len(small.points)]))
    with pytest.warns(MeshWarning, match="2 connected components"):
        basis = LaplacianBasis.from_mesh(mesh, 20)
    assert basis.method == "dense and shift-invert"
    parts = [LaplacianBasis.from_mesh(m, 20).eigenvalues for m in (small, large)]
    expected = np.sort(np.concatenate([parts[0], parts[1] / 9]))[:20]
    np.testing.assert_allclose(basis.eigenvalues, expected, atol=1e-9)
    assert basis.orthonormality < 1e-9


def test_a_factorisation_without_memory_falls_back_with_a_warning(monkeypatch):
    def no_memory(*arguments: object) -> None:
        raise MemoryError("no room for the factors")

    mesh = shapes.disk(16)
    expected = LaplacianBasis.from_mesh(mesh, 8, method="dense").eigenvalues
    monkeypatch.setattr(eigen, "_factorised", no_memory)
    with pytest.warns(BasisWarning, match=r"no room for the factors.*LOBPCG"):
        basis = LaplacianBasis.from_mesh(mesh, 8, cache=False)
    assert basis.method == "lobpcg"
    np.testing.assert_allclose(basis.eigenvalues, expected, atol=1e-8)


def test_a_method_that_was_asked_for_does_not_fall_back(monkeypatch):
    def no_memory(*arguments: object) -> None:
        raise MemoryError("no room for the factors")

    monkeypatch.setattr(eigen, "_factorised", no_memory)
    with pytest.raises(BasisError, match="no room for the factors"):
        LaplacianBasis.from_mesh(shapes.disk(16), 8, method="shift-invert", cache=False)


def test_a_factorisation_that_would_be_too_large_is_not_tried(monkeypatch):
    monkeypatch.setattr(eigen, "_LARGEST_FILL", 1e3)
    assert LaplacianBasis.from_mesh(shapes.disk(16), 8, cache=False).method == "lobpcg"


def test_lobpcg_does_without_pyamg(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamg", None)
    mesh = shapes.disk(16)
    expected = LaplacianBasis.from_mesh(mesh, 8, method="dense").eigenvalues
    found = LaplacianBasis.from_mesh(mesh, 8, method="lobpcg", cache=False).eigenvalues
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_lobpcg_that_does_not_converge_is_an_error(monkeypatch):
    def random_guess(matrix, start, **options):
        return np.ones(start.shape[1]), start

    monkeypatch.setattr(eigen, "lobpcg", random_guess)
    with pytest.raises(BasisError, match="did not converge"):
        LaplacianBasis.from_mesh(shapes.disk(16), 8, method="lobpcg", cache=False)


def test_a_shift_that_cannot_be_placed_inside_goes_below_the_spectrum(monkeypatch):
    mesh = shapes.disk(16)
    expected = LaplacianBasis.from_mesh(mesh, 8, method="dense").eigenvalues
    monkeypatch.setattr(eigen, "_solves", lambda *arguments: False)
    found = LaplacianBasis.from_mesh(mesh, 8, method="shift-invert", cache=False)
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-8)


@pytest.mark.parametrize("method", ["shift-invert", "lobpcg"])
def test_progress_is_reported(method):
    stages = []
    LaplacianBasis.from_mesh(
        shapes.disk(16), 8, method=method, cache=False, report=lambda *step: stages.append(step)
    )
    assert stages
    assert all(0 <= done <= total for _, done, total in stages)


@pytest.mark.parametrize("modes", [0, 10])
def test_a_number_of_modes_that_cannot_be_names_both_numbers(modes):
    with pytest.raises(BasisError, match=rf"9: got {modes}"):
        lowest_eigenpairs(problem_of(shapes.square(2)), modes)


@pytest.mark.parametrize("method", ["dense", "shift-invert"])
def test_the_pairs_solve_the_generalised_problem(method):
    problem = problem_of(shapes.disk(16))
    pairs = lowest_eigenpairs(problem, 10, method)
    exact = linalg.eigh(
        problem.stiffness.toarray(),
        np.diag(problem.mass),
        eigvals_only=True,
        subset_by_index=(0, 9),
    )
    np.testing.assert_allclose(pairs.values, exact, atol=1e-9)
