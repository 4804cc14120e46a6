"""Networks of other authors, from their papers, for comparison on equal terms."""

from supra.baselines.fno import FNO
from supra.baselines.galerkin import GalerkinTransformer
from supra.baselines.gnot import GNOT
from supra.baselines.lno import LNO
from supra.baselines.transolver import Transolver

__all__ = ["FNO", "GNOT", "LNO", "GalerkinTransformer", "Transolver"]
