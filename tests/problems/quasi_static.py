r"""The block in static equilibrium: Newton's method with the consistent tangent, as an oracle.

Nothing here is shared with the solver but the metal's numbers. The law is the three-dimensional
one, :math:`F = F_e F_p` with Hencky's energy and von Mises' radial return, and the thickness is
sought at which no stress acts across the sheet. (The solver returns within the plane, by formulas
from which the thickness has been eliminated.) In the axes of the trial :math:`b_e` a strain is

.. math:: \tfrac12 \ln b_e = m I + d N \text{ in the plane, and } z \text{ across it},

with N the trace-free tensor of unit principal values. N has no direction where the principal
values are equal, but the products with it that occur below have a limit there.

Axes: n points, g Gauss points of an element e, a and b its corners, i j k m directions.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import spsolve

from supra.problems.elastoplastic import Material

I2 = np.eye(2)
TINY = 1e-200  # against 0 / 0
ACROSS = 2  # the last of (m, d, z)
TRACE = np.array([2.0, 0.0, 1.0])  # of a strain (m, d, z)
UNIT = np.array([1.0, 0.0, 1.0])  # the unit tensor as (m, d, z)
DEVIATOR = np.eye(3) - np.outer(UNIT, TRACE) / 3


class State(NamedTuple):
    """What points have been through: C_p^{-1} in the plane and across it, and α."""

    plane: np.ndarray  # (n, 2, 2)
    across: np.ndarray  # (n,)
    alpha: np.ndarray  # (n,)

    @classmethod
    def virgin(cls, count: int) -> "State":
        return cls(np.tile(I2, (count, 1, 1)), np.ones(count), np.zeros(count))


class Response(NamedTuple):
    """Of points to F: P, its derivative by F, the new state, and the stretch across the sheet."""

    stress: np.ndarray  # (n, 2, 2)
    tangent: np.ndarray  # (n, 2, 2, 2, 2), ∂P_ij / ∂F_km
    state: State
    thickness: np.ndarray  # (n,)


class Return(NamedTuple):
    """From a trial strain: stress and its derivative, elastic strain, and Δα; all in (m, d, z)."""

    stress: np.ndarray  # (3, n)
    slope: np.ndarray  # (3, 3, n)
    elastic: np.ndarray  # (3, n)
    flow: np.ndarray  # (n,)


def bulk_and_shear(metal: Material) -> tuple[float, float]:
    E, nu = metal.young, metal.poisson
    return E / (3 * (1 - 2 * nu)), E / (2 * (1 + nu))


def radial_return(strain: np.ndarray, strength: np.ndarray, metal: Material) -> Return:
    """The three-dimensional law, in closed form because hardening is linear."""
    K, G = bulk_and_shear(metal)
    H = metal.hardening
    deviator = DEVIATOR @ strain
    m, d, z = strain
    outward = np.stack([m - z, 3 * d, z - m])  # the gradient of half (m - z)² + 3 d²
    equivalent = 2 * G * np.sqrt((m - z) ** 2 + 3 * d**2)
    flows = equivalent > strength
    q = np.where(flows, equivalent, 1.0)
    flow = np.where(flows, (q - strength) / (3 * G + H), 0.0)
    kept = 1 - 3 * G * flow / q
    kept_slope = np.where(flows, -3 * G * strength / (3 * G + H) / q**2, 0.0) * 4 * G**2 / q
    slope = K * np.outer(UNIT, TRACE)[..., None] + 2 * G * (
        kept * DEVIATOR[..., None] + kept_slope * deviator[:, None] * outward
    )
    return Return(
        stress=K * np.outer(UNIT, TRACE @ strain) + 2 * G * kept * deviator,
        slope=slope,
        elastic=strain - (1 - kept) * deviator,
        flow=flow,
    )


def free_thickness(
    m: np.ndarray, d: np.ndarray, strength: np.ndarray, metal: Material
) -> tuple[np.ndarray, Return]:
    """The trial strain whose z leaves no stress across the sheet, and the return from it.

    Newton's method finds it from anywhere: the slope stays between K and K + 4G/3.
    """
    K, _ = bulk_and_shear(metal)
    size = np.abs(m) + np.abs(d) + metal.strength / metal.young
    strain = np.stack([m, d, -m])
    for _ in range(50):
        back = radial_return(strain, strength, metal)
        if (np.abs(back.stress[ACROSS]) <= 1e-14 * K * size).all():
            return strain, back
        strain[ACROSS] -= back.stress[ACROSS] / back.slope[ACROSS, ACROSS]
    raise RuntimeError("No thickness was found at which no stress acts across the sheet.")


class Axes(NamedTuple):
    """A symmetric tensor b as centre · 1 + radius · N."""

    b: np.ndarray  # (n, 2, 2)
    centre: np.ndarray  # (n,)
    radius: np.ndarray  # (n,)
    N: np.ndarray  # (n, 2, 2), 0 where it has no direction

    @classmethod
    def of(cls, b: np.ndarray) -> "Axes":
        centre = trace(b) / 2
        odd = b - centre[:, None, None] * I2
        radius = np.hypot(odd[:, 0, 0], odd[:, 0, 1])
        return cls(b, centre, radius, odd / np.maximum(radius, TINY)[:, None, None])

    def strain(self) -> tuple[np.ndarray, np.ndarray]:
        """m and d of half the logarithm."""
        return np.log(np.linalg.det(self.b)) / 4, np.arctanh(self.radius / self.centre) / 2

    def tensor(self, mean: np.ndarray, half: np.ndarray) -> np.ndarray:
        """With these axes and principal values mean ± half."""
        return mean[:, None, None] * I2 + half[:, None, None] * self.N

    def derivative(self, half: np.ndarray, slope: np.ndarray, db: np.ndarray) -> np.ndarray:
        """How `tensor` changes with b, its values having the slope (2, 2, n) by m and d."""
        dcentre = trace(db) / 2
        dodd = db - dcentre[:, None, None] * I2
        dradius = trace(self.N @ dodd) / 2
        dm = trace(np.linalg.solve(self.b, db)) / 4
        dd = (self.centre * dradius - self.radius * dcentre) / np.linalg.det(self.b) / 2
        dmean, dhalf = slope[:, 0] * dm + slope[:, 1] * dd
        # half / radius, and its limit where both are 0.
        ratio = np.where(
            self.radius > 0, half / np.maximum(self.radius, TINY), slope[1, 1] / (2 * self.centre)
        )
        return self.tensor(dmean, dhalf - ratio * dradius) + ratio[:, None, None] * dodd


def respond(F: np.ndarray, state: State, metal: Material) -> Response:
    """What points (n, 2, 2) do; the tangent is the exact derivative of the stress."""
    axes = Axes.of(F @ state.plane @ transposed(F))
    strength = metal.strength + metal.hardening * state.alpha
    strain, back = free_thickness(*axes.strain(), strength, metal)
    mean, half, _ = back.stress
    upwards = transposed(np.linalg.inv(F))
    P = axes.tensor(mean, half) @ upwards
    tangent = np.empty((len(F), 2, 2, 2, 2))
    for k, m in np.ndindex(2, 2):  # along each entry of F
        dF = np.outer(I2[k], I2[m])
        db = dF @ state.plane @ transposed(F)
        dtau = axes.derivative(half, condensed(back.slope), db + transposed(db))
        tangent[..., k, m] = (dtau - P @ dF.T) @ upwards
    thickness = np.exp(strain[ACROSS]) / np.sqrt(state.across)
    return Response(P, tangent, flowed(state, strain, back, axes, upwards), thickness)


def condensed(slope: np.ndarray) -> np.ndarray:
    """∂(stress in the plane) / ∂(m, d) when z follows so that no stress acts across."""
    by_z, of_z = slope[:ACROSS, ACROSS], slope[ACROSS, :ACROSS]
    return slope[:ACROSS, :ACROSS] - by_z[:, None] * of_z / slope[ACROSS, ACROSS]


def flowed(
    state: State, strain: np.ndarray, back: Return, axes: Axes, upwards: np.ndarray
) -> State:
    """The state after the return: C_p^{-1} = F^{-1} b_e F^{-T}."""
    m, d, z = back.elastic
    b = axes.tensor(np.exp(2 * m) * np.cosh(2 * d), np.exp(2 * m) * np.sinh(2 * d))
    flows = back.flow > 0
    return State(
        plane=np.where(flows[:, None, None], transposed(upwards) @ b @ upwards, state.plane),
        across=state.across * np.exp(2 * (z - strain[ACROSS])),
        alpha=state.alpha + back.flow,
    )


def trace(A: np.ndarray) -> np.ndarray:
    return A[:, 0, 0] + A[:, 1, 1]


def transposed(A: np.ndarray) -> np.ndarray:
    return A.swapaxes(-1, -2)


class Block(NamedTuple):
    """A rectangle of four-node elements; nodes along x first, the lowest row first."""

    nodes: np.ndarray  # (nodes, 2), undeformed
    corners: np.ndarray  # (e, a), counterclockwise
    gradients: np.ndarray  # (g, a, j), of the corners' functions
    weight: float  # of a Gauss point
    top: np.ndarray  # nodes
    free: np.ndarray  # numbers 2 * node + direction: not the bottom's, nor the top's vertical ones

    @classmethod
    def from_rectangle(cls, length: float, height: float, cells: tuple[int, int]) -> "Block":
        nx, ny = cells
        x, y = np.linspace(0, length, nx + 1), np.linspace(0, height, ny + 1)
        number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
        around = (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
        held = np.concatenate([2 * number[0], 2 * number[0] + 1, 2 * number[-1] + 1])
        return cls(
            nodes=np.stack([np.tile(x, ny + 1), np.repeat(y, nx + 1)], axis=1),
            corners=np.stack([nodes.ravel() for nodes in around], axis=1),
            gradients=_gradients(length / nx, height / ny),
            weight=length / nx * height / ny / 4,
            top=number[-1],
            free=np.setdiff1d(np.arange(2 * number.size), held),
        )

    @property
    def points(self) -> int:
        """Number of Gauss points."""
        return 4 * len(self.corners)

    def deformation(self, u: np.ndarray) -> np.ndarray:
        """F at the Gauss points, (n, 2, 2), of displacements (nodes, 2)."""
        slopes = np.einsum("eai,gaj->egij", u[self.corners], self.gradients)
        return I2 + slopes.reshape(-1, 2, 2)

    def force(self, stress: np.ndarray) -> np.ndarray:
        """What holds the nodes against the stress, (nodes, 2)."""
        P = stress.reshape(-1, 4, 2, 2)
        total = np.zeros_like(self.nodes)
        shares = self.weight * np.einsum("egij,gaj->eai", P, self.gradients)
        np.add.at(total, self.corners, shares)
        return total

    def out_of_balance(self, force: np.ndarray) -> float:
        """Norm of the force on the free nodes."""
        return float(np.linalg.norm(force.ravel()[self.free]))

    def stiffness(self, tangent: np.ndarray) -> csr_matrix:
        """The derivative of the force by the displacements."""
        A = tangent.reshape(-1, 4, 2, 2, 2, 2)
        B = self.gradients
        blocks = self.weight * np.einsum("egijkm,gaj,gbm->eaibk", A, B, B, optimize=True)
        unknowns = (2 * self.corners[..., None] + np.arange(2)).reshape(-1, 8)
        rows, columns = np.repeat(unknowns, 8, axis=1), np.tile(unknowns, 8)
        entries = (blocks.ravel(), (rows.ravel(), columns.ravel()))
        return coo_matrix(entries, shape=(self.nodes.size, self.nodes.size)).tocsr()

    def solve(self, tangent: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Displacements that change the force on the free nodes by this one."""
        free = self.free
        matrix = self.stiffness(tangent)[free][:, free].tocsc()
        u = np.zeros(self.nodes.size)
        u[free] = spsolve(matrix, force.ravel()[free])
        return u.reshape(-1, 2)


def _gradients(width: float, height: float) -> np.ndarray:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    reach = 1 + corners[:, None] * corners / 3**0.5  # (g, a, 2): 1 + ξ_g ξ_a
    return corners * reach[..., ::-1] / 2 / np.array([width, height])


class Equilibrium(NamedTuple):
    """A block at rest: displacements, forces that hold it, state, and how Newton got there."""

    displacement: np.ndarray  # (nodes, 2)
    force: np.ndarray  # (nodes, 2)
    state: State
    residuals: list[float]  # norm of the forces on free nodes before each of Newton's steps


def equilibrium(
    block: Block,
    start: np.ndarray,
    state: State,
    metal: Material,
    *,
    tangent_of: Material | None = None,
    tolerance: float = 1e-8,
    steps: int = 30,
) -> Equilibrium:
    """Newton's method; the held nodes stay where ``start`` has them.

    Stops where the force is below ``tolerance`` (in N), or after so many steps. With
    ``tangent_of`` another metal its tangent is used, which is then not the consistent one.
    """
    at = start
    residuals: list[float] = []
    while True:
        response = respond(block.deformation(at), state, metal)
        force = block.force(response.stress)
        residuals.append(block.out_of_balance(force))
        if residuals[-1] < tolerance or len(residuals) > steps:
            return Equilibrium(at, force, response.state, residuals)
        tangent = response.tangent
        if tangent_of is not None:
            tangent = respond(block.deformation(at), state, tangent_of).tangent
        step = block.solve(tangent, -force)
        at = at + step * _length(block, at, step, residuals[-1], state, metal)


def _length(
    block: Block, at: np.ndarray, step: np.ndarray, before: float, state: State, metal: Material
) -> float:
    """1, or halved until the force falls: the first steps meet elements that begin to flow."""
    for length in 0.5 ** np.arange(8):
        F = block.deformation(at + length * step)
        after = block.out_of_balance(block.force(respond(F, state, metal).stress))
        if after < before:
            break
    return float(length)


def press(block: Block, travels: np.ndarray, metal: Material) -> list[Equilibrium]:
    """Equilibria under a flat frictionless die that has moved down by ascending ``travels``.

    Each begins from the motion before, gone on with; the first with all heights in proportion.
    """
    found: list[Equilibrium] = []
    at, state = np.zeros_like(block.nodes), State.virgin(block.points)
    motion = np.outer(block.nodes[:, 1] / block.nodes[:, 1].max(), [0.0, -1.0])
    for by in np.diff(travels, prepend=0.0):
        found.append(equilibrium(block, at + by * motion, state, metal))
        if found[-1].residuals[-1] > 1e-6:
            raise RuntimeError(f"Newton's method did not converge: {found[-1].residuals}.")
        motion = (found[-1].displacement - at) / by
        at, state = found[-1].displacement, found[-1].state
    return found
