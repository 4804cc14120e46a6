import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supra.experiment.reproduce.convergence import SIZES, errors

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "picture")


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


def test_attention_in_a_subspace_converges_as_fast_as_the_functions_are_smooth():
    """Truncation: N^-1/2 for a jump, N^-3/2 for a kink, faster than any power if analytic."""
    found = errors()
    steps = np.log2(np.array(SIZES[1:]) / np.array(SIZES[:-1]))

    def orders(kind: str, basis: str) -> np.ndarray:
        curve = np.array(found[kind][basis])
        return np.log2(curve[:-1] / curve[1:])[-3:] / steps[-3:]

    for basis in ("Fourier", "Chebyshev", "Laplacian"):
        np.testing.assert_allclose(orders("a jump", basis), 0.5, atol=0.1)
        np.testing.assert_allclose(orders("a kink", basis), 1.5, atol=0.2)
    # a free boundary suits functions of slope zero there: others are like a kink at the ends
    np.testing.assert_allclose(orders("analytic, not periodic", "Laplacian"), 1.5, atol=0.1)
    assert found["analytic, periodic"]["Fourier"][3] < 1e-12
    assert found["analytic, not periodic"]["Chebyshev"][3] < 1e-12


def test_only_the_glued_mesh_has_no_jump(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "discontinuity")
    jumps = loaded(path).main(tmp_path)
    assert jumps["Laplacian, mesh glued"] < 1e-12
    assert jumps["Laplacian, mesh left cut"] > 0.5
    assert jumps["Fourier on the grid"] > 0.5


@pytest.mark.filterwarnings("ignore:.*extrapolation")  # a dozen samples have not seen much
def test_a_prediction_changes_little_on_finer_meshes_and_the_solvers_error_falls(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "09_resolution")
    for rows in loaded(path).main(tmp_path).values():
        _, predicted, solved = np.array(rows).T
        assert np.ptp(predicted) < 0.15 * predicted[0]
        assert (np.diff(solved) < 0).all()
