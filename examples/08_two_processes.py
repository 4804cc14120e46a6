"""Two processes: the same training, shared out; on GPUs it is the same command.

python examples/08_two_processes.py [FOLDER]
"""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.figure

TRAIN = ["-m", "supra", "train", "demo", "--scale", "smoke", "--overwrite", "--device", "cpu"]


def losses(folder: Path, start: list[str]) -> list[float]:
    """Train, and read the loss of every epoch from the run's folder."""
    data = ["-s", f"data.root={folder.parent / 'data'}", "-s", "train.epochs=6"]
    command = [sys.executable, *start, *TRAIN, *data, "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["train_loss"] for line in lines]


def main(folder: Path) -> float:
    alone = losses(folder / "alone", [])
    shared = losses(folder / "shared", ["-m", "torch.distributed.run", "--nproc-per-node", "2"])
    difference = max(abs(a - b) / a for a, b in zip(alone, shared, strict=True))
    print(f"largest relative difference of the loss: {difference:.0e}")
    figure = matplotlib.figure.Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, 7), alone, "k-", label="one process")
    axes.plot(range(1, 7), shared, "C1o", label="two processes")
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss")
    axes.legend()
    figure.savefig(folder / "two_processes.png", dpi=110)
    print(f"picture: {folder / 'two_processes.png'}")
    return difference


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
