"""Plates as points: samples, and what is lost without cells: eigenvalues and subspaces."""

import numpy as np

from solver_page.study import Study, bands, bare, new_figure, relative
from supra.basis import LaplacianBasis
from supra.domain import Mesh
from supra.problems import PlatePoints

MODES = 64
SCATTERS = ("nodes", "uniform")


def run(study: Study) -> None:
    draw_samples(study)
    print_subspaces(study)
    study.time_samples(PlatePoints())


def draw_samples(study: Study) -> None:
    """The same two plates by both kinds of points."""
    samples = [PlatePoints(scatter=scatter).sample(k) for scatter in SCATTERS for k in range(2)]
    figure = new_figure(9.6, 4.8)
    rows = figure.subplots(2, len(samples))
    kinds = {"a": ("cividis", "conductivity a"), "u": ("inferno", "temperature u")}
    for row, (key, (colours, label)) in zip(rows, kinds.items(), strict=True):
        high = max(sample[key].max() for sample in samples)
        for axes, sample in zip(row, samples, strict=True):
            x, y = sample["points"].T
            drawn = axes.scatter(
                x, y, s=7, c=sample[key], cmap=bands(colours, 24), vmin=0, vmax=high, lw=0
            )
            bare(axes)
        figure.colorbar(drawn, ax=row, shrink=0.8, label=label, format="%.2g")
    for axes, title in zip(rows[0], np.repeat(SCATTERS, 2), strict=True):
        axes.set_title(f"scatter={title}", fontsize=9)
    study.save(figure, "samples")


def print_subspaces(study: Study) -> None:
    """Eigenvalues against those of the mesh, and the part of u that 64 functions do not hold."""
    count = study.pick(1, 20)
    gaps: dict[str, list[float]] = {scatter: [] for scatter in SCATTERS}
    left: dict[str, list[float]] = {scatter: [] for scatter in ("mesh", *SCATTERS)}
    for index in range(count):
        plate = PlatePoints().plate().sample(index)
        own = LaplacianBasis.from_mesh(Mesh(plate["points"], plate["cells"]), MODES, cache=False)
        left["mesh"].append(missed(own, plate["u"]))
        for scatter in SCATTERS:
            cloud = PlatePoints(scatter=scatter).sample(index)
            basis = LaplacianBasis.from_points(cloud["points"], MODES, cache=False)
            gaps[scatter].append(relative(basis.eigenvalues, own.eigenvalues))
            left[scatter].append(missed(basis, cloud["u"]))
    for scatter, found in gaps.items():
        row = f"Points, {scatter}: {MODES} eigenvalues against the mesh's, relative"
        study.row(row, "–", f"{np.mean(found):.1%}")
    said = ", ".join(f"{np.mean(found):.1%} ({name})" for name, found in left.items())
    study.row(f"Points: part of u outside of {MODES} eigenfunctions", "–", said)


def missed(basis: LaplacianBasis, values: np.ndarray) -> float:
    """Relative distance of a function from the span, in the basis's own quadrature."""
    weights = basis.domain.weights
    projected = basis.values @ (basis.values.T @ (weights * values))
    root = np.sqrt(weights)
    return relative(root * projected, root * values)
