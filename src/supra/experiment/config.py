"""What an experiment is: values with names, meanings and limits."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from supra.basis.align import Align
from supra.basis.base import Boundary
from supra.data.batch import Positions, Weighting
from supra.data.normalize import Kind
from supra.model.norm import Norm
from supra.train import Settings, TrainSettings

Modes = tuple[int, ...]


class GenerateConfig(Settings):
    """How the data are made where they are not there yet."""

    train: int = Field(1000, ge=1, description="training samples")
    test: int = Field(200, ge=1, description="test samples")
    seed: int = Field(0, ge=0, description="seed of the random data")
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of the problem, as in `supra generate`"
    )


class DataConfig(Settings):
    """Which samples."""

    name: str = Field(description="a public data set or a problem of ours, or `file`")
    root: Path = Field(description="folder of the set's files, or the file of a `file`")
    valid: int | float = Field(
        0.1,
        ge=0,
        description="samples (or part) cut from the training set to choose the best epoch by; with "
        "0 it is chosen on the training set",
    )
    limit: int | None = Field(None, ge=2, description="use so many training samples only")
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of the reader, e.g. `stride`"
    )
    generate: GenerateConfig | None = Field(
        None, description="how to make the files if there are none"
    )


class AutoConfig(Settings):
    """What suits the domain: waves of its box, or eigenfunctions of what does not fill one."""

    kind: Literal["auto"] = "auto"


class FourierConfig(Settings):
    """Products of sines and cosines."""

    kind: Literal["fourier"] = "fourier"
    modes: Modes = Field((6, 6), description="frequencies per axis: (2n)^d functions")
    constant: bool = Field(False, description="also functions of fewer variables, and 1")
    period: float = Field(
        1.0,
        ge=1,
        description="relative to the domain: above 1 for functions that are not periodic, which go "
        "on with zeros",
    )


class ChebyshevConfig(Settings):
    """Products of Chebyshev polynomials, orthonormal on the grid."""

    kind: Literal["chebyshev"] = "chebyshev"
    modes: Modes = Field((10, 10), description="polynomials per axis")


class CosineConfig(Settings):
    """Products of cosines: eigenfunctions of the box with a free boundary."""

    kind: Literal["cosine"] = "cosine"
    modes: Modes = Field((10, 10), description="cosines per axis")


class LaplacianConfig(Settings):
    """Laplacian eigenfunctions by finite elements."""

    kind: Literal["laplacian"] = "laplacian"
    modes: int = Field(128, ge=1, description="eigenfunctions")
    boundary: Boundary = Field("neumann", description="free boundary, or held at zero")
    geometry: Literal["shared", "mean", "reference", "own"] = Field(
        "shared",
        description="of the one mesh of all samples, of the mean of their meshes, of a domain that "
        "covers them, or of each",
    )
    reference: Path | None = Field(
        None,
        description="for geometry=reference: mesh file of the domain that covers all samples; by "
        "default the box around them",
    )
    align: Align = Field(
        "signs",
        description="for geometry=own: what is turned so that functions of different samples "
        "correspond",
    )

    @model_validator(mode="after")
    def _reference_is_used(self) -> "LaplacianConfig":
        if self.reference is not None and self.geometry != "reference":
            raise ValueError(f"`reference` is for geometry=reference: got {self.geometry}")
        return self


class PodConfig(Settings):
    """Principal components of the training targets: the subspace that holds most of them."""

    kind: Literal["pod"] = "pod"
    modes: int = Field(128, ge=1, description="components")


BasisConfig = Annotated[
    AutoConfig | FourierConfig | ChebyshevConfig | CosineConfig | LaplacianConfig | PodConfig,
    Field(discriminator="kind"),
]


class SupraConfig(Settings):
    """The SUPRA network."""

    kind: Literal["supra"] = "supra"
    width: int = Field(40, ge=1, description="functions inside the network; even in light blocks")
    depth: int = Field(5, ge=1, description="blocks")
    heads: int = Field(4, ge=1, description="of attention; a divisor of rank, or of the modes")
    rank: int | None = Field(
        32, ge=1, description="of attention: numbers of a query, key or value; null: all modes"
    )
    attention: Literal["none", "self-biased", "paper"] = Field(
        "none",
        description="beside mixing in light blocks, in its place in full ones: none, started at "
        "each function attending to itself, or plain as in the paper",
    )
    gain: float = Field(1.0, gt=0, description="factor on what self-biased attention gives")
    light: bool = Field(
        True, description="blocks of one point-wise map instead of three, without norms"
    )
    mixing: bool = Field(
        True, description="in light blocks, a matrix between the functions for every wave or mode"
    )
    smooth: bool = Field(
        True,
        description="the matrices of waves and eigenfunctions are interpolated between a few; "
        "false: each has its own",
    )
    products: bool = Field(
        True, description="in light blocks, half of the nonlinearity is products of functions"
    )
    local: bool = Field(
        False,
        description="also an operator between neighbours: a 3×3 depthwise convolution "
        "on grids, Laplacian and gradients by finite elements on meshes",
    )
    mlp_ratio: float = Field(
        1.0, gt=0, description="not in light blocks: hidden width of point-wise maps over width"
    )
    norm: Norm = Field(
        "layer", description="not in light blocks: over channels, over the domain, or none"
    )
    dropout: float = Field(
        0.0, ge=0, lt=1, description="probability; in light blocks of attention's weights only"
    )

    @model_validator(mode="after")
    def _fits_the_blocks(self) -> "SupraConfig":
        if self.light and self.products and self.width % 2:
            raise ValueError(
                f"light blocks multiply halves: `width` must be even, got {self.width}"
            )
        if self.attention == "none" and not (self.light and self.mixing):
            raise ValueError("blocks without mixing need attention: set attention=self-biased")
        for name in ("mlp_ratio", "norm") if self.light else ():
            if self._is_set(name):
                raise ValueError(
                    f"light blocks have no `{name}`: set light=false, mixing=false, "
                    f"attention=self-biased"
                )
        for name in ("heads", "rank", "gain", "dropout") if self.attention == "none" else ():
            if self._is_set(name):
                raise ValueError(
                    f"without attention there is no `{name}`: set attention=self-biased"
                )
        return self

    def _is_set(self, name: str) -> bool:
        return getattr(self, name) != type(self).model_fields[name].default


class FnoConfig(Settings):
    """Fourier Neural Operator, on grids of two axes."""

    kind: Literal["fno"] = "fno"
    width: int = Field(32, ge=1, description="channels inside the network")
    depth: int = Field(4, ge=1, description="Fourier layers")
    modes: int = Field(12, ge=1, description="frequencies kept per axis")
    padding: int = Field(0, ge=0, description="points added beyond open edges")


class GalerkinConfig(Settings):
    """Galerkin Transformer."""

    kind: Literal["galerkin"] = "galerkin"
    width: int = Field(128, ge=1, description="features per point")
    depth: int = Field(6, ge=1, description="layers")
    heads: int = Field(4, ge=1, description="attention heads")
    decoder: Literal["pointwise", "spectral"] = Field(
        "pointwise", description="last layers: at each point, or Fourier layers on a grid"
    )
    norm: bool = Field(True, description="layer norms in front of attention and maps")


class GnotConfig(Settings):
    """General Neural Operator Transformer."""

    kind: Literal["gnot"] = "gnot"
    width: int = Field(128, ge=1, description="features per point")
    depth: int = Field(3, ge=1, description="layers")
    heads: int = Field(8, ge=1, description="attention heads")
    experts: int = Field(3, ge=1, description="networks that positions choose between")
    trunk: Literal["positions", "inputs"] = Field(
        "positions", description="what the queries are made of"
    )


class TransolverConfig(Settings):
    """Transolver: attention between learned slices of the domain."""

    kind: Literal["transolver"] = "transolver"
    width: int = Field(128, ge=1, description="features per point")
    depth: int = Field(8, ge=1, description="layers")
    heads: int = Field(8, ge=1, description="attention heads")
    slices: int = Field(64, ge=1, description="slices of the domain")
    mlp_ratio: float = Field(1.0, gt=0, description="hidden width of point-wise maps over width")
    structured: bool = Field(True, description="slices by 3×3 convolutions (grids)")
    reference: int = Field(
        0, ge=0, description="distances to so many points per axis instead of positions (grids)"
    )


class LnoConfig(Settings):
    """Latent Neural Operator."""

    kind: Literal["lno"] = "lno"
    width: int = Field(128, ge=1, description="features per point and per latent token")
    depth: int = Field(4, ge=1, description="transformer layers on the latent tokens")
    heads: int = Field(8, ge=1, description="attention heads")
    modes: int = Field(256, ge=1, description="latent tokens")
    layers: int = Field(2, ge=1, description="hidden layers of the maps at each point")


ModelConfig = Annotated[
    SupraConfig | FnoConfig | GalerkinConfig | GnotConfig | TransolverConfig | LnoConfig,
    Field(discriminator="kind"),
]


FIRST_KINDS = {"basis": "fourier", "model": "supra"}


class NormalizeConfig(Settings):
    """To numbers of order one: fitted on the training samples."""

    inputs: Kind = Field("channel", description="of given functions, time and positions")
    targets: Kind = Field("channel", description="of what is predicted")


class Experiment(Settings):
    """Everything that a run depends on."""

    data: DataConfig
    basis: BasisConfig = Field(default_factory=AutoConfig)
    model: ModelConfig = Field(default_factory=SupraConfig)
    train: TrainSettings = Field(default_factory=TrainSettings)
    normalize: NormalizeConfig = Field(default_factory=NormalizeConfig)
    predicts: Literal["state", "change"] = Field(
        "state", description="rollouts: the next state, or its change from the last one"
    )
    positions: Positions = Field("physical", description="positions added to the inputs")
    weighting: Weighting = Field("quadrature", description="weights of points in loss and error")
    seed: int = Field(0, ge=0, description="of initial weights, validation samples and order")

    @model_validator(mode="before")
    @classmethod
    def _with_kinds(cls, content: Any) -> Any:
        """Parts that do not say what they are, are of the first kind."""
        if not isinstance(content, dict):
            return content
        parts = {
            name: {"kind": kind, **content[name]}
            for name, kind in FIRST_KINDS.items()
            if isinstance(content.get(name), dict)
        }
        return {**content, **parts}
