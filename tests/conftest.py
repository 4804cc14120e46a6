"""Every test runs with its shape annotations checked, and with a cache of its own."""

import os
from collections.abc import Callable, Iterator, Sequence

import pytest
from jaxtyping import config, install_import_hook

# Some virtual machines announce matrix units (AMX) that they do not let a program use, and then
# every bfloat16 product fails. Without them the tests run everywhere; torch reads this when loaded.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
_CHECK = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"  # int is a float
install_import_hook("supra", _CHECK)

import torch  # noqa: E402

from supra.basis import SampledBasis  # noqa: E402
from supra.domain import Mesh  # noqa: E402

Mesh.__init__.__no_type_check__ = True  # it takes lists as well, and looks at them itself


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from or written to the user's cache."""
    before = os.environ.get("SUPRA_CACHE")
    os.environ["SUPRA_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["SUPRA_CACHE"]
    else:
        os.environ["SUPRA_CACHE"] = before


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations not checked, as in production: what a user gets wrong meets our own errors."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def check_padding() -> Callable[[torch.nn.Module, Sequence[SampledBasis]], None]:
    """Check that a network of three inputs predicts a padded batch as it does batches of one."""

    def check(model: torch.nn.Module, bases: Sequence[SampledBasis]) -> None:
        inputs = [torch.randn(basis.points, 3, dtype=torch.float64) for basis in bases]
        padded = torch.nn.utils.rnn.pad_sequence(inputs, batch_first=True, padding_value=7.0)
        together = model(padded, SampledBasis.stack(bases))
        for one, basis, found in zip(inputs, bases, together, strict=True):
            alone = model(one[None], basis)[0]
            torch.testing.assert_close(found[: basis.points], alone, rtol=1e-10, atol=1e-10)

    return check
