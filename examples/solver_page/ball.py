"""Deformed balls: samples cut open; order 2 against closed forms; maximum principle and balance."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from solver_page.refinement import distance, draw_changes, draw_orders, sample_changes
from solver_page.study import Study, bands, log_axes, new_figure
from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes
from supra.domain.interpolate import interpolation_matrix
from supra.experiment.canvas import Canvas
from supra.problems import Ball
from supra.problems.diffusion import solve_diffusion


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_identities(study)
    study.time_samples(Ball())


# ---- samples --------------------------------------------------------------------------------


def cut_ball(halvings: int) -> Mesh:
    """The surface of the unit ball without one octant: seven eighths of a sphere, three faces."""
    axis = {sign * (k + 1): sign * np.eye(3)[k] for k in range(3) for sign in (1, -1)}
    number = {key: place for place, key in enumerate(axis, 1)}  # 0 is the centre
    octants = [(a, b, c) for a in (1, -1) for b in (2, -2) for c in (3, -3)][1:]
    cells = [[number[key] for key in octant] for octant in octants]
    cells += [[0, number[a], number[b]] for a, b in ((1, 2), (2, 3), (3, 1))]
    mesh = Mesh(np.vstack([np.zeros(3), *axis.values()]), np.array(cells))
    for _ in range(halvings):
        mesh = mesh.refined()
    # Octahedra become spheres.
    size = np.linalg.norm(mesh.points, axis=1, keepdims=True)
    flat = np.abs(mesh.points).sum(axis=1, keepdims=True)
    return mesh.with_points(mesh.points * flat / np.where(size > 0, size, 1))


def draw_samples(study: Study) -> None:
    """On a finer mesh of the same body than the data's, so that the cut is smooth."""
    resolution = study.pick(6, 14)
    shown = cut_ball(study.pick(3, 5))
    samples = [Ball(resolution).sample(index) for index in range(4)]
    # Nodes have the same numbers in all bodies: what is in the ball, is where it went with them.
    moved = interpolation_matrix(shapes.ball(resolution), shown.points)
    figure = new_figure(10, 4.8)
    sources, solutions = figure.subplots(2, len(samples))
    spread = max(float(np.quantile(np.abs(sample["f"] - 1), 0.99)) for sample in samples)
    for source, solution, sample in zip(sources, solutions, samples, strict=True):
        canvas = brighter(Canvas.of(shown.with_points(moved @ sample["points"])))
        high = sample["u"].max()
        limits = (1 - spread, 1 + spread)
        given = canvas.draw(source, moved @ sample["f"], limits, bands("RdBu_r", 24))
        found = canvas.draw(solution, moved @ sample["u"] / high, (0, 1), bands("YlOrRd", 16))
        solution.set_title(f"largest u: {high:.2f}", fontsize=9)
    figure.colorbar(given, ax=sources, shrink=0.8, label="source f", format="%.2g")
    figure.colorbar(found, ax=solutions, shrink=0.8, label="u over its largest", format="%.2g")
    study.save(figure, "samples")


def brighter(canvas: Canvas) -> Canvas:
    """Less shadow, for colours on faces that the light hardly touches."""
    assert canvas.picture is not None
    shade = np.sqrt(canvas.picture.shade)
    return replace(canvas, picture=replace(canvas.picture, shade=shade))


# ---- convergence ----------------------------------------------------------------------------


def solved(mesh: Mesh, force: np.ndarray) -> np.ndarray:
    return solve_diffusion(mesh, np.ones(len(force)), force, mesh.boundary_nodes)


def uniform_error(resolution: int, half_axes: np.ndarray) -> float:
    """f = 1 in an ellipsoid: u = c (1 − x²/a² − y²/b² − z²/c²)."""
    ball = shapes.ball(resolution)
    mesh, squares = ball.with_points(half_axes * ball.points), half_axes**-2.0
    exact = (1 - mesh.points**2 @ squares) / (2 * squares.sum())
    return distance(mesh, solved(mesh, np.ones(len(exact))), exact)


def waved_error(resolution: int) -> float:
    """u = (1 − r²) eˣ in the unit ball."""
    mesh = shapes.ball(resolution)
    x, square = mesh.points[:, 0], (mesh.points**2).sum(axis=1)
    exact, force = (1 - square) * np.exp(x), (5 + 4 * x + square) * np.exp(x)
    return distance(mesh, solved(mesh, force), exact)


def draw_convergence(study: Study) -> None:
    sizes = study.pick((3, 6), (3, 6, 9, 15))
    found = {
        "ball, (1 − r²)/6": [uniform_error(n, np.ones(3)) for n in sizes],
        "ellipsoid, f = 1": [uniform_error(n, np.array([1.3, 0.8, 1.0])) for n in sizes],
        "ball, (1 − r²) exp x": [waved_error(n) for n in sizes],
    }
    figure = new_figure(9, 3.6)
    exact, random = figure.subplots(1, 2)
    draw_orders(study, exact, sizes, found, "shells")
    draw_random(study, random)
    study.save(figure, "convergence")


def draw_random(study: Study, axes: Axes) -> None:
    sizes, count = study.pick(((2, 4), 2), ((2, 3, 6, 12), 8))
    changes = draw_changes(axes, sizes, sample_changes(Ball, shapes.ball, sizes, count))
    log_axes(axes, "random bodies", "shells", f"u against {sizes[-1]} shells", sizes[:-1])
    said = ", ".join(f"{c:.1%} ({n})" for n, c in zip(sizes, changes, strict=False))
    study.row(f"Ball, samples against {sizes[-1]} shells", "–", said)


# ---- identities -----------------------------------------------------------------------------


def print_identities(study: Study) -> None:
    count = study.pick(3, 50)
    lowest, turned = np.inf, np.inf
    before = volumes(shapes.ball(6))
    for sample in Ball().generate(count):
        mesh = Mesh(sample["points"], sample["cells"])
        inside = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
        heated = solved(mesh, np.abs(sample["f"]))
        lowest = min(lowest, float(heated[inside].min() / heated.max()))
        turned = min(turned, float((volumes(mesh) / before).min()))
    study.row(
        f"Ball, {count} samples heated only: least u inside over the largest",
        "> 0",
        f"{lowest:.1e}",
    )
    study.row(
        f"Ball, {count} samples: least volume of a cell over that in the ball",
        "> 0",
        f"{turned:.2f}",
    )
    load = mass_matrix(mesh) @ sample["f"]
    reaction = stiffness_matrix(mesh) @ sample["u"] - load
    outflow = reaction[mesh.boundary_nodes].sum()
    study.row("Ball: heat out minus ∫f", "0", f"{abs(outflow + load.sum()):.0e}")
    study.row("Ball: residual inside", "0", f"{np.abs(reaction[inside]).max():.0e}")


def volumes(mesh: Mesh) -> np.ndarray:
    """Of the cells, with a sign."""
    corners = mesh.points[mesh.cells]
    return np.linalg.det(corners[:, 1:] - corners[:, :1])
