"""Running cells: a few side by side here, or on a Dask cluster; what is finished stays."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from supra.basis.eigen import Report
from supra.experiment.reproduce.cell import FAILED, Cell, check_same, outcome
from supra.experiment.run import ensure_data
from supra.train import LATEST, TrainError

LOG = "log.txt"
_DIVERGED = "diverged"
Submit = Callable[..., Any]


def run_cells(
    cells: Sequence[Cell],
    root: Path,
    workers: int = 2,
    cluster: str | None = None,
    report: Report = lambda *_: None,
) -> dict[Cell, dict[str, Any]]:
    """Train what is not trained yet and return the outcome of every cell.

    A run that diverged is an outcome, too. Anything else that goes wrong ends the work; runs that
    have finished by then are kept.
    """
    folders = {cell: root / cell.name for cell in dict.fromkeys(cells)}
    open_cells = [cell for cell, folder in folders.items() if outcome(folder) is None]
    for cell in folders.keys() - set(open_cells):
        check_same(cell, folders[cell])
    for problem in {cell.problem: cell for cell in open_cells}.values():
        ensure_data(problem.experiment, report)  # two runs would both make them
    done = len(folders) - len(open_cells)
    report("cells", done, len(folders))
    with _pool(workers, cluster) as (submit, completed):
        jobs = [submit(train_cell, cell, folders[cell], workers) for cell in open_cells]
        try:
            for job in completed(jobs):
                job.result()
                done += 1
                report("cells", done, len(folders))
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
    return {cell: _outcome(folder) for cell, folder in folders.items()}


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


def _outcome(folder: Path) -> dict[str, Any]:
    found = outcome(folder)
    assert found is not None
    return found


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
