"""What a network costs: time, floating-point operations, memory, measured side by side."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from supra.experiment.allocator import release_freed_memory
from supra.model.product import ONEDNN


@dataclass(frozen=True)
class Subject:
    """A network and what it is called with."""

    name: str
    model: nn.Module
    arguments: tuple[Any, ...]

    @property
    def weights(self) -> int:
        return sum(weight.numel() for weight in self.model.parameters())

    def forward(self) -> Tensor:
        output: Tensor = self.model(*self.arguments)
        return output


@dataclass(frozen=True)
class Cost:
    """Costs of one subject.

    Attributes:
        forward, backward, step, inference: median seconds; a step includes AdamW.
        flops: operations of matrix products in one forward pass.
        gemm_fraction: share of the machine's matrix-product rate that inference reaches.
        kept: MiB kept for the backward pass.
        peak: largest MiB allocated at once in a training step, beyond weights and optimiser.
    """

    subject: Subject
    forward: float
    backward: float
    step: float
    inference: float
    flops: float
    gemm_fraction: float
    kept: float
    peak: float


def costs(subjects: Sequence[Subject], rounds: int = 7) -> list[Cost]:
    """Measure the subjects in turns; medians, so that what disturbs one disturbs all."""
    rates = []
    actions = [_actions(subject) for subject in subjects]
    samples: list[dict[str, list[float]]] = [{} for _ in subjects]
    for number in range(rounds + 2):
        rates.append(gemm_rate())
        for steps, sample in zip(actions, samples, strict=True):
            for name, seconds in _timed(steps):
                if number >= 2:  # the first rounds warm up
                    sample.setdefault(name, []).append(seconds)
    return [
        _cost(subject, {name: statistics.median(t) for name, t in sample.items()}, max(rates))
        for subject, sample in zip(subjects, samples, strict=True)
    ]


def _cost(subject: Subject, seconds: dict[str, float], rate: float) -> Cost:
    release_freed_memory()
    flops = forward_flops(subject)
    return Cost(
        subject,
        **seconds,
        flops=flops,
        gemm_fraction=flops / seconds["inference"] / rate,
        kept=bytes_kept(subject) / 2**20,
        peak=peak_bytes(subject) / 2**20,
    )


def _actions(subject: Subject) -> Callable[[], Iterator[str]]:
    """A generator that does the parts of a training step, naming each when it is done."""
    optimiser = torch.optim.AdamW(subject.model.parameters(), lr=1e-5)

    def run() -> Iterator[str]:
        loss = subject.forward().square().mean()
        yield "forward"
        loss.backward()
        yield "backward"
        optimiser.step()
        optimiser.zero_grad()
        yield "optimiser"
        with torch.inference_mode():
            subject.forward()
        yield "inference"

    return run


def _timed(run: Callable[[], Iterator[str]]) -> Iterator[tuple[str, float]]:
    start, step = time.perf_counter(), 0.0
    for name in run():
        seconds = time.perf_counter() - start
        if name == "optimiser":
            yield "step", step + seconds
        else:
            step += seconds
            yield name, seconds
        start = time.perf_counter()


def gemm_rate(repeats: int = 5) -> float:
    """Operations per second of a large single-precision matrix product, the best of a few."""
    left, right = torch.randn(2048, 1024), torch.randn(1024, 1024)
    out, best = torch.empty(2048, 1024), float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        torch.mm(left, right, out=out)
        best = min(best, time.perf_counter() - start)
    return 2 * 2048 * 1024 * 1024 / best


def forward_flops(subject: Subject) -> float:
    """Operations of all matrix products in a forward pass (complex ones are not counted)."""
    fused = {} if ONEDNN is None else {ONEDNN: _fused_flops}
    with FlopCounterMode(display=False, custom_mapping=fused) as counter, torch.no_grad():
        subject.forward()
    return float(counter.get_total_flops())


def _fused_flops(fields: torch.Size, *_: Any, out_shape: torch.Size, **__: Any) -> int:
    """Of the product with sums that `supra.model.product` calls."""
    return 2 * prod(fields) * out_shape[-1]


def bytes_kept(subject: Subject) -> int:
    """Bytes that the forward pass keeps for the backward pass, beyond weights and arguments."""
    own = {weight.untyped_storage().data_ptr() for weight in subject.model.parameters()}
    own |= {tensor.untyped_storage().data_ptr() for tensor in _tensors(subject.arguments)}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = subject.forward()
    total = sum(kept.values())
    output.sum().backward()  # lets go of what is kept; dropping the output alone would not
    subject.model.zero_grad()
    return total


def peak_bytes(subject: Subject) -> int:
    """Largest number of bytes allocated at once during a forward and backward pass."""
    with _silent(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        subject.forward().square().mean().backward()
    now = peak = 0
    for event in recorded.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    subject.model.zero_grad()
    return peak


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what compiled code writes to the error output: some profilers announce themselves."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _tensors(arguments: Any) -> Iterator[Tensor]:
    """All tensors inside of a basis, a tuple or a tensor."""
    if isinstance(arguments, Tensor):
        yield arguments
    elif isinstance(arguments, tuple):
        for part in arguments:
            yield from _tensors(part)
    elif hasattr(arguments, "__dict__"):
        for part in vars(arguments).values():
            yield from _tensors(part)
