"""Steady flows with a known solution, and those that are not found."""

import numpy as np
import pytest
from scipy.optimize import brentq

from supra.problems import steady_euler
from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh
from supra.problems.gas import GAMMA, NoSteadyStateError, free_stream, mach_number
from supra.problems.steady_euler import Pace, steady_flow


def wedge(degrees: float, cells: int) -> CellMesh:
    """A flat plate from x = −1/2 to 0, then a ramp to x = 1; above it, room for the shock."""
    x = np.linspace(-0.5, 1, 3 * cells + 1)
    ramp = np.tan(np.deg2rad(degrees)) * np.clip(x, 0, None)
    t = np.linspace(0, 1, 2 * cells + 1)
    y = ramp[:, None] * (1 - t) + 1.2 * t
    return CellMesh.from_grid(np.stack([np.broadcast_to(x[:, None], y.shape), y], axis=-1))


def oblique_shock(mach: float, degrees: float) -> dict[str, float]:
    """Angle of the shock, and the state behind it, by the θ–β–M and Rankine–Hugoniot relations."""
    turn = np.deg2rad(degrees)

    def relation(angle: float) -> float:
        lead = mach**2 * np.sin(angle) ** 2 - 1
        return 2 / np.tan(angle) * lead / (mach**2 * (GAMMA + np.cos(2 * angle)) + 2) - np.tan(turn)

    angle = brentq(relation, np.arcsin(1 / mach) + 1e-9, 1.0)
    normal = (mach * np.sin(angle)) ** 2
    behind = (normal + 5) / (7 * normal - 1)
    return {
        "angle": angle,
        "pressure": (7 * normal - 1) / 6,
        "density": 6 * normal / (normal + 5),
        "mach": np.sqrt(behind) / np.sin(angle - turn),
    }


@pytest.mark.parametrize(("mach", "degrees"), [(2.0, 10.0), (2.5, 15.0)])
def test_a_supersonic_wedge_matches_the_oblique_shock_relations(
    mach: float, degrees: float
) -> None:
    exact = oblique_shock(mach, degrees)
    mesh = wedge(degrees, 20)
    flow = steady_flow(mesh, free_stream(mach), tolerance=1e-5)
    x, y = mesh.centres.T
    ramp = np.tan(np.deg2rad(degrees))
    middle = (np.tan(exact["angle"]) + ramp) / 2  # of the layer between ramp and shock
    behind = (x > 0.3) & (x < 0.95) & (y < middle * x)
    assert flow[behind, 3].mean() == pytest.approx(exact["pressure"], rel=3e-3)
    assert flow[behind, 0].mean() == pytest.approx(exact["density"], rel=0.01)
    assert mach_number(flow[behind].T).mean() == pytest.approx(exact["mach"], rel=0.01)
    direction = np.arctan2(flow[behind, 2], flow[behind, 1]).mean()
    assert np.rad2deg(direction) == pytest.approx(degrees, abs=0.1)
    ahead = flow[y > np.tan(exact["angle"]) * x + 0.2]
    np.testing.assert_allclose(ahead - np.array(free_stream(mach)), 0, atol=1e-3)


@pytest.fixture
def coarse() -> CellMesh:
    return CellMesh.from_grid(CGrid(24, 8, 10).points(np.zeros(8)), wake=8)


def test_the_residual_falls_as_far_as_asked(coarse: CellMesh) -> None:
    free = free_stream(0.5)
    flow = steady_flow(coarse, free, tolerance=1e-9)
    undisturbed = np.tile(free, (len(flow), 1))
    left, start = (
        np.linalg.norm(steady_euler.residual(coarse, state, free)) for state in (flow, undisturbed)
    )
    assert left < 1e-7 * start


def test_a_flow_that_is_not_found_is_an_error(
    coarse: CellMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steady_euler, "PACES", (Pace(steps=2), Pace(steps=3)))
    with pytest.raises(NoSteadyStateError, match=r"fall to 1e-06 .* after 2 and .* after 3 steps"):
        steady_flow(coarse, free_stream(0.8), tolerance=1e-6)


def test_a_flow_that_the_first_pace_misses_is_found_by_the_next(
    coarse: CellMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = steady_flow(coarse, free_stream(0.5), tolerance=1e-9)
    monkeypatch.setattr(steady_euler, "PACES", (Pace(steps=2), steady_euler.PACES[1]))
    again = steady_flow(coarse, free_stream(0.5), tolerance=1e-9)
    np.testing.assert_allclose(again, straight, atol=1e-6)
