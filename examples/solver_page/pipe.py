"""Pipe flow: velocity and streamlines; orders 3 and 2, the flux, refinement."""

import numpy as np
from scipy.integrate import cumulative_simpson, simpson

from solver_page.study import Study, bands, finish, log_axes, new_figure, rates, slope_line, written
from supra.problems import Pipe
from supra.problems.incompressible import Flow, solve_channel_flow
from supra.problems.pipe import CentreLine

VISCOSITY = 0.05  # of the manufactured flow
LEVEL = CentreLine(np.array([0, 0.8, -0.3, 0.4, 0.4]), np.array([0, 0.2, 0, 0.1, 0.0]))


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_laws(study)
    study.time_samples(Pipe(study.pick(33, 129)))


def random_line(seed: int) -> CentreLine:
    return CentreLine.random(np.random.default_rng(seed))


def draw_samples(study: Study) -> None:
    problem = Pipe(study.pick(33, 129))
    figure = new_figure(10, 5)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    samples = [problem.sample(index) for index in range(4)]
    fastest = max(sample["Q"][0].max() for sample in samples)
    for panel, sample in zip(panels.flat, samples, strict=True):
        x, y, u = sample["X"], sample["Y"], sample["Q"][0]
        drawn = panel.pcolormesh(x, y, u, shading="gouraud", cmap=bands("viridis"))
        drawn.set_clim(-0.1, fastest)
        stream = cumulative_simpson(u, dx=1 / (len(u) - 1), axis=1, initial=0)
        inside = np.linspace(0, 2 / 3, 9)[1:-1]
        panel.contour(x, y, stream, levels=inside, colors="w", linewidths=0.5)
        dividing = (-1e-4, 2 / 3 + 1e-4)  # between the flow and its eddies
        panel.contour(x, y, stream, levels=dividing, colors="r", linewidths=1, linestyles="-")
        for wall in (0, -1):
            panel.plot(x[:, wall], y[:, wall], "k", lw=1)
        panel.set_aspect("equal")
        panel.set_title(f"reversed flow at {np.mean(u < -1e-6):.0%} of the nodes", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("x")
    for panel in panels[:, 0]:
        panel.set_ylabel("y")
    figure.colorbar(drawn, ax=panels, shrink=0.7, label="u_x")
    study.save(figure, "samples")


def bent(nodes: int) -> np.ndarray:
    """A curved grid with a straight outlet at x = 1."""
    x, y = np.meshgrid(*[np.linspace(0, 1, nodes)] * 2, indexing="ij")
    return np.stack([x + 0.1 * np.sin(np.pi * x) * y, y + 0.2 * np.sin(3 * x)], axis=-1)


def manufactured(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stream function f(x) g(y), free of forces at x = 1: velocity, pressure, and the force."""
    x, y = np.moveaxis(points, -1, 0)
    f, f1, f2, f3 = 1 + (1 - x) ** 3, -3 * (1 - x) ** 2, 6 * (1 - x), -6 + 0 * x
    g, g1, g2, g3 = np.sin(2 * y) + y, 2 * np.cos(2 * y) + 1, -4 * np.sin(2 * y), -8 * np.cos(2 * y)
    u, v = f * g1, -f1 * g
    force_x = u * f1 * g1 + v * f * g2 - np.cos(3 * y) - VISCOSITY * (f2 * g1 + f * g3)
    force_y = -u * f2 * g - v * f1 * g1 - 3 * (1 - x) * np.sin(3 * y)
    force_y += VISCOSITY * (f3 * g + f1 * g2)
    return np.stack([u, v]), (1 - x) * np.cos(3 * y), np.stack([force_x, force_y])


def between_nodes(values: np.ndarray) -> np.ndarray:
    """Biquadratic functions on the elements, at four points per axis inside each."""
    t = np.array([0.1, 0.35, 0.6, 0.85])
    weights = np.stack([(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)])
    windows = np.lib.stride_tricks.sliding_window_view(values, (3, 3), axis=(-2, -1))
    return np.einsum("...ij,ip,jq->...pq", windows[..., ::2, ::2, :, :], weights, weights)


def manufactured_errors(nodes: int) -> tuple[float, float]:
    """Root mean squares of velocity and pressure, between the nodes."""
    points = bent(nodes)
    held, _, force = manufactured(points)
    flow = solve_channel_flow(points, held, VISCOSITY, force)
    places = np.moveaxis(between_nodes(np.moveaxis(points, -1, 0)), 0, -1)
    velocity, pressure, _ = manufactured(places)
    u, p = between_nodes(flow.velocity) - velocity, between_nodes(flow.pressure) - pressure
    return float(np.sqrt((u**2).mean())), float(np.sqrt((p**2).mean()))


def differences(line: CentreLine, grids: tuple[int, ...]) -> np.ndarray:
    """Of u_x and p on each grid to those on the last: relative, at the common nodes."""
    flows = [Pipe(nodes).flow(line) for nodes in grids]
    fine = stacked(flows[-1])
    found = []
    for flow in flows[:-1]:
        coarse = stacked(flow)
        step = (fine.shape[1] - 1) // (coarse.shape[1] - 1)
        seen = fine[:, ::step, ::step]
        found.append(np.linalg.norm(coarse - seen, axis=(1, 2)) / np.linalg.norm(seen, axis=(1, 2)))
    return np.array(found)


def stacked(flow: Flow) -> np.ndarray:
    return np.stack([flow.velocity[0], flow.pressure])


def flux(velocity: np.ndarray) -> np.ndarray:
    """Through every section; Simpson's rule is exact for the elements."""
    return simpson(velocity[0], dx=1 / (velocity.shape[2] - 1), axis=1)


def draw_convergence(study: Study) -> None:
    figure = new_figure(11, 3.6)
    made, curved, section = figure.subplots(1, 3)
    nodes = study.pick((9, 17, 33), (9, 17, 33, 65, 129))
    cells = np.array(nodes) - 1
    errors = np.array([manufactured_errors(n) for n in nodes])
    for k, (name, order) in enumerate({"velocity": 3, "pressure": 2}.items()):
        made.loglog(cells, errors[:, k], "o-", label=name)
        slope_line(made, cells, errors[0, k] / 3, -order)
        study.row(
            f"Pipe, manufactured {name}: order", f"{order}", written(-rates(errors[:, k], cells))
        )
    log_axes(made, "manufactured flow", "cells per side", "root mean square error", cells)

    grids = study.pick((9, 17, 33), (33, 65, 129, 257))
    for name, style, line in (("level", "o-", LEVEL), ("random", "s--", random_line(0))):
        left = differences(line, grids)
        for k, field in enumerate(("u_x", "p")):
            label = f"{name} outlet, {field}"
            curved.loglog(np.array(grids[:-1]) - 1, left[:, k], style, color=f"C{k}", label=label)
            said = ", ".join(f"{value:.1e}" for value in left[:, k])
            study.row(f"Pipe, {label}: {grids[:-1]} against {grids[-1]} nodes", "–", said)
    spacing = np.array(grids[:-1]) - 1
    log_axes(curved, "curved pipes", "cells per side", "relative difference to the finest", spacing)
    draw_flux(study, section)
    study.save(figure, "convergence")


def draw_flux(study: Study, axes) -> None:
    worst = 0.0
    for seed in range(3):
        through = np.abs(flux(Pipe(study.pick(33, 129)).flow(random_line(seed)).velocity) * 1.5 - 1)
        axes.semilogy(
            np.linspace(0, 10, len(through)), through + 1e-17, label=f"random pipe {seed}"
        )
        worst = max(worst, through.max())
    axes.axhline(1e-4, color="0.6", ls="--", lw=1)
    axes.set_ylim(1e-17, 1e-3)
    finish(axes, "flux through the sections", "x", "|flux / inflow − 1|")
    study.row("Pipe: flux through any section, relative deviation", "< 1e-4", f"{worst:.0e}")


def print_laws(study: Study) -> None:
    straight = CentreLine(np.full(5, 0.7), np.zeros(5))
    pipe = Pipe(33)
    flow, points = pipe.flow(straight), pipe.points(straight)
    velocity = 1 - 4 * (points[..., 1] - 0.7) ** 2
    pressure = 8 * pipe.viscosity * (10 - points[..., 0])
    study.row(
        "Pipe, straight: error of u_x", "0", f"{np.abs(flow.velocity[0] - velocity).max():.0e}"
    )
    study.row("Pipe, straight: error of p", "0", f"{np.abs(flow.pressure - pressure).max():.0e}")
    line = random_line(1)
    up, down = (
        stacked(Pipe(65).flow(centre)) for centre in (line, CentreLine(-line.heights, -line.slopes))
    )
    study.row("Pipe: mirror image", "0", f"{np.abs(up - down[:, :, ::-1]).max():.0e}")
    walls = np.abs(Pipe(65).flow(line).velocity[:, :, [0, -1]]).max()
    study.row("Pipe: velocity at the walls", "0", f"{walls:g}")
