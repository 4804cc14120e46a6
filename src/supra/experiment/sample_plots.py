"""Pictures of a data set's samples."""

from pathlib import Path

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from supra.data import Dataset, Sample
from supra.experiment.canvas import Canvas

_PANEL = 2.2  # width of one drawing in inches
_MOST = 6  # channels shown of each side


def plot_samples(dataset: Dataset, path: str | Path, count: int = 3) -> None:
    """A few samples, one per row: inputs, then targets (of the last moment)."""
    layout = dataset.layout
    given, wanted = layout.inputs[-_MOST:], layout.targets[:_MOST]
    count = min(count, len(dataset))
    columns = len(given) + len(wanted)
    size = (_PANEL * columns, (_PANEL + 0.2) * count)
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    panels = figure.subplots(count, columns, squeeze=False)
    spread = np.linspace(0, len(dataset) - 1, count).astype(int)
    for row, number in zip(panels, spread, strict=True):
        _draw_sample(row, dataset[number], len(given), len(wanted))
    moment = f" at t={layout.times[-1]:g}" if layout.times else ""
    names = [str(channel) for channel in given] + [f"{channel}{moment}" for channel in wanted]
    for panel, name in zip(panels[0], names, strict=True):
        panel.set_title(name, fontsize=9)
    figure.savefig(path, dpi=110)


def _draw_sample(row: np.ndarray, sample: Sample, given: int, wanted: int) -> None:
    targets = sample.targets if sample.targets.ndim == 2 else sample.targets[-1]
    fields = [*sample.inputs.T[-given:], *targets.T[:wanted]]
    canvas = Canvas.of(sample.domain)
    for panel, values in zip(row, fields, strict=True):
        _add_colorbar(panel, canvas.draw(panel, values))


def _add_colorbar(panel: Axes, drawn: ScalarMappable | None) -> None:
    if drawn is not None:
        panel.figure.colorbar(drawn, ax=panel, shrink=0.8, pad=0.02).ax.tick_params(labelsize=6)
