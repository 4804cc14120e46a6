"""Grids integrate as their rules promise."""

import numpy as np
import pytest

from supra.domain import DomainError, Grid


@pytest.mark.parametrize("count", [2, 3, 4, 9, 16])
def test_clenshaw_curtis_integrates_polynomials_of_degree_below_the_count(count):
    grid = Grid(count, nodes="chebyshev")
    for degree in range(count):
        assert grid.weights @ grid.points[:, 0] ** degree == pytest.approx(1 / (degree + 1))


def test_clenshaw_curtis_does_not_integrate_every_polynomial():
    grid = Grid(4, nodes="chebyshev")
    assert abs(grid.weights @ grid.points[:, 0] ** 4 - 1 / 5) > 1e-4


def test_the_trapezoid_rule_converges_at_second_order():
    errors = []
    for count in (17, 33, 65):
        grid = Grid(count)
        errors.append(abs(grid.weights @ np.exp(grid.points[:, 0]) - (np.e - 1)))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(rates, 2, atol=0.01)


def test_a_periodic_axis_integrates_waves_below_its_count_exactly():
    grid = Grid(12, periodic=True)
    for wave in range(1, 12):
        turn = np.exp(2j * np.pi * wave * grid.points[:, 0])
        assert abs(grid.weights @ turn) < 1e-14
    assert abs(grid.weights @ np.exp(2j * np.pi * 12 * grid.points[:, 0])) == pytest.approx(1)


@pytest.mark.parametrize("periodic", [False, True, (True, False, True)])
@pytest.mark.parametrize("nodes", ["uniform", "chebyshev"])
def test_weights_are_products_of_the_axes_in_c_order(periodic, nodes):
    grid = Grid((3, 4, 5), periodic=periodic, nodes=nodes)
    assert grid.weights.sum() == pytest.approx(1)
    at = np.ravel_multi_index((1, 2, 3), grid.shape)
    product = np.prod([w[i] for w, i in zip(grid.axis_weights, (1, 2, 3), strict=True)])
    assert grid.weights[at] == pytest.approx(product)
    assert grid.points[at] == pytest.approx(
        [a[i] for a, i in zip(grid.axes, (1, 2, 3), strict=True)]
    )


def test_a_periodic_axis_leaves_out_its_end_and_others_include_it():
    assert Grid(4, periodic=True).points.ravel().tolist() == [0, 0.25, 0.5, 0.75]
    assert Grid(5).points.ravel().tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert Grid(3, nodes="chebyshev").points.ravel() == pytest.approx([0, 0.5, 1])


def test_a_mapped_grid_has_physical_positions_and_the_coordinates_of_the_box():
    plain = Grid((4, 5))
    stretched = plain.points.reshape(4, 5, 2) * [2, 3]
    for given in (stretched, stretched.reshape(-1, 2)):
        mapped = Grid((4, 5), points=given)
        np.testing.assert_array_equal(mapped.points, plain.points * [2, 3])
        np.testing.assert_array_equal(mapped.coordinates, plain.coordinates)
        assert mapped.to_mesh().measure == pytest.approx(6)


def test_the_mesh_of_a_grid_has_the_grid_points_as_nodes():
    grid = Grid((3, 4, 2))
    mesh = grid.to_mesh().check()
    np.testing.assert_array_equal(mesh.points, grid.points)
    assert mesh.measure == pytest.approx(1)


@pytest.mark.parametrize(
    ("shape", "options", "said"),
    [
        ((4, 1), {}, r"at least 2.*\(4, 1\)"),
        ((2, 2, 2, 2), {}, "1 to 3 axes"),
        ((), {}, "1 to 3 axes"),
        ((4, 4), {"periodic": (True,)}, "one value per axis"),
        ((4, 4), {"nodes": "gauss"}, "gauss"),
        ((4, 4), {"points": np.zeros((4, 5, 2))}, r"\(4, 5, 2\)"),
        ((2, 2), {"points": np.full((2, 2, 2), np.nan)}, "finite"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_grid_that_cannot_be_is_refused_with_what_came(shape, options, said):
    with pytest.raises(DomainError, match=said):
        Grid(shape, **options)


def test_the_weights_of_a_mapped_grid_are_those_of_the_physical_domain():
    """x = t³ on [0, 1]: the mean of x over the domain is 1/2, over the box it would be 1/4."""
    t = np.linspace(0, 1, 201)
    grid = Grid(201, points=t[:, None] ** 3)
    assert grid.weights.sum() == pytest.approx(1)
    assert grid.weights @ grid.points[:, 0] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.usefixtures("unchecked")
def test_shapes_are_whole_numbers_of_any_type():
    assert Grid(np.int64(8), periodic=np.True_).shape == (8,)
    with pytest.raises(DomainError, match="whole numbers"):
        Grid((8.5, 8))
