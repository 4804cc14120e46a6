"""Time-dependent cases: rows truth, prediction and error; columns what is given, then moments."""

import numpy as np
from jaxtyping import Float
from matplotlib.cm import ScalarMappable

from supra.data import Layout
from supra.experiment.canvas import Canvas, Limits
from supra.experiment.report.plots import WIDTH, Picture, finished, new_figure
from supra.experiment.report.scales import add_bar, common_limits, plain, symmetric_limits
from supra.experiment.report.study import Case

_MOMENTS = 5
_ROWS = ("truth", "prediction", "error")
_PANEL = 2.8  # largest width of one drawing in inches
_LOWEST = 0.9  # inches that the name of a row needs
_MARGIN = 0.8  # inches beside the drawings, for colour bars and names

Moments = Float[np.ndarray, "moments points"]


def draw_strip(case: Case, layout: Layout, canvas: Canvas, channel: int) -> Picture:
    """One target channel of a case."""
    truth, prediction = case.sample.targets[..., channel], case.prediction[..., channel]
    steps = np.unique(np.linspace(0, len(truth) - 1, _MOMENTS).astype(int))
    columns = len(steps) + 1
    width = min(_PANEL, (WIDTH - _MARGIN) / columns)
    height = max(width * canvas.height, _LOWEST) + 0.05
    figure = new_figure(width * columns + _MARGIN, 3 * height + 0.2)
    panels = figure.subplots(3, columns, squeeze=False)
    limits = common_limits(truth, prediction)
    _draw_moments(panels[:, 1:], canvas, truth[steps], prediction[steps], limits)
    _draw_given(panels[:, 0], case, layout, canvas, channel, limits)
    _label(panels[:, 1:], [layout.times[step] for step in steps], plain(layout.targets[channel]))
    words = f"{case.title} test case over time: {layout.targets[channel]}"
    return finished(figure, f"{words}, its prediction and the error")


def _draw_moments(
    panels: np.ndarray, canvas: Canvas, truth: Moments, prediction: Moments, limits: Limits
) -> None:
    error = prediction - truth
    _draw_row(panels[0], canvas, truth, limits)
    add_bar(list(panels[:2, -1]), _draw_row(panels[1], canvas, prediction, limits), "right")
    drawn = _draw_row(panels[2], canvas, error, symmetric_limits(error), "RdBu_r")
    add_bar([panels[2, -1]], drawn, "right")


def _draw_row(
    row: np.ndarray, canvas: Canvas, fields: Moments, limits: Limits, colours: str = "viridis"
) -> ScalarMappable | None:
    pairs = zip(row, fields, strict=True)
    return [canvas.draw(axes, values, limits, colours) for axes, values in pairs][-1]


def _draw_given(
    column: np.ndarray, case: Case, layout: Layout, canvas: Canvas, channel: int, limits: Limits
) -> None:
    """The last state before a rollout, as one more moment; otherwise the inputs."""
    for axes in column:
        axes.set_axis_off()
    rollout = layout.time == "rollout"
    first = len(layout.inputs) - len(layout.targets) + channel if rollout else 0
    numbers = range(first, first + 1) if rollout else range(len(layout.inputs))
    for axes, number in zip(column, numbers, strict=False):
        scale = (limits, "viridis") if rollout else (None, "cividis")
        canvas.draw(axes, case.sample.inputs[:, number], *scale)
        axes.set_title(f"given {plain(layout.inputs[number])}")


def _label(panels: np.ndarray, times: list[float], name: str) -> None:
    for axes, time in zip(panels[0], times, strict=True):
        axes.set_title(f"t = {time:.3g}")
    for axes, row in zip(panels[:, 0], _ROWS, strict=True):
        text = row if row == "error" else f"{row} {name}"
        if axes.axison:
            axes.set_ylabel(text)
        else:  # an axis that is not shown shows no label
            place = {"ha": "right", "va": "center", "transform": axes.transAxes}
            axes.text(-0.04, 0.5, text, rotation=90, **place)
