"""A trained surrogate: one file in, predictions out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from supra.data import Channel, Collate, DataError, Dataset, Layout, Normalizer, Sample, Symmetry
from supra.domain import Domain, Grid, Mesh
from supra.domain.probe import Probe
from supra.experiment.build import build_collate, build_network, restore_subspace
from supra.experiment.config import Experiment
from supra.experiment.preset import parse_experiment
from supra.experiment.seen import Seen
from supra.experiment.subspace import Subspace
from supra.train import BEST, Evaluation, Predictor, Symmetrized, TrainError, evaluate
from supra.train.checkpoint import load_checkpoint, restore_weights, save_checkpoint


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A network with its normalisers, its basis and the experiment it comes from.

    Attributes:
        predictor: network and normalisers.
        subspace: gives the basis of a domain.
        experiment: all values of the run.
        dimensions: of the space the domains lie in.
        domain: that of the training samples, if they share one.
        seen: what the training samples held.
    """

    predictor: Predictor
    subspace: Subspace
    experiment: Experiment
    dimensions: int
    domain: Domain | None = None
    seen: Seen | None = None

    @classmethod
    def load(cls, path: str | Path, device: torch.device | str = "cpu") -> "Surrogate":
        """From a run's folder (its best weights) or from a file of `save`."""
        path = Path(path)
        if not path.is_file():
            if not (path / BEST).exists():
                raise TrainError(f"{path} is not the folder of a run: {path / BEST} is missing.")
            path = path / BEST
        state = load_checkpoint(path, device)
        experiment = parse_experiment(state["experiment"], str(path))
        layout = _layout(state["layout"])
        subspace = restore_subspace(experiment, state["subspace"])
        network = build_network(experiment, layout, state["dimensions"], subspace)
        weights = state["weights"]
        inputs, targets = (
            Normalizer(weights[f"{side}_shift"], weights[f"{side}_scale"])
            for side in ("input", "target")
        )
        change = experiment.predicts == "change"
        predictor = Predictor(network, layout, inputs, targets, change).to(device)
        restore_weights(predictor, weights, path)
        domain = _restored_domain(state["domain"])
        seen = Seen.from_state(state["seen"]) if state.get("seen") else None
        return cls(predictor.eval(), subspace, experiment, state["dimensions"], domain, seen)

    def save(self, path: str | Path) -> None:
        """Everything in one file."""
        save_checkpoint(Path(path), {**self.header(), "weights": self.predictor.state_dict()})

    def header(self) -> dict[str, Any]:
        """What a file holds beside the weights."""
        return {
            "experiment": self.experiment.model_dump(mode="json"),
            "layout": asdict(self.layout),
            "subspace": self.subspace.state(),
            "dimensions": self.dimensions,
            "domain": _domain_state(self.domain),
            "seen": None if self.seen is None else self.seen.state(),
        }

    @property
    def layout(self) -> Layout:
        """What it takes and gives."""
        return self.predictor.layout

    @property
    def channels(self) -> int:
        """Channels of the network's inputs: given functions, time, positions."""
        positions = 0 if self.experiment.positions == "none" else self.dimensions
        return len(self.layout.inputs) + (self.layout.time == "condition") + positions

    @property
    def collate(self) -> Collate:
        return build_collate(self.experiment, self.subspace)

    def predict(
        self,
        inputs: Float[np.ndarray, "*samples points inputs"],
        domain: Domain | None = None,
        times: Sequence[float] | None = None,
        chunk: int | None = None,
        *,
        at: Float[np.ndarray, "queries dimensions"] | None = None,
    ) -> Float[np.ndarray, "*samples_and_steps points_or_queries targets"]:
        """Predictions for one sample's inputs, or several samples' on one domain.

        Args:
            inputs: the given functions at the domain's points, channels last.
            domain: a `Mesh`, `Grid` or `PointSet`, of any resolution; by default the one that all
                training samples share.
            times: moments wanted, for time-dependent data; those of the data by default.
            chunk: points at a time, for meshes whose fields do not fit into memory at once.
            at: positions anywhere in the domain where the prediction is wanted, instead of at the
                domain's own points. It is a function there: linear in each cell of a mesh, and
                otherwise as `supra.domain.probe.Probe` says.

        Raises:
            DataError: inputs or a domain unlike those it was trained on.
            DomainError: ``at`` has another dimension, or all of it lies outside of the domain.

        Warns:
            OutsideWarning: some of ``at`` lies outside of the domain; the prediction is NaN there.
        """
        inputs = np.asarray(inputs)
        several = inputs[None] if inputs.ndim == 2 else inputs
        domain = domain or self.domain
        if domain is None:
            raise DataError("The training samples had a domain each: give that of this one.")
        self._check(several, domain)
        probe = None if at is None else Probe.of(domain, at)
        if self.seen is not None:
            self.seen.warn(several, domain, self.layout)
        batch = self.collate([Sample(each, np.zeros((len(each), 0)), domain) for each in several])
        batch = batch.to(next(self.predictor.parameters()).device)
        with torch.inference_mode():
            predicted = self.predictor.predict(batch.inputs, batch.basis, times, chunk)
        result = predicted.cpu().numpy()
        result = result if probe is None else probe(result)
        return result[0] if inputs.ndim == 2 else result

    def rollout(
        self,
        inputs: Float[np.ndarray, "*samples points inputs"],
        steps: int,
        domain: Domain | None = None,
        *,
        at: Float[np.ndarray, "queries dimensions"] | None = None,
    ) -> Float[np.ndarray, "*samples steps points_or_queries targets"]:
        """So many states after the given ones, each fed back as an input of the next.

        ``at`` is as of `predict`.
        """
        if self.layout.time != "rollout":
            raise DataError(f"This surrogate is for {self.layout.time} data: use predict.")
        return self.predict(inputs, domain, times=range(steps), at=at)

    def evaluate(
        self, dataset: Dataset, batch_size: int = 8, symmetries: Sequence[Symmetry] = ()
    ) -> Evaluation:
        """Errors on all samples of a set; of predictions averaged over ``symmetries``, if given."""
        predictor = Symmetrized(self.predictor, symmetries) if symmetries else self.predictor
        return evaluate(predictor, dataset, self.collate, batch_size)

    def _check(self, inputs: np.ndarray, domain: Domain) -> None:
        if domain.points.shape[1] != self.dimensions:
            raise DataError(
                f"The training samples lie in {self.dimensions} dimensions: got a domain in "
                f"{domain.points.shape[1]}."
            )
        wanted = (len(domain.points), len(self.layout.inputs))
        if inputs.ndim != 3 or inputs.shape[1:] != wanted:
            names = ", ".join(map(str, self.layout.inputs))
            raise DataError(
                f"Inputs are fields of shape (points, channels) = {wanted} ({names}), or several: "
                f"got {inputs.shape}."
            )


def _layout(state: dict[str, Any]) -> Layout:
    inputs, targets = (
        tuple(Channel(**channel) for channel in state[side]) for side in ("inputs", "targets")
    )
    return Layout(inputs, targets, state["time"], tuple(state["times"]))


def _domain_state(domain: Domain | None) -> dict[str, Any]:
    """A shared grid or mesh as plain values."""
    if isinstance(domain, Grid) and domain.mapped is None:
        return {"shape": domain.shape, "periodic": domain.periodic, "nodes": domain.nodes}
    if isinstance(domain, Mesh):
        return {"points": torch.tensor(domain.points), "cells": torch.tensor(domain.cells)}
    return {}


def _restored_domain(state: dict[str, Any]) -> Domain | None:
    if "shape" in state:
        return Grid(tuple(state["shape"]), tuple(state["periodic"]), nodes=state["nodes"])
    if "cells" in state:
        return Mesh(state["points"].numpy(), state["cells"].numpy())
    return None
