"""How fast a surrogate is, and how fast the solver that made its data."""

import time
from dataclasses import dataclass
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing import get_context
from statistics import median

import torch
from threadpoolctl import threadpool_limits

from supra.data import Dataset
from supra.experiment.config import DataConfig
from supra.experiment.generate import PROBLEMS, make_problem
from supra.experiment.surrogate import Surrogate
from supra.problems import Problem

PATIENCE = 60.0  # seconds that the solver gets, the start of its process included
_QUICK = 5.0  # a solve below this is worth another, which finds everything prepared
_REPEATS = 5


@dataclass(frozen=True)
class Speed:
    """Times of one sample.

    Attributes:
        per_second: predictions of the surrogate.
        batch: samples it is given at once.
        device: what it runs on, in words.
        solver_seconds: of one solve on one core; None if not known.
    """

    per_second: float
    batch: int
    device: str
    solver_seconds: float | None

    @property
    def factor(self) -> float | None:
        """How many predictions fit into one solve."""
        return None if self.solver_seconds is None else self.solver_seconds * self.per_second


def measure_speed(surrogate: Surrogate, test: Dataset, data: DataConfig) -> Speed:
    """Time both; the solver only if ``data`` says how they are made."""
    size = min(surrogate.experiment.train.batch_size, len(test))
    seconds = _prediction_seconds(surrogate, test, size)
    device = next(surrogate.predictor.parameters()).device.type
    threads = torch.get_num_threads()
    words = "a GPU" if device == "cuda" else f"{threads} CPU thread{'s' * (threads > 1)}"
    return Speed(size / seconds, size, words, solver_seconds(data))


def solver_seconds(data: DataConfig, patience: float = PATIENCE) -> float | None:
    """Seconds per sample of the problem that the data come from; None if it takes too long."""
    if data.generate is None or data.name not in PROBLEMS:
        return None
    # In a process of its own, which can be stopped: a solver may take hours.
    try:
        options = {name: str(value) for name, value in data.generate.options.items()}
        problem = make_problem(data.name, options)
        with get_context("spawn").Pool(1) as pool:
            running = pool.apply_async(_solve_seconds, (problem, data.generate.seed))
            return running.get(patience)
    except (TookTooLong, ArithmeticError, ImportError, OSError, ValueError):
        return None  # a solver that does not run here costs the reader no report


def _prediction_seconds(surrogate: Surrogate, test: Dataset, size: int) -> float:
    """Of one batch that is ready in memory; the first one warms up."""
    device = next(surrogate.predictor.parameters()).device
    batch = surrogate.collate([test[number] for number in range(size)]).to(device)
    times = []
    with torch.inference_mode():
        for _ in range(_REPEATS + 1):
            start = time.perf_counter()
            surrogate.predictor.predict(batch.inputs, batch.basis).cpu()
            times.append(time.perf_counter() - start)
    return median(times[1:])


def _solve_seconds(problem: Problem, seed: int) -> float:
    with threadpool_limits(1):
        first = _timed(problem, 0, seed)
        return _timed(problem, 1, seed) if first < _QUICK else first


def _timed(problem: Problem, index: int, seed: int) -> float:
    start = time.perf_counter()
    problem.sample(index, seed, "test")
    return time.perf_counter() - start
