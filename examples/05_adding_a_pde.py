"""Adding a PDE: a class that solves one random problem.

A string under a random load, -u'' = f with fixed ends, by finite differences. Everything else —
seeds that do not depend on the order, parallel work, files — comes with `Problem`.

    python examples/05_adding_a_pde.py [FOLDER]
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib.figure
import numpy as np
from scipy.linalg import solveh_banded

import supra
from supra.problems import Problem, Solution


@dataclass(frozen=True)
class LoadedString(Problem):
    """The shape of a string under a random smooth load."""

    name: ClassVar[str] = "string"
    points: int = 65

    def solve(self, rng: np.random.Generator) -> Solution:
        x = np.linspace(0, 1, self.points)
        waves = np.arange(1, 7)
        load = np.sin(np.pi * np.outer(x, waves)) @ (rng.normal(size=6) / waves)
        inside = self.points - 2
        matrix = np.stack([np.full(inside, -1.0), np.full(inside, 2.0)])
        shape = np.zeros(self.points)
        shape[1:-1] = solveh_banded(matrix, load[1:-1] / (self.points - 1) ** 2)
        return {"f": load, "u": shape}


def main(folder: Path, count: int = 120, epochs: int = 40) -> float:
    problem, line = LoadedString(), supra.Grid(65)

    def sample(index: int, split: str) -> supra.Sample:
        solved = problem.sample(index, seed=0, split=split)
        return supra.Sample(solved["f"][:, None], solved["u"][:, None], line)

    surrogate = supra.fit(
        [sample(index, "train") for index in range(count)],
        [sample(index, "test") for index in range(count // 5)],
        folder / "run",
        overwrite=True,
        basis={"kind": "chebyshev", "modes": [12]},
        model={"width": 16, "depth": 2},
        train={"epochs": epochs, "batch_size": 4, "optimizer": "muon", "learning_rate": 3e-3},
    )
    test = sample(0, "test")
    predicted = surrogate.predict(test.inputs)
    error = np.linalg.norm(predicted - test.targets) / np.linalg.norm(test.targets)
    print(f"relative error: {error:.1%}")
    figure = matplotlib.figure.Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(line.points[:, 0], test.targets, "k-", label="solved")
    axes.plot(line.points[:, 0], predicted, "C1--", label="predicted")
    axes.legend()
    figure.savefig(folder / "adding_a_pde.png", dpi=110)
    print(f"picture: {folder / 'adding_a_pde.png'}")
    return float(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
