"""The report's charts: curves, histogram, spectrum, basis functions, attention."""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from supra.experiment.report.number import percent
from supra.experiment.report.spectrum import ERROR, PREDICTION, TRUTH, Spectrum
from supra.train import History

WIDTH = 11.2  # inches of the page's column
_FAINTEST = 1e-4  # attention below this is as good as none
BLUE, ORANGE, GREY = "#3b82c4", "#d9772b", "#7c7c7c"
# One picture serves the light and the dark page, with nothing behind it. Drawings of fields keep
# their colours and have ink between the two; charts have dark ink, which the dark page inverts.
_MIDDLE, _DARK = "#7c7c7c", "#40464b"
_INKED: Any = (  # Any: matplotlib would have every known name spelled out in the type
    "text.color",
    "axes.labelcolor",
    "axes.edgecolor",
    "xtick.color",
    "ytick.color",
    "grid.color",
)
_STYLE: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    **dict.fromkeys(_INKED, _MIDDLE),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "font.size": 9.0,
    "figure.constrained_layout.h_pad": 0.06,
    "axes.titlesize": 9.0,
}


@dataclass(frozen=True)
class Picture:
    """A PNG, its width on the page in pixels, and what it shows in words."""

    png: bytes
    width: int
    alt: str
    kind: Literal["field", "chart"] = "field"


def styled() -> AbstractContextManager[None]:
    """Figures made inside have the report's style."""
    return matplotlib.rc_context(_STYLE)


def chart(draw: Callable[..., Picture]) -> Callable[..., Picture]:
    """What it draws has dark ink."""

    @wraps(draw)
    def inked(*arguments: Any) -> Picture:
        with matplotlib.rc_context(dict.fromkeys(_INKED, _DARK)):
            return replace(draw(*arguments), kind="chart")

    return inked


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def finished(figure: Figure, alt: str) -> Picture:
    """The picture of a figure, sharp on screens of twice the resolution."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=144)
    return Picture(file.getvalue(), round(figure.get_figwidth() * 96), alt)


@chart
def draw_curves(history: History) -> Picture:
    """Loss, validation error and learning rate against epochs and against CPU minutes."""
    figure = new_figure(WIDTH, 4.2)
    panels = figure.subplots(2, 2, sharex="col", sharey="row", height_ratios=(3, 1))
    epochs = np.array([line["epoch"] for line in history.lines])
    minutes = np.cumsum([line["cpu_seconds"] for line in history.lines]) / 60
    for (above, below), x in zip(panels.T, (epochs, minutes), strict=True):
        _draw_course(above, below, x, history)
    panels[0, 0].legend()
    panels[0, 0].set_ylabel("relative error")
    panels[1, 0].set(xlabel="epochs", ylabel="learning rate")
    panels[1, 1].set_xlabel("CPU minutes")
    panels[1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[1, 1].xaxis.set_major_locator(MaxNLocator(6))
    _label_percents(panels[0, 0])
    return finished(figure, "Training loss, validation error and learning rate during training")


def _draw_course(above: Axes, below: Axes, x: np.ndarray, history: History) -> None:
    mark = "." if len(x) < 30 else ""
    loss = [line["train_loss"] for line in history.lines]
    above.semilogy(x, loss, color=GREY, marker=mark, label="training loss")
    above.semilogy(x, history.errors, color=BLUE, marker=mark, label="validation error")
    best = history.best - 1
    label = f"best: {percent(history.errors[best])}"
    above.plot(x[best], history.errors[best], "o", mfc="none", color=ORANGE, ms=8, label=label)
    below.plot(x, [line["learning_rate"] for line in history.lines], color=GREY, marker=mark)


def _label_percents(axes: Axes) -> None:
    """Ticks of a logarithmic axis as per cent, those between powers of ten if it is a short one."""
    low, high = axes.get_ylim()
    percents = FuncFormatter(lambda value, _: f"{100 * value:g} %")
    axes.yaxis.set_major_formatter(percents)
    axes.yaxis.set_minor_formatter(percents if high < 10 * low else NullFormatter())


@chart
def draw_histogram(errors: Float[np.ndarray, " samples"]) -> Picture:
    """How many test samples have which error."""
    figure = new_figure(WIDTH / 2, 3.0)
    axes = figure.subplots()
    bins = int(np.clip(2 * np.sqrt(len(errors)), 5, 40))
    axes.hist(100 * errors, bins, color=BLUE, alpha=0.75)
    for value, name, line in ((errors.mean(), "mean", "-"), (np.median(errors), "median", "--")):
        axes.axvline(100 * value, color=ORANGE, ls=line, label=f"{name} {percent(value)}")
    axes.set(xlabel="relative L2 error of a test sample in %", ylabel="samples")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return finished(figure, "Histogram of the relative errors of the test samples")


@chart
def draw_growth(errors: Float[np.ndarray, "samples steps"], times: tuple[float, ...]) -> Picture:
    """The error at each moment: mean, and the range of eight in ten samples."""
    figure = new_figure(WIDTH, 2.8)
    axes = figure.subplots()
    low, high = 100 * np.quantile(errors, (0.1, 0.9), axis=0)
    axes.fill_between(times, low, high, color=BLUE, alpha=0.2, lw=0, label="80 % of the samples")
    axes.plot(times, 100 * errors.mean(axis=0), color=BLUE, marker=".", label="mean")
    axes.set(xlabel="time", ylabel="relative L2 error in %")
    axes.set_ylim(bottom=0)
    axes.legend()
    return finished(figure, "Relative error at each moment, growing or not with time")


@chart
def draw_spectrum(spectrum: Spectrum) -> Picture:
    """Sizes along the basis functions: dots for each, lines for means of neighbours."""
    figure = new_figure(WIDTH, 3.6)
    axes = figure.subplots()
    styles = {TRUTH: (GREY, "-"), PREDICTION: (BLUE, "--"), ERROR: (ORANGE, "-")}
    number = np.arange(1, len(spectrum.ladder.order) + 1)
    groups = np.array_split(np.arange(len(number)), min(len(number), 32))
    for name, (colour, line) in styles.items():
        sizes = np.maximum(spectrum.sizes[name], np.finfo(float).tiny)
        axes.semilogy(number, sizes, ".", color=colour, alpha=0.5, ms=6, mec="none")
        x = [number[group].mean() for group in groups]
        mean = [sizes[group].mean() for group in groups]
        axes.semilogy(x, mean, color=colour, ls=line, lw=1.8, label=name)
    axes.set_ylim(bottom=_floor(spectrum))
    axes.set(xlabel="basis function, from smooth to sharp", ylabel="mean squared coefficient")
    axes.legend()
    return finished(figure, "Spectra of truth, prediction and error over the basis functions")


def _floor(spectrum: Spectrum) -> float:
    """Where the axis ends: coefficients that are zero by symmetry would stretch it for nothing."""
    sizes = np.concatenate(list(spectrum.sizes.values()))
    return float(max(sizes[sizes > 0].min(initial=1.0), sizes.max() * 1e-8) / 2)


def draw_attention(matrices: list[Float[np.ndarray, "functions functions"]]) -> Picture:
    """One matrix per layer with a common logarithmic scale."""
    columns = min(len(matrices), 4 if len(matrices) <= 8 else 6)
    rows = -(-len(matrices) // columns)
    panel = min(2.6, WIDTH / columns)
    figure = new_figure(panel * columns, (panel + 0.25) * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes in panels.flat:
        axes.set_axis_off()
    smallest = min(matrix.min() for matrix in matrices)
    scale = LogNorm(min(max(smallest, _FAINTEST), 0.5), 1)
    for layer, (axes, matrix) in enumerate(zip(panels.flat, matrices, strict=False), 1):
        drawn = axes.imshow(matrix, norm=scale, cmap="magma", interpolation="nearest")
        axes.set_title(f"layer {layer}: {np.trace(matrix) / len(matrix):.0%} to itself")
    bar = figure.colorbar(drawn, ax=panels, location="bottom", shrink=0.5, aspect=40)
    bar.set_label("weight, mean over the heads")
    return finished(figure, "Attention of each function (row) to each other (column), by layer")
