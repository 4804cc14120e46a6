"""Computed eigenpairs kept on disk, keyed by content.

They live in the platform's cache folder, or where the environment variable ``SUPRA_CACHE`` says;
``SUPRA_CACHE=off`` keeps nothing. Writers replace whole files, so any number may run at once; an
entry that cannot be read is computed again.
"""

import contextlib
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import platformdirs

from supra.basis.eigen import Eigenpairs
from supra.basis.errors import BasisWarning

_VERSION = "2"  # change it when the same key would give other numbers


def directory() -> Path | None:
    """Where entries are kept; None if switched off."""
    setting = os.environ.get("SUPRA_CACHE", "")
    if setting.lower() in ("off", "0", "none", "false"):
        return None
    return Path(setting) if setting else Path(platformdirs.user_cache_dir("supra")) / "basis"


def key(kind: str, points: np.ndarray, cells: np.ndarray, *options: object) -> str:
    """Hash of everything the result depends on."""
    digest = hashlib.sha256(repr((_VERSION, kind, points.shape, cells.shape, options)).encode())
    for array in (points, cells):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def remembered(name: str, compute: Callable[[], Eigenpairs]) -> tuple[Eigenpairs, bool]:
    """The entry of that name, computed and kept if none can be read; and whether one could."""
    folder = directory()
    if folder is None:
        return compute(), False
    path = folder / f"{name}.npz"
    kept = _read(path)
    if kept is not None:
        return kept, True
    pairs = compute()
    _write(path, pairs)
    return pairs, False


def _read(path: Path) -> Eigenpairs | None:
    try:
        with np.load(path, allow_pickle=False) as entry:
            pairs = Eigenpairs(
                entry["values"], entry["vectors"], entry["residuals"], str(entry["method"])
            )
    except FileNotFoundError:
        return None
    except Exception as error:  # a damaged archive raises anything, even NotImplementedError
        warnings.warn(
            f"Cache entry {path} cannot be read ({error}); it is computed again.",
            BasisWarning,
            stacklevel=4,
        )
        return None
    return pairs


def _write(path: Path, pairs: Eigenpairs) -> None:
    """Write beside the entry and move into place; a disk that refuses costs only the cache."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **vars(pairs))
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        warnings.warn(f"The basis could not be kept in {path.parent}: {error}", BasisWarning, 4)
