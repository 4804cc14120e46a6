"""Comparing models: the same data, several networks, one picture.

python examples/06_comparing_models.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.figure

from supra.experiment.preset import load_experiment
from supra.experiment.run import prepare_folder, train

SYSTEMS = ("supra", "fno", "lno", "transolver")


def main(folder: Path, epochs: int = 3) -> dict[str, float]:
    errors = {}
    for system in SYSTEMS:
        run = folder / system
        data = f"data.root={folder / 'darcy'}"
        changes = [data, f"train.epochs={epochs}"]
        experiment = load_experiment("darcy", "smoke", changes, system)
        prepare_folder(run, resume=False, overwrite=True)
        errors[system] = train(experiment, run)["test"]["relative_l2"]
        print(f"{system:12s} {errors[system]:.1%}")
    figure = matplotlib.figure.Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.bar(list(errors), [100 * error for error in errors.values()])
    axes.set_ylabel("relative L2 error, per cent")
    axes.set_title(f"Darcy, 6 samples, {epochs} epochs", loc="left")
    figure.savefig(folder / "comparing_models.png", dpi=110)
    print(f"picture: {folder / 'comparing_models.png'}")
    return errors


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
