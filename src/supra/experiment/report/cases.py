"""Test cases drawn as input | truth | prediction | error, over time if need be."""

import numpy as np
from matplotlib.axes import Axes

from supra.data import Layout
from supra.experiment.canvas import Canvas, Values
from supra.experiment.report.plots import WIDTH, Picture, finished, new_figure
from supra.experiment.report.scales import add_bar, common_limits, plain, symmetric_limits
from supra.experiment.report.strip import draw_strip
from supra.experiment.report.study import Case

MOST_CHANNELS = 4  # targets drawn of a steady sample
MOST_STRIPS = 2  # targets drawn of a time-dependent one
_MOST_INPUTS = 3
_PANEL = 2.8  # largest width of one drawing in inches


def draw_case(case: Case, layout: Layout) -> list[Picture]:
    """One picture of a steady case; one per channel, with its moments, of any other."""
    canvas = Canvas.of(case.sample.domain)
    if layout.time == "steady":
        return [_draw_steady(case, layout, canvas)]
    shown = range(min(len(layout.targets), MOST_STRIPS))
    return [draw_strip(case, layout, canvas, channel) for channel in shown]


def _draw_steady(case: Case, layout: Layout, canvas: Canvas) -> Picture:
    """A row per target channel; the inputs are spread over the first columns."""
    rows = min(len(layout.targets), MOST_CHANNELS)
    given = min(len(layout.inputs), max(_MOST_INPUTS, rows))
    before = -(-given // rows)
    width = min(_PANEL, WIDTH / (before + 3))
    figure = new_figure(width * (before + 3), (width * canvas.height + 0.6) * rows)
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
    axes.set_title(f"input {plain(name)}")
    add_bar([axes], canvas.draw(axes, values, colours="cividis"))


def _draw_comparison(
    row: np.ndarray, canvas: Canvas, truth: Values, prediction: Values, name: str
) -> None:
    limits = common_limits(truth, prediction)
    for axes, values, title in zip(row, (truth, prediction), ("truth", "prediction"), strict=False):
        axes.set_title(f"{title} {plain(name)}")
        drawn = canvas.draw(axes, values, limits)
    add_bar(list(row[:2]), drawn)
    row[2].set_title("prediction − truth")
    error = prediction - truth
    add_bar([row[2]], canvas.draw(row[2], error, symmetric_limits(error), "RdBu_r"))
