"""Channel flow: exact solutions with their rates, laws that hold on every grid, and errors."""

import numpy as np
import pytest

from supra.problems import incompressible
from supra.problems.errors import ProblemError
from supra.problems.incompressible import solve_channel_flow


def square(nodes, along=None):
    x, y = np.meshgrid(np.linspace(0, 1, along or nodes), np.linspace(0, 1, nodes), indexing="ij")
    return x, y


def bent(nodes):
    """A curved grid with a straight outlet at x = 1."""
    x, y = square(nodes)
    return np.stack([x + 0.1 * np.sin(np.pi * x) * y, y + 0.2 * np.sin(3 * x)], axis=-1)


def rates(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


# ---- against exact solutions ----------------------------------------------------------------

VISCOSITY = 0.05


def manufactured(points):
    r"""Stream function f(x) g(y) with f' = f'' = 0 at the outlet, and p = 0 there.

    So the outlet is free of forces. Returns u, p and the force that makes them a solution.
    """
    x, y = np.moveaxis(points, -1, 0)
    f, f1, f2, f3 = 1 + (1 - x) ** 3, -3 * (1 - x) ** 2, 6 * (1 - x), -6 + 0 * x
    g, g1, g2, g3 = np.sin(2 * y) + y, 2 * np.cos(2 * y) + 1, -4 * np.sin(2 * y), -8 * np.cos(2 * y)
    u, v = f * g1, -f1 * g
    pressure = (1 - x) * np.cos(3 * y)
    force_x = u * f1 * g1 + v * f * g2 - np.cos(3 * y) - VISCOSITY * (f2 * g1 + f * g3)
    force_y = -u * f2 * g - v * f1 * g1 - 3 * (1 - x) * np.sin(3 * y)
    force_y += VISCOSITY * (f3 * g + f1 * g2)
    return np.stack([u, v]), pressure, np.stack([force_x, force_y])


def between_nodes(values):
    """Biquadratic functions on the elements, at four points per axis inside each."""
    t = np.array([0.1, 0.35, 0.6, 0.85])
    weights = np.stack([(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)])
    windows = np.lib.stride_tricks.sliding_window_view(values, (3, 3), axis=(-2, -1))
    return np.einsum("...ij,ip,jq->...pq", windows[..., ::2, ::2, :, :], weights, weights)


def rms(values):
    return np.sqrt((values**2).mean())


def test_manufactured_flow_converges_at_least_at_third_order_and_its_pressure_at_second():
    """Seen between the nodes, where no node's luck helps; the grid is curved.

    Orders of 3.1, 3.4, 3.3 and 2.7, 2.7, 2.2 are seen from 9 to 65 nodes.
    """
    velocity_errors, pressure_errors = [], []
    for nodes in (9, 17, 33, 65):
        points = bent(nodes)
        exact, _, force = manufactured(points)
        flow = solve_channel_flow(points, exact, VISCOSITY, force)
        places = np.moveaxis(between_nodes(np.moveaxis(points, -1, 0)), 0, -1)
        velocity, pressure, _ = manufactured(places)
        velocity_errors.append(rms(between_nodes(flow.velocity) - velocity))
        pressure_errors.append(rms(between_nodes(flow.pressure) - pressure))
    assert (rates(velocity_errors) > 2.9).all()
    assert (rates(pressure_errors) > 1.9).all()
    assert velocity_errors[-1] < 1e-5


@pytest.mark.parametrize("nodes", [(9, 5), (17, 33)])
def test_straight_channel_carries_poiseuille_flow(nodes):
    """u = 4y(1 − y), p = 8ν(L − x): both are in the elements' spaces."""
    x, y = square(nodes[1], along=nodes[0])
    held = np.stack([4 * y * (1 - y), 0 * y])
    flow = solve_channel_flow(np.stack([5 * x, y], axis=-1), held, 0.005)
    np.testing.assert_allclose(flow.velocity, held, atol=1e-11)
    np.testing.assert_allclose(flow.pressure, 0.04 * 5 * (1 - x), atol=1e-11)


def test_a_channel_of_any_size_and_unit_is_the_same_flow():
    """Lengths times a, velocities times b: viscosity times ab, pressure times b²."""
    points = bent(17)
    held = manufactured(points)[0]
    one = solve_channel_flow(points, held, 0.05)
    other = solve_channel_flow(3 * points, 7 * held, 21 * 0.05)
    np.testing.assert_allclose(other.velocity, 7 * one.velocity, atol=1e-9)
    np.testing.assert_allclose(other.pressure, 49 * one.pressure, atol=1e-8)


def test_a_force_that_is_a_gradient_changes_the_pressure_only():
    """f = ∇(1 − x): one more linear pressure, zero at the outlet."""
    points = bent(17)
    held = manufactured(points)[0]
    force = np.zeros(held.shape)
    force[0] = -1
    without, pushed = (solve_channel_flow(points, held, 0.1, f) for f in (None, force))
    assert np.abs(pushed.velocity - without.velocity).max() < 2e-4  # x is not linear in an element
    np.testing.assert_allclose(pushed.pressure - without.pressure, 1 - points[..., 0], atol=2e-3)


def test_fluid_that_nothing_moves_is_at_rest():
    flow = solve_channel_flow(bent(9), np.zeros((2, 9, 9)), 0.1)
    assert not flow.velocity.any()
    assert not flow.pressure.any()


# ---- the iteration --------------------------------------------------------------------------


def recorded(monkeypatch, fails=()):
    """Nodes along the channel and viscosity of each Newton iteration; some are made to fail."""
    calls = []
    newton = incompressible._newton_at

    def record(channel, state, viscosity):
        calls.append((channel.held.shape[1], round(viscosity, 6)))
        if len(calls) in fails:
            raise ProblemError("made to fail")
        return newton(channel, state, viscosity)

    monkeypatch.setattr(incompressible, "_newton_at", record)
    return calls


def test_fine_grids_start_from_coarse_ones(monkeypatch):
    calls = recorded(monkeypatch)
    points = bent(65)
    held = manufactured(points)[0]
    nested = solve_channel_flow(points, held, 0.02)
    assert calls == [(33, 0.32), (33, 0.08), (33, 0.02), (65, 0.02)]
    monkeypatch.setattr(incompressible, "COARSEST", 64)
    direct = solve_channel_flow(points, held, 0.02)
    np.testing.assert_allclose(nested.velocity, direct.velocity, atol=1e-9)
    np.testing.assert_allclose(nested.pressure, direct.pressure, atol=1e-8)


def test_a_state_seen_on_the_finer_grid_is_the_same_function():
    channel = incompressible._Channel(bent(9), np.zeros((2, 9, 9)), np.zeros((2, 9, 9)))
    fine = incompressible._Channel(bent(17), np.zeros((2, 17, 17)), np.zeros((2, 17, 17)))
    x, y = square(9)
    bilinear = np.concatenate([(x * y).ravel(), (x**2 - y**2).ravel()])
    ex, ey = np.meshgrid(np.arange(4) / 4 + 1 / 8, np.arange(4) / 4 + 1 / 8, indexing="ij")
    linear = np.stack([2 * ex - ey, 0 * ex + 2 / 4, 0 * ex - 1 / 4], axis=-1)
    flow = fine.flow(channel.finer(np.concatenate([bilinear, linear.ravel()])))
    x, y = square(17)
    np.testing.assert_allclose(flow.velocity, [x * y, x**2 - y**2], atol=1e-14)
    np.testing.assert_allclose(flow.pressure, 2 * x - y, atol=1e-14)


def test_a_way_that_fails_is_tried_again_in_smaller_steps(monkeypatch):
    calls = recorded(monkeypatch, fails=[3])
    points = bent(17)
    solve_channel_flow(points, manufactured(points)[0], 0.02)
    first, second = calls[:3], calls[3:]
    assert [nu for _, nu in first] == [0.32, 0.08, 0.02]
    np.testing.assert_allclose(
        [nu for _, nu in second], 0.02 * 16 ** (np.arange(7)[::-1] / 6), 1e-4
    )


def test_a_coarse_grid_that_fails_is_done_without(monkeypatch):
    calls = recorded(monkeypatch, fails=[1, 2, 3])
    points = bent(65)
    solve_channel_flow(points, manufactured(points)[0], 0.02)
    assert [nodes for nodes, _ in calls] == [33, 33, 33, 65, 65, 65]


def test_an_iteration_that_does_not_converge_is_an_error(monkeypatch):
    monkeypatch.setattr(incompressible, "NEWTON_STEPS", 1)
    points = bent(9)
    with pytest.raises(ProblemError, match=r"no steady flow at viscosity 0\.8 on 9 × 9 nodes"):
        solve_channel_flow(points, manufactured(points)[0], 0.05)


# ---- what goes wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": np.zeros((9, 9))}, r"shape \(along, across, 2\): got \(9, 9\)"),
        ({"points": np.zeros((9, 8, 2))}, "odd number of nodes .* got 9 × 8"),
        ({"points": np.zeros((3, 9, 2))}, "at least 5"),
        ({"points": np.zeros((9, 9, 2))}, "must not be folded"),
        ({"held": np.zeros((9, 9))}, r"`held` needs .* \(2, 9, 9\): got \(9, 9\)"),
        ({"force": np.zeros((2, 9, 7))}, r"`force` needs .* got \(2, 9, 7\)"),
        ({"held": np.full((2, 9, 9), np.nan)}, "must be finite"),
        ({"viscosity": 0.0}, "`viscosity` must be finite and positive: got 0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_data_that_make_no_flow_are_refused(changes, message):
    arguments = {"points": bent(9), "held": np.zeros((2, 9, 9)), "viscosity": 0.1} | changes
    with pytest.raises(ProblemError, match=message):
        solve_channel_flow(**arguments)
