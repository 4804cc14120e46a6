"""Two-dimensional turbulence: vorticity in time; order 4 in time, three grids, balances."""

import numpy as np
from scipy.integrate import simpson

from solver_page.study import (
    Study,
    bands,
    bare,
    log_axes,
    new_figure,
    rates,
    relative,
    slope_line,
    written,
)
from supra.problems import NavierStokes
from supra.problems.vorticity import evolve

PRINTED, SCRIPT = 1.0, 7**0.75  # sizes of the initial vorticity: the law, and the public script's
TIMES = (1, 5, 10, 20)


def run(study: Study) -> None:
    draw_samples(study)
    draw_convergence(study)
    print_balances(study)
    nodes = study.pick(64, 256)
    for scale in (PRINTED, SCRIPT):
        study.time_samples(NavierStokes(resolution=nodes, initial_scale=scale), 3)


def draw_samples(study: Study) -> None:
    nodes = study.pick(64, 256)
    figure = new_figure(7.6, 6.1)
    panels = figure.subplots(3, 4)
    for row, (index, scale) in zip(panels, [(0, 1.0), (1, 1.0), (0, SCRIPT)], strict=True):
        problem = NavierStokes(resolution=nodes, stored=nodes, initial_scale=scale)
        flow = problem.sample(index)["u"]
        row[0].set_ylabel(f"initial_scale = {scale:.4g}\nsample {index}")
        for panel, time in zip(row, TIMES, strict=True):
            w = flow[..., time - 1]
            limit = float(np.quantile(np.abs(w), 0.999))
            colours = {"cmap": bands("RdBu_r"), "vmin": -limit, "vmax": limit}
            panel.imshow(w.T, origin="lower", interpolation_stage="data", **colours)
            panel.set_title(f"t = {time}, ±{limit:.2g}", fontsize=9)
            bare(panel)
    study.save(figure, "samples")


def time_errors(study: Study) -> tuple[np.ndarray, list[float]]:
    """Of the printed law on 128 nodes at t = 5, in double precision, by Courant number."""
    problem = NavierStokes(resolution=study.pick(48, 128), stored=16, initial_scale=SCRIPT)
    w = problem.initial_vorticity(np.random.default_rng(0))
    courants = 2.7 / 2.0 ** np.arange(study.pick(3, 4))
    options = {"viscosity": problem.viscosity, "forcing": problem.forcing()}
    exact = evolve(w, [5.0], **options, courant=courants[-1] / 3)
    return courants, [relative(evolve(w, [5.0], **options, courant=c), exact) for c in courants]


def trajectories(study: Study, scale: float) -> dict[int, np.ndarray]:
    grids = study.pick((32, 64), (128, 256, 512))
    return {
        n: NavierStokes(resolution=n, stored=n, initial_scale=scale).sample(0)["u"] for n in grids
    }


def apart(coarse: np.ndarray, fine: np.ndarray) -> list[float]:
    every = len(fine) // len(coarse)
    seen = fine[::every, ::every]
    return [relative(coarse[..., k], seen[..., k]) for k in range(seen.shape[-1])]


def enstrophy_spectrum(w: np.ndarray) -> np.ndarray:
    """Summed over rings of |k|, from 1 on."""
    n = len(w)
    power = np.abs(np.fft.fft2(w.astype(float)) / n**2) ** 2 / 2
    k = np.fft.fftfreq(n, 1 / n)
    ring = np.rint(np.hypot(k[:, None], k[None, :])).astype(int)
    return np.bincount(ring.ravel(), power.ravel())[1 : (n - 1) // 3]


def draw_convergence(study: Study) -> None:
    figure = new_figure(11, 3.6)
    time, space, spectrum = figure.subplots(1, 3)
    courants, errors = time_errors(study)
    time.loglog(courants, errors, "o-", label="t = 5")
    slope_line(time, courants, errors[0] / 3, 4)
    log_axes(time, "error of time", "Courant number", "relative error of w", courants)
    study.row("NS: order in time", "4", written(rates(errors, courants)))
    study.row("NS: error of time at the step used, t = 5", "–", f"{errors[0]:.1e}")
    for scale, colour in ((PRINTED, "C0"), (SCRIPT, "C3")):
        flows = trajectories(study, scale)
        grids = list(flows)
        for style, coarse, fine in zip(("--", "-"), grids, grids[1:], strict=False):
            difference = apart(flows[coarse], flows[fine])
            label = f"{coarse}² and {fine}², s = {scale:.3g}"
            space.semilogy(range(1, 21), difference, style, color=colour, label=label)
            said = f"{difference[4]:.1e}, {difference[9]:.1e}, {difference[19]:.1e}"
            study.row(f"NS: {label}: apart at t = 5, 10, 20", "–", said)
        for shade, (n, flow) in zip((0.35, 0.6, 1.0), flows.items(), strict=False):
            power = enstrophy_spectrum(flow[..., -1])
            k = np.arange(1, len(power) + 1)
            spectrum.loglog(k, power, color=colour, alpha=shade, label=f"{n}², s = {scale:.3g}")
    log_axes(space, "grids compared", "t", "relative difference of w")
    space.set_xscale("linear")
    log_axes(
        spectrum, "enstrophy spectrum at t = 20", "wavenumber |k|", "enstrophy per unit of |k|"
    )
    spectrum.set_ylim(bottom=1e-12)
    study.save(figure, "convergence")


def laplacian(w: np.ndarray, power: int = 1) -> np.ndarray:
    """(−Δ)^power by numpy's full transform, nothing of the solver's; no constant part."""
    k = np.fft.fftfreq(len(w), 1 / len(w))
    squared = (2 * np.pi) ** 2 * (k[:, None] ** 2 + k[None, :] ** 2)
    squared[0, 0] = 1
    hat = np.fft.fft2(w) * squared**power
    hat[0, 0] = 0
    return np.fft.ifft2(hat).real


def print_balances(study: Study) -> None:
    n = 32
    x, y = np.meshgrid(np.arange(n) / n, np.arange(n) / n, indexing="ij")
    w = 2 * np.cos(4 * np.pi * x) * np.cos(4 * np.pi * y)
    exact = w * np.exp(-0.01 * 2 * (4 * np.pi) ** 2)
    decay = np.abs(evolve(w, [1.0], 0.01)[..., 0] - exact).max() / exact.max()
    study.row("NS: Taylor–Green vortices, ν = 0.01, t = 1: error", "< 1e-8", f"{decay:.0e}")

    problem = NavierStokes(resolution=64, viscosity=1e-3, initial_scale=SCRIPT)
    start, forcing, times = (
        problem.initial_vorticity(np.random.default_rng(0)),
        problem.forcing(),
        np.linspace(0, 5, 201),
    )
    flow = np.moveaxis(evolve(start, times, 1e-3, forcing, courant=0.5), -1, 0)
    stream = [laplacian(w, -1) for w in flow]
    energy = [(s * w).mean() / 2 for s, w in zip(stream, flow, strict=True)]
    enstrophy = [(w**2).mean() / 2 for w in flow]
    work = [(s * forcing).mean() - 1e-3 * (w**2).mean() for s, w in zip(stream, flow, strict=True)]
    feed = [(w * forcing).mean() - 1e-3 * (w * laplacian(w)).mean() for w in flow]
    for name, stock, rate in (("energy", energy, work), ("enstrophy", enstrophy, feed)):
        gap = abs(simpson(rate, x=times) - (stock[-1] - stock[0])) / max(stock)
        study.row(f"NS: {name} balance, ν = 1e-3, to t = 5: gap", "0", f"{gap:.0e}")
    study.row("NS: mean vorticity", "0", f"{np.abs(flow.mean(axis=(1, 2))).max():.0e}")
    rounding(study)


def rounding(study: Study) -> None:
    problem = NavierStokes(resolution=study.pick(64, 128))
    w, times = problem.initial_vorticity(np.random.default_rng(0)), np.array([20.0])
    double, single = (
        evolve(w.astype(kind), times, problem.viscosity, problem.forcing())
        for kind in (np.float64, np.float32)
    )
    study.row("NS: single against double precision, t = 20", "–", f"{relative(single, double):.0e}")
