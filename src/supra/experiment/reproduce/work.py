"""Running cells: a few side by side here, or on a Dask cluster; what is finished stays."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from supra.basis.eigen import Report
from supra.experiment.reproduce.cell import Cell
from supra.experiment.reproduce.record import FAILED, Outcome, outcome
from supra.experiment.run import ensure_data
from supra.train import LATEST, TrainError

LOG = "log.txt"
_DIVERGED = "diverged"
Submit = Callable[..., Any]


def run_cells(
    cells: Sequence[Cell],
    runs: Path,
    records: Path,
    workers: int = 2,
    cluster: str | None = None,
    report: Report = lambda *_: None,
) -> dict[Cell, Outcome]:
    """Train what is not trained yet, in folders of ``runs``, and return every cell's outcome.

    A run that diverged is an outcome, too. Anything else that goes wrong ends the work; what has
    finished by then is in ``records``.
    """
    wanted = list(dict.fromkeys(cells))
    found = finished(wanted, runs, records)
    waiting = [cell for cell in wanted if cell not in found]
    for cell in {cell.problem: cell for cell in waiting}.values():
        ensure_data(cell.experiment, report)  # two runs would both make them
    report("cells", len(wanted) - len(waiting), len(wanted))
    with _pool(workers, cluster) as (submit, completed):
        jobs = {submit(train_cell, cell, runs / cell.name, workers): cell for cell in waiting}
        try:
            for done, job in enumerate(completed(list(jobs)), 1):
                job.result()
                found |= finished([jobs[job]], runs, records)
                report("cells", len(wanted) - len(waiting) + done, len(wanted))
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
    return found


def finished(cells: Iterable[Cell], runs: Path, records: Path) -> dict[Cell, Outcome]:
    """The outcomes that are there already."""
    found = ((cell, outcome(cell, runs, records)) for cell in cells)
    return {cell: each for cell, each in found if each is not None}


def train_cell(cell: Cell, folder: Path, side_by_side: int) -> None:
    """Train in a process of its own, from where an earlier one stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    # A run that stopped before its first checkpoint starts afresh.
    if (folder / LATEST).exists():
        arguments = ["train", cell.problem, "--out", str(folder), "--resume"]
    else:
        arguments = [*cell.arguments(folder), "--overwrite"]
    threads = max(1, (os.cpu_count() or 1) // side_by_side)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "supra", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    (folder / LOG).write_text(ended.stdout + ended.stderr)
    if ended.returncode == 0:
        return
    last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
    if _DIVERGED not in last:
        raise TrainError(f"{cell.command(folder)} failed: {last}")
    (folder / FAILED).write_text(last)


@contextmanager
def _pool(workers: int, cluster: str | None) -> Iterator[tuple[Submit, Callable[[list], Iterator]]]:
    if cluster is None:
        with ThreadPoolExecutor(workers) as threads:
            yield threads.submit, as_completed
        return
    from distributed import Client
    from distributed import as_completed as completed_on_cluster

    with Client(cluster) as client:
        yield client.submit, completed_on_cluster
