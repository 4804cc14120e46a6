import os
import subprocess
import sys
from pathlib import Path

import meshio
import numpy as np
import pytest

from supra.domain.files import write_mesh
from supra.domain.shapes import SHAPES, square


def supra(*arguments: object, cwd: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": "120", "SUPRA_CACHE": "off"}
    command = [sys.executable, "-m", "supra", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def is_png(path: Path) -> bool:
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_basis_of_a_shape_prints_the_table_draws_and_writes_the_modes(tmp_path):
    run = supra(
        "basis", "square", "--resolution", 16, "--modes", 5,
        "--plot", "modes.png", "--out", "modes.vtu", cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    for word in ("nodes", "289", "cells", "512", "components", "residual", "orthonormality"):
        assert word in run.stdout
    assert is_png(tmp_path / "modes.png")
    written = meshio.read(tmp_path / "modes.vtu")
    assert sorted(written.point_data) == [f"mode_{k:03d}" for k in range(1, 6)]
    # the second mode of the square is √2 cos πx (or y): its mean square is one
    assert np.mean(written.point_data["mode_002"] ** 2) == pytest.approx(1, rel=0.1)


def test_basis_of_a_file_and_of_the_same_shape_have_the_same_table(tmp_path):
    write_mesh(tmp_path / "square.vtu", square(resolution=12))
    options = ("--modes", 6, "--boundary", "dirichlet")
    of_file = supra("basis", "square.vtu", *options, cwd=tmp_path)
    of_shape = supra("basis", "square", "--resolution", 12, *options, cwd=tmp_path)
    assert of_file.returncode == of_shape.returncode == 0, of_file.stderr + of_shape.stderr
    rows = [line for line in of_shape.stdout.splitlines() if "eigenvalues" in line]
    assert rows
    assert rows[0].split() == next(
        line.split() for line in of_file.stdout.splitlines() if "eigenvalues" in line
    )


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_has_a_picture(name, tmp_path):
    from supra import LaplacianBasis
    from supra.experiment.plots import plot_modes

    basis = LaplacianBasis.from_mesh(SHAPES[name](resolution=6), modes=4)
    plot_modes(basis, tmp_path / "modes.png")
    assert is_png(tmp_path / "modes.png")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("basis", "no-such-shape"), ("no-such-shape", "disk")),
        (("basis", "missing.vtu"), ("missing.vtu",)),
        (("basis", "broken.vtu"), ("broken.vtu",)),
        (("basis", "square", "--modes", "0"), ("modes", "0")),
        (("basis", "square", "--resolution", "2", "--modes", "50"), ("50", "9")),
        (("basis", "square", "--resolution", "0"), ("resolution", "0")),
        (("basis", "sphere", "--resolution", "4", "--boundary", "dirichlet"), ("closed",)),
        (("basis", "square.vtu", "--resolution", "4"), ("resolution", "file")),
        (("basis", "unused.vtu"), ("in no cell", "--clean")),
        (("basis", "square", "--plot", "modes.nonsense"), ("modes.nonsense",)),
        (("basis", "square", "--out", "modes.nonsense"), ("modes.nonsense",)),
        (("basis", "square", "--out", "modes.stl"), (".stl", ".vtu")),
        (("basis", "square.vtu", "--out", "square.vtu"), ("overwrite",)),
        (("basis", "square", "--plot", "nowhere/modes.png"), ("nowhere",)),
    ],
)
def test_bad_input_is_one_line_with_status_two(arguments, words, tmp_path):
    (tmp_path / "broken.vtu").write_text("<VTKFile")
    write_mesh(tmp_path / "square.vtu", square(resolution=4))
    points = np.vstack([square(resolution=4).points, [[3.0, 3.0]]])
    meshio.Mesh(np.pad(points, ((0, 0), (0, 1))), [("triangle", square(resolution=4).cells)]).write(
        tmp_path / "unused.vtu"
    )
    run = supra(*arguments, cwd=tmp_path)
    assert run.returncode == 2
    errors = [line for line in run.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, run.stderr
    for word in words:
        assert word in errors[0]
    assert "Traceback" not in run.stderr


def test_clean_and_weld_make_a_broken_file_usable(tmp_path):
    whole = square(resolution=4)
    twice = np.vstack([whole.points, whole.points + np.array([1.0, 0.0]), [[9.0, 9.0]]])
    cells = np.vstack([whole.cells, whole.cells + len(whole.points), whole.cells[:1]])
    meshio.Mesh(np.pad(twice, ((0, 0), (0, 1))), [("triangle", cells)]).write(tmp_path / "two.vtu")
    run = supra("basis", "two.vtu", "--weld", "--clean", "--modes", 3, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "components" in run.stdout
    row = next(line for line in run.stdout.splitlines() if "components" in line)
    assert "1" in row


def test_unknown_options_have_status_two(tmp_path):
    assert supra("basis", "square", "--nonsense", cwd=tmp_path).returncode == 2
