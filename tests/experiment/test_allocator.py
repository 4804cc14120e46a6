import subprocess
import sys

import pytest

STEPS = """
import resource, torch
from supra.experiment.allocator import keep_freed_memory
{call}
for _ in range(3):
    torch.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(call: str) -> int:
    code = STEPS.format(call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_kept_memory_is_not_faulted_in_again():
    assert page_faults("assert keep_freed_memory()") < 0.1 * page_faults("")
