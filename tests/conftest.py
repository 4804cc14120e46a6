"""Every test runs with its shape annotations checked, and with a cache of its own."""

import os
from collections.abc import Iterator

import pytest
from jaxtyping import config, install_import_hook

# Some virtual machines announce matrix units (AMX) that they do not let a program use, and then
# every bfloat16 product fails. Without them the tests run everywhere; torch reads this when loaded.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
_CHECK = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"  # int is a float
install_import_hook("supra", _CHECK)

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
