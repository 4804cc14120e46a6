"""Functions on a domain, looked at anywhere in it."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy import sparse

from supra.domain.errors import DomainError, OutsideWarning
from supra.domain.grid import Grid
from supra.domain.interpolate import (
    Located,
    checked_queries,
    located_in_cloud,
    located_in_mesh,
    rows_matrix,
)
from supra.domain.mesh import Mesh
from supra.domain.point_set import Domain

# Of a cell's longest edge: a polygon of eight or more edges is that close to its circle.
_REACH = 0.1


@dataclass(frozen=True, eq=False)
class Probe:
    """Takes values at a domain's points to values at other points, NaN outside of the domain.

    On a mesh the function is linear in each cell (on a surface, a point is moved to the closest
    place of it), on a grid of the box linear along each axis, with the period of periodic axes; a
    mapped grid is taken as its mesh. Without cells, a linear function is fitted to the 12 nearest
    points.

    A point *outside* is farther from mesh or grid than a tenth of the closest cell's longest edge;
    up to there it takes the value at the closest place, since a mesh is a polygon where the domain
    is curved. A cloud shows no boundary: outside is what is farther from the nearest point than
    that one's twelfth neighbour.

    Attributes:
        matrix: shape ``(queries, points)``.
        outside: which queries have no value.
    """

    matrix: sparse.csr_array
    outside: Bool[np.ndarray, " queries"]

    @classmethod
    def of(cls, domain: Domain, queries: Any) -> "Probe":
        """Find points, of shape ``(queries, dimensions)``, in a domain.

        Raises:
            DomainError: points of another dimension, or none inside.

        Warns:
            OutsideWarning: how many are outside, and which is farthest.
        """
        queries = checked_queries(domain.points, queries)
        if isinstance(domain, Grid) and domain.mapped is None:
            found, reach = _located_in_grid(domain, queries), _REACH
        elif isinstance(domain, Grid | Mesh):
            mesh = domain.to_mesh() if isinstance(domain, Grid) else domain
            found, reach = located_in_mesh(mesh.without_degenerate_cells(), queries), _REACH
        else:
            found, reach = located_in_cloud(domain.points, queries), 1.0
        outside = found.distance > reach * found.size
        _say(outside, found.distance, queries)
        return cls(found.matrix, outside)

    def __call__(
        self, fields: Shaped[np.ndarray, "*leading points channels"]
    ) -> Shaped[np.ndarray, "*leading queries channels"]:
        """Fields at the points looked at, in the precision they have."""
        rows = np.moveaxis(fields, -2, 0)
        found = self.matrix @ rows.reshape(len(rows), -1)
        found[self.outside] = np.nan
        found = found.reshape(len(found), *rows.shape[1:]).astype(fields.dtype)
        return np.moveaxis(found, 0, -2)


def _located_in_grid(grid: Grid, queries: Float[np.ndarray, "queries axes"]) -> Located:
    """Corners of each query's cell, weighted by products of one weight per axis."""
    columns, weights = np.zeros((len(queries), 1), dtype=np.int64), np.ones((len(queries), 1))
    distances, sizes = [], []
    for axis, periodic, x in zip(grid.axes, grid.periodic, queries.T, strict=True):
        inside = x % 1.0 if periodic else np.clip(x, 0.0, 1.0)
        ends, shares, size = _between(np.append(axis, 1.0) if periodic else axis, inside)
        corners = (len(queries), 2 * columns.shape[1])
        columns = (columns[:, :, None] * len(axis) + ends[:, None] % len(axis)).reshape(corners)
        weights = (weights[:, :, None] * shares[:, None]).reshape(corners)
        distances.append(np.zeros(len(x)) if periodic else x - inside)
        sizes.append(size)
    matrix = rows_matrix(weights, columns, len(grid.points))
    return Located(matrix, np.linalg.norm(distances, axis=0), np.max(sizes, axis=0))


def _between(
    nodes: Float[np.ndarray, " nodes"], x: Float[np.ndarray, " queries"]
) -> tuple[Int[np.ndarray, "queries 2"], Float[np.ndarray, "queries 2"], np.ndarray]:
    """The two nodes around each query, their shares in its value, and how far apart they are."""
    left = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
    size = nodes[left + 1] - nodes[left]
    along = (x - nodes[left]) / size
    return np.stack([left, left + 1], axis=1), np.stack([1 - along, along], axis=1), size


def _say(outside: np.ndarray, distance: np.ndarray, queries: np.ndarray) -> None:
    """How many points have no value; where none has one, the units are wrong or the domain is."""
    if not outside.any():
        return
    worst = int(np.where(outside, distance, -1.0).argmax())
    where = f"point {worst} at {queries[worst].tolist()}, {distance[worst]:.3g} away"
    if outside.all():
        raise DomainError(
            f"None of the {len(queries)} points lies in the domain (farthest: {where}). Is it the "
            f"same domain, in the same units?"
        )
    warnings.warn(
        f"{outside.sum()} of {len(queries)} points lie outside of the domain and have no value, "
        f"NaN (first: point {outside.argmax()}; farthest: {where}).",
        OutsideWarning,
        stacklevel=4,
    )
