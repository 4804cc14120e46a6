"""Gradients of sampled functions: central differences on grids, finite elements on meshes."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from supra.domain import Domain, DomainError, Grid, Mesh


@runtime_checkable
class Gradient(Protocol):
    """Gradients of functions on one domain, and the weights to integrate them with."""

    def __call__(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch places directions channels"]: ...

    @property
    def weights(self) -> Float[Tensor, " places"]: ...


@lru_cache(maxsize=64)
def gradient_on(domain: Domain) -> Gradient:
    """The gradient for fields on a domain; kept for the next batch on the same one."""
    if isinstance(domain, Grid) and domain.mapped is None and domain.nodes == "uniform":
        return GridGradient(domain.shape, domain.periodic, torch.tensor(domain.weights))
    mesh = domain.to_mesh() if isinstance(domain, Grid) else domain
    if not isinstance(mesh, Mesh):
        raise DomainError(
            f"Gradients need a grid or a mesh: a {type(domain).__name__} has no cells. Use the L2 "
            f"loss alone."
        )
    return MeshGradient(
        torch.tensor(mesh.cells),
        torch.tensor(mesh.gradients),
        torch.tensor(mesh.cell_measures / mesh.measure),
    )


@dataclass(frozen=True, eq=False)
class GridGradient:
    """Second-order differences on the unit box, one-sided at the ends of an open axis."""

    shape: tuple[int, ...]
    periodic: tuple[bool, ...]
    weights: Float[Tensor, " points"]

    def __call__(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch points directions channels"]:
        grid = fields.unflatten(1, self.shape)
        return torch.stack([self._along(grid, axis) for axis in range(len(self.shape))], dim=2)

    def _along(self, grid: Tensor, axis: int) -> Tensor:
        count, dim = self.shape[axis], axis + 1
        if self.periodic[axis]:
            slope = (grid.roll(-1, dim) - grid.roll(1, dim)) * (count / 2)
        else:
            spacing = 1 / (count - 1)
            order = 2 if count > 2 else 1
            (slope,) = torch.gradient(grid, spacing=spacing, dim=dim, edge_order=order)
        return slope.flatten(1, len(self.shape))


@dataclass(frozen=True, eq=False)
class MeshGradient:
    """The constant gradient in each cell of the function that is linear there.

    Attributes:
        cells: corners of each cell.
        slopes: gradients of the corners' hat functions.
        weights: measures of the cells, summing to 1.
    """

    cells: Int[Tensor, "cells corners"]
    slopes: Float[Tensor, "cells corners directions"]
    weights: Float[Tensor, " cells"]

    def __call__(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch cells directions channels"]:
        corners = fields[:, self.cells.to(fields.device)]
        return torch.einsum("znkc,nkd->zndc", corners, self.slopes.to(fields))
