"""What a mesh must satisfy, and the words that say what is wrong and what to do."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supra.domain import simplex
from supra.domain.errors import MeshError, MeshWarning

if TYPE_CHECKING:
    from supra.domain.mesh import Mesh


def check_arrays(
    points: Any, cells: Any, regions: Mapping[str, Any], name: str
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Points as float64 and simplices as int64, or a `MeshError`; splits quads and hexes."""
    points = _coordinates(points, name)
    cells = _indices(cells, name)
    corners, space = cells.shape[1], points.shape[1]
    kind = {(4, 2): "quad", (8, 3): "hexahedron"}.get((corners, space))
    if kind is None and not 2 <= corners <= min(4, space + 1):
        raise MeshError(
            f"Mesh {name!r} has cells of {corners} corners in {space} dimension(s). Cells are "
            f"segments (2), triangles (3) or tetrahedra (4) in a space that holds them; "
            f"quadrilaterals in 2-D and hexahedra in 3-D are split."
        )
    if cells.min() < 0 or cells.max() >= len(points):
        bad = int(np.flatnonzero(((cells < 0) | (cells >= len(points))).any(axis=1))[0])
        raise MeshError(
            f"Mesh {name!r} has cell {bad} with corners {cells[bad].tolist()}, but its points "
            f"are numbered 0 to {len(points) - 1}. Are the indices counted from 1?"
        )
    named = {
        key: _members(value, len(cells), f"Region {key!r} of mesh {name!r}", "cells").ravel()
        for key, value in regions.items()
    }
    if kind is not None:
        cells, parent = simplex.split(cells, kind)
        named = {key: np.flatnonzero(np.isin(parent, value)) for key, value in named.items()}
    return points, cells, named


def check_boundaries(
    boundaries: Mapping[str, Any], corners: int, points: int, name: str
) -> dict[str, np.ndarray]:
    """Facets as int64 of shape (facets, corners), or a `MeshError`."""
    checked = {}
    for key, value in boundaries.items():
        facets = _members(value, points, f"Boundary {key!r} of mesh {name!r}", "points")
        if facets.size and facets.shape[1:] != (corners,):
            raise MeshError(
                f"Boundary {key!r} of mesh {name!r} must have shape (facets, {corners}), the "
                f"corners of its facets: got {facets.shape}."
            )
        checked[key] = facets.reshape(-1, corners)
    return checked


def _members(value: Any, count: int, whose: str, what: str) -> np.ndarray:
    """Indices below ``count`` as int64."""
    try:
        indices = np.asarray(value)
    except ValueError:
        raise MeshError(f"{whose} is ragged: give one array of indices of {what}.") from None
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        raise MeshError(f"{whose} needs indices of {what}, whole numbers: got {indices.dtype}.")
    bad = indices[(indices < 0) | (indices >= count)] if indices.size else indices
    if bad.size:
        raise MeshError(f"{whose} names number {bad[0]} of its {what}: there are {count}.")
    return indices.astype(np.int64)


def _coordinates(points: Any, name: str) -> np.ndarray:
    try:
        if np.iscomplexobj(points):
            raise TypeError("they are complex")
        points = np.array(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeshError(f"Points of mesh {name!r} are not numbers: {error}.") from None
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3:
        raise MeshError(
            f"Points of mesh {name!r} must have shape (points, 1), (points, 2) or (points, 3): "
            f"got {points.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise MeshError(
            f"Mesh {name!r} has {bad.size} point(s) that are not finite "
            f"(first: point {bad[0]} at {points[bad[0]].tolist()})."
        )
    return points


def _indices(cells: Any, name: str) -> np.ndarray:
    try:
        cells = np.asarray(cells)
    except ValueError:
        raise MeshError(
            f"Cells of mesh {name!r} have different numbers of corners. Give one kind of cell, "
            f"or read a file of mixed cells with Mesh.from_file()."
        ) from None
    if cells.size == 0:
        raise MeshError(f"Mesh {name!r} is empty: it has no cells.")
    if cells.ndim != 2:
        raise MeshError(f"Cells of mesh {name!r} must have shape (cells, corners): {cells.shape}.")
    if not np.issubdtype(cells.dtype, np.integer):
        raise MeshError(f"Cells of mesh {name!r} must be whole numbers: got {cells.dtype}.")
    return cells.astype(np.int64)


def check_geometry(mesh: "Mesh") -> None:
    """Raise a `MeshError` for what finite elements cannot use; warn of what may surprise."""
    _no_unused_points(mesh)
    _no_bad_cells(mesh)
    _no_folds(mesh)
    if not mesh.is_manifold:
        _non_manifold(mesh)


def _no_unused_points(mesh: "Mesh") -> None:
    unused = np.flatnonzero(~mesh.used_points)
    if unused.size:
        raise MeshError(
            f"Mesh {mesh.name!r} has {unused.size} point(s) in no cell (first: {unused[0]}). "
            f"Remove them with mesh.without_unused_points()."
        )


def _no_bad_cells(mesh: "Mesh") -> None:
    degenerate = np.flatnonzero(mesh.degenerate_cells)
    if degenerate.size:
        first = mesh.cells[degenerate[0]].tolist()
        raise MeshError(
            f"Mesh {mesh.name!r} has {degenerate.size} cell(s) of zero measure (first: cell "
            f"{degenerate[0]} with corners {first}). Remove them with "
            f"mesh.without_degenerate_cells()."
        )
    duplicate = np.flatnonzero(mesh.duplicate_cells)
    if duplicate.size:
        raise MeshError(
            f"Mesh {mesh.name!r} has {duplicate.size} cell(s) that repeat another (first: cell "
            f"{duplicate[0]}). Remove them with mesh.without_duplicate_cells()."
        )


def _no_folds(mesh: "Mesh") -> None:
    if len(mesh.folded_cells):
        one, other = mesh.folded_cells[0].tolist()
        raise MeshError(
            f"Mesh {mesh.name!r} has {len(mesh.folded_cells)} pair(s) of neighbouring cells that "
            f"overlap (first: cells {one} and {other}): it is folded, one cell of the pair is "
            f"inverted. Mend the positions of its nodes or make the mesh anew."
        )


def _non_manifold(mesh: "Mesh") -> None:
    facets, _, counts = mesh._facets
    worst = facets[counts.argmax()].tolist()
    what = (
        f"Mesh {mesh.name!r} is not a manifold: {int((counts > 2).sum())} facet(s) belong to more "
        f"than two cells (most: {int(counts.max())} cells at nodes {worst})."
    )
    if not mesh.is_embedded:
        raise MeshError(f"{what} In a flat space such cells overlap. Make the mesh anew.")
    warnings.warn(f"{what} It is used as it is.", MeshWarning, stacklevel=4)
