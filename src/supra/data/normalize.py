"""Normalisers: data to numbers of order one, and exactly back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from supra.data.errors import DataError
from supra.domain.choice import check_choice

Kind = Literal["none", "scalar", "channel", "point", "minmax"]
# Spread below this fraction of the values is their rounding in single precision.
ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class Normalizer:
    """The map ``(x - shift) / scale`` of fields ``(…, points, channels)``.

    Attributes:
        shift: shape ``(channels,)``, or ``(points, channels)`` if every point has its own.
        scale: likewise; nowhere 0.
    """

    shift: Float[Tensor, "*points channels"]
    scale: Float[Tensor, "*points channels"]

    @classmethod
    def fit(cls, arrays: Iterable[Float[np.ndarray, "..."]], kind: Kind) -> "Normalizer":
        """The normaliser of fields ``(…, points, channels)``, seen one after the other.

        Args:
            arrays: the training set's fields, sample by sample.
            kind: ``"scalar"``: one mean and deviation for all; ``"channel"``: for each channel;
                ``"point"``: for each point and channel; ``"minmax"``: each channel to [-1, 1];
                ``"none"``: unchanged.

        A channel that is constant is only shifted. With ``"point"``, a channel that is the same in
        all samples, such as positions on a shared grid, is taken as a whole, and a point with the
        same value in all samples, such as a boundary value, is scaled as its channel is.
        """
        check_choice("kind", kind, Kind, DataError)
        moments = None
        for array in arrays:
            _check(array, kind, moments)
            if moments is None:
                moments = _Moments(_reduced_shape(array, kind))
            moments.add(_to_reduce(array, kind))
        if moments is None:
            raise DataError("A normaliser is fitted to samples: got none.")
        shift, scale = moments.range() if kind == "minmax" else moments.mean_and_deviation()
        if kind == "none":
            shift, scale = np.zeros_like(shift), np.ones_like(scale)
        if kind == "point":
            shift, scale = _shared_as_a_whole(shift, scale, moments.largest)
            still = scale <= ROUNDING * np.abs(moments.largest)
            scale = np.where(still, np.sqrt((scale**2).mean(axis=0)), scale)
        scale = np.where(scale > ROUNDING * np.abs(moments.largest), scale, 1.0)
        dtype = torch.get_default_dtype()
        return cls(torch.as_tensor(shift, dtype=dtype), torch.as_tensor(scale, dtype=dtype))

    def encode(self, fields: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return (fields - self.shift) / self.scale

    def decode(self, fields: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return fields * self.scale + self.shift

    def to(self, *args: Any, **kwargs: Any) -> "Normalizer":
        """A copy on another device or in another floating-point type, as `torch.Tensor.to`."""
        return type(self)(self.shift.to(*args, **kwargs), self.scale.to(*args, **kwargs))

    def state(self) -> dict[str, Tensor]:
        """Plain tensors, to be saved with a model; `Normalizer(**state)` brings it back."""
        return {"shift": self.shift, "scale": self.scale}


class _Moments:
    """Mean, deviation and range of arrays that come one by one, summed without cancellation."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self.mean, self.squares = np.zeros(shape), np.zeros(shape)
        self.low, self.high = np.full(shape, np.inf), np.full(shape, -np.inf)

    def add(self, rows: Float[np.ndarray, "rows *shape"]) -> None:
        mean = rows.mean(axis=0)
        total = self.count + len(rows)
        away = mean - self.mean
        self.squares += ((rows - mean) ** 2).sum(axis=0)
        self.squares += away**2 * self.count * len(rows) / total
        self.mean += away * len(rows) / total
        self.count = total
        self.low = np.minimum(self.low, rows.min(axis=0))
        self.high = np.maximum(self.high, rows.max(axis=0))

    @property
    def largest(self) -> np.ndarray:
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def mean_and_deviation(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean, np.sqrt(self.squares / self.count)

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return (self.low + self.high) / 2, (self.high - self.low) / 2


def _shared_as_a_whole(
    shift: Float[np.ndarray, "points channels"],
    scale: Float[np.ndarray, "points channels"],
    largest: Float[np.ndarray, "points channels"],
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation over the points for channels that no sample changes."""
    same = (scale <= ROUNDING * largest).all(axis=0)
    mean, deviation = shift.mean(axis=0), shift.std(axis=0)
    return np.where(same, mean, shift), np.where(same, deviation, scale)


def _reduced_shape(array: np.ndarray, kind: Kind) -> tuple[int, ...]:
    if kind == "scalar":
        return (1,)
    return array.shape[-2:] if kind == "point" else array.shape[-1:]


def _to_reduce(array: np.ndarray, kind: Kind) -> np.ndarray:
    return np.asarray(array, dtype=np.float64).reshape(-1, *_reduced_shape(array, kind))


def _check(array: np.ndarray, kind: Kind, moments: _Moments | None) -> None:
    if array.ndim < 2 or not array.size or not np.isfinite(array).all():
        raise DataError(
            f"A normaliser is fitted to finite fields of shape (…, points, channels): got shape "
            f"{array.shape}" + (" with NaN or infinite values." if array.size else ".")
        )
    shape = _reduced_shape(array, kind)
    if moments is not None and moments.mean.shape != shape:
        way_out = ' Use kind="channel".' if kind == "point" else ""
        raise DataError(
            f"A {kind} normaliser needs samples alike: got {moments.mean.shape} and then "
            f"{shape}.{way_out}"
        )
