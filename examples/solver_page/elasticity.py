"""Rubber with a hole: stresses and large stretches; orders, Kirsch's plate, Newton's method."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import PowerNorm
from matplotlib.tri import Triangulation

from solver_page.study import (
    Study,
    bands,
    bare,
    finish,
    log_axes,
    new_figure,
    rates,
    relative,
    slope_line,
    written,
)
from supra.problems import Elasticity
from supra.problems.elasticity import RUBBER, PulledCell
from supra.problems.equilibrium import Equilibrium, find_equilibrium
from supra.problems.hole import Hole
from supra.problems.rubber import von_mises
from supra.problems.solid import Places, Solid, biquadratic
from supra.problems.unit_cell import UnitCell

STRONG = 1e5  # a traction that stretches the cell by a third
SMOOTH = Hole(np.array([0.0, 0.4]), np.array([0.3, 0.0]))


def run(study: Study) -> None:
    draw_samples(study)
    draw_validation(study)
    print_laws(study)
    study.time_samples(Elasticity())


def sample_hole(index: int) -> Hole:
    """The hole of a training sample of seed 0, as `Problem.sample` draws it."""
    return Hole.random(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, index))))


# ---- samples --------------------------------------------------------------------------------


def triangles(rings: int, rays: int) -> np.ndarray:
    """Of points on closed rings, the innermost first."""
    number = np.arange(rings * rays).reshape(rings, rays)
    a, b = number[:-1], number[1:]
    c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    return np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (c, b, d))])


def stress_field(pulled: PulledCell) -> tuple[Triangulation, np.ndarray]:
    """Where the elements' corners and middles are now, and the stress there, mean of elements."""
    cell, solid = pulled.cell, pulled.solid
    ends = np.array([[i, j] for i in (0, 0.5, 1) for j in (0, 0.5, 1)])
    every = Places(np.repeat(np.arange(len(cell.cells)), 9), np.tile(ends, (len(cell.cells), 1)))
    values = von_mises(pulled.stress(every))
    count = np.bincount(cell.cells.ravel())
    moved = solid.points + pulled.equilibrium.displacement
    net = Triangulation(*moved.T, triangles(2 * cell.outwards + 1, 2 * cell.around))
    return net, np.bincount(cell.cells.ravel(), values) / count


def draw_samples(study: Study) -> None:
    figure = new_figure(10, 8)
    panels = figure.subplots(3, 4)
    weak = ScalarMappable(PowerNorm(0.6, 0, 900), bands("inferno", 18))
    strong = ScalarMappable(PowerNorm(0.6, 0, 900e3), bands("inferno", 18))
    refinement = study.pick(1, 3)
    for number, (points, field, stretched) in enumerate(panels.T):
        hole = sample_hole(number)
        sample = Elasticity(refinement=refinement).sample_of(hole)
        points.scatter(*sample["XY"].T, 5, weak.to_rgba(sample["sigma"]), linewidths=0)
        bare(points)
        points.set_title(f"sample {number}: up to {sample['sigma'].max():.0f}", fontsize=9)
        draw_field(field, Elasticity(refinement=refinement).pull(hole), weak)
        draw_field(stretched, Elasticity(refinement=refinement, traction=STRONG).pull(hole), strong)
        for panel in (points, field):
            panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    figure.colorbar(weak, ax=panels[:2], shrink=0.6, label="von Mises stress, traction 100")
    figure.colorbar(strong, ax=panels[2], shrink=0.9, label=f"traction {STRONG:g}")
    study.save(figure, "samples")


def draw_field(panel: Axes, pulled: PulledCell, scale: ScalarMappable) -> None:
    net, values = stress_field(pulled)
    panel.tripcolor(net, values, norm=scale.norm, cmap=scale.cmap, shading="gouraud")
    moved = (pulled.solid.points + pulled.equilibrium.displacement).T
    rings = moved.reshape(2, -1, 2 * pulled.cell.around)[:, [0, -1]]
    panel.plot(*np.concatenate([rings, rings[:, :, :1]], axis=2).swapaxes(1, 2), "k", lw=0.8)
    bare(panel)
    panel.set_axis_off()


# ---- validation -----------------------------------------------------------------------------


def draw_validation(study: Study) -> None:
    figure = new_figure(11, 7)
    (made, cell, data), (bar, plate, newton) = figure.subplots(2, 3)
    draw_manufactured(study, made)
    draw_energy(study, cell)
    draw_refinement(study, data)
    draw_bar(study, bar)
    draw_plate(study, plate)
    draw_newton(study, newton)
    study.save(figure, "validation")


def sheet(elements: int, distortion: float = 0.06) -> tuple[Solid, np.ndarray]:
    """The unit square without a hole in distorted elements, and which nodes are on its edge."""
    t = np.linspace(0, 1, 2 * elements + 1)
    x, y = np.meshgrid(t, t, indexing="ij")
    bump = distortion * np.sin(np.pi * x) * np.sin(np.pi * y)
    points = np.stack([x + bump, y - bump * np.cos(2 * x)], axis=-1).reshape(-1, 2)
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(x.size).reshape(x.shape), (3, 3))
    edge = (np.abs(np.stack([x, y]) - 0.5).max(axis=0) == 0.5).ravel()
    return Solid(points, windows[::2, ::2].reshape(-1, 9), RUBBER), edge


def manufactured(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Displacements with strains of 0.3, their gradients, and the body force that they need."""
    x, y = points.T
    value = 0.1 * np.stack([np.sin(2 * x + y), np.cos(x - 2 * y)], axis=1)
    slope = 0.1 * np.stack([np.cos(2 * x + y), -np.sin(x - 2 * y)], axis=1)
    way = np.array([[2.0, 1.0], [1.0, -2.0]])
    gradient = slope[:, :, None] * way
    second = -value[:, :, None, None] * way[:, :, None] * way[:, None, :]
    return value, gradient, -np.einsum("pabcd,pcdb->pa", RUBBER.tangent(gradient), second)


def manufactured_errors(elements: int) -> tuple[float, float]:
    """Root mean squares of displacement and stress."""
    solid, edge = sheet(elements)
    places, weights = solid.quadrature
    shapes, _ = biquadratic(places.local)
    value, gradient, force = manufactured(solid.positions(places))
    nodes, load = solid.cells[places.elements], np.zeros(solid.points.shape)
    np.add.at(load, nodes, (weights[:, None] * shapes)[..., None] * force[:, None])
    held = np.repeat(edge[:, None], 2, axis=1)
    found = find_equilibrium(solid, load, held, manufactured(solid.points)[0]).displacement
    wrong = np.einsum("pi,pia->pa", shapes, found[nodes]) - value
    off = RUBBER.stress(solid.gradient(found, places)) - RUBBER.stress(gradient)
    return (
        float(np.sqrt(weights @ (wrong**2).sum(axis=1))),
        float(np.sqrt(weights @ (off**2).sum(axis=(1, 2)))),
    )


def draw_manufactured(study: Study, axes: Axes) -> None:
    sizes = study.pick((2, 4, 8), (2, 4, 8, 16, 32))
    errors = np.array([manufactured_errors(n) for n in sizes])
    for k, (name, order) in enumerate({"displacement": 3, "stress": 2}.items()):
        scaled = errors[:, k] / errors[0, k]
        axes.loglog(sizes, scaled, "o-", label=name)
        slope_line(axes, sizes, 0.6, -order)
        orders = written(-rates(errors[:, k], sizes))
        study.row(f"Elasticity, manufactured {name}: order", f"{order}", orders)
    log_axes(axes, "manufactured, strains of 0.3", "elements per side", "error over first", sizes)


def rollers(solid: Solid) -> np.ndarray:
    """The bottom slides sideways, and one of its nodes does not."""
    held = np.zeros(solid.points.shape, dtype=bool)
    bottom = np.flatnonzero(np.isclose(solid.points[:, 1], 0))
    held[bottom, 1] = True
    held[bottom[np.argmin(np.abs(solid.points[bottom, 0] - 0.5))], 0] = True
    return held


def energies(sizes: Sequence[int], held: Callable[[UnitCell, Solid], np.ndarray]) -> np.ndarray:
    found = []
    for n in sizes:
        cell = UnitCell(SMOOTH.radius, 12 * n, 2 * n)
        solid = cell.solid(RUBBER)
        state = find_equilibrium(solid, cell.pull(100.0), held(cell, solid))
        found.append(solid.energy(state.displacement))
    return np.array(found)


def draw_energy(study: Study, axes: Axes) -> None:
    sizes = study.pick((1, 2, 4), (1, 2, 4, 8, 16))
    for name, order, held in (
        ("on rollers", 4, lambda _, solid: rollers(solid)),
        ("clamped", 1.38, lambda cell, _: cell.clamped),
    ):
        found = energies(sizes, held)
        changes = np.diff(found) / found[-1]
        axes.loglog(sizes[:-1], changes, "o-", label=name)
        slope_line(axes, sizes[:-1], changes[0] / 2, -order)
        orders = written(-rates(changes, sizes[:-1]))
        study.row(f"Elasticity, energy {name}: order", f"{order}", orders)
    log_axes(axes, "energy of a cell", "elements per 30°", "change to half the size", sizes[:-1])


def draw_refinement(study: Study, axes: Axes) -> None:
    """The stored stresses of single samples, as elements get smaller."""
    sizes = study.pick((1, 3, 5), (1, 3, 5, 7, 13))
    left = []
    for number in range(study.pick(1, 4)):
        found = [
            Elasticity(refinement=n).sample_of(sample_hole(number))["sigma"].astype(float)
            for n in sizes
        ]
        left.append([relative(values, found[-1]) for values in found[:-1]])
        axes.loglog(sizes[:-1], left[-1], "o-", label=f"sample {number}")
    log_axes(axes, "the data", "refinement", f"stress, relative, against {sizes[-1]}", sizes[:-1])
    said = ", ".join(f"{v:.2%} ({n})" for n, v in zip(sizes, np.mean(left, axis=0), strict=False))
    study.row(f"Elasticity, stored stress against refinement {sizes[-1]}", "–", said)


def draw_bar(study: Study, axes: Axes) -> None:
    """A sheet without a hole, its sides free, against the closed form."""
    solid, _ = sheet(2)
    stretches = np.linspace(1, 3, 11)[1:]
    closed = 2 * (stretches - stretches**-2) * (RUBBER.c1 + RUBBER.c2 / stretches)
    found = []
    for traction in closed:
        load = np.zeros((5, 5, 2))
        load[:, -1, 1] = traction * np.array([1, 4, 2, 4, 1]) / 12  # Simpson's rule
        state = find_equilibrium(solid, load.reshape(-1, 2), rollers(solid))
        found.append(1 + state.displacement[-1, 1])
    axes.plot(stretches, closed / 1e3, "k", lw=1, label="closed form")
    axes.plot(stretches, RUBBER.young * (stretches - 1) / 1e3, "k:", lw=1, label="linear")
    axes.plot(found, closed / 1e3, "C3.", ms=6, label="elements")
    axes.set_ylim(0, 1.2 * closed.max() / 1e3)
    finish(axes, "a sheet without a hole", "stretch", "traction / 1000")
    error = np.abs(np.array(found) / stretches - 1).max()
    study.row("Elasticity, sheet stretched to 3: stretch, relative error", "0", f"{error:.0e}")


def draw_plate(study: Study, axes: Axes) -> None:
    """Kirsch: a small round hole in a wide plate."""
    around, outwards = study.pick((32, 12), (96, 36))
    cell = UnitCell(lambda angle: np.full(angle.shape, 0.0125), around, outwards)
    solid = cell.solid(RUBBER)
    state = find_equilibrium(solid, cell.pull(1.0), rollers(solid))
    edge = Places(np.arange(around), np.tile([0.0, 0.5], (around, 1)))
    stress = RUBBER.cauchy(solid.gradient(state.displacement, edge))
    angle = 2 * np.pi * (np.arange(around) + 0.5) / around - np.pi / 4
    along = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    hoop, kirsch = np.einsum("pa,pab,pb->p", along, stress, along), 1 + 2 * np.cos(2 * angle)
    axes.plot(np.rad2deg(angle), kirsch, "k", lw=1, label="Kirsch: 1 + 2 cos 2θ")
    axes.plot(np.rad2deg(angle), hoop, "C3.", ms=4, label="elements")
    axes.set_ylim(-1.4, 4.4)
    finish(axes, "a hole in a plate 40 times as wide", "θ, degrees", "hoop stress / traction")
    study.row(
        "Elasticity, small round hole: hoop stress at the side, above",
        "3, −1",
        f"{hoop.max():.3f}, {hoop.min():.3f}".replace("-", "−"),
    )


def draw_newton(study: Study, axes: Axes) -> None:
    for traction in (100.0, 1e4, STRONG):
        found = Elasticity(refinement=study.pick(1, 3), traction=traction).pull(sample_hole(0))
        left = np.array(found.equilibrium.imbalance)
        axes.semilogy(left + 1e-16, "o-", label=f"traction {traction:g}")
        said = ", ".join(f"{value:.0e}" for value in left)
        study.row(f"Elasticity, Newton's steps, traction {traction:g}", "quadratic", said)
    finish(axes, "Newton's method, sample 0", "step", "forces out of balance, relative")


def print_laws(study: Study) -> None:
    pulled = Elasticity(refinement=study.pick(1, 3)).pull(sample_hole(0))
    print_balance(study, pulled.cell, pulled.equilibrium)
    solid, edge = sheet(3)
    given = solid.points @ np.array([[0.3, -0.1], [0.25, -0.2]])
    held = np.repeat(edge[:, None], 2, axis=1)
    state = find_equilibrium(solid, np.zeros(given.shape), held, given)
    off = np.abs(state.displacement - given).max()
    study.row("Elasticity, patch test at strains of 0.3: displacement", "0", f"{off:.0e}")
    mirror = Hole(np.array([0, 1.0, 0, -0.5, 0]), np.array([0.7, 0, -0.6, 0, 0.4]))
    rings = Elasticity().sample_of(mirror)["sigma"].reshape(9, 108)
    gap = np.abs(rings[:, (80 - np.arange(108)) % 108] / rings - 1).max()
    study.row("Elasticity, symmetric hole: mirror image", "0", f"{gap:.0e}")
    hard, soft = (
        Elasticity(traction=traction).sample_of(sample_hole(0))["sigma"] / traction
        for traction in (100.0, 1e-3)
    )
    study.row(
        "Elasticity, traction 100: stress off the linear one", "–", f"{relative(hard, soft):.1e}"
    )
    stresses = [Elasticity().sample(k)["sigma"] for k in range(study.pick(2, 50))]
    said = f"{np.mean(stresses):.0f}, {np.std(stresses):.0f}, {np.max(stresses):.0f}"
    study.row(f"Elasticity, {len(stresses)} samples: mean, deviation, largest stress", "–", said)


def print_balance(study: Study, cell: UnitCell, state: Equilibrium) -> None:
    off = np.abs(state.forces[cell.bottom].sum(axis=0) - [0, -100]).max()
    study.row("Elasticity: reaction of the clamp, off (0, −100)", "0", f"{off:.0e}")
