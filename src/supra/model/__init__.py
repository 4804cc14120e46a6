"""The SUPRA network."""

from supra.model.attention import SubspaceAttention
from supra.model.block import LocalBranch, SupraBlock
from supra.model.light import LightBlock
from supra.model.local import LocalConvolution
from supra.model.local_stencil import LocalStencil
from supra.model.mixing import ModeMixing, WaveMixing
from supra.model.operator import SupraOperator
from supra.model.spectral_mixing import SpectralMixing

__all__ = [
    "LightBlock",
    "LocalBranch",
    "LocalConvolution",
    "LocalStencil",
    "ModeMixing",
    "SpectralMixing",
    "SubspaceAttention",
    "SupraBlock",
    "SupraOperator",
    "WaveMixing",
]
