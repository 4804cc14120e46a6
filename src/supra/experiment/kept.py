"""Sampled bases kept in memory, by the content of the domains they belong to."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import torch

from supra.basis import SampledBasis
from supra.basis.sampled import Sampled
from supra.domain import Domain, Grid, Mesh

LIMIT = 2**30  # bytes


class Kept:
    """What was made for a key before, as long as all of it fits into ``limit`` bytes.

    What was not asked for the longest goes first. A copy in another process starts empty: sending
    the content there would take longer than reading it from the cache on disk.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit, self.size = limit, 0
        self._content: OrderedDict[Hashable, Sampled] = OrderedDict()

    def __call__(self, key: Hashable, make: Callable[[], Sampled]) -> Sampled:
        key = (key, torch.get_default_dtype())  # bases are sampled in it
        if key in self._content:
            self._content.move_to_end(key)
            return self._content[key]
        made = make()
        self._content[key] = made
        self.size += bytes_of(made)
        while self.size > self.limit and len(self._content) > 1:
            _, oldest = self._content.popitem(last=False)
            self.size -= bytes_of(oldest)
        return made

    def __len__(self) -> int:
        return len(self._content)

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return type(self), (self.limit,)


def bytes_of(sampled: Sampled) -> int:
    """Memory that a sampled basis takes."""
    if not isinstance(sampled, SampledBasis):
        return sampled.weights.nbytes + sum(map(bytes_of, sampled.axes))
    stencil = 0 if sampled.stencil is None else sampled.stencil.nbytes
    return sampled.values.nbytes + sampled.analysis.nbytes + sampled.weights.nbytes + stencil


def fingerprint(domain: Domain) -> Hashable:
    """Equal for equal domains: samples that are read again are new objects."""
    if isinstance(domain, Grid):
        mapped = () if domain.mapped is None else _digest(domain.mapped)
        return domain.shape, domain.periodic, domain.nodes, mapped
    other: Any = domain.cells if isinstance(domain, Mesh) else domain.weights
    return type(domain).__name__, domain.points.shape, _digest(domain.points), _digest(other)


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
