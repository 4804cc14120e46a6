"""A folder of the user's files, one case each, made into a data file."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from supra.data.cases.case_file import MESHES, SUFFIXES, Case, read_case
from supra.data.dataset import Channel, Layout, Sample
from supra.data.errors import DataError
from supra.data.store.domain import same_domain
from supra.data.store.format import SPLITS, Split
from supra.data.store.reader import Store, open_store
from supra.data.store.writer import Precision, StoreWriter
from supra.domain import Domain

Track = Callable[[Sequence[Any]], Iterable[Any]]


class _OtherDomainError(Exception):
    """A case does not live on the first one's domain."""


@dataclass(frozen=True)
class _Files:
    """Files of one case, and the split it belongs to ("" if that is not decided yet)."""

    paths: tuple[Path, ...]
    split: str = ""


@dataclass(frozen=True)
class _Wanted:
    """What to take from the files; see `import_folder`."""

    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    units: Mapping[str, str]
    test: float
    seed: int
    precision: Precision

    def __post_init__(self) -> None:
        if not self.targets:
            raise DataError("An import needs at least one field to predict in `targets`: got none.")
        if not 0 <= self.test < 1:
            raise DataError(f"`test` is a fraction of the cases below 1: got {self.test}.")


def import_folder(
    folder: str | Path,
    output: str | Path,
    inputs: str | Sequence[str],
    targets: str | Sequence[str],
    *,
    units: Mapping[str, str] | None = None,
    test: float = 0.2,
    seed: int = 0,
    precision: Precision = "float32",
    track: Track = iter,
) -> Store:
    """Read the files of a folder, one case each, and write them to one data file.

    Files are meshes with fields (``.vtu``, ``.vtk``, …), ``.npz`` with ``points``, perhaps
    ``cells``, and fields, ``.csv`` tables with x, y and z, or a mesh and an ``.npz`` of the same
    name. A mesh that all share is stored once. Sub-folders ``train``, ``test`` and ``valid`` are
    the splits.

    Args:
        folder: where the files are.
        output: the data file to write.
        inputs: names of the fields that are given; none where only the geometry is.
        targets: names of the fields to predict.
        units: of fields or single channels, by name.
        test: fraction of the cases to test on, where there are no sub-folders.
        seed: of the choice of these cases.
        precision: of the stored fields.
        track: wraps the list of cases as they are read, to show progress; a second time if a case
            turns out to have another mesh than those before it.
    """
    folder = Path(folder)
    wanted = _Wanted(_listed(inputs), _listed(targets), units or {}, test, seed, precision)
    cases = _with_splits(_find_cases(folder), wanted)
    try:
        _write(cases, folder, output, wanted, track, shared=True)
    except _OtherDomainError:  # nearly always the second case: little is read twice
        _write(cases, folder, output, wanted, track, shared=False)
    return open_store(output)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """A single name is a list of one, not of its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


# ---- which files ------------------------------------------------------------------------------


def _find_cases(folder: Path) -> list[_Files]:
    """The cases in a folder, by name; those of sub-folders named as a split belong to it."""
    if not folder.is_dir():
        raise DataError(f"A folder of files is needed: {str(folder)!r} is not one.")
    direct = [_Files(paths) for paths in _grouped(folder)]
    splits = [s for s in SPLITS if (folder / s).is_dir()]
    sorted_out = [_Files(paths, s) for s in splits for paths in _grouped(folder / s)]
    if direct and sorted_out:
        raise DataError(
            f"{str(folder)!r} has files of its own and in {', '.join(splits)}: which split do they "
            f"belong to? Move them."
        )
    return (direct or sorted_out) or _nothing_found(folder)


def _grouped(folder: Path) -> list[tuple[Path, ...]]:
    """Files by stem in natural order, a mesh before the arrays on it."""
    found = [p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in SUFFIXES]
    stems: dict[str, list[Path]] = {}
    for path in sorted(found, key=lambda p: (p.suffix.lower() == ".npz", p.name)):
        if not path.name.startswith("."):
            stems.setdefault(path.stem, []).append(path)
    for stem, paths in stems.items():
        _check_pair(stem, paths)
    return [tuple(stems[stem]) for stem in sorted(stems, key=_natural)]


def _check_pair(stem: str, paths: list[Path]) -> None:
    suffixes = [path.suffix.lower() for path in paths]
    is_pair = len(paths) == 2 and suffixes[0] in MESHES and suffixes[1] == ".npz"
    if len(paths) > 1 and not is_pair:
        raise DataError(
            f"A case is one file, or a mesh and an .npz of the same name: {stem!r} has "
            f"{', '.join(path.name for path in paths)}. Leave one."
        )


def _natural(stem: str) -> list[tuple[str, int]]:
    """case2 before case10."""
    return [(text, int(part or 0)) for text, part in re.findall(r"(\D*)(\d*)", stem)]


def _nothing_found(folder: Path) -> list[_Files]:
    has = ", ".join(sorted({p.suffix or p.name for p in folder.iterdir()})) or "nothing"
    raise DataError(
        f"No case was found in {str(folder)!r}, which has {has}. Cases are files of the kinds "
        f"{' '.join(SUFFIXES)}."
    )


def _with_splits(cases: list[_Files], wanted: _Wanted) -> list[_Files]:
    if cases[0].split:
        return cases
    order = np.random.default_rng(wanted.seed).permutation(len(cases))
    test = set(order[: round(wanted.test * len(cases))].tolist())
    return [_Files(c.paths, "test" if n in test else "train") for n, c in enumerate(cases)]


# ---- what is in them --------------------------------------------------------------------------


def _write(
    cases: list[_Files],
    folder: Path,
    output: str | Path,
    wanted: _Wanted,
    track: Track,
    shared: bool,
) -> None:
    names = (*wanted.inputs, *wanted.targets)
    first = read_case(cases[0].paths, names)
    layout, domain = _layout(first, wanted), first.domain if shared else None
    metadata = {"imported from": str(folder), "test": wanted.test, "seed": wanted.seed}
    with StoreWriter(
        output, layout, domain, metadata=metadata, precision=wanted.precision
    ) as store:
        for files in track(cases):
            case = first if files is cases[0] else read_case(files.paths, names)
            if domain is not None and not same_domain(case.domain, domain):
                raise _OtherDomainError
            _check_same_layout(case, first, layout, wanted)
            name = files.paths[0].relative_to(folder).as_posix()
            store.add(_sample(case, wanted, domain), cast(Split, files.split), name)


def _layout(case: Case, wanted: _Wanted) -> Layout:
    return Layout(_channels(case, wanted.inputs, wanted), _channels(case, wanted.targets, wanted))


def _channels(case: Case, names: Sequence[str], wanted: _Wanted) -> tuple[Channel, ...]:
    """Channels of the named fields; one without a unit of its own has its field's."""
    field_of = {channel: name for name in names for channel in case.channels([name])}
    units = wanted.units
    return tuple(Channel(c, units.get(c, units.get(name, ""))) for c, name in field_of.items())


def _check_same_layout(case: Case, first: Case, layout: Layout, wanted: _Wanted) -> None:
    found = _layout(case, wanted)
    if found != layout:
        raise DataError(
            f"All cases need the same channels: {case.name!r} has {_words(found)}, and "
            f"{first.name!r} has {_words(layout)}."
        )
    dimensions = case.domain.points.shape[1], first.domain.points.shape[1]
    if dimensions[0] != dimensions[1]:
        raise DataError(
            f"All cases need the same number of coordinates: {case.name!r} has {dimensions[0]}, "
            f"and {first.name!r} has {dimensions[1]}."
        )


def _words(layout: Layout) -> str:
    return ", ".join(channel.name for channel in (*layout.inputs, *layout.targets))


def _sample(case: Case, wanted: _Wanted, shared: Domain | None) -> Sample:
    domain = case.domain if shared is None else shared
    arrays = [case.channels(names) for names in (wanted.inputs, wanted.targets)]
    inputs, targets = (
        np.reshape(list(columns.values()), (len(columns), len(domain.points))).T
        for columns in arrays
    )
    return Sample(inputs, targets, domain)
