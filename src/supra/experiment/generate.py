"""Data sets made by our solvers: in parallel, and from where it was stopped."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from threadpoolctl import threadpool_limits

from supra.basis.eigen import Report
from supra.data import Channel, DataError, Layout, Sample, StoreWriter, open_store, write_public
from supra.data.public.sets import SETS
from supra.data.public.sidecar import Sidecar
from supra.domain import Mesh, PointSet
from supra.domain.choice import check_choice
from supra.experiment.build import STORE
from supra.experiment.parts import Parts
from supra.problems import (
    Airfoil,
    Ball,
    Darcy,
    Elasticity,
    NavierStokes,
    PerforatedPlate,
    Pipe,
    Plasticity,
    PlatePoints,
    Problem,
    ProblemError,
    Solution,
    Split,
    Surface,
)

Job = tuple[Split, int]

PARTS = "unfinished"  # folder of finished samples while others are still to be solved

PROBLEMS: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        Darcy,
        NavierStokes,
        Airfoil,
        Pipe,
        Plasticity,
        Elasticity,
        PerforatedPlate,
        PlatePoints,
        Surface,
        Ball,
    )
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

    @property
    def record(self) -> dict[str, Any]:
        """All that a data set depends on."""
        return {**self.identity, "train": self.train, "test": self.test}


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


def generate(
    request: Request,
    out: Path,
    workers: int = 1,
    cluster: str | None = None,
    report: Report = lambda *_: None,
) -> None:
    """Make the data set in a folder; what is there of the same request is not made again."""
    done = _found(out)
    if done == request.record:
        shutil.rmtree(out / PARTS, ignore_errors=True)  # of a process killed after the last write
        return
    if done is not None:
        raise DataError(f"{out} holds another data set: {done}. Name another folder or empty it.")
    parts = solve_missing(request, out / PARTS, workers, cluster, report)
    report("writing the files", 0, 1)
    _write(request, out, parts)
    parts.remove()


def solve_missing(
    request: Request, folder: Path, workers: int, cluster: str | None, report: Report
) -> Parts:
    """Solve what is not in the folder yet, keeping every sample as soon as it is there."""
    parts = Parts.open(folder, request.identity)
    jobs: list[Job] = [("train", index) for index in parts.missing("train", request.train)]
    jobs += [("test", index) for index in parts.missing("test", request.test)]
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
            "A worker process died: for lack of memory (take fewer workers), or because the script "
            'that started this has no `if __name__ == "__main__":`. What is finished is kept.'
        ) from None


def _solve(problem: Problem, index: int, seed: int, split: Split) -> Any:
    # One core per worker: samples are many, so they are what runs side by side.
    with threadpool_limits(1):
        return problem.sample(index, seed, split)


class _Here(Executor):
    """Does what is submitted at once, in this process."""

    def submit(self, call: Callable, /, *arguments: Any, **options: Any) -> Future:
        done: Future = Future()
        done.set_result(call(*arguments, **options))
        return done


@contextmanager
def _executor(workers: int, cluster: str | None) -> Iterator[tuple[Executor, int]]:
    """Where samples are solved, and how many of them at once."""
    if cluster is not None:
        with _client(cluster) as client:
            yield client.get_executor(), 2 * sum(client.nthreads().values())
        return
    if workers < 1:
        raise ProblemError(f"At least one worker is needed: got {workers}.")
    if workers == 1:
        yield _Here(), 1
        return
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


def _found(out: Path) -> dict[str, Any] | None:
    """The request that a folder's finished files come from."""
    if (out / STORE).exists():
        return open_store(out / STORE).metadata.get("request")
    record = Sidecar.read(out)
    if record is None:
        return None
    return {
        "problem": record.problem,
        "options": record.provenance.get("options"),
        "seed": record.provenance.get("seed"),
        "train": record.train,
        "test": record.test,
    }


def _write(request: Request, out: Path, parts: Parts) -> None:
    train, test = parts.all("train", request.train), parts.all("test", request.test)
    name, counts = request.problem.name, (request.train, request.test)
    if name in SETS:
        provenance = {
            "seed": request.seed,
            "options": request.problem.options(),
            "supra": version("supra-operator"),
        }
        write_public(name, out, train, test, counts=counts, provenance=provenance)
    else:
        _write_store(request, out / STORE, {"train": train, "test": test})


def _write_store(request: Request, path: Path, splits: dict[Split, Iterator[Solution]]) -> None:
    """Problems without a public layout: on one mesh, or on a mesh or points per sample."""
    given, asked = request.problem.given, request.problem.asked
    shared = request.problem.shared_domain()
    layout = Layout(tuple(map(Channel, given)), tuple(map(Channel, asked)))
    with StoreWriter(path, layout, shared, metadata={"request": request.record}) as store:
        for split, solutions in splits.items():
            for solution in solutions:
                inputs, targets = (_columns(solution, names) for names in (given, asked))
                domain = _own_domain(solution) if shared is None else shared
                store.add(Sample(inputs, targets, domain), split)


def _columns(solution: Solution, names: tuple[str, ...]) -> np.ndarray:
    return np.stack([solution[name] for name in names], axis=1)


def _own_domain(solution: Solution) -> Mesh | PointSet:
    if "cells" in solution:
        return Mesh(solution["points"], solution["cells"])
    return PointSet(solution["points"])
