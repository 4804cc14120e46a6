r"""More samples by symmetry, only where the equation has it.

A symmetry maps solutions to solutions: it moves the points of the grid and may change the sign of
the fields. Positions are no fields and stay: they are added to the inputs afterwards.

**Darcy**: the square, :math:`f = 1` and the boundary values are mapped to themselves by the eight
symmetries of the square.

**Navier–Stokes**: vorticity is turned by a motion :math:`g` of the torus into
:math:`\det(g)\, w(g^{-1}x)`, and the forcing
:math:`f = 0.1 (\sin\theta + \cos\theta)`, :math:`\theta = 2\pi(x+y)`, must be so turned into
itself. A plain flip or swap of the axes does not do that. These do, and all they make up:
a shift along :math:`x + y = \text{const}`; the half turn with a shift by a quarter, as
:math:`\sin\theta + \cos\theta` is even about :math:`\theta = \pi/4`; the swap of the axes with a
shift by a half and the opposite sign, as :math:`\det(g) = -1` and :math:`f(\theta+\pi) = -f`.

In the other public sets the geometry is the input, and nothing is offered.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from supra.data.batch import Batch
from supra.data.dataset import Sample
from supra.data.errors import DataError
from supra.data.public.sets import public_set


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Where each point of a grid takes its value from, and the sign that fields get."""

    source: Int[np.ndarray, " points"]
    sign: int = 1

    def __call__(self, sample: Sample) -> Sample:
        fields = (sample.inputs, sample.targets)
        inputs, targets = (self.sign * np.take(each, self.source, axis=-2) for each in fields)
        return replace(sample, inputs=inputs, targets=targets)

    def moved(
        self, values: Float[Tensor, "batch *steps points channels"]
    ) -> Float[Tensor, "batch *steps points channels"]:
        """All of a batch."""
        source = torch.as_tensor(self.source, device=values.device)
        return self.sign * values.index_select(-2, source)

    @property
    def inverse(self) -> "Symmetry":
        return Symmetry(np.argsort(self.source), self.sign)


def symmetries(name: str, shape: tuple[int, ...], group: str | None = None) -> tuple[Symmetry, ...]:
    """The symmetries of a public set on a grid of that shape; the identity is the first.

    Args:
        name: of the set; an error if its equation has none.
        shape: of the grid.
        group: ``"flips"`` (the paper's) or ``"square"`` for Darcy, ``"torus"`` for
            Navier–Stokes. The first of a set's groups if not given.
    """
    groups = _GROUPS.get(public_set(name).name, {})
    if not groups:
        raise DataError(
            f"The data set {name} allows no symmetry of the grid; those that do: "
            f"{', '.join(_GROUPS)}. Train without augmentation."
        )
    group = next(iter(groups)) if group is None else group
    if group not in groups:
        raise DataError(f"{name} has the symmetries {' and '.join(groups)}: got {group!r}.")
    return tuple(groups[group](shape))


@dataclass(frozen=True, eq=False)
class Augmentation:
    """Moves every sample of a batch by a symmetry of its own, drawn at random.

    Attributes:
        symmetries: to draw from, all alike.
        fields: number of input channels that are fields; positions follow them, and stay.
    """

    symmetries: tuple[Symmetry, ...]
    fields: int

    def __call__(self, batch: Batch, generator: torch.Generator) -> Batch:
        """A moved copy; the same for the same state of the generator (on the CPU)."""
        self._check(batch)
        drawn = torch.randint(len(self.symmetries), (len(batch),), generator=generator)
        chosen = [self.symmetries[number] for number in drawn.tolist()]
        source = torch.as_tensor(np.stack([each.source for each in chosen])).to(batch.inputs.device)
        sign = batch.inputs.new_tensor([each.sign for each in chosen])
        moved = _moved(batch.inputs[..., : self.fields], source, sign)
        inputs = torch.cat([moved, batch.inputs[..., self.fields :]], dim=-1)
        return replace(batch, inputs=inputs, targets=_moved(batch.targets, source, sign))

    def _check(self, batch: Batch) -> None:
        points = len(self.symmetries[0].source)
        if len(batch.domains) != 1 or batch.inputs.shape[1] != points:
            raise DataError(
                f"Symmetries of a grid of {points} points move batches on that grid, shared by "
                f"all samples: got {batch.inputs.shape[1]} points on {len(batch.domains)} domains."
            )


def _moved(
    values: Float[Tensor, "batch *steps points channels"],
    source: Int[Tensor, "batch points"],
    sign: Float[Tensor, " batch"],
) -> Float[Tensor, "batch *steps points channels"]:
    ones = (1,) * (values.ndim - 3)
    index = source.view(len(source), *ones, -1, 1)
    return torch.take_along_dim(values, index, dim=-2) * sign.view(-1, *ones, 1, 1)


def _flips(shape: tuple[int, ...]) -> Iterator[Symmetry]:
    points = _numbers(shape)
    for x, y in product((1, -1), repeat=2):
        yield Symmetry(points[::x, ::y].ravel())


def _square(shape: tuple[int, ...]) -> Iterator[Symmetry]:
    _check_square(shape)
    for flip in _flips(shape):
        yield flip
        yield Symmetry(flip.source.reshape(shape).T.ravel())


def _torus(shape: tuple[int, ...]) -> Iterator[Symmetry]:
    _check_square(shape)
    if shape[0] % 4:
        raise DataError(f"Shifts by a quarter need a grid of 4 n points per axis: got {shape}.")
    points = _numbers(shape)
    swapped = np.roll(points.T, shape[0] // 2, axis=0)
    for shift, (source, sign) in product(range(shape[0]), ((points, 1), (swapped, -1))):
        moved = np.roll(source, (shift, -shift), axis=(0, 1))
        yield Symmetry(moved.ravel(), sign)
        yield Symmetry(_half_turn(moved).ravel(), sign)


def _half_turn(values: np.ndarray) -> np.ndarray:
    """Values at (1/4 - x, -y)."""
    turned = np.roll(values[::-1, ::-1], 1, axis=(0, 1))  # at (-x, -y): point 0 stays
    return np.roll(turned, len(values) // 4, axis=0)


def _numbers(shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) != 2:
        raise DataError(f"These symmetries are those of grids of two axes: got shape {shape}.")
    return np.arange(shape[0] * shape[1]).reshape(shape)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(set(shape)) != 1:
        raise DataError(f"Swapping the axes needs as many points on each: got shape {shape}.")


_GROUPS: dict[str, dict[str, Callable[[tuple[int, ...]], Iterator[Symmetry]]]] = {
    "darcy": {"flips": _flips, "square": _square},
    "navier_stokes": {"torus": _torus},
}
