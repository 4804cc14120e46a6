"""A table with more to compare than colours: a panel per row, a named bar for every column."""

from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from supra.experiment.report.number import number
from supra.experiment.reproduce.table import Measured

_PANELS = 3  # side by side


def draw_panels(measured: Measured) -> Figure:
    """Names stand once on every line of panels; the first column, a dotted line, is the measure."""
    rows, columns = measured.rows, measured.columns
    lines, side_by_side = ceil(len(rows) / _PANELS), min(len(rows), _PANELS)
    size = 3 + 3 * side_by_side, 0.8 + lines * (0.6 + 0.22 * len(columns))
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(f"{measured.title}: relative L2 error, per cent")
    panels = list(figure.subplots(lines, side_by_side, squeeze=False, sharey=True).flat)
    for axes, row in zip(panels, rows, strict=False):
        _bars(axes, measured, row)
    for axes in panels[len(rows) :]:
        axes.set_visible(False)
    return figure


def _bars(axes: Axes, measured: Measured, row: str) -> None:
    columns = measured.columns
    for place, column in enumerate(columns):
        found = measured.at(row, column)
        if found is None:
            continue
        if found.failed:
            axes.annotate("↑", (0.01, place), xycoords=("axes fraction", "data"), va="center")
            continue
        first = column == columns[0]
        bar = axes.barh(place, found.mean, xerr=found.spread, color="C0" if first else "0.7")
        axes.bar_label(bar, fmt=number, padding=3, fontsize="small")
        if first:
            axes.axvline(found.mean, color="C0", linestyle=":", linewidth=1, zorder=0)
    axes.set_yticks(range(len(columns)), columns)
    axes.set_ylim(len(columns) - 0.4, -0.6)  # the first one at the top
    axes.margins(x=0.2)
    axes.set_title(row, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
