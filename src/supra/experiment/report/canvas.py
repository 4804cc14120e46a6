"""One domain drawn many times: fields with their colour scales, and basis functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator

from supra.basis.sampled import Sampled
from supra.domain import Domain
from supra.experiment import draw
from supra.experiment.report.plots import WIDTH, Picture, finished, new_figure
from supra.experiment.report.spectrum import Ladder
from supra.experiment.sample_plots import drawable

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
    """The corners of what is shown: all, or where nearly all points are if that is a small part.

    The mesh around an airfoil reaches far out; what matters is in the middle, as its points say.
    """
    whole = np.array([points.min(axis=0), points.max(axis=0)])
    dense = np.quantile(points, (0.1, 0.9), axis=0)
    shown = (
        dense if np.prod(np.ptp(dense, axis=0)) < _FAR * np.prod(np.ptp(whole, axis=0)) else whole
    )
    margin = 0.02 * np.ptp(shown, axis=0)
    return shown + np.array([-margin, margin])


def plain(name: object) -> str:
    """A name for a picture, where dollar signs would start a formula."""
    return str(name).replace("$", r"\$")


def common_limits(*fields: np.ndarray) -> Limits:
    return float(min(f.min() for f in fields)), float(max(f.max() for f in fields))


def symmetric_limits(values: np.ndarray) -> Limits:
    limit = float(np.abs(values).max()) or 1.0
    return -limit, limit


def add_bar(axes: list[Axes], drawn: ScalarMappable | None, location: str = "bottom") -> None:
    """One thin colour bar for some drawings; none for lines."""
    if drawn is not None:
        thin: Any = {"aspect": 20 * len(axes), "shrink": 0.85, "pad": 0.03}
        bar = axes[0].figure.colorbar(drawn, ax=axes, location=location, **thin)
        bar.ax.tick_params(labelsize=7)
        bar.locator = MaxNLocator(4 * len(axes))
        bar.outline.set_visible(False)


def draw_basis(sampled: Sampled, domain: Domain, ladder: Ladder, most: int = 12) -> Picture:
    """A few basis functions from smooth to sharp."""
    ranks = spread_ranks(sampled.modes, most)
    columns = min(6, len(ranks))
    rows, width = -(-len(ranks) // columns), WIDTH / 6
    canvas = Canvas.of(domain)
    figure = new_figure(width * columns, (width * canvas.height + 0.25) * rows)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        axes.set_axis_off()
    functions = basis_functions(sampled, ladder.order[ranks])
    for axes, rank, values in zip(panels, ranks, functions, strict=False):
        canvas.draw(axes, values, symmetric_limits(values), "RdBu_r")
        axes.set_title(f"{rank + 1}: {ladder.name} {ladder.values[rank]:.4g}")
    return finished(figure, "Some of the basis functions on the domain of the median test case")


def spread_ranks(modes: int, most: int) -> Int[np.ndarray, " chosen"]:
    """Numbers from 0 to the last, close together at first."""
    chosen = np.arange(min(modes, most))
    for count in range(most, 4 * most):
        tried = np.unique(np.geomspace(1, modes, count).round().astype(int)) - 1
        if len(tried) <= most:
            chosen = tried
    return chosen


def basis_functions(sampled: Sampled, modes: np.ndarray) -> Float[np.ndarray, "chosen points"]:
    """Values of some functions; those of a product basis are never all written out."""
    units = torch.eye(sampled.modes, dtype=sampled.weights.dtype)[modes]
    return sampled.fields(units[None])[0].T.numpy()
