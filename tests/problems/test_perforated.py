"""The plate problem: equation, boundary, randomness; its solver is tested in test_diffusion."""

import numpy as np
import pytest

from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, MeshError
from supra.problems import PerforatedPlate, ProblemError

COARSE = PerforatedPlate(resolution=12, holes=3)


def residual(mesh: Mesh, sample: dict[str, np.ndarray]) -> np.ndarray:
    applied = stiffness_matrix(mesh, sample["a"]) @ sample["u"] - mass_matrix(mesh) @ sample["f"]
    return np.delete(applied, np.unique(mesh.boundaries["outer"]))


def test_samples_on_the_shared_plate_solve_the_equation():
    mesh = COARSE.mesh(COARSE.plate)
    for sample in COARSE.generate(3):
        np.testing.assert_allclose(residual(mesh, sample), 0, atol=1e-10)
        assert not sample["u"][np.unique(mesh.boundaries["outer"])].any()
        assert sample["a"].min() > 0


def test_samples_with_their_own_plate_carry_a_mesh_that_fits():
    problem = PerforatedPlate(resolution=12, holes=3, geometry="each")
    samples = list(problem.generate(3))
    assert len({len(sample["u"]) for sample in samples}) > 1
    for sample in samples:
        mesh = Mesh(sample["points"], sample["cells"]).check()
        assert mesh.euler_characteristic == 1 - problem.holes
        assert len(sample["u"]) == len(mesh.points)


def test_the_random_data_have_the_stated_mean_and_spread():
    samples = list(COARSE.generate(400))
    g = np.stack([np.log(sample["a"]) / 0.7 for sample in samples])
    f = np.stack([sample["f"] for sample in samples])
    weights = COARSE.mesh(0).weights
    assert abs((g**2).mean(axis=0) @ weights - 1) < 0.1
    assert abs(f.mean(axis=0) @ weights - 1) < 0.05
    assert abs(((f - 1) * g).mean(axis=0) @ weights) < 0.05


def test_a_sample_is_the_same_whenever_it_is_made():
    again = PerforatedPlate(resolution=12, holes=3).sample(2)
    for key, value in COARSE.sample(2).items():
        np.testing.assert_array_equal(again[key], value)
    assert not np.array_equal(COARSE.sample(2)["u"], COARSE.sample(2, split="test")["u"])
    assert not np.array_equal(COARSE.sample(2)["u"], COARSE.sample(2, seed=1)["u"])


def test_a_plate_that_cannot_be_meshed_is_refused_at_once():
    with pytest.raises(MeshError, match="holes"):
        PerforatedPlate(holes=500)


def test_plates_differ_in_the_number_of_holes_where_asked_for():
    problem = PerforatedPlate(resolution=8, holes=4, fewest=2, geometry="each")
    meshes = [Mesh(s["points"], s["cells"]).check() for s in problem.generate(20)]
    assert {1 - mesh.euler_characteristic for mesh in meshes} == {2, 3, 4}
    assert len({len(mesh.points) for mesh in meshes}) > 10


@pytest.mark.parametrize(("fewest", "geometry"), [(1, "shared"), (4, "each"), (-1, "each")])
def test_a_random_number_of_holes_that_makes_no_sense_is_refused(fewest, geometry):
    with pytest.raises(ProblemError, match="fewest"):
        PerforatedPlate(resolution=8, holes=3, fewest=fewest, geometry=geometry)
