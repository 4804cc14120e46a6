"""Steady incompressible flow through a channel: Newton's method, from coarse grids to fine."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from jaxtyping import Float

from supra.problems.errors import ProblemError
from supra.problems.flow_element import FlowElements

TOLERANCE = 1e-6  # of the last step; the error after it is of the order of its square
NEWTON_STEPS = 12
FIRST_VISCOSITY = 16.0  # times the one asked for: there Newton's method starts from rest
CONTINUATION_STEPS = (2, 6, 18)  # viscosities on the way down; the next if one way fails
COARSEST = 16  # elements along either axis


@dataclass(frozen=True, eq=False)
class Flow:
    """Values at the nodes of a grid.

    Attributes:
        velocity: u_x and u_y.
        pressure: p over the density, zero on average where the fluid leaves freely.
    """

    velocity: Float[np.ndarray, "2 along across"]
    pressure: Float[np.ndarray, "along across"]


def solve_channel_flow(
    points: Float[np.ndarray, "along across 2"],
    held: Float[np.ndarray, "2 along across"],
    viscosity: float,
    force: Float[np.ndarray, "2 along across"] | None = None,
) -> Flow:
    r"""Solve the steady Navier–Stokes equations in a channel:

    .. math:: u\cdot\nabla u + \nabla p - \nu\Delta u = f, \qquad \nabla\cdot u = 0

    with the velocity given at the inlet (i = 0) and on the walls (j = 0 and the last j), and the
    outlet (the last i) free: :math:`\nu\,\partial u/\partial n = p\,n`.

    The velocity is of third order in the spacing, the pressure of second, and mass is conserved in
    each element: `FlowElements` is the scheme. Newton's method starts from the flow on the grid of
    every other node. On the coarsest, the viscosity comes down from 16 times its value: should
    there be several flows, this leads to the one that slow fluids go over into. The iteration ends
    with a step below 1e-6 of the velocity, so that the error left is of the order of 1e-12.

    Args:
        points: x and y of the nodes, an odd number along each axis. Two by two cells make one
            element, whose sides are parabolas through the nodes.
        held: velocities at the nodes; only those of the inlet and the walls are used.
        viscosity: ν > 0, kinematic.
        force: f at the nodes; none if left out.

    Raises:
        ProblemError: the arrays are not of this kind, or the iteration did not converge.

    >>> x, y = np.meshgrid(np.linspace(0, 2, 9), np.linspace(0, 1, 9), indexing="ij")
    >>> held = np.stack([4 * y * (1 - y), 0 * y])
    >>> flow = solve_channel_flow(np.stack([x, y], axis=-1), held, viscosity=0.1)
    >>> print(f"{flow.pressure[0, 4]:.6f}")  # 8 ν per length
    1.600000
    """
    _check(points, held, viscosity, force)
    force = np.zeros(held.shape) if force is None else force
    channel = _Channel(points, held, force)
    return channel.flow(_solve(channel, viscosity))


@dataclass(frozen=True, eq=False)
class _Channel:
    """The data on one grid."""

    points: Float[np.ndarray, "along across 2"]
    held: Float[np.ndarray, "2 along across"]
    force: Float[np.ndarray, "2 along across"]

    @cached_property
    def elements(self) -> FlowElements:
        return FlowElements(self.points)

    @cached_property
    def load(self) -> np.ndarray:
        return self.elements.load(self.force)

    def coarser(self) -> "_Channel | None":
        """The same on every other node, if it has enough."""
        elements = np.array(self.held.shape[1:]) // 2
        if (elements % 2).any() or elements.min() < 2 * COARSEST:
            return None
        return _Channel(self.points[::2, ::2], self.held[:, ::2, ::2], self.force[:, ::2, ::2])

    def at_rest(self) -> Float[np.ndarray, " unknowns"]:
        """Fluid that moves only where it is held."""
        unknowns = self.elements.unknowns
        state = np.zeros(len(unknowns.held))
        state[: self.held.size] = self.held.ravel()
        return np.where(unknowns.held, state, 0)

    def finer(self, state: Float[np.ndarray, " unknowns"]) -> Float[np.ndarray, " finer"]:
        """A state at the nodes of the grid twice as fine."""
        velocity, pressure = self._split(state)
        across = _between_quadratic(velocity.transpose(2, 1, 0))
        fine = _between_quadratic(across.transpose(1, 0, 2)).transpose(2, 0, 1)
        return np.concatenate([fine.ravel(), _quartered(pressure).ravel()])

    def flow(self, state: Float[np.ndarray, " unknowns"]) -> Flow:
        velocity, pressure = self._split(state)
        return Flow(velocity, _at_nodes(pressure))

    def _split(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        velocity, pressure = np.split(state, [self.held.size])
        along, across = self.held.shape[1:]
        return velocity.reshape(self.held.shape), pressure.reshape(along // 2, across // 2, 3)


def _solve(channel: _Channel, viscosity: float) -> Float[np.ndarray, " unknowns"]:
    """From the coarser grid's flow if that works, else down from a larger viscosity."""
    coarse = channel.coarser()
    if coarse is not None:
        try:
            return _newton(channel, coarse.finer(_solve(coarse, viscosity)), [viscosity])
        except ProblemError:
            pass  # a grid too coarse for this flow: no reason to give up on this one
    failure = ProblemError("No way down to the viscosity was tried.")
    for steps in CONTINUATION_STEPS:
        viscosities = viscosity * np.geomspace(FIRST_VISCOSITY, 1, steps + 1)
        try:
            return _newton(channel, channel.at_rest(), viscosities)
        except ProblemError as error:
            failure = error
    raise failure


def _newton(
    channel: _Channel, state: Float[np.ndarray, " unknowns"], viscosities: Iterable[float]
) -> Float[np.ndarray, " unknowns"]:
    """Newton's method at one viscosity after the other."""
    # of another grid's state, what is held here is only almost right
    state = np.where(channel.elements.unknowns.held, channel.at_rest(), state)
    for viscosity in viscosities:
        state = _newton_at(channel, state, viscosity)
    return state


def _newton_at(
    channel: _Channel, state: Float[np.ndarray, " unknowns"], viscosity: float
) -> Float[np.ndarray, " unknowns"]:
    change = np.inf
    for _ in range(NEWTON_STEPS):
        matrices, left = channel.elements.linearised(state, viscosity)
        step = channel.elements.solve(matrices, channel.load - left)
        state = state + step
        change, size = (np.abs(part[: channel.held.size]).max() for part in (step, state))
        if change <= TOLERANCE * size:
            return state
        if not np.isfinite(change):
            break
    along, across = channel.held.shape[1:]
    raise ProblemError(
        f"Newton's method found no steady flow at viscosity {viscosity:g} on {along} × {across} "
        f"nodes: the last of at most {NEWTON_STEPS} steps changed the velocity by {change:.1e}. "
        f"Use a larger viscosity or a finer grid."
    )


def _at_nodes(pressure: Float[np.ndarray, "x y 3"]) -> Float[np.ndarray, "along across"]:
    """Mean of the elements that meet at a corner, and linear between the corners."""
    mean, along, across = np.moveaxis(pressure, -1, 0)
    total, count = np.zeros((2, mean.shape[0] + 1, mean.shape[1] + 1))
    for i, j in product((0, 1), repeat=2):
        corner = np.s_[i : i + mean.shape[0], j : j + mean.shape[1]]
        total[corner] += mean + (i - 0.5) * along + (j - 0.5) * across
        count[corner] += 1
    return _between_linear(_between_linear(total / count).T).T


def _quartered(pressure: Float[np.ndarray, "x y 3"]) -> Float[np.ndarray, "2*x 2*y 3"]:
    """The same linear functions on quarters of the elements."""
    fine = pressure.repeat(2, axis=0).repeat(2, axis=1) * [1, 0.5, 0.5]
    for i, j in product((0, 1), repeat=2):
        fine[i::2, j::2, 0] += (i - 0.5) * fine[i::2, j::2, 1] + (j - 0.5) * fine[i::2, j::2, 2]
    return fine


def _between_linear(values: np.ndarray) -> np.ndarray:
    """Also half-way between the values along the first axis."""
    return _interleaved(values, (values[:-1] + values[1:]) / 2)


def _between_quadratic(values: np.ndarray) -> np.ndarray:
    """Also half-way between the nodes along the first axis, three of them to an element."""
    left, middle, right = values[:-2:2], values[1::2], values[2::2]
    return _interleaved(
        values,
        _interleaved((3 * left + 6 * middle - right) / 8, (3 * right + 6 * middle - left) / 8),
    )


def _interleaved(even: np.ndarray, odd: np.ndarray) -> np.ndarray:
    result = np.empty((len(even) + len(odd), *even.shape[1:]))
    result[::2], result[1::2] = even, odd
    return result


def _check(
    points: np.ndarray, held: np.ndarray, viscosity: float, force: np.ndarray | None
) -> None:
    if points.ndim != 3 or points.shape[2] != 2:
        raise ProblemError(f"`points` must have the shape (along, across, 2): got {points.shape}.")
    along, across = points.shape[:2]
    if min(along, across) < 5 or not (along % 2 and across % 2):
        raise ProblemError(
            f"`points` needs an odd number of nodes along each axis, at least 5, two cells to an "
            f"element: got {along} × {across}."
        )
    if not (np.isfinite(viscosity) and viscosity > 0):
        raise ProblemError(f"`viscosity` must be finite and positive: got {viscosity}.")
    for name, array in {"held": held, "force": force}.items():
        if array is not None and array.shape != (2, along, across):
            raise ProblemError(
                f"`{name}` needs two components at every node, shape {(2, along, across)}: got "
                f"{array.shape}."
            )
    if not all(np.isfinite(array).all() for array in (points, held, force) if array is not None):
        raise ProblemError(
            "`points`, `held` and `force` must be finite: got NaN or infinite values."
        )
