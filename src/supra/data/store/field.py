"""Fields of one sample: the shape that a layout asks for, and what may be stored."""

from typing import Literal

import numpy as np

from supra.data.dataset import Layout, Sample
from supra.data.errors import DataError
from supra.domain import Domain

What = Literal["inputs", "targets"]


def field_shape(layout: Layout, domain: Domain, what: What) -> tuple[int, ...]:
    """Shape of one sample's inputs or targets: (times, points, channels), or without times."""
    steps = (len(layout.times),) if what == "targets" and layout.times else ()
    return (*steps, len(domain.points), len(getattr(layout, what)))


def storable_fields(
    sample: Sample, layout: Layout, dtype: np.dtype, who: str
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets in the type they are stored in, or a `DataError`."""
    return (
        _storable(sample.inputs, field_shape(layout, sample.domain, "inputs"), dtype, who),
        _storable(sample.targets, field_shape(layout, sample.domain, "targets"), dtype, who),
    )


def _storable(values: np.ndarray, shape: tuple[int, ...], dtype: np.dtype, who: str) -> np.ndarray:
    if values.shape != shape:
        raise DataError(
            f"{who} has a field of shape {values.shape} where layout and domain ask for {shape}."
        )
    with np.errstate(over="ignore"):  # infinite values are reported below
        values = np.ascontiguousarray(values, dtype=dtype)
    finite = np.isfinite(values)
    if not finite.all():
        raise DataError(
            f"{who} must be finite in {dtype}: {int((~finite).sum())} of {values.size} values are "
            f"not. Mend it or leave it out."
        )
    return values
