"""The demonstration: Laplacian eigenfunctions of a handful of domains."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supra.basis import LaplacianBasis
from supra.basis.eigen import Report
from supra.domain import Mesh
from supra.domain.shapes import SHAPES
from supra.experiment.plots import plot_bases, plot_modes

# Exact first eigenvalues that are not zero, where a formula gives them.
EXACT = {"disk": 1.8411837813406593**2, "sphere": 2.0, "cube": np.pi**2}
DOMAINS = {
    "disk": 48,
    "l-shape": 96,
    "perforated-plate": 64,
    "sphere": 32,
    "torus": 24,
    "cube": 16,
}


@dataclass(frozen=True)
class Outcome:
    """A basis, how long it took, and the exact first eigenvalue where known."""

    name: str
    basis: LaplacianBasis
    seconds: float
    exact: float | None


def show_bases(
    folder: Path, modes: int, report: Callable[[str], Report] | None = None
) -> Iterator[Outcome]:
    """Compute the modes of each domain, draw them into ``folder``, and yield them one by one."""
    folder.mkdir(parents=True, exist_ok=True)
    bases = []
    for name, resolution in DOMAINS.items():
        mesh: Mesh = SHAPES[name](resolution=resolution)
        start = time.perf_counter()
        step = None if report is None else report(name)
        basis = LaplacianBasis.from_mesh(mesh, modes, cache=False, report=step)
        seconds = time.perf_counter() - start
        if step is not None:
            step("drawing", 0, 1)
        plot_modes(basis, folder / f"{name}.png")
        bases.append(basis)
        yield Outcome(name, basis, seconds, EXACT.get(name))
    plot_bases(bases, folder / "bases.png")
