"""Quick start: solve a few hundred problems, train, predict, look.

Heat in a plate with holes: a random conductivity and a random source are given, the temperature is
wanted. The network works with the 32 smoothest functions on that plate.

    python examples/01_quick_start.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import supra
from picture import fields_on_mesh
from supra.problems import PerforatedPlate


def main(folder: Path, count: int = 100, epochs: int = 60) -> float:
    problem = PerforatedPlate(resolution=12)
    mesh = problem.mesh(problem.plate)

    def sample(number: int) -> supra.Sample:
        solved = problem.solve(np.random.default_rng(number))
        given = np.stack([solved["a"], solved["f"]], axis=1)  # conductivity and source
        return supra.Sample(given, solved["u"][:, None], mesh)

    samples = [sample(number) for number in range(count)]
    surrogate = supra.fit(
        samples[: -count // 5],
        samples[-count // 5 :],
        folder / "run",
        overwrite=True,
        basis={"kind": "laplacian", "modes": 32},
        model={"width": 16, "depth": 2},
        train={"epochs": epochs, "batch_size": 4, "optimizer": "muon", "learning_rate": 3e-3},
    )
    last = samples[-1]
    prediction = surrogate.predict(last.inputs)
    error = np.linalg.norm(prediction - last.targets) / np.linalg.norm(last.targets)
    print(f"relative error of one prediction: {error:.1%}")
    columns = {"source": last.inputs[:, 1], "solved": last.targets, "predicted": prediction}
    fields_on_mesh(mesh, columns, folder / "quick_start.png")
    return float(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
