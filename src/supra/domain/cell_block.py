"""From the mixed cells of a mesh file to the simplices of a `Mesh`."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from supra.domain import change, simplex
from supra.domain.errors import MeshError, MeshWarning
from supra.domain.mesh import Mesh

CORNERS = {
    "vertex": 1,
    "line": 2,
    "triangle": 3,
    "quad": 4,
    "tetra": 4,
    "pyramid": 5,
    "wedge": 6,
    "hexahedron": 8,
}
LAGRANGE = {
    "VTK_LAGRANGE_CURVE": "line",
    "VTK_LAGRANGE_TRIANGLE": "triangle",
    "VTK_LAGRANGE_QUADRILATERAL": "quad",
    "VTK_LAGRANGE_TETRAHEDRON": "tetra",
    "VTK_LAGRANGE_PYRAMID": "pyramid",
    "VTK_LAGRANGE_WEDGE": "wedge",
    "VTK_LAGRANGE_HEXAHEDRON": "hexahedron",
}


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Cells of one kind as a file holds them, cut into simplices.

    Attributes:
        simplices: corner indices, shape ``(simplices, corners)``.
        middles: nodes of curved cells that are not corners.
        groups: which simplices belong to each named group, shape ``(simplices,)`` each.
    """

    simplices: Int[np.ndarray, "simplices corners"]
    middles: Int[np.ndarray, " middles"]
    groups: Mapping[str, Bool[np.ndarray, " simplices"]]

    @property
    def dimension(self) -> int:
        return self.simplices.shape[1] - 1

    @property
    def in_no_group(self) -> Bool[np.ndarray, " simplices"]:
        alone = np.ones(len(self.simplices), dtype=bool)
        for members in self.groups.values():
            alone &= ~members
        return alone

    @classmethod
    def from_cells(
        cls, kind: str, cells: np.ndarray, groups: Mapping[str, Bool[np.ndarray, " cells"]]
    ) -> "CellBlock":
        """``kind`` is meshio's name of the cells, such as "hexahedron20"."""
        plain = LAGRANGE.get(kind, re.sub(r"\d+$", "", kind))
        if cells.ndim != 2 or plain not in {*CORNERS, "polygon"}:
            raise MeshError(f"Cells of kind {kind!r} cannot be cut into simplices. Mesh it anew.")
        count = CORNERS.get(plain, cells.shape[1])
        corners, middles = cells[:, :count], np.unique(cells[:, count:])
        if plain == "polygon":
            simplices, parents = _fans(corners)
        elif plain in simplex.SIDES:
            simplices, parents = simplex.split(corners, plain)
        else:
            return cls(corners, middles, groups)
        return cls(simplices, middles, {name: mask[parents] for name, mask in groups.items()})


def _fans(polygons: Int[np.ndarray, "m corners"]) -> tuple[np.ndarray, np.ndarray]:
    """Triangles from the first corner of each polygon, and the polygon of each."""
    fan = [[0, a, a + 1] for a in range(1, polygons.shape[1] - 1)]
    triangles = polygons[:, np.array(fan, dtype=int).reshape(-1, 3)].reshape(-1, 3)
    return triangles, np.repeat(np.arange(len(polygons)), len(fan))


def mesh_from_blocks(
    points: Float[np.ndarray, "points d"], blocks: Sequence[CellBlock], name: str
) -> tuple[Mesh, Int[np.ndarray, " kept"]]:
    """The mesh of the highest-dimensional cells, and which points of the file are its nodes.

    Cells of one dimension less become named boundaries. Nodes in the middle of curved edges, faces
    and cells are left out, other points are not.
    """
    dimension = max((block.dimension for block in blocks if len(block.simplices)), default=0)
    if dimension == 0:
        raise MeshError(
            f"Mesh file {name!r} has no cells (segments, triangles, tetrahedra, …), only "
            f"{len(points)} point(s). Save it with its cells."
        )
    cells = [block for block in blocks if block.dimension == dimension]
    facets = [block for block in blocks if block.dimension == dimension - 1]
    mesh = Mesh(
        _without_constant_axes(points, dimension),
        np.concatenate([block.simplices for block in cells]),
        regions=_regions(cells),
        name=name,
    )
    mesh = replace(mesh, boundaries=dict(_boundaries(facets, mesh)))
    only_middle = _only_middle(blocks, len(points))
    mesh = replace(change.without_points(mesh, only_middle), node_map=None)
    return mesh, np.flatnonzero(~only_middle)


def _without_constant_axes(points: np.ndarray, dimension: int) -> np.ndarray:
    """Leave out last coordinates that never change: a flat mesh stored in space is a flat mesh."""
    while points.ndim == 2 and len(points) and points.shape[1] > dimension:
        extents = np.ptp(points, axis=0)
        if not extents[-1] <= 1e-12 * extents.max():
            break
        points = points[:, :-1]
    return points


def _regions(blocks: Sequence[CellBlock]) -> dict[str, np.ndarray]:
    """Indices of each group's cells in the blocks put together."""
    regions = {}
    for name in _group_names(blocks):
        nothing = [np.zeros(len(block.simplices), dtype=bool) for block in blocks]
        masks = [b.groups.get(name, n) for b, n in zip(blocks, nothing, strict=True)]
        regions[name] = np.flatnonzero(np.concatenate(masks))
    return regions


def _boundaries(blocks: Sequence[CellBlock], mesh: Mesh) -> Iterator[tuple[str, np.ndarray]]:
    """Facets of each group; those of no group are called "boundary"."""
    for name in _group_names(blocks):
        parts = [b.simplices[b.groups[name]] for b in blocks if name in b.groups]
        yield name, _facets_of(mesh, np.concatenate(parts), name)
    nameless = [b.simplices[b.in_no_group] for b in blocks]
    if sum(map(len, nameless)):
        yield "boundary", _facets_of(mesh, np.concatenate(nameless), "boundary")


def _group_names(blocks: Sequence[CellBlock]) -> list[str]:
    return list(
        dict.fromkeys(name for b in blocks for name, mask in b.groups.items() if mask.any())
    )


def _facets_of(mesh: Mesh, facets: np.ndarray, name: str) -> np.ndarray:
    """Those facets that belong to the mesh's cells, with a warning about the others."""
    if not np.issubdtype(facets.dtype, np.integer) or facets.min() < 0:
        raise MeshError(f"Boundary {name!r} of mesh {mesh.name!r} has facets without valid nodes.")
    own = simplex.faces(mesh.cells, mesh.dimension)
    which = simplex.unique_rows(np.concatenate([own, np.sort(facets, axis=1)]))[1]
    belongs = np.isin(which[len(own) :], which[: len(own)])
    if not belongs.all():
        warnings.warn(
            f"Boundary {name!r} of mesh {mesh.name!r} has {int((~belongs).sum())} facet(s) that "
            f"are not sides of its cells; they are left out.",
            MeshWarning,
            stacklevel=2,
        )
    return facets[belongs]


def _only_middle(blocks: Sequence[CellBlock], count: int) -> Bool[np.ndarray, " points"]:
    """Which points serve in the middle of curved cells and nowhere as a corner."""
    middle = np.zeros(count, dtype=bool)
    for block in blocks:
        middle[block.middles[(block.middles >= 0) & (block.middles < count)]] = True
    for block in blocks:
        corners = np.unique(block.simplices)
        middle[corners[(corners >= 0) & (corners < count)]] = False
    return middle
