"""A surrogate from samples in memory, in one call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from supra.basis.eigen import Report
from supra.data import Channel, DataError, Layout, Sample, StoreWriter
from supra.experiment.build import STORE
from supra.experiment.preset import SUPRA, merged, parse_experiment, recipe
from supra.experiment.run import prepare_folder, train
from supra.experiment.surrogate import Surrogate


def fit(
    samples: Sequence[Sample],
    test: Sequence[Sample],
    out: str | Path,
    *,
    layout: Layout | None = None,
    system: str = SUPRA,
    overwrite: bool = False,
    report: Report = lambda *_: None,
    **parts: Mapping[str, Any] | str | int,
) -> Surrogate:
    """Train on samples in memory; the run's folder holds them, too, as ``data.h5``.

    Args:
        samples: to learn from, some of which are set aside to choose the best epoch by.
        test: to state the error on.
        out: the run's folder, as of ``supra train``; ``supra report`` makes a page of it.
        layout: names of the channels, and how time is meant; by default a steady problem.
        system: another network with its published recipe, e.g. ``"transolver"``, as ``supra train
            --model``; fields in ``parts`` go before it.
        overwrite: replace an earlier run there.
        report: called with a stage of the work, steps done and steps in all.
        parts: fields of the experiment (``supra schema`` lists them), e.g.
            ``basis={"kind": "laplacian", "modes": 64}``, ``train={"epochs": 50}``, ``seed=1``.
    """
    if not samples or not test:
        raise DataError(f"Got {len(samples)} samples to learn from and {len(test)} to test on.")
    folder = Path(out)
    data = {"name": "file", "root": folder / STORE, **_mapping(parts.pop("data", {}))}
    experiment = parse_experiment(merged(recipe(system), {**parts, "data": data}), "fit")
    prepare_folder(folder, resume=False, overwrite=overwrite)
    _write(folder / STORE, samples, test, layout or _steady(samples[0]))
    train(experiment, folder, report=report)
    return Surrogate.load(folder)


def _write(path: Path, samples: Sequence[Sample], test: Sequence[Sample], layout: Layout) -> None:
    first = samples[0].domain
    shared = all(sample.domain is first for sample in (*samples, *test))
    with StoreWriter(path, layout, first if shared else None) as store:
        for sample in samples:
            store.add(sample, "train")
        for sample in test:
            store.add(sample, "test")


def _steady(sample: Sample) -> Layout:
    if sample.targets.ndim != 2:
        raise DataError("Targets that depend on time need a `layout` that says how.")
    inputs = tuple(Channel(f"input {n + 1}") for n in range(sample.inputs.shape[1]))
    targets = tuple(Channel(f"target {n + 1}") for n in range(sample.targets.shape[1]))
    return Layout(inputs, targets)


def _mapping(part: Any) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise DataError(f"`data` is a table of fields: got {part!r}.")
    return part
