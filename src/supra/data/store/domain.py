"""Domains in HDF5 groups: written, read back, and compared."""

from collections.abc import Callable, Mapping
from typing import Any

import h5py
import numpy as np

from supra.data.errors import DataError
from supra.data.store.format import (
    member,
    read_array,
    read_text,
    write_array,
    write_text,
)
from supra.domain import Domain, Grid, Mesh, PointSet, SphereGrid

# ---- writing ----------------------------------------------------------------------------------


def write_domain(group: h5py.Group, domain: Domain) -> None:
    """Fill a group with what `read_domain` needs."""
    for kind, (of, write, _) in KINDS.items():
        if isinstance(domain, of):
            write_text(group.attrs, "kind", kind)
            write(group, domain)
            return
    raise DataError(
        f"Data files hold domains of type {', '.join(of.__name__ for of, _, _ in KINDS.values())}: "
        f"got {type(domain).__name__}. Give its points as a PointSet."
    )


def _write_mesh(group: h5py.Group, mesh: Mesh) -> None:
    write_text(group.attrs, "name", mesh.name)
    write_array(group, "points", mesh.points)
    write_array(group, "cells", _short(mesh.cells))
    _write_named(group, "regions", mesh.regions)
    _write_named(group, "boundaries", mesh.boundaries)


def _write_named(group: h5py.Group, what: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Arrays by number, names beside them: a name may hold what HDF5 takes for a path."""
    for number, (name, values) in enumerate(arrays.items()):
        write_array(group, f"{what}/{number}", _short(values))
        write_text(group[f"{what}/{number}"].attrs, "name", name)


def _short(indices: np.ndarray) -> np.ndarray:
    """Indices in half the space where they fit."""
    fits = indices.max(initial=0) <= np.iinfo(np.int32).max
    return indices.astype(np.int32) if fits else indices


def _write_grid(group: h5py.Group, grid: Grid) -> None:
    group.attrs["shape"] = np.array(grid.shape)
    group.attrs["periodic"] = np.array(grid.periodic, dtype=np.int8)
    write_text(group.attrs, "nodes", grid.nodes)
    if grid.mapped is not None:
        write_array(group, "points", grid.mapped)


def _write_points(group: h5py.Group, points: PointSet) -> None:
    write_array(group, "points", points.points)
    write_array(group, "weights", points.weights)


def _write_sphere(group: h5py.Group, sphere: SphereGrid) -> None:
    group.attrs["shape"] = np.array(sphere.shape)


# ---- reading ----------------------------------------------------------------------------------


def read_domain(group: h5py.Group) -> Domain:
    """The domain that a group holds; a `DataError` or `DomainError` says what is wrong with it."""
    kind = read_text(group.attrs, "kind", default="")
    if kind not in KINDS:
        raise DataError(
            f"attribute 'kind' of the domain {group.name!r} must be one of {', '.join(KINDS)}: got "
            f"{kind!r}."
        )
    domain: Domain = KINDS[kind][2](group)
    return domain


def _read_mesh(group: h5py.Group) -> Mesh:
    return Mesh(
        read_array(group, "points", "fiu", axes=2),
        read_array(group, "cells", "iu", axes=2),
        regions=_read_named(group, "regions", axes=1),
        boundaries=_read_named(group, "boundaries", axes=2),
        name=read_text(group.attrs, "name", default=group.name),
    )


def _read_named(group: h5py.Group, what: str, axes: int) -> dict[str, np.ndarray]:
    if what not in group:
        return {}
    parts = member(group, what, h5py.Group, "group")
    numbers = sorted(parts, key=lambda key: (len(key), key))
    return {
        read_text(parts[number].attrs, "name", default=number): read_array(
            parts, number, "iu", axes
        )
        for number in numbers
    }


def _read_grid(group: h5py.Group) -> Grid:
    shape = _whole(group, "shape")
    periodic = _whole(group, "periodic", default=[0] * len(shape))
    mapped = read_array(group, "points", "fiu", axes=2) if "points" in group else None
    nodes: Any = read_text(group.attrs, "nodes", default="uniform")
    return Grid(shape, tuple(map(bool, periodic)), points=mapped, nodes=nodes)


def _read_points(group: h5py.Group) -> PointSet:
    weights = read_array(group, "weights", "fiu", axes=1) if "weights" in group else None
    return PointSet(read_array(group, "points", "fiu", axes=2), weights)


def _read_sphere(group: h5py.Group) -> SphereGrid:
    shape = _whole(group, "shape")
    if len(shape) != 2:
        raise DataError(f"the 'shape' of a sphere is (latitudes, longitudes): got {shape}.")
    return SphereGrid(*shape)


def _whole(group: h5py.Group, name: str, default: Any = ()) -> tuple[int, ...]:
    values = np.asarray(group.attrs.get(name, default))
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iub":
        raise DataError(
            f"attribute {name!r} of the domain {group.name!r} must be one whole number per axis: "
            f"got {values!r}."
        )
    return tuple(map(int, values))


KINDS: dict[str, tuple[type, Callable[..., None], Callable[..., Domain]]] = {
    "mesh": (Mesh, _write_mesh, _read_mesh),
    "grid": (Grid, _write_grid, _read_grid),
    "points": (PointSet, _write_points, _read_points),
    "sphere": (SphereGrid, _write_sphere, _read_sphere),
}


# ---- comparing --------------------------------------------------------------------------------


def same_domain(one: Domain, other: Domain) -> bool:
    """Whether two domains are equal to the last bit (a mesh's name does not count).

    The weights of point sets are scaled anew whenever one is made: they may differ by rounding.
    """
    if one is other:
        return True
    if isinstance(one, PointSet) and isinstance(other, PointSet):
        same_points = np.array_equal(one.points, other.points)
        return same_points and np.allclose(one.weights, other.weights, rtol=1e-12, atol=0)
    return type(one) is type(other) and _equal(_content(one), _content(other))


def _content(domain: Domain) -> Any:
    if isinstance(domain, Mesh):
        return domain.points, domain.cells, domain.regions, domain.boundaries
    if isinstance(domain, Grid):
        return domain.shape, domain.periodic, domain.nodes, domain.mapped
    return domain


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
