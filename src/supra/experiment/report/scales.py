"""Colour scales of fields, and basis functions in a row."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator

from supra.basis.sampled import Sampled
from supra.domain import Domain
from supra.experiment.canvas import Canvas, Limits
from supra.experiment.report.plots import WIDTH, Picture, finished, new_figure
from supra.experiment.report.spectrum import Ladder


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
