import csv
import json

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from supra.basis import CosineBasis
from supra.domain import Grid
from supra.experiment.benchmark import Setting, c_grid_mesh
from supra.experiment.efficiency import Cost, Subject, bytes_kept, costs, forward_flops, peak_bytes
from supra.experiment.reproduce.efficiency import write_efficiency
from supra.model import SupraOperator
from supra.model.product import ONEDNN

ROWS, IN, OUT = 1000, 32, 16


@pytest.fixture
def linear() -> Subject:
    return Subject("linear", nn.Linear(IN, OUT), (torch.randn(ROWS, IN, requires_grad=True),))


def test_a_linear_map_has_two_operations_per_product(linear):
    assert forward_flops(linear) == 2 * ROWS * IN * OUT


@pytest.mark.skipif(ONEDNN is None, reason="this PyTorch has no fused products")
@pytest.mark.parametrize("options", [{}, {"light": True}, {"self_bias": None}], ids=str)
def test_fused_products_count_as_much_as_plain_ones(options):
    """Only those of single precision are fused."""
    model = SupraOperator(3, 2, 16, width=8, depth=2, heads=4, **options)
    basis, inputs = CosineBasis((4, 4)).sample(Grid((9, 8))), torch.randn(2, 72, 3)
    single = Subject("fused", model, (inputs, basis))
    with FlopCounterMode(display=False) as unaware, torch.no_grad():
        single.forward()
    found = forward_flops(single)
    double = Subject("plain", model.double(), (inputs.double(), basis.to(torch.float64)))
    assert found == forward_flops(double) > unaware.get_total_flops()


def test_gelu_keeps_its_input_and_nothing_else():
    hidden = Subject("gelu", nn.Sequential(nn.Linear(IN, OUT), nn.GELU()), (torch.randn(ROWS, IN),))
    assert bytes_kept(hidden) == ROWS * OUT * 4


def test_weights_and_arguments_are_not_counted_as_kept(linear):
    assert bytes_kept(linear) == 0


def test_the_peak_holds_at_least_the_output_and_its_gradient(linear):
    assert peak_bytes(linear) >= 2 * ROWS * OUT * 4


def test_a_step_takes_longer_than_its_forward_and_backward_pass(linear):
    (cost,) = costs([linear], rounds=3)
    assert cost.step > max(cost.forward, cost.backward) > 0
    assert cost.inference > 0
    assert cost.gemm_fraction > 0


def test_the_c_grid_is_glued_like_the_airfoil_data():
    mesh = c_grid_mesh()
    assert len(mesh.node_map) == 221 * 51
    assert len(mesh.points) < 221 * 51
    assert mesh.euler_characteristic == 0  # a ring around the body


def test_the_files_hold_times_relative_to_supra_and_the_papers_numbers(tmp_path):
    def cost(name: str, step: float) -> Cost:
        subject = Subject(name, nn.Linear(2, 3), ())
        return Cost(subject, 0.1, 0.2, step, 0.05, 1e6, 0.5, 115.0, 120.0)

    found = {Setting(64, 64): [cost("SUPRA N=128", 0.3), cost("Transolver", 1.2)]}
    paths = write_efficiency(found, tmp_path)
    assert [path.name for path in paths] == [
        f"efficiency.{s}" for s in ("md", "csv", "json", "png")
    ]
    assert all(path.stat().st_size for path in paths)
    assert "| Transolver | 9 (712 K) | 115 (483) | 100 (17) | 200 (40) | 1200 | 4.00 |" in (
        paths[0].read_text()
    )
    rows = list(csv.DictReader(paths[1].open()))
    assert [float(row["step_to_supra"]) for row in rows] == [1.0, 4.0]
    assert [row["paper_mb"] for row in json.loads(paths[2].read_text())] == [173, 483]
