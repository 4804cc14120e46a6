"""Operators between neighbouring nodes of a mesh: what a convolution kernel is on a grid."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from torch import Tensor
from torch.nn.functional import embedding_bag, pad

from supra.basis.errors import BasisError
from supra.basis.fem import gradient_matrices, stiffness_matrix
from supra.domain import Mesh


@dataclass(frozen=True, eq=False, repr=False)
class SparseRows:
    """A sparse matrix by rows.

    Attributes:
        starts: where each row starts among the entries, and where the last one ends.
        columns: of the entries.
        values: of the entries.
    """

    starts: Int[Tensor, " rows_and_end"]
    columns: Int[Tensor, " entries"]
    values: Float[Tensor, " entries"]

    @classmethod
    def from_scipy(cls, matrix: sparse.csr_array) -> "SparseRows":
        starts, columns = (torch.from_numpy(a.astype(np.int32)) for a in _pattern(matrix))
        return cls(starts, columns, torch.from_numpy(matrix.data))

    @classmethod
    def block_diagonal(
        cls, blocks: Sequence["SparseRows"], rows: int, columns: int
    ) -> "SparseRows":
        """Blocks of ``rows × columns`` each, those that are smaller filled up with zeros."""
        starts, moved, before = [blocks[0].starts[:1]], [], 0
        for number, block in enumerate(blocks):
            entries = len(block.values)
            ends = pad(block.starts[1:], (0, rows + 1 - len(block.starts)), value=entries)
            starts.append(ends + before)
            moved.append(block.columns + number * columns)
            before += entries
        return cls(torch.cat(starts), torch.cat(moved), torch.cat([b.values for b in blocks]))

    @property
    def rows(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.columns.nbytes + self.values.nbytes

    def __matmul__(
        self, dense: Float[Tensor, "columns channels"]
    ) -> Float[Tensor, "rows channels"]:
        # A sum of rows with weights is what tables of embeddings are made for: PyTorch's kernel
        # for them is faster on CPU than its sparse matrices, and takes any device and precision.
        return embedding_bag(
            self.columns,
            dense,
            self.starts,
            mode="sum",
            per_sample_weights=self.values,
            include_last_offset=True,
        )

    def to(self, *args: Any, **kwargs: Any) -> "SparseRows":
        values = self.values.to(*args, **kwargs)
        if values is self.values:
            return self
        device = values.device
        return type(self)(self.starts.to(device), self.columns.to(device), values)


@dataclass(frozen=True, eq=False, repr=False)
class Stencil:
    r"""Dimensionless operators :math:`A_o` on the nodes of a mesh, or of one mesh per sample.

    The first is the Laplacian :math:`D^{-1}K` with :math:`D` the diagonal of the stiffness
    :math:`K`: its spectrum lies between 0 and the number of corners of a cell. The others are
    :math:`h\,\partial_x, h\,\partial_y, …`: the mean of the gradients of a node's cells, weighted
    by their measures, times the local size :math:`h` of the mesh (the node's measure to the power
    of one over the dimension). All give 0 for constants; the gradients are exact for linear
    functions, and tangential on a surface.

    Attributes:
        total: :math:`(A_1, A_2, …)` side by side, so that it takes one function for each operator
            and adds what they make of them; shape ``(points, points · operators)``, the operators
            of one point together.
        adjoint: its transpose.
        operators: how many: one more than the space has dimensions.
    """

    total: SparseRows
    adjoint: SparseRows
    operators: int
    _copies: dict[int, "Stencil"] = field(init=False, default_factory=dict)

    @classmethod
    def from_mesh(
        cls, mesh: Mesh, node_map: Int[np.ndarray, " old_points"] | None = None
    ) -> "Stencil":
        """In float64, at the nodes of a mesh, or at those that it had before it was welded.

        Of nodes that were merged, the mean is taken, and each receives the result.

        Args:
            mesh: checked first; see `Mesh.check`.
            node_map: that of the welded mesh, for values at the nodes before.
        """
        mesh.check()
        stiffness = stiffness_matrix(mesh)
        sizes = mesh.node_measures ** (1 / mesh.dimension)
        operators = [_scaled(1 / stiffness.diagonal(), stiffness)]
        operators += [_scaled(sizes, matrix) for matrix in gradient_matrices(mesh)]
        if node_map is not None:
            operators = _unwelded(operators, node_map)
        return cls.from_operators(operators)

    @classmethod
    def from_operators(cls, operators: Sequence[sparse.csr_array]) -> "Stencil":
        """Of square matrices of one size."""
        count, points = len(operators), operators[0].shape[0]
        parts = [_without_round_off(matrix).tocoo() for matrix in operators]
        rows = np.concatenate([part.row for part in parts])
        columns = np.concatenate([part.col * count + o for o, part in enumerate(parts)])
        values = np.concatenate([part.data for part in parts])
        total = sparse.coo_array((values, (rows, columns)), shape=(points, points * count)).tocsr()
        return cls(
            SparseRows.from_scipy(total), SparseRows.from_scipy(total.T.tocsr()), operators=count
        )

    @classmethod
    def stack(cls, stencils: Sequence["Stencil"], points: int) -> "Stencil":
        """One mesh per sample of a batch, each padded to so many points, as one large mesh."""
        counts = {stencil.operators for stencil in stencils}
        if len(counts) != 1:
            raise BasisError(
                f"Stencils of one batch have the same operators: got {sorted(counts)} of them. Do "
                f"the meshes lie in spaces of different dimensions?"
            )
        count = counts.pop()
        sizes = (points, points * count)
        total = SparseRows.block_diagonal([s.total for s in stencils], *sizes)
        adjoint = SparseRows.block_diagonal([s.adjoint for s in stencils], *sizes[::-1])
        return cls(total, adjoint, count)

    def of_batch(self, batch: int, points: int) -> "Stencil":
        """For all rows of a batch of fields: as it is, or one copy for each of their samples.

        The last one is kept: every layer asks for the same.
        """
        if self.points == batch * points:
            return self
        if self.points != points:
            raise BasisError(f"{self!r} does not fit a batch of {batch} × {points} points.")
        if batch not in self._copies:
            self._copies.clear()
            with torch.inference_mode(False):  # training may ask next
                self._copies[batch] = self.stack([self] * batch, points)
        return self._copies[batch]

    @property
    def points(self) -> int:
        """Number of points, of all samples where each has its own mesh."""
        return self.total.rows

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.total.nbytes + self.adjoint.nbytes

    def to(self, *args: Any, **kwargs: Any) -> "Stencil":
        """On another device or in another floating-point type, as `torch.Tensor.to`."""
        total = self.total.to(*args, **kwargs)
        if total is self.total:
            return self
        return type(self)(total, self.adjoint.to(*args, **kwargs), self.operators)

    def __repr__(self) -> str:
        return f"Stencil({self.operators} operators at {self.points} points)"


def _pattern(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    return matrix.indptr, matrix.indices


def _scaled(factors: Float[np.ndarray, " points"], matrix: sparse.csr_array) -> sparse.csr_array:
    return (sparse.diags_array(factors) @ matrix).tocsr()


def _without_round_off(matrix: sparse.csr_array) -> sparse.csr_array:
    """Inside of a mesh, gradients do not use the node's own value: up to round-off."""
    matrix = matrix.tocsr(copy=True)
    matrix.data[np.abs(matrix.data) < 1e-13 * np.abs(matrix.data).max(initial=0)] = 0
    matrix.eliminate_zeros()
    return matrix


def _unwelded(
    operators: Sequence[sparse.csr_array], node_map: Int[np.ndarray, " old_points"]
) -> list[sparse.csr_array]:
    if node_map.min() < 0:
        raise BasisError("`node_map` has removed nodes (-1), where functions have no value.")
    old, new = len(node_map), operators[0].shape[0]
    spread = sparse.csr_array((np.ones(old), (np.arange(old), node_map)), shape=(old, new))
    merged = np.bincount(node_map, minlength=new)
    mean = _scaled(1 / merged, spread.T.tocsr())
    return [(spread @ matrix @ mean).tocsr() for matrix in operators]
