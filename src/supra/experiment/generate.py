"""Data sets made by our solvers: in parallel, and from where it was stopped."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from threadpoolctl import threadpool_limits

from supra.domain.choice import check_choice
from supra.experiment.parts import Parts
from supra.problems import Darcy, NavierStokes, PerforatedPlate, Problem, ProblemError, Split

Report = Callable[[str, int, int], None]
Job = tuple[Split, int]

PROBLEMS: dict[str, type[Problem]] = {
    problem.name: problem for problem in (Darcy, NavierStokes, PerforatedPlate)
}


@dataclass(frozen=True)
class Request:
    """Which samples of which problem are wanted."""

    problem: Problem
    train: int
    test: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.train < 1 or self.test < 1:
            raise ProblemError(
                f"A data set needs at least one sample to train and one to test: got "
                f"train={self.train}, test={self.test}."
            )

    @property
    def identity(self) -> dict[str, Any]:
        """All that a sample depends on besides its number."""
        return {"problem": self.problem.name, "options": self.problem.options(), "seed": self.seed}


def make_problem(name: str, options: dict[str, str]) -> Problem:
    """The problem of that name; options come as text, as from the command line."""
    name = name.replace("-", "_")
    check_choice("problem", name, tuple(PROBLEMS), ProblemError)
    kind = PROBLEMS[name]
    for option in options:
        check_choice(f"option of {name}", option, tuple(f.name for f in fields(kind)), ProblemError)
    try:
        return TypeAdapter(kind).validate_python(options)
    except ValidationError as error:
        first = error.errors()[0]
        if isinstance(cause := first.get("ctx", {}).get("error"), ValueError):
            raise cause from None
        raise ProblemError(f"{name}: {first['loc'][0]}: {first['msg']}.") from None


def solve_missing(
    request: Request, folder: Path, workers: int, cluster: str | None, report: Report
) -> Parts:
    """Solve what is not in the folder yet, keeping every sample as soon as it is there."""
    parts = Parts.open(folder, request.identity)
    counts = {"train": request.train, "test": request.test}
    jobs = [
        (split, index) for split in get_args(Split) for index in parts.missing(split, counts[split])
    ]
    total = request.train + request.test
    report(request.problem.name, total - len(jobs), total)
    if not jobs:
        return parts
    with _executor(workers, cluster) as (executor, at_once):
        solved = _solutions(request, executor, jobs, at_once)
        for done, ((split, index), solution) in enumerate(solved, total - len(jobs) + 1):
            parts.save(split, index, solution)
            report(request.problem.name, done, total)
    return parts


def _solutions(
    request: Request, executor: Executor, jobs: list[Job], at_once: int
) -> Iterator[tuple[Job, Any]]:
    """Samples as they get done; only so many are under way that none waits in memory for long."""
    waiting = iter(jobs)
    running: dict[Future, Job] = {}
    try:
        while True:
            for split, index in islice(waiting, at_once - len(running)):
                future = executor.submit(_solve, request.problem, index, request.seed, split)
                running[future] = (split, index)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise ProblemError(
            "A worker process died, perhaps for lack of memory. What is finished is kept: run the "
            "same command again, with fewer --workers."
        ) from None


def _solve(problem: Problem, index: int, seed: int, split: Split) -> Any:
    # One core per worker: samples are many, so they are what runs side by side.
    with threadpool_limits(1):
        return problem.sample(index, seed, split)


@contextmanager
def _executor(workers: int, cluster: str | None) -> Iterator[tuple[Executor, int]]:
    """Where samples are solved, and how many of them at once."""
    if cluster is not None:
        with _client(cluster) as client:
            yield client.get_executor(), 2 * sum(client.nthreads().values())
        return
    if workers < 1:
        raise ProblemError(f"At least one worker is needed: got {workers}.")
    # A new interpreter, not a copy of this one: copying a process with running threads may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            yield pool, 2 * workers
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ProblemError('A cluster needs Dask: pip install "supra-operator[cluster]".') from None
    try:
        return Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise ProblemError(f"No Dask scheduler answers at {address!r}: {error}") from None
