"""The C library's memory allocator, told to keep what it has."""

import ctypes
import sys
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the names' numbers in glibc's malloc.h
_LARGEST = 2**31 - 1


def release_freed_memory() -> None:
    """Give back once what was kept: for a moment that is not timed, between two large networks."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def keep_freed_memory() -> bool:
    """Keep freed arrays for the next ones instead of giving them back to the system.

    By default glibc returns every freed array of 32 MiB or more, and a training step on a large
    mesh spends its time in the page faults of getting them anew. For a whole process, so called by
    the command line and not by the library. Does nothing, and says so, on other systems.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST) and mallopt(_TRIM_THRESHOLD, _LARGEST))
