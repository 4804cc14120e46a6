"""Darcy flow: media and pressures; order 2 by manufactured solutions, order 1 by refinement."""

from itertools import pairwise

import numpy as np

from solver_page.study import Study, bands, bare, log_axes, new_figure, rates, slope_line, written
from supra.problems import Darcy, solve_darcy

LOW, HIGH = 3.0, 12.0


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_principles(study)
    study.time_samples(Darcy(study.pick(85, 421)))


def draw_samples(study: Study) -> None:
    problem = Darcy(study.pick(85, 421))
    samples = [problem.sample(index) for index in range(4)]
    figure = new_figure(10, 4.8)
    panels = figure.subplots(2, 4)
    top = max(sample["sol"].max() for sample in samples)
    for (above, below), sample in zip(panels.T, samples, strict=True):
        medium = above.imshow(sample["coeff"].T, origin="lower", cmap=bands("cividis", 2))
        pressure = below.imshow(
            sample["sol"].T, origin="lower", cmap=bands("viridis"), vmin=0, vmax=top
        )
        below.contour(sample["sol"].T, levels=8, colors="w", linewidths=0.5)
        bare(above)
        bare(below)
    bar = figure.colorbar(medium, ax=panels[0], ticks=[5.25, 9.75], shrink=0.8)
    bar.set_ticklabels(["3", "12"])
    bar.set_label("coefficient a")
    figure.colorbar(pressure, ax=panels[1], shrink=0.8).set_label("pressure u")
    study.save(figure, "samples")


def nodes(points: int) -> list[np.ndarray]:
    return np.meshgrid(*[np.linspace(0, 1, points)] * 2, indexing="ij")


def smooth_error(cells: int) -> float:
    """a = exp(x + y), u = sin πx sin 2πy: largest error."""
    x, y = nodes(cells + 1)
    a, p = np.exp(x + y), np.pi
    exact = np.sin(p * x) * np.sin(2 * p * y)
    slopes = p * np.cos(p * x) * np.sin(2 * p * y) + 2 * p * np.sin(p * x) * np.cos(2 * p * y)
    return float(np.abs(solve_darcy(a, a * (5 * p**2 * exact - slopes)) - exact).max())


def layered_error(cells: int) -> float:
    """Materials that meet at x = ½, half-way between nodes; u = v(x) sin πy, −(a v')' = 1."""
    x, y = nodes(cells)  # one node less: an odd number of cells
    left, right = 1 / LOW, 1 / HIGH
    flux = (left + 3 * right) / (4 * (left + right))
    v = np.where(x < 0.5, (flux * x - x**2 / 2) * left, ((1 - x**2) / 2 - flux * (1 - x)) * right)
    a = np.where(x < 0.5, LOW, HIGH)
    exact = v * np.sin(np.pi * y)
    found = solve_darcy(a, np.sin(np.pi * y) * (1 + np.pi**2 * a * v))
    return float(np.abs(found - exact).max() / exact.max())


def changes(seed: int, cells: tuple[int, ...]) -> list[float]:
    """Of one random medium: relative change of u from grid to grid, at the common nodes."""
    levels = [solve_darcy(Darcy(n + 1).coefficient(np.random.default_rng(seed))) for n in cells]
    return [
        float(np.linalg.norm(many[::2, ::2] - few) / np.linalg.norm(few))
        for few, many in pairwise(levels)
    ]


def draw_convergence(study: Study) -> None:
    cells = study.pick((16, 32, 64), (16, 32, 64, 128, 256, 512))
    exact = {
        "smooth coefficient": [smooth_error(n) for n in cells],
        "jump half-way between nodes": [layered_error(n) for n in cells],
    }
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    for name, errors in exact.items():
        left.loglog(cells, errors, "o-", label=name)
        study.row(f"Darcy, {name}: order", "2", written(-rates(errors, cells)))
    slope_line(left, cells, errors[0] / 2, -2)
    log_axes(left, "against exact solutions", "cells per side", "largest error, relative", cells)

    media = np.array([changes(seed, cells[1:]) for seed in range(study.pick(2, 6))])
    for one in media:
        right.loglog(cells[1:-1], one, "-", color="0.75", lw=1)
    mean = media.mean(axis=0)
    right.loglog(cells[1:-1], mean, "o-", color="C3", label=f"mean of {len(media)} media")
    slope_line(right, cells[1:-1], mean[0] / 2, -1)
    log_axes(
        right, "random media", "cells per side", "relative change of u on halving", cells[1:-1]
    )
    study.row(
        "Darcy, random media: order of the mean change", "1", written(-rates(mean, cells[1:-1]))
    )
    study.row(
        "Darcy, random media: last mean change",
        "–",
        f"{mean[-1]:.1e} from {cells[-2]} to {cells[-1]}",
    )
    study.save(figure, "convergence")


def print_principles(study: Study) -> None:
    problem = Darcy(study.pick(85, 421))
    medium = problem.coefficient(np.random.default_rng(7))
    u = solve_darcy(medium)
    neighbours = np.stack([u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]])
    held = (u[1:-1, 1:-1] > neighbours.min(axis=0)).mean()
    study.row("Darcy: inner nodes above their lowest neighbour", "all", f"{held:.0%}")
    study.row("Darcy: max u, at most 1/(12π)", f"{1 / (4 * np.pi * LOW):.5f}", f"{u.max():.5f}")
    flipped = solve_darcy(medium[::-1].T)
    study.row(
        "Darcy: flip and transpose, relative",
        "0",
        f"{np.abs(flipped - u[::-1].T).max() / u.max():.0e}",
    )
    outflow = 0.0
    for turns in range(4):
        a, v = np.rot90(medium, turns), np.rot90(u, turns)
        outflow += (2 / (1 / a[0] + 1 / a[1]) * v[1])[1:-1].sum()
    produced = (1 - 1 / (problem.resolution - 1)) ** 2
    study.row("Darcy: outflow over ∫f, minus 1", "0", f"{outflow / produced - 1:.0e}")
