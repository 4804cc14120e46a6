"""Two processes that train together give what one gives alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.train.small import job

from supra.train import LATEST, History, World, fit
from supra.train.checkpoint import load_checkpoint

pytestmark = pytest.mark.usefixtures("unchecked")

TRAINER = """
import os, sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.train.small import job
from supra.train import fit, joined_world
with joined_world("cpu") as world:
    if sys.argv[2] == "dies" and world.rank == 1:
        os._exit(3)
    task = replace(job(Path(sys.argv[1]), train=7, epochs=3), world=world)
    fit(task, resume=sys.argv[2] == "resume")
"""


def together(folder: Path, how: str) -> subprocess.CompletedProcess:
    """Seven samples in batches of four: the processes' shares are uneven."""
    script = folder.parent / "trainer.py"
    script.write_text(TRAINER)
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    where = ["--master-port", "0", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    command = [*launch, *where, str(script), str(folder), how, str(Path(__file__).parents[2])]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def seen(name: str, weight: torch.Tensor) -> torch.Tensor:
    """Without the biases of keys: a softmax does not see them, and their gradient is round-off."""
    if not name.endswith("query_key_value.bias"):
        return weight
    query, _, value = weight.chunk(3)
    return torch.cat([query, value])


def test_two_processes_equal_one_and_resume(tmp_path):
    alone, pair = tmp_path / "alone", tmp_path / "pair"
    fit(job(alone, train=7, epochs=3))
    done = together(pair, "new")
    assert done.returncode == 0, done.stderr[-2000:]
    one, two = (load_checkpoint(folder / LATEST)["weights"] for folder in (alone, pair))
    for name, weight in one.items():
        # Where a gradient is near zero, Adam makes a part of a step (1e-3) of its round-off.
        found, expected = seen(name, two[name]), seen(name, weight)
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=2e-4)
    assert History.read(pair).errors == pytest.approx(History.read(alone).errors, rel=1e-4)
    again = together(pair, "resume")
    assert again.returncode == 0, again.stderr[-2000:]
    assert History.read(pair).epochs == 3


def test_a_process_that_dies_ends_the_job_with_an_error(tmp_path):
    assert together(tmp_path / "pair", "dies").returncode != 0


def test_shares_of_a_batch_add_up_to_its_mean():
    losses = torch.randn(7).double()
    for size in (1, 2, 3, 9):
        total = torch.zeros(())
        for rank in range(size):
            numbers, factor = World(rank, size).part(list(range(7)))
            total = total + factor * losses[numbers].sum() / size
        torch.testing.assert_close(total, losses.mean(), check_dtype=False)
