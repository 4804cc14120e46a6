"""Plates as points: the plate problem's own solution, told without cells."""

import numpy as np
import pytest

from supra.domain import Mesh
from supra.domain.interpolate import interpolation_matrix
from supra.problems import PlatePoints, ProblemError

COARSE = {"resolution": 10, "holes": 2}
NODES = PlatePoints(**COARSE)
ANYWHERE = PlatePoints(**COARSE, scatter="uniform")


def on_mesh(problem: PlatePoints, index: int) -> dict[str, np.ndarray]:
    return problem.plate().sample(index)


def test_nodes_are_those_of_the_plate_in_no_order():
    points, mesh = NODES.sample(1), on_mesh(NODES, 1)
    rows = {
        name: np.column_stack([sample["points"], sample["a"], sample["f"], sample["u"]])
        for name, sample in (("points", points), ("mesh", mesh))
    }
    assert not np.array_equal(rows["points"], rows["mesh"])
    as_sets = {name: set(map(tuple, values.tolist())) for name, values in rows.items()}
    assert as_sets["points"] == as_sets["mesh"]
    assert "cells" not in points


def test_points_anywhere_have_the_finite_element_values_there():
    points, mesh = ANYWHERE.sample(1), on_mesh(ANYWHERE, 1)
    plate = Mesh(mesh["points"], mesh["cells"])
    at_points = interpolation_matrix(plate, points["points"], reach=1e-9)
    for name in ("a", "f", "u"):
        np.testing.assert_allclose(points[name], at_points @ mesh[name], atol=1e-9)
    assert len(points["u"]) == len(plate.points)


def test_points_anywhere_are_equally_dense():
    """Their mean of any function is its integral over the plate, up to chance."""
    means, integrals = [], []
    for index in range(10):
        points, mesh = ANYWHERE.sample(index), on_mesh(ANYWHERE, index)
        plate = Mesh(mesh["points"], mesh["cells"])
        means.append(points["u"].mean() * plate.measure)
        integrals.append((plate.node_measures * mesh["u"]).sum())
    assert np.mean(means) == pytest.approx(np.mean(integrals), rel=0.03)


def test_numbers_of_holes_may_differ():
    problem = PlatePoints(resolution=10, holes=3, fewest=0)
    assert len({len(sample["u"]) for sample in problem.generate(4)}) > 1


def test_a_sample_is_the_same_whenever_it_is_made():
    for problem in (NODES, ANYWHERE):
        again = PlatePoints(**COARSE, scatter=problem.scatter).sample(2)
        for key, value in problem.sample(2).items():
            np.testing.assert_array_equal(again[key], value)
        assert not np.array_equal(problem.sample(2)["u"], problem.sample(2, seed=1)["u"])


@pytest.mark.usefixtures("unchecked")
def test_wrong_options_are_named():
    with pytest.raises(ProblemError, match="scatter"):
        PlatePoints(scatter="cells")
    with pytest.raises(ProblemError, match="fewest"):
        PlatePoints(**COARSE, fewest=3)
