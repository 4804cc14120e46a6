"""Time-dependent samples taken apart: every moment becomes a sample to learn from."""

from dataclasses import dataclass, replace

import numpy as np

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


@dataclass(frozen=True)
class _Window:
    """Reads the states before a moment and those after it."""

    read: Reader
    layout: Layout
    unroll: int

    def __call__(self, index: int) -> Sample:
        number, start = divmod(index, len(self.layout.times) - self.unroll + 1)
        sample = self.read(number)
        channels = len(self.layout.targets)
        # Past states lie in the channels: (points, history · channels).
        past = sample.inputs[:, start * channels :]
        seen = [past, *sample.targets[max(0, start - self.layout.history) : start]]
        return replace(
            sample,
            inputs=np.concatenate(seen, axis=1),
            targets=sample.targets[start : start + self.unroll],
        )


@dataclass(frozen=True)
class _Moment:
    """Reads the targets of one moment, its time among the inputs."""

    read: Reader
    layout: Layout

    def __call__(self, index: int) -> Sample:
        number, step = divmod(index, len(self.layout.times))
        sample = self.read(number)
        time = np.full((len(sample.inputs), 1), self.layout.times[step], sample.inputs.dtype)
        inputs = np.concatenate([sample.inputs, time], axis=1)
        return replace(sample, inputs=inputs, targets=sample.targets[step])
