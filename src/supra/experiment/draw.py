"""Draw one scalar function on one domain into matplotlib axes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.tri import Triangulation

from supra.domain import Domain, Mesh
from supra.domain.simplex import faces, unique_rows

_VIEW = (np.deg2rad(25), np.deg2rad(35))  # elevation and azimuth of the camera
_LIGHT = np.array([-0.4, 0.5, 0.8])


@dataclass(frozen=True)
class Picture:
    """A domain prepared for drawing many functions on it.

    Attributes:
        points: positions in the plane of the picture, shape ``(points, 2)``.
        triangles: what is drawn, from the back to the front.
        shade: brightness of each triangle; None for a plane domain, which needs none.
    """

    points: Float[np.ndarray, "points 2"]
    triangles: Int[np.ndarray, "triangles 3"]
    shade: Float[np.ndarray, " triangles"] | None

    @classmethod
    def of(cls, mesh: Domain) -> "Picture | None":
        """A plane mesh as it is; a surface, or a volume cut open, seen from above.

        None for points and curves, which have no triangles.
        """
        if not isinstance(mesh, Mesh) or mesh.dimension == 1:
            return None
        if mesh.points.shape[1] == 2:
            return cls(mesh.points, mesh.cells, None)
        triangles = mesh.cells if mesh.dimension == 2 else _cut_open(mesh)
        seen = mesh.points @ _camera()
        corners = seen[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + np.finfo(float).tiny
        light = _LIGHT / np.linalg.norm(_LIGHT)
        towards_eye = normals * np.sign(normals[:, 2:])
        shade = 0.45 + 0.55 * np.clip(towards_eye @ light, 0, 1)
        order = np.argsort(corners[:, :, 2].mean(axis=1))
        return cls(seen[:, :2], triangles[order], shade[order])


def draw_function(
    axes: Axes,
    domain: Domain,
    values: Float[np.ndarray, " points"],
    picture: Picture | None,
) -> None:
    """A basis function: `draw_field` with a scale symmetric about zero."""
    limit = float(np.abs(values).max()) or 1.0
    draw_field(axes, domain, values, picture, (-limit, limit), "RdBu_r")


def draw_field(
    axes: Axes,
    domain: Domain,
    values: Float[np.ndarray, " points"],
    picture: Picture | None,
    limits: tuple[float, float] | None = None,
    colours: str = "viridis",
) -> ScalarMappable | None:
    """A line on a curve, colours on anything else.

    Args:
        axes: where to draw.
        domain: of one to three dimensions.
        values: at its points.
        picture: the prepared domain: `Picture.of` it.
        limits: values of the first and the last colour; by default the smallest and largest.
        colours: name of the colour map.

    Returns:
        What a colour bar can be made of, if there are colours.
    """
    low, high = limits or (float(values.min()), float(values.max()))
    scale = ScalarMappable(Normalize(low, high if high > low else low + 1), colours)
    axes.set_axis_off()
    if domain.points.shape[1] == 1:
        _draw_line(axes, domain.points[:, 0], values, scale.get_clim())
        return None
    axes.set_aspect("equal")
    if picture is None:
        _draw_points(axes, domain.points, values, scale)
    elif picture.shade is None:
        triangles = Triangulation(picture.points[:, 0], picture.points[:, 1], picture.triangles)
        drawn = axes.tripcolor(triangles, values, shading="gouraud", rasterized=True)
        drawn.set(cmap=scale.cmap, norm=scale.norm)
    else:
        _draw_shaded(axes, values, picture, scale)
    return scale


def _draw_points(axes: Axes, points: np.ndarray, values: np.ndarray, scale: ScalarMappable) -> None:
    flat = points if points.shape[1] == 2 else points @ _camera()
    size = max(1.0, 4000 / len(flat))
    x, y = flat[:, 0], flat[:, 1]
    drawn = axes.scatter(x, y, s=size, c=values, lw=0)
    drawn.set(cmap=scale.cmap, norm=scale.norm)


def _draw_shaded(axes: Axes, values: np.ndarray, picture: Picture, scale: ScalarMappable) -> None:
    assert picture.shade is not None
    tone = scale.to_rgba(values[picture.triangles].mean(axis=1))[:, :3] * picture.shade[:, None]
    polygons = PolyCollection(
        picture.points[picture.triangles], facecolors=tone, edgecolors=tone, linewidths=0.2
    )
    polygons.set_rasterized(True)
    axes.add_collection(polygons)
    axes.autoscale_view()


def _draw_line(axes: Axes, x: np.ndarray, values: np.ndarray, limits: tuple[float, float]) -> None:
    """Value against position."""
    order = np.argsort(x)
    axes.axhline(0, color="0.8", lw=0.8)
    axes.plot(x[order], values[order], color="C3")
    margin = 0.05 * (limits[1] - limits[0])
    axes.set_ylim(limits[0] - margin, limits[1] + margin)


def _camera() -> Float[np.ndarray, "3 3"]:
    """Columns: right, up, and towards the eye."""
    elevation, azimuth = _VIEW
    eye = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    right = np.cross([0, 0, 1], eye)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(eye, right), eye], axis=1)


def _cut_open(mesh: Mesh) -> Int[np.ndarray, "triangles 3"]:
    """Outer faces of a volume without the octant nearest to the eye, so that its inside shows."""
    centres = mesh.points[mesh.cells].mean(axis=1)
    middle = mesh.points.mean(axis=0)
    kept = mesh.cells[~(centres > middle).all(axis=1)]
    triangles, _, counts = unique_rows(faces(kept, 3))
    return triangles[counts == 1]
