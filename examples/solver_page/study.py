"""Where a study's pictures and numbers go."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import matplotlib.figure
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from PIL import Image

from supra.problems import Problem

T = TypeVar("T")


@dataclass(frozen=True)
class Study:
    """One problem's part of the page.

    Attributes:
        name: of the problem.
        folder: for the pictures.
        full: at the page's own resolution, or only to see that all works.
    """

    name: str
    folder: Path
    full: bool
    begun: float = field(default_factory=time.process_time)

    def pick(self, quick: T, full: T) -> T:
        return full if self.full else quick

    def row(self, oracle: str, expected: str, measured: str) -> None:
        """A line of the page's table."""
        print(f"| {oracle} | {expected} | {measured} |", flush=True)

    def time_samples(self, problem: Problem, count: int = 5) -> None:
        """CPU seconds of a sample, after one that is not counted (it compiles and fills caches)."""
        problem.sample(0)
        seconds = [_cpu_seconds(problem, index) for index in range(1, self.pick(1, count) + 1)]
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        self.row(
            f"{problem.name}: CPU seconds", f"{len(seconds)} samples, {spread}", _median(seconds)
        )

    def save(self, figure: matplotlib.figure.Figure, name: str) -> None:
        """As a PNG of 256 colours, a third of the size of one with all."""
        path = self.folder / f"solver-{self.name.replace('_', '-')}-{name}.png"
        buffer = BytesIO()
        figure.savefig(buffer, dpi=self.pick(50, 100))
        image = Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        image.save(path, optimize=True)
        spent = time.process_time() - self.begun
        print(f"{path} ({path.stat().st_size / 1e3:.0f} kB; {spent:.0f} CPU seconds)", flush=True)


def _cpu_seconds(problem: Problem, index: int) -> float:
    begun = time.process_time()
    problem.sample(index)
    return time.process_time() - begun


def _median(seconds: Sequence[float]) -> str:
    return f"{np.median(seconds):.3g}"


def new_figure(width: float, height: float) -> matplotlib.figure.Figure:
    return matplotlib.figure.Figure(figsize=(width, height), layout="constrained")


def rates(errors: Sequence[float], sizes: Sequence[float]) -> np.ndarray:
    """Orders of convergence from one grid to the next."""
    return np.diff(np.log(errors)) / np.diff(np.log(sizes))


def written(numbers: Sequence[float], digits: int = 2) -> str:
    return ", ".join(f"{number:.{digits}f}" for number in numbers)


def slope_line(axes: Axes, sizes: Sequence[float], start: float, order: float) -> None:
    """A dashed line of the order expected, from ``start`` at the first size."""
    sizes = np.asarray(sizes, float)
    line = start * (sizes / sizes[0]) ** order
    axes.loglog(sizes, line, "--", color="0.6", lw=1)
    middle = len(sizes) // 2
    side = {"ha": "right", "va": "top"} if order < 0 else {"ha": "left", "va": "top"}
    axes.annotate(f"order {abs(order):g}", (sizes[middle], line[middle]), fontsize=8, **side)


def log_axes(axes: Axes, title: str, x: str, y: str, sizes: Sequence[float] | None = None) -> None:
    """Logarithmic axes; ticks at the sizes, if they are given."""
    axes.set(xscale="log", yscale="log")
    if sizes is not None:
        axes.set_xticks(sizes, [f"{size:.3g}" for size in sizes])
        axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    finish(axes, title, x, y)


def finish(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)


def bare(axes: Axes) -> None:
    """A map without ticks, its axes to scale."""
    axes.set(xticks=[], yticks=[], aspect="equal")


def bands(name: str, count: int = 20) -> Colormap:
    """A colour map in steps: isolines are seen, and pictures are small."""
    return colormaps[name].resampled(count)


def relative(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
