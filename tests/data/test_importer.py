"""Folders of users' files: their arrays arrive, and what is wrong is said by file and field."""

from dataclasses import replace

import meshio
import numpy as np
import pytest

from supra.data import DataError
from supra.data.cases.importer import import_folder
from supra.data.store.reader import open_dataset, open_store
from supra.domain import Mesh, PointSet, shapes
from supra.domain.files import write_mesh

SQUARE = shapes.square(3)
RANDOM = np.random.default_rng(0)


def fields_on(points, seed=0):
    """A scalar, a vector and a scalar to predict."""
    random = np.random.default_rng(seed)
    shapes_of = {"a": (points,), "flow": (points, 3), "u": (points,)}
    return {name: random.normal(size=shape) for name, shape in shapes_of.items()}


def write_cases(folder, meshes, suffix=".vtu"):
    """One mesh file per case; returns their fields."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = [fields_on(len(mesh.points), seed) for seed, mesh in enumerate(meshes)]
    for number, (mesh, fields) in enumerate(zip(meshes, cases, strict=True)):
        write_mesh(folder / f"case{number}{suffix}", mesh, fields)
    return cases


def in_float32(array):
    return np.asarray(array, dtype=np.float32)


# ---- what arrives --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh", ".xdmf"])
def test_imported_fields_equal_the_arrays_in_the_files(suffix, tmp_path):
    cases = write_cases(tmp_path / "cases", [SQUARE] * 12, suffix)
    store = import_folder(
        tmp_path / "cases",
        tmp_path / "data.h5",
        inputs=("a", "flow"),
        targets="u",
        units={"flow": "m/s", "flow_z": "kn"},
    )
    assert [str(c) for c in store.layout.inputs] == [
        "a",
        "flow_x [m/s]",
        "flow_y [m/s]",
        "flow_z [kn]",
    ]
    assert store.names[2::8] == (f"case2{suffix}", f"case10{suffix}")
    for number, case in enumerate(cases):
        expected = in_float32(np.column_stack([case["a"], case["flow"]]))
        np.testing.assert_array_equal(store(number).inputs, expected)
        np.testing.assert_array_equal(store(number).targets[:, 0], in_float32(case["u"]))


def test_a_mesh_that_all_cases_share_is_stored_once(tmp_path):
    write_cases(tmp_path / "cases", [SQUARE] * 3)
    store = import_folder(tmp_path / "cases", tmp_path / "data.h5", ["a"], ["u"])
    assert isinstance(store.domain, Mesh)
    np.testing.assert_array_equal(store.domain.cells, SQUARE.cells)
    assert store(0).domain is store(2).domain


@pytest.mark.parametrize("odd", [1, 3], ids=["the second", "the last"])
def test_one_other_mesh_gives_each_case_its_own(odd, tmp_path):
    meshes = [SQUARE] * 4
    meshes[odd] = shapes.disk(1)
    cases = write_cases(tmp_path / "cases", meshes)
    store = import_folder(tmp_path / "cases", tmp_path / "data.h5", ["a"], ["u"])
    assert store.domain is None
    for number, (mesh, case) in enumerate(zip(meshes, cases, strict=True)):
        np.testing.assert_array_equal(store(number).domain.points, mesh.points)
        np.testing.assert_array_equal(store(number).targets[:, 0], in_float32(case["u"]))


def test_arrays_of_npz_files_arrive_with_or_without_cells(tmp_path):
    for number in range(2):
        fields = fields_on(len(SQUARE.points), number) | {"speed": 3.0 + number}
        np.savez(tmp_path / f"mesh{number}.npz", points=SQUARE.points, cells=SQUARE.cells, **fields)
    store = import_folder(tmp_path, tmp_path / "data.h5", ["a", "speed"], ["flow_y"])
    assert isinstance(store.domain, Mesh)
    assert (store(1).inputs[:, 1] == 4).all()
    np.testing.assert_array_equal(store(1).targets[:, 0], in_float32(fields["flow"][:, 1]))

    (tmp_path / "mesh0.npz").unlink()
    np.savez(tmp_path / "mesh1.npz", points=SQUARE.points, **fields)
    store = import_folder(tmp_path, tmp_path / "data.h5", [], ["a", "u"])
    assert isinstance(store.domain, PointSet)
    assert store(0).inputs.shape == (len(SQUARE.points), 0)


def test_a_mesh_and_arrays_of_the_same_name_are_one_case(tmp_path):
    write_mesh(tmp_path / "case.msh", SQUARE)
    fields = fields_on(len(SQUARE.points))
    np.savez(tmp_path / "case.npz", **fields)
    store = import_folder(tmp_path, tmp_path / "data.h5", ["a"], ["u"])
    assert store.names == ("case.msh",)
    np.testing.assert_array_equal(store(0).inputs[:, 0], in_float32(fields["a"]))


@pytest.mark.parametrize("comment", ["", "# "])
def test_tables_arrive_as_point_clouds(comment, tmp_path):
    clouds = [RANDOM.normal(size=(count, 5)) for count in (8, 9)]
    for number, cloud in enumerate(clouds):
        header = "x, y, z, a, u"
        np.savetxt(tmp_path / f"{number}.csv", cloud, "%.17g", ",", header=header, comments=comment)
    store = import_folder(tmp_path, tmp_path / "data.h5", ["a"], ["u"], precision="float64")
    for number, cloud in enumerate(clouds):
        np.testing.assert_array_equal(store(number).domain.points, cloud[:, :3])
        np.testing.assert_array_equal(store(number).targets, cloud[:, 4:])


def test_vectors_on_a_flat_mesh_lose_the_zero_that_the_format_adds(tmp_path):
    flow = np.column_stack([RANDOM.normal(size=(len(SQUARE.points), 2)), np.zeros(16)])
    write_mesh(tmp_path / "case.vtu", SQUARE, {"flow": flow, "u": flow[:, 0]})
    store = import_folder(tmp_path, tmp_path / "data.h5", ["flow"], ["u"])
    assert [channel.name for channel in store.layout.inputs] == ["flow_x", "flow_y"]


def test_values_per_cell_become_means_weighted_by_measure(tmp_path):
    """Segments of lengths 1 and 3 with values 2 and 6: the point between has (2 + 18) / 4."""
    points, cells = (
        np.array([[0.0, 0, 0], [1, 0, 0], [4, 0, 0]]),
        {"line": np.array([[0, 1], [1, 2]])},
    )
    values = {"u": points[:, 0]}, {"heat": [np.array([2.0, 6])]}
    meshio.Mesh(points, cells, *values).write(tmp_path / "case.vtu")
    store = import_folder(tmp_path, tmp_path / "data.h5", ["heat"], ["u"])
    np.testing.assert_allclose(store(0).inputs[:, 0], [2, 5, 6], rtol=1e-6)


def test_values_per_cell_keep_their_integral_whatever_the_cells(tmp_path):
    """A triangle of area 2, squares of areas 1 and 4: split or not, the integral is theirs."""
    points = np.array([[0, 0], [1, 0], [5, 0], [0, 1], [1, 1], [5, 1], [3, 2.0]])
    cells = [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]]), ("triangle", [[4, 5, 6]])]
    heat = [np.array([[2.0, 1], [6, 1]]), np.array([[7.0, 1]])]
    meshio.Mesh(points, cells, cell_data={"heat": heat}).write(tmp_path / "case.vtu")
    store = import_folder(tmp_path, tmp_path / "data.h5", [], ["heat"], precision="float64")
    integral = store.domain.node_measures @ store(0).targets
    np.testing.assert_allclose(integral, [2 + 4 * 6 + 2 * 7, 1 + 4 + 2])


# ---- splits --------------------------------------------------------------------------------------


def test_test_cases_are_a_fraction_chosen_by_the_seed(tmp_path):
    write_cases(tmp_path / "cases", [SQUARE] * 10)

    def split(seed):
        store = import_folder(
            tmp_path / "cases", tmp_path / "data.h5", ["a"], ["u"], test=0.3, seed=seed
        )
        return store.splits["test"].tolist()

    assert len(split(0)) == 3
    assert split(0) == split(0) != split(1)


def test_sub_folders_are_splits(tmp_path):
    for split, count in {"train": 3, "valid": 2, "test": 1}.items():
        write_cases(tmp_path / "cases" / split, [SQUARE] * count)
    store = import_folder(tmp_path / "cases", tmp_path / "data.h5", ["a"], ["u"])
    assert store.names[::5] == ("train/case0.vtu", "test/case0.vtu")
    splits = open_dataset(tmp_path / "data.h5")
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [3, 2, 1]


def test_progress_sees_every_case(tmp_path):
    write_cases(tmp_path, [SQUARE] * 3)
    seen = []

    def track(cases):
        for case in cases:
            yield case
            seen.append(len(cases))

    import_folder(tmp_path, tmp_path / "data.h5", ["a"], ["u"], track=track)
    assert seen == [3, 3, 3]


# ---- what is wrong -------------------------------------------------------------------------------


def refused(folder, message, inputs=("a",), targets=("u",), **options):
    output = folder.parent / "data.h5"
    with pytest.raises(DataError, match=message):
        import_folder(folder, output, inputs, targets, **options)
    assert not output.exists()
    assert not list(folder.parent.glob(".*"))


@pytest.fixture
def folder(tmp_path):
    write_cases(tmp_path / "cases", [SQUARE] * 3)
    return tmp_path / "cases"


def test_a_missing_field_is_named_with_those_there_are(folder):
    refused(folder, r"case0\.vtu' has no field 'T': its fields are 'a', 'flow', 'u'", targets=["T"])
    write_mesh(folder / "case1.vtu", SQUARE, {"a": np.ones(16)})
    refused(folder, r"case1\.vtu' has no field 'u'")


def test_values_that_are_not_finite_are_named(folder):
    fields = fields_on(16)
    fields["a"][5] = np.nan
    write_mesh(folder / "case1.vtu", SQUARE, fields)
    refused(folder, r"case1\.vtu' has 1 of 16 values of 'a'.*nan at point 5")


def test_other_channels_or_dimensions_than_the_first_case_has_are_named(folder):
    scalar = {"a": np.ones(16), "flow": np.ones(16), "u": np.ones(16)}
    write_mesh(folder / "case1.vtu", SQUARE, scalar)
    refused(folder, r"case1\.vtu' has flow, u, and .*case0\.vtu' has flow_x", inputs=["flow"])
    bent = replace(SQUARE, points=np.column_stack([SQUARE.points, SQUARE.points[:, 0] ** 2]))
    write_mesh(folder / "case1.vtu", bent, scalar)
    refused(folder, r"coordinates: .*case1\.vtu' has 3, and .*case0\.vtu' has 2")


def test_folders_without_cases_or_with_doubtful_ones_are_named(tmp_path, folder):
    refused(tmp_path / "none", "'.*none' is not one")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "surface.vtp").write_text("")
    refused(tmp_path / "notes", r"No case was found in .*notes', which has \.vtp.*\.vtu")
    write_cases(folder / "train", [SQUARE])
    refused(folder, "files of its own and in train")


def test_two_files_for_one_case_are_named(folder):
    write_mesh(folder / "case1.vtk", SQUARE, fields_on(16))
    refused(folder, r"'case1' has case1\.vtk, case1\.vtu")


def test_broken_files_are_named(folder):
    whole = (folder / "case1.vtu").read_bytes()
    (folder / "case1.vtu").write_bytes(whole[: len(whole) // 2])
    refused(folder, r"case1\.vtu' cannot be read as \.vtu")


BAD_NPZ = {
    "no points": ({"a": np.ones(3), "u": np.ones(3)}, "needs an array 'points'.*'a', 'u'"),
    "length": ({"points": np.eye(3), "u": np.ones(4)}, r"'u' of shape \(4,\), and 3 points"),
    "text": ({"points": np.eye(3), "u": np.array(["a"] * 3)}, "'u' of <U1: real numbers only"),
    "text points": ({"points": np.array([["a", "b"]])}, "could not convert"),
    "cells": ({"points": np.eye(3), "cells": np.array([[1, 2, 3]])}, "numbered 0 to 2"),
    "flat points": ({"points": np.ones(3)}, "Points must have shape"),
}


@pytest.mark.parametrize("what", BAD_NPZ)
def test_arrays_that_do_not_fit_are_named(what, tmp_path):
    arrays, message = BAD_NPZ[what]
    (tmp_path / "cases").mkdir()
    np.savez(tmp_path / "cases" / "one.npz", **arrays)
    refused(tmp_path / "cases", rf"one\.npz'.*{message}")


BAD_CSV = {
    "no x": ("a,b\n1,2\n", "needs columns x, y.*'a', 'b'"),
    "other separator": ("x;y;u\n1;2;3\n", "cannot be read as a table: '1;2;3' in line 2"),
    "too few": ("x,y,u\n1,2\n", "3 names in the first line, 2 values in line 2"),
    "uneven": ("x,y,u\n1,2,3\n\n1,2,3,4\n", "3 names in the first line, 4 values in line 4"),
    "no rows": ("x,y,u\n", "3 names in the first line, and no numbers below"),
    "empty": ("", "0 names in the first line"),
    "words": ("x,y,u\n1,2,3\n1,2,hot\n", "'hot' in line 3 is not a number"),
    "one name twice": ("x,y,u,u\n1,2,3,4\n", "two columns have one name among 'x', 'y', 'u', 'u'"),
    "endless name": ("x" * 200_000, "cannot be read as a table"),
}


@pytest.mark.parametrize("what", BAD_CSV)
def test_tables_that_do_not_fit_are_named(what, tmp_path):
    text, message = BAD_CSV[what]
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "one.csv").write_text(text)
    refused(tmp_path / "cases", rf"one\.csv'.*{message}")


def test_bad_requests_are_named(folder):
    refused(folder, "at least one field to predict", targets=[])
    refused(folder, "fraction of the cases below 1: got 1", test=1.0)


def test_a_failed_import_leaves_the_former_file(folder, tmp_path):
    import_folder(folder, tmp_path / "data.h5", ["a"], ["u"])
    with pytest.raises(DataError):
        import_folder(folder, tmp_path / "data.h5", ["a"], ["T"])
    assert len(open_store(tmp_path / "data.h5")) == 3
