"""What the training samples held, so that a prediction far from it can say so."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from supra.basis.landmark import bounding_box
from supra.data import Dataset, Layout
from supra.domain import Domain

_BEYOND = 0.5  # of the seen range: from here on a prediction is an extrapolation
_AXES = "xyz"


class ExtrapolationWarning(UserWarning):
    """Values that the training samples did not come near."""


@dataclass(frozen=True)
class Seen:
    """Smallest and largest values of the given functions and of the positions.

    Attributes:
        inputs: per channel.
        positions: per axis.
    """

    inputs: tuple[tuple[float, float], ...]
    positions: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, train: Dataset) -> "Seen":
        inputs, positions = [], []
        for number in range(len(train)):  # one sample at a time: a set may not fit into memory
            sample = train[number]
            inputs.append(bounding_box([sample.inputs]))
            if number == 0 or train.domain is None:
                positions.append(bounding_box([sample.domain.points]))
        return cls(_ranges(inputs), _ranges(positions))

    def state(self) -> dict[str, Any]:
        return {"inputs": self.inputs, "positions": self.positions}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Seen":
        return cls(*(tuple(map(tuple, state[name])) for name in ("inputs", "positions")))

    def warn(self, inputs: np.ndarray, domain: Domain, layout: Layout) -> None:
        """Name the first quantity that lies far outside of what was seen."""
        given = zip(layout.inputs, self.inputs, inputs.reshape(-1, inputs.shape[-1]).T, strict=True)
        places = zip(_AXES, self.positions, domain.points.T, strict=False)
        for name, (low, high), values in [*given, *places]:
            reach = _BEYOND * max(high - low, 1e-6 * max(abs(low), abs(high)))
            if values.min() < low - reach or values.max() > high + reach:
                warnings.warn(
                    f"{name} goes from {values.min():.3g} to {values.max():.3g} here, and from "
                    f"{low:.3g} to {high:.3g} in the training samples: the prediction is an "
                    f"extrapolation.",
                    ExtrapolationWarning,
                    stacklevel=4,
                )
                return


def _ranges(boxes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[tuple[float, float], ...]:
    low, high = bounding_box([np.stack(box) for box in boxes])
    return tuple((float(a), float(b)) for a, b in zip(low, high, strict=True))
