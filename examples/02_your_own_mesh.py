"""Your own meshes: every case has its own shape, number of nodes and topology.

Plates with one to three holes, each with the eigenfunctions of its own mesh. A prediction for a
plate that was never seen is written as a file for ParaView.

    python examples/02_your_own_mesh.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import supra
from picture import fields_on_mesh
from supra.domain.files import write_mesh
from supra.problems import PerforatedPlate


def main(folder: Path, count: int = 120, epochs: int = 40) -> float:
    problem = PerforatedPlate(geometry="each", holes=3, fewest=1, resolution=10)

    def sample(number: int) -> supra.Sample:
        solved = problem.solve(np.random.default_rng(number))
        mesh = supra.Mesh(solved["points"], solved["cells"])
        given = np.stack([solved["a"], solved["f"]], axis=1)  # conductivity and source
        return supra.Sample(given, solved["u"][:, None], mesh)

    samples = [sample(number) for number in range(count)]
    surrogate = supra.fit(
        samples[: -count // 5],
        samples[-count // 5 :],
        folder / "run",
        overwrite=True,
        basis={"kind": "laplacian", "modes": 32, "geometry": "own"},
        model={"width": 16, "depth": 2},
        train={"epochs": epochs, "batch_size": 4, "optimizer": "muon", "learning_rate": 3e-3},
    )
    new = sample(1000)
    prediction = surrogate.predict(new.inputs, new.domain)
    error = np.linalg.norm(prediction - new.targets) / np.linalg.norm(new.targets)
    print(f"relative error on a new plate: {error:.1%}")
    assert isinstance(new.domain, supra.Mesh)
    write_mesh(folder / "new_plate.vtu", new.domain, {"predicted": prediction[:, 0]})
    columns = {"source": new.inputs[:, 1], "solved": new.targets, "predicted": prediction}
    fields_on_mesh(new.domain, columns, folder / "own_mesh.png")
    return float(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
