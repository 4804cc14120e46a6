"""Quadrilateral cells of a structured grid, as the list of faces that finite volumes loop over."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from supra.problems.errors import ProblemError


class CellMesh(NamedTuple):
    """Cells and the faces between them; a normal is as long as its face.

    Cells are numbered along j first. Faces are sorted by their left cell, which has the smaller
    number of the two: what an incomplete factorisation in the order of the cells needs. A tuple of
    arrays, because compiled loops take it as it is.

    Attributes:
        centres: of the cells.
        areas: of the cells.
        stencil: for every inner face the cells far left, left, right and far right of it; −1 where
            there is none.
        normals: of the inner faces, from the left cell to the right one.
        first_face: the faces from ``first_face[c]`` up to ``first_face[c + 1]`` have left cell c.
        wall: for every wall face its cell and the next cell away from it.
        wall_normals: out of the domain.
        far: the cell of every far-field face.
        far_normals: out of the domain.
    """

    centres: Float[np.ndarray, "cells 2"]
    areas: Float[np.ndarray, " cells"]
    stencil: Int[np.ndarray, "faces 4"]
    normals: Float[np.ndarray, "faces 2"]
    first_face: Int[np.ndarray, " cells_and_one"]
    wall: Int[np.ndarray, "wall 2"]
    wall_normals: Float[np.ndarray, "wall 2"]
    far: Int[np.ndarray, " far"]
    far_normals: Float[np.ndarray, "far 2"]

    @classmethod
    def from_grid(cls, points: Float[np.ndarray, "along outwards 2"], wake: int = 0) -> "CellMesh":
        """Cells of a structured grid: j = 0 is a wall, the other three sides are far field.

        The first and the last ``wake`` cells of the line j = 0 lie against each other and are
        glued: cell i there is the neighbour of the i-th from the end.
        """
        areas, centres = _areas_and_centres(points)
        sign = _orientation(areas)
        along = -sign * _turned(np.diff(points, axis=1))  # through faces of constant i, to i + 1
        outwards = sign * _turned(np.diff(points, axis=0))  # through faces of constant j, to j + 1
        number = np.arange(areas.size).reshape(areas.shape)
        stencil, normals = _inner_faces(number, along, outwards, wake)
        body = slice(wake, len(number) - wake)
        return cls(
            centres=centres.reshape(-1, 2),
            areas=np.abs(areas).ravel(),
            stencil=stencil,
            normals=normals,
            first_face=np.searchsorted(stencil[:, 1], np.arange(areas.size + 1)),
            wall=number[body, :2].copy(),
            wall_normals=-outwards[body, 0],
            far=np.concatenate([number[:, -1], number[0], number[-1]]),
            far_normals=np.concatenate([outwards[:, -1], -along[0], along[-1]]),
        )


def _areas_and_centres(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed areas and centroids of the quadrilaterals, each as two triangles."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    one, two = _cross(b - a, c - a) / 2, _cross(c - a, d - a) / 2
    area = one + two
    moment = one[..., None] * (a + b + c) / 3 + two[..., None] * (a + c + d) / 3
    return area, moment / area[..., None]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _orientation(areas: np.ndarray) -> float:
    """1 if j is to the left of i, −1 if it is to the right, in all cells alike."""
    sign = float(np.sign(areas.sum()))
    folded = np.count_nonzero(areas * sign <= 0)
    if folded:
        raise ProblemError(
            f"The grid folds over itself in {folded} of {areas.size} cells: the profile must not "
            "cross itself. Use smaller displacements."
        )
    return sign


def _turned(edges: np.ndarray) -> np.ndarray:
    """Vectors turned by a quarter, counterclockwise."""
    return np.stack([-edges[..., 1], edges[..., 0]], axis=-1)


def _inner_faces(
    number: np.ndarray, along: np.ndarray, outwards: np.ndarray, wake: int
) -> tuple[np.ndarray, np.ndarray]:
    """Stencils and normals of the faces between cells, sorted by their left cell."""
    rows = _lines(number.T).transpose(1, 0, 2)
    columns = _lines(number)
    one, other = number[:wake], number[::-1][:wake]  # the two sides of the wake
    # Lines of cells go on across the wake.
    columns[:wake, 0, 0], columns[::-1][:wake, 0, 0] = other[:, 0], one[:, 0]
    across = np.stack([other[:, 1], other[:, 0], one[:, 0], one[:, 1]], axis=1)
    stencil = np.concatenate([rows.reshape(-1, 4), columns.reshape(-1, 4), across])
    normals = np.concatenate(
        [along[1:-1].reshape(-1, 2), outwards[:, 1:-1].reshape(-1, 2), outwards[:wake, 0]]
    )
    turned = stencil[:, 1] > stencil[:, 2]
    stencil[turned], normals[turned] = stencil[turned, ::-1], -normals[turned]
    order = np.lexsort((stencil[:, 2], stencil[:, 1]))
    return stencil[order], normals[order]


def _lines(number: np.ndarray) -> np.ndarray:
    """Stencils of the inner faces along the last axis, shape ``(lines, faces, 4)``."""
    padded = np.pad(number, ((0, 0), (1, 1)), constant_values=-1)
    return np.lib.stride_tricks.sliding_window_view(padded, 4, axis=1).copy()
