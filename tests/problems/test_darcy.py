"""Darcy flow: rates against exact solutions, principles that hold on every grid, and the data."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

from supra.problems import elliptic
from supra.problems.darcy import HIGH, LOW, Darcy
from supra.problems.elliptic import solve_darcy
from supra.problems.errors import ProblemError


def nodes(*shape):
    return np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")


def random_medium(shape, seed=0, contrast=4.0):
    """Values between 1 and ``contrast``, independent from node to node: as rough as can be."""
    return contrast ** np.random.default_rng(seed).random(shape)


def rates(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


# ---- against exact solutions ----------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_smooth_coefficient_converges_at_second_order(axes):
    """a = exp(x₁ + … + x_d), u = sin πx₁ sin 2πx₂ …, so f = −a(Δu + ∂₁u + … + ∂_d u)."""
    errors = []
    for cells in (8, 16, 32):
        x = nodes(*(cells * (1 + (axis == 1)) + 1 for axis in range(axes)))  # not all alike
        waves = np.pi * np.arange(1, axes + 1)
        sines = [np.sin(k * xi) for k, xi in zip(waves, x, strict=True)]
        exact = np.prod(sines, axis=0)
        force = (waves**2).sum() * exact
        for axis, (k, xi) in enumerate(zip(waves, x, strict=True)):
            others = np.prod([s for i, s in enumerate(sines) if i != axis], axis=0)
            force = force - k * np.cos(k * xi) * others
        coefficient = np.exp(np.sum(x, axis=0))
        errors.append(np.abs(solve_darcy(coefficient, coefficient * force) - exact).max())
    np.testing.assert_allclose(rates(errors), 2, atol=0.15)


def layered(points):
    """Two materials that meet at x = ½: a, f, and u = v(x) sin πy with −(a v')' = 1."""
    x, y = nodes(points, points)
    left, right = 1 / LOW, 1 / HIGH
    flux = (left + 3 * right) / (4 * (left + right))  # a v' at x = 0, from v(1) = 0
    beyond = (flux * (1 - x) - (1 - x**2) / 2) * -right
    v = np.where(x < 0.5, (flux * x - x**2 / 2) * left, beyond)
    a = np.where(x < 0.5, LOW, HIGH)
    return a, np.sin(np.pi * y) * (1 + np.pi**2 * a * v), v * np.sin(np.pi * y)


def test_a_jump_half_way_between_nodes_converges_at_second_order():
    errors = []
    for points in (16, 32, 64):  # an even number: no node on the interface
        coefficient, force, exact = layered(points)
        errors.append(np.abs(solve_darcy(coefficient, force) - exact).max() / exact.max())
    np.testing.assert_allclose(rates(errors), 2, atol=0.15)
    assert errors[-1] < 1e-3


def test_random_media_converge_by_themselves_at_first_order():
    """Interfaces fall anywhere between nodes. Single media scatter between orders 0.4 and 2.

    Summed over six media, orders of 1.4 and 1.0 are seen.
    """
    changes = np.zeros(3)
    for seed in range(6):
        levels = [
            solve_darcy(Darcy(cells + 1).coefficient(np.random.default_rng(seed)))
            for cells in (32, 64, 128, 256)
        ]
        for step, (few, many) in enumerate(pairwise(levels)):
            changes[step] += np.linalg.norm(many[::2, ::2] - few) / np.linalg.norm(few)
    assert (rates(changes) > 0.8).all()
    assert changes[-1] / 6 < 0.003


def assembled(coefficient):
    """The matrix written out node by node, boundary nodes held at zero; written independently."""
    shape = coefficient.shape
    number = np.arange(coefficient.size).reshape(shape)
    matrix = sparse.lil_array((coefficient.size, coefficient.size))
    for i, j in product(range(shape[0]), range(shape[1])):
        here = number[i, j]
        if i in (0, shape[0] - 1) or j in (0, shape[1] - 1):
            matrix[here, here] = 1
            continue
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            one, two = coefficient[i, j], coefficient[i + di, j + dj]
            inverse_distance = (shape[0] - 1) * abs(di) + (shape[1] - 1) * abs(dj)
            weight = 2 * one * two / (one + two) * inverse_distance**2
            matrix[here, here] += weight
            matrix[here, number[i + di, j + dj]] -= weight
    return matrix.tocsc()


@pytest.mark.parametrize("contrast", [1.0, 4.0, 1e4])
def test_equals_a_direct_solve_of_the_matrix_written_out(contrast):
    coefficient = random_medium((17, 24), contrast=contrast)
    force = np.random.default_rng(1).normal(size=coefficient.shape)
    held = force.copy()
    held[[0, -1]] = 0
    held[:, [0, -1]] = 0
    direct = spsolve(assembled(coefficient), held.ravel()).reshape(force.shape)
    found = solve_darcy(coefficient, force)
    assert np.linalg.norm(found - direct) < 1e-10 * contrast * np.linalg.norm(direct)


# ---- principles that hold on every grid -----------------------------------------------------


def test_force_that_is_not_negative_gives_a_solution_that_is_not_negative():
    coefficient = random_medium((20, 23), contrast=100.0)
    force = np.zeros(coefficient.shape)
    force[5:8, 11:14] = np.random.default_rng(2).random((3, 3))
    solution = solve_darcy(coefficient, force)
    assert (solution[1:-1, 1:-1] > 0).all()
    # without a source, a node's value is a mean of its neighbours': the maximum is at the source
    assert solution.max() == solution[5:8, 11:14].max()


def test_with_force_inside_no_inner_node_is_below_all_its_neighbours():
    solution = solve_darcy(random_medium((20, 20), contrast=100.0))
    lowest = np.inf
    for axis, shift in product((0, 1), (-1, 1)):
        lowest = np.minimum(lowest, np.roll(solution, shift, axis)[1:-1, 1:-1])
    assert (solution[1:-1, 1:-1] > lowest).all()


def test_more_force_gives_a_larger_solution():
    coefficient, rng = random_medium((15, 15)), np.random.default_rng(3)
    less = rng.normal(size=coefficient.shape)
    more = less + rng.random(coefficient.shape)
    difference = solve_darcy(coefficient, more) - solve_darcy(coefficient, less)
    assert (difference[1:-1, 1:-1] > 0).all()


@pytest.mark.parametrize("index", range(3))
def test_solutions_lie_between_those_of_the_two_materials(index):
    """Ordered matrices have ordered inverses, so the mean of u is that of one material at most.

    Its maximum is at most 1 / (4π · 3), that of a round plate of the same area (Talenti).
    """
    problem = Darcy(41)
    solution = problem.sample(index)["sol"].astype(np.float64)
    unit = solve_darcy(np.ones((41, 41)))
    assert unit.mean() / HIGH < solution.mean() < unit.mean() / LOW
    assert 0 < solution.max() < 1 / (4 * np.pi * LOW)
    edges = [solution[0], solution[-1], solution[:, 0], solution[:, -1]]
    assert not np.any(edges)


def turned(array):
    """All eight positions of a square."""
    quarter_turns = [np.rot90(array, k) for k in range(4)]
    return quarter_turns + [turn.T for turn in quarter_turns]


def test_turning_and_flipping_the_medium_turns_and_flips_the_solution():
    coefficient = Darcy(33).coefficient(np.random.default_rng(4))
    force = np.random.default_rng(5).random(coefficient.shape)
    expected = turned(solve_darcy(coefficient, force))
    for a, f, solution in zip(turned(coefficient), turned(force), expected, strict=True):
        np.testing.assert_allclose(solve_darcy(a, f), solution, atol=1e-9 * solution.max())


def test_what_is_produced_inside_leaves_through_the_boundary():
    """The volumes of the inner nodes end half a spacing inside: f = 1 there makes (1 − h)²."""
    coefficient = random_medium((41, 41))
    solution, outflow = solve_darcy(coefficient), 0.0
    for a, u in zip(turned(coefficient)[:4], turned(solution)[:4], strict=True):
        face = 2 / (1 / a[0] + 1 / a[1])
        outflow += (face * u[1])[1:-1].sum()  # (u₁ − 0) / h, times a face of length h
    assert outflow == pytest.approx((1 - 1 / 40) ** 2, rel=1e-9)


def test_solutions_scale_with_force_and_coefficient():
    coefficient, force = random_medium((12, 12)), random_medium((12, 12), seed=1)
    once = solve_darcy(coefficient, force)
    np.testing.assert_allclose(solve_darcy(5 * coefficient, 1e6 * force), 2e5 * once, rtol=1e-9)
    assert not solve_darcy(coefficient, 0.0).any()


def test_steps_do_not_grow_with_the_resolution(monkeypatch):
    counts = []
    precondition = elliptic.DiffusionMatrix.precondition

    def counted(self, values):
        counts[-1] += 1
        return precondition(self, values)

    monkeypatch.setattr(elliptic.DiffusionMatrix, "precondition", counted)
    for resolution in (33, 65, 129):
        counts.append(0)
        solve_darcy(Darcy(resolution).coefficient(np.random.default_rng(7)))
    assert max(counts) <= 23  # 2√κ ρᵏ ≤ 1e-10 with κ = 4, ρ = 1/3, and one for the start


# ---- the data -------------------------------------------------------------------------------


def test_a_sample_is_what_the_public_files_hold():
    sample = Darcy(33).sample(0)
    assert set(sample) == {"coeff", "sol"}
    assert all(array.shape == (33, 33) and array.dtype == np.float32 for array in sample.values())
    assert Darcy().options() == {"resolution": 421}
    again = solve_darcy(sample["coeff"].astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(sample["sol"], again)


def test_a_sample_depends_on_seed_split_and_index_only():
    problem = Darcy(17)
    sample = problem.sample(2, seed=1)
    *_, third = problem.generate(3, seed=1)
    for name, array in sample.items():
        np.testing.assert_array_equal(array, third[name])
    others = [
        problem.sample(1, seed=1),
        problem.sample(2, seed=0),
        problem.sample(2, seed=1, split="test"),
    ]
    assert not any(np.array_equal(sample["coeff"], other["coeff"]) for other in others)


def test_one_seed_gives_the_same_medium_at_every_resolution():
    fine = Darcy(85).sample(3)["coeff"]
    np.testing.assert_array_equal(Darcy(43).sample(3)["coeff"], fine[::2, ::2])


def test_media_are_of_two_materials_in_equal_parts():
    """By symmetry the mean part is exactly a half; the samples tell how far it may be off."""
    media = np.stack([sample["coeff"] for sample in Darcy(9).generate(60)])
    assert set(np.unique(media)) == {3.0, 12.0}
    parts = (media == 12).mean(axis=(1, 2))
    assert abs(parts.mean() - 0.5) < 4 * parts.std() / np.sqrt(len(parts))
    assert parts.min() > 0  # no medium of one material, as the constant would give
    assert parts.max() < 1


# ---- what goes wrong ------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [2, -1, True])
def test_too_few_points_are_refused(resolution):
    with pytest.raises(ProblemError, match=rf"`resolution` .* at least 3: got {resolution}"):
        Darcy(resolution)


@pytest.mark.usefixtures("unchecked")
def test_a_resolution_that_is_no_whole_number_is_refused():
    with pytest.raises(ProblemError, match=r"whole number .* got 21\.5"):
        Darcy(21.5)


@pytest.mark.parametrize(
    ("coefficient", "force", "message"),
    [
        (np.ones((2, 5)), 1.0, r"at least 3 nodes .* got shape \(2, 5\)"),
        (np.ones((3, 3, 3, 3)), 1.0, "1 to 3 axes"),
        (np.zeros((5, 5)), 1.0, "positive at every node: got values from 0 to 0"),
        (np.full((5, 5), np.nan), 1.0, "`coefficient` must be finite"),
        (np.ones((5, 5)), np.ones((5, 4)), r"shape of `coefficient`, \(5, 5\): got \(5, 4\)"),
        (np.ones((5, 5)), np.inf, "`force` must be finite"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_arrays_that_make_no_problem_are_refused(coefficient, force, message):
    with pytest.raises(ProblemError, match=message):
        solve_darcy(coefficient, force)


def test_an_iteration_that_does_not_converge_is_an_error(monkeypatch):
    monkeypatch.setattr(elliptic, "_step_limit", lambda contrast: 3)
    with pytest.raises(ProblemError, match=r"did not reach .* in 3 steps"):
        solve_darcy(random_medium((20, 20)))
