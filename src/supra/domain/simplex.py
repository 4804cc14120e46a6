"""Geometry of simplices in any dimension: segments, triangles, tetrahedra, flat or embedded.

Axis names: ``cells m · corners a · dimensions d``. A cell of ``a`` corners has dimension ``a - 1``.
"""

from itertools import combinations
from math import factorial

import numpy as np
from jaxtyping import Float, Int

# Sides of the cells that are cut into simplices, in VTK's corner order.
SIDES = {
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "hexahedron": (
        (0, 1, 2, 3),
        (4, 5, 6, 7),
        (0, 1, 5, 4),
        (1, 2, 6, 5),
        (2, 3, 7, 6),
        (3, 0, 4, 7),
    ),
    "wedge": ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}


def split(
    cells: Int[np.ndarray, "m corners"], kind: str
) -> tuple[Int[np.ndarray, "n a"], Int[np.ndarray, " n"]]:
    """Cut cells of one ``kind`` into simplices; also returns the parent of each simplex.

    A cell is the cone from its corner of lowest index over the sides that do not touch it, and a
    quadrilateral is cut at its corner of lowest index. So neighbours of any kind cut their common
    side alike, and since coordinates play no part, deformed copies of a mesh keep the same cells.
    """
    lowest = cells.argmin(axis=1)
    simplices, parents = [], []
    for tip in range(cells.shape[1]):
        rows = np.flatnonzero(lowest == tip)
        for side in SIDES[kind]:
            if tip not in side:
                bases = _side_simplices(cells[rows][:, side])
                simplices += [np.column_stack([cells[rows, tip], base]) for base in bases]
                parents += [rows] * len(bases)
    parent = np.concatenate(parents)
    order = np.argsort(parent, kind="stable")
    return np.concatenate(simplices)[order], parent[order]


def _side_simplices(sides: Int[np.ndarray, "m corners"]) -> list[np.ndarray]:
    """Segments and triangles as they are, quadrilaterals as two triangles."""
    if sides.shape[1] < 4:
        return [sides]
    turns = (sides.argmin(axis=1)[:, None] + np.arange(4)) % 4
    turned = np.take_along_axis(sides, turns, axis=1)
    return [turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]]


def edge_vectors(
    points: Float[np.ndarray, "n d"], cells: Int[np.ndarray, "m a"]
) -> Float[np.ndarray, "m e d"]:
    """Vectors from each cell's first corner to its others, shape (cells, corners - 1, d)."""
    corners = points[cells]
    return corners[:, 1:] - corners[:, :1]


def measures(
    points: Float[np.ndarray, "n d"], cells: Int[np.ndarray, "m a"]
) -> Float[np.ndarray, " m"]:
    """Lengths, areas or volumes of the cells (never negative)."""
    edges = edge_vectors(points, cells)
    dimension = edges.shape[1]
    if dimension == points.shape[1]:
        content = np.abs(np.linalg.det(edges))
    elif dimension == 2:  # a surface in space: half of the cross product, exact for thin triangles
        content = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    else:
        content = np.linalg.norm(edges[:, 0], axis=1)
    return content / factorial(dimension)


def gradients(
    points: Float[np.ndarray, "n d"], cells: Int[np.ndarray, "m a"]
) -> Float[np.ndarray, "m a d"]:
    r"""Gradients of the barycentric coordinates, constant in each cell.

    With the edge matrix :math:`E` (edges × d) they are the rows of
    :math:`(E E^\top)^{-1} E`, tangential to the cell where it is embedded in a larger space;
    the first corner's gradient is minus the sum of the others.
    """
    others = _dual_edges(edge_vectors(points, cells))
    return np.concatenate([-others.sum(axis=1, keepdims=True), others], axis=1)


def _dual_edges(edges: Float[np.ndarray, "m e d"]) -> Float[np.ndarray, "m e d"]:
    """Rows of the (pseudo-)inverse transpose of each edge matrix.

    None of the ways inverts a Gram matrix: cells of a boundary layer are thin, and squaring would
    lose twice as many digits.
    """
    if edges.shape[1] == edges.shape[2]:
        return np.linalg.inv(edges).transpose(0, 2, 1)
    if edges.shape[1] == 1:  # a curve
        return edges / (edges**2).sum(axis=2, keepdims=True)
    first, second = edges[:, 0], edges[:, 1]  # a surface in space
    normal = np.cross(first, second)
    dual = np.stack([np.cross(second, normal), np.cross(normal, first)], axis=1)
    return dual / (normal**2).sum(axis=1)[:, None, None]


def faces(cells: Int[np.ndarray, "m a"], corners: int) -> Int[np.ndarray, "f c"]:
    """All sub-simplices with so many corners of every cell, sorted, repeated where shared.

    Faces of one cell are grouped by which corners they take: row ``i * m + j`` is the i-th
    combination of cell j. For facets, combination i leaves out corner ``a - 1 - i``.
    """
    picks = combinations(range(cells.shape[1]), corners)
    return np.sort(np.concatenate([cells[:, pick] for pick in picks]), axis=1)


def unique_rows(rows: Int[np.ndarray, "f c"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows, the index of each row among them, and how often each occurs.

    Packs a row into one integer: an order of magnitude faster than ``np.unique(axis=0)``.
    """
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] >= 2**63:
        distinct, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return distinct, inverse.ravel(), counts
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys * base + column
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return rows[first], inverse, counts


def barycentric(
    query: Float[np.ndarray, "q d"], corners: Float[np.ndarray, "q a d"]
) -> Float[np.ndarray, "q a"]:
    """Barycentric coordinates of each query's foot point in the plane of its simplex."""
    edges = corners[:, 1:] - corners[:, :1]
    inner = np.einsum("qed,qd->qe", _dual_edges(edges), query - corners[:, 0])
    return np.concatenate([1 - inner.sum(axis=1, keepdims=True), inner], axis=1)


def closest_barycentric(
    query: Float[np.ndarray, "q d"], corners: Float[np.ndarray, "q a d"]
) -> Float[np.ndarray, "q a"]:
    """Barycentric coordinates of the point of each simplex that is closest to its query.

    Where the foot point in the cell's plane is outside of the cell, takes the closest point of
    the facets, recursively.
    """
    weights = barycentric(query, corners)
    if corners.shape[1] == 2:
        return np.clip(weights, 0, 1)
    outside = weights.min(axis=1) < 0
    if outside.any():
        weights[outside] = _on_closest_facet(query[outside], corners[outside])
    return weights


def _on_closest_facet(query: np.ndarray, corners: np.ndarray) -> np.ndarray:
    count = corners.shape[1]
    best = np.full(len(query), np.inf)
    weights = np.zeros((len(query), count))
    for left_out in range(count):
        keep = [a for a in range(count) if a != left_out]
        on_facet = closest_barycentric(query, corners[:, keep])
        nearest = np.einsum("qa,qad->qd", on_facet, corners[:, keep])
        distance = np.linalg.norm(query - nearest, axis=1)
        closer = distance < best
        best[closer] = distance[closer]
        weights[closer] = 0
        weights[np.ix_(closer, keep)] = on_facet[closer]
    return weights
