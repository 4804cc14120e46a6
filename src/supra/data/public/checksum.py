"""Whether downloaded files are the public ones, byte by byte."""

import hashlib
import warnings
from pathlib import Path

from supra.data.errors import DataError
from supra.data.public.layout import PublicSet
from supra.data.public.load import find_sets, read_record, stored_shape
from supra.data.public.sets import SETS

# As stated by third parties, not by those who published the files.
KNOWN = {
    "piececonst_r421_N1024_smooth1.mat": "c8b1fd73a8bae85aa48afeb1fabd01204a03debe8e208524b72f615e13d2f664",  # noqa: E501
    "piececonst_r421_N1024_smooth2.mat": "c6522cf6cb3a8c4818268b2b07464a85e55ecd7206a23b4b1ac435bfae2e3eb5",  # noqa: E501
    "plas_N987_T20.mat": "b58681e7777531b34889da46b506d2f18845c5d7b194859394dfd958cf28178f",
    "Random_UnitCell_XY_10.npy": "29c615b7c8b0ef94252e4def4cd9999653b8759104619eb728b91a1cac5b665f",
    "Random_UnitCell_sigma_10.npy": "eb8102b580001bab80ee99bfc33289f727491e1d8edab2a4a94abc37a348fa1a",  # noqa: E501
}


class DataWarning(UserWarning):
    """Data are usable, but have a property their owner may not expect."""


def verify(root: str | Path) -> dict[str, bool]:
    """Whether the files in a folder are the public ones; a warning for each that is not.

    Reads every byte of gigabytes, so it is asked for (``supra data info``) and no part of
    `load_dataset`. Only files of the published shape that we did not generate are looked at, and
    only those whose sums are known. A mismatch is no error: the same numbers may be stored anew.

    Returns:
        By file name, whether it has the known SHA-256.
    """
    folder, result = Path(root), {}
    for described in (SETS[name] for name in find_sets(folder)):
        for file in described.files:
            if file in KNOWN and _looks_published(described, folder / file):
                result[file] = _sha256(folder / file) == KNOWN[file]
    for file in (file for file, same in result.items() if not same):
        warnings.warn(
            f"{folder / file} has the published shape but not the known SHA-256 {KNOWN[file]}: it "
            f"was stored anew, or it is damaged.",
            DataWarning,
            stacklevel=2,
        )
    return result


def _looks_published(described: PublicSet, path: Path) -> bool:
    if not path.exists() or read_record(described, path.parent) is not None:
        return False
    try:
        return all(
            stored_shape(path, array.key) == tuple(axis.size for axis in array.axes)
            for array in described.held_by(path.name)
        )
    except DataError:
        return False  # `load_dataset` says what is wrong with it


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
