"""One process or several that train together (torchrun)."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from supra.train.errors import TrainError

CPU = torch.device("cpu")


@dataclass(frozen=True)
class World:
    """This process among those that train together.

    Attributes:
        rank: number of this process; 0 is the one that writes.
        size: how many there are.
        device: where this one computes.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = CPU

    @property
    def writes(self) -> bool:
        return self.rank == 0

    def part(self, batch: Sequence[int]) -> tuple[list[int], float]:
        """This process's share of a batch, and the factor of its *sum* of losses.

        Gradients are averaged over processes; with the factor they are those of the batch's mean.
        A process without a share computes one sample for nothing, to stay in step.
        """
        own = list(batch[self.rank :: self.size])
        return (own, self.size / len(batch)) if own else ([batch[0]], 0.0)

    def wrapped(self, module: nn.Module) -> nn.Module:
        """The module, its gradients averaged over all processes."""
        if self.size == 1:
            return module
        return DistributedDataParallel(module)

    def total(self, values: Tensor) -> Tensor:
        """The sum over all processes; nccl adds only what is on its device."""
        values = values.to(self.device)
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            distributed.barrier()


ALONE = World()


@contextmanager
def joined_world(device: str | None = None) -> Iterator[World]:
    """The world that torchrun made, or this process alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    kind = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if kind not in ("cpu", "cuda") or (kind == "cuda" and not torch.cuda.is_available()):
        raise TrainError(f"The device is cpu, or cuda where there is a GPU: got {kind!r}.")
    if size == 1:
        yield World(device=torch.device(kind))
        return
    here = torch.device(kind)
    if kind == "cuda":
        here = torch.device(kind, int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(here)
    distributed.init_process_group("nccl" if kind == "cuda" else "gloo")
    try:
        yield World(distributed.get_rank(), size, here)
    finally:
        distributed.destroy_process_group()
