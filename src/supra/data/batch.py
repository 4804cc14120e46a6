"""Batches: samples put together with the basis they are seen in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from supra.basis import SampledBasis
from supra.basis.sampled import Sampled
from supra.data.dataset import Dataset, Sample
from supra.data.errors import DataError
from supra.domain import Domain, Grid
from supra.domain.choice import check_choice

Positions = Literal["physical", "reference", "none"]
Weighting = Literal["quadrature", "uniform"]
BasisOf = Callable[[Domain], Sampled]


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples of one batch. Where their numbers of points differ, the rest has weight 0.

    Attributes:
        inputs: given functions, then the positions.
        targets: functions to predict; a time axis before the points if they depend on time.
        weights: of the points in losses and metrics, summing to 1; ``(points,)`` if shared.
        basis: shared by all samples or one per sample.
        domains: where each sample lives: one, or one per sample.
    """

    inputs: Float[Tensor, "batch points inputs"]
    targets: Float[Tensor, "batch *steps points targets"]
    weights: Float[Tensor, "*batch points"]
    basis: Sampled
    domains: tuple[Domain, ...]

    def __len__(self) -> int:
        return len(self.inputs)

    def to(self, *args: Any, **kwargs: Any) -> "Batch":
        """A copy on another device or in another floating-point type, as `torch.Tensor.to`."""
        moved = {
            field.name: getattr(self, field.name).to(*args, **kwargs)
            for field in fields(self)
            if field.name != "domains"
        }
        return replace(self, **moved)

    def pin_memory(self) -> "Batch":
        """Inputs and targets in page-locked memory, from where a GPU copies in the background."""
        return replace(self, inputs=self.inputs.pin_memory(), targets=self.targets.pin_memory())


@dataclass(frozen=True)
class Collate:
    """Puts samples together into a `Batch`.

    Attributes:
        basis: one sampled basis for all samples, or a function that gives the basis of a domain;
            where it gives one and the same for all samples, they share it.
        positions: what is added to the inputs: positions in space, positions in the unit box of
            a grid (``"reference"``), or nothing.
        weighting: weights of the points in losses and metrics: those of the domain's quadrature,
            or equal ones, as the community's benchmarks count.
    """

    basis: Sampled | BasisOf
    positions: Positions = "physical"
    weighting: Weighting = "quadrature"

    def __post_init__(self) -> None:
        check_choice("positions", self.positions, Positions, DataError)
        check_choice("weighting", self.weighting, Weighting, DataError)

    def __call__(self, samples: Sequence[Sample]) -> Batch:
        first = samples[0].domain
        shared = all(sample.domain is first for sample in samples)
        domains = (first,) if shared else tuple(sample.domain for sample in samples)
        weights = [_tensor(self._weights(domain)) for domain in domains]
        return Batch(
            inputs=_padded([_tensor(self.inputs(sample)) for sample in samples]),
            targets=_padded([_tensor(sample.targets) for sample in samples]),
            weights=weights[0] if shared else pad_sequence(weights, batch_first=True),
            basis=self._basis(domains),
            domains=domains,
        )

    def inputs(self, sample: Sample) -> Float[np.ndarray, "points inputs"]:
        """What a network is given of a sample: its inputs, then the positions."""
        if self.positions == "none":
            return sample.inputs
        return np.concatenate([sample.inputs, self._positions(sample.domain)], axis=-1)

    def _positions(self, domain: Domain) -> np.ndarray:
        if self.positions == "physical":
            return domain.points
        if not isinstance(domain, Grid):
            raise DataError(
                f"Reference positions exist on grids only: got a {type(domain).__name__}. Use "
                f'positions="physical".'
            )
        return domain.coordinates

    def _weights(self, domain: Domain) -> np.ndarray:
        if self.weighting == "quadrature":
            return domain.weights
        return np.full(len(domain.points), 1 / len(domain.points))

    def _basis(self, domains: tuple[Domain, ...]) -> Sampled:
        if isinstance(self.basis, Sampled):
            return self.basis
        bases = [self.basis(domain) for domain in domains]
        if all(basis is bases[0] for basis in bases):
            return bases[0]
        return SampledBasis.stack(bases)


def loader(
    dataset: Dataset, collate: Collate, batches: Sequence[list[int]], workers: int = 0
) -> DataLoader:
    """Batches of the samples with the given numbers, read by ``workers`` other processes."""
    return DataLoader(
        dataset,
        batch_sampler=batches,
        collate_fn=collate,
        num_workers=workers,
        pin_memory=torch.cuda.is_available(),
    )


def in_order(dataset: Dataset, size: int) -> list[list[int]]:
    """The numbers of all samples, ``size`` to a batch."""
    return [
        list(range(start, min(start + size, len(dataset))))
        for start in range(0, len(dataset), size)
    ]


def _tensor(array: np.ndarray) -> Tensor:
    return torch.tensor(array, dtype=torch.get_default_dtype())


def _padded(arrays: list[Tensor]) -> Tensor:
    """Arrays ``(*steps, points, channels)`` in one, zero where one has fewer points."""
    if len({array.shape for array in arrays}) == 1:
        return torch.stack(arrays)
    points = max(array.shape[-2] for array in arrays)
    return torch.stack(
        [torch.nn.functional.pad(a, (0, 0, 0, points - a.shape[-2])) for a in arrays]
    )
