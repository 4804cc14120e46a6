"""Large meshes: a million points predicted in chunks, a hundred thousand trained on.

The basis is computed on a coarse mesh and interpolated to the fine one, as a surrogate trained on
coarse meshes is used on a fine one. Every row runs in a process of its own, which starts with the
library, the basis and the network in memory; "at most" is the largest memory it ever took, where
arrays that are freed go back to the system at once. Seconds are those of the processor, the lesser
of two runs: other programs disturb them less than a clock.

    OMP_NUM_THREADS=1 python benchmarks/large.py [--points 1000000]

It takes about 4 GB of memory and some minutes; `--points 10000` is a test of the script.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from rich.console import Console
from rich.table import Table

from supra import LaplacianBasis, SampledBasis, SupraOperator
from supra.domain import shapes
from supra.model.chunked import predict_in_chunks

MODES, WIDTH, DEPTH = 128, 64, 8
CHUNK, TRAINED_PART = 65_536, 10  # training is on a tenth of the points
ROUNDS = 2
# glibc would keep freed arrays of up to 32 MiB, and its memory tell little about what is needed.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
Cost = tuple[float, float, float]  # CPU seconds, GiB before, GiB at most


def write_basis(path: Path, points: int) -> int:
    """The lowest modes of a square on a mesh of about so many points, and their exact number."""
    coarse = LaplacianBasis.from_mesh(shapes.square(64), MODES)
    fine = shapes.square(round(points**0.5) - 1)
    # Interpolated functions are orthonormal up to a small defect, which costs no time: keep it.
    sampled = coarse.sample(fine, defect="keep", dtype=torch.float32)
    torch.save((sampled.values, sampled.weights), path)
    return sampled.points


def predict(basis_file: Path, chunk: int | None, result: Path) -> Cost:
    """One prediction, kept in a file to be compared."""
    basis, model, inputs = _parts(basis_file)

    def task() -> torch.Tensor:
        with torch.inference_mode():
            if chunk is None:
                return model(inputs, basis)
            return predict_in_chunks(model, inputs, basis, chunk)

    return _measured(task, result)


def train(basis_file: Path, checkpointing: bool) -> Cost:
    """One step: forward and backward."""
    basis, model, inputs = _parts(basis_file, checkpointing=checkpointing)
    model.train()
    return _measured(lambda: model(inputs, basis).square().mean().backward())


def _parts(basis_file: Path, **options: bool) -> tuple[SampledBasis, SupraOperator, torch.Tensor]:
    basis = SampledBasis(*torch.load(basis_file))
    torch.manual_seed(0)
    model = SupraOperator(3, 1, MODES, width=WIDTH, depth=DEPTH, heads=8, **options).eval()
    return basis, model, torch.randn(1, basis.points, 3)


def _measured(task: Callable[[], object], result: Path | None = None) -> Cost:
    before = _memory("VmRSS")
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        found = task()
        seconds.append(time.process_time() - start)
    if result is not None:
        torch.save(found, result)
    return min(seconds), before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _memory(name: str) -> float:
    """GiB of this process, by the system's name for it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 2**20


def alone(task: Callable, *arguments: object) -> object:
    """What a task gives in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(task, arguments)


def main(points: int) -> None:
    os.environ.update(GIVE_BACK)  # read by the processes that are started
    table = Table(title=f"{DEPTH} layers of {WIDTH} functions, {MODES} modes, batch of one")
    for column in ("task", "points", "CPU seconds", "GiB before", "GiB at most"):
        table.add_column(column, justify="left" if column == "task" else "right")
    with TemporaryDirectory() as folder:
        large, small, whole, parts = (
            Path(folder) / name for name in ("large", "small", "whole", "parts")
        )
        counts = {
            large: alone(write_basis, large, points),
            small: alone(write_basis, small, points // TRAINED_PART),
        }
        rows = {
            "predict, all at once": (predict, large, None, whole),
            f"predict, {CHUNK:,} at a time": (predict, large, CHUNK, parts),
            "train": (train, small, False),
            "train, checkpointing": (train, small, True),
        }
        for name, (task, basis, *options) in rows.items():
            costs = alone(task, basis, *options)
            table.add_row(name, f"{counts[basis]:,}", *(f"{cost:.2f}" for cost in costs))
        expected, found = torch.load(whole), torch.load(parts)
    console = Console(width=100)
    console.print(table)
    difference = float((found - expected).abs().max() / expected.abs().max())
    console.print(f"chunks change the prediction by {difference:.0e} of its largest value")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    main(parser.parse_args().points)
