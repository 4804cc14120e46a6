"""Forging: deformed meshes and plastic strain; a bar's closed form, refinement, energy, speed."""

from math import sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection

from solver_page.study import Study, bands, finish, log_axes, new_figure, slope_line
from supra.problems import Plasticity
from supra.problems.die import Die
from supra.problems.elastoplastic import Material, moduli, plastic_multiplier
from supra.problems.forging import Forging, forge
from supra.problems.sheet import Sheet, set_forces

LENGTH, HEIGHT = 50.0, 15.0  # mm
STEEL = Material()


def run(study: Study) -> None:
    draw_samples(study)
    draw_validation(study)
    print_laws(study)
    study.time_samples(Plasticity(study.pick(6, 30)), 3)


def sample_die(problem: Plasticity, index: int) -> Die:
    """The die of a training sample of seed 0, as `Problem.sample` draws it."""
    return problem.die(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, index))))


# ---- samples --------------------------------------------------------------------------------


def draw_block(panel: Axes, places: np.ndarray, values: np.ndarray, scale: ScalarMappable) -> None:
    """Elements in their colours, and every fifth line of the mesh."""
    corners = [places[:-1, :-1], places[1:, :-1], places[1:, 1:], places[:-1, 1:]]
    quads = np.stack([corner.reshape(-1, 2) for corner in corners], axis=1)
    colours = scale.to_rgba(values.ravel())
    panel.add_collection(PolyCollection(quads, facecolors=colours, edgecolors=colours, lw=0.3))
    every = max((places.shape[1] - 1) // 6, 1)
    lines = [*places[::every], *places[:, ::every].transpose(1, 0, 2)]
    panel.add_collection(LineCollection(lines, colors="k", linewidths=0.25))


def draw_die(panel: Axes, die: Die, travel: float) -> None:
    x = np.linspace(-6, LENGTH + 6, 300)
    panel.fill_between(x, die.profile(x) - travel, 21, color="0.75", lw=0)
    panel.plot(x, die.profile(x) - travel, color="0.3", lw=0.8)
    panel.set(xlim=(-6, LENGTH + 6), ylim=(-0.3, 19.5), aspect="equal")


def element_means(nodal: np.ndarray) -> np.ndarray:
    return (nodal[:-1, :-1] + nodal[1:, :-1] + nodal[1:, 1:] + nodal[:-1, 1:]) / 4


def plastic_strain(problem: Plasticity, result: Forging) -> np.ndarray:
    """α by element, the mean of its Gauss points."""
    nx, ny = problem.cells
    return result.sheet.plastic()[..., 3].mean(axis=1).reshape(ny, nx).T


def draw_samples(study: Study) -> None:
    problem = Plasticity(study.pick(6, 30))
    nx, ny = problem.cells
    start = Sheet.from_rectangle(LENGTH, HEIGHT, (nx, ny), STEEL.density).grid
    moved = ScalarMappable(cmap=bands("viridis", 24))
    moved.set_clim(0, 6)
    strained = ScalarMappable(cmap=bands("inferno", 20))
    strained.set_clim(0, 1.0)
    figure = new_figure(11, 6.2)
    panels = figure.subplots(4, 3, sharex=True, sharey=True)
    for number, column in enumerate(panels.T):
        die = sample_die(problem, number)
        result = problem.forge(die)
        for panel, step in zip(column, (5, 10, 20, 20), strict=True):
            places = result.positions[:, :, step - 1]
            travel = problem.travel * step / problem.steps
            draw_die(panel, die, travel)
            if panel is column[-1]:
                draw_block(panel, places, plastic_strain(problem, result), strained)
                continue
            length = np.linalg.norm(places - start, axis=-1)
            draw_block(panel, places, element_means(length), moved)
            panel.set_title(f"step {step}: die {travel:g} mm down", fontsize=8)
        column[-1].set_xlabel("x, mm")
        strain = result.sheet.plastic()[..., 3]
        column[-1].set_title(f"step 20: α up to {strain.max():.2f}", fontsize=8)
    figure.colorbar(moved, ax=panels[:3], shrink=0.6, label="|displacement|, mm")
    figure.colorbar(strained, ax=panels[3], shrink=0.95, label="α")
    study.save(figure, "samples")


# ---- validation -----------------------------------------------------------------------------


def draw_validation(study: Study) -> None:
    figure = new_figure(11, 7)
    (bar, mesh, force), (balance, speed, wave) = figure.subplots(2, 3)
    draw_bar(study, bar)
    draw_refinement(study, mesh, force)
    draw_energy(study, balance)
    draw_speed(study, speed)
    draw_wave(study, wave)
    study.save(figure, "validation")


def draw_bar(study: Study, axes: Axes) -> None:
    """A bar pressed to −0.4 of logarithmic strain: Kirchhoff's stress from the mesh's forces."""
    E, nu, strength, H, _ = STEEL
    bar = Sheet.from_rectangle(1.0, 10.0, (2, 20), STEEL.density)
    start, law = bar.position.copy(), moduli(STEEL)
    strains = np.concatenate([np.linspace(0, 5e-4, 6)[1:], np.linspace(5e-4, 0.4, 30)[1:]])
    found, exact = [], []
    for strain in strains:
        alpha = max((E * strain - strength) / (E + H), 0.0)
        stress = min(E * strain, strength + H * alpha)
        across = nu * stress / E + alpha / 2
        bar.position[:] = np.exp([[across], [-strain]]) * start
        set_forces(bar, law)
        found.append(bar.force[1].reshape(21, 3)[-1].sum() * np.exp(-strain))
        exact.append(stress)
    axes.plot(strains, exact, "k", lw=1, label="closed form")
    axes.plot(strains, found, "C3.", ms=5, label="elements")
    finish(axes, "pressed bar", "logarithmic strain", "stress, MPa")
    error = np.abs(np.array(found) / exact - 1).max()
    study.row("Plasticity, bar to strain 0.4: stress, relative error", "0", f"{error:.0e}")


def pressed(resolution: int, **options: float) -> Forging:
    """Sample 0 on another mesh, or with other options."""
    problem = Plasticity(resolution=resolution, **options)
    return problem.forge(sample_die(problem, 0))


def displacement_gap(coarse: Forging, fine: Forging) -> float:
    """Relative, over all output times, at the 11 × 4 nodes that every mesh has."""
    ours, theirs = (
        r.positions[:: r.sheet.cells[1] // 3, :: r.sheet.cells[1] // 3] for r in (coarse, fine)
    )
    x, y = np.linspace(0, LENGTH, 11), np.linspace(0, HEIGHT, 4)
    start = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)[:, :, None]
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs - start))


def draw_refinement(study: Study, mesh: Axes, force: Axes) -> None:
    meshes = study.pick((3, 6, 9), (6, 12, 18, 30, 48))
    results = [pressed(n) for n in meshes]
    gaps = [displacement_gap(result, results[-1]) for result in results[:-1]]
    mesh.loglog(meshes[:-1], gaps, "o-", label=f"against {meshes[-1]}")
    slope_line(mesh, meshes[:-1], 1.4 * gaps[0], -1)
    log_axes(
        mesh,
        "by mesh, sample 0",
        "elements across the height",
        "displacements, relative",
        meshes[:-1],
    )
    said = ", ".join(f"{gap:.2%} ({n})" for n, gap in zip(meshes, gaps, strict=False))
    study.row(f"Plasticity, sample 0: displacements against {meshes[-1]} elements", "–", said)
    compare_forces(force, results, [f"{n} elements" for n in meshes])
    finish(
        force, "by mesh, sample 0", "travel of the die, mm", f"force, % off {meshes[-1]} elements"
    )
    last = ", ".join(
        f"{result.work[-1] / 1e3:.3f} ({n})" for n, result in zip(meshes, results, strict=True)
    )
    study.row("Plasticity, sample 0: work of the die, J per mm of thickness", "–", last)


def compare_forces(axes: Axes, results: list[Forging], labels: list[str]) -> None:
    """The die's force, in per cent of the last result's, from it."""
    travel = 6 * (np.arange(20) + 0.5) / 20
    for result, label in zip(results[:-1], labels, strict=False):
        off = 100 * (result.force / results[-1].force - 1)
        axes.plot(travel, off, ".-", label=label)
    axes.set_yscale("symlog", linthresh=1)


def draw_energy(study: Study, axes: Axes) -> None:
    result = pressed(study.pick(6, 30))
    travel = 6 * np.arange(1, 21) / 20
    kinetic, elastic, plastic = result.energy.T / 1e3
    axes.semilogy(travel, result.work / 1e3, "k", lw=3, alpha=0.3, label="work of the die")
    axes.semilogy(travel, plastic, "C3", label="plastic work")
    axes.semilogy(travel, elastic, "C0", label="elastic energy")
    axes.semilogy(travel, kinetic, "C2", label="kinetic energy")
    finish(axes, "energy, sample 0", "travel of the die, mm", "J per mm of thickness")
    gap = np.abs(result.energy.sum(axis=1) / result.work - 1)
    study.row(
        "Plasticity: work minus all energies, relative: largest, last",
        "0",
        f"{gap.max():.1e}, {gap[-1]:.1e}",
    )
    share = result.energy[:, 0] / result.work
    study.row(
        "Plasticity: kinetic energy over work: at step 2, at the end",
        "small",
        f"{share[1]:.1e}, {share[-1]:.1e}",
    )
    least = np.diff(result.energy[:, 2], prepend=0).min()
    study.row("Plasticity: least plastic work in a step, J/mm", "> 0", f"{least / 1e3:.1e}")
    study.row("Plasticity: least force of the die, kN/mm", "≥ 0", f"{result.force.min() / 1e3:.2f}")
    print_contact(study, result)


def print_contact(study: Study, result: Forging) -> None:
    problem = Plasticity()
    die = sample_die(problem, 0)
    travel = problem.travel * np.arange(1, 21) / 20
    depth = [
        (places[..., 1] - die.profile(places[..., 0]) + down).max()
        for places, down in zip(np.moveaxis(result.positions, 2, 0), travel, strict=True)
    ]
    study.row("Plasticity: deepest node inside the die, mm", "0", f"{max(max(depth), 0):.0e}")
    lowest = result.positions[..., 1].min()
    study.row("Plasticity: lowest node, mm above the clamped bottom", "≥ 0", f"{lowest:.2f}")
    strains = [r.sheet.plastic()[..., 3] for r in (pressed(study.pick(3, 15)), result)]
    said = ", ".join(f"{alpha.max():.2f} and {np.quantile(alpha, 0.99):.2f}" for alpha in strains)
    oracle = "Plasticity, sample 0: largest α and its 99 % quantile; half and full resolution"
    study.row(oracle, "–", said)


def draw_speed(study: Study, axes: Axes) -> None:
    """Is it slow enough to be equilibrium? The same at fractions of the speed."""
    ny = study.pick(6, 15)
    speeds = study.pick((3.0, 1.5), (6.0, 3.0, 1.5, 0.75))
    results = [pressed(ny, speed=speed) for speed in speeds]
    compare_forces(axes, results, [f"{speed:g} m/s" for speed in speeds])
    title = f"by speed, {ny} elements"
    finish(axes, title, "travel of the die, mm", f"force, % off {speeds[-1]:g} m/s")
    gaps = [
        f"{displacement_gap(r, results[-1]):.2%} ({s:g})"
        for s, r in zip(speeds, results[:-1], strict=False)
    ]
    study.row(f"Plasticity: displacements against {speeds[-1]:g} m/s", "–", ", ".join(gaps))


def draw_wave(study: Study, axes: Axes) -> None:
    """A die hits a slender bar: elastic, then plastic wave; stress on the die against theory."""
    metal = Material(hardening=20e3)
    E, H, strength, density = metal.young, metal.hardening, metal.strength, metal.density
    length, speed = 40.0, 3000.0
    tangent = E * H / (E + H)
    expected = strength + sqrt(tangent * density) * (speed - strength / sqrt(E * density))
    times = np.linspace(0, 0.9, 61)[1:] * 2 * length / sqrt(E / density)
    for cells in study.pick((40,), (40, 160)):
        bar = Sheet.from_rectangle(0.5, length, (2, cells), density)
        die = Die.from_knots(np.full(2, length), -1.0, 2.0)
        stress = forge(bar, die, speed, times, metal).force / 0.5
        axes.plot(times * 1e6, stress, lw=1, label=f"{cells} elements")
    mean = stress[len(stress) // 3 :].mean()
    axes.axhline(expected, color="k", ls="--", lw=1, label="two waves, exact")
    finish(axes, "a bar that is hit, H = 20 GPa", "time, µs", "stress under the die, MPa")
    study.row("Plasticity, bar hit at 3 m/s: stress, MPa", f"{expected:.2f}", f"{mean:.2f}")


def print_laws(study: Study) -> None:
    law, worst = moduli(STEEL), 0.0
    for angle in np.linspace(0, np.pi / 2, 19):
        for over in (1.0001, 1.1, 2, 5, 20, 100):
            mean, half = 70 * over * np.cos(angle), 70 * over * np.sin(angle) / sqrt(3)
            x = plastic_multiplier(mean, half, 70.0, law)
            m, d = mean / (1 + law.mean / 2 * x), half / (1 + 3 * law.shear * x)
            worst = max(worst, abs(np.hypot(m, sqrt(3) * d) * (1 - law.hardening * x) / 70 - 1))
    study.row(
        "Plasticity: stress off the yield surface after three Newton steps", "0", f"{worst:.0e}"
    )
    body = Sheet.from_rectangle(5.0, 3.0, (7, 6), STEEL.density)
    body.position[:] = (
        np.eye(2) + 0.2 * np.random.default_rng(0).uniform(-1, 1, (2, 2))
    ) @ body.position
    set_forces(body, law)
    inner = np.abs(body.force.reshape(2, 7, 8)[:, 1:-1, 1:-1]).max() / np.abs(body.force).max()
    study.row("Plasticity, patch test at strains of 0.2: force inside", "0", f"{inner:.0e}")
