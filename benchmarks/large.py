"""Large meshes: a million points predicted in chunks, a hundred thousand trained on.

The basis is computed on a coarse mesh and interpolated to the fine one, as a surrogate trained on
coarse meshes is used on a fine one. Every row runs in a process of its own; memory is the largest
it ever took, the library and the basis included.

python benchmarks/large.py
"""

import resource
import time
from collections.abc import Callable
from multiprocessing import get_context

import torch
from rich.console import Console
from rich.table import Table

from supra import LaplacianBasis, SampledBasis, SupraOperator
from supra.domain import shapes
from supra.model.chunked import predict_in_chunks

MODES, WIDTH, DEPTH = 128, 64, 8


def fine_basis(points: int) -> SampledBasis:
    """The lowest modes of a square, on a mesh of about so many points."""
    coarse = LaplacianBasis.from_mesh(shapes.square(64), MODES)
    return coarse.sample(shapes.square(round(points**0.5) - 1))


def network(**options: object) -> SupraOperator:
    torch.manual_seed(0)
    return SupraOperator(3, 1, MODES, width=WIDTH, depth=DEPTH, heads=8, **options).eval()


def predict(points: int, chunk: int | None) -> float:
    """Seconds of one prediction, and the difference that chunks make in a tenth of it."""
    basis, model = fine_basis(points), network()
    inputs = torch.randn(1, basis.points, 3)
    start = time.perf_counter()
    with torch.inference_mode():
        model(inputs, basis) if chunk is None else predict_in_chunks(model, inputs, basis, chunk)
    return time.perf_counter() - start


def train(points: int, checkpointing: bool) -> float:
    """Seconds of one step: forward and backward."""
    basis, model = fine_basis(points), network(checkpointing=checkpointing).train()
    inputs = torch.randn(1, basis.points, 3)
    start = time.perf_counter()
    model(inputs, basis).square().mean().backward()
    return time.perf_counter() - start


def difference(points: int = 100_000, chunk: int = 16_384) -> float:
    """Largest difference between the prediction in chunks and the whole, to the largest value."""
    basis, model = fine_basis(points), network()
    inputs = torch.randn(1, basis.points, 3)
    with torch.inference_mode():
        whole = model(inputs, basis)
    found = predict_in_chunks(model, inputs, basis, chunk)
    return float((found - whole).abs().max() / whole.abs().max())


def measured(task: Callable[..., float], *arguments: object) -> tuple[float, float]:
    """The task's seconds and the largest memory of its process, in GiB."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (task, arguments))


def _run(task: Callable[..., float], arguments: tuple) -> tuple[float, float]:
    seconds = task(*arguments)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


ROWS: dict[str, tuple] = {
    "predict 1,000,000 points, all at once": (predict, 1_000_000, None),
    "predict 1,000,000 points, 65,536 at a time": (predict, 1_000_000, 65_536),
    "train on 100,000 points": (train, 100_000, False),
    "train on 100,000 points, checkpointing": (train, 100_000, True),
}


def main() -> None:
    table = Table(title=f"{DEPTH} layers of {WIDTH} functions, {MODES} modes, batch of one")
    for column in ("task", "seconds", "GiB at most"):
        table.add_column(column, justify="left" if column == "task" else "right")
    for name, (task, *arguments) in ROWS.items():
        seconds, memory = measured(task, *arguments)
        table.add_row(name, f"{seconds:.1f}", f"{memory:.2f}")
    console = Console(width=100)
    console.print(table)
    console.print(
        f"chunks change a prediction on 100,000 points by {difference():.0e} of its largest value"
    )


if __name__ == "__main__":
    main()
