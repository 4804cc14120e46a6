"""Bases kept in memory: found by content, bounded in bytes."""

import pickle

import numpy as np
import pytest
import torch

from supra.basis import CosineBasis, SampledBasis
from supra.domain import Grid, Mesh, PointSet, shapes
from supra.experiment.kept import Kept, bytes_of, fingerprint


def sampled(points: int = 10) -> SampledBasis:
    return SampledBasis(torch.ones(points, 4), torch.full((points,), 1 / points))


def test_what_was_made_is_not_made_again():
    kept, made = Kept(), sampled()
    assert kept("key", lambda: made) is made
    assert kept("key", sampled) is made
    assert kept("other", sampled) is not made


def test_the_limit_is_one_of_bytes_and_what_was_not_asked_for_the_longest_goes():
    each = bytes_of(sampled())
    assert each == 4 * (10 * 4 * 2 + 10)
    kept = Kept(limit=2 * each)
    first, second = (kept(key, sampled) for key in "ab")
    assert kept("a", sampled) is first
    kept("c", sampled)
    assert (len(kept), kept.size) == (2, 2 * each)
    assert kept("a", sampled) is first
    assert kept("b", sampled) is not second


def test_one_that_is_too_large_is_still_kept_until_the_next():
    kept = Kept(limit=1)
    large = kept("large", lambda: sampled(100))
    assert kept("large", sampled) is large
    kept("small", sampled)
    assert len(kept) == 1


def test_another_precision_is_another_basis():
    kept = Kept()
    single = kept("key", sampled)
    torch.set_default_dtype(torch.float64)
    try:
        assert kept("key", sampled) is not single
    finally:
        torch.set_default_dtype(torch.float32)


def test_another_process_starts_with_nothing():
    kept = Kept(limit=1000)
    kept("key", sampled)
    copy = pickle.loads(pickle.dumps(kept))
    assert (len(copy), copy.size, copy.limit) == (0, 0, 1000)


def test_a_separable_basis_counts_its_axes_only():
    separable = CosineBasis((4, 4)).sample(Grid((100, 100)))
    assert bytes_of(separable) < bytes_of(separable.dense()) / 5


def plate(**changes: np.ndarray) -> Mesh:
    mesh = shapes.perforated_plate(6, holes=1)
    return Mesh(changes.get("points", mesh.points), changes.get("cells", mesh.cells))


def test_equal_domains_have_equal_fingerprints():
    assert fingerprint(plate()) == fingerprint(plate())
    points = plate().points
    assert fingerprint(PointSet(points)) == fingerprint(PointSet(points.copy()))
    assert fingerprint(Grid((3, 4))) == fingerprint(Grid((3, 4)))


@pytest.mark.parametrize(
    "other",
    [
        plate(points=plate().points + 1e-12),
        plate(cells=np.roll(plate().cells, 1, axis=0)),
        PointSet(plate().points),
        Grid((3, 4), periodic=True),
        Grid((3, 4), points=Grid((3, 4)).points * 2),
    ],
    ids=["moved", "other cells", "no cells", "periodic", "mapped"],
)
def test_different_domains_have_different_fingerprints(other):
    assert fingerprint(other) not in (fingerprint(plate()), fingerprint(Grid((3, 4))))


def test_weights_belong_to_a_point_set():
    points = plate().points
    assert fingerprint(PointSet(points)) != fingerprint(PointSet(points, 1 + points[:, 0]))
