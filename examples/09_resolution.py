"""Resolution: trained on coarse meshes, used on finer ones without training again.

Darcy flow through a smooth medium on grids, heat in a plate with holes on ever finer meshes,
diffusion on deformed spheres. Errors are against the finest solution, at the nodes of each mesh: of
the prediction, and of the solver itself on that mesh, which is what could be reached there.

    python examples/09_resolution.py [FOLDER] [--full]

Quick and rough unless `--full` is given; that takes ten minutes and makes the page's own picture.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np

import supra
from supra.domain.probe import Probe
from supra.problems import PerforatedPlate, Surface
from supra.problems.elliptic import solve_darcy

grid_of = cache(lambda points: supra.Grid((points, points)))
plate_of = cache(lambda resolution: PerforatedPlate(resolution, holes=3))
medium = supra.RandomField(supra.CosineBasis((16, 16)), tau=4.0, alpha=3.0, scale=60.0)


def on_grid(resolution: int, number: int) -> supra.Sample:
    """Darcy flow: a smooth random medium is given, the pressure wanted."""
    grid = grid_of(resolution)
    permeability = np.exp(medium.sample(np.random.default_rng(number), grid))
    pressure = solve_darcy(permeability.reshape(grid.shape), force=1.0)
    return supra.Sample(permeability[:, None], pressure.reshape(-1, 1), grid)


def on_plate(resolution: int, number: int) -> supra.Sample:
    """Heat: conductivity and source are given, the temperature wanted; always the same plate."""
    plate = plate_of(resolution)
    solved = plate.sample(number)
    given = np.stack([solved["a"], solved["f"]], axis=1)
    return supra.Sample(given, solved["u"][:, None], plate.mesh(plate.plate))


def on_surface(resolution: int, number: int) -> supra.Sample:
    """Diffusion on a sphere with random bumps, another one in each sample."""
    solved = Surface(resolution).sample(number)
    mesh = supra.Mesh(solved["points"], solved["cells"])
    return supra.Sample(solved["f"][:, None], solved["u"][:, None], mesh)


@dataclass(frozen=True)
class Case:
    """What one part of the picture shows.

    Attributes:
        sample: sample of a number at a resolution: the same functions at all of them.
        trained: resolutions that are trained on, in turns. With one only, values between its nodes
            would never be seen where all samples have the same.
        used: resolutions that are predicted on.
        finest: the one that stands for the truth.
        basis: in which the network works.
    """

    sample: Callable[[int, int], supra.Sample]
    trained: tuple[int, ...]
    used: tuple[int, ...]
    finest: int
    basis: dict[str, Any]


WAVES = {"kind": "fourier", "modes": [4, 4], "constant": True, "period": 1.2}
OWN = {"kind": "laplacian", "modes": 48, "geometry": "own"}
CASES = {
    "grid": Case(on_grid, (13, 15, 17), (17, 33, 65, 129), 257, WAVES),
    "plane mesh": Case(on_plate, (12, 14, 16), (16, 24, 48), 96, WAVES),
    "surface": Case(on_surface, (6,), (6, 8, 12, 24), 48, OWN),
}
Errors = list[tuple[int, float, float]]  # nodes, error of the prediction, error of the solver


def main(folder: Path, full: bool = False) -> dict[str, Errors]:
    found = {}
    for name, case in CASES.items():
        run = folder / name.replace(" ", "_")
        if full:
            found[name] = errors(trained(case, run, 1000, epochs=16), case, count=20)
        else:
            case = replace(case, used=case.used[:-1], finest=case.used[-1])
            found[name] = errors(trained(case, run, 12, epochs=2), case, count=2)
        for nodes, predicted, solved in found[name]:
            print(f"{name:12s} {nodes:6d} nodes: predicted {predicted:.2%}, solved {solved:.2%}")
    draw(found, folder / "resolution.png")
    return found


def trained(case: Case, folder: Path, count: int, epochs: int) -> supra.Surrogate:
    def sample(number: int) -> supra.Sample:
        return case.sample(case.trained[number % len(case.trained)], number)

    return supra.fit(
        [sample(number) for number in range(count)],
        [sample(count + number) for number in range(2)],
        folder,
        overwrite=True,
        basis=case.basis,
        train={"epochs": epochs, "batch_size": 4},
    )


def errors(surrogate: supra.Surrogate, case: Case, count: int) -> Errors:
    """Means over samples that were not trained on."""
    rows = []
    truths = [case.sample(case.finest, 10_000 + number) for number in range(count)]
    for resolution in case.used:
        pairs = []
        for number, finest in enumerate(truths):
            sample = case.sample(resolution, 10_000 + number)
            truth = Probe.of(finest.domain, sample.domain.points)(finest.targets)
            predicted = surrogate.predict(sample.inputs, sample.domain)
            weights = sample.domain.weights[:, None]
            size = np.sqrt((weights * truth**2).sum())
            away = np.stack([predicted, sample.targets]) - truth
            pairs.append(np.sqrt((weights * away**2).sum(axis=(1, 2))) / size)
        rows.append((len(sample.inputs), *np.mean(pairs, axis=0).tolist()))
    return rows


def draw(found: dict[str, Errors], path: Path) -> None:
    figure = matplotlib.figure.Figure(figsize=(10, 3.2), layout="constrained")
    for axes, (name, rows) in zip(figure.subplots(1, 3, sharey=True), found.items(), strict=True):
        nodes, predicted, solved = zip(*rows, strict=True)
        axes.loglog(nodes, predicted, "C1o-", label="predicted")
        axes.loglog(nodes, solved, "k--", label="the solver itself")
        axes.plot(nodes[0], predicted[0], "C1o", ms=12, mfc="none", label="finest trained on")
        axes.set_title(name)
        axes.set_xlabel("nodes")
        axes.xaxis.set_minor_formatter("")  # they would overlap
    figure.axes[0].set_ylabel("relative L2 error")
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--full"]
    main(Path(words[0]) if words else Path("demo"), "--full" in sys.argv)
