"""A network on more points than fit into memory at once: a part of them at a time."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn

from supra.basis.sampled import Sampled, SampledBasis
from supra.model.block import Block
from supra.model.norm import InstanceNorm
from supra.model.operator import SupraOperator


@torch.inference_mode()
def predict_in_chunks(
    network: nn.Module,
    inputs: Float[Tensor, "batch points in_channels"],
    basis: Sampled,
    chunk: int = 65_536,
) -> Float[Tensor, "batch points out_channels"]:
    """What ``network(inputs, basis)`` gives, up to round-off.

    Points meet in the coordinates only, which are sums over points. So every block goes over the
    chunks twice: to sum the coordinates, and, attention done, to update the fields. Beside these
    fields (points × width), memory is needed for one chunk.

    Args:
        network: with layer norms or none, and without a local branch.
        inputs: as of the network.
        basis: shared by the batch.
        chunk: points at a time.
    """
    if not isinstance(network, SupraOperator) or not isinstance(basis, SampledBasis):
        raise ValueError(
            f"Points in chunks are for SUPRA on a mesh or points: got {type(network).__name__} and "
            f"{type(basis).__name__}."
        )
    _check(network, basis, chunk)
    fields = network.lift(inputs)
    for block in network.blocks:
        assert isinstance(block, Block)
        _update(block, fields, basis, chunk)
    return torch.cat([network.project(part) for part in fields.split(chunk, dim=1)], dim=1)


def _update(
    block: Block,
    fields: Float[Tensor, "batch points width"],
    basis: SampledBasis,
    chunk: int,
) -> None:
    """One block, in place."""
    coordinates = torch.zeros((), dtype=fields.dtype, device=fields.device)
    for where, part in _parts(basis, chunk):
        _, _, projected = block.prepared(fields[:, where], part)
        coordinates = coordinates + block.coefficients(projected, part)
    coordinates = block.changed(coordinates, basis)
    for where, part in _parts(basis, chunk):
        here, values, _ = block.prepared(fields[:, where], part)
        fields[:, where] = block.updated(here, values, coordinates, part)


def _parts(basis: SampledBasis, chunk: int) -> Iterator[tuple[slice, SampledBasis]]:
    for start in range(0, basis.points, chunk):
        where = slice(start, min(start + chunk, basis.points))
        yield where, SampledBasis(basis.values[where], basis.weights[where])


def _check(network: SupraOperator, basis: SampledBasis, chunk: int) -> None:
    if chunk < 1:
        raise ValueError(f"`chunk` counts points: got {chunk}.")
    if basis.values.ndim != 2:
        raise ValueError("Chunks are of one domain: got a basis per sample.")
    if any(
        isinstance(part, InstanceNorm) or getattr(part, "local", None) is not None
        for part in network.modules()
    ):
        raise ValueError(
            "In chunks, points may meet in the coordinates only: a local branch and instance "
            "norms need more."
        )
