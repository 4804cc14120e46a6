"""Validation error against CPU minutes while the systems learned, a panel per problem."""

from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from supra.experiment.reproduce.draw import Color, column_colors
from supra.experiment.reproduce.table import Found, Measured

_COLUMNS = 3


def draw_curves(measured: Measured, path: Path) -> None:
    curves(measured).savefig(path, dpi=120)


def curves(measured: Measured) -> Figure:
    """One line per system, of its first seed that has a history."""
    measured = measured.for_pictures
    rows = measured.rows
    lines = ceil(len(rows) / _COLUMNS)
    columns = min(len(rows), _COLUMNS)
    figure = Figure(figsize=(max(7, 4.2 * columns), max(4, 3.2 * lines)), layout="constrained")
    for place, row in enumerate(rows):
        axes = figure.add_subplot(lines, columns, place + 1)
        for column, color in column_colors(measured).items():
            found = measured.at(row, column)
            if found is not None:
                _curve(axes, found, color)
        axes.set(title=row, xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):  # plain numbers, few enough to read
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FormatStrFormatter("%g"))
            axis.set_minor_formatter(NullFormatter())
        axes.spines[["top", "right"]].set_visible(False)
        if place % columns == 0:
            axes.set_ylabel("validation error, per cent")
        if place >= len(rows) - columns:
            axes.set_xlabel("CPU minutes")
    shown = {
        label: handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    names = [column for column in measured.columns if column in shown]
    handles = [shown[name] for name in names]
    figure.legend(handles, names, loc="outside right upper", frameon=False)
    return figure


def _curve(axes: Axes, found: Found, color: Color) -> None:
    histories = (outcome.get("history") for outcome in found.outcomes)
    history = next(filter(None, histories), None)
    if history is None:
        return
    minutes = np.cumsum([line["cpu_seconds"] for line in history]) / 60
    errors = [100 * line["valid_error"] for line in history]
    axes.plot(minutes, errors, ".-", color=color, label=found.entry.column)
