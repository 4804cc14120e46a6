"""Diffusion on surfaces: closed forms on sphere, torus and ellipsoid, and what every sample has."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supra.basis import SphericalHarmonicBasis
from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, MeshError, shapes
from supra.problems import ProblemError, Surface
from supra.problems.plane_waves import PlaneWaves
from supra.problems.surface import solve_screened

COARSE = Surface(resolution=5)
TORUS = Surface(resolution=5, shape="torus")


def error(mesh: Mesh, exact: np.ndarray, force: np.ndarray) -> float:
    """Norm of L², relative."""
    away, mass = solve_screened(mesh, force) - exact, mass_matrix(mesh)
    return float(np.sqrt((away @ mass @ away) / (exact @ mass @ exact)))


def orders(errors: list[float]) -> np.ndarray:
    return np.log2(np.divide(errors[:-1], errors[1:]))


def harmonic_error(resolution: int, degree: int, order: int) -> float:
    mesh = shapes.sphere(resolution)
    basis = SphericalHarmonicBasis(degree).sample(mesh, defect="keep")
    exact = basis.values[:, degree**2 + degree + order].double().numpy()
    return error(mesh, exact, (degree * (degree + 1) + 1) * exact)


@pytest.mark.parametrize(("degree", "order"), [(1, 0), (2, 1), (3, -2), (4, 4)])
def test_spherical_harmonics_converge_at_second_order(degree, order):
    """−Δ_S Y = l(l + 1) Y on the unit sphere."""
    errors = [harmonic_error(n, degree, order) for n in (6, 12, 24)]
    assert orders(errors).min() > 1.9, orders(errors)
    assert errors[-1] < 0.01


def torus_error(resolution: int, major: float = 1.0, minor: float = 0.4) -> float:
    """u = cos 2φ sin θ, φ the long way round; the metric is r² dθ² + (R + r cos θ)² dφ²."""
    mesh = shapes.torus(resolution, major=major, minor=minor)
    x, y, z = mesh.points.T
    phi, theta = np.arctan2(y, x), np.arctan2(z, np.hypot(x, y) - major)
    ring = major + minor * np.cos(theta)
    exact = np.cos(2 * phi) * np.sin(theta)
    along = -4 * exact / ring**2
    across = -exact / minor**2
    across -= np.sin(theta) * np.cos(2 * phi) * np.cos(theta) / (minor * ring)
    return error(mesh, exact, exact - along - across)


def test_a_manufactured_solution_on_the_torus_converges_at_second_order():
    errors = [torus_error(n) for n in (6, 12, 24)]
    assert orders(errors).min() > 1.9, orders(errors)


def ellipsoid_error(resolution: int) -> float:
    """u = z: −Δ_S z = 2H n_z, with the mean curvature H and the normal n of {q = 1}."""
    axes = np.array([1.3, 0.8, 1.0])
    mesh = shapes.sphere(resolution)
    mesh = mesh.with_points(axes * mesh.points)
    slope, bend = 2 * mesh.points / axes**2, 2 / axes**2
    size = np.linalg.norm(slope, axis=1)
    normal = slope / size[:, None]
    twice_curvature = (bend.sum() - normal**2 @ bend) / size
    exact = mesh.points[:, 2]
    return error(mesh, exact, exact + twice_curvature * normal[:, 2])


def test_a_coordinate_on_an_ellipsoid_converges_at_second_order():
    errors = [ellipsoid_error(n) for n in (6, 12, 24)]
    assert orders(errors).min() > 1.9, orders(errors)


@pytest.mark.parametrize("problem", [COARSE, TORUS], ids=["sphere", "torus"])
def test_a_constant_is_its_own_solution_on_every_surface(problem):
    mesh = problem.deformed(PlaneWaves.random(np.random.default_rng(0), 2.0))
    ones = np.ones(len(mesh.points))
    np.testing.assert_allclose(solve_screened(mesh, ones), 1, atol=1e-12)


def test_a_rotated_surface_has_the_same_solution():
    sample = COARSE.sample(0)
    turned = sample["points"] @ Rotation.random(rng=0).as_matrix().T
    found = solve_screened(Mesh(turned, sample["cells"]), sample["f"])
    np.testing.assert_allclose(found, sample["u"], atol=1e-12)


def test_the_solution_operator_is_symmetric():
    """∫ g Sf = ∫ f Sg."""
    sample = COARSE.sample(1)
    mesh = Mesh(sample["points"], sample["cells"])
    mass, g = mass_matrix(mesh), np.random.default_rng(0).normal(size=len(mesh.points))
    one, other = g @ mass @ sample["u"], sample["f"] @ mass @ solve_screened(mesh, g)
    assert one == pytest.approx(other, rel=1e-10)


@pytest.mark.parametrize("problem", [COARSE, TORUS], ids=["sphere", "torus"])
def test_samples_solve_the_equation_and_conserve(problem):
    genus = {"sphere": 0, "torus": 1}[problem.shape]
    for sample in problem.generate(3):
        mesh = Mesh(sample["points"], sample["cells"]).check()
        assert mesh.euler_characteristic == 2 - 2 * genus
        assert not mesh.boundary_nodes.size
        mass = mass_matrix(mesh)
        residual = stiffness_matrix(mesh) @ sample["u"] + mass @ (sample["u"] - sample["f"])
        np.testing.assert_allclose(residual, 0, atol=1e-13)
        # what is made is what is absorbed, as nothing leaves a closed surface: ∫u = ∫f
        assert abs((mass @ (sample["u"] - sample["f"])).sum()) < 1e-12


def test_surfaces_are_bent_within_the_stated_stretch_and_never_folded():
    """From the centre every triangle is seen as that of the sphere: no ray meets two of them."""
    stretch, sphere = np.exp(COARSE.bumps), shapes.sphere(COARSE.resolution)
    before = np.linalg.det(sphere.points[sphere.cells])
    for sample in COARSE.generate(30):
        radius = np.linalg.norm(sample["points"], axis=1)
        assert 1 / stretch <= radius.min() < radius.max() <= stretch
        assert (np.linalg.det(sample["points"][sample["cells"]]) / before).min() > 0


def test_a_torus_keeps_its_hole():
    for sample in Surface(resolution=5, shape="torus", bumps=0.9).generate(30):
        x, y, _ = sample["points"].T
        assert np.hypot(x, y).min() > 0


def test_one_sample_converges_as_the_mesh_is_refined():
    """One surface and source at every resolution; nodes of the coarse are nodes of the fine."""
    coarse, middle, fine = (Surface(resolution=n).sample(3) for n in (4, 8, 16))

    def at_nodes_of_coarse(sample: dict[str, np.ndarray]) -> np.ndarray:
        distances = np.linalg.norm(sample["points"][:, None] - coarse["points"], axis=2)
        assert distances.min(axis=0).max() < 1e-12
        return sample["u"][distances.argmin(axis=0)]

    first = np.linalg.norm(coarse["u"] - at_nodes_of_coarse(middle))
    second = np.linalg.norm(at_nodes_of_coarse(middle) - at_nodes_of_coarse(fine))
    assert first / second > 3.2  # order 2: a factor of 4


def test_a_sample_is_the_same_whenever_it_is_made():
    again = Surface(resolution=5).sample(2)
    for key, value in COARSE.sample(2).items():
        np.testing.assert_array_equal(again[key], value)
    assert not np.array_equal(COARSE.sample(2)["u"], COARSE.sample(2, split="test")["u"])
    assert not np.array_equal(COARSE.sample(2)["points"], COARSE.sample(2, seed=1)["points"])


@pytest.mark.usefixtures("unchecked")
def test_wrong_options_are_named():
    with pytest.raises(ProblemError, match="shape"):
        Surface(shape="cube")
    with pytest.raises(ProblemError, match=r"`bumps` must be between 0 and 0\.9: got 2"):
        Surface(bumps=2)
    with pytest.raises(MeshError, match="resolution"):
        Surface(resolution=0)
