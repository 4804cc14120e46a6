"""A domain prepared for drawing many fields on it, shown where it matters."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from supra.domain import Domain, Grid
from supra.experiment import draw

_FAR = 0.05  # part of the picture below which the region of most points is shown larger

Limits = tuple[float, float]
Values = Float[np.ndarray, " points"]


@dataclass(frozen=True)
class Canvas:
    """A domain ready to be drawn many times."""

    domain: Domain
    picture: draw.Picture | None
    window: Float[np.ndarray, "2 2"] | None

    @classmethod
    def of(cls, domain: Domain) -> "Canvas":
        shown, picture = drawable(domain)
        flat = shown.points if picture is None else picture.points
        return cls(shown, picture, window(flat) if flat.shape[1] == 2 else None)

    @property
    def height(self) -> float:
        """Of a drawing over its width, within reason."""
        if self.domain.points.shape[1] == 1:
            return 0.6
        if self.window is None:
            return 1.0
        width, height = np.diff(self.window, axis=0)[0]
        return float(np.clip(height / max(width, 1e-9), 0.2, 1.6))

    def draw(
        self, axes: Axes, values: Values, limits: Limits | None = None, colours: str = "viridis"
    ) -> ScalarMappable | None:
        drawn = draw.draw_field(
            axes, self.domain, values.astype(float), self.picture, limits, colours
        )
        if self.window is not None:
            axes.set(xlim=self.window[:, 0], ylim=self.window[:, 1])
        if self.domain.points.shape[1] == 1:
            axes.set_axis_on()
        return drawn


def window(points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "2 2"]:
    """The corners of what is shown: all, or where most points are if that is a small part.

    The mesh around an airfoil reaches far out; what matters is in the middle, as its points say.
    """
    whole = np.array([points.min(axis=0), points.max(axis=0)])
    dense = np.quantile(points, (0.25, 0.75), axis=0)
    shown = (
        dense if np.prod(np.ptp(dense, axis=0)) < _FAR * np.prod(np.ptp(whole, axis=0)) else whole
    )
    margin = 0.02 * np.ptp(shown, axis=0)
    return shown + np.array([-margin, margin])


def drawable(domain: Domain) -> tuple[Domain, draw.Picture | None]:
    """A domain as it is drawn: a grid of two axes as its triangles."""
    shown = domain.to_mesh() if isinstance(domain, Grid) else domain
    return shown, draw.Picture.of(shown)
