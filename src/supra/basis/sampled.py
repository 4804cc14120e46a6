"""Basis functions sampled on a domain: projection to coordinates and back, differentiable.

A sampled basis is a value that belongs to the data, not a module: it has no weights to learn.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from supra.basis.errors import BasisError
from supra.basis.stencil import Stencil


@dataclass(frozen=True, eq=False, repr=False)
class SampledBasis:
    r"""Basis functions :math:`\phi_k` at the points of one domain, or of one domain per sample.

    Attributes:
        values: :math:`\phi_k(x_p)`, shape ``(points, modes)``, or ``(batch, points, modes)`` where
            every sample of a batch has its own (see `stack`).
        weights: quadrature weights, shape ``(points,)`` or ``(batch, points)``; they sum to 1, and
            padded points have weight 0.
        shape: points along each axis, where the points are those of a grid in C order.
        stencil: operators between neighbouring points, where they were asked for.
        periodic: whether the points are those of a circle, the first the last one's neighbour.
        eigenvalues: of the Laplacian, ``(modes,)`` or ``(batch, modes)``, where the functions are
            eigenfunctions and their eigenvalues were asked for.
        analysis: values times weights, made here, so that projection is one matrix product.
        constant: coordinates of the function 1, made here: every layer asks for them.
    """

    values: Float[Tensor, "*batch points modes"]
    weights: Float[Tensor, "*batch points"]
    shape: tuple[int, ...] | None = None
    stencil: Stencil | None = None
    periodic: bool = False
    eigenvalues: Float[Tensor, "*batch modes"] | None = None
    analysis: Float[Tensor, "*batch points modes"] = field(init=False, repr=False)
    constant: Float[Tensor, "*batch modes"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.values.shape[:-1] != self.weights.shape or self.values.ndim not in (2, 3):
            raise BasisError(
                f"A basis needs one weight per point: got `values` of shape "
                f"{tuple(self.values.shape)} and `weights` of shape {tuple(self.weights.shape)}."
            )
        if self.shape is not None and prod(self.shape) != self.points:
            raise BasisError(f"A grid of shape {self.shape} does not have {self.points} points.")
        if self.stencil is not None and self.stencil.points != self.weights.numel():
            raise BasisError(
                f"{self.stencil!r} does not fit `weights` of shape {tuple(self.weights.shape)}."
            )
        if self.eigenvalues is not None:
            self._check_eigenvalues(self.eigenvalues)
        object.__setattr__(self, "analysis", self.values * self.weights[..., None])
        object.__setattr__(self, "constant", self.analysis.sum(dim=-2))

    def _check_eigenvalues(self, eigenvalues: Tensor) -> None:
        wanted = (*self.values.shape[:-2], self.modes)
        if tuple(eigenvalues.shape) != wanted:
            raise BasisError(
                f"A basis has one eigenvalue per function, an array of shape {wanted}: got "
                f"{tuple(eigenvalues.shape)}."
            )

    def __repr__(self) -> str:
        size, kind = tuple(self.values.shape), self.values.dtype
        return f"SampledBasis({size} values, {kind}, {self.values.device})"

    @classmethod
    def stack(cls, bases: Iterable["Sampled"]) -> "SampledBasis":
        """One basis per sample of a batch, padded to the most points with weight 0.

        Fields of such a batch are padded likewise; what they hold at padded points is ignored,
        and `fields` gives 0 there.
        """
        dense = [b.dense() if isinstance(b, SeparableBasis) else b for b in bases]
        modes = sorted({basis.modes for basis in dense})
        precisions = {basis.values.dtype for basis in dense}
        shared = all(basis.values.ndim == 2 for basis in dense)
        if len(modes) != 1 or len(precisions) != 1 or not shared:
            raise BasisError(
                f"Bases are stacked one per sample, with the same number of modes and the same "
                f"precision: got {modes} modes and {precisions} in {len(dense)} bases."
            )
        pad = torch.nn.utils.rnn.pad_sequence
        values = pad([basis.values for basis in dense], batch_first=True)
        weights = pad([basis.weights for basis in dense], batch_first=True)
        shapes = {basis.shape for basis in dense}
        stencils = [basis.stencil for basis in dense if basis.stencil is not None]
        eigenvalues = [basis.eigenvalues for basis in dense if basis.eigenvalues is not None]
        return cls(
            values,
            weights,
            shapes.pop() if len(shapes) == 1 else None,
            Stencil.stack(stencils, values.shape[1]) if len(stencils) == len(dense) else None,
            eigenvalues=torch.stack(eigenvalues) if len(eigenvalues) == len(dense) else None,
        )

    @property
    def modes(self) -> int:
        """Number of basis functions."""
        return self.values.shape[-1]

    @property
    def points(self) -> int:
        """Number of points, padding included."""
        return self.values.shape[-2]

    def coefficients(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch channels modes"]:
        r"""Coordinates :math:`\hat u^k = \sum_p w_p\, \phi_k(x_p)\, u(x_p)`."""
        _check_axis(fields, 1, self.points, "points")
        _check_alike(fields, self.values)
        return (self.analysis.mT @ fields).mT

    def fields(
        self,
        coefficients: Float[Tensor, "batch channels modes"],
        onto: Float[Tensor, "batch points channels"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        r"""Functions :math:`u(x_p) = \sum_k \hat u^k \phi_k(x_p)`, added to ``onto`` if given."""
        _check_axis(coefficients, 2, self.modes, "modes")
        return _product(self.values, coefficients.mT, onto)

    def gram(self) -> Float[Tensor, "*batch modes modes"]:
        r"""Inner products :math:`\langle\phi_k, \phi_l\rangle`: the identity if orthonormal."""
        return self.analysis.mT @ self.values

    def unwelded(self, node_map: Int[Tensor, " old_points"]) -> "SampledBasis":
        """The same functions on the nodes before a mesh was welded.

        Nodes that were merged share their weight, so integrals and orthonormality stay as they
        are. ``node_map`` is that of the welded mesh. A stencil is not taken along: that of the
        nodes before is ``Stencil.from_mesh(welded, node_map)``.
        """
        node_map = torch.as_tensor(node_map, device=self.values.device)
        if node_map.min() < 0:
            raise BasisError(
                "`node_map` has removed nodes (-1), where the functions have no value."
            )
        shared = torch.bincount(node_map, minlength=self.points)
        weights = (self.weights / shared)[node_map]
        return type(self)(self.values[node_map], weights, eigenvalues=self.eigenvalues)

    def with_stencil(self, stencil: Stencil) -> "SampledBasis":
        """The same basis with operators between neighbouring points, in its own precision."""
        return replace(self, stencil=stencil.to(self.values))

    def with_eigenvalues(self, eigenvalues: Float[Tensor, "*batch modes"]) -> "SampledBasis":
        """The same basis with the eigenvalues of its functions, in its own precision."""
        return replace(self, eigenvalues=eigenvalues.to(self.values))

    def to(self, *args: Any, **kwargs: Any) -> "SampledBasis":
        """The basis on another device or in another floating-point type, as `torch.Tensor.to`."""
        parts = ("values", "weights", "stencil", "eigenvalues")
        held: dict[str, Any] = {name: getattr(self, name) for name in parts}
        moved: dict[str, Any] = {
            name: each.to(*args, **kwargs) for name, each in held.items() if each is not None
        }
        # Every batch is asked to move: where it is there already, nothing is computed again.
        unmoved = all(moved[name] is held[name] for name in moved)
        return self if unmoved else replace(self, **moved)


@dataclass(frozen=True, eq=False)
class SeparableBasis:
    r"""Products of functions of one axis each, :math:`\phi_{kl}(x,y) = \phi_k(x)\,\psi_l(y)`.

    Transforms one axis at a time: the cost per channel is points × the *sum* of the axes' modes,
    where a dense basis takes points × their *product*. Points and modes are flattened in C order.

    Attributes:
        axes: the functions along each axis.
        weights: products of the axes' weights, made here: a network asks for them in every layer.
        constant: coordinates of the function 1, made here as well.
    """

    axes: tuple[SampledBasis, ...]
    weights: Float[Tensor, " points"] = field(init=False, repr=False)
    constant: Float[Tensor, " modes"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.axes) <= 3 or any(axis.values.ndim != 2 for axis in self.axes):
            raise BasisError(f"A separable basis has 1 to 3 axes: got {len(self.axes)}.")
        weights, constant = self.axes[0].weights, self.axes[0].constant
        for axis in self.axes[1:]:
            weights = torch.outer(weights, axis.weights).flatten()
            constant = torch.outer(constant, axis.constant).flatten()
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "constant", constant)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(axis.points for axis in self.axes)

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """Modes along each axis."""
        return tuple(axis.modes for axis in self.axes)

    @property
    def modes(self) -> int:
        return prod(self.mode_shape)

    @property
    def points(self) -> int:
        return prod(self.shape)

    def coefficients(
        self, fields: Float[Tensor, "batch points channels"]
    ) -> Float[Tensor, "batch channels modes"]:
        r"""Coordinates :math:`\hat u^k`, one axis after the other."""
        _check_axis(fields, 1, self.points, "points")
        _check_alike(fields, self.axes[0].values)
        batch, _, channels = fields.shape
        # The part of the array behind an axis stays contiguous, so each step is one batched
        # matrix product without a copy: (before, n_i, done) -> (before, k_i, done). The last axis
        # comes first: many small products are faster than few with long rows.
        done = channels
        for axis in reversed(self.axes):
            fields = axis.analysis.mT @ fields.reshape(-1, axis.points, done)
            done *= axis.modes
        return fields.reshape(batch, self.modes, channels).mT

    def fields(
        self,
        coefficients: Float[Tensor, "batch channels modes"],
        onto: Float[Tensor, "batch points channels"] | None = None,
    ) -> Float[Tensor, "batch points channels"]:
        r"""Functions :math:`u(x_p) = \sum_k \hat u^k \phi_k(x_p)`, added to ``onto`` if given."""
        _check_axis(coefficients, 2, self.modes, "modes")
        batch, channels, _ = coefficients.shape
        *others, last = self.axes
        fields, rest = coefficients.mT, self.modes * channels
        for axis in others:
            rest //= axis.modes
            fields = axis.values @ fields.reshape(-1, axis.modes, rest)
        onto = None if onto is None else onto.reshape(-1, last.points, channels)
        fields = _product(last.values, fields.reshape(-1, last.modes, channels), onto)
        return fields.reshape(batch, self.points, channels)

    def gram(self) -> Float[Tensor, "modes modes"]:
        r"""Inner products :math:`\langle\phi_k, \phi_l\rangle`."""
        gram = self.axes[0].gram()
        for axis in self.axes[1:]:
            gram = torch.kron(gram, axis.gram())
        return gram

    def dense(self) -> SampledBasis:
        """The same basis written out as one array of ``points × modes``."""
        values = self.axes[0].values
        for axis in self.axes[1:]:
            values = torch.kron(values, axis.values)
        return SampledBasis(values, self.weights, self.shape)

    def to(self, *args: Any, **kwargs: Any) -> "SeparableBasis":
        """The basis on another device or in another floating-point type, as `torch.Tensor.to`."""
        axes = tuple(axis.to(*args, **kwargs) for axis in self.axes)
        unmoved = all(new is old for new, old in zip(axes, self.axes, strict=True))
        return self if unmoved else type(self)(axes)


Sampled = SampledBasis | SeparableBasis


def autocasting(tensor: Tensor) -> bool:
    """Whether products on this tensor's device are done in a lower precision right now."""
    kind = tensor.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


def _product(left: Tensor, right: Tensor, onto: Tensor | None) -> Tensor:
    """``left @ right``, or ``onto + left @ right`` without an array in between."""
    if onto is None or autocasting(left):  # sums stay in full precision
        product = left @ right
        return product if onto is None else onto + product
    return torch.baddbmm(onto, left.expand(onto.shape[0], -1, -1), right)


def _check_axis(array: Tensor, axis: int, expected: int, name: str) -> None:
    if torch.compiler.is_compiling():
        return
    if array.ndim != 3 or array.shape[axis] != expected:
        wanted = "(batch, points, channels)" if name == "points" else "(batch, channels, modes)"
        raise BasisError(
            f"This basis has {expected} {name} and takes arrays of shape {wanted}: got "
            f"{tuple(array.shape)}."
        )


def _check_alike(fields: Tensor, values: Tensor) -> None:
    """Same precision (autocast sees to it by itself), same batch where each sample has a basis."""
    if torch.compiler.is_compiling() or autocasting(fields):
        return
    if fields.dtype != values.dtype:
        raise BasisError(
            f"Fields and basis must have one precision: got {fields.dtype} and {values.dtype}. "
            f"Convert one, e.g. basis.to({fields.dtype})."
        )
    if values.ndim == 3 and len(values) != len(fields):
        raise BasisError(f"Got {len(fields)} samples and bases for {len(values)}.")
