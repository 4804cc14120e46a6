"""From an experiment's values to the objects they stand for."""

from dataclasses import replace
from typing import Any

from torch import nn

from supra.basis import ChebyshevBasis, CosineBasis, FourierBasis
from supra.data import (
    Augmentation,
    Collate,
    DataError,
    Dataset,
    Layout,
    Normalizer,
    Splits,
    load_dataset,
    open_dataset,
    stepwise,
    symmetries,
)
from supra.data.public.sets import SETS
from supra.domain import DomainError, Grid
from supra.experiment.config import (
    ChebyshevConfig,
    CosineConfig,
    Experiment,
    FourierConfig,
    LaplacianConfig,
)
from supra.experiment.errors import ConfigError
from supra.experiment.subspace import FamilySubspace, MeshSubspace, OwnSubspace, Subspace
from supra.model import SupraOperator
from supra.train import Predictor
from supra.train.loop import Augment

STORE = "data.h5"  # where problems without a public layout put their samples


def build_data(experiment: Experiment) -> Splits:
    """The samples, the training set cut to its limit."""
    data = experiment.data
    common: dict[str, Any] = {"valid": data.valid, "seed": experiment.seed}
    if data.name in SETS:
        splits = load_dataset(data.name, data.root, **common, **data.options)
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
    basis = experiment.basis
    match basis:
        case FourierConfig():
            return FamilySubspace(FourierBasis(basis.modes, constant=basis.constant))
        case ChebyshevConfig():
            return FamilySubspace(ChebyshevBasis(basis.modes))
        case CosineConfig():
            return FamilySubspace(CosineBasis(basis.modes))
        case LaplacianConfig(geometry="own"):
            return OwnSubspace(basis.modes, basis.boundary)
        case LaplacianConfig(geometry="mean") if train is not None:
            return MeshSubspace.of_mean(train, basis.modes, basis.boundary)
        case LaplacianConfig():
            if train is None or train.domain is None:
                raise DomainError(
                    "Every sample has its own domain: use basis.geometry=mean (same points, "
                    "moved) or basis.geometry=own."
                )
            return MeshSubspace.of_shared(train.domain, basis.modes, basis.boundary)


def restore_subspace(experiment: Experiment, state: dict[str, Any]) -> Subspace:
    """The subspace of a saved surrogate."""
    if "values" in state:
        return MeshSubspace.from_state(state)
    return build_subspace(experiment, None)


def build_collate(experiment: Experiment, subspace: Subspace) -> Collate:
    return Collate(subspace, experiment.positions, experiment.weighting)


def build_network(
    experiment: Experiment, layout: Layout, dimensions: int, subspace: Subspace
) -> nn.Module:
    """The network for samples of a layout on a domain of so many dimensions."""
    options = experiment.model.model_dump(exclude={"kind", "attention"})
    if experiment.model.local and not isinstance(subspace, FamilySubspace):
        raise ConfigError("model.local=true needs a grid and a tensor-product basis on it.")
    timed = layout.time == "condition"
    positions = 0 if experiment.positions == "none" else dimensions
    channels = len(layout.inputs) + timed + positions
    make = SupraOperator.of_paper if experiment.model.attention == "paper" else SupraOperator
    try:
        return make(channels, len(layout.targets), subspace.modes, **options)
    except ValueError as error:  # options that do not fit together, such as modes and heads
        raise ConfigError(f"model: {error}") from None


def build_predictor(
    experiment: Experiment, train: Dataset, collate: Collate, subspace: Subspace
) -> Predictor:
    """The network with normalisers fitted to the training samples."""
    dimensions = train[0].domain.points.shape[1]
    network = build_network(experiment, train.layout, dimensions, subspace)
    kinds, moments = experiment.normalize, stepwise(train)
    numbers = range(len(moments))
    inputs = Normalizer.fit((collate.inputs(moments[k]) for k in numbers), kinds.inputs)
    targets = Normalizer.fit((moments[k].targets for k in numbers), kinds.targets)
    return Predictor(network, train.layout, inputs, targets)


def build_augmentation(experiment: Experiment, train: Dataset) -> Augment | None:
    """Random symmetries of the training samples, if asked for."""
    group = experiment.train.symmetry
    if group == "none":
        return None
    if experiment.data.name not in SETS or not isinstance(train.domain, Grid):
        raise DataError(
            f"Symmetries are known for public sets on a grid: {experiment.data.name!r} is none. "
            f"Use train.symmetry=none."
        )
    moves = symmetries(experiment.data.name, train.domain.shape, group)
    return Augmentation(moves, len(train.layout.inputs))
