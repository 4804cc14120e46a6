"""What every data-generating solver is: random input data, solved one sample at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from supra.domain import Domain
from supra.domain.choice import check_choice
from supra.problems.errors import ProblemError

Split = Literal["train", "test"]
Solution = dict[str, np.ndarray]


@dataclass(frozen=True)
class Problem(ABC):
    """A family of boundary value problems with random data; its options are its fields.

    A sample depends on the seed, the split and its own number only, so any sample can be made
    anywhere, in any order, and is always the same.

    Attributes:
        name: of the problem.
        given: functions of a solution that are a network's inputs, where no public files say so.
        asked: functions that it is to predict.
    """

    name: ClassVar[str]
    given: ClassVar[tuple[str, ...]] = ()
    asked: ClassVar[tuple[str, ...]] = ("u",)

    @abstractmethod
    def solve(self, rng: np.random.Generator) -> Solution:
        """Draw one sample's random data and solve: named arrays, as the data files store them."""

    def shared_domain(self) -> Domain | None:
        """The domain of all samples; without one, a solution has its own points (and cells)."""
        return None

    def sample(self, index: int, seed: int = 0, split: Split = "train") -> Solution:
        """Sample number ``index`` of a split."""
        check_choice("split", split, Split, ProblemError)
        if index < 0 or seed < 0:
            raise ProblemError(
                f"`index` and `seed` must not be negative: got index={index}, seed={seed}."
            )
        key = (get_args(Split).index(split), index)
        return self.solve(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key)))

    def generate(self, count: int, seed: int = 0, split: Split = "train") -> Iterator[Solution]:
        """The first ``count`` samples of a split, made as they are asked for."""
        return (self.sample(index, seed, split) for index in range(count))

    def options(self) -> dict[str, Any]:
        """The options by name: with the seed, all that a sample depends on."""
        return asdict(self)
