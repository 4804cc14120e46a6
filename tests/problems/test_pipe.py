"""Pipe flow: Poiseuille's, the same flux everywhere, mirror images, refinement, and the data."""

import numpy as np
import pytest
from scipy.integrate import simpson

from supra.problems import incompressible
from supra.problems.errors import ProblemError
from supra.problems.pipe import CentreLine, Pipe


def centre_line(seed=0):
    return CentreLine.random(np.random.default_rng(seed))


def fields(flow):
    return np.stack([*flow.velocity, flow.pressure])


def flux(x_velocity):
    """Through every section; Simpson's rule is exact for what the elements hold."""
    return simpson(x_velocity, dx=1 / (x_velocity.shape[1] - 1), axis=1)


def difference(few, many):
    """Relative, of each field, at the nodes that both grids have."""
    step = (many.shape[1] - 1) // (few.shape[1] - 1)
    seen = many[:, ::step, ::step]
    return np.linalg.norm(few - seen, axis=(1, 2)) / np.linalg.norm(seen, axis=(1, 2))


# ---- the pipe -------------------------------------------------------------------------------


def test_the_centre_line_passes_the_control_nodes_with_their_slopes():
    line, nodes, step = centre_line(), np.linspace(0, 10, 5), 1e-6
    np.testing.assert_allclose(line(nodes), line.heights, atol=1e-14)
    slopes = (line(nodes + step) - line(nodes - step)) / (2 * step)
    np.testing.assert_allclose(slopes, line.slopes, atol=1e-5)


def test_between_control_nodes_the_centre_line_is_cubic():
    line = centre_line()
    for start in (0, 2.5, 5, 7.5):
        assert np.abs(np.diff(line(start + np.linspace(0, 2.5, 9)), n=4)).max() < 1e-13


def test_control_nodes_fill_their_ranges_and_the_inlet_is_level():
    rng = np.random.default_rng(0)
    lines = [CentreLine.random(rng) for _ in range(400)]
    heights = np.stack([line.heights for line in lines])
    slopes = np.stack([line.slopes for line in lines])
    assert not slopes[:, 0].any()
    for values, bound in ((heights, 2), (slopes[:, 1:], 1)):
        assert np.abs(values).max() <= bound
        # the standard deviation of a uniform variable is its bound over √3
        np.testing.assert_allclose(values.std(axis=0), bound / np.sqrt(3), rtol=0.1)
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=4 * bound / np.sqrt(3 * 400))


def test_sections_are_vertical_and_of_width_one():
    line = centre_line()
    points = Pipe(17).points(line)
    x, y = np.moveaxis(points, -1, 0)
    assert (x == np.linspace(0, 10, 17)[:, None]).all()
    np.testing.assert_allclose(y[:, 8], line(x[:, 0]), atol=1e-14)
    np.testing.assert_allclose(np.diff(y, axis=1), 1 / 16)


# ---- the flow -------------------------------------------------------------------------------


@pytest.mark.parametrize("viscosity", [0.005, 0.2])
def test_straight_pipe_gives_poiseuille_flow(viscosity):
    """u = 1 − 4s², and the pressure falls by 8ν per length."""
    pipe = Pipe(33, viscosity)
    line = CentreLine(np.full(5, 0.7), np.zeros(5))
    flow, points = pipe.flow(line), pipe.points(line)
    s = points[..., 1] - 0.7
    np.testing.assert_allclose(flow.velocity[0], 1 - 4 * s**2, atol=1e-11)
    np.testing.assert_allclose(flow.velocity[1], 0, atol=1e-11)
    np.testing.assert_allclose(flow.pressure, 8 * viscosity * (10 - points[..., 0]), atol=1e-10)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_flux_is_the_same_through_every_section(seed):
    """Exactly, at every resolution: the elements conserve mass."""
    flow = Pipe(33).flow(centre_line(seed))
    np.testing.assert_allclose(flux(flow.velocity[0]), 2 / 3, rtol=1e-9)


def test_the_fluid_sticks_to_the_walls_and_enters_as_told():
    velocity = Pipe(33).flow(centre_line()).velocity
    assert not velocity[:, :, [0, -1]].any()
    s = np.linspace(-0.5, 0.5, 33)
    np.testing.assert_allclose(velocity[0, 0], 1 - 4 * s**2, atol=1e-15)
    assert not velocity[1, 0].any()


def test_mirroring_the_centre_line_mirrors_the_flow():
    line = centre_line(1)
    up = fields(Pipe(33).flow(line))
    down = fields(Pipe(33).flow(CentreLine(-line.heights, -line.slopes)))
    mirrored = down[:, :, ::-1] * np.array([1, -1, 1])[:, None, None]
    np.testing.assert_allclose(mirrored, up, atol=1e-9)


def test_lifting_the_pipe_leaves_the_flow_as_it_is():
    line = centre_line(1)
    lifted = CentreLine(line.heights + 3, line.slopes)
    np.testing.assert_allclose(
        fields(Pipe(33).flow(lifted)), fields(Pipe(33).flow(line)), atol=1e-9
    )


def gentle_line():
    """Level at both ends: no singular corner at the outlet that would hide the rate."""
    return CentreLine(np.array([0, 0.8, -0.3, 0.4, 0.4]), np.array([0, 0.2, 0, 0.1, 0.0]))


def test_finer_grids_approach_the_flow_in_a_curved_pipe():
    """Changes from grid to grid: by factors of 8 in the velocity and 4 in the pressure."""
    coarse, middle, fine = (fields(Pipe(nodes).flow(gentle_line())) for nodes in (17, 33, 65))
    first, second = difference(coarse, middle), difference(middle, fine)
    assert (np.log2(first / second)[:2] > 2.5).all()
    assert np.log2(first / second)[2] > 1.7
    assert (second < 0.03).all()


@pytest.mark.slow
def test_the_data_are_converged_to_a_thousandth():
    """Random pipes at the data's resolution, against twice as many nodes.

    Where the last slope is not zero, most of what is left is at the corners of the outlet: the
    flow has a singularity there, between the wall and a free boundary that are not at right angles.
    """
    for seed in (0, 1):
        usual, fine = (fields(Pipe(nodes).flow(centre_line(seed))) for nodes in (129, 257))
        left = difference(usual, fine)
        assert left[0] < 1.5e-3
        assert left[1] < 5e-3
        assert left[2] < 5e-3


@pytest.mark.slow
def test_refinement_of_one_curved_pipe_is_of_the_elements_order():
    levels = [fields(Pipe(nodes).flow(gentle_line())) for nodes in (33, 65, 129, 257)]
    left = np.stack([difference(level, levels[-1]) for level in levels[:-1]])
    orders = np.log2(left[:-1] / left[1:])
    assert (orders[:, :2] > 2.6).all()
    assert (orders[:, 2] > 1.8).all()


@pytest.mark.slow
@pytest.mark.parametrize("index", range(3))
def test_a_sample_is_the_flow_that_slow_fluids_go_over_into(index, monkeypatch):
    """Coarse grids lead to the same flow as small steps in the viscosity on the fine one."""
    nested = Pipe(65).sample(index)["Q"]
    monkeypatch.setattr(incompressible, "COARSEST", 1000)
    monkeypatch.setattr(incompressible, "CONTINUATION_STEPS", (12,))
    np.testing.assert_allclose(Pipe(65).sample(index)["Q"], nested, atol=1e-6)


# ---- the data -------------------------------------------------------------------------------


def test_a_sample_is_what_the_public_files_hold():
    sample = Pipe(17).sample(0)
    assert {name: (array.shape, array.dtype) for name, array in sample.items()} == {
        "X": ((17, 17), np.float64),
        "Y": ((17, 17), np.float64),
        "Q": ((3, 17, 17), np.float32),
    }
    assert Pipe().options() == {"resolution": 129, "viscosity": 0.005}
    assert (sample["X"][0] == 0).all()
    assert (np.diff(sample["Y"], axis=1) > 0).all()


@pytest.mark.slow
def test_a_sample_of_full_size_has_the_public_shapes_and_flux():
    sample = Pipe().sample(0)
    assert sample["X"].shape == sample["Y"].shape == (129, 129)
    assert sample["Q"].shape == (3, 129, 129)
    np.testing.assert_allclose(flux(sample["Q"][0].astype(np.float64)), 2 / 3, rtol=1e-6)


def test_a_sample_depends_on_seed_split_and_index_only():
    pipe = Pipe(17)
    sample = pipe.sample(1, seed=1)
    *_, second = pipe.generate(2, seed=1)
    for name, array in sample.items():
        np.testing.assert_array_equal(array, second[name])
    others = [
        pipe.sample(0, seed=1),
        pipe.sample(1, seed=0),
        pipe.sample(1, seed=1, split="test"),
    ]
    assert not any(np.array_equal(sample["Y"], other["Y"]) for other in others)


def test_one_seed_gives_the_same_pipe_at_every_resolution():
    few, many = (Pipe(nodes).sample(3) for nodes in (17, 33))
    np.testing.assert_allclose(few["Y"], many["Y"][::2, ::2], atol=1e-14)


# ---- what goes wrong ------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [7, 128, -9, True])
def test_resolutions_that_make_no_elements_are_refused(resolution):
    with pytest.raises(ProblemError, match=rf"odd whole number of at least 9: got {resolution}"):
        Pipe(resolution)


@pytest.mark.parametrize("viscosity", [0.0, -1.0, np.inf, np.nan])
def test_viscosities_that_are_not_positive_are_refused(viscosity):
    with pytest.raises(ProblemError, match="`viscosity` must be finite and positive"):
        Pipe(17, viscosity)


def test_a_pipe_without_a_flow_is_named(monkeypatch):
    monkeypatch.setattr(incompressible, "NEWTON_STEPS", 1)
    line = CentreLine(np.array([0.25, 1, -1, 0.5, 0]), np.array([0, 0.5, 0, 0, 1.0]))
    with pytest.raises(
        ProblemError, match=r"heights \[ ?0\.25 .* slopes \[0\. .* larger viscosity"
    ):
        Pipe(9).flow(line)
