"""Every code block and command line of the README and the docs is run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import meshio
import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "docs/extending.md", "docs/geometry.md"]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    return [line for block in blocks(page, "console") for line in block.splitlines() if line]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(page, "python")
    assert found
    namespace: dict = {}
    for block in found:
        exec(compile(block, page, "exec"), namespace)


def test_command_lines_run_in_order(tmp_path):
    lines = commands("README.md")
    assert any(line.startswith("supra ") for line in lines)
    for line in lines:
        program, *arguments = shlex.split(line)
        if program == "make":  # running the tests from the tests would not end: the target exists
            run = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True)
        elif program == "source":  # the environment the tests run in
            continue
        else:
            assert program == "supra"
            command = [sys.executable, "-m", "supra", *arguments]
            run = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert run.returncode == 0, (line, run.stderr.decode())


def test_the_tutorial_works_as_it_stands(tmp_path, monkeypatch):
    """Its blocks in their order: Python, commands, and the file that it says to save."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/tutorial.md").read_text()
    namespace: dict = {}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(block, "tutorial", "exec"), namespace)
        elif language == "yaml":
            Path("my.yaml").write_text(block)
        else:
            for line in block.splitlines():
                command = [sys.executable, "-m", *shlex.split(line)]
                run = subprocess.run(command, capture_output=True, text=True)
                assert run.returncode == 0, (line, run.stderr)
    written = meshio.read("prediction.vtu").point_data
    np.testing.assert_allclose(
        written["temperature_predicted"] - written["temperature"],
        written["temperature_error"],
        atol=1e-6,
    )
    assert namespace["prediction"].shape == (len(namespace["mesh"].points), 1)
    along = np.genfromtxt("along.csv", delimiter=",", names=True)
    assert np.isfinite(along["temperature_predicted"]).all()
    np.testing.assert_allclose(
        meshio.read("along.vtu").point_data["temperature_predicted"],
        along["temperature_predicted"],
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        "docs/tutorial.md",
        "docs/comparison.md",
        "docs/index.md",
        "docs/solvers.md",
        "docs/data_format.md",
        "CONTRIBUTING.md",
    ],
)
def test_links_and_pictures_exist(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"
