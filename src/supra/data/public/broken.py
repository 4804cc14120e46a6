"""Files that cannot be read, and what is said about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supra.data.errors import DataError


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Whatever the readers of a damaged file raise becomes an error that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.") from None
    except Exception as error:  # damaged files raise anything, from OSError to MemoryError
        reason = str(error) or type(error).__name__
        raise DataError(f"{path} cannot be read: {reason.rstrip('.')}.") from error
