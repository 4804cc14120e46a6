"""Finite-element interpolation from a mesh, or from scattered points, to other points."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.spatial import KDTree

from supra.domain import simplex
from supra.domain.errors import DomainError
from supra.domain.mesh import Mesh

Pairs = tuple[np.ndarray, np.ndarray]
_CHUNK = 4096  # queries looked at in one go: with some 100 candidate cells each, tens of megabytes


@dataclass(frozen=True, eq=False)
class Located:
    """Points found in a domain.

    Attributes:
        matrix: takes values at the domain's points to values at the queries; for a query outside
            of the domain, the value at the closest place.
        distance: of each query from the domain; 0 inside.
        size: what to compare the distance with: the longest edge of the query's cell; in a cloud,
            how far its nearest point's neighbours are.
    """

    matrix: sparse.csr_array
    distance: Float[np.ndarray, " queries"]
    size: Float[np.ndarray, " queries"]


def interpolation_matrix(
    mesh: Mesh, queries: Float[np.ndarray, "queries dimensions"], *, reach: float | None = None
) -> sparse.csr_array:
    """Sparse matrix that takes values at a mesh's nodes to values at ``queries``.

    Linear inside each cell. A query outside of the mesh takes the value at the closest point of
    the mesh if that is nearer than ``reach`` (default: half of the closest cell's longest edge, so
    that a polygon and a finer polygon of the same curved domain are served).

    Raises:
        DomainError: a query is farther away than ``reach``, or of another dimension.
    """
    found = located_in_mesh(mesh, queries)
    _check_reach(queries, found.distance, found.size / 2 if reach is None else reach, mesh.name)
    return found.matrix


def located_in_mesh(mesh: Mesh, queries: Float[np.ndarray, "queries dimensions"]) -> Located:
    """Where points lie in a mesh, however far outside they are."""
    queries = checked_queries(mesh.points, queries)
    place = _Place(mesh, queries)
    for chosen, candidates in _cells_around(mesh, queries):
        place.try_inside(chosen, candidates)
    lost = np.flatnonzero(place.cell < 0)
    if lost.size:
        for chosen, candidates in _nearest_cells(mesh, queries[lost]):
            place.try_closest(lost[chosen], candidates)
    matrix = rows_matrix(place.weights, mesh.cells[place.cell], len(mesh.points))
    return Located(matrix, place.distance, place.size)


class _Place:
    """The best cell found so far for every query, and the query's coordinates in it."""

    def __init__(self, mesh: Mesh, queries: np.ndarray) -> None:
        self.mesh, self.queries = mesh, queries
        self.cell = np.full(len(queries), -1)
        self.weights = np.zeros((len(queries), mesh.cells.shape[1]))
        self.distance = np.full(len(queries), np.inf)

    @property
    def size(self) -> Float[np.ndarray, " queries"]:
        """Longest edge of each query's cell."""
        corners = self.mesh.points[self.mesh.cells[self.cell]]
        edges = corners[:, :, None] - corners[:, None, :]
        longest: np.ndarray = np.linalg.norm(edges, axis=3).max(axis=(1, 2))
        return longest

    def try_inside(self, chosen: np.ndarray, candidates: np.ndarray) -> None:
        """Settle the queries that lie in one of their candidate cells."""
        open_ = self.cell[chosen] < 0
        chosen, candidates = chosen[open_], candidates[open_]
        corners = self.mesh.points[self.mesh.cells[candidates]]
        weights = simplex.barycentric(self.queries[chosen], corners)
        inside = weights.min(axis=1) >= -1e-12
        if self.mesh.is_embedded:
            foot = np.einsum("qa,qad->qd", weights, corners)
            size = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
            inside &= np.linalg.norm(self.queries[chosen] - foot, axis=1) <= 1e-9 * size
        self._keep(chosen[inside], candidates[inside], weights[inside], np.zeros(inside.sum()))

    def try_closest(self, chosen: np.ndarray, candidates: np.ndarray) -> None:
        """Move the queries to the closest point of their candidate cells, if closer than before."""
        corners = self.mesh.points[self.mesh.cells[candidates]]
        weights = simplex.closest_barycentric(self.queries[chosen], corners)
        foot = np.einsum("qa,qad->qd", weights, corners)
        away = np.linalg.norm(self.queries[chosen] - foot, axis=1)
        order = np.lexsort((away, chosen))
        winner = order[np.unique(chosen[order], return_index=True)[1]]
        winner = winner[away[winner] < self.distance[chosen[winner]]]
        self._keep(chosen[winner], candidates[winner], weights[winner], away[winner])

    def _keep(
        self, query: np.ndarray, cell: np.ndarray, weights: np.ndarray, away: np.ndarray
    ) -> None:
        self.cell[query], self.weights[query], self.distance[query] = cell, weights, away


def _cells_around(mesh: Mesh, queries: np.ndarray) -> Iterator[Pairs]:
    """Pairs of queries and cells that include every cell that holds a query.

    A cell can hold a query only if its centre is within the cell's radius. Cells are sorted into
    classes of similar radius, so that a few large cells do not make the search ball of the many
    small ones large.
    """
    corners = mesh.points[mesh.cells]
    centres = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    octave = np.ceil(np.log2(radii))
    for size in np.unique(octave):
        cells = np.flatnonzero(octave == size)
        tree = KDTree(centres[cells])
        for start in range(0, len(queries), _CHUNK):
            near = tree.query_ball_point(queries[start : start + _CHUNK], 2.0**size * (1 + 1e-9))
            counts = np.array([len(found) for found in near])
            if counts.any():
                found = np.concatenate([f for f in near if f]).astype(np.int64)
                yield start + np.repeat(np.arange(len(near)), counts), cells[found]


def _nearest_cells(mesh: Mesh, queries: np.ndarray) -> Iterator[Pairs]:
    """Pairs of each query with the cells of its nearest node and those with nearest centres."""
    cells = np.repeat(np.arange(len(mesh.cells)), mesh.cells.shape[1])
    of_node = sparse.csr_array(
        (np.ones(cells.size, dtype=np.int8), (mesh.cells.ravel(), cells)),
        shape=(len(mesh.points), len(mesh.cells)),
    )
    nodes = KDTree(mesh.points)
    centres = KDTree(mesh.points[mesh.cells].mean(axis=1))
    near = min(8, len(mesh.cells))
    for start in range(0, len(queries), _CHUNK):
        chunk = queries[start : start + _CHUNK]
        index = start + np.arange(len(chunk))
        around = of_node[nodes.query(chunk)[1]]
        yield np.repeat(index, np.diff(around.indptr)), around.indices
        yield np.repeat(index, near), centres.query(chunk, k=near)[1].ravel()


def cloud_interpolation_matrix(
    points: Float[np.ndarray, "points dimensions"],
    queries: Float[np.ndarray, "queries dimensions"],
    neighbours: int = 12,
) -> sparse.csr_array:
    """Sparse matrix that takes values at scattered points to ``queries`` by local linear fits.

    Each query fits a linear function to its nearest points by weighted least squares; a query at
    one of the points takes its value. Points on a surface are fitted in their tangent plane
    through the minimum-norm solution.

    Raises:
        DomainError: a query is farther from its nearest point than that one's last neighbour, or
            of another dimension.
    """
    found = located_in_cloud(points, queries, neighbours)
    _check_reach(queries, found.distance, found.size, "points")
    return found.matrix


def located_in_cloud(
    points: Float[np.ndarray, "points dimensions"],
    queries: Float[np.ndarray, "queries dimensions"],
    neighbours: int = 12,
) -> Located:
    """Where points lie in a cloud, however far outside they are; see the function above."""
    queries = checked_queries(points, queries)
    neighbours = min(neighbours, len(points))
    distance, near = KDTree(points).query(queries, k=neighbours)
    distance, near = distance.reshape(len(queries), -1), near.reshape(len(queries), -1)
    around = KDTree(points).query(points[near[:, 0]], k=[neighbours])[0][:, 0]
    scale = distance.max(axis=1, keepdims=True) + np.finfo(float).tiny
    kernel = 1 / (distance / scale + 1e-9)  # an exact hit outweighs the rest
    offsets = (points[near] - queries[:, None]) / scale[..., None]
    design = np.concatenate([np.ones((*near.shape, 1)), offsets], axis=2)
    # value at the query = first entry of the fitted (constant, slope)
    fit = np.linalg.pinv(kernel[..., None] * design, rcond=1e-6)[:, 0] * kernel
    return Located(rows_matrix(fit, near, len(points)), distance[:, 0], around)


def rows_matrix(
    weights: Float[np.ndarray, "queries entries"],
    columns: Int[np.ndarray, "queries entries"],
    width: int,
) -> sparse.csr_array:
    """A sparse matrix with as many entries in every row."""
    rows = np.repeat(np.arange(len(weights)), weights.shape[1])
    entries = (weights.ravel(), (rows, columns.ravel()))
    return sparse.csr_array(entries, shape=(len(weights), width))


def checked_queries(
    points: Float[np.ndarray, "points dimensions"], queries: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "queries dimensions"]:
    """Queries as float64, finite and in the space that the points are in."""
    queries = np.asarray(queries, dtype=np.float64)
    if queries.ndim != 2 or queries.shape[1] != points.shape[1]:
        raise DomainError(
            f"Functions on points in {points.shape[1]}-D need queries of shape "
            f"(queries, {points.shape[1]}): got {queries.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(queries).all(axis=1))
    if bad.size:
        raise DomainError(
            f"Queries must be finite: {bad.size} of {len(queries)} are not (first: query {bad[0]} "
            f"at {queries[bad[0]].tolist()})."
        )
    return queries


def _check_reach(
    queries: np.ndarray, distance: np.ndarray, reach: float | np.ndarray, name: str
) -> None:
    reach = np.broadcast_to(reach, distance.shape)
    far = np.flatnonzero(distance > reach)
    if far.size:
        worst = far[distance[far].argmax()]
        raise DomainError(
            f"{far.size} point(s) lie outside of {name!r} (worst: point {worst} at "
            f"{queries[worst].tolist()}, {distance[worst]:.3g} away, allowed {reach[worst]:.3g}). "
            f"Is it the same domain, in the same units?"
        )
