"""A rigid die above a block: a smooth curve that moves down."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.interpolate import PchipInterpolator

from supra.problems.errors import ProblemError


class Die(NamedTuple):
    """The lower side of a die as a piecewise cubic over x; level beyond its ends.

    A tuple of arrays, because compiled loops take it as it is. `from_knots` makes one.

    Attributes:
        left: x of the first knot.
        spacing: between knots.
        heights: y at the knots, before the die moves.
        slopes: of the curve at the knots.
    """

    left: float
    spacing: float
    heights: Float[np.ndarray, " knots"]
    slopes: Float[np.ndarray, " knots"]

    @classmethod
    def from_knots(cls, heights: Float[np.ndarray, " knots"], left: float, right: float) -> "Die":
        """Through evenly spaced knots: monotone between them, so no lower than the lowest.

        Piecewise cubic Hermite interpolation with the slopes of Fritsch and Butland, but level at
        both ends: a block that grows wider than the die then meets no edge.
        """
        if len(heights) < 2 or not np.isfinite(heights).all() or not left < right:
            raise ProblemError(
                "A die needs at least two knots of finite height, and left < right: got "
                f"{len(heights)} knots {heights} from {left} to {right}."
            )
        knots = np.linspace(left, right, len(heights))
        slopes = PchipInterpolator(knots, heights).derivative()(knots)
        slopes[[0, -1]] = 0
        return cls(left, (right - left) / (len(heights) - 1), heights, slopes)

    def profile(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Height of the die at ``x``, before it moves."""
        last = len(self.heights) - 1
        position = (x - self.left) / self.spacing
        cell = np.clip(np.floor(position).astype(int), 0, last - 1)
        s = np.clip(position - cell, 0, 1)
        rise = self.heights[cell + 1] - self.heights[cell]
        a, b = self.spacing * self.slopes[cell], self.spacing * self.slopes[cell + 1]
        return self.heights[cell] + s * (a + s * (3 * rise - 2 * a - b + s * (a + b - 2 * rise)))
