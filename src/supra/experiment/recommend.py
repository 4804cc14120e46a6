"""Which basis to take on a domain, for those who name none; `docs/geometry.md` has the reasons."""

from math import prod

import numpy as np

from supra.basis.landmark import bounding_box
from supra.data import Dataset
from supra.domain import Domain, Grid, Mesh
from supra.experiment.config import (
    AutoConfig,
    BasisConfig,
    Experiment,
    FourierConfig,
    LaplacianConfig,
)

_FILLED = 0.5  # of the box at least; in the rest of it waves are free to be anything
_MOST_AXES = 2  # in space, 27 or 125 waves say less than as many eigenfunctions
_PERIOD = 1.2  # of waves on open domains, relative to the box
_POINTS = 8  # per function, at least
_POINTS_PER_WAVE = 3  # along an axis of a grid
_MOST_ON_GRIDS, _MOST_ELSEWHERE = 256, 128  # functions; a grid transforms them axis by axis
_FLAT = 1e-6  # relative to the longest side: an axis without extent


def with_recommended_basis(experiment: Experiment, train: Dataset) -> Experiment:
    """The experiment with a basis that suits the training samples, where it names none."""
    if not isinstance(experiment.basis, AutoConfig):
        return experiment
    basis = recommended_basis(_coarsest(train), shared=train.domain is not None)
    return experiment.model_copy(update={"basis": basis})


def recommended_basis(domain: Domain, shared: bool) -> BasisConfig:
    """For samples on domains like this one, or all on this very one (``shared``)."""
    count = len(domain.points) // _POINTS
    if isinstance(domain, Grid):
        period = 1.0 if all(domain.periodic) else _PERIOD
        highest = np.array(domain.shape) // _POINTS_PER_WAVE
        return _waves(np.ones(len(highest)), min(count, _MOST_ON_GRIDS), period, highest)
    count = min(count, _MOST_ELSEWHERE)
    low, high = bounding_box([domain.points])
    if len(low) <= _MOST_AXES and filled(domain) >= _FILLED:
        return _waves(high - low, count, _PERIOD)
    one_mesh = shared and isinstance(domain, Mesh)  # points without cells have their own always
    return LaplacianConfig(modes=max(count, 1), geometry="shared" if one_mesh else "own")


def filled(domain: Domain) -> float:
    """The part of its bounding box that a domain fills: nothing, if it is a surface in space."""
    low, high = bounding_box([domain.points])
    sides = high - low
    if sides.min() <= _FLAT * sides.max():
        return 0.0
    if isinstance(domain, Mesh):
        return 0.0 if domain.is_embedded else domain.measure / float(prod(sides))
    # Points without cells: the part of a lattice's cubes that hold some, a few each on average.
    per_axis = max(1, int((len(domain.points) / _POINTS) ** (1 / len(sides))))
    cubes = np.minimum((domain.points - low) / sides * per_axis, per_axis - 1).astype(int)
    return len(np.unique(cubes, axis=0)) / per_axis ** len(sides)


def _coarsest(train: Dataset) -> Domain:
    """Where there are the fewest points: all samples get as many functions as it can bear."""
    if train.domain is not None:
        return train.domain
    # One at a time: a set may not fit into memory.
    return min((train[n].domain for n in range(len(train))), key=lambda d: len(d.points))


def _waves(
    sides: np.ndarray, most: int, period: float, highest: np.ndarray | float = np.inf
) -> FourierConfig:
    """At most so many functions, with frequencies in proportion to the sides; at least one each."""

    def frequencies(longest: int) -> tuple[int, ...]:
        wanted = np.round(longest * sides / sides.max())
        return tuple(int(n) for n in np.maximum(1, np.minimum(wanted, highest)))

    longest = 1
    while longest < most and prod(2 * n + 1 for n in frequencies(longest + 1)) <= most:
        longest += 1
    return FourierConfig(modes=frequencies(longest), constant=True, period=period)
