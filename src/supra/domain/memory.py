"""A bound on memory while a file of unknown worth is read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import resource
except ImportError:  # not a Unix system: no bound
    resource = None  # type: ignore[assignment]

STATUS = Path("/proc/self/statm")


@contextmanager
def at_most(extra: int) -> Iterator[None]:
    """Let the process take ``extra`` bytes more than it has; beyond that is a `MemoryError`.

    One flipped bit in a file of a kilobyte can ask for a terabyte, which would have the system end
    the process. Does nothing where the system keeps no such limit.
    """
    if resource is None or not STATUS.exists():
        yield
        return
    now = int(STATUS.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    bounds = [bound for bound in (now + extra, before, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
