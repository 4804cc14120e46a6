"""Points without functions, all that these networks ask for, and a small smooth problem."""

from math import prod

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from supra.basis import SampledBasis

F64 = torch.float64


def cloud(points: int, dtype: torch.dtype = F64) -> SampledBasis:
    weights = torch.full((points,), 1 / points, dtype=dtype)
    return SampledBasis(torch.ones(points, 1, dtype=dtype), weights)


def grid(*shape: int, dtype: torch.dtype = F64) -> SampledBasis:
    points = cloud(prod(shape), dtype)
    return SampledBasis(points.values, points.weights, shape)


def lively(model: nn.Module) -> nn.Module:
    """Away from small first weights, so that attention matters."""
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return model


def smooth_problem(side: int = 8, samples: int = 4) -> tuple[Tensor, Tensor, SampledBasis]:
    """Of a random wave and the normalised positions: the wave's square, shifted by its mean."""
    axis = torch.linspace(0, 1, side)
    positions = torch.cartesian_prod(axis, axis).expand(samples, -1, -1)
    amplitudes, phases = torch.randn(2, samples, 1, 2)
    wave = (amplitudes * torch.cos(torch.pi * positions + phases)).sum(dim=-1, keepdim=True)
    targets = wave.square() - wave.mean(dim=1, keepdim=True)
    inputs = torch.cat([wave, (positions - 0.5) / positions.std()], dim=-1)
    return inputs, targets, grid(side, side, dtype=torch.float32)


def error_after_training(model: nn.Module, steps: int, rate: float) -> float:
    inputs, targets, basis = smooth_problem()
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps + 1)
    for _ in range(steps):
        optimiser.zero_grad()
        ((model(inputs, basis) - targets).norm() / targets.norm()).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return float((model(inputs, basis) - targets).norm() / targets.norm())


def flops(model: nn.Module, basis: SampledBasis) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.randn(1, basis.points, 3, dtype=F64), basis)
    return counter.get_total_flops()
