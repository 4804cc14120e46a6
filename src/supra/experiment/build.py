"""From an experiment's values to the objects they stand for."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from supra.baselines import FNO, GNOT, LNO, GalerkinTransformer, Transolver
from supra.basis import ChebyshevBasis, CosineBasis, FourierBasis
from supra.data import (
    Augmentation,
    Collate,
    DataError,
    Dataset,
    Layout,
    Normalizer,
    Splits,
    Symmetry,
    changes,
    load_dataset,
    moments,
    open_dataset,
    symmetries,
)
from supra.data.public.sets import SETS
from supra.domain import Domain, DomainError, Grid, Mesh
from supra.experiment.config import (
    AutoConfig,
    ChebyshevConfig,
    CosineConfig,
    Experiment,
    FourierConfig,
    LaplacianConfig,
    PodConfig,
    SupraConfig,
)
from supra.experiment.errors import ConfigError
from supra.experiment.subspace import (
    FamilySubspace,
    MeshSubspace,
    OwnSubspace,
    PodSubspace,
    Subspace,
)
from supra.model import LocalStencil, ModeMixing, SpectralMixing, SupraOperator, WaveMixing
from supra.model.spectral_mixing import knots_of
from supra.train import Predictor
from supra.train.loop import Augment

BASELINES: dict[str, Callable[..., nn.Module]] = {
    "fno": FNO,
    "galerkin": GalerkinTransformer,
    "gnot": GNOT,
    "lno": LNO,
    "transolver": Transolver,
}
STORE = "data.h5"  # where problems without a public layout put their samples
_KNOTS = 4  # frequencies per axis that have matrices of their own


def build_data(experiment: Experiment) -> Splits:
    """The samples, the training set cut to its limit."""
    data = experiment.data
    common: dict[str, Any] = {"valid": data.valid, "seed": experiment.seed}
    if data.name in SETS:
        splits = load_dataset(data.name, data.root, **common, **data.options)
    elif data.options:
        option = next(iter(data.options))
        raise DataError(
            f"Only public data sets have options: got `{option}` for {data.name}. Remove it."
        )
    else:
        path = data.root if data.name == "file" else data.root / STORE
        splits = open_dataset(path, **common)
    if not len(splits.test):
        raise DataError(
            f"{data.root} has no test samples, so nothing could be said about the errors. Import "
            f"or generate some."
        )
    if data.limit is None:
        return splits
    return replace(splits, train=splits.train.subset(slice(data.limit)))


def build_subspace(experiment: Experiment, train: Dataset | None) -> Subspace:
    """Where the basis of each sample comes from; only some ask for the training samples."""
    subspace = _functions(experiment, train)
    stencil = train is not None and _uses_stencil(experiment, train[0].domain)
    return replace(subspace, stencil=stencil)


def _uses_stencil(experiment: Experiment, domain: Domain) -> bool:
    """Whether the local branch is that of meshes: where there is no grid for a convolution."""
    return getattr(experiment.model, "local", False) and not isinstance(domain, Grid)


def _functions(experiment: Experiment, train: Dataset | None) -> Subspace:
    basis = experiment.basis
    match basis:
        case AutoConfig():
            raise ConfigError("basis.kind=auto is settled when a training begins: name a basis.")
        case FourierConfig():
            return FamilySubspace(FourierBasis(basis.modes, basis.constant, basis.period))
        case ChebyshevConfig():
            return FamilySubspace(ChebyshevBasis(basis.modes))
        case CosineConfig():
            return FamilySubspace(CosineBasis(basis.modes))
        case PodConfig():
            return PodSubspace.of_targets(train, basis.modes)
        case LaplacianConfig(geometry="own") if train is not None:
            return OwnSubspace.of_samples(train, basis.modes, basis.boundary, basis.align)
        case LaplacianConfig(geometry="reference") if train is not None:
            mesh = None if basis.reference is None else Mesh.from_file(basis.reference)
            return MeshSubspace.of_reference(train, mesh, basis.modes, basis.boundary)
        case LaplacianConfig(geometry="mean") if train is not None:
            return MeshSubspace.of_mean(train, basis.modes, basis.boundary)
        case LaplacianConfig():
            if train is None or train.domain is None:
                raise DomainError(
                    "Every sample has its own domain: use basis.geometry=mean (same points, "
                    "moved), reference or own."
                )
            return MeshSubspace.of_shared(train.domain, basis.modes, basis.boundary)


def restore_subspace(experiment: Experiment, state: dict[str, Any]) -> Subspace:
    """The subspace of a saved surrogate."""
    # What was saved before there were stencils does not mention them.
    return replace(_restored_functions(experiment, state), stencil=state.get("stencil", False))


def _restored_functions(experiment: Experiment, state: dict[str, Any]) -> Subspace:
    if "components" in state:
        return PodSubspace.from_state(state)
    if "values" in state:
        return MeshSubspace.from_state(state)
    basis = experiment.basis
    if isinstance(basis, LaplacianConfig):
        return OwnSubspace.from_state(state, basis.modes, basis.boundary)
    return _functions(experiment, None)


def build_collate(experiment: Experiment, subspace: Subspace) -> Collate:
    return Collate(subspace, experiment.positions, experiment.weighting)


def build_network(
    experiment: Experiment, layout: Layout, dimensions: int, subspace: Subspace
) -> nn.Module:
    """The network for samples of a layout on a domain of so many dimensions."""
    model = experiment.model
    timed = layout.time == "condition"
    positions = 0 if experiment.positions == "none" else dimensions
    channels = (len(layout.inputs) + timed + positions, len(layout.targets))
    options = model.model_dump(exclude={"kind", "attention", "smooth"})
    if not positions and model.kind in ("galerkin", "gnot", "lno") and not _are_positions(layout):
        raise ConfigError(f"model.kind={model.kind} asks for positions: use positions=physical.")
    try:
        if not isinstance(model, SupraConfig):
            return BASELINES[model.kind](*channels, space=dimensions, **options)
        make: Callable[..., nn.Module] = SupraOperator
        if model.attention == "paper":
            make = SupraOperator.of_paper
            del options["gain"]
        options["attention"] = model.attention != "none"
        if model.local and subspace.stencil:
            options["local"] = partial(LocalStencil, dimensions=dimensions)
        mixing = _mixing(experiment, subspace, model.smooth) if model.mixing else None
        options["mixing"] = mixing
        return make(*channels, subspace.modes, **options)
    except ValueError as error:  # options that do not fit together, such as modes and heads
        raise ConfigError(f"model: {error}") from None


def _mixing(experiment: Experiment, subspace: Subspace, smooth: bool) -> Callable[[int], nn.Module]:
    """By wave where the basis has them whole, by eigenvalue where it has them, or by mode."""
    basis = experiment.basis
    if isinstance(basis, FourierConfig) and basis.constant:
        return partial(WaveMixing, counts=basis.modes, knots=_KNOTS if smooth else None)
    if smooth and isinstance(subspace, OwnSubspace) and subspace.spectrum is not None:
        return partial(SpectralMixing, knots=knots_of(subspace.spectrum))
    if smooth and isinstance(subspace, MeshSubspace):
        eigenvalues = torch.tensor(subspace.basis.eigenvalues)
        return partial(SpectralMixing, knots=knots_of(eigenvalues), eigenvalues=eigenvalues)
    return partial(ModeMixing, modes=subspace.modes)


def _are_positions(layout: Layout) -> bool:
    """Whether the last given functions are the positions themselves, as where shapes differ."""
    return [channel.name for channel in layout.inputs[-2:]] == ["x", "y"]


def build_predictor(
    experiment: Experiment, train: Dataset, collate: Collate, subspace: Subspace
) -> Predictor:
    """The network with normalisers fitted to the training samples."""
    domain = train[0].domain
    if getattr(experiment.model, "structured", False) and not isinstance(domain, Grid):
        raise ConfigError("model.structured=true needs samples on a grid.")
    if getattr(experiment.model, "local", False) and not isinstance(domain, Grid | Mesh):
        raise ConfigError(
            f"model.local=true needs samples on a grid or a mesh: got a {type(domain).__name__}. "
            f"Use model.local=false."
        )
    change = experiment.predicts == "change"
    if change and train.layout.time != "rollout":
        raise ConfigError(
            f"predicts=change is for rollouts, which start from a state: got targets of kind "
            f"{train.layout.time!r}."
        )
    dimensions = domain.points.shape[1]
    network = build_network(experiment, train.layout, dimensions, subspace)
    kinds, numbers = experiment.normalize, range(len(train))
    given = (collate.inputs(m) for k in numbers for m in moments(train[k], train.layout))
    inputs = Normalizer.fit(given, kinds.inputs)
    aims = (changes(train[k], train.layout) if change else train[k].targets for k in numbers)
    targets = Normalizer.fit(aims, kinds.targets)
    return Predictor(network, train.layout, inputs, targets, change)


def build_augmentation(experiment: Experiment, train: Dataset) -> Augment | None:
    """Random symmetries of the training samples, if asked for."""
    moves = build_symmetries(experiment, train)
    return Augmentation(moves, len(train.layout.inputs)) if moves else None


def build_symmetries(experiment: Experiment, data: Dataset) -> tuple[Symmetry, ...]:
    """Those that the experiment trains with; none if it does without."""
    group = experiment.train.symmetry
    if group == "none":
        return ()
    if experiment.data.name not in SETS or not isinstance(data.domain, Grid):
        raise DataError(
            f"Symmetries are known for public sets on a grid: {experiment.data.name!r} is none. "
            f"Use train.symmetry=none."
        )
    return symmetries(experiment.data.name, data.domain.shape, group)
