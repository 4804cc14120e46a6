"""Finite elements for incompressible flow on a grid of curved quadrilaterals."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Float

from supra.problems.errors import ProblemError
from supra.problems.flow_unknowns import CENTRE, SKELETON, unknowns_of

GAUSS = 3  # points per axis


class FlowElements:
    r"""Continuous biquadratic velocities and discontinuous linear pressures (Q2–P1) on a grid.

    Two by two cells of the grid are one element. Its nine nodes carry the velocity and its map from
    the unit square (isoparametric, so that curved walls pass through every node). Its pressure is
    linear in the square's coordinates. Find u, p with

    .. math:: \nu(\nabla u, \nabla v) + (u\cdot\nabla u, v) - (p, \nabla\cdot v) = (f, v),
              \qquad -(\nabla\cdot u, q) = 0

    for all v that vanish where the velocity is held, and all q. Where it is not held, the fluid
    leaves freely: :math:`\nu\,\partial u/\partial n = p\,n`.

    The pair has the orders of Taylor–Hood's (Q2–Q1), third in u and second in p. But it conserves
    mass in each element: the flux through all sections of a pipe is the same, where with Taylor and
    Hood's it is right in the mean only.

    A state is one vector, numbered by `Unknowns`.
    """

    def __init__(self, points: Float[np.ndarray, "along across 2"]) -> None:
        self.unknowns = unknowns_of(*points.shape[:2])
        square = reference_square()
        nodes = points.reshape(-1, 2)[self.unknowns.nodes]
        # [element, quadrature point, physical axis, reference axis]
        jacobian = np.einsum("eia,bqi->eqab", nodes, square.slopes, optimize=True)
        volume = np.linalg.det(jacobian)
        if not volume.min() > 0:
            raise ProblemError(
                f"The grid's cells must not be folded, and its second axis must lie to the left "
                f"of the first: the Jacobian goes down to {volume.min():.1e}. Reverse an axis, or "
                f"use smoother or finer cells."
            )
        self._weights = volume * square.weights
        self._inverse = np.linalg.inv(jacobian)
        self._diffusion = self._diffusion_matrices()
        self._divergence = self._divergence_matrices()

    def load(self, force: Float[np.ndarray, "2 along across"]) -> Float[np.ndarray, " unknowns"]:
        """(f, v) for a force given at the nodes."""
        phi = reference_square().quadratic
        values = force.reshape(2, -1)[:, self.unknowns.nodes].swapaxes(0, 1) @ phi.T
        parts = (self._weights[:, None] * values) @ phi
        return self.unknowns.gather(np.pad(parts.reshape(-1, 18), ((0, 0), (0, 3))))

    def linearised(
        self, state: Float[np.ndarray, " unknowns"], viscosity: float
    ) -> tuple[Float[np.ndarray, "elements 21 21"], Float[np.ndarray, " unknowns"]]:
        """The elements' matrices of the derivative at a state, and the left-hand side there."""
        local = state[self.unknowns.cells]
        values, gradient = self._velocity(local[:, :18].reshape(-1, 2, 9))
        matrices = np.zeros((len(local), 21, 21))
        matrices[:, :18, :18] = self._transport(values, gradient, viscosity)
        matrices[:, 18:, :18] = self._divergence
        matrices[:, :18, 18:] = self._divergence.swapaxes(1, 2)
        left = (matrices @ local[..., None])[..., 0]
        # the derivative of the quadratic term, times the state, is twice that term
        convection = np.einsum("eqab,eqb->eaq", gradient, values) * self._weights[:, None]
        left[:, :18] -= (convection @ reference_square().quadratic).reshape(-1, 18)
        return matrices, self.unknowns.gather(left)

    def solve(
        self,
        matrices: Float[np.ndarray, "elements 21 21"],
        right: Float[np.ndarray, " unknowns"],
    ) -> Float[np.ndarray, " unknowns"]:
        """Solve for the unknowns that are not held; those are zero.

        Each element's own unknowns are eliminated first, in all elements at once.
        """
        unknowns = self.unknowns
        across = matrices[:, SKELETON[:, None], CENTRE]
        back = np.linalg.solve(
            matrices[:, CENTRE[:, None], CENTRE],
            np.concatenate(
                [matrices[:, CENTRE[:, None], SKELETON], right[unknowns.cells[:, CENTRE], None]],
                axis=2,
            ),
        )
        reduced = matrices[:, SKELETON[:, None], SKELETON] - across @ back[..., :-1]
        parts = np.zeros(unknowns.cells.shape)
        parts[:, SKELETON] = (across @ back[..., -1:])[..., 0]
        remaining = right - unknowns.gather(parts)

        solution = np.zeros(len(right))
        order = unknowns.order
        solution[order] = unknowns.factor(reduced).solve(remaining[order])
        sides = solution[unknowns.cells[:, SKELETON], None]
        solution[unknowns.cells[:, CENTRE]] = back[..., -1] - (back[..., :-1] @ sides)[..., 0]
        return solution

    def _velocity(
        self, nodes: Float[np.ndarray, "elements 2 9"]
    ) -> tuple[Float[np.ndarray, "elements q 2"], Float[np.ndarray, "elements q 2 2"]]:
        """u_a and ∂_b u_a at the quadrature points."""
        square = reference_square()
        values = (nodes @ square.quadratic.T).swapaxes(1, 2)
        slopes = np.einsum("eai,bqi->eqab", nodes, square.slopes, optimize=True)
        return values, slopes @ self._inverse

    def _transport(
        self,
        values: Float[np.ndarray, "elements q 2"],
        gradient: Float[np.ndarray, "elements q 2 2"],
        viscosity: float,
    ) -> Float[np.ndarray, "elements 18 18"]:
        r""":math:`\nu(\nabla\phi_i, \nabla\phi_j) + (\phi_i, u\cdot\nabla\phi_j)`, and between
        components a and b :math:`(\phi_i, \phi_j\,\partial_b u_a)`.
        """
        square = reference_square()
        weights = self._weights[..., None]
        speed = np.einsum("eqba,eqa->ebq", self._inverse, weights * values)
        along = speed.reshape(len(speed), -1) @ square.transport
        both = viscosity * self._diffusion + along.reshape(-1, 9, 9)
        between = (weights[..., None] * gradient).transpose(0, 2, 3, 1) @ square.mass
        blocks = between.reshape(-1, 2, 2, 9, 9)
        blocks[:, 0, 0] += both
        blocks[:, 1, 1] += both
        return blocks.swapaxes(2, 3).reshape(-1, 18, 18)

    def _diffusion_matrices(self) -> Float[np.ndarray, "elements 9 9"]:
        r""":math:`(\nabla\phi_i, \nabla\phi_j)`: the metric at each point, times fixed products."""
        metric = np.einsum("eq,eqac,eqbc->eabq", self._weights, self._inverse, self._inverse)
        slopes = reference_square().slopes
        products = np.einsum("aqi,bqj->abqij", slopes, slopes).reshape(-1, 81)
        return (metric.reshape(len(metric), -1) @ products).reshape(-1, 9, 9)

    def _divergence_matrices(self) -> Float[np.ndarray, "elements 3 18"]:
        r""":math:`-(\psi_l, \partial_a\phi_i)`."""
        square = reference_square()
        cofactor = np.einsum("eq,eqba->eabq", self._weights, self._inverse)
        products = np.einsum("ql,bqi->bqli", square.linear, square.slopes).reshape(-1, 3 * 9)
        matrices = cofactor.reshape(2 * len(cofactor), -1) @ products  # [(element, a), (l, i)]
        return -matrices.reshape(-1, 2, 3, 9).swapaxes(1, 2).reshape(-1, 3, 18)


@dataclass(frozen=True, eq=False)
class ReferenceSquare:
    """Shape functions of the unit square at the points of a Gauss rule.

    Attributes:
        weights: the rule's weights.
        quadratic: φ_i, nine.
        slopes: their derivatives along the two axes.
        linear: ψ_l: one and the two coordinates from the centre.
    """

    weights: Float[np.ndarray, " q"]
    quadratic: Float[np.ndarray, "q 9"]
    slopes: Float[np.ndarray, "2 q 9"]
    linear: Float[np.ndarray, "q 3"]

    @cached_property
    def mass(self) -> Float[np.ndarray, "q 81"]:
        """φ_i φ_j at each point."""
        return np.einsum("qi,qj->qij", self.quadratic, self.quadratic).reshape(-1, 81)

    @cached_property
    def transport(self) -> Float[np.ndarray, "rows 81"]:
        """φ_i ∂_b φ_j for each axis and point."""
        return np.einsum("qi,bqj->bqij", self.quadratic, self.slopes).reshape(-1, 81)


@cache
def reference_square(gauss: int = GAUSS) -> ReferenceSquare:
    """The unit square with a rule of so many points per axis."""
    points, weights = np.polynomial.legendre.leggauss(gauss)
    t, one = (1 + points) / 2, np.ones(gauss)
    quadratic = np.stack([(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)], axis=1)
    slope = np.stack([4 * t - 3, 4 - 8 * t, 4 * t - 1], axis=1)
    return ReferenceSquare(
        np.kron(weights, weights) / 4,
        np.kron(quadratic, quadratic),
        np.stack([np.kron(slope, quadratic), np.kron(quadratic, slope)]),
        np.stack([np.kron(one, one), np.kron(t - 0.5, one), np.kron(one, t - 0.5)], axis=1),
    )
