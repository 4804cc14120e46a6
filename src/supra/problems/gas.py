"""The ideal gas of the flow problems, its free stream, and the flow that could not be found."""

import numpy as np
from jaxtyping import Float

from supra.problems.errors import ProblemError

GAMMA = 1.4

Four = tuple[float, float, float, float]


class NoSteadyStateError(ProblemError):
    """A flow whose iteration did not reach the residual asked for."""


def free_stream(mach: float, incidence: float = 0.0) -> Four:
    r"""Density, velocity and pressure far away: :math:`1, M\sqrt\gamma\,(\cos, \sin), 1`.

    The incidence is in degrees.
    """
    speed, angle = mach * np.sqrt(GAMMA), np.deg2rad(incidence)
    return 1.0, float(speed * np.cos(angle)), float(speed * np.sin(angle)), 1.0


def mach_number(flow: Float[np.ndarray, "4 *points"]) -> Float[np.ndarray, "*points"]:
    """Speed over the speed of sound, of density, velocity and pressure."""
    density, u, v, pressure = flow
    return np.sqrt((u**2 + v**2) * density / (GAMMA * pressure))
