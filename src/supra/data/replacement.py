"""Files that appear whole under their name, or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from supra.data.errors import DataError


class Replacement:
    """A hidden file in the folder of ``path``, which it becomes by `take_place`.

    Attributes:
        path: the file to be; where ``path`` is a link, what it points to.
        unfinished: the file to write to.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.realpath(path))
        if not self.path.parent.is_dir():
            raise DataError(f"The folder {str(self.path.parent)!r} does not exist. Make it first.")
        self.unfinished = self.path.with_name(f".{self.path.name}-{uuid4().hex}.unfinished")
        self._before = self._identity()
        self._is_copy = False

    def copy(self) -> None:
        """Start from what is there; `take_place` then sees to it that nobody else changed it."""
        shutil.copy(self.path, self.unfinished)
        self._is_copy = True

    def take_place(self) -> None:
        """Put the finished file, safe on disk, in the place of what was there."""
        _to_disk(self.unfinished)
        if self._is_copy and self._before != self._identity():
            raise DataError(
                f"Data file {str(self.path)!r} was written by another process while samples were "
                f"appended to it. Append them again."
            )
        os.replace(self.unfinished, self.path)
        _to_disk(self.path.parent)

    def discard(self) -> None:
        """Remove what is unfinished; nothing if it has taken its place."""
        self.unfinished.unlink(missing_ok=True)

    def _identity(self) -> tuple[int, ...]:
        status = self.path.stat() if self.path.exists() else None
        return (status.st_ino, status.st_size, status.st_mtime_ns) if status else ()


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path to write to, which becomes ``path`` when the block ends without an error."""
    place = Replacement(path)
    try:
        yield place.unfinished
        place.take_place()
    finally:
        place.discard()


def _to_disk(path: Path) -> None:
    """Have the system write a file or folder out, so that a power cut loses nothing."""
    if os.name == "nt" and path.is_dir():  # Windows does not open folders
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
