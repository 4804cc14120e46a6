"""Predictions averaged over a group are symmetric, whatever the network is."""

import pytest
import torch

from supra.basis import FourierBasis
from supra.data import Channel, Layout, Normalizer, symmetries
from supra.domain import Grid
from supra.model import SupraOperator
from supra.train import Predictor, Symmetrized

GRID = Grid((8, 8), periodic=True)
BASIS = FourierBasis((3, 3), constant=True).sample(GRID, dtype=torch.float64)
STEADY = Layout((Channel("a"),), (Channel("u"),))
ROLLOUT = Layout((Channel("u"), Channel("v")), (Channel("v"),), "rollout", (0.0, 1.0, 2.0))


def predictor(layout: Layout) -> Predictor:
    torch.manual_seed(0)
    given = len(layout.inputs)
    network = SupraOperator(given + 2, 1, BASIS.modes, width=6, depth=2, heads=7)
    plain = Normalizer(torch.zeros(1), torch.ones(1))
    return Predictor(network, layout, plain, plain).double()


@pytest.mark.parametrize(
    ("name", "group", "layout"),
    [("darcy", "flips", STEADY), ("darcy", "square", STEADY), ("navier_stokes", "torus", ROLLOUT)],
)
def test_averaged_predictions_commute_with_every_symmetry(name, group, layout):
    moves, plain = symmetries(name, GRID.shape, group), predictor(layout)
    averaged = Symmetrized(plain, moves)
    fields = torch.randn(2, len(GRID.points), len(layout.inputs), dtype=torch.float64)
    positions = torch.tensor(GRID.points).expand(2, -1, -1)

    def predicted(model, values):
        return model.predict(torch.cat([values, positions], dim=2), BASIS).detach()

    expected = predicted(averaged, fields)
    for symmetry in moves:
        found = predicted(averaged, symmetry.moved(fields))
        torch.testing.assert_close(found, symmetry.moved(expected), rtol=0, atol=1e-12)
    moved = predicted(plain, moves[-1].moved(fields))
    assert not torch.allclose(moved, moves[-1].moved(predicted(plain, fields)), atol=1e-3)


def test_the_identity_alone_changes_nothing():
    plain = predictor(STEADY)
    inputs = torch.randn(2, len(GRID.points), 3, dtype=torch.float64)
    alone = Symmetrized(plain, symmetries("darcy", GRID.shape, "square")[:1])
    assert torch.equal(alone.predict(inputs, BASIS), plain.predict(inputs, BASIS))
