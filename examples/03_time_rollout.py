"""Time: a network that makes one step is applied again and again.

A patch of dye is carried along a circle and spreads, solved exactly by Fourier series. Two states
are given, the next is learned, and eight are predicted, each from the ones before.

    python examples/03_time_rollout.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.figure
import numpy as np

import supra
from supra.data import Channel, Layout

POINTS, STEPS, INTERVAL = 64, 8, 0.05
SPEED, SPREADING = 1.0, 2e-3


def states(rng: np.random.Generator) -> np.ndarray:
    """Of shape (2 + STEPS, POINTS): the exact solution of u_t + c u_x = d u_xx on a circle."""
    waves = np.arange(1, 6)
    amplitudes = rng.normal(size=5) / waves * np.exp(2j * np.pi * rng.random(5))
    x, t = np.arange(POINTS) / POINTS, INTERVAL * np.arange(2 + STEPS)
    angle = 2j * np.pi * waves * (x[None, :, None] - SPEED * t[:, None, None])
    decay = np.exp(-SPREADING * (2 * np.pi * waves) ** 2 * t[:, None, None])
    return (amplitudes * np.exp(angle) * decay).sum(-1).real


def main(folder: Path, count: int = 60, epochs: int = 30) -> float:
    circle = supra.Grid(POINTS, periodic=True)
    past, following = (Channel("before"), Channel("now")), (Channel("next"),)
    layout = Layout(past, following, "rollout", tuple(INTERVAL * np.arange(1, STEPS + 1)))

    def sample(number: int) -> supra.Sample:
        found = states(np.random.default_rng(number))
        return supra.Sample(found[:2].T, found[2:, :, None], circle)

    samples = [sample(number) for number in range(count)]
    surrogate = supra.fit(
        samples[: -count // 5],
        samples[-count // 5 :],
        folder / "run",
        layout=layout,
        overwrite=True,
        basis={"kind": "fourier", "modes": [8], "constant": True},
        model={"width": 16, "depth": 2},
        train={"epochs": epochs, "optimizer": "muon", "learning_rate": 3e-3},
    )
    new = sample(1000)
    predicted = surrogate.rollout(new.inputs, STEPS)
    errors = np.linalg.norm(predicted - new.targets, axis=(1, 2))
    errors /= np.linalg.norm(new.targets, axis=(1, 2))
    print("relative errors over the steps:", *(f"{error:.1%}" for error in errors))
    _draw(new.targets[..., 0], predicted[..., 0], folder / "time_rollout.png")
    return float(errors[-1])


def _draw(solved: np.ndarray, predicted: np.ndarray, path: Path) -> None:
    figure = matplotlib.figure.Figure(figsize=(9, 2.8), layout="constrained")
    for axes, step in zip(figure.subplots(1, 3, sharey=True), (0, STEPS // 2, -1), strict=True):
        axes.plot(solved[step], "k-", label="exact")
        axes.plot(predicted[step], "C1--", label="predicted")
        axes.set_title(f"step {step % STEPS + 1}")
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
