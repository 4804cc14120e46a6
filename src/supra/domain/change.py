"""Changed copies of meshes: glued, cleaned, refined. `Mesh` offers them as methods."""

from dataclasses import replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from supra.domain import simplex
from supra.domain.errors import MeshError

if TYPE_CHECKING:
    from supra.domain.mesh import Mesh


def structured_cells(shape: tuple[int, ...]) -> np.ndarray:
    """Simplices between the nodes of a structured array, numbered in C order.

    Every box is cut by Kuhn's rule: one simplex per order in which the axes are walked from its
    lowest to its highest corner, so that neighbours always match.
    """
    strides = np.array([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))])
    lowest = np.indices([n - 1 for n in shape]).reshape(len(shape), -1).T @ strides
    paths = [np.cumsum([0, *strides[list(order)]]) for order in permutations(range(len(shape)))]
    return np.concatenate([lowest[:, None] + path for path in paths])


def welded(mesh: "Mesh", tolerance: float | None) -> "Mesh":
    extent = float(np.linalg.norm(np.ptp(mesh.points, axis=0)))
    tolerance = 1e-9 * extent if tolerance is None else tolerance
    if not tolerance >= 0:
        raise MeshError(f"`tolerance` is a length and must not be negative: got {tolerance}.")
    pairs = KDTree(mesh.points).query_pairs(tolerance, output_type="ndarray")
    count = len(mesh.points)
    near = sparse.coo_array((np.ones(len(pairs), dtype=np.int8), tuple(pairs.T)), (count, count))
    groups = connected_components(near, directed=False)[1]
    # Number the merged nodes by their first member, so that an unchanged mesh keeps its order.
    first = np.unique(groups, return_index=True)[1]
    new_of_group = np.empty(len(first), dtype=np.int64)
    new_of_group[np.argsort(first)] = np.arange(len(first))
    return _renumbered(mesh, mesh.points[np.sort(first)], new_of_group[groups])


def without_points(mesh: "Mesh", remove: np.ndarray) -> "Mesh":
    kept = np.flatnonzero(~remove)
    node_map = np.full(len(mesh.points), -1)
    node_map[kept] = np.arange(len(kept))
    return _renumbered(mesh, mesh.points[kept], node_map)


def _renumbered(mesh: "Mesh", points: np.ndarray, node_map: np.ndarray) -> "Mesh":
    boundaries = {name: node_map[facets] for name, facets in mesh.boundaries.items()}
    boundaries = {name: f[(f >= 0).all(axis=1)] for name, f in boundaries.items()}
    return replace(
        mesh,
        points=points,
        cells=node_map[mesh.cells],
        boundaries=boundaries,
        node_map=node_map if mesh.node_map is None else _composed(mesh.node_map, node_map),
    )


def _composed(first: np.ndarray, then: np.ndarray) -> np.ndarray:
    return np.where(first >= 0, then[first], -1)


def with_cells(mesh: "Mesh", keep: np.ndarray) -> "Mesh":
    """Only the cells marked in ``keep``; regions follow."""
    if not keep.any():
        raise MeshError(f"Mesh {mesh.name!r} would have no cells left: all {len(keep)} are bad.")
    new_cell = np.cumsum(keep) - 1
    regions = {name: new_cell[cells[keep[cells]]] for name, cells in mesh.regions.items()}
    return replace(mesh, cells=mesh.cells[keep], regions=regions)


def refined(mesh: "Mesh") -> "Mesh":
    edges, edge_of, _ = simplex.unique_rows(simplex.faces(mesh.cells, 2))
    middles = mesh.points[edges].mean(axis=1)
    # (cells, pairs of corners) -> node at the middle of that edge
    middle_of = len(mesh.points) + edge_of.reshape(-1, len(mesh.cells)).T
    children = _CHILDREN[mesh.cells.shape[1]]
    corner_or_middle = np.concatenate([mesh.cells, middle_of], axis=1)
    cells = corner_or_middle[:, children]  # (cells, children, corners)
    per_cell = len(children)
    regions = {
        name: (cells_of[:, None] * per_cell + np.arange(per_cell)).ravel()
        for name, cells_of in mesh.regions.items()
    }
    return replace(
        mesh,
        points=np.concatenate([mesh.points, middles]),
        cells=cells.reshape(-1, mesh.cells.shape[1]),
        regions=regions,
        boundaries={name: _halved(mesh, f, edges) for name, f in mesh.boundaries.items()},
        node_map=None,
    )


def _halved(mesh: "Mesh", facets: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """A named boundary's facets, refined like the cells they belong to."""
    if facets.shape[1] == 1 or not len(facets):
        return facets
    base = len(mesh.points)
    keys = edges[:, 0] * base + edges[:, 1]
    ends = simplex.faces(facets, 2)
    middle = base + np.searchsorted(keys, ends[:, 0] * base + ends[:, 1])
    everything = np.concatenate([facets, middle.reshape(-1, len(facets)).T], axis=1)
    return everything[:, _CHILDREN[facets.shape[1]]].reshape(-1, facets.shape[1])


def _children(corners: int) -> np.ndarray:
    """Children of a simplex, as indices into its corners followed by its edges' middles."""
    if corners == 1:
        return np.array([[0]])
    middle = {pair: corners + i for i, pair in enumerate(combinations(range(corners), 2))}

    def at(a: int, b: int) -> int:
        return a if a == b else middle[min(a, b), max(a, b)]

    tips = [[at(a, b) for b in range(corners)] for a in range(corners)]
    if corners == 2:
        return np.array(tips)
    if corners == 3:
        return np.array([*tips, [at(0, 1), at(1, 2), at(0, 2)]])
    # What is left of a tetrahedron is an octahedron; it is cut along the diagonal 02-13.
    a, b = at(0, 2), at(1, 3)
    ring = [at(0, 1), at(0, 3), at(2, 3), at(1, 2)]
    inner = [[a, b, ring[i], ring[(i + 1) % 4]] for i in range(4)]
    return np.array([*tips, *inner])


_CHILDREN = {corners: _children(corners) for corners in (1, 2, 3, 4)}


def folded_cells(mesh: "Mesh", facet_of: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pairs of cells that lie on the same side of the facet they share."""
    if mesh.is_embedded:
        return np.empty((0, 2), dtype=np.int64)  # a surface may turn back on itself
    rows = np.flatnonzero(counts[facet_of] == 2)
    pairs = rows[np.argsort(facet_of[rows], kind="stable")].reshape(-1, 2)
    combination, cell = np.divmod(pairs, len(mesh.cells))
    corner = mesh.cells.shape[1] - 1 - combination
    # The gradient of a corner's barycentric coordinate points from the facet to that corner.
    safe = ~mesh.degenerate_cells[cell].any(axis=1)
    towards = mesh.gradients[cell[safe], corner[safe]]  # (facets, 2 sides, dimensions)
    overlap = np.einsum("fd,fd->f", towards[:, 0], towards[:, 1]) > 0
    return cell[safe][overlap]
