import numpy as np
import pytest
import torch
from torch import nn

from supra.model import SubspaceAttention

F64 = torch.float64


def coordinates(batch=2, channels=5, modes=12) -> torch.Tensor:
    return torch.randn(batch, channels, modes, dtype=F64)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("heads", [1, 3, 12])
def test_equals_torch_multihead_attention_given_the_same_weights(heads):
    ours = SubspaceAttention(12, heads).double()
    theirs = nn.MultiheadAttention(12, heads, batch_first=True, dtype=F64)
    theirs.in_proj_weight.data = ours.query_key_value.weight.data
    theirs.in_proj_bias.data = ours.query_key_value.bias.data
    theirs.out_proj.weight.data = ours.output.weight.data
    theirs.out_proj.bias.data = ours.output.bias.data
    u = coordinates()
    torch.testing.assert_close(ours(u), theirs(u, u, u, need_weights=False)[0])


def test_is_the_papers_bilinear_form_and_linear_operator():
    """z_i = Σ_j softmax_j(û_iᵀ A û_j / √N) B û_j with A = W_Qᵀ W_K and B = W_V, one head."""
    modes = 12
    attention = SubspaceAttention(modes, heads=1).double()
    weights = torch.randn(3, modes, modes, dtype=F64)
    attention.query_key_value.weight.data = weights.reshape(3 * modes, modes)
    attention.query_key_value.bias.data.zero_()
    attention.output.weight.data = torch.eye(modes, dtype=F64)
    attention.output.bias.data.zero_()
    query, key, b = weights.numpy()
    a = query.T @ key
    u = coordinates(batch=1, modes=modes)
    functions = u[0].numpy()
    logits = np.array([[ui @ a @ uj / np.sqrt(modes) for uj in functions] for ui in functions])
    mixture = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = mixture @ (functions @ b.T)
    np.testing.assert_allclose(attention(u)[0].detach().numpy(), expected, atol=1e-12)


def test_permuting_the_functions_permutes_the_output():
    attention = SubspaceAttention(12, 3, self_bias=2.0).double()
    u, order = coordinates(), torch.randperm(5)
    torch.testing.assert_close(attention(u)[:, order], attention(u[:, order]))


def test_a_large_self_bias_makes_it_a_linear_operator_on_each_function():
    attention = SubspaceAttention(12, 3, self_bias=100.0).double()
    u, v = coordinates(), coordinates()
    at_zero = attention(torch.zeros_like(u))
    torch.testing.assert_close(
        attention(2 * u + v) - at_zero, 2 * (attention(u) - at_zero) + attention(v) - at_zero
    )


def test_the_gain_makes_attention_proportional_to_its_functions():
    plain, relative = SubspaceAttention(12, 3).double(), SubspaceAttention(12, 3, gain=5.0).double()
    relative.load_state_dict(plain.state_dict())
    u = coordinates()
    size = u.square().mean(dim=(1, 2), keepdim=True).sqrt()
    torch.testing.assert_close(relative(u), 5 * size * plain(u / size))
    torch.testing.assert_close(relative(7 * u), 7 * relative(u))
    assert relative(torch.zeros_like(u)).abs().max() < 1e-5


@pytest.mark.parametrize(("modes", "heads"), [(10, 4), (10, 0)])
def test_modes_and_heads_that_do_not_divide_are_named(modes, heads):
    with pytest.raises(ValueError, match=f"modes={modes}, heads={heads}"):
        SubspaceAttention(modes, heads)


def test_dropout_acts_in_training_only():
    attention = SubspaceAttention(12, 3, dropout=0.5).double()
    u = coordinates()
    assert not torch.equal(attention(u), attention(u))
    attention.eval()
    assert torch.equal(attention(u), attention(u))


@pytest.mark.parametrize("self_bias", [None, 2.0])
def test_the_attention_matrix_is_what_mixes_the_values(self_bias):
    attention = SubspaceAttention(12, 3, self_bias=self_bias, gain=4.0).double()
    u = coordinates()
    matrix = attention.attention_matrix(u)
    torch.testing.assert_close(matrix.sum(dim=-1), torch.ones(2, 3, 5, dtype=F64))
    last = attention.query_key_value
    size = u.square().mean(dim=(1, 2), keepdim=True).sqrt()
    values = nn.functional.linear(u / size, last.weight[24:], last.bias[24:])
    mixed = [matrix[:, head] @ values[..., 4 * head : 4 * head + 4] for head in range(3)]
    expected = 4.0 * size * attention.output(torch.cat(mixed, dim=-1))
    torch.testing.assert_close(expected, attention(u))


def test_a_rank_is_the_size_of_queries_keys_and_values():
    attention = SubspaceAttention(10, heads=3, rank=6, self_bias=4.0, gain=1.0)
    assert attention.query_key_value.weight.shape == (18, 10)
    assert attention.output.weight.shape == (10, 6)
    coordinates = torch.randn(2, 5, 10)
    assert attention(coordinates).shape == (2, 5, 10)
    assert attention.attention_matrix(coordinates).shape == (2, 3, 5, 5)
    with pytest.raises(ValueError, match="`rank` must be a multiple of `heads`: got rank=7"):
        SubspaceAttention(10, heads=3, rank=7)
