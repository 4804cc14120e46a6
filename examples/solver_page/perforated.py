"""Plates with holes: random plates and fields; order 2 by a manufactured solution."""

import numpy as np
from matplotlib.tri import Triangulation

from solver_page.study import Study, bare, log_axes, new_figure, rates, slope_line, written
from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes
from supra.problems import PerforatedPlate
from supra.problems.diffusion import solve_diffusion


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_balance(study)
    study.time_samples(PerforatedPlate())
    study.time_samples(PerforatedPlate(geometry="each"))


def draw_samples(study: Study) -> None:
    problem = PerforatedPlate(geometry="each")
    figure = new_figure(9, 6.2)
    panels = figure.subplots(3, 4)
    samples = [problem.sample(index) for index in range(4)]
    kinds = {"a": ("cividis", "conductivity a"), "f": ("RdBu_r", "source f"), "u": ("inferno", "u")}
    for row, (key, (colours, label)) in zip(panels, kinds.items(), strict=True):
        low = min(sample[key].min() for sample in samples)
        high = max(sample[key].max() for sample in samples)
        low, high = (-high, high) if key == "f" else (low, high)
        for panel, sample in zip(row, samples, strict=True):
            triangles = Triangulation(*sample["points"].T, sample["cells"])
            drawn = panel.tricontourf(
                triangles, sample[key], levels=np.linspace(low, high, 21), cmap=colours
            )
            if key == "a":
                panel.triplot(triangles, color="w", lw=0.2, alpha=0.6)
            if key == "u":
                panel.tricontour(triangles, sample[key], levels=12, colors="w", linewidths=0.4)
            bare(panel)
            panel.set_axis_off()
        figure.colorbar(drawn, ax=row, shrink=0.9, label=label, format="%.2g")
    study.save(figure, "samples")


def distance(mesh: Mesh, found: np.ndarray, exact: np.ndarray) -> float:
    away = found - exact
    return float(np.sqrt(away @ mass_matrix(mesh) @ away))


def manufactured_error(mesh: Mesh) -> float:
    """u = sin(πx) cos(2y), a = 1 + xy, u held on all boundaries; norm of L²."""
    x, y = mesh.points.T
    p = np.pi
    exact, a = np.sin(p * x) * np.cos(2 * y), 1 + x * y
    u_x, u_y = p * np.cos(p * x) * np.cos(2 * y), -2 * np.sin(p * x) * np.sin(2 * y)
    force = -(y * u_x + x * u_y) + a * (p**2 + 4) * exact
    held = mesh.boundary_nodes
    return distance(mesh, solve_diffusion(mesh, a, force, held, exact[held]), exact)


def annulus_error(mesh: Mesh) -> float:
    """Between radii ½ and 1, the inner one free: u = (1 − r²)/4 + ⅛ log r; norm of L²."""
    r = np.linalg.norm(mesh.points, axis=1)
    one, held = np.ones(len(r)), np.unique(mesh.boundaries["outer"])
    exact = (1 - r**2) / 4 + np.log(r) / 8
    return distance(mesh, solve_diffusion(mesh, one, one, held), exact)


def draw_convergence(study: Study) -> None:
    cells = study.pick((12, 24), (12, 24, 48, 96))
    found = {
        "plate with holes, u held": [manufactured_error(shapes.perforated_plate(n)) for n in cells],
        "annulus, inner edge free": [annulus_error(shapes.annulus(n)) for n in cells],
    }
    figure = new_figure(5, 3.6)
    axes = figure.subplots()
    for name, errors in found.items():
        axes.loglog(cells, errors, "o-", label=name)
        study.row(f"Plate, {name}: order", "2", written(-rates(errors, cells)))
    slope_line(axes, cells, errors[0] / 2, -2)
    log_axes(axes, "against exact solutions", "cells per side", "error in L²", cells)
    study.save(figure, "convergence")


def print_balance(study: Study) -> None:
    problem = PerforatedPlate(geometry="each")
    sample = problem.sample(0)
    mesh = Mesh(sample["points"], sample["cells"])
    load = mass_matrix(mesh) @ sample["f"]
    reaction = stiffness_matrix(mesh, sample["a"]) @ sample["u"] - load
    edge = np.isclose(np.abs(mesh.points - 0.5).max(axis=1), 0.5)
    study.row("Plate: flux out minus ∫f", "0", f"{abs(reaction[edge].sum() + load.sum()):.0e}")
    study.row("Plate: residual at free nodes", "0", f"{np.abs(reaction[~edge]).max():.0e}")
