"""Triangles for the unit square with round holes.

Points are put on the boundary at the wanted distances and stay there. The points inside are evened
out: each moves to the centroid of its Delaunay triangles (Lloyd's idea), while crowded points are
taken out and large triangles get a point in the middle, so that no sliver remains.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi, sqrt

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import Delaunay, KDTree

from supra.domain import simplex
from supra.domain.errors import MeshError
from supra.domain.mesh import Mesh

SIDES = 4  # the square's sides are boundary curves 0 to 3, the holes follow
GAP = 0.4  # room around a hole, in units of the largest radius
EDGES_PER_HOLE = 16  # at least so many
GROWTH = 0.2  # how fast edges may grow with the distance from a small hole
ROUNDS = 10
# In units of the wanted edge length; an equilateral triangle's circumradius is 0.58.
LARGE = 0.8  # circumradius of a triangle that gets another point
CROWDED = 0.7  # distance of two points of which one is taken out
ROOM = 0.6  # distance from the boundary
FLAT = 1e-12  # area of a triangle between points of one side

Length = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Plate:
    """Round holes in the unit square.

    Attributes:
        centres: shape ``(holes, 2)``.
        radii: shape ``(holes,)``.
    """

    centres: Float[np.ndarray, "holes 2"]
    radii: Float[np.ndarray, " holes"]

    def distances(self, points: Float[np.ndarray, "p 2"]) -> Float[np.ndarray, "p curves"]:
        """Distance of points to the four sides and to the holes; negative beyond them."""
        to_holes = np.linalg.norm(points[:, None] - self.centres, axis=2) - self.radii
        return np.concatenate([points, 1 - points, to_holes], axis=1)

    def gaps(self) -> Float[np.ndarray, " holes"]:
        """Room around each hole up to the next hole or side."""
        distances = self.distances(self.centres)
        itself = np.arange(len(self.radii))
        distances[itself, SIDES + itself] = np.inf
        return distances.min(axis=1, initial=1) - self.radii

    def has_room(self, points: Float[np.ndarray, "p 2"], length: Length) -> np.ndarray:
        """Which points are inside and not too close to the boundary for a triangle."""
        return self.distances(points).min(axis=1) > ROOM * length(points)

    def edge_length(self, longest: float) -> Length:
        """How long edges should be, as a function of the position."""
        at_hole = np.minimum(2 * pi / EDGES_PER_HOLE * self.radii, self.gaps() / 1.5)

        def length(points: np.ndarray) -> np.ndarray:
            near_hole = at_hole + GROWTH * self.distances(points)[:, SIDES:]
            return near_hole.min(axis=1, initial=longest)

        return length


def perforated_plate_mesh(resolution: int, holes: int, seed: int) -> Mesh:
    """See `supra.domain.shapes.perforated_plate`."""
    plate = random_plate(holes, np.random.default_rng(seed))
    length = plate.edge_length(1 / resolution)
    fixed, curves = _boundary_points(plate, length)
    points = np.vstack([fixed, _points_inside(fixed, plate, length)])
    mesh = Mesh(points, _triangles(points, curves), name="perforated-plate")
    facets = mesh.boundary_facets
    at_hole = curves[facets[:, 0]] >= SIDES
    boundaries = {"outer": facets[~at_hole], "holes": facets[at_hole]}
    return replace(mesh, boundaries={name: f for name, f in boundaries.items() if len(f)})


def random_plate(holes: int, rng: np.random.Generator) -> Plate:
    """Holes thrown one by one where there is room; more holes are smaller ones."""
    if not isinstance(holes, (int, np.integer)) or holes < 0:
        raise MeshError(f"`holes` must be a whole number, 0 or more: got {holes!r}.")
    largest = float(np.clip(0.3 / sqrt(max(holes, 1)), 0.04, 0.15))
    plate = Plate(np.empty((0, 2)), np.empty(0))
    for placed in range(holes):
        centres, radii = rng.uniform(size=(1000, 2)), rng.uniform(0.5, 1, 1000) * largest
        fits = plate.distances(centres).min(axis=1) >= radii + GAP * largest
        if not fits.any():
            raise MeshError(
                f"`holes` must fit into the plate without touching: found room for {placed} of "
                f"{holes}. Ask for fewer holes or take another `seed`."
            )
        first = fits.argmax()
        plate = Plate(
            np.vstack([plate.centres, centres[first]]), np.append(plate.radii, radii[first])
        )
    return plate


def _boundary_points(plate: Plate, length: Length) -> tuple[np.ndarray, np.ndarray]:
    """Points on the sides and circles, and the boundary curve of each."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    pieces = [
        _spaced(lambda t, a=a, b=b: a + t[:, None] * (b - a), 1.0, length)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    for centre, radius in zip(plate.centres, plate.radii, strict=True):
        pieces.append(_spaced(_circle(centre, radius), 2 * pi * radius, length))
    return np.vstack(pieces), np.repeat(np.arange(len(pieces)), [len(p) for p in pieces])


def _circle(centre: np.ndarray, radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def at(t: np.ndarray) -> np.ndarray:
        return centre + radius * np.stack([np.cos(2 * pi * t), np.sin(2 * pi * t)], axis=1)

    return at


def _spaced(curve: Callable, total: float, length: Length) -> Float[np.ndarray, "n 2"]:
    """Points of a curve (its end left out) at the wanted distances from each other."""
    t = np.linspace(0, 1, 1025)
    edges_per_unit = total / length(curve((t[1:] + t[:-1]) / 2))
    edges_so_far = np.append(0, np.cumsum(edges_per_unit * np.diff(t)))
    count = int(np.ceil(edges_so_far[-1] - 1e-9))
    return curve(np.interp(np.arange(count) / count * edges_so_far[-1], edges_so_far, t))


def _points_inside(fixed: np.ndarray, plate: Plate, length: Length) -> Float[np.ndarray, "n 2"]:
    """Points between the fixed ones: a lattice, thinned, filled up and evened out in turns."""
    inside = _lattice(float(length(fixed).max()))
    inside = inside[plate.has_room(inside, length)]
    for _ in range(ROUNDS):
        inside = np.vstack([inside, _centres_of_large_triangles(fixed, inside, plate, length)])
        inside = _without_crowding(fixed, inside, length)
        inside = _evened(fixed, _evened(fixed, inside, length), length)
    for _ in range(ROUNDS):
        inside = _evened(fixed, inside, length)
    return inside


def _lattice(spacing: float) -> Float[np.ndarray, "n 2"]:
    """Corners of equilateral triangles over the unit square."""
    x, y = np.meshgrid(np.arange(0, 1, spacing), np.arange(0, 1, spacing * sqrt(3) / 2))
    x[1::2] += spacing / 2
    return np.stack([x, y], axis=-1).reshape(-1, 2)


def _centres_of_large_triangles(
    fixed: np.ndarray, inside: np.ndarray, plate: Plate, length: Length
) -> Float[np.ndarray, "n 2"]:
    """Circumcentres of triangles that are too large: where a point is missing."""
    points = np.vstack([fixed, inside])
    cells = Delaunay(points).simplices
    cells = cells[simplex.measures(points, cells) > FLAT]
    centres = _circumcentres(points[cells])
    radii = np.linalg.norm(centres - points[cells[:, 0]], axis=1)
    missing = (radii > LARGE * length(centres)) & plate.has_room(centres, length)
    return centres[missing]


def _circumcentres(corners: Float[np.ndarray, "cells 3 2"]) -> Float[np.ndarray, "cells 2"]:
    """The point c as far from each corner: 2 (c - a) · e = |e|² for the edges e from corner a."""
    edges = corners[:, 1:] - corners[:, :1]
    squares = (edges**2).sum(axis=2, keepdims=True)
    return corners[:, 0] + np.linalg.solve(2 * edges, squares)[..., 0]


def _without_crowding(
    fixed: np.ndarray, inside: np.ndarray, length: Length
) -> Float[np.ndarray, "n 2"]:
    """Take out the later one of two points that are too close."""
    points = np.vstack([fixed, inside])
    wanted = CROWDED * length(points)
    pairs = KDTree(points).query_pairs(wanted.max(), output_type="ndarray")
    apart = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    later = pairs[apart < wanted[pairs].min(axis=1)].max(axis=1)
    return np.delete(points, np.append(np.arange(len(fixed)), later), axis=0)


def _evened(fixed: np.ndarray, inside: np.ndarray, length: Length) -> Float[np.ndarray, "n 2"]:
    """Move every point to the centroid of the triangles around it, the finer ones heavier."""
    points = np.vstack([fixed, inside])
    cells = Delaunay(points).simplices
    centroids = points[cells].mean(axis=1)
    mass = simplex.measures(points, cells) / length(centroids) ** 4
    total = _sums_at_corners(mass, cells, len(points))
    moments = [_sums_at_corners(mass * c, cells, len(points)) for c in centroids.T]
    return (np.stack(moments, axis=1) / total[:, None])[len(fixed) :]


def _sums_at_corners(values: np.ndarray, cells: np.ndarray, count: int) -> np.ndarray:
    return np.bincount(cells.ravel(), np.repeat(values, cells.shape[1]), minlength=count)


def _triangles(points: np.ndarray, curves: np.ndarray) -> Int[np.ndarray, "cells 3"]:
    """The Delaunay triangles outside the holes: those whose corners are not all on one circle."""
    cells = Delaunay(points).simplices
    curve = np.append(curves, np.full(len(points) - len(curves), -1))[cells]
    in_hole = (curve[:, 0] >= SIDES) & (curve == curve[:, :1]).all(axis=1)
    return cells[~in_hole & (simplex.measures(points, cells) > FLAT)]
