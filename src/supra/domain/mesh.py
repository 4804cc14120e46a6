"""Simplicial meshes in one, two and three dimensions, and surfaces and curves in space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from supra.domain import change, simplex
from supra.domain.check import check_arrays, check_boundaries, check_geometry
from supra.domain.errors import MeshError

CELL_NAMES = {2: "segments", 3: "triangles", 4: "tetrahedra"}


@dataclass(frozen=True, eq=False)
class Mesh:
    """Points and simplices between them. Never changes: methods return changed copies.

    ``Mesh(points, cells)`` takes segments (2 corners), triangles (3) or tetrahedra (4).
    Triangles whose points have three coordinates are a surface. Quadrilaterals in the plane
    (4 corners, 2 coordinates) and hexahedra (8 corners) are split into simplices; a surface of
    quadrilaterals in space is made with `from_quads`, since 4 corners in 3-D are a tetrahedron.

    Attributes:
        points: node coordinates, shape ``(points, dimensions)``, float64.
        cells: corner indices, shape ``(cells, corners)``, int64.
        regions: named sets of cells (indices into ``cells``), as a file may carry them.
        boundaries: named sets of facets (corner indices), as a file may carry them.
        node_map: in a copy with other nodes, the new index of every old node (-1: removed).
        name: what error messages call it; a file's name when it comes from one.

    >>> square = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
    >>> square
    Mesh('mesh', 4 points in 2-D, 2 triangles)
    >>> float(square.measure)
    1.0
    """

    points: Float[np.ndarray, "points dimensions"]
    cells: Int[np.ndarray, "cells corners"]
    regions: Mapping[str, Int[np.ndarray, " cells_of_region"]] = field(default_factory=dict)
    boundaries: Mapping[str, Int[np.ndarray, "facets facet_corners"]] = field(default_factory=dict)
    node_map: Int[np.ndarray, " old_points"] | None = None
    name: str = "mesh"

    def __post_init__(self) -> None:
        points, cells, regions = check_arrays(self.points, self.cells, self.regions, self.name)
        points.setflags(write=False)
        cells.setflags(write=False)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "regions", regions)
        boundaries = check_boundaries(self.boundaries, self.dimension, len(points), self.name)
        object.__setattr__(self, "boundaries", boundaries)

    # ---- constructors -------------------------------------------------------------------------

    @classmethod
    def from_file(cls, path: str | Path) -> "Mesh":
        """Read a mesh file (msh, vtu, vtk, xdmf, stl, obj, ply, …); see `supra.domain.files`."""
        from supra.domain.files import read_mesh  # files is built on Mesh

        return read_mesh(path)

    @classmethod
    def from_quads(
        cls, points: Float[np.ndarray, "points dimensions"], quads: Int[np.ndarray, "quads 4"]
    ) -> "Mesh":
        """A plane domain or a surface in space from quadrilaterals, each cut into two triangles."""
        return cls(points, simplex.split(np.asarray(quads), "quad")[0])

    @classmethod
    def from_structured(cls, points: Float[np.ndarray, "..."], name: str = "structured") -> "Mesh":
        """Mesh of an array of node positions: ``(n, d)``, ``(H, W, d)`` or ``(D, H, W, 3)``.

        Node ``(i, j)`` becomes node ``i * W + j``. Coincident nodes stay separate: glue them
        with `welded`.
        """
        points = np.asarray(points)
        shape = points.shape[:-1]
        if not 1 <= len(shape) <= 3 or min(shape, default=0) < 2:
            raise MeshError(
                f"A structured mesh needs node positions of shape (n, d), (H, W, d) or "
                f"(D, H, W, 3) with at least 2 nodes per axis: got {points.shape}."
            )
        cells = change.structured_cells(shape)
        return cls(points.reshape(-1, points.shape[-1]), cells, name=name)

    @classmethod
    def mean(cls, meshes: Sequence["Mesh"]) -> "Mesh":
        """The mesh whose nodes are the mean of many meshes' nodes (which share their cells)."""
        if not meshes:
            raise MeshError("The mean of meshes needs at least one mesh: got none.")
        first = meshes[0]
        for number, mesh in enumerate(meshes):
            if mesh.cells.shape != first.cells.shape or (mesh.cells != first.cells).any():
                raise MeshError(
                    f"The mean of meshes needs the same cells in all: mesh {number} "
                    f"({mesh!r}) differs from the first ({first!r})."
                )
        points = np.mean([mesh.points for mesh in meshes], axis=0)
        return replace(first, points=points, name="mean mesh")

    # ---- what it measures ---------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """Dimension of the cells: 1, 2 or 3."""
        return self.cells.shape[1] - 1

    @property
    def is_embedded(self) -> bool:
        """Whether the cells live in a larger space: a surface in 3-D, a curve in 2-D or 3-D."""
        return self.dimension < self.points.shape[1]

    @cached_property
    def cell_measures(self) -> Float[np.ndarray, " cells"]:
        """Length, area or volume of each cell."""
        return simplex.measures(self.points, self.cells)

    @cached_property
    def measure(self) -> float:
        """Length, area or volume of the whole."""
        return float(self.cell_measures.sum())

    @cached_property
    def node_measures(self) -> Float[np.ndarray, " points"]:
        """Lumped measure of each node: an equal share of each of its cells."""
        corners = self.cells.shape[1]
        shares = np.repeat(self.cell_measures / corners, corners)
        return np.bincount(self.cells.ravel(), shares, minlength=len(self.points))

    @cached_property
    def weights(self) -> Float[np.ndarray, " points"]:
        """Quadrature weights: the node measures divided by the whole, so that they sum to 1."""
        return self.node_measures / self.measure

    @cached_property
    def gradients(self) -> Float[np.ndarray, "cells corners dimensions"]:
        """Gradients of the hat functions, constant in each cell."""
        return simplex.gradients(self.points, self.cells)

    # ---- topology -----------------------------------------------------------------------------

    @cached_property
    def edges(self) -> Int[np.ndarray, "edges 2"]:
        """Distinct edges."""
        return simplex.unique_rows(simplex.faces(self.cells, 2))[0]

    @cached_property
    def _facets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct facets, the facet of each (combination, cell), and how many cells share it."""
        return simplex.unique_rows(simplex.faces(self.cells, self.dimension))

    @cached_property
    def boundary_facets(self) -> Int[np.ndarray, "facets facet_corners"]:
        """Facets that belong to one cell only."""
        facets, _, counts = self._facets
        return facets[counts == 1]

    @cached_property
    def boundary_nodes(self) -> Int[np.ndarray, " boundary"]:
        """Indices of the nodes on the boundary, ascending; empty for a closed surface."""
        return np.unique(self.boundary_facets)

    @cached_property
    def boundary_normals(self) -> Float[np.ndarray, "facets dimensions"]:
        """Outward unit normals of `boundary_facets`, tangential to an embedded surface."""
        _, facet_of, counts = self._facets
        rows = np.flatnonzero(counts[facet_of] == 1)
        rows = rows[np.argsort(facet_of[rows])]
        combination, cell = np.divmod(rows, len(self.cells))
        opposite = self.cells.shape[1] - 1 - combination
        inward = self.gradients[cell, opposite]
        return -inward / np.linalg.norm(inward, axis=1, keepdims=True)

    @cached_property
    def is_manifold(self) -> bool:
        """Whether every facet belongs to at most two cells."""
        return bool(self._facets[2].max(initial=0) <= 2)

    @cached_property
    def used_points(self) -> Bool[np.ndarray, " points"]:
        """Which points are corners of a cell."""
        used = np.zeros(len(self.points), dtype=bool)
        used[self.cells] = True
        return used

    @cached_property
    def components(self) -> Int[np.ndarray, " points"]:
        """Connected component of each node, numbered from 0 (unused points are their own)."""
        count = len(self.points)
        ones = np.ones(len(self.edges), dtype=np.int8)
        graph = sparse.coo_array((ones, tuple(self.edges.T)), shape=(count, count))
        labels: np.ndarray = connected_components(graph, directed=False)[1]
        return labels

    @property
    def component_count(self) -> int:
        """Number of connected parts among the used points."""
        return len(np.unique(self.components[self.used_points]))

    @cached_property
    def euler_characteristic(self) -> int:
        """Vertices − edges + triangles − tetrahedra: 2 for a sphere, 0 for a torus or annulus."""
        total = int(self.used_points.sum())
        for corners in range(2, self.cells.shape[1] + 1):
            distinct = simplex.unique_rows(simplex.faces(self.cells, corners))[0]
            total -= (-1) ** corners * len(distinct)
        return total

    # ---- changed copies -----------------------------------------------------------------------

    def with_points(self, points: Float[np.ndarray, "points dimensions"]) -> "Mesh":
        """The same cells at other positions (also in a space of another dimension)."""
        if len(points) != len(self.points):
            raise MeshError(
                f"`with_points` needs one position per node: {self!r} has {len(self.points)} "
                f"nodes, got {len(points)} positions."
            )
        return replace(self, points=np.asarray(points))

    def with_name(self, name: str) -> "Mesh":
        """The same mesh under another name."""
        return replace(self, name=name)

    def welded(self, tolerance: float | None = None) -> "Mesh":
        """Merge nodes closer than ``tolerance`` (a length; default 1e-9 of the extent).

        ``node_map`` of the copy gives the new node of every old one, so that values ``u`` on the
        copy are ``u[copy.node_map]`` on the original nodes.
        """
        return change.welded(self, tolerance)

    def without_unused_points(self) -> "Mesh":
        """Remove points that are corners of no cell."""
        return change.without_points(self, ~self.used_points)

    def without_degenerate_cells(self) -> "Mesh":
        """Remove cells of zero measure and cells with a repeated corner."""
        return change.with_cells(self, ~self.degenerate_cells)

    def without_duplicate_cells(self) -> "Mesh":
        """Keep only the first of cells with the same corners."""
        return change.with_cells(self, ~self.duplicate_cells)

    def refined(self) -> "Mesh":
        """Halve every edge: a segment becomes 2, a triangle 4, a tetrahedron 8 cells."""
        return change.refined(self)

    # ---- health -------------------------------------------------------------------------------

    @cached_property
    def degenerate_cells(self) -> Bool[np.ndarray, " cells"]:
        """Cells whose measure vanishes against their own longest edge."""
        edges = simplex.edge_vectors(self.points, self.cells)
        longest = np.linalg.norm(edges, axis=2).max(axis=1)
        return self.cell_measures <= 1e-12 * longest**self.dimension

    @cached_property
    def duplicate_cells(self) -> Bool[np.ndarray, " cells"]:
        """Cells whose corners another, earlier cell has."""
        _, which, _ = simplex.unique_rows(np.sort(self.cells, axis=1))
        duplicate = np.ones(len(self.cells), dtype=bool)
        duplicate[np.unique(which, return_index=True)[1]] = False
        return duplicate

    @cached_property
    def folded_cells(self) -> Int[np.ndarray, "pairs 2"]:
        """Pairs of neighbours on the same side of their common facet: one of them is inverted."""
        return change.folded_cells(self, *self._facets[1:])

    def check(self) -> "Mesh":
        """Return the mesh if a finite-element method can use it, else say why not.

        Raises:
            MeshError: unused points, zero-measure, duplicate or inverted cells.
        """
        check_geometry(self)
        return self

    def __repr__(self) -> str:
        kind = CELL_NAMES[self.cells.shape[1]]
        count, space = self.points.shape
        return f"Mesh({self.name!r}, {count} points in {space}-D, {len(self.cells)} {kind})"
