"""What every basis is: a family of functions that can be sampled on a domain."""

from abc import ABC, abstractmethod
from typing import Any, Literal

import torch

from supra.basis.errors import BasisError
from supra.basis.orthonormal import Defect
from supra.basis.sampled import Sampled
from supra.domain import Domain, PointSet
from supra.domain.choice import check_choice

Boundary = Literal["neumann", "dirichlet"]


class Basis(ABC):
    """A family of functions, independent of where they are sampled.

    A new basis says how many functions it has (`modes`) and how they are sampled (`_sample`);
    tensor-product bases derive from `TensorBasis` and give the functions of one axis only.
    """

    @property
    @abstractmethod
    def modes(self) -> int:
        """Number of basis functions."""

    def sample(
        self,
        domain: Any,
        *,
        defect: Defect = "repair",
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Sampled:
        """Values and quadrature weights of the functions on a domain.

        Args:
            domain: a `Mesh`, `Grid`, `SphereGrid`, `PointSet`, or an array of points.
            defect: what to do where the sampled functions are not orthonormal (too few points,
                scattered points, another mesh): ``"repair"`` says so and takes the closest
                orthonormal functions, ``"adapt"`` takes them without a word, ``"refuse"`` raises,
                ``"keep"`` leaves them.
            dtype: floating-point type of the result; default torch's own.
            device: device of the result.

        Raises:
            BasisError: the functions are linearly dependent on these points, or not orthonormal
                and ``defect="refuse"``.
        """
        check_choice("defect", defect, Defect, BasisError)
        if not hasattr(domain, "weights"):
            domain = PointSet(domain)
        sampled = self._sample(domain, defect)
        return sampled.to(device, dtype or torch.get_default_dtype())

    @abstractmethod
    def _sample(self, domain: Domain, defect: Defect) -> Sampled:
        """The functions on ``domain`` in float64."""
