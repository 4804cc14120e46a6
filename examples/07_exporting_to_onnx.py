"""Exporting: a file that runs without this library, wherever ONNX runs.

python examples/07_exporting_to_onnx.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.figure
import numpy as np
import onnxruntime

import supra
from supra.experiment.export import export_surrogate
from supra.model.export import basis_arrays


def main(folder: Path) -> float:
    grid = supra.Grid((17, 17))
    rng = np.random.default_rng(0)
    waves = np.sin(np.pi * np.outer(np.linspace(0, 1, 17), [1, 2, 3]))

    def sample() -> supra.Sample:
        field = np.einsum("ik,jl,kl->ij", waves, waves, rng.normal(size=(3, 3))).reshape(-1, 1)
        return supra.Sample(field, field**2, grid)  # the square is learned

    surrogate = supra.fit(
        [sample() for _ in range(20)],
        [sample() for _ in range(5)],
        folder / "run",
        overwrite=True,
        basis={"kind": "cosine", "modes": [6, 6]},
        model={"width": 8, "depth": 2},
        train={"epochs": 20, "batch_size": 4, "learning_rate": 3e-3},
    )
    path = folder / "model.onnx"
    export_surrogate(surrogate, path, "onnx")

    new = sample()
    batch = surrogate.collate([new])
    arrays = {"inputs": batch.inputs, **basis_arrays(batch.basis)}
    session = onnxruntime.InferenceSession(path)
    theirs = session.run(None, {name: array.numpy() for name, array in arrays.items()})[0][0]
    ours = surrogate.predict(new.inputs)
    difference = float(np.abs(ours - theirs).max())
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB, differs by {difference:.0e}")
    _draw([ours, theirs], folder / "exporting_to_onnx.png")
    return difference


def _draw(fields: list[np.ndarray], path: Path) -> None:
    figure = matplotlib.figure.Figure(figsize=(6, 3), layout="constrained")
    titles = ("this library", "onnxruntime")
    for axes, field, title in zip(figure.subplots(1, 2), fields, titles, strict=True):
        axes.imshow(field.reshape(17, 17).T, origin="lower")
        axes.set_title(title)
        axes.set_axis_off()
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
