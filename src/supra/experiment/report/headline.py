"""What a report says first: what was learned, how well, how fast."""

from collections.abc import Sequence

from supra.data import Channel, Layout
from supra.experiment.config import Experiment, SupraConfig
from supra.experiment.report.markup import card, cards
from supra.experiment.report.number import duration, number, percent
from supra.experiment.report.speed import Speed
from supra.experiment.report.study import Study

_MOST_NAMES = 4
_BASES = {
    "laplacian": "Laplacian eigenfunctions",
    "fourier": "Fourier functions",
    "chebyshev": "products of Chebyshev polynomials",
    "cosine": "products of cosines",
}


def title(study: Study) -> str:
    """The data set and its channels."""
    layout = study.data.test.layout
    name = study.experiment.data.name
    name = study.experiment.data.root.stem if name == "file" else name
    return f"{name}: {_given(layout)} → {_wanted(layout)}"


def subtitle(study: Study) -> str:
    """Samples, basis and network in one line."""
    data, model = study.data, study.experiment.model
    train, valid, test = len(data.train), len(data.valid), len(data.test)
    samples = f"{train} samples to train, {valid} to choose by, {test} to test"
    if not isinstance(model, SupraConfig):
        return f"{samples} · {model.kind}: {model.depth} layers of {model.width} features"
    network = f"{model.depth} layers of {model.width} functions"
    if model.attention != "none":
        network += f", {model.heads} heads"
    return f"{samples} · {_basis(study.experiment, study.surrogate.subspace.modes)} · {network}"


def headline(study: Study) -> str:
    """The numbers that matter, large."""
    result = study.result
    name, trivial = min(study.trivial.items(), key=lambda item: item[1])
    shown = [
        card("test error (relative L2)", percent(result["test"]["relative_l2"]),
             f"trivial predictor: {percent(trivial)} ({name})"),
        card("parameters", f"{result['parameters']:,}", f"seed {result['seed']}"),
        card("training", duration(result["training_seconds"]),
             f"{result['epochs']} epochs on {result.get('provenance', {}).get('device', '?')}"),
        card("predictions per second", number(study.speed.per_second),
             f"{study.speed.batch} at once on {study.speed.device}"),
    ]  # fmt: skip
    return cards(*shown, *_solver_card(study.speed))


def _solver_card(speed: Speed) -> list[str]:
    if speed.solver_seconds is None or speed.factor is None:
        return []
    detail = f"solver: {duration(speed.solver_seconds)} per sample on one core"
    return [card("speed-up", f"{number(speed.factor)}×", detail)]


def _basis(experiment: Experiment, modes: int) -> str:
    return f"{modes} {_BASES.get(experiment.basis.kind, 'basis functions')}"


def _given(layout: Layout) -> str:
    if layout.time == "rollout":
        states = f"{layout.history} state{'s' * (layout.history > 1)}"
        return f"{states} of {_names(layout.targets)}"
    return _names(layout.inputs) + (", time" if layout.time == "condition" else "")


def _wanted(layout: Layout) -> str:
    return f"the next {len(layout.times)}" if layout.time == "rollout" else _names(layout.targets)


def _names(channels: Sequence[Channel]) -> str:
    names = [channel.name for channel in channels]
    return ", ".join(names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "…"])
