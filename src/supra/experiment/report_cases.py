"""Test cases drawn as input | truth | prediction | error, over time if need be."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from supra.data import Layout
from supra.experiment.report_canvas import (
    Canvas,
    Limits,
    Values,
    add_bar,
    common_limits,
    symmetric_limits,
)
from supra.experiment.report_plots import WIDTH, Picture, finished, new_figure
from supra.experiment.report_study import Case

MOST_CHANNELS = 4  # targets drawn of a steady sample
MOST_STRIPS = 2  # targets drawn of a time-dependent one
_MOST_INPUTS = 3
_MOMENTS = 5
_PANEL = 2.8  # largest width of one drawing in inches


def draw_case(case: Case, layout: Layout) -> list[Picture]:
    """One picture of a steady case; one per channel, with its moments, of any other."""
    canvas = Canvas.of(case.sample.domain)
    if layout.time == "steady":
        return [_draw_steady(case, layout, canvas)]
    shown = range(min(len(layout.targets), MOST_STRIPS))
    return [_draw_strip(case, layout, canvas, channel) for channel in shown]


def _draw_steady(case: Case, layout: Layout, canvas: Canvas) -> Picture:
    """A row per target channel; the inputs are spread over the first columns."""
    rows = min(len(layout.targets), MOST_CHANNELS)
    given = min(len(layout.inputs), max(_MOST_INPUTS, rows))
    before = -(-given // rows)
    width = min(_PANEL, WIDTH / (before + 3))
    figure = new_figure(width * (before + 3), (width * canvas.height + 0.75) * rows)
    panels = figure.subplots(rows, before + 3, squeeze=False)
    for number, axes in enumerate(panels[:, :before].T.flat):
        if number < given:
            _draw_input(axes, canvas, case.sample.inputs[:, number], str(layout.inputs[number]))
        else:
            axes.set_axis_off()
    for channel, row in enumerate(panels[:, before:]):
        fields = case.sample.targets[:, channel], case.prediction[:, channel]
        _draw_comparison(row, canvas, *fields, str(layout.targets[channel]))
    return finished(figure, f"{case.title} test case: inputs, truth, prediction and error")


def _draw_input(axes: Axes, canvas: Canvas, values: Values, name: str) -> None:
    axes.set_title(f"input {name}")
    add_bar([axes], canvas.draw(axes, values, colours="cividis"))


def _draw_comparison(
    row: np.ndarray, canvas: Canvas, truth: Values, prediction: Values, name: str
) -> None:
    limits = common_limits(truth, prediction)
    for axes, values, title in zip(row, (truth, prediction), ("truth", "prediction"), strict=False):
        axes.set_title(f"{title} {name}")
        drawn = canvas.draw(axes, values, limits)
    add_bar(list(row[:2]), drawn)
    row[2].set_title("prediction − truth")
    error = prediction - truth
    add_bar([row[2]], canvas.draw(row[2], error, symmetric_limits(error), "RdBu_r"))


def _draw_strip(case: Case, layout: Layout, canvas: Canvas, channel: int) -> Picture:
    """Rows truth, prediction, error; columns what is given, then a few moments."""
    truth, prediction = case.sample.targets[..., channel], case.prediction[..., channel]
    steps = np.unique(np.linspace(0, len(truth) - 1, _MOMENTS).astype(int))
    width = min(_PANEL, WIDTH / (len(steps) + 1))
    figure = new_figure(width * (len(steps) + 1), 3 * (width * canvas.height + 0.25))
    panels = figure.subplots(3, len(steps) + 1, squeeze=False)
    limits, error = common_limits(truth, prediction), (prediction - truth)[steps]
    _draw_row(panels[0, 1:], canvas, truth[steps], limits)
    drawn = _draw_row(panels[1, 1:], canvas, prediction[steps], limits)
    add_bar(list(panels[:2, -1]), drawn, "right")
    drawn = _draw_row(panels[2, 1:], canvas, error, symmetric_limits(error), "RdBu_r")
    add_bar([panels[2, -1]], drawn, "right")
    _draw_given(panels[:, 0], case, layout, canvas, channel)
    _label_strip(panels, [layout.times[step] for step in steps])
    name = layout.targets[channel]
    return finished(figure, f"{case.title} test case over time: {name}, its prediction, the error")


def _draw_row(
    row: np.ndarray, canvas: Canvas, fields: np.ndarray, limits: Limits, colours: str = "viridis"
) -> ScalarMappable | None:
    return [canvas.draw(axes, f, limits, colours) for axes, f in zip(row, fields, strict=True)][-1]


def _draw_given(
    column: np.ndarray, case: Case, layout: Layout, canvas: Canvas, channel: int
) -> None:
    """The last state before a rollout; the inputs of data on condition of the time."""
    for axes in column:
        axes.set_axis_off()
    if layout.time == "rollout":
        numbers = [len(layout.inputs) - len(layout.targets) + channel]
    else:
        numbers = list(range(min(len(layout.inputs), len(column))))
    for axes, number in zip(column, numbers, strict=False):
        canvas.draw(axes, case.sample.inputs[:, number], colours="cividis")
        axes.set_title(f"given {layout.inputs[number]}")


def _label_strip(panels: np.ndarray, times: list[float]) -> None:
    for axes, time in zip(panels[0, 1:], times, strict=True):
        axes.set_title(f"t = {time:g}")
    for axes, name in zip(panels[:, 1], ("truth", "prediction", "error"), strict=True):
        place = {"ha": "right", "va": "center", "transform": axes.transAxes}
        axes.text(-0.04, 0.5, name, rotation=90, **place)
