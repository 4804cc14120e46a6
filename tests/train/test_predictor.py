"""A network between its normalisers: what it is asked for, and what it is given."""

import pytest
import torch
from torch import nn

from supra.data import Normalizer, changes
from supra.train import Predictor
from supra.train.loss import Loss
from supra.train.objective import Objective

from .small import GRID, HISTORY, STEPS, collate, splits


class Silent(nn.Module):
    """A network that says nothing."""

    def forward(self, inputs, basis):
        return torch.zeros_like(inputs[..., :1])


def predictor(kind: str, change: bool = False) -> Predictor:
    train, together = splits("rollout").train, collate()
    samples = [train[k] for k in range(len(train))]
    inputs = Normalizer.fit((together.inputs(sample) for sample in samples), kind)
    aims = (changes(s, train.layout) if change else s.targets for s in samples)
    return Predictor(Silent(), train.layout, inputs, Normalizer.fit(aims, kind), change)


@pytest.mark.parametrize("kind", ["channel", "point"])
def test_a_silent_network_repeats_the_mean_change(kind):
    """From step to step the same field is added: the training set's mean change."""
    model, train, together = predictor(kind, change=True), splits("rollout").train, collate()
    samples = [train[k] for k in range(len(train))]
    batch = together(samples)
    found = model.rollout(batch.inputs, batch.basis, STEPS)
    last = batch.inputs[..., HISTORY - 1 : HISTORY]
    states = torch.cat([last[:, None], batch.targets], dim=1).double()
    each_step = states.diff(dim=1)
    over = (0, 1) if kind == "point" else (0, 1, 2)
    mean = each_step.mean(dim=over)
    for step in range(STEPS):
        expected = last.double() + (step + 1) * mean
        torch.testing.assert_close(found[:, step].double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["none", "scalar", "channel", "point"])
def test_noise_is_in_units_of_the_spread_and_spares_positions(kind):
    torch.manual_seed(0)
    model = predictor(kind)
    objective = Objective(model, Loss(), noise=0.3)
    given = torch.zeros(4000, len(GRID.points), HISTORY + 2)
    noise = objective._disturbed(given)
    assert torch.equal(noise[..., HISTORY:], given[..., HISTORY:])
    spread = model.input_scale.expand(given.shape[1:])[:, :HISTORY]
    torch.testing.assert_close(noise[..., :HISTORY].std(dim=0), 0.3 * spread, rtol=0.06, atol=0)
