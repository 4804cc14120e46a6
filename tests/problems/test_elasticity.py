"""Rubber with a hole: closed forms, scikit-fem, Kirsch's plate, balance, refinement, the data."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from skfem import Basis, BilinearForm, ElementQuad2, ElementVector, MeshQuad2
from skfem.helpers import ddot, eye, sym_grad, trace

from supra.basis import FourierBasis
from supra.data import load_dataset
from supra.experiment.generate import Request, generate, make_problem
from supra.problems import elasticity, equilibrium
from supra.problems.elasticity import RUBBER, Elasticity
from supra.problems.equilibrium import NoEquilibriumError, find_equilibrium
from supra.problems.errors import ProblemError
from supra.problems.hole import Hole
from supra.problems.random_field import RandomField
from supra.problems.rubber import Rubber, determinant, von_mises
from supra.problems.solid import Places, Solid, biquadratic
from supra.problems.unit_cell import UnitCell

C1, C2 = RUBBER
YOUNG = 6 * (C1 + C2)
UNIT = Rubber(1.0, 0.3)  # of order one: for derivatives by differences


def hole(seed=0):
    return Hole.random(np.random.default_rng(seed))


def gradients():
    """Random displacement gradients that fold nothing."""
    found = np.random.default_rng(0).uniform(-0.3, 0.3, (6, 2, 2))
    assert determinant(np.eye(2) + found).min() > 0
    return found


def circle(radius):
    return lambda angle: np.full(angle.shape, radius)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The unit square without a hole, in n by n elements that are distorted inside."""

    elements: int
    distortion: float = 0.0

    @property
    def grid(self):
        t = np.linspace(0, 1, 2 * self.elements + 1)
        x, y = np.meshgrid(t, t, indexing="ij")
        bump = self.distortion * np.sin(np.pi * x) * np.sin(np.pi * y)
        return np.stack([x + bump, y - bump * np.cos(2 * x)], axis=-1)

    def solid(self, law=RUBBER):
        number = np.arange((2 * self.elements + 1) ** 2).reshape([2 * self.elements + 1] * 2)
        windows = np.lib.stride_tricks.sliding_window_view(number, (3, 3))
        return Solid(self.grid.reshape(-1, 2), windows[::2, ::2].reshape(-1, 9).copy(), law)

    def edge(self):
        flag = np.zeros(self.grid.shape[:2], dtype=bool)
        flag[[0, -1]] = flag[:, [0, -1]] = True
        return flag.ravel()


def rollers(points):
    """The bottom slides sideways, and one of its nodes does not."""
    held = np.zeros(points.shape, dtype=bool)
    bottom = np.flatnonzero(np.isclose(points[:, 1], 0))
    held[bottom, 1] = True
    held[bottom[np.argmin(np.abs(points[bottom, 0] - 0.5))], 0] = True
    return held


def on_rollers(cell, traction, law=RUBBER):
    solid = cell.solid(law)
    return solid, find_equilibrium(solid, cell.pull(traction), rollers(solid.points))


# ---- the material ---------------------------------------------------------------------------


def test_stress_and_tangent_are_the_derivatives_of_the_energy():
    here, step = gradients(), 1e-6
    for a, b in np.ndindex(2, 2):
        change = np.zeros((2, 2))
        change[a, b] = step
        slope = (UNIT.energy(here + change) - UNIT.energy(here - change)) / (2 * step)
        np.testing.assert_allclose(UNIT.stress(here)[..., a, b], slope, atol=1e-8)
        slope = (UNIT.stress(here + change) - UNIT.stress(here - change)) / (2 * step)
        np.testing.assert_allclose(UNIT.tangent(here)[..., a, b], slope, atol=1e-7)


def in_space(gradient):
    """F, 3 × 3, with the thickness that keeps the volume."""
    F, full = np.eye(2) + gradient, np.zeros((len(gradient), 3, 3))
    full[:, :2, :2], full[:, 2, 2] = F, 1 / np.linalg.det(F)
    return full


def test_the_energy_is_that_of_the_invariants_in_space():
    full = in_space(gradients())
    C = full.swapaxes(1, 2) @ full
    first = np.trace(C, axis1=1, axis2=2)
    second = (first**2 - np.trace(C @ C, axis1=1, axis2=2)) / 2
    np.testing.assert_allclose(UNIT.energy(gradients()), first - 3 + 0.3 * (second - 3), atol=1e-13)


def test_the_sheet_s_sides_are_free_of_stress():
    """σ = −p + 2 C₁ B − 2 C₂ B⁻¹ in space, with the p that makes σ₃₃ zero."""
    full = in_space(gradients())
    B = full @ full.swapaxes(1, 2)
    extra = 2 * B - 2 * 0.3 * np.linalg.inv(B)
    stress = extra - extra[:, 2:, 2:] * np.eye(3)
    np.testing.assert_allclose(UNIT.cauchy(gradients()), stress[:, :2, :2], atol=1e-13)


def test_rubber_at_rest_is_linearly_elastic_with_poisson_s_ratio_one_half():
    rest = np.zeros((1, 2, 2))
    np.testing.assert_allclose(UNIT.energy(rest), 0, atol=1e-15)
    assert not UNIT.stress(rest).any()
    strain = np.array([[0.3, 0.2], [0.2, -0.7]])
    stress = np.einsum("abcd,cd->ab", UNIT.tangent(rest)[0], strain)
    expected = UNIT.young / (1 - 0.25) * (0.5 * strain + 0.5 * np.trace(strain) * np.eye(2))
    np.testing.assert_allclose(stress, expected)


@pytest.mark.parametrize("stretch", [0.6, 1.1, 2.5])
def test_pulled_one_way_and_both_ways_the_stress_is_the_closed_form(stretch):
    one = RUBBER.stress(np.diag([stretch**-0.5 - 1, stretch - 1])[None])[0]
    expected = 2 * (stretch - stretch**-2) * (C1 + C2 / stretch)
    np.testing.assert_allclose(one, np.diag([0, expected]), atol=1e-9)
    both = RUBBER.stress(np.diag([stretch - 1, stretch - 1])[None])[0]
    expected = 2 * (stretch - stretch**-5) * (C1 + C2 * stretch**2)
    np.testing.assert_allclose(both, np.diag([expected, expected]), rtol=1e-12)


def test_small_stresses_keep_their_digits():
    """Strains of 1e-9: the linear answer, to more digits than strains in 1 + ε have."""
    strain = 1e-9 * gradients()
    linear = np.einsum("abcd,pcd->pab", RUBBER.tangent(np.zeros((1, 2, 2)))[0], strain)
    np.testing.assert_allclose(RUBBER.stress(strain), linear, atol=1e-8 * np.abs(linear).max())


def test_rotations_change_neither_energy_nor_equivalent_stress():
    here, angle = gradients(), 0.8
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = turn @ (np.eye(2) + here) - np.eye(2)
    np.testing.assert_allclose(UNIT.energy(turned), UNIT.energy(here))
    stress = turn @ UNIT.cauchy(here) @ turn.T
    np.testing.assert_allclose(UNIT.cauchy(turned), stress, atol=1e-12)
    np.testing.assert_allclose(von_mises(UNIT.cauchy(turned)), von_mises(UNIT.cauchy(here)))


def test_equivalent_stress_of_tension_shear_and_equal_tensions():
    stress = np.array([[[0, 0], [0, -3]], [[0, 2], [2, 0]], [[4, 0], [0, 4]]], dtype=float)
    np.testing.assert_allclose(von_mises(stress), [3, 2 * np.sqrt(3), 4])


# ---- the elements ---------------------------------------------------------------------------


def small_cell():
    return UnitCell(hole().radius, 8, 1).solid(UNIT)


def test_forces_and_stiffness_are_the_derivatives_of_the_solid_s_energy():
    solid, step = small_cell(), 1e-6
    rng = np.random.default_rng(0)
    state, way = 0.01 * rng.standard_normal((2, *solid.points.shape))
    slope = (solid.energy(state + step * way) - solid.energy(state - step * way)) / (2 * step)
    assert (solid.forces(state) * way).sum() == pytest.approx(slope, rel=1e-8)
    ahead, behind = (solid.forces(state + sign * step * way) for sign in (1, -1))
    product = solid.stiffness(state) @ way.ravel()
    np.testing.assert_allclose(product, (ahead - behind).ravel() / (2 * step), atol=1e-8)


def test_the_stiffness_is_symmetric():
    solid = small_cell()
    state = 0.02 * np.random.default_rng(0).standard_normal(solid.points.shape)
    matrix = solid.stiffness(state).toarray()
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)


def test_rigid_motions_take_no_force():
    solid = small_cell()
    turn = np.array([[np.cos(2.0), -np.sin(2.0)], [np.sin(2.0), np.cos(2.0)]])
    np.testing.assert_allclose(
        solid.forces(solid.points @ turn.T + [3, 1] - solid.points), 0, atol=1e-13
    )


def test_the_stiffness_at_rest_is_scikit_fem_s_of_plane_stress():
    """One curved element: E = 6 (C₁ + C₂), ν = ½."""
    solid = Sheet(1, distortion=0.1).solid(UNIT)
    turn = [0, 6, 8, 2, 3, 1, 7, 5, 4]  # their corners, sides and centre, in our numbering
    mesh = MeshQuad2(solid.points[turn].T, np.arange(4)[:, None])
    basis = Basis(mesh, ElementVector(ElementQuad2()), intorder=5)

    @BilinearForm
    def plane_stress(u, v, _):
        strain = sym_grad(u)
        stress = UNIT.young / 0.75 * (0.5 * strain + 0.5 * eye(trace(strain), 2))
        return ddot(stress, sym_grad(v))

    unknowns = np.hstack([basis.nodal_dofs, basis.facet_dofs, basis.interior_dofs])
    places = basis.doflocs[:, unknowns[0]].T
    nodes = np.abs(places[:, None] - solid.points).sum(axis=2).argmin(axis=0)
    theirs = unknowns[:, nodes].T.ravel()  # as we number them: node by node
    np.testing.assert_allclose(
        solid.stiffness(np.zeros((9, 2))).toarray(),
        plane_stress.assemble(basis).toarray()[np.ix_(theirs, theirs)],
        atol=1e-12,
    )


def test_patch_test_at_finite_strain():
    """An affine motion of the boundary is one of the inside, however the elements are shaped."""
    sheet = Sheet(3, distortion=0.06)
    solid, motion = sheet.solid(), np.array([[0.3, 0.25], [-0.1, -0.2]])
    given = solid.points @ motion.T
    held = np.repeat(sheet.edge()[:, None], 2, axis=1)
    found = find_equilibrium(solid, np.zeros(given.shape), held, given)
    np.testing.assert_allclose(found.displacement, given, atol=1e-10)
    np.testing.assert_allclose(found.forces[~sheet.edge()], 0, atol=1e-9 * YOUNG)


def test_folded_elements_are_refused():
    solid = Sheet(1).solid()
    mirrored = Solid(solid.points * [-1, 1], solid.cells, RUBBER)
    with pytest.raises(ProblemError, match="must not be folded"):
        mirrored.energy(np.zeros((9, 2)))


# ---- the cell -------------------------------------------------------------------------------


def test_the_cell_s_corners_are_nodes_and_its_sides_are_straight():
    cell = UnitCell(hole().radius, 12, 2)
    outer = cell.grid[-1]
    for corner in ((0, 0), (1, 0), (0, 1), (1, 1)):
        assert np.abs(outer - corner).sum(axis=1).min() < 1e-15
    points = cell.grid.reshape(-1, 2)
    np.testing.assert_allclose(points[cell.top, 1], 1, atol=1e-15)
    np.testing.assert_allclose(points[cell.bottom, 1], 0, atol=1e-15)
    assert (np.diff(points[cell.bottom, 0]) > 0).all()
    assert (np.diff(points[cell.top, 0]) < 0).all()


def test_the_inner_ring_is_the_hole():
    one = hole()
    inner = UnitCell(one.radius, 12, 2).grid[0] - 0.5
    angle = np.arctan2(inner[:, 1], inner[:, 0])
    np.testing.assert_allclose(np.linalg.norm(inner, axis=1), one.radius(angle), rtol=1e-14)


def test_the_pull_is_the_traction_times_the_width():
    load = UnitCell(hole().radius, 12, 2).pull(100.0)
    np.testing.assert_allclose(load.sum(axis=0), [0, 100])


def test_stored_points_are_the_same_however_fine_the_elements_are():
    few, many = (UnitCell(hole().radius, 12 * n, n) for n in (3, 9))
    ours, theirs = (cell.solid(RUBBER).positions(cell.gauss_grid((1, 12))) for cell in (few, many))
    assert np.abs(ours - theirs).max() < 1e-3  # edges are parabolas that pass through the nodes


# ---- equilibrium ----------------------------------------------------------------------------


@pytest.mark.parametrize("stretch", [1.001, 1.5, 2.5])
def test_a_sheet_without_a_hole_stretches_by_the_closed_form(stretch):
    """P = 2 (λ − λ⁻²)(C₁ + C₂/λ), and the width shrinks to λ^(−½)."""
    sheet = Sheet(2, distortion=0.05)
    solid = sheet.solid()
    traction = 2 * (stretch - stretch**-2) * (C1 + C2 / stretch)
    load = np.zeros((5, 5, 2))
    load[:, -1, 1] = traction * np.array([1, 4, 2, 4, 1]) / 12  # Simpson's rule
    found = find_equilibrium(solid, load.reshape(-1, 2), rollers(solid.points))
    expected = (solid.points - [0.5, 0]) * [stretch**-0.5 - 1, stretch - 1]
    np.testing.assert_allclose(found.displacement, expected, atol=1e-9)


def test_the_clamp_bears_the_whole_pull():
    pulled = Elasticity(refinement=1).pull(hole(1))
    cell, forces = pulled.cell, pulled.equilibrium.forces
    np.testing.assert_allclose(forces[cell.bottom].sum(axis=0), [0, -100], atol=1e-7)
    inside = np.ones(len(forces), dtype=bool)
    inside[[*cell.bottom, *cell.top]] = False
    assert np.abs(forces[inside]).max() < 1e-7
    x, y = (pulled.solid.points + pulled.equilibrium.displacement).T
    assert (x * forces[:, 1] - y * forces[:, 0]).sum() == pytest.approx(0, abs=1e-7)


def test_the_clamped_bottom_does_not_move():
    pulled = Elasticity(refinement=1).pull(hole(1))
    assert not pulled.equilibrium.displacement[pulled.cell.bottom].any()
    assert (pulled.equilibrium.displacement[pulled.cell.top, 1] > 0).all()


def test_newton_s_method_converges_quadratically():
    """At strains of more than one: each imbalance is bounded by the square of the one before."""
    left = np.array(Elasticity(refinement=1, traction=1e5).pull(hole()).equilibrium.imbalance)
    last = np.log(left[left > 1e-12])[-3:]
    assert (last[1:] / last[:-1]).min() > 1.8
    assert left[-1] <= 1e-9


def test_small_loads_are_answered_linearly():
    cell = UnitCell(hole().radius, 36, 3)
    solid = cell.solid(RUBBER)
    free = np.flatnonzero(~cell.clamped.ravel())
    stiffness = solid.stiffness(np.zeros(solid.points.shape)).toarray()[np.ix_(free, free)]
    linear = np.zeros(solid.points.size)
    linear[free] = np.linalg.solve(stiffness, cell.pull(1.0).ravel()[free])
    for traction, gap in ((1.0, 1e-4), (100.0, 1e-2)):
        found = find_equilibrium(solid, cell.pull(traction), cell.clamped).displacement / traction
        assert np.linalg.norm(found.ravel() - linear) < gap * np.linalg.norm(linear)


@pytest.fixture(scope="module")
def kirsch():
    """A plate 40 diameters wide, on rollers, pulled with a traction of 1."""
    return on_rollers(UnitCell(circle(0.0125), 64, 24), 1.0)


def test_a_small_round_hole_concentrates_the_stress_as_kirsch_found(kirsch):
    """σ_θθ = (1 + 2 cos 2θ) t on the edge: 3 at the sides, −1 above and below."""
    solid, found = kirsch
    element = np.arange(64)
    edge = Places(element, np.tile([0.0, 0.5], (64, 1)))
    stress = RUBBER.cauchy(solid.gradient(found.displacement, edge))
    angle = 2 * np.pi * (element + 0.5) / 64 - np.pi / 4
    along = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    hoop = np.einsum("pa,pab,pb->p", along, stress, along)
    np.testing.assert_allclose(hoop, 1 + 2 * np.cos(2 * angle), atol=0.03)
    np.testing.assert_allclose(von_mises(stress), np.abs(hoop), atol=0.03)  # the edge is free


def test_beside_a_small_round_hole_the_stress_decays_as_kirsch_found(kirsch):
    solid, found = kirsch
    ray = Places(64 * np.arange(24) + 8, np.tile([0.5, 0.0], (24, 1)))  # at angle 0
    ratio = 0.0125 / (solid.positions(ray)[:, 0] - 0.5)
    stress = RUBBER.cauchy(solid.gradient(found.displacement, ray))
    np.testing.assert_allclose(stress[:, 1, 1], 1 + ratio**2 / 2 + 3 * ratio**4 / 2, rtol=0.02)
    np.testing.assert_allclose(stress[:, 0, 0], 3 * (ratio**2 - ratio**4) / 2, atol=0.02)


def test_stress_is_concentrated_at_the_sides_of_the_hole():
    sample = Elasticity().sample_of(Hole.circle())
    rings, (x, y) = sample["sigma"].reshape(9, 108), sample["XY"].T.reshape(2, 9, 108)
    assert np.unravel_index(rings.argmax(), rings.shape)[0] == 0
    peak = rings[0].argmax()
    assert abs(y[0, peak] - 0.5) < 0.1  # a little above: the bottom is clamped
    assert abs(abs(x[0, peak] - 0.5) - 0.3) < 0.01
    assert rings.max() > 5 * 100
    assert rings.min() < 0.5 * 100


def test_the_ligaments_beside_the_hole_bear_the_whole_pull():
    """The stress on the horizontal through the middle, integrated: 100 times the width."""
    pulled = Elasticity().pull(hole(1))
    (rings, around), (gauss, weights) = (9, 108), np.polynomial.legendre.leggauss(3)
    along, total = np.tile((1 + gauss) / 2, rings), 0.0
    for ray in (13, 13 + around // 2):  # angles 0 and π are in the middle of elements
        element = np.repeat(around * np.arange(rings) + ray, 3)
        here, ahead, behind = (
            Places(element, np.stack([along + step, np.full(27, 0.5)], axis=1))
            for step in (0, 0.01, -0.01)
        )
        x = [pulled.solid.positions(place)[:, 0] for place in (ahead, behind)]
        lengths = np.abs(x[0] - x[1]) / 0.02 * np.tile(weights, rings) / 2
        total += pulled.stress(here)[:, 1, 1] @ lengths
    assert total == pytest.approx(100, rel=5e-3)


def test_a_symmetric_hole_gives_a_symmetric_stress():
    """About the vertical through the middle: cosines of even, sines of odd frequency."""
    mirror = Hole(np.array([0, 1.0, 0, -0.5, 0]), np.array([0.7, 0, -0.6, 0, 0.4]))
    sample = Elasticity(refinement=1).sample_of(mirror)
    rings = sample["sigma"].reshape(9, 108)
    # counterclockwise from the lower right corner, mirrored: clockwise from the lower left one
    there = (80 - np.arange(108)) % 108
    np.testing.assert_allclose(rings[:, there], rings, rtol=1e-5)
    x, y = sample["XY"].T.reshape(2, 9, 108)
    np.testing.assert_allclose(1 - x[:, there], x, atol=1e-14)
    np.testing.assert_allclose(y[:, there], y, atol=1e-14)


def refined(traction, held, levels=(1, 2, 4, 8)):
    """Energies and top displacements of the same cell on finer and finer meshes."""
    energies, tops = [], []
    for n in levels:
        cell = UnitCell(Hole(np.array([0.0, 0.4]), np.array([0.3, 0.0])).radius, 12 * n, 2 * n)
        solid = cell.solid(RUBBER)
        found = find_equilibrium(solid, cell.pull(traction), held(cell, solid))
        energies.append(solid.energy(found.displacement))
        tops.append(found.displacement[cell.top][:: (len(cell.top) - 1) // 6])
    return np.array(energies), np.array(tops)


def orders(values):
    """Of the changes from mesh to mesh."""
    changes = [np.linalg.norm(b - a) for a, b in pairwise(values)]
    return np.log2(changes[:-1]) - np.log2(changes[1:])


def test_energy_and_displacements_of_a_cell_on_rollers_converge_at_the_elements_order():
    """Nothing is singular there: order 4 = 2 · 2 in the energy, 3 in the displacement."""
    energies, tops = refined(100.0, lambda _, solid: rollers(solid.points))
    assert orders(energies)[-1] > 3.6
    assert orders(tops)[-1] > 2.7


def test_a_clamp_lowers_the_order_to_that_of_its_singular_corners():
    """Williams: displacements of r^λ where a clamped and a free edge meet, order 2 λ.

    sin²(λπ/2) = (4 − (1+ν)² λ²) / ((3−ν)(1+ν)); λ = 0.69 for ν = ½.
    """
    energies, _ = refined(100.0, lambda cell, _: cell.clamped)
    assert orders(energies)[-1] == pytest.approx(2 * 0.69, abs=0.25)
    assert (np.diff(energies) > 0).all()  # finer meshes are softer


def manufactured(points):
    """Displacements with strains of 0.3, their gradients, and the body force that they need."""
    x, y = points.T
    value = 0.1 * np.stack([np.sin(2 * x + y), np.cos(x - 2 * y)], axis=1)
    slope = 0.1 * np.stack([np.cos(2 * x + y), -np.sin(x - 2 * y)], axis=1)
    way = np.array([[2.0, 1.0], [1.0, -2.0]])
    gradient = slope[:, :, None] * way
    second = -value[:, :, None, None] * way[:, :, None] * way[:, None, :]
    force = -np.einsum("pabcd,pcdb->pa", RUBBER.tangent(gradient), second)
    return value, gradient, force


def manufactured_errors(elements):
    """Of displacement and gradient: root mean squares over the square."""
    sheet = Sheet(elements, distortion=0.06)
    solid = sheet.solid()
    places, weights = solid.quadrature
    shapes, _ = biquadratic(places.local)
    value, gradient, force = manufactured(solid.positions(places))
    load = np.zeros(solid.points.shape)
    parts = (weights[:, None] * shapes)[..., None] * force[:, None]
    np.add.at(load, solid.cells[places.elements], parts)
    held = np.repeat(sheet.edge()[:, None], 2, axis=1)
    found = find_equilibrium(solid, load, held, manufactured(solid.points)[0]).displacement
    at_places = np.einsum("pi,pia->pa", shapes, found[solid.cells[places.elements]])
    wrong = ((at_places - value) ** 2).sum(axis=1)
    bent = ((solid.gradient(found, places) - gradient) ** 2).sum(axis=(1, 2))
    return np.sqrt(weights @ wrong), np.sqrt(weights @ bent)


def test_a_manufactured_finite_deformation_is_found_at_orders_three_and_two():
    errors = np.array([manufactured_errors(n) for n in (2, 4, 8)])
    found = np.log2(errors[:-1] / errors[1:])
    assert (found[-1] > [2.8, 1.9]).all()
    assert (errors[-1] < [1e-5, 1e-3]).all()


def test_the_data_are_converged_to_half_a_per_cent():
    for seed in (0, 3):
        usual, fine = (
            Elasticity(refinement=n).sample_of(hole(seed))["sigma"].astype(float) for n in (3, 7)
        )
        assert np.linalg.norm(usual - fine) < 0.006 * np.linalg.norm(fine)


# ---- the holes ------------------------------------------------------------------------------


def test_radii_are_between_the_limits_and_three_tenths_in_the_mean():
    rng, angle = np.random.default_rng(0), np.linspace(0, 2 * np.pi, 64, endpoint=False)
    radii = np.stack([Hole.random(rng).radius(angle) for _ in range(4000)])
    assert radii.min() > 0.2
    assert radii.max() < 0.4
    np.testing.assert_allclose(radii.mean(axis=0), 0.3, atol=5 * radii.std() / np.sqrt(4000))


def test_the_spectrum_is_the_law_s():
    """Variances of the coefficients, and of the exponent at a point, by another way."""
    rng = np.random.default_rng(0)
    drawn = [Hole.random(rng) for _ in range(20000)]
    k = np.arange(1, 6)
    for coefficients in ([one.cosines for one in drawn], [one.sines for one in drawn]):
        np.testing.assert_allclose(np.mean(coefficients, axis=0), 0, atol=0.03)
        np.testing.assert_allclose(np.var(coefficients, axis=0), 16 / np.pi / (k**2 + 9), rtol=0.05)
    # On the unit interval −Δ is 4π² that on the circle, and functions are 2π shorter.
    unit = RandomField(FourierBasis((5,), constant=True), 6 * np.pi, 1.0, 4 * np.sqrt(2 * np.pi))
    exponent = np.log(0.2 / (np.array([one.radius(np.zeros(1))[0] for one in drawn]) - 0.2) - 1)
    assert exponent.var() == pytest.approx(unit.variance, rel=0.05)


# ---- the data -------------------------------------------------------------------------------


def test_a_sample_is_what_the_public_files_hold():
    sample = Elasticity().sample(0)
    assert {name: (array.shape, array.dtype) for name, array in sample.items()} == {
        "XY": ((972, 2), np.float64),
        "sigma": ((972,), np.float32),
        "rr": ((42,), np.float32),
    }
    assert Elasticity().options() == {"resolution": 3, "refinement": 3, "traction": 100.0}
    assert (sample["sigma"] > 0).all()
    assert sample["rr"][0] == sample["rr"][-1]


def test_points_are_inside_the_material():
    problem = Elasticity(refinement=1)
    one = Hole.random(np.random.default_rng(5))
    away = problem.sample_of(one)["XY"] - 0.5
    assert np.abs(away).max() < 0.5
    angle = np.arctan2(away[:, 1], away[:, 0])
    assert (np.linalg.norm(away, axis=1) > one.radius(angle)).all()


def test_a_sample_depends_on_seed_split_and_index_only():
    problem = Elasticity(resolution=1, refinement=1)
    sample = problem.sample(1, seed=1)
    *_, second = problem.generate(2, seed=1)
    for name, array in sample.items():
        np.testing.assert_array_equal(array, second[name])
    others = [
        problem.sample(0, seed=1),
        problem.sample(1, seed=0),
        problem.sample(1, seed=1, split="test"),
    ]
    assert not any(np.array_equal(sample["rr"], other["rr"]) for other in others)


def test_one_seed_gives_the_same_hole_at_every_resolution():
    few, many = (Elasticity(n, refinement=1).sample(3) for n in (1, 2))
    np.testing.assert_array_equal(few["rr"], many["rr"])
    assert (len(few["XY"]), len(many["XY"])) == (108, 432)


def test_generated_files_are_read_back_as_the_problem_made_them(tmp_path):
    problem = Elasticity(resolution=1, refinement=1)
    generate(Request(problem, 3, 2), tmp_path)
    stress = np.load(tmp_path / "Random_UnitCell_sigma_10.npy")
    assert np.load(tmp_path / "Random_UnitCell_XY_10.npy").shape == (108, 2, 5)
    assert np.load(tmp_path / "Random_UnitCell_rr_10.npy").shape == (42, 5)
    data = load_dataset("elasticity", tmp_path, valid=0)
    assert (len(data.train), len(data.test)) == (3, 2)
    for index, (split, read) in enumerate([("train", data.train[1]), ("test", data.test[1])]):
        made = problem.sample(1, split=split)
        np.testing.assert_array_equal(read.targets[:, 0], made["sigma"])
        np.testing.assert_array_equal(read.inputs, made["XY"].astype(np.float32))
        np.testing.assert_array_equal(read.domain.points, made["XY"])
        np.testing.assert_array_equal(stress[:, [1, 4][index]], made["sigma"])


# ---- what goes wrong ------------------------------------------------------------------------


def test_no_equilibrium_is_said_so_and_the_hole_is_named(monkeypatch):
    monkeypatch.setattr(equilibrium, "NEWTON_STEPS", 1)
    with pytest.raises(NoEquilibriumError, match=r"cosines \[.* sines \[.* found no equilibrium"):
        Elasticity(resolution=1, refinement=1).pull(hole())


def test_too_much_load_at_once_is_applied_in_steps(monkeypatch):
    whole = Elasticity(resolution=1, traction=2e5).pull(hole()).equilibrium.displacement
    monkeypatch.setattr(equilibrium, "NEWTON_STEPS", 5)
    stepwise = Elasticity(resolution=1, traction=2e5).pull(hole()).equilibrium
    assert len(stepwise.imbalance) <= 6
    np.testing.assert_allclose(stepwise.displacement, whole, atol=1e-8)


def failing(times, monkeypatch):
    """The first so many searches for an equilibrium fail."""
    calls = []

    def search(*arguments):
        calls.append(arguments)
        if len(calls) <= times:
            raise NoEquilibriumError("It did not converge.")
        return find_equilibrium(*arguments)

    monkeypatch.setattr(elasticity, "find_equilibrium", search)


def test_a_hole_without_equilibrium_is_not_stored_but_another_one_drawn(monkeypatch):
    problem = Elasticity(resolution=1, refinement=1)
    rng = np.random.default_rng(3)
    _, second = Hole.random(rng), Hole.random(rng)
    expected = problem.sample_of(second)
    failing(1, monkeypatch)
    with pytest.warns(UserWarning, match="did not converge. Another one is drawn"):
        sample = problem.solve(np.random.default_rng(3))
    for name, array in expected.items():
        np.testing.assert_array_equal(sample[name], array)


@pytest.mark.filterwarnings("ignore:.*Another one is drawn")
def test_a_problem_that_never_converges_is_an_error(monkeypatch):
    failing(100, monkeypatch)
    with pytest.raises(NoEquilibriumError, match="did not converge"):
        Elasticity(resolution=1, refinement=1).sample(0)


def test_a_solid_that_nothing_holds_is_refused():
    solid = Sheet(1).solid()
    load = np.zeros((9, 2))
    load[-1, 1] = 1
    with pytest.raises(NoEquilibriumError):
        find_equilibrium(solid, load, np.zeros((9, 2), dtype=bool))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resolution": 0}, "`resolution` must be a whole number of at least 1: got 0"),
        ({"refinement": 2}, "`refinement` must be odd.*got 2"),
        ({"refinement": -1}, "`refinement` must be a whole number of at least 1: got -1"),
        ({"traction": 0.0}, "`traction` must be positive and finite: got 0.0"),
        ({"traction": float("nan")}, "`traction` must be positive and finite: got nan"),
    ],
)
def test_options_that_no_cell_has_are_refused(options, message):
    with pytest.raises(ProblemError, match=message):
        Elasticity(**options)


def test_cells_that_cannot_be_meshed_are_refused():
    with pytest.raises(ProblemError, match="around=10, outwards=1"):
        UnitCell(circle(0.3), 10, 1)
    with pytest.raises(ProblemError, match=r"stay inside the cell: its radius goes from 0\.6"):
        _ = UnitCell(circle(0.6), 12, 1).grid


def test_the_problem_is_made_by_its_name():
    assert make_problem("elasticity", {"traction": "2e4"}) == Elasticity(traction=2e4)
