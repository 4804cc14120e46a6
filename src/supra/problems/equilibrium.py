"""Equilibrium of a hyperelastic solid under dead loads: Newton's method, in steps if need be."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse.linalg import splu

from supra.problems.errors import ProblemError
from supra.problems.solid import Solid

TOLERANCE = 1e-9  # of the forces out of balance, over those that act
NEWTON_STEPS = 15
HALVINGS = 6
LOAD_STEPS = (1, 4, 16)  # in which the loads are applied; the next if one way fails


class NoEquilibriumError(ProblemError):
    """The iteration did not find a balance of forces."""


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A solid at rest.

    Attributes:
        displacement: of the nodes.
        forces: of the surroundings on the nodes: the loads, and the reactions where it is held.
        imbalance: forces out of balance over those that act, before each of Newton's last steps
            and after it.
    """

    displacement: Float[np.ndarray, "nodes 2"]
    forces: Float[np.ndarray, "nodes 2"]
    imbalance: tuple[float, ...]


def find_equilibrium(
    solid: Solid,
    load: Float[np.ndarray, "nodes 2"],
    held: Bool[np.ndarray, "nodes 2"],
    given: Float[np.ndarray, "nodes 2"] | None = None,
) -> Equilibrium:
    r"""Where the potential energy :math:`\int w\,dX - f\cdot u` is stationary.

    Newton's method with the exact second derivative, from the undeformed solid. A step that folds
    an element, or after which the energy rises more than half as steeply as it fell before, is
    halved. Should that fail, the loads are applied in 4 and then in 16 steps. The iteration ends
    when the forces are in balance to 1e-9 of those that act.

    Args:
        solid: at rest without loads.
        load: f, forces on the nodes that keep their size and direction.
        held: components whose displacements are given; enough to stop rigid motions.
        given: their displacements; none move if left out.

    Raises:
        NoEquilibriumError: the iteration did not converge.
    """
    given = np.zeros(load.shape) if given is None else given
    failure = NoEquilibriumError("No way up to the load was tried.")
    for steps in LOAD_STEPS:
        try:
            return _in_steps(solid, load, held, given, steps)
        except NoEquilibriumError as error:
            failure = error
    raise failure


def _in_steps(
    solid: Solid, load: np.ndarray, held: np.ndarray, given: np.ndarray, steps: int
) -> Equilibrium:
    displacement, imbalance = np.zeros(load.shape), tuple[float, ...]()
    for part in np.arange(1, steps + 1) / steps:
        start = np.where(held, part * given, displacement)
        displacement, imbalance = _newton(solid, part * load, ~held, start)
    return Equilibrium(displacement, solid.forces(displacement), imbalance)


def _newton(
    solid: Solid, load: np.ndarray, free: np.ndarray, displacement: np.ndarray
) -> tuple[np.ndarray, tuple[float, ...]]:
    imbalance: list[float] = []
    if solid.folds(displacement):
        raise NoEquilibriumError("The given displacements fold an element in their first step.")
    while True:
        forces = solid.forces(displacement)
        left = np.where(free, load - forces, 0)
        acting = max(np.linalg.norm(load), np.linalg.norm(np.where(free, 0, forces)))
        imbalance.append(float(np.linalg.norm(left) / acting) if acting else 0.0)
        if imbalance[-1] <= TOLERANCE:
            return displacement, tuple(imbalance)
        if len(imbalance) > NEWTON_STEPS or not np.isfinite(imbalance[-1]):
            raise NoEquilibriumError(
                f"Newton's method found no equilibrium: after {len(imbalance) - 1} steps the "
                f"forces are out of balance by {imbalance[-1]:.1e} of those that act. Use a "
                f"smaller load or a finer mesh."
            )
        step = _direction(solid, displacement, left, free)
        displacement = displacement + _length(solid, load, displacement, left, step) * step


def _direction(
    solid: Solid, displacement: np.ndarray, left: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Newton's step."""
    unknown = np.flatnonzero(free.ravel())
    matrix = solid.stiffness(displacement)[:, unknown][unknown]
    step = np.zeros(left.shape)
    try:
        factors = splu(matrix, "MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError as error:
        raise NoEquilibriumError(f"The stiffness is singular: {error}.") from error
    step.flat[unknown] = factors.solve(left.ravel()[unknown])
    if not (left * step).sum() > 0:
        raise NoEquilibriumError("The solid is not stable: its stiffness is not positive.")
    return step


def _length(
    solid: Solid, load: np.ndarray, displacement: np.ndarray, left: np.ndarray, step: np.ndarray
) -> float:
    """How much of a step to go: the energy falls along it, and must not rise steeply at its end."""
    fall = (left * step).sum()
    for halvings in range(HALVINGS + 1):
        part = 0.5**halvings
        there = displacement + part * step
        if not solid.folds(there):
            rise = ((solid.forces(there) - load) * step).sum()
            if rise <= fall / 2:
                return part
    raise NoEquilibriumError(
        f"Newton's steps lead uphill or fold an element even at 1/{2**HALVINGS} of their length. "
        f"Use a smaller load or a finer mesh."
    )
