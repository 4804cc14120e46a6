"""Time-dependent samples taken apart: every moment becomes a sample to learn from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from supra.data.dataset import Channel, Dataset, Layout, Reader, Sample
from supra.data.errors import DataError

TIME = Channel("time")


def stepwise(dataset: Dataset, unroll: int = 1) -> Dataset:
    """The set with one sample per moment; a steady set is returned as it is.

    A rollout gives windows of past states and the next ``unroll`` states. Targets on condition of
    the time become steady ones, with the time as an input.
    """
    layout = dataset.layout
    steps = len(layout.times)
    if layout.time == "steady":
        return dataset
    if layout.time == "condition":
        unroll, taken = 1, replace(layout, inputs=(*layout.inputs, TIME), time="steady", times=())
        read: Reader = _Moment(dataset.read, layout)
    else:
        if not 1 <= unroll <= steps:
            raise DataError(
                f"`unroll` is between 1 and the {steps} steps of a sample: got {unroll}."
            )
        taken = replace(layout, times=layout.times[:unroll])
        read = _Window(dataset.read, layout, unroll)
    starts = steps - unroll + 1
    indices = (dataset.indices[:, None] * starts + np.arange(starts)).ravel()
    return replace(dataset, layout=taken, read=read, indices=indices)


def moments(sample: Sample, layout: Layout) -> Iterator[Sample]:
    """All that `stepwise` makes of one sample, from a single read of it."""
    if layout.time == "steady":
        yield sample
    for step in range(len(layout.times)):
        if layout.history:
            yield _window(sample, layout, step, unroll=1)
        else:
            yield _moment(sample, layout, step)


def changes(sample: Sample, layout: Layout) -> Float[np.ndarray, "times points targets"]:
    """From each state of a rollout to the next, the last given state to the first target."""
    last = sample.inputs[:, -len(layout.targets) :]
    return np.diff(sample.targets, axis=0, prepend=last[None])


@dataclass(frozen=True)
class _Window:
    """Reads the states before a moment and those after it."""

    read: Reader
    layout: Layout
    unroll: int

    def __call__(self, index: int) -> Sample:
        number, start = divmod(index, len(self.layout.times) - self.unroll + 1)
        return _window(self.read(number), self.layout, start, self.unroll)


@dataclass(frozen=True)
class _Moment:
    """Reads the targets of one moment, its time among the inputs."""

    read: Reader
    layout: Layout

    def __call__(self, index: int) -> Sample:
        number, step = divmod(index, len(self.layout.times))
        return _moment(self.read(number), self.layout, step)


def _window(sample: Sample, layout: Layout, start: int, unroll: int) -> Sample:
    # Past states lie in the channels: (points, history · channels).
    past = sample.inputs[:, start * len(layout.targets) :]
    seen = [past, *sample.targets[max(0, start - layout.history) : start]]
    inputs = np.concatenate(seen, axis=1)
    return replace(sample, inputs=inputs, targets=sample.targets[start : start + unroll])


def _moment(sample: Sample, layout: Layout, step: int) -> Sample:
    time = np.full((len(sample.inputs), 1), layout.times[step], sample.inputs.dtype)
    inputs = np.concatenate([sample.inputs, time], axis=1)
    return replace(sample, inputs=inputs, targets=sample.targets[step])
