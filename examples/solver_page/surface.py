"""Deformed spheres and tori: samples; order 2 on sphere, torus and ellipsoid; balances."""

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial.transform import Rotation

from solver_page.refinement import distance, draw_changes, draw_orders, sample_changes
from solver_page.study import Study, bands, log_axes, new_figure
from supra.basis import SphericalHarmonicBasis
from supra.basis.fem import mass_matrix, stiffness_matrix
from supra.domain import Mesh, shapes
from supra.experiment.canvas import Canvas
from supra.problems import Surface
from supra.problems.surface import solve_screened


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_identities(study)
    study.time_samples(Surface())
    study.time_samples(Surface(resolution=8, shape="torus"))


# ---- samples --------------------------------------------------------------------------------


def draw_samples(study: Study) -> None:
    """The source on the mesh of the data, the solution on a finer one of the same surface."""
    shown = [
        ("sphere", 10, 0),
        ("sphere", 10, 1),
        ("sphere", 10, 2),
        ("torus", 8, 0),
        ("torus", 8, 1),
    ]
    samples, fine = (
        [Surface(factor * n, shape).sample(index) for shape, n, index in shown]
        for factor in (1, study.pick(1, 3))
    )
    figure = new_figure(11, 4.6)
    rows = figure.subplots(2, len(shown))
    for row, key, label, drawn in zip(
        rows, "fu", ("source f", "solution u"), (samples, fine), strict=True
    ):
        high = max(float(np.quantile(np.abs(sample[key]), 0.995)) for sample in drawn)
        for axes, sample in zip(row, drawn, strict=True):
            mesh = Mesh(sample["points"], sample["cells"])
            scale = Canvas.of(mesh).draw(axes, sample[key], (-high, high), bands("RdBu_r", 24))
            if key == "f":
                show_edges(axes)
        figure.colorbar(scale, ax=row, shrink=0.8, label=label, format="%.2g")
    study.save(figure, "samples")


def show_edges(axes: Axes) -> None:
    axes.collections[0].set(edgecolor=(0, 0, 0, 0.35), linewidth=0.25)


# ---- convergence ----------------------------------------------------------------------------


def solution_error(mesh: Mesh, exact: np.ndarray, force: np.ndarray) -> float:
    return distance(mesh, solve_screened(mesh, force), exact)


def harmonic_error(resolution: int, degree: int) -> float:
    """−Δ Y = l(l + 1) Y on the unit sphere, with an order m = 1."""
    mesh = shapes.sphere(resolution)
    sampled = SphericalHarmonicBasis(degree).sample(mesh, defect="keep")
    exact = sampled.values[:, degree**2 + degree + 1].double().numpy()
    return solution_error(mesh, exact, (degree * (degree + 1) + 1) * exact)


def torus_error(resolution: int, minor: float = 0.4) -> float:
    """u = cos 2φ sin θ; the metric is r² dθ² + (1 + r cos θ)² dφ²."""
    mesh = shapes.torus(resolution, minor=minor)
    x, y, z = mesh.points.T
    phi, theta = np.arctan2(y, x), np.arctan2(z, np.hypot(x, y) - 1)
    ring = 1 + minor * np.cos(theta)
    exact = np.cos(2 * phi) * np.sin(theta)
    slope = np.cos(2 * phi) * np.cos(theta)
    laplacian = -4 * exact / ring**2 - exact / minor**2 - np.sin(theta) * slope / (minor * ring)
    return solution_error(mesh, exact, exact - laplacian)


def ellipsoid_error(resolution: int) -> float:
    """u = z: −Δ z = 2H n_z with the mean curvature H and the normal n."""
    axes, sphere = np.array([1.3, 0.8, 1.0]), shapes.sphere(resolution)
    mesh = sphere.with_points(axes * sphere.points)
    slope, bend = 2 * mesh.points / axes**2, 2 / axes**2
    size = np.linalg.norm(slope, axis=1)
    normal = slope / size[:, None]
    twice_curvature = (bend.sum() - normal**2 @ bend) / size
    exact = mesh.points[:, 2]
    return solution_error(mesh, exact, exact + twice_curvature * normal[:, 2])


def draw_convergence(study: Study) -> None:
    sizes = study.pick((5, 10), (5, 10, 20, 40))
    found = {
        "sphere, l = 1": [harmonic_error(n, 1) for n in sizes],
        "sphere, l = 4": [harmonic_error(n, 4) for n in sizes],
        "torus": [torus_error(n) for n in sizes],
        "ellipsoid": [ellipsoid_error(n) for n in sizes],
    }
    figure = new_figure(9, 3.6)
    exact, random = figure.subplots(1, 2)
    draw_orders(study, exact, sizes, found, "resolution")
    draw_random(study, random)
    study.save(figure, "convergence")


def draw_random(study: Study, axes: Axes) -> None:
    sizes, count = study.pick(((4, 8, 16), 2), ((5, 10, 20, 40, 80), 8))
    changes = draw_changes(axes, sizes, sample_changes(Surface, shapes.sphere, sizes, count))
    log_axes(axes, "random surfaces", "resolution", f"u against {sizes[-1]}", sizes[:-1])
    said = ", ".join(f"{c:.2%} ({n})" for n, c in zip(sizes, changes, strict=False))
    study.row(f"Surface, samples against resolution {sizes[-1]}", "–", said)


# ---- identities -----------------------------------------------------------------------------


def print_identities(study: Study) -> None:
    sample = Surface().sample(0)
    mesh = Mesh(sample["points"], sample["cells"])
    f, u, mass = sample["f"], sample["u"], mass_matrix(mesh)
    study.row("Surface: ∫u − ∫f", "0", f"{abs((mass @ (u - f)).sum()):.0e}")
    residual = np.abs(stiffness_matrix(mesh) @ u + mass @ (u - f)).max()
    study.row("Surface: residual", "0", f"{residual:.0e}")
    one = np.ones(len(u))
    study.row("Surface: f = 1, u off 1", "0", f"{np.abs(solve_screened(mesh, one) - 1).max():.0e}")
    turned = mesh.with_points(mesh.points @ Rotation.random(rng=0).as_matrix().T)
    study.row(
        "Surface: rotated, change of u", "0", f"{np.abs(solve_screened(turned, f) - u).max():.0e}"
    )
    g = np.random.default_rng(0).normal(size=len(u))
    gap = g @ mass @ u - f @ mass @ solve_screened(mesh, g)
    study.row("Surface: ∫g·S f − ∫f·S g", "0", f"{abs(gap):.0e}")
