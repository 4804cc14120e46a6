"""Solids of biquadratic finite elements: their energy, forces and stiffness."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from supra.problems.errors import ProblemError
from supra.problems.rubber import Rubber, determinant

GAUSS = 3  # points per axis


@dataclass(frozen=True, eq=False)
class Places:
    """Points inside elements.

    Attributes:
        elements: in which element each one is.
        local: where, in the coordinates of the element's unit square.
    """

    elements: Int[np.ndarray, " places"]
    local: Float[np.ndarray, "places 2"]


@dataclass(frozen=True, eq=False)
class Solid:
    r"""An undeformed solid of unit thickness and what deforms in it ("total Lagrangian").

    Displacements u are continuous and biquadratic in the coordinates of each element's unit square,
    and so is the map from there to the solid (isoparametric: curved edges pass through the nodes).
    The energy :math:`\int w(I + \nabla u)\,dX` is integrated by Gauss's 3 × 3 points; forces and
    stiffness are its exact first and second derivatives.

    Attributes:
        points: the nodes.
        cells: the nine nodes of each element, row by row, the second axis to the left of the first.
        law: the material.
    """

    points: Float[np.ndarray, "nodes 2"]
    cells: Int[np.ndarray, "elements 9"]
    law: Rubber

    def positions(self, places: Places) -> Float[np.ndarray, "places 2"]:
        """Where places are in the undeformed solid."""
        values, _ = biquadratic(places.local)
        return np.einsum("pi,pia->pa", values, self.points[self.cells[places.elements]])

    def gradient(
        self, displacement: Float[np.ndarray, "nodes 2"], places: Places
    ) -> Float[np.ndarray, "places 2 2"]:
        """∇u at places."""
        slopes, _ = self._slopes(places)
        return displacement[self.cells[places.elements]].swapaxes(1, 2) @ slopes

    @cached_property
    def quadrature(self) -> tuple[Places, Float[np.ndarray, " places"]]:
        """The Gauss points of all elements, and the area of each."""
        local, weights = gauss_points()
        count = len(self.cells)
        every = Places(np.repeat(np.arange(count), len(local)), np.tile(local, (count, 1)))
        return every, self._slopes(every)[1] * np.tile(weights, count)

    def energy(self, displacement: Float[np.ndarray, "nodes 2"]) -> float:
        """The whole elastic energy."""
        return float((self._weights * self.law.energy(self._gradient(displacement))).sum())

    def forces(self, displacement: Float[np.ndarray, "nodes 2"]) -> Float[np.ndarray, "nodes 2"]:
        """What the nodes have to be pulled with: the derivative of the energy."""
        stress = self._weights[..., None, None] * self.law.stress(self._gradient(displacement))
        parts = np.einsum("eqab,eqib->eia", stress, self._gradients, optimize=True)
        places = 2 * self.cells[..., None] + [0, 1]
        return np.bincount(places.ravel(), parts.ravel(), self.points.size).reshape(-1, 2)

    def stiffness(self, displacement: Float[np.ndarray, "nodes 2"]) -> sparse.csc_array:
        """The second derivative of the energy; unknown number 2 n + a is u_a at node n."""
        tangent = self.law.tangent(self._gradient(displacement))
        weighted = self._weights[..., None, None, None, None] * tangent
        elements, gradients = len(self.cells), self._gradients
        # [element, (point, b), (a, c, node)]: the tangent, times the gradients from the right
        right = np.einsum("eqabcd,eqjd->eqbacj", weighted, gradients, optimize=True)
        left = gradients.transpose(0, 2, 1, 3).reshape(elements, 9, -1)
        blocks = left @ right.reshape(elements, 2 * GAUSS**2, 36)
        matrices = blocks.reshape(elements, 9, 2, 2, 9).transpose(0, 1, 2, 4, 3)
        rows, columns = self._pattern
        entries = sparse.coo_array((matrices.ravel(), (rows, columns)), (self.points.size,) * 2)
        return entries.tocsc()

    def folds(self, displacement: Float[np.ndarray, "nodes 2"]) -> bool:
        """Whether the solid is turned inside out somewhere, which no energy allows."""
        return not determinant(np.eye(2) + self._gradient(displacement)).min() > 0

    def _gradient(self, displacement: np.ndarray) -> np.ndarray:
        """∇u at the Gauss points, [element, point, component, axis]."""
        return displacement[self.cells].swapaxes(1, 2)[:, None] @ self._gradients

    def _slopes(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """The shape functions' gradients in the solid, [place, node, axis], and the Jacobian."""
        _, slopes = biquadratic(places.local)
        nodes = self.points[self.cells[places.elements]]
        jacobian = nodes.swapaxes(1, 2) @ slopes  # [place, axis in the solid, axis in the square]
        volume = np.linalg.det(jacobian)
        if not volume.min() > 0:
            raise ProblemError(
                f"Elements must not be folded, and their second axis must lie to the left of the "
                f"first: the Jacobian goes down to {volume.min():.1e}."
            )
        return slopes @ np.linalg.inv(jacobian), volume

    @cached_property
    def _gradients(self) -> Float[np.ndarray, "elements q 9 2"]:
        """Of the shape functions at the Gauss points."""
        return self._slopes(self.quadrature[0])[0].reshape(len(self.cells), -1, 9, 2)

    @property
    def _weights(self) -> Float[np.ndarray, "elements q"]:
        return self.quadrature[1].reshape(len(self.cells), -1)

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the elements' matrices in the whole."""
        unknowns = (2 * self.cells[..., None] + [0, 1]).reshape(-1, 18)
        shape = (len(unknowns), 18, 18)
        rows = np.broadcast_to(unknowns[:, :, None], shape).ravel()
        return rows, np.broadcast_to(unknowns[:, None, :], shape).ravel()


def biquadratic(
    local: Float[np.ndarray, "places 2"],
) -> tuple[Float[np.ndarray, "places 9"], Float[np.ndarray, "places 9 2"]]:
    """The nine shape functions of the unit square, and their slopes along its axes."""
    (first, first_slope), (second, second_slope) = (_quadratic(t) for t in local.T)

    def product(along: np.ndarray, across: np.ndarray) -> np.ndarray:
        return (along[:, :, None] * across[:, None, :]).reshape(-1, 9)

    slopes = np.stack([product(first_slope, second), product(first, second_slope)], axis=-1)
    return product(first, second), slopes


def gauss_points() -> tuple[Float[np.ndarray, "q 2"], Float[np.ndarray, " q"]]:
    """Gauss's points in the unit square, row by row, and their weights."""
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    t = (1 + points) / 2
    local = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    return local, np.kron(weights, weights) / 4


def _quadratic(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = np.stack([(1 - t) * (1 - 2 * t), 4 * t * (1 - t), t * (2 * t - 1)], axis=1)
    return values, np.stack([4 * t - 3, 4 - 8 * t, 4 * t - 1], axis=1)
