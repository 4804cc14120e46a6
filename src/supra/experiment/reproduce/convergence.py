"""Attention in a growing subspace converges to attention on the function space itself.

The attention of the paper needs a bilinear form a(u, v) and a linear operator b(u). Here both are
given: a(u, v) = ∫ c u v and b(u) = m u + ∫ k(·, y) u(y) dy on [0, 1]. On a very fine grid the
attention between four functions is computed from these definitions, without any basis. The
network's `SubspaceAttention` gets the matrices A = a(e_k, e_l) and B = ⟨e_k, b(e_l)⟩ of a basis
with N functions. Its result approaches the other as N grows, the faster the smoother the functions.
"""

import csv
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import matplotlib.figure
import numpy as np
import torch

from supra.basis import (
    Basis,
    ChebyshevBasis,
    FourierBasis,
    LaplacianBasis,
    SampledBasis,
    SeparableBasis,
)
from supra.domain import Grid, Mesh
from supra.experiment.reproduce.write import markdown_rows
from supra.model import SubspaceAttention

FINE = 2049
SIZES = (4, 8, 16, 32, 64, 128)
x = np.linspace(0, 1, FINE)
weights = Grid(FINE).weights
c, m = 1 + 0.5 * np.cos(2 * np.pi * x), 2 + np.sin(2 * np.pi * x)

KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "analytic, periodic": lambda t: np.exp(np.sin(2 * np.pi * t)),
    "analytic, not periodic": lambda t: np.exp(2 * t),
    "a kink": lambda t: np.abs(np.sin(np.pi * (t - 0.3))),
    "a jump": lambda t: np.where((t > 0.25) & (t < 0.6), 1.0, 0.0),
}


def functions(kind: str) -> np.ndarray:
    """Four functions of one kind, shape (4, FINE)."""
    base = KINDS[kind]
    return np.stack([(1 + 0.3 * i) * base(x) + i for i in range(4)])


@cache
def kernel() -> np.ndarray:
    return np.exp(np.cos(2 * np.pi * (x[:, None] - x[None, :])))


def linear_operator(u: np.ndarray) -> np.ndarray:
    return m * u + u * weights @ kernel().T


def attention_on_functions(u: np.ndarray) -> np.ndarray:
    """Equation (general attention) of the paper, from a and b themselves."""
    logits = (u * weights * c) @ u.T
    mixture = np.exp(logits - logits.max(axis=1, keepdims=True))
    return mixture / mixture.sum(axis=1, keepdims=True) @ linear_operator(u)


def attention_in_subspace(u: np.ndarray, basis: SampledBasis) -> np.ndarray:
    """The same with the network's layer, whose weights are a and b in the basis."""
    values = basis.values.numpy()
    a = values.T @ ((weights * c)[:, None] * values)
    b = values.T @ (weights[:, None] * linear_operator(values.T).T)
    layer = SubspaceAttention(basis.modes, heads=1).double()
    identity = np.eye(basis.modes)
    stacked = np.concatenate([identity, a * np.sqrt(basis.modes), b])
    layer.query_key_value.weight.data = torch.from_numpy(stacked)
    layer.output.weight.data = torch.from_numpy(identity)
    layer.query_key_value.bias.data.zero_()
    layer.output.bias.data.zero_()
    with torch.no_grad():
        fields = torch.from_numpy(u.T)[None]
        return basis.fields(layer(basis.coefficients(fields)))[0].T.numpy()


def bases(size: int) -> dict[str, SampledBasis]:
    line = Mesh.from_structured(x[:, None])
    return {
        "Fourier": _on_line(FourierBasis(size // 2, constant=True)),
        "Chebyshev": _on_line(ChebyshevBasis(size)),
        "Laplacian": LaplacianBasis.from_mesh(line, size).sample(dtype=torch.float64),
    }


def _on_line(basis: Basis) -> SampledBasis:
    sampled = basis.sample(Grid(FINE), dtype=torch.float64)
    return sampled.axes[0] if isinstance(sampled, SeparableBasis) else sampled


def errors() -> dict[str, dict[str, list[float]]]:
    """Relative error by kind of function, basis and number of modes."""
    found: dict[str, dict[str, list[float]]] = {kind: {} for kind in KINDS}
    for size in SIZES:
        for name, basis in bases(size).items():
            for kind in KINDS:
                u = functions(kind)
                exact = attention_on_functions(u)
                gap = attention_in_subspace(u, basis) - exact
                error = np.sqrt((gap**2 @ weights).sum() / (exact**2 @ weights).sum())
                found[kind].setdefault(name, []).append(float(error))
    return found


def write_convergence(found: dict[str, dict[str, list[float]]], folder: Path) -> list[Path]:
    """``convergence.md``, ``.csv``, ``.json`` and a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"convergence.{suffix}" for suffix in ("md", "csv", "json", "png")]
    rows = [["functions", "basis", *map(str, SIZES)]]
    for kind, curves in found.items():
        rows += [[kind, name, *(f"{e:.1e}" for e in curve)] for name, curve in curves.items()]
    title = "# Relative error of attention in a subspace of N functions\n\n"
    paths[0].write_text(title + "\n".join(markdown_rows(rows)) + "\n")
    with paths[1].open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    paths[2].write_text(json.dumps({"N": SIZES, "errors": found}, indent=1) + "\n")
    draw(found, paths[3])
    return paths


def draw(found: dict[str, dict[str, list[float]]], path: Path) -> None:
    figure = matplotlib.figure.Figure(figsize=(12, 3.4), layout="constrained")
    for axes, (kind, curves) in zip(figure.subplots(1, 4, sharey=True), found.items(), strict=True):
        for name, curve in curves.items():
            axes.loglog(SIZES, curve, "o-", label=name, ms=4)
        axes.set_title(kind)
        axes.set_xlabel("basis functions N")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("relative error of the attention")
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)
