"""Ready-made meshes of simple shapes, each at any resolution.

``resolution`` is the number of cells per unit length: edges are about ``1 / resolution`` long, and
doubling it halves them while the cells keep their proportions, so that finite-element errors fall
at their full order. Interval, square and cube are ``[0, 1]^d``; disk, ball and sphere have radius 1
and their boundary nodes lie on the circle or sphere.

>>> SHAPES["disk"](resolution=8)
Mesh('disk', 217 points in 2-D, 384 triangles)
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import ceil, log, pi
from operator import index
from typing import SupportsIndex

import numpy as np
from jaxtyping import Float, Int

from supra.domain import change
from supra.domain.errors import MeshError
from supra.domain.mesh import Mesh
from supra.domain.plate import perforated_plate_mesh


def interval(resolution: int = 64) -> Mesh:
    """The unit interval, evenly divided."""
    return _unit_box(1, resolution, "interval")


def square(resolution: int = 32) -> Mesh:
    """The unit square, every small square cut into two triangles."""
    return _unit_box(2, resolution, "square")


def cube(resolution: int = 12) -> Mesh:
    """The unit cube, every small cube cut into six tetrahedra."""
    return _unit_box(3, resolution, "cube")


def l_shape(resolution: int = 32) -> Mesh:
    """The unit square without its upper right quarter: area 3/4, a re-entrant corner inside."""
    half = ceil(_cells_per_unit(resolution) / 2)
    whole = _unit_box(2, 2 * half, "l-shape")
    centres = whole.points[whole.cells].mean(axis=1)
    return _fresh(change.with_cells(whole, (centres < 0.5).any(axis=1)).without_unused_points())


def disk(resolution: int = 16) -> Mesh:
    """The unit disk: ring k of ``resolution`` rings has 6k nodes, triangles nearly equilateral."""
    angle = np.arange(6) * pi / 3
    hexagon = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sectors = [[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]
    flat = _subdivided(np.vstack([np.zeros(2), hexagon]), np.array(sectors), resolution)
    return Mesh(_rounded_in_plane(flat.points), flat.cells, name="disk")


def annulus(resolution: int = 16, *, inner: float = 0.5) -> Mesh:
    """The ring between radius ``inner`` and radius 1; its boundaries are "inner" and "outer".

    The exponential function maps a rectangle of even cells to it: it keeps angles, so the cells
    have the same proportions everywhere and shrink with the radius.
    """
    if not 0 < inner < 1:
        raise MeshError(f"`inner` is a radius between 0 and 1 (exclusive): got {inner}.")
    around = max(3, round(2 * pi * _cells_per_unit(resolution)))
    across = max(1, round(-log(inner) * around / (2 * pi)))
    angle = np.linspace(0, 2 * pi, around + 1)
    radius = inner ** np.linspace(1, 0, across + 1)
    points = radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    mesh = _fresh(Mesh.from_structured(points, name="annulus").welded())
    middle = np.linalg.norm(mesh.points[mesh.boundary_facets], axis=2).mean(axis=1)
    is_outer = middle > (1 + inner) / 2
    facets = mesh.boundary_facets
    return replace(mesh, boundaries={"inner": facets[~is_outer], "outer": facets[is_outer]})


def perforated_plate(resolution: int = 32, *, holes: int = 3, seed: int = 0) -> Mesh:
    """The unit square with random round holes apart from each other and from the edges.

    The holes depend on ``holes`` and ``seed`` only, so resolutions of one plate can be compared.
    Cells are smaller near holes or gaps that ``resolution`` alone would not resolve. The
    boundaries are "outer" and, if there are any, "holes".
    """
    return perforated_plate_mesh(_cells_per_unit(resolution), holes, seed)


def ball(resolution: int = 8) -> Mesh:
    """The unit ball: ``resolution`` concentric shells of an icosphere, filled with tetrahedra."""
    corners, triangles = _icosahedron()
    tetrahedra = np.insert(triangles + 1, 0, 0, axis=1)
    flat = _subdivided(np.vstack([np.zeros(3), corners]), tetrahedra, resolution)
    shell = flat.points @ _facet_normals(corners, triangles).T  # (points, facets)
    return Mesh(_with_norm(flat.points, shell.max(axis=1)), flat.cells, name="ball")


def sphere(resolution: int = 16) -> Mesh:
    """The unit sphere: every edge of an icosahedron divided into ``resolution`` parts."""
    flat = _subdivided(*_icosahedron(), resolution)
    return Mesh(_with_norm(flat.points, np.ones(len(flat.points))), flat.cells, name="sphere")


def torus(resolution: int = 16, *, major: float = 1.0, minor: float = 0.4) -> Mesh:
    """The surface of a ring: a circle of radius ``minor`` carried round one of ``major``."""
    if not 0 < minor < major:
        raise MeshError(f"A torus needs 0 < minor < major: got minor={minor}, major={major}.")
    cells = _cells_per_unit(resolution)
    u, v = np.meshgrid(
        np.linspace(0, 2 * pi, max(3, round(2 * pi * major * cells)) + 1),
        np.linspace(0, 2 * pi, max(3, round(2 * pi * minor * cells)) + 1),
        indexing="ij",
    )
    ring = major + minor * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), minor * np.sin(v)], axis=-1)
    return _fresh(Mesh.from_structured(points, name="torus").welded())


def c_grid_points(along: int, outwards: int) -> Float[np.ndarray, "along outwards 2"]:
    """Nodes of a C-shaped grid around a slender body, by the map z = ζ²: structured, not glued.

    It meets itself along the wake: on the line j = 0, nodes i and along − 1 − i coincide there.
    `Mesh.from_structured` and `Mesh.welded` make a mesh of it.
    """
    xi = np.linspace(-1.6, 1.6, along)[:, None]
    body = 0.25 * np.clip(1 - xi**2, 0, None)  # zero beyond the trailing edge: the wake
    eta = body + (1.2 - body) * np.linspace(0, 1, outwards) ** 1.5
    return np.stack([xi**2 - eta**2, 2 * xi * eta], axis=-1)


SHAPES: dict[str, Callable[..., Mesh]] = {
    "interval": interval,
    "square": square,
    "l-shape": l_shape,
    "disk": disk,
    "annulus": annulus,
    "perforated-plate": perforated_plate,
    "cube": cube,
    "ball": ball,
    "sphere": sphere,
    "torus": torus,
}


def _cells_per_unit(resolution: SupportsIndex) -> int:
    try:
        cells = index(resolution)
    except TypeError:
        cells = 0
    if cells < 1:
        raise MeshError(f"`resolution` must be a whole number of at least 1: got {resolution!r}.")
    return cells


def _fresh(mesh: Mesh) -> Mesh:
    """The same mesh without the record of how it was put together."""
    return replace(mesh, node_map=None)


def _unit_box(dimension: int, resolution: int, name: str) -> Mesh:
    axis = np.linspace(0, 1, _cells_per_unit(resolution) + 1)
    points = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1)
    return Mesh.from_structured(points, name=name)


def _subdivided(
    points: Float[np.ndarray, "points d"], cells: Int[np.ndarray, "cells corners"], resolution: int
) -> Mesh:
    """Every edge divided into ``resolution`` parts, every simplex into as many smaller layers."""
    weights, small = _lattice(cells.shape[1] - 1, _cells_per_unit(resolution))
    nodes = np.einsum("na,cad->cnd", weights, points[cells]).reshape(-1, points.shape[1])
    offsets = len(weights) * np.arange(len(cells))
    all_cells = (offsets[:, None, None] + small).reshape(-1, cells.shape[1])
    return Mesh(nodes, all_cells).welded()


def _lattice(dimension: int, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Barycentric weights (nodes, corners) of a simplex's regular lattice, and its small cells.

    The simplex is the part ``y1 ≥ y2 ≥ …`` of a box; its small cells are those of the box in it.
    """
    box = np.indices((parts + 1,) * dimension).reshape(dimension, -1).T
    inside = np.all(np.diff(box, axis=1) <= 0, axis=1)
    cells = change.structured_cells((parts + 1,) * dimension)
    cells = cells[inside[cells].all(axis=1)]
    steps = np.column_stack([np.full(len(box), parts), box, np.zeros(len(box), dtype=int)])
    weights = -np.diff(steps, axis=1)[inside] / parts
    return weights, (np.cumsum(inside) - 1)[cells]


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Twelve corners on the unit sphere and the twenty triangles between them."""
    upper, lower = np.arange(5) * 2 * pi / 5, (np.arange(5) + 0.5) * 2 * pi / 5
    height, ring = 1 / np.sqrt(5), 2 / np.sqrt(5)
    rings = [
        np.column_stack([ring * np.cos(angle), ring * np.sin(angle), np.full(5, z)])
        for angle, z in ((upper, height), (lower, -height))
    ]
    corners = np.vstack([[0, 0, 1], *rings, [0, 0, -1]])
    triangles = []
    for above, next_above in pairwise([1, 2, 3, 4, 5, 1]):
        below, next_below = above + 5, next_above + 5
        triangles += [[0, above, next_above], [above, below, next_above]]
        triangles += [[next_above, below, next_below], [below, 11, next_below]]
    return corners, np.array(triangles)


def _facet_normals(corners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Vectors whose largest product with a point is the size of the solid through that point."""
    centres = corners[triangles].mean(axis=1)
    return centres / (centres**2).sum(axis=1, keepdims=True)


def _with_norm(points: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """The points moved along their rays to a given distance from the origin."""
    length = np.linalg.norm(points, axis=1)
    return points * (norm / np.where(length > 0, length, 1))[:, None]


def _rounded_in_plane(points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "points 2"]:
    """Concentric hexagons turned into circles with evenly spaced nodes."""
    angle = (np.arange(6) + 0.5) * pi / 3
    normals = np.stack([np.cos(angle), np.sin(angle)], axis=1) / np.cos(pi / 6)
    along = points @ normals.T  # (points, sides)
    side = along.argmax(axis=1)
    radius = along.max(axis=1)
    tangents = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    offset = np.einsum("pd,pd->p", points, tangents[side])  # within ±radius / 2
    turned = angle[side] + pi / 3 * offset / np.where(radius > 0, radius, 1)
    return radius[:, None] * np.stack([np.cos(turned), np.sin(turned)], axis=1)
