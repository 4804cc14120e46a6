"""The basis that is taken where none is named."""

from math import prod

import numpy as np
import pytest
import yaml

import supra
from supra.domain import Grid, Mesh, PointSet, shapes
from supra.experiment.config import FourierConfig, LaplacianConfig
from supra.experiment.errors import ConfigError
from supra.experiment.preset import load_experiment
from supra.experiment.recommend import filled, recommended_basis


def channel(length: float, along: int = 60, across: int = 15) -> Mesh:
    mesh = Grid((along, across)).to_mesh()
    return mesh.with_points(mesh.points * [length, 1.0])


def test_a_grid_gets_waves_which_on_an_open_one_are_longer_than_the_box():
    assert recommended_basis(Grid((43, 43)), shared=True) == FourierConfig(
        modes=(7, 7), constant=True, period=1.2
    )
    torus = recommended_basis(Grid((64, 64), periodic=True), shared=True)
    assert (torus.modes, torus.period) == ((7, 7), 1.0)


@pytest.mark.parametrize("shape", [(200,), (300, 6), (9, 200), (16, 16, 16), (40, 40, 4)])
def test_no_axis_of_a_grid_gets_more_waves_than_its_points_can_tell_apart(shape):
    modes = recommended_basis(Grid(shape), shared=True).modes
    assert all(3 * n <= points for n, points in zip(modes, shape, strict=True))


def test_a_domain_that_fills_its_box_gets_as_many_waves_as_its_sides_are_long():
    plate = recommended_basis(shapes.perforated_plate(28, holes=3), shared=False)
    assert isinstance(plate, FourierConfig)
    assert plate.modes[0] == plate.modes[1]
    along, across = recommended_basis(channel(5.0), shared=True).modes
    assert 3 * across < along < 7 * across
    across, along = recommended_basis(channel(0.2), shared=True).modes
    assert 3 * across < along < 7 * across


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_make_no_difference(factor):
    for mesh in (channel(3.0), shapes.sphere(8), shapes.annulus(16, inner=0.9)):
        scaled = mesh.with_points(factor * mesh.points)
        assert recommended_basis(scaled, shared=True) == recommended_basis(mesh, shared=True)


def test_surfaces_bodies_and_thin_domains_get_eigenfunctions_of_one_mesh_or_each_its_own():
    thin = shapes.annulus(24, inner=0.9)
    for mesh in (shapes.sphere(8), shapes.torus(12), shapes.ball(6), thin):
        shared, own = (recommended_basis(mesh, shared=is_shared) for is_shared in (True, False))
        assert isinstance(shared, LaplacianConfig)
        assert (shared.geometry, own.geometry) == ("shared", "own")
        assert shared.modes == min(128, len(mesh.points) // 8)


def test_points_without_cells_are_judged_by_the_space_they_take():
    rng = np.random.default_rng(0)
    inside = rng.uniform(size=(2000, 2))
    ring = np.stack([np.cos(7 * inside[:, 0]), np.sin(7 * inside[:, 0])], axis=1)
    assert filled(PointSet(inside)) > 0.95
    assert filled(PointSet(ring)) < 0.4
    assert isinstance(recommended_basis(PointSet(inside), shared=False), FourierConfig)
    assert isinstance(recommended_basis(PointSet(ring), shared=False), LaplacianConfig)


@pytest.mark.parametrize("domain", [shapes.sphere(6), PointSet(shapes.sphere(6).points)])
def test_what_is_chosen_for_a_surface_with_and_without_cells_can_be_trained_on(domain, tmp_path):
    values = np.random.default_rng(0).normal(size=(4, len(domain.points), 1))
    samples = [supra.Sample(each, each, domain) for each in values]
    small = {"model": {"width": 8, "depth": 1}, "train": {"epochs": 1}, "data": {"valid": 1}}
    surrogate = supra.fit(samples[:3], samples[3:], tmp_path / "run", **small)
    assert surrogate.experiment.basis.kind == "laplacian"


def test_what_is_filled_is_the_measure_over_that_of_the_box():
    assert filled(shapes.l_shape(8)) == pytest.approx(3 / 4)
    assert filled(shapes.disk(64)) == pytest.approx(np.pi / 4, rel=1e-3)
    assert filled(shapes.sphere(8)) == 0


@pytest.mark.parametrize("points", [9, 100, 1000, 10_000])
def test_there_are_eight_points_for_every_function(points):
    side = round(points**0.5)
    basis = recommended_basis(Grid((side, side)), shared=True)
    assert prod(2 * n + 1 for n in basis.modes) <= max(9, points / 8)


def test_a_run_without_a_basis_tells_which_one_it_took(tmp_path):
    mesh = shapes.square(7)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, len(mesh.points), 1))
    samples = [supra.Sample(each, each, mesh) for each in values]
    small = {"model": {"width": 8, "depth": 1}, "train": {"epochs": 1}, "data": {"valid": 1}}
    surrogate = supra.fit(samples[:4], samples[4:], tmp_path / "run", **small)
    written = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["basis"]
    assert written == {"kind": "fourier", "modes": [1, 1], "constant": True, "period": 1.2}
    assert surrogate.predict(values[0], mesh).shape == values[0].shape


def test_a_preset_may_be_told_to_choose():
    assert load_experiment("demo", "smoke", ["basis.kind=auto"]).basis.kind == "auto"
    with pytest.raises(ConfigError, match=r"basis.kind=auto has no field 'basis.modes'"):
        load_experiment("demo", "smoke", ["basis.kind=auto", "basis.modes=12"])
    with pytest.raises(ConfigError, match=r"basis.kind: 'automatic' is none of auto, fourier"):
        load_experiment("demo", "smoke", ["basis.kind=automatic"])


@pytest.mark.parametrize("shape", [shapes.sphere, shapes.square])
def test_the_coarsest_sample_says_how_many_functions_all_get(shape, tmp_path):
    rng = np.random.default_rng(0)
    meshes = [shape(resolution) for resolution in (16, 4, 8, 16)]
    values = [rng.normal(size=(len(mesh.points), 1)) for mesh in meshes]
    samples = [supra.Sample(v, v, mesh) for v, mesh in zip(values, meshes, strict=True)]
    small = {"model": {"width": 8, "depth": 1}, "train": {"epochs": 1}, "data": {"valid": 1}}
    surrogate = supra.fit(samples[:3], samples[3:], tmp_path / "run", **small)
    assert surrogate.experiment.basis == recommended_basis(meshes[1], shared=False)
