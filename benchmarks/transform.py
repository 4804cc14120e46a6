"""Separable against dense projection and reconstruction, forward and backward.

python benchmarks/transform.py
"""

import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from supra import ChebyshevBasis, Grid, SampledBasis, SeparableBasis

BATCH, CHANNELS, ROUNDS = 4, 64, 15


def round_trip(basis: SampledBasis | SeparableBasis, fields: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        fields.grad = None
        basis.fields(basis.coefficients(fields)).sum().backward()

    return run


def medians(*calls: Callable[[], None]) -> list[float]:
    """Median seconds of calls made in turns."""
    samples: list[list[float]] = [[] for _ in calls]
    for number in range(ROUNDS + 3):
        for call, times in zip(calls, samples, strict=True):
            start = time.perf_counter()
            call()
            if number >= 3:  # the first rounds warm up
                times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in samples]


def main() -> None:
    table = Table(title=f"project + reconstruct + backward, batch {BATCH}, {CHANNELS} channels")
    for column in ("grid", "modes", "dense ms", "separable ms", "dense ÷ separable", "difference"):
        table.add_column(column, justify="right")
    for side in (64, 128):
        fields = torch.randn(BATCH, side * side, CHANNELS, requires_grad=True)
        for per_axis in (8, 10, 12, 16):
            separable = ChebyshevBasis((per_axis, per_axis)).sample(Grid((side, side)))
            assert isinstance(separable, SeparableBasis)
            dense = separable.dense()
            with torch.no_grad():
                gap = dense.coefficients(fields) - separable.coefficients(fields)
            slow, fast = medians(round_trip(dense, fields), round_trip(separable, fields))
            table.add_row(
                f"{side}²",
                str(separable.modes),
                f"{1e3 * slow:.1f}",
                f"{1e3 * fast:.1f}",
                f"{slow / fast:.1f}",
                f"{gap.abs().max():.0e}",
            )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
