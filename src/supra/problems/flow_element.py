"""Finite elements for incompressible flow on a grid of curved quadrilaterals: Q2 and Q1."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from supra.problems.errors import ProblemError

GAUSS = 4  # points per axis: three leave the rates alone, but not the last digit of the flux
PIVOT = 0.01  # rows are exchanged only for a pivot 100 times larger: less fill, same residual


class TaylorHood:
    r"""Velocities :math:`u \in Q_2^2` and pressures :math:`p \in Q_1` on a structured grid.

    Two by two cells of the grid are one element. Its nine nodes carry the velocity and its map from
    the unit square (isoparametric, so that curved walls pass through every node); its four corners
    carry the pressure. Find u, p with

    .. math:: \nu(\nabla u, \nabla v) + (u\cdot\nabla u, v) - (p, \nabla\cdot v) = (f, v),
              \qquad -(\nabla\cdot u, q) = 0

    for all v that vanish where the velocity is held, and all q. Where it is not held, the fluid
    leaves freely: :math:`\nu\,\partial u/\partial n = p\,n`.

    A state is one vector: the nodes' u_x, then their u_y, then the corners' p.
    """

    def __init__(self, points: Float[np.ndarray, "along across 2"]) -> None:
        along, across = points.shape[:2]
        self.unknowns = unknowns_of(along, across)
        corners = points.reshape(-1, 2)[self.unknowns.nodes]
        square = reference_square()
        # [element, quadrature point, physical axis, reference axis]
        jacobian = np.einsum("eia,bqi->eqab", corners, square.slopes, optimize=True)
        volume = np.linalg.det(jacobian)
        if not volume.min() > 0:
            raise ProblemError(
                f"The grid's cells must be convex enough and turn from the first axis to the "
                f"second anticlockwise: the Jacobian goes down to {volume.min():.1e}. Swap the "
                f"axes, or use smoother or finer cells."
            )
        self._weights = volume * square.weights
        self._inverse = np.linalg.inv(jacobian)
        self._diffusion = self._diffusion_matrices()
        self._divergence = self._divergence_matrices()

    def _diffusion_matrices(self) -> Float[np.ndarray, "elements 9 9"]:
        r""":math:`(\nabla\phi_i, \nabla\phi_j)`: the metric at each point, times fixed products."""
        metric = np.einsum(
            "eq,eqac,eqbc->eabq", self._weights, self._inverse, self._inverse, optimize=True
        )
        slopes = reference_square().slopes
        products = np.einsum("aqi,bqj->abqij", slopes, slopes)
        return (metric.reshape(len(metric), -1) @ products.reshape(-1, 81)).reshape(-1, 9, 9)

    def _divergence_matrices(self) -> Float[np.ndarray, "elements 4 18"]:
        r""":math:`-(\psi_l, \partial_a\phi_i)`."""
        square = reference_square()
        cofactor = np.einsum("eq,eqba->eabq", self._weights, self._inverse)
        products = np.einsum("ql,bqi->bqli", square.linear, square.slopes).reshape(-1, 4 * 9)
        matrices = cofactor.reshape(len(cofactor) * 2, -1) @ products  # [(element, a), (l, i)]
        return -matrices.reshape(-1, 2, 4, 9).swapaxes(1, 2).reshape(-1, 4, 18)

    def load(self, force: Float[np.ndarray, "2 along across"]) -> Float[np.ndarray, " unknowns"]:
        """(f, v) for a force given at the nodes."""
        square = reference_square()
        values = np.moveaxis(force.reshape(2, -1)[:, self.unknowns.nodes], 0, 1) @ square.quadratic.T
        parts = (self._weights[:, None] * values) @ square.quadratic
        return self.unknowns.gather(np.pad(parts.reshape(-1, 18), ((0, 0), (0, 4))))

    def linearised(
        self, state: Float[np.ndarray, " unknowns"], viscosity: float
    ) -> tuple[Float[np.ndarray, "elements 22 22"], Float[np.ndarray, " unknowns"]]:
        """The elements' matrices of the derivative at a state, and the left-hand side there."""
        square = reference_square()
        local = state[self.unknowns.cells]
        velocity = local[:, :18].reshape(-1, 2, 9)
        values = velocity @ square.quadratic.T  # [element, component, quadrature point]
        slopes = np.einsum("eai,bqi->eqab", velocity, square.slopes, optimize=True)
        gradient = (slopes @ self._inverse) * self._weights[..., None, None]
        speed = np.einsum("eqba,eaq->eqb", self._inverse, values) * self._weights[..., None]

        carried = speed.transpose(0, 2, 1).reshape(-1, 2 * len(square.weights))
        transport = viscosity * self._diffusion + (carried @ square.transport).reshape(-1, 9, 9)
        shear = gradient.transpose(0, 2, 3, 1) @ square.mass  # [element, a, b, (i, j)]
        matrices = np.zeros((len(local), 22, 22))
        blocks = matrices[:, :18, :18].reshape(-1, 2, 9, 2, 9).transpose(0, 1, 3, 2, 4)
        blocks += shear.reshape(-1, 2, 2, 9, 9)
        blocks[:, 0, 0] += transport
        blocks[:, 1, 1] += transport
        matrices[:, 18:, :18] = self._divergence
        matrices[:, :18, 18:] = self._divergence.swapaxes(1, 2)

        # the derivative counts the quadratic term twice
        convection = np.einsum("eqab,ebq->eaq", gradient, values) @ square.quadratic
        result = (matrices @ local[..., None])[..., 0]
        result[:, :18] -= convection.reshape(-1, 18)
        return matrices, self.unknowns.gather(result)

    def solve(
        self,
        matrices: Float[np.ndarray, "elements 22 22"],
        right: Float[np.ndarray, " unknowns"],
    ) -> Float[np.ndarray, " unknowns"]:
        """Solve for the free unknowns; the held ones are zero."""
        free = self.unknowns.free
        solution = np.zeros(len(right))
        solution[free] = self.unknowns.factor(matrices).solve(right[free])
        return solution


@dataclass(frozen=True, eq=False)
class Unknowns:
    """How the unknowns of a grid are numbered, and where an element's matrix goes.

    Attributes:
        nodes: the nine nodes of each element, row by row, by their number in the grid.
        cells: the 22 unknowns of each element: nine u_x, nine u_y, four p.
        held: which unknowns are given: both velocities at the inlet and on the walls.
    """

    nodes: Int[np.ndarray, "elements 9"]
    cells: Int[np.ndarray, "elements 22"]
    held: Bool[np.ndarray, " unknowns"]

    def gather(self, parts: Float[np.ndarray, "elements 22"]) -> Float[np.ndarray, " unknowns"]:
        """Sum of what the elements have for each unknown; nothing for the held ones."""
        total = np.bincount(self.cells.ravel(), parts.ravel(), len(self.held))
        return np.where(self.held, 0, total)

    def factor(self, matrices: Float[np.ndarray, "elements 22 22"]) -> SuperLU:
        """Factors of the matrix between the free unknowns, in their order.

        Raises:
            ProblemError: the matrix is singular.
        """
        values = np.bincount(self._places, matrices.ravel()[self._between_free])
        matrix = sparse.csc_array((values, *self._pattern), shape=(len(self.free),) * 2)
        try:
            return splu(matrix, "MMD_AT_PLUS_A", PIVOT, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise ProblemError(f"The linearised flow has no unique solution: {error}.") from error

    @cached_property
    def free(self) -> Int[np.ndarray, " free"]:
        """The unknowns to solve for."""
        return np.flatnonzero(~self.held)

    @cached_property
    def _between_free(self) -> np.ndarray:
        """Which of the elements' entries, row by row, are in no held row or column."""
        free = ~self.held[self.cells]
        return np.flatnonzero(free[:, :, None] & free[:, None, :])

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The matrix's non-zeros, column by column, and which one each entry adds to."""
        number = np.cumsum(~self.held) - 1
        cells = number[self.cells]
        place = cells[:, :, None] + cells[:, None, :] * len(self.free)
        return np.unique(place.ravel()[self._between_free], return_inverse=True)

    @property
    def _places(self) -> np.ndarray:
        return self._entries[1]

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        columns, rows = np.divmod(self._entries[0], len(self.free))
        starts = np.searchsorted(columns, np.arange(len(self.free) + 1))
        return rows.astype(np.int32), starts.astype(np.int32)


@cache
def unknowns_of(along: int, across: int) -> Unknowns:
    """The numbering on a grid of so many nodes; it is the same for all shapes of the pipe."""
    nodes = _patches(along, across, size=3)
    size, offset = along * across, 2 * along * across
    corners = _patches(along // 2 + 1, across // 2 + 1, size=2)
    held = np.zeros((along, across), dtype=bool)
    held[0] = held[:, 0] = held[:, -1] = True
    free_pressure = np.zeros((along // 2 + 1) * (across // 2 + 1), dtype=bool)
    return Unknowns(
        nodes,
        np.concatenate([nodes, nodes + size, corners + offset], axis=1),
        np.concatenate([held.ravel(), held.ravel(), free_pressure]),
    )


def _patches(along: int, across: int, size: int) -> Int[np.ndarray, "elements nodes"]:
    """Numbers of ``size × size`` nodes, for patches that share their sides."""
    number = np.arange(along * across).reshape(along, across)
    patches = np.lib.stride_tricks.sliding_window_view(number, (size, size))
    return patches[:: size - 1, :: size - 1].reshape(-1, size * size)


@dataclass(frozen=True, eq=False)
class ReferenceSquare:
    """Shape functions of the unit square at the points of a Gauss rule.

    Attributes:
        weights: the rule's weights.
        quadratic: φ_i, nine.
        slopes: their derivatives along the two axes.
        linear: ψ_l, four.
    """

    weights: Float[np.ndarray, " quadrature"]
    quadratic: Float[np.ndarray, "quadrature 9"]
    slopes: Float[np.ndarray, "2 quadrature 9"]
    linear: Float[np.ndarray, "quadrature 4"]

    @cached_property
    def mass(self) -> Float[np.ndarray, "quadrature 81"]:
        """φ_i φ_j at each point."""
        return np.einsum("qi,qj->qij", self.quadratic, self.quadratic).reshape(-1, 81)

    @cached_property
    def transport(self) -> Float[np.ndarray, "2_quadrature 81"]:
        """φ_i ∂_b φ_j at each axis and point."""
        return np.einsum("qi,bqj->bqij", self.quadratic, self.slopes).reshape(-1, 81)


@cache
def reference_square() -> ReferenceSquare:
    """The unit square with the rule we use."""
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    t = (1 + points) / 2
    quadratic = np.stack([(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)], axis=1)
    slope = np.stack([4 * t - 3, 4 - 8 * t, 4 * t - 1], axis=1)
    linear = np.stack([1 - t, t], axis=1)
    return ReferenceSquare(
        np.kron(weights, weights) / 4,
        np.kron(quadratic, quadratic),
        np.stack([np.kron(slope, quadratic), np.kron(quadratic, slope)]),
        np.kron(linear, linear),
    )
