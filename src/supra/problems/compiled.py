"""Loops compiled by numba, which the extra ``solvers`` brings."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any

from supra.problems.errors import ProblemError

try:
    from numba import njit
except ImportError as error:
    raise ProblemError(
        'This solver\'s loops are compiled by numba: pip install "supra-operator[solvers]"'
    ) from error


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled on its first call and kept on disk.

    Checks of annotations (our tests' import hook) are taken off first: numba does its own.
    """
    return njit(cache=True, fastmath=True, error_model="numpy")(unwrap(function))
