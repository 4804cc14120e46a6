import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def loaded(path: Path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path, tmp_path):
    run = subprocess.run([sys.executable, path, tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.glob("*.png"))


def test_only_the_glued_mesh_has_no_jump(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "discontinuity")
    jumps = loaded(path).main(tmp_path)
    assert jumps["Laplacian, mesh glued"] < 1e-12
    assert jumps["Laplacian, mesh left cut"] > 0.5
    assert jumps["Fourier on the grid"] > 0.5
