"""Data that others made: SUPRA beside other networks, and beside predictors that are not networks.

    OMP_NUM_THREADS=1 python benchmarks/real.py FOLDER [--problems elastic-block ...] [--out DIR]

FOLDER holds arrays of three packages under the MIT licence:

    smithers/elastic_block.npz  points, triangles, parameters (samples, 11), snapshots [u1 | u2]
    pina/holed_poisson.npz      x, y, u (samples, points), triangles, corner (samples, 2)
    ezyrb/cylinder_flow.npz     points, triangles; pressure, vx, vy (times, points)

All networks have the same samples, loss, epochs and batches; SUPRA is as `supra.fit`
has it by default, the others are trained by their published recipes. It prints a table in Markdown
and writes it to DIR, with the same numbers in JSON and a folder for every run.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.spatial.distance import cdist

import supra
from supra.data import Channel, Layout, Sample
from supra.data.cases.cell_field import point_means
from supra.experiment.preset import merged
from supra.experiment.run import RESULT
from supra.train.loss import relative_l2

Array = np.ndarray
Parts = dict[str, Any]
EIGEN = {"kind": "laplacian", "modes": 64}
AUTO = {"kind": "auto"}  # these domains fill their boxes: waves
EACH: Parts = {"model": {"smooth": False}}  # a matrix of its own for every function
Network = tuple[str, Parts]  # a system of the library, and what it has of its own
OTHERS: dict[str, Network] = {
    "Transolver": (
        "transolver",
        {"model": {"structured": False, "width": 64, "depth": 6, "slices": 32}},
    ),
}


@dataclass(frozen=True)
class Problem:
    """Samples, what all networks share, and what SUPRA has of its own.

    Attributes:
        parameters: of the training and the test samples, for predictors that are not networks;
            None for a forecast.
        shared: parts of the experiment for all networks.
        own: rows of SUPRA.
    """

    train: list[Sample]
    test: list[Sample]
    layout: Layout
    shared: Parts
    own: dict[str, Network]
    parameters: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table: relative L2 errors, in all and by channel; CPU minutes."""

    problem: str
    model: str
    error: float
    channels: dict[str, float]
    weights: int | None = None
    minutes: float = 0.0


# ---- the data --------------------------------------------------------------------------------


def arrays(path: Path) -> Mapping[str, Array]:
    if not path.exists():
        raise SystemExit(f"error: {path} is missing; the first lines of this script say more.")
    return np.load(path)


def elastic_block(folder: Path) -> Problem:
    """A block of 3×3 materials, held at the left, drawn at the right: 400 to learn, 100 to test.

    Parameter k is the stiffness of block k, counted from the lower left along x; that of the ninth
    is 1. The last three are the horizontal tractions at the right side, from below. With these,
    the given displacements satisfy the equations of plane strain (Poisson's ratio 0.3).
    """
    data = arrays(folder / "smithers" / "elastic_block.npz")
    mesh = supra.Mesh(data["points"], data["triangles"], name="elastic block").check()
    column, row = np.minimum(3 * mesh.points[mesh.cells].mean(axis=1), 2).astype(int).T
    parameters = np.concatenate([np.log(data["parameters"][:, :8]), data["parameters"][:, 8:]], 1)
    samples = []
    for values, fields in zip(parameters, data["snapshots"], strict=True):
        stiffness = np.append(values[:8], 0.0)[3 * row + column, None]
        at_points = point_means(mesh, stiffness, folder)
        tractions = np.tile(values[8:], (len(mesh.points), 1))
        given = np.concatenate([at_points, tractions], axis=1)
        samples.append(Sample(given, fields.reshape(2, -1).T, mesh))
    cut = len(samples) * 4 // 5
    names = ("log stiffness", "lower traction", "middle traction", "upper traction")
    shared: Parts = {
        "basis": EIGEN,
        "train": {"epochs": 40, "batch_size": 8},
    }
    return Problem(
        samples[:cut],
        samples[cut:],
        Layout(_channels(*names), _channels("u1", "u2")),
        shared,
        {
            "SUPRA, eigenfunctions": ("supra", {}),
            "SUPRA, eigenfunctions, a matrix each": ("supra", EACH),
            "SUPRA, no basis named: waves": ("supra", {"basis": AUTO}),
        },
        (parameters[:cut], parameters[cut:]),
    )


def holed_poisson(folder: Path) -> Problem:
    """A square hole moves and the mesh with it: 96 places to learn, 25 to test, chosen at random.

    Given are the positions and the distance from the boundary.
    """
    data = arrays(folder / "pina" / "holed_poisson.npz")
    positions = np.stack([data["x"], data["y"]], axis=-1)
    samples = []
    for points, values in zip(positions, data["u"], strict=True):
        mesh = supra.Mesh(points, data["triangles"], name="plate with a hole").check()
        distance = cdist(points, points[mesh.boundary_nodes]).min(axis=1)
        samples.append(Sample(distance[:, None], values[:, None], mesh))
    order = np.random.default_rng(0).permutation(len(samples))
    train, test = np.split(order, [len(samples) * 4 // 5])
    shared: Parts = {
        "basis": EIGEN | {"geometry": "mean"},
        "train": {"epochs": 60, "batch_size": 4},
    }
    # Given is how far each point moved; where it is, the functions know, but no other network.
    moved: Parts = {"normalize": {"inputs": "point"}}
    return Problem(
        [samples[k] for k in train],
        [samples[k] for k in test],
        Layout(_channels("distance"), _channels("u")),
        shared,
        {
            "SUPRA, eigenfunctions (mean)": ("supra", moved),
            "SUPRA, eigenfunctions (mean), a matrix each": ("supra", EACH | moved),
            "SUPRA, eigenfunctions (own)": ("supra", {"basis": {"geometry": "own"}}),
            "SUPRA, no basis named: waves": ("supra", {"basis": AUTO, **moved}),
        },
        (data["corner"][train], data["corner"][test]),
    )


def cylinder_flow(folder: Path, start: int = 16, last: int = 44) -> Problem:
    """Vortices begin to leave a cylinder: from the state at time 44 to all later ones.

    The steps up to there are learned, in pieces as long as the forecast; before ``start`` the
    inflow is switched on, which is over then.
    """
    data = arrays(folder / "ezyrb" / "cylinder_flow.npz")
    mesh = supra.Mesh(data["points"], data["triangles"], name="channel").check()
    states = np.stack([data["pressure"], data["vx"], data["vy"]], axis=-1)  # (times, points, 3)
    steps = len(states) - 1 - last

    def piece(first: int) -> Sample:
        return Sample(states[first], states[first + 1 : first + 1 + steps], mesh)

    channels = _channels("pressure", "vx", "vy")
    shared: Parts = {
        "data": {"valid": 0},
        "basis": EIGEN,
        "train": {"epochs": 200, "batch_size": 4, "noise": 0.1},
        "predicts": "change",
    }
    # There are 28 steps to learn from: not much for a large network.
    small: Parts = {"model": {"width": 16, "depth": 3}}
    return Problem(
        [piece(first) for first in range(start + (last - start) % steps, last, steps)],
        [piece(last)],
        Layout(channels, channels, "rollout", tuple(range(1, steps + 1))),
        shared,
        {
            "SUPRA, eigenfunctions": ("supra", small),
            "SUPRA, eigenfunctions, a matrix each": ("supra", merged(small, EACH)),
            "SUPRA, no basis named: waves": ("supra", small | {"basis": AUTO}),
        },
    )


def _channels(*names: str) -> tuple[Channel, ...]:
    return tuple(map(Channel, names))


PROBLEMS: dict[str, Callable[[Path], Problem]] = {
    "elastic-block": elastic_block,
    "holed-poisson": holed_poisson,
    "cylinder-flow": cylinder_flow,
}


# ---- predictors that are not networks ----------------------------------------------------------


def regressions(given: Array, fields: Array, wanted: Array) -> dict[str, Callable[[], Array]]:
    """Predictors of fields (samples, …) by parameters, by name."""
    flat = fields.reshape(len(fields), -1)

    def shaped(rows: Array) -> Array:
        return rows.reshape(-1, *fields.shape[1:])

    return {
        "mean": lambda: np.broadcast_to(fields.mean(axis=0), (len(wanted), *fields.shape[1:])),
        "linear in the parameters": lambda: shaped(linear(given, flat, wanted)),
        "kernel regression": lambda: shaped(kernel_regression(given, flat, wanted)),
    }


def linear(given: Array, fields: Array, wanted: Array) -> Array:
    """Least squares with a constant."""
    ones = [np.pad(x, ((0, 0), (1, 0)), constant_values=1.0) for x in (given, wanted)]
    return ones[1] @ np.linalg.lstsq(ones[0], fields, rcond=None)[0]


def kernel_regression(given: Array, fields: Array, wanted: Array) -> Array:
    """With a Gaussian kernel, whose width and ridge are chosen on a tenth of the samples.

    It is linear in the fields, so that their principal components would give the same.
    """
    shift, scale = given.mean(axis=0), given.std(axis=0)
    given, wanted = (given - shift) / scale, (wanted - shift) / scale
    valid = np.arange(len(given)) % 10 == 0

    def predicted(x: Array, y: Array, new: Array, width: float, ridge: float) -> Array:
        gram, cross = (np.exp(-cdist(a, x, "sqeuclidean") / (2 * width**2)) for a in (x, new))
        return cross @ np.linalg.solve(gram + ridge * np.eye(len(x)), y - y.mean(0)) + y.mean(0)

    def missed(choice: tuple[float, float]) -> float:
        found = predicted(given[~valid], fields[~valid], given[valid], *choice)
        return float(np.linalg.norm(found - fields[valid]))

    choices = [(width, ridge) for width in (1, 2, 4, 8, 16) for ridge in (1e-2, 1e-4, 1e-6, 1e-8)]
    return predicted(given, fields, wanted, *min(choices, key=missed))


def forecasts(states: Array, weights: Array, steps: int) -> dict[str, Callable[[], Array]]:
    """Predictors of the states (times, points, channels) that follow, by name."""
    return {
        "mean": lambda: np.repeat(states.mean(axis=0)[None], steps, axis=0),
        "last state": lambda: np.repeat(states[-1:], steps, axis=0),
        "linear in principal components": lambda: dynamic_modes(states, weights, steps),
    }


def dynamic_modes(states: Array, weights: Array, steps: int) -> Array:
    """Dynamic mode decomposition; its rank is chosen by a forecast of the last quarter."""
    cut = len(states) // 4
    known, hidden = states[:-cut], states[-cut:]

    def missed(rank: int) -> float:
        return float(np.linalg.norm(_linear_forecast(known, weights, cut, rank) - hidden))

    rank = min(range(1, len(known) - 1), key=missed)
    return _linear_forecast(states, weights, steps, rank)


def _linear_forecast(states: Array, weights: Array, steps: int, rank: int) -> Array:
    root = np.sqrt(weights)[:, None]
    rows = (states * root).reshape(len(states), -1)
    left, sizes, functions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    coordinates = list(left[:, :rank] * sizes[:rank])
    for _ in range(steps):
        past = np.stack(coordinates[: len(states)])
        coordinates.append(linear(past[:-1], past[1:], coordinates[-1][None])[0])
    found = np.stack(coordinates[len(states) :]) @ functions[:rank] + rows.mean(axis=0)
    return found.reshape(steps, *states.shape[1:]) / root


def simple_rows(name: str, problem: Problem) -> Iterator[Row]:
    """The errors of all that is not a network."""
    if problem.parameters is not None:
        given, wanted = problem.parameters
        fields = np.stack([sample.targets for sample in problem.train])
        predictors = regressions(given, fields, wanted)
    else:
        first = problem.train[0]
        states = np.concatenate([first.inputs[None], *(s.targets for s in problem.train)])
        predictors = forecasts(states, first.domain.weights, len(problem.layout.times))
    for model, predict in predictors.items():
        started = time.process_time()
        found = predict()
        minutes = (time.process_time() - started) / 60
        yield Row(name, model, *errors(found, problem), minutes=minutes)


def errors(predicted: Array, problem: Problem) -> tuple[float, dict[str, float]]:
    """Mean relative L2 errors on the test samples, in all and of each channel, as in a run."""
    truth = torch.tensor(np.stack([sample.targets for sample in problem.test])).double()
    found = torch.tensor(np.ascontiguousarray(predicted)).double().reshape(truth.shape)
    weights = torch.tensor(np.stack([sample.domain.weights for sample in problem.test]))
    each = {
        channel.name: float(relative_l2(found[..., [k]], truth[..., [k]], weights).mean())
        for k, channel in enumerate(problem.layout.targets)
    }
    return float(relative_l2(found, truth, weights).mean()), each


# ---- networks ----------------------------------------------------------------------------------


def network_rows(name: str, problem: Problem, out: Path, epochs: int | None) -> Iterator[Row]:
    """SUPRA and the others, each trained once."""
    for model, (system, own) in {**problem.own, **OTHERS}.items():
        parts = merged(problem.shared, own)
        if epochs is not None:
            parts = merged(parts, {"train": {"epochs": epochs}})
        run = out / "runs" / name / re.sub(r"\W+", "-", model.lower())
        yield _row(name, model, _result(problem, run, system, parts))


def _result(problem: Problem, run: Path, system: str, parts: Parts) -> dict[str, Any]:
    """What a run found; it is trained unless the same was asked for before."""
    asked, kept = json.dumps([system, parts], indent=2), run / "asked.json"
    if not kept.exists() or kept.read_text() != asked:
        samples = problem.train, problem.test
        options: dict[str, Any] = {"system": system, "overwrite": True, **parts}
        supra.fit(*samples, run, layout=problem.layout, **options)
        kept.write_text(asked)
    result: dict[str, Any] = json.loads((run / RESULT).read_text())
    return result


def _row(name: str, model: str, result: dict[str, Any]) -> Row:
    test = result["test"]
    return Row(
        name,
        model,
        test["relative_l2"],
        test["channels"],
        result["parameters"],
        result["training_cpu_seconds"] / 60,
    )


# ---- the table ---------------------------------------------------------------------------------


def markdown(rows: Sequence[Row]) -> str:
    """A table of per cents and CPU minutes."""
    lines = ["| problem | model | error, % | by channel, % | weights | CPU minutes |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        by_channel = ", ".join(f"{name} {_digits(e)}" for name, e in row.channels.items())
        weights = "" if row.weights is None else f"{row.weights:,}"
        cells = (row.problem, row.model, _digits(row.error), by_channel, weights)
        lines.append(f"| {' | '.join(cells)} | {row.minutes:.1f} |")
    return "\n".join(lines) + "\n"


def write(rows: Sequence[Row], out: Path) -> None:
    """After every row: a table that is stopped keeps what it has."""
    (out / "real.md").write_text(markdown(rows))
    (out / "real.json").write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def _digits(error: float) -> str:
    """Three digits of a per cent."""
    return f"{100 * error:#.3g}".rstrip(".")


def main(folder: Path, problems: Sequence[str], out: Path, epochs: int | None) -> list[Row]:
    out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for name in problems:
        problem = PROBLEMS[name](folder)
        for row in chain(simple_rows(name, problem), network_rows(name, problem, out, epochs)):
            rows.append(row)
            print(f"{row.problem:15} {row.model:32} {_digits(row.error):>6} %", flush=True)
            write(rows, out)
    print(markdown(rows), end="")
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--epochs", type=int, help="instead of each problem's own")
    parser.add_argument("--out", type=Path, default=Path("runs/real"))
    chosen = parser.parse_args()
    main(chosen.folder, chosen.problems, chosen.out, chosen.epochs)
