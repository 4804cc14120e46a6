"""A table as a picture: bars for what was measured, marks for the paper's numbers."""

from math import isnan
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from supra.experiment.reproduce.draw_panels import draw_panels
from supra.experiment.reproduce.table import Measured

Color = tuple[float, float, float, float]
_WIDTH = 0.8  # of a group of bars
_MOST_COLORS = 8  # more are not told apart


def draw(measured: Measured, path: Path) -> None:
    """What a row compares in colours, or, where there are too many, by name."""
    measured = measured.for_pictures
    many = len(measured.columns) > _MOST_COLORS
    figure = draw_panels(measured) if many else _draw_groups(measured)
    figure.savefig(path, dpi=120)


def _draw_groups(measured: Measured) -> Figure:
    """Groups of bars, one per row of the table; a logarithmic axis where errors differ much."""
    rows, means = measured.rows, [found.mean for found in measured.found if not found.failed]
    figure = Figure(figsize=(max(7, 2.5 + 1.6 * len(rows)), 4), layout="constrained")
    axes = figure.add_subplot()
    for number, (column, color) in enumerate(column_colors(measured).items()):
        _bars(axes, measured, column, number, color)
    if any(found.entry.paper is not None for found in measured.found):
        axes.plot([], [], "k_", markersize=12, label="the paper")
    axes.set_xticks(range(len(rows)), rows, rotation=20 if len(rows) > 3 else 0)
    if means and max(means) > 10 * min(means):
        axes.set_yscale("log")
    axes.set_ylabel("relative L2 error, per cent")
    axes.set_title(measured.title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize="small", frameon=False, bbox_to_anchor=(1, 1), loc="upper left")
    return figure


def column_colors(measured: Measured) -> dict[str, Color]:
    """A colour for every column, the same in all pictures of a table."""
    colors = matplotlib.colormaps["tab10" if len(measured.columns) <= 10 else "tab20"]
    return {column: colors(n) for n, column in enumerate(measured.columns)}


def _bars(axes, measured: Measured, column: str, number: int, color) -> None:  # type: ignore[no-untyped-def]
    width = _WIDTH / len(measured.columns)
    for place, row in enumerate(measured.rows):
        found = measured.at(row, column)
        if found is None:
            continue
        x = place - _WIDTH / 2 + (number + 0.5) * width
        if found.failed:
            axes.annotate("↑", (x, 0.01), xycoords=("data", "axes fraction"), ha="center")
        else:
            axes.bar(x, found.mean, 0.9 * width, yerr=found.spread, color=color)
        if found.entry.paper is not None and not isnan(found.entry.paper):
            axes.plot(x, found.entry.paper, "k_", markersize=60 * width, zorder=3)
    axes.bar(0, 0, 0, color=color, label=column)
