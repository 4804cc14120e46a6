"""Transonic flow: grids, Mach numbers, shocks; the AGARD case by grid and far field, a wedge."""

import numpy as np
from matplotlib.axes import Axes

from solver_page.exact_gas import incompressible_pressure, karman_tsien, oblique_shock
from solver_page.study import Study, bands, finish, new_figure
from supra.problems import Airfoil, Solution
from supra.problems.cell_mesh import CellMesh
from supra.problems.gas import GAMMA, free_stream, mach_number

PLAIN = np.zeros(8)
THETA = np.array([0, 0.05, -0.03, 0.02, -0.05, 0.04, 0.01, -0.02])


def run(study: Study) -> None:
    draw_samples(study)
    draw_validation(study)
    print_laws(study)
    study.time_samples(usual(study))


def refined(times: float, **options: float) -> Airfoil:
    """The C-grid with so many times the default's cells."""
    cells = round(50 * times)
    return Airfoil(around=2 * round(60 * times), wake=cells, outwards=cells, **options)


def usual(study: Study, **options: float) -> Airfoil:
    return refined(study.pick(0.4, 1), **options)


# ---- samples --------------------------------------------------------------------------------


def pressure_coefficient(problem: Airfoil, sample: Solution) -> tuple[np.ndarray, np.ndarray]:
    """x and Cp along the profile, from the upper side's trailing edge to the lower one's."""
    wall = slice(problem.wake, problem.wake + problem.around + 1)
    return sample["X"][wall, 0], (sample["Q"][3, wall, 0] - 1) / (GAMMA / 2 * problem.mach**2)


def sonic(mach: float) -> float:
    """Cp where the flow is just sonic."""
    ratio = (1 + (GAMMA - 1) / 2 * mach**2) / ((GAMMA + 1) / 2)
    return (ratio ** (GAMMA / (GAMMA - 1)) - 1) / (GAMMA / 2 * mach**2)


def shock(problem: Airfoil, sample: Solution) -> float:
    """Where along the upper side the flow becomes subsonic for good."""
    x, cp = (
        values[: problem.around // 2 + 1][::-1] for values in pressure_coefficient(problem, sample)
    )
    k = np.flatnonzero(cp < sonic(problem.mach)).max()
    return float(np.interp(sonic(problem.mach), cp[k : k + 2], x[k : k + 2]))


def draw_grid(panel: Axes, sample: Solution) -> None:
    x, y = sample["X"], sample["Y"]
    panel.plot(x, y, "k", lw=0.3)
    panel.plot(x.T, y.T, "k", lw=0.3)


def draw_mach(panel: Axes, sample: Solution, top: float):
    x, y, mach = sample["X"], sample["Y"], sample["Q"][4]
    drawn = panel.pcolormesh(
        x, y, mach, shading="gouraud", cmap=bands("RdBu_r"), vmin=2 - top, vmax=top
    )
    panel.contour(x, y, mach, levels=[1.0], colors="k", linewidths=1)
    panel.contour(x, y, mach, levels=np.arange(0.5, 1.5, 0.05), colors="k", linewidths=0.25)
    return drawn


def draw_surface(panel: Axes, problem: Airfoil, sample: Solution) -> None:
    x, cp = pressure_coefficient(problem, sample)
    half = problem.around // 2 + 1
    panel.plot(x[:half], cp[:half], "C3.-", ms=3, lw=1, label="upper side")
    panel.plot(x[half - 1 :], cp[half - 1 :], "C0.-", ms=3, lw=1, label="lower side")
    panel.axhline(sonic(problem.mach), color="0.5", ls="--", lw=1, label="sonic")
    panel.set(ylim=(1.25, -1.6), xlabel="x / chord")
    panel.grid(alpha=0.3)


def draw_samples(study: Study) -> None:
    problem = usual(study)
    samples = [problem.sample(index) for index in range(3)]
    figure = new_figure(10, 7.2)
    panels = figure.subplots(3, 3, gridspec_kw={"height_ratios": [0.53, 0.85, 0.85]})
    for column, sample in zip(panels.T, samples, strict=True):
        draw_grid(column[0], sample)
        column[0].set(xlim=(-0.25, 1.25), ylim=(-0.4, 0.4), aspect="equal")
        drawn = draw_mach(column[1], sample, 1.5)
        column[1].set(xlim=(-0.5, 1.5), ylim=(-0.85, 0.85), aspect="equal")
        draw_surface(column[2], problem, sample)
        lift, drag = problem.lift_and_drag(sample)
        column[2].set_title(f"lift {lift:+.3f}, drag {drag:.4f}", fontsize=9)
    figure.colorbar(drawn, ax=panels[1], shrink=0.8, label="Mach number; thick line: 1")
    panels[2, 0].set_ylabel("pressure coefficient")
    panels[2, 0].legend(fontsize=8)
    panels[0, 0].set_ylabel("y / chord")
    panels[1, 0].set_ylabel("y / chord")
    study.save(figure, "samples")


# ---- validation -----------------------------------------------------------------------------


def draw_validation(study: Study) -> None:
    figure = new_figure(11, 7)
    (surface, grids, far), (potential, shocked, wedged) = figure.subplots(2, 3)
    draw_agard(study, surface, grids)
    draw_far_field(study, far)
    draw_subsonic(study, potential)
    draw_wedge(study, shocked, wedged)
    study.save(figure, "validation")


def agard(study: Study, times: float) -> tuple[Airfoil, Solution]:
    problem = refined(times, incidence=1.25, tolerance=1e-6)
    return problem, problem.flow(PLAIN)


def draw_agard(study: Study, surface: Axes, grids: Axes) -> None:
    """Mach 0.8, 1.25°: the surface's pressure and the forces by grid."""
    levels = study.pick((0.4, 0.8), (0.5, 1, 2))
    found = []
    for times in levels:
        problem, sample = agard(study, times)
        cells = f"{problem.around + 2 * problem.wake} × {problem.outwards}"
        surface.plot(*pressure_coefficient(problem, sample), lw=1, label=f"{cells} cells")
        lift, drag = problem.lift_and_drag(sample)
        found.append((lift, drag, shock(problem, sample)))
        said = f"lift {lift:.4f}, drag {drag:.4f}, shock at {found[-1][2]:.3f}"
        study.row(
            f"Airfoil, M = 0.8, 1.25°, {cells} cells", "0.35–0.36, 0.022–0.023, 0.60–0.65", said
        )
        plain = refined(times, tolerance=1e-6)
        still = plain.flow(PLAIN)
        said = f"drag {plain.lift_and_drag(still)[1]:.4f}, shock at {shock(plain, still):.3f}"
        study.row(f"Airfoil, M = 0.8, 0°, {cells} cells", "0.0083–0.0085", said)
    surface.axhline(sonic(0.8), color="0.5", ls="--", lw=1)
    surface.set_ylim(1.25, -1.4)
    spacing = 1 / np.array(levels)
    for k, (name, style) in enumerate({"lift": "o-", "10 × drag": "s-", "shock": "^-"}.items()):
        grids.plot(spacing, np.array(found)[:, k] * (10 if k == 1 else 1), style, label=name)
    grids.set(xlim=(0, None), ylim=(0, 0.8))
    finish(surface, "M = 0.8, 1.25°", "x / chord", "pressure coefficient")
    finish(grids, "M = 0.8, 1.25°: by grid", "spacing, relative to the data's grid", "")


def draw_far_field(study: Study, axes: Axes) -> None:
    """Lift by distance of the outer boundary; spacings near the profile stay as they are."""
    radii = study.pick((20, 40), (20, 40, 80, 160))
    lifts = []
    for radius in radii:
        cells = round(50 * np.sqrt(radius / 40) * study.pick(0.5, 1))
        around = study.pick(60, 120)
        problem = Airfoil(
            incidence=1.25, around=around, wake=cells, outwards=cells, radius=radius, tolerance=1e-6
        )
        lifts.append(problem.lift_and_drag(problem.flow(PLAIN))[0])
    axes.plot(1 / np.array(radii), lifts, "o-")
    axes.set_xlim(0, None)
    finish(axes, "M = 0.8, 1.25°: by far field", "chord / distance of the far field", "lift")
    said = ", ".join(f"{lift:.4f} ({radius})" for radius, lift in zip(radii, lifts, strict=True))
    study.row("Airfoil, M = 0.8, 1.25°: lift by far field (chords)", "–", said)


def draw_subsonic(study: Study, axes: Axes) -> None:
    """Mach 0.5 against panels with Kármán and Tsien's compressibility."""
    problem = usual(study, mach=0.5)
    x, cp = (
        v[: problem.around // 2 + 1][::-1]
        for v in pressure_coefficient(problem, problem.flow(PLAIN))
    )
    stations = np.linspace(0.02, 0.98, 97)
    expected = karman_tsien(incompressible_pressure(stations), 0.5)
    axes.plot(stations, expected, "k", lw=1, label="panels, Kármán–Tsien")
    axes.plot(x, cp, "C3.", ms=4, label="finite volumes")
    axes.set_ylim(1.2, -0.7)
    finish(axes, "M = 0.5, 0°", "x / chord", "pressure coefficient")
    middle = (stations > 0.1) & (stations < 0.9)
    gap = np.abs(np.interp(stations, x, cp) - expected)[middle].max()
    study.row(
        "Airfoil, M = 0.5, 0°: Cp from 10 to 90 % chord, largest difference", "0", f"{gap:.3f}"
    )
    stagnation = ((1 + 0.2 * 0.25) ** 3.5 - 1) / (GAMMA / 2 * 0.25)
    study.row("Airfoil, M = 0.5: Cp at the nose", f"{stagnation:.3f}", f"{cp.max():.3f}")


# ---- the wedge ------------------------------------------------------------------------------


def wedge_points(degrees: float, cells: int) -> np.ndarray:
    """A flat plate from x = −1/2 to 0, then a ramp to x = 1."""
    x = np.linspace(-0.5, 1, 3 * cells + 1)
    ramp = np.tan(np.deg2rad(degrees)) * np.clip(x, 0, None)
    t = np.linspace(0, 1, 2 * cells + 1)
    y = ramp[:, None] * (1 - t) + 1.2 * t
    return np.stack([np.broadcast_to(x[:, None], y.shape), y], axis=-1)


def draw_wedge(study: Study, shocked: Axes, wedged: Axes) -> None:
    from supra.problems.steady_euler import steady_flow

    mach, degrees = 2.0, 10.0
    angle, pressure, slower = oblique_shock(mach, degrees)
    for cells in study.pick((10, 20), (20, 40, 80)):
        points = wedge_points(degrees, cells)
        mesh = CellMesh.from_grid(points)
        flow = steady_flow(mesh, free_stream(mach), tolerance=1e-5)
        x, y = mesh.centres.T
        line = np.tan(np.deg2rad(degrees)) * x
        behind = (x > 0.3) & (x < 0.95) & (y < (np.tan(angle) * x + line) / 2)
        turned = np.rad2deg(np.arctan2(flow[behind, 2], flow[behind, 1]).mean())
        said = (
            f"{flow[behind, 3].mean():.4f}, {turned:.3f}°, {mach_number(flow[behind].T).mean():.4f}"
        )
        study.row(
            f"Wedge, M = 2, 10°, {3 * cells} × {2 * cells} cells: p, direction, Mach",
            f"{pressure:.4f}, 10°, {slower:.4f}",
            said,
        )
        grid = (3 * cells, 2 * cells)
        column = np.argmin(np.abs(x.reshape(grid)[:, 0] - 0.75))
        wedged.plot(
            y.reshape(grid)[column],
            flow[:, 3].reshape(grid)[column],
            ".-",
            ms=3,
            lw=1,
            label=f"{3 * cells} × {2 * cells}",
        )
    drawn = shocked.pcolormesh(
        points[..., 0], points[..., 1], flow[:, 3].reshape(grid), cmap=bands("viridis")
    )
    shocked.figure.colorbar(drawn, ax=shocked, label="pressure", shrink=0.8)
    shocked.plot([0, 1], [0, np.tan(angle)], "r--", lw=1, label="exact shock")
    shocked.set(title="wedge of 10° at M = 2", xlabel="x", ylabel="y", aspect="equal")
    at = x.reshape(grid)[column, 0]
    edge, low = np.tan(angle) * at, np.tan(np.deg2rad(degrees)) * at
    wedged.plot([low, edge, edge, 1.2], [pressure, pressure, 1, 1], "k--", lw=1, label="exact")
    wedged.set_xlim(low, 1.0)
    finish(wedged, "wedge: section at x = 0.75", "y", "pressure")
    shocked.legend(fontsize=8)


# ---- laws that hold on every grid -----------------------------------------------------------


def enthalpy_deviation(sample: Solution, mach: float = 0.8) -> np.ndarray:
    density, u, v, pressure, _ = sample["Q"]
    total = GAMMA / (GAMMA - 1) * pressure / density + (u**2 + v**2) / 2
    return np.abs(total / (GAMMA / (GAMMA - 1) + GAMMA / 2 * mach**2) - 1)


def print_laws(study: Study) -> None:
    from supra.problems.euler import residual

    problem = usual(study)
    mesh = CellMesh.from_grid(problem.grid.points(THETA), wake=problem.wake)
    free = free_stream(0.8, incidence=3.0)
    out = residual(mesh, np.tile(free, (len(mesh.areas), 1)), free)
    inside = np.abs(np.delete(out, mesh.wall[:, 0], axis=0)).max()
    study.row("Airfoil: residual of the free stream off the wall", "< 1e-11", f"{inside:.0e}")
    sample = problem.flow(PLAIN)
    mirrored = sample["Q"][:, ::-1] * np.array([1, 1, -1, 1, 1])[:, None, None]
    study.row(
        "Airfoil: symmetry of the plain profile", "0", f"{np.abs(sample['Q'] - mirrored).max():.0e}"
    )
    study.row("Airfoil: lift of the plain profile", "0", f"{problem.lift_and_drag(sample)[0]:.0e}")
    off = enthalpy_deviation(sample)
    study.row(
        "Airfoil, plain: total enthalpy, largest and root mean square", "< 1 %", _per_cent(off)
    )
    off = np.stack([enthalpy_deviation(s) for s in problem.generate(study.pick(1, 16))])
    said = f"{_per_cent(off)}; {(off > 0.01).sum()} of {off.size} nodes beyond 1 %"
    study.row(f"Airfoil, {len(off)} samples: total enthalpy", "< 1 %", said)


def _per_cent(off: np.ndarray) -> str:
    return f"{off.max():.2%}, {np.sqrt((off**2).mean()):.3%}"
