"""How near a forward pass comes to its own matrix products, done bare.

The products of a forward pass are recorded and done again with the same shapes, into memory that
is there already, nothing in between: no network made of these products can be faster. Both are
given as shares of the rate of one large product, measured in the same turns.

python benchmarks/limit.py
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from supra.experiment.allocator import keep_freed_memory
from supra.experiment.benchmark import SETTINGS, grid_subjects
from supra.experiment.efficiency import Subject, forward_flops, gemm_rate
from supra.model.product import ONEDNN

ROUNDS = 9
# Where the operands stand among the arguments.
PRODUCTS = {
    torch.ops.aten.mm.default: (0, 1),
    torch.ops.aten.addmm.default: (1, 2),
    torch.ops.aten.bmm.default: (0, 1),
    torch.ops.aten.baddbmm.default: (1, 2),
}
# The same of products with a transposed matrix.
TRANSPOSED = {} if ONEDNN is None else {ONEDNN.default: (0, 1), ONEDNN.binary: (0, 2)}


class Recorder(TorchDispatchMode):
    """Notes the operands of every matrix product."""

    def __init__(self) -> None:
        super().__init__()
        self.operands: list[tuple[Tensor, Tensor]] = []

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if operation in PRODUCTS:
            left, right = PRODUCTS[operation]
            self.operands.append((args[left], args[right]))
        elif operation in TRANSPOSED:
            left, right = TRANSPOSED[operation]
            self.operands.append((args[left].flatten(0, -2), args[right].mT))
        return operation(*args, **(kwargs or {}))


def bare_products(subject: Subject) -> Callable[[], None]:
    """The products of a forward pass, one after the other."""
    with Recorder() as recorder, torch.no_grad():
        subject.forward()
    # Operands keep their strides; results go to memory that is used over and over.
    work = [(left, right, torch.empty_like(left @ right)) for left, right in recorder.operands]

    def run() -> None:
        for left, right, out in work:
            torch.matmul(left, right, out=out)

    return run


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    with torch.inference_mode():
        action()
    return time.perf_counter() - start


def measure(subject: Subject) -> tuple[float, float, float]:
    """Shares of a large product's rate: of bare products, of the forward pass; their ratio."""
    products, flops = bare_products(subject), forward_flops(subject)
    bare, whole, rates = [], [], []
    for number in range(ROUNDS + 2):
        rates.append(gemm_rate())
        times = seconds(products), seconds(subject.forward)
        if number >= 2:
            bare.append(times[0])
            whole.append(times[1])
    peak = max(rates)
    middle = statistics.median(bare), statistics.median(whole)
    return flops / middle[0] / peak, flops / middle[1] / peak, middle[0] / middle[1]


def main() -> None:
    torch.manual_seed(0)
    keep_freed_memory()
    table = Table(title="share of the rate of a large matrix product; depth 8, batch 4, medians")
    for column in ("functions", "grid", "model", "bare products", "forward", "bare ÷ forward"):
        table.add_column(column, justify="right")
    for setting in SETTINGS:
        for subject in grid_subjects(setting)[:3]:
            bare, whole, ratio = measure(subject)
            table.add_row(str(setting.width), f"{setting.side}²", subject.name,
                          f"{bare:.0%}", f"{whole:.0%}", f"{ratio:.2f}")  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
