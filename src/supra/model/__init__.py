"""The SUPRA network."""

from supra.model.attention import SubspaceAttention
from supra.model.block import LocalBranch, SupraBlock
from supra.model.light import LightBlock
from supra.model.local import LocalConvolution
from supra.model.local_stencil import LocalStencil
from supra.model.mixing import ModeMixing, WaveMixing
from supra.model.operator import SupraOperator

__all__ = [
    "LightBlock",
    "LocalBranch",
    "LocalConvolution",
    "LocalStencil",
    "ModeMixing",
    "SubspaceAttention",
    "SupraBlock",
    "SupraOperator",
    "WaveMixing",
]
