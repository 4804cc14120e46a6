"""Cells and faces of a glued grid: closed cells, the right area, neighbours across the wake."""

import numpy as np
import pytest

from supra.problems import ProblemError
from supra.problems.c_grid import CGrid
from supra.problems.cell_mesh import CellMesh

POINTS = CGrid(around=24, wake=8, outwards=10).points(np.array([0, 0.05, -0.03, 0, 0, 0.04, 0, 0]))
MESH = CellMesh.from_grid(POINTS, wake=8)


def test_the_faces_of_every_cell_close() -> None:
    total = np.zeros((len(MESH.areas), 2))
    np.add.at(total, MESH.stencil[:, 1], MESH.normals)
    np.add.at(total, MESH.stencil[:, 2], -MESH.normals)
    np.add.at(total, MESH.wall[:, 0], MESH.wall_normals)
    np.add.at(total, MESH.far, MESH.far_normals)
    np.testing.assert_allclose(total, 0, atol=1e-12)


def test_the_areas_add_up_to_that_within_the_boundary() -> None:
    boundary = np.concatenate([POINTS[:, 0], POINTS[-1, 1:], POINTS[-2::-1, -1], POINTS[0, -2::-1]])
    x, y = boundary.T
    shoelace = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    assert MESH.areas.sum() == pytest.approx(shoelace)


def test_normals_point_from_the_left_cell_to_the_right_one() -> None:
    between = MESH.centres[MESH.stencil[:, 2]] - MESH.centres[MESH.stencil[:, 1]]
    assert np.all(np.sum(between * MESH.normals, axis=1) > 0)


def test_faces_are_sorted_by_the_smaller_cell() -> None:
    left, right = MESH.stencil[:, 1], MESH.stencil[:, 2]
    assert np.all(left < right)
    assert np.all(np.diff(left) >= 0)
    for cell in (0, 17, len(MESH.areas) - 1):
        assert np.all(left[MESH.first_face[cell] : MESH.first_face[cell + 1]] == cell)


def test_lines_of_cells_go_on_across_the_wake() -> None:
    number = np.arange(40 * 10).reshape(40, 10)
    stencils = {tuple(s) for s in MESH.stencil.tolist()}
    assert (number[3, 1], number[3, 0], number[36, 0], number[36, 1]) in stencils
    assert (number[36, 0], number[3, 0], number[3, 1], number[3, 2]) in stencils
    assert (number[3, 0], number[36, 0], number[36, 1], number[36, 2]) in stencils
    assert (-1, number[20, 0], number[20, 1], number[20, 2]) in stencils  # at the wall


def test_a_folded_grid_is_refused() -> None:
    points = POINTS.copy()
    points[20, 1] += 3 * (points[20, 0] - points[20, 1])  # into the profile
    with pytest.raises(ProblemError, match=r"folds over itself in . of 400 cells"):
        CellMesh.from_grid(points, wake=8)
