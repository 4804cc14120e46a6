"""Which weights Muon takes: maps between functions, and nothing else."""

from functools import partial

import pytest
from torch import nn

from supra.baselines import FNO, GalerkinTransformer, Transolver
from supra.model import SupraOperator
from supra.model.mixing import ModeMixing
from supra.train.muon import Muon
from supra.train.optimizer import make_optimizers
from supra.train.settings import TrainSettings


def taken_by_muon(model: nn.Module) -> set[str]:
    """Names of those weights, without the number of their block."""
    muon, _ = make_optimizers(model, TrainSettings(optimizer="muon"))
    assert isinstance(muon, Muon)
    taken = {id(weight) for group in muon.param_groups for weight in group["params"]}
    names = (name for name, weight in model.named_parameters() if id(weight) in taken)
    return {name.split(".", 2)[2] for name in names}


def test_matrices_of_every_mode_are_taken_and_kernels_are_not():
    mixing = partial(ModeMixing, modes=9)
    model = SupraOperator(3, 1, 9, width=8, heads=1, light=True, mixing=mixing, local=True)
    of_attention = {"attention.query_key_value.weight", "attention.output.weight"}
    assert taken_by_muon(model) == of_attention | {"mixing.weight", "skip.weight"}


def test_the_matrices_of_a_fourier_layer_are_taken():
    assert taken_by_muon(FNO(3, 1, width=8, modes=3)) == {"convolution.weight", "skip.weight"}


@pytest.mark.parametrize("system", [GalerkinTransformer, Transolver])
def test_scales_and_temperatures_are_left_to_adamw(system):
    model = system(3, 1, width=8, depth=2, heads=2)
    assert not {name for name in taken_by_muon(model) if not name.endswith("weight")}
