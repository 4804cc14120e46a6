"""Ever finer meshes of one shape: errors against exact solutions, and how random samples change."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import KDTree

from solver_page.study import Study, log_axes, rates, relative, slope_line, written
from supra.basis.fem import mass_matrix
from supra.domain import Mesh
from supra.problems import Problem


def distance(mesh: Mesh, found: np.ndarray, exact: np.ndarray) -> float:
    """Norm of L², relative."""
    away, mass = found - exact, mass_matrix(mesh)
    return float(np.sqrt((away @ mass @ away) / (exact @ mass @ exact)))


def draw_orders(
    study: Study,
    axes: Axes,
    sizes: Sequence[int],
    found: Mapping[str, Sequence[float]],
    sizes_are: str,
) -> None:
    """Errors by the name of the exact solution, beside a line of order 2."""
    for name, errors in found.items():
        axes.loglog(sizes, errors, "o-", label=name)
        study.row(f"{study.name.title()}, {name}: order", "2", written(-rates(errors, sizes)))
    slope_line(axes, sizes, min(errors[0] for errors in found.values()) / 2, -2)
    log_axes(axes, "against exact solutions", sizes_are, "relative error in L²", sizes)


def sample_changes(
    problem: Callable[[int], Problem],
    shape: Callable[[int], Mesh],
    sizes: Sequence[int],
    count: int,
) -> np.ndarray:
    """Relative distance of samples from those on the finest mesh, at the common nodes.

    One row per sample. ``shape`` is what the samples' meshes are deformed from.
    """
    nodes_of_finest = KDTree(shape(sizes[-1]).points)
    common = [nodes_of_finest.query(shape(n).points)[1] for n in sizes[:-1]]

    def changes(index: int) -> list[float]:
        *coarse, finest = (problem(n).sample(index)["u"] for n in sizes)
        return [relative(u, finest[nodes]) for u, nodes in zip(coarse, common, strict=True)]

    return np.array([changes(index) for index in range(count)])


def draw_changes(axes: Axes, sizes: Sequence[int], changes: np.ndarray) -> np.ndarray:
    """The mean over the samples, which is returned, beside a line of order 2."""
    mean = changes.mean(axis=0)
    axes.loglog(sizes[:-1], mean, "o-", label=f"mean of {len(changes)} samples")
    slope_line(axes, sizes[:-1], mean[0] / 2, -2)
    return mean
