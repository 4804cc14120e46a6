"""Validation error against CPU minutes while the systems learned, a panel per problem."""

from math import ceil
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from supra.experiment.reproduce.table import Found, Measured
from supra.train import METRICS, History

_COLUMNS = 3


def draw_curves(measured: Measured, root: Path, path: Path) -> None:
    """One line per system (first seed); ``root`` is where the runs are."""
    rows = measured.rows
    lines = ceil(len(rows) / _COLUMNS)
    columns = min(len(rows), _COLUMNS)
    figure = Figure(figsize=(4.2 * columns, 3.2 * lines), layout="constrained")
    colors = matplotlib.colormaps["viridis"]
    for place, row in enumerate(rows):
        axes = figure.add_subplot(lines, columns, place + 1)
        for number, column in enumerate(measured.columns):
            found = measured.at(row, column)
            if found is not None:
                color = colors(number / max(1, len(measured.columns) - 1) * 0.9)
                _curve(axes, found, root, color)
        axes.set(title=row, xscale="log", yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
        if place % columns == 0:
            axes.set_ylabel("validation error, per cent")
        if place >= len(rows) - columns:
            axes.set_xlabel("CPU minutes")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    figure.savefig(path, dpi=120)


def _curve(axes: Axes, found: Found, root: Path, color: object) -> None:
    folder = root / found.entry.cells[0].name
    if not (folder / METRICS).exists():
        return
    history = History.read(folder)
    minutes = np.cumsum([line["cpu_seconds"] for line in history.lines]) / 60
    axes.plot(minutes, 100 * np.array(history.errors), ".-", color=color, label=found.entry.column)
