import subprocess
import sys

import pytest

STEPS = """
import resource, statistics, torch
from supra.experiment.allocator import keep_freed_memory
{call}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
rounds = []
for _ in range(9):
    before = faults()
    torch.ones(2**24)
    rounds.append(faults() - before)
print(int(statistics.median(rounds)))
"""


def page_faults(call: str) -> int:
    """Of a typical use of 64 MiB: now and then the kernel moves a page by itself."""
    code = STEPS.format(call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_kept_memory_is_not_faulted_in_again():
    assert page_faults("assert keep_freed_memory()") < 0.1 * page_faults("")
