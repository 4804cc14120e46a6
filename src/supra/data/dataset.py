"""Data sets: functions on domains, read sample by sample as they are asked for."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from torch.utils.data import Dataset as TorchDataset

from supra.data.errors import DataError
from supra.domain import Domain
from supra.domain.choice import check_choice

Time = Literal["steady", "rollout", "condition"]


@dataclass(frozen=True)
class Channel:
    """One scalar function of a sample: its name and unit."""

    name: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@dataclass(frozen=True)
class Layout:
    """What the samples of a data set hold.

    Attributes:
        inputs: channels that are given.
        targets: channels to predict, of one moment.
        time: ``"steady"``: targets have no time. ``"rollout"``: the inputs are the last states,
            oldest first, and the targets the states that follow, one after the other.
            ``"condition"``: the inputs do not change, the targets are wanted at given times.
        times: moments of the targets; empty if steady.
    """

    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    time: Time = "steady"
    times: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice("time", self.time, Time, DataError)
        if (self.time == "steady") == bool(self.times):
            raise DataError(
                f"Targets have `times` if and only if they depend on time: got time="
                f"{self.time!r} and {len(self.times)} times."
            )
        if self.time == "rollout" and len(self.inputs) % len(self.targets):
            raise DataError(
                f"The inputs of a rollout are whole past states of {len(self.targets)} channels: "
                f"got {len(self.inputs)} input channels."
            )

    @property
    def history(self) -> int:
        """Number of past states among the inputs of a rollout."""
        return len(self.inputs) // len(self.targets) if self.time == "rollout" else 0


@dataclass(frozen=True, eq=False)
class Sample:
    """One solved problem: what is given, what is to be predicted, and where."""

    inputs: Float[np.ndarray, "points inputs"]
    targets: Float[np.ndarray, "*steps points targets"]
    domain: Domain


@runtime_checkable
class Reader(Protocol):
    """Reads one sample by its number. Readers are pickled to loading processes."""

    def __call__(self, index: int) -> Sample: ...


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(TorchDataset):
    """Samples of one layout, read when asked for.

    Attributes:
        layout: what each sample holds.
        read: reads a sample by its number in the file.
        indices: the numbers of this set's samples.
        domain: the domain that all samples share; ``None`` where each has its own.
        name: what messages call the set.
    """

    layout: Layout
    read: Reader
    indices: Int[np.ndarray, " samples"]
    domain: Domain | None
    name: str = "data"

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, number: Any) -> Sample:
        return self.read(int(self.indices[number]))

    def __repr__(self) -> str:
        of = "one domain" if self.domain is not None else "a domain each"
        given, wanted = (", ".join(map(str, c)) for c in (self.layout.inputs, self.layout.targets))
        return f"Dataset({self.name}: {len(self)} samples on {of}, {given} -> {wanted})"

    def subset(self, numbers: Any) -> "Dataset":
        """Some of the samples: a slice, or their numbers within this set."""
        return replace(self, indices=self.indices[numbers])

    def without(self, held_out: int, seed: int = 0) -> tuple["Dataset", "Dataset"]:
        """The set without ``held_out`` samples, and those: chosen at random, always alike."""
        if not 0 <= held_out < len(self):
            raise DataError(
                f"Between 0 and {len(self) - 1} of {len(self)} samples can be held out of "
                f"{self.name}: got {held_out}."
            )
        order = np.random.default_rng(seed).permutation(len(self))
        return self.subset(np.sort(order[held_out:])), self.subset(np.sort(order[:held_out]))


@dataclass(frozen=True)
class Splits:
    """Samples to learn from, to choose a model by, and to state its error on."""

    train: Dataset
    valid: Dataset
    test: Dataset

    @classmethod
    def of(cls, train: Dataset, test: Dataset, valid: int | float = 0.1, seed: int = 0) -> "Splits":
        """Cut the validation samples from those for training.

        ``valid`` is a count, or a fraction below 1 of which at least one sample comes.
        """
        if isinstance(valid, bool) or valid < 0 or (isinstance(valid, float) and valid >= 1):
            raise DataError(
                f"`valid` is a number of samples or a fraction of the training set below 1: got "
                f"{valid}."
            )
        fraction = max(1, round(valid * len(train))) if valid and len(train) > 1 else 0
        count = valid if isinstance(valid, int) else fraction
        kept, held_out = train.without(count, seed)
        return cls(
            replace(kept, name=f"{train.name} train"),
            replace(held_out, name=f"{train.name} valid"),
            replace(test, name=f"{test.name} test"),
        )
