"""The definite choice of eigenvectors: signs, rotations, round-off."""

import os
import subprocess
import sys

import numpy as np
import pytest

from supra.basis import LaplacianBasis
from supra.basis.canonical import clusters, make_canonical
from supra.domain import Mesh, MeshWarning, shapes


def test_clusters_are_runs_of_equal_eigenvalues():
    values = np.array([0, 1, 1 + 1e-9, 2, 3 - 1e-10, 3, 3 + 1e-10])
    assert clusters(values) == [(0, 1), (1, 3), (3, 4), (4, 7)]


@pytest.mark.parametrize("mesh", [shapes.disk(6), shapes.sphere(3), shapes.cube(4)], ids=repr)
def test_rotations_and_signs_inside_repeated_eigenvalues_make_no_difference(mesh):
    basis = LaplacianBasis.from_mesh(mesh, 25)
    complete = clusters(basis.eigenvalues)[:-1]
    assert any(stop - start > 1 for start, stop in complete)
    random = np.random.default_rng(0)
    turned = basis.values.copy()
    for start, stop in complete:
        turn = np.linalg.qr(random.standard_normal((stop - start, stop - start)))[0]
        turned[:, start:stop] = turned[:, start:stop] @ turn
    last = complete[-1][1]
    assert np.abs(turned - basis.values)[:, :last].max() > 0.1
    turned, eigenvalues = turned[:, :last].copy(), basis.eigenvalues[:last]
    make_canonical(turned, eigenvalues, mesh)
    again = basis.values[:, :last].copy()
    make_canonical(again, eigenvalues, mesh)
    np.testing.assert_allclose(turned, again, atol=1e-9)
    np.testing.assert_allclose(again, basis.values[:, :last], atol=1e-9)


@pytest.mark.parametrize("mesh", [shapes.square(8), shapes.disk(6), shapes.sphere(3)], ids=repr)
def test_the_entry_of_largest_magnitude_is_positive(mesh):
    values = LaplacianBasis.from_mesh(mesh, 20).values
    size = np.abs(values)
    first_of_largest = (size >= (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)
    assert (values[first_of_largest, np.arange(20)] > 0).all()


@pytest.mark.parametrize("resolution", [8, 20])
def test_asking_for_more_modes_does_not_change_the_first_ones(resolution):
    """Also where the number of modes cuts a pair of equal eigenvalues in two."""
    mesh = shapes.disk(resolution)
    most = LaplacianBasis.from_mesh(mesh, 24).values
    for modes in (1, 2, 3, 4, 5, 8):
        few = LaplacianBasis.from_mesh(mesh, modes).values
        np.testing.assert_allclose(few, most[:, :modes], atol=1e-7)


@pytest.mark.parametrize("resolution", [6, 30])
def test_the_same_mesh_gives_the_same_numbers_bit_for_bit(resolution):
    mesh = shapes.disk(resolution)
    first, second = (LaplacianBasis.from_mesh(mesh, 12, cache=False) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.eigenvalues, second.eigenvalues)


_SCRIPT = """
import sys, numpy as np
from supra.basis import LaplacianBasis
from supra.domain import shapes
meshes = {"square": shapes.square(40), "disk": shapes.disk(30), "sphere": shapes.sphere(12)}
cut = {"square": (2, 3, 20), "disk": (2, 4, 20), "sphere": (3, 10, 26)}
np.savez(sys.argv[1], **{
    f"{name} {modes}": LaplacianBasis.from_mesh(mesh, modes, cache=False).values
    for name, mesh in meshes.items() for modes in cut[name]
})
"""


def modes_with_threads(count: int, path) -> dict[str, np.ndarray]:
    threads = {f"{library}_NUM_THREADS": str(count) for library in ("OMP", "OPENBLAS", "MKL")}
    subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(path)], env={**os.environ, **threads}, check=True
    )
    with np.load(path) as file:
        return dict(file)


def test_the_number_of_threads_makes_no_difference(tmp_path):
    """Also with repeated eigenvalues, and where the number of modes cuts them in two."""
    one = modes_with_threads(1, tmp_path / "one.npz")
    two = modes_with_threads(2, tmp_path / "two.npz")
    for name, values in one.items():
        np.testing.assert_allclose(two[name], values, atol=1e-8, err_msg=name)


def equal_squares(count: int) -> Mesh:
    one = shapes.square(3)
    offsets = [[2.0 * (i % 6), 2.0 * (i // 6)] for i in range(count)]
    points = np.concatenate([one.points + offset for offset in offsets])
    return Mesh(points, np.concatenate([one.cells + len(one.points) * i for i in range(count)]))


def test_modes_of_many_equal_parts_do_not_depend_on_round_off():
    mesh = equal_squares(40)
    disturbed = mesh.with_points(mesh.points * (1 + 1e-15))
    with pytest.warns(MeshWarning, match="40 connected components"):
        one, other = (LaplacianBasis.from_mesh(m, 60).values for m in (mesh, disturbed))
    np.testing.assert_allclose(one, other, atol=1e-8)
