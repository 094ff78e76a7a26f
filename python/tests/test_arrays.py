"""Arrays of every layout and type go in as what they are; bad ones are refused by name."""

from __future__ import annotations

import array

import numpy as np
import pytest
from conftest import brute_force

import lnz


def layouts(matrix):
    """The same matrix in memory in different ways."""
    wide = np.zeros((2 * matrix.shape[0], 3 * matrix.shape[1]))
    wide[::2, ::3] = matrix
    read_only = matrix.copy()
    read_only.flags.writeable = False
    unaligned = np.zeros(matrix.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(matrix.shape)
    unaligned[...] = matrix
    yield "C order", np.ascontiguousarray(matrix)
    yield "Fortran order", np.asfortranarray(matrix)
    yield "transposed view", matrix.T.copy().T
    yield "strided", wide[::2, ::3]
    yield "negative strides", matrix[::-1, ::-1].copy()[::-1, ::-1]
    yield "read-only", read_only
    yield "big-endian", matrix.astype(">f8")
    yield "unaligned", unaligned
    yield "list", matrix.tolist()
    yield "masked, but not anywhere", np.ma.masked_array(matrix)


def test_no_layout_transposes_or_mixes_the_weights(parameters):
    weights, b, c = parameters
    expected = brute_force(weights, b, c)
    for name, layout in layouts(weights):
        model = lnz.RBM(layout, b[::-1][::-1], np.asfortranarray(c))
        assert np.array_equal(model.weights, weights), name
        assert lnz.exact(model).log_z == pytest.approx(expected, rel=1e-12), name


def test_a_row_that_numpy_repeats_without_storing_it_again():
    row = np.array([0.5, -1.0, 2.0])
    repeated = np.broadcast_to(row, (4, 3))
    assert repeated.strides[0] == 0
    assert np.array_equal(lnz.RBM(repeated).weights, np.tile(row, (4, 1)))


def test_a_square_matrix_is_not_transposed_either():
    weights = np.arange(16.0).reshape(4, 4) / 10
    b, c = np.array([1.0, 0, 0, 0]), np.zeros(4)
    for name, layout in layouts(weights):
        assert lnz.exact(lnz.RBM(layout, b, c)).log_z == pytest.approx(
            brute_force(weights, b, c)
        ), name


def test_data_of_every_layout_scores_the_same(model):
    random = np.random.default_rng(2)
    rows = random.integers(0, 2, (9, 7)).astype(float)
    expected = [
        rows[i] @ model.visible_bias
        + np.logaddexp(0, model.hidden_bias + rows[i] @ model.weights).sum()
        for i in range(9)
    ]
    for name, layout in layouts(rows):
        assert -model.free_energy(layout) == pytest.approx(expected, rel=1e-13), name
    for kind in (np.float32, np.float16, np.int64, np.uint8, bool):
        assert np.array_equal(model.free_energy(rows.astype(kind)), model.free_energy(rows)), kind


def test_each_row_has_the_same_bits_whatever_comes_with_it():
    """More rows than a block has, in an order of memory that is not that of the blocks."""
    random = np.random.default_rng(5)
    model = lnz.RBM(random.normal(0, 0.3, (600, 9)), random.normal(0, 1, 600), random.normal(0, 1, 9))
    rows = np.asfortranarray(random.random((7001, 600)), np.float32)
    together = model.free_energy(rows)
    some = [0, 31, 32, 3494, 3495, 3496, 6990, 7000]
    assert np.array_equal(together[some], [model.free_energy(rows[i : i + 1])[0] for i in some])
    assert np.array_equal(together, model.free_energy(rows, threads=1))
    x = rows[some].astype(np.float64)
    inputs = x @ model.weights + model.hidden_bias
    expected = -(x @ model.visible_bias) - np.logaddexp(0, inputs).sum(1)
    assert together[some] == pytest.approx(expected, rel=1e-12)


def test_the_first_bad_row_is_the_one_that_is_named(model):
    rows = np.zeros((5000, 7))
    rows[[1200, 4000], 3] = [2.0, 3.0]
    for _ in range(10):
        with pytest.raises(ValueError, match=r"X is 2 at \[1200, 3\]"):
            model.free_energy(rows)


def test_single_precision_is_widened_exactly(parameters):
    weights, b, c = (np.asarray(values, np.float32) for values in parameters)
    model = lnz.RBM(np.asfortranarray(weights), b, c)
    assert model.weights.dtype == np.float64
    assert np.array_equal(model.weights, weights.astype(np.float64))


def test_arrays_come_out_without_a_copy_and_cannot_be_written(model):
    first, second = model.weights, model.weights
    assert first.ctypes.data == second.ctypes.data
    for values in (model.weights, model.visible_bias, model.hidden_bias):
        with pytest.raises(ValueError):
            values[0] = 1.0
        with pytest.raises(ValueError):
            values.flags.writeable = True
    # They stay valid when the model is gone.
    expected = first.copy()
    del model
    assert np.array_equal(first, expected)


def test_changing_the_array_afterwards_does_not_change_the_model(parameters):
    weights = parameters[0].copy()
    model = lnz.RBM(weights, *parameters[1:])
    weights[:] = 0
    assert np.array_equal(model.weights, parameters[0])


GOOD = (np.zeros((3, 2)), np.zeros(3), np.zeros(2))
BAD_PARAMETERS = [
    (0, np.zeros((3, 2, 1)), ValueError, "weights has the shape"),
    (0, np.zeros(3), ValueError, "weights has the shape"),
    (0, 1.0, ValueError, "weights has the shape"),
    (0, np.zeros((0, 2)), ValueError, "weights has no visible units"),
    (0, np.zeros((0, 0)), ValueError, "weights has no visible units"),
    (0, np.full((3, 2), np.nan), ValueError, "weights[0, 0] is NaN"),
    (0, np.full((3, 2), np.inf), ValueError, "weights[0, 0] is inf"),
    (0, np.zeros((3, 2), object), TypeError, "weights has the dtype object"),
    (0, np.zeros((3, 2), complex), TypeError, "weights has the dtype complex"),
    (0, [["a", "b"]] * 3, TypeError, "weights has the dtype <U1"),
    (0, [[1, 2], [3]], ValueError, "weights is not an array of numbers"),
    (0, "gwgm-hard", TypeError, "weights is str"),
    (0, None, TypeError, "weights has the dtype object"),
    (0, np.ma.masked_equal(np.eye(3, 2), 0), TypeError, "weights has masked values"),
    (1, np.zeros(4), ValueError, "visible_bias has 4 values, but weights has 3"),
    (1, np.zeros((3, 1)), ValueError, "visible_bias has the shape"),
    (1, np.array(["x"] * 3), TypeError, "visible_bias has the dtype"),
    (2, np.zeros(0), ValueError, "hidden_bias has 0 values"),
    (2, [0.0, np.nan], ValueError, "hidden_bias[1] is NaN"),
    (2, np.zeros(2, "datetime64[s]"), TypeError, "hidden_bias has the dtype datetime64"),
]


@pytest.mark.parametrize(("position", "value", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(position, value, error, message):
    arrays = list(GOOD)
    arrays[position] = value
    with pytest.raises(error) as caught:
        lnz.RBM(*arrays)
    assert message in str(caught.value)


BAD_DATA = [
    (np.zeros((2, 4)), ValueError, "X has 4 columns, but the model has 7"),
    (np.zeros(7), ValueError, "X has the shape (7,)"),
    (np.zeros((1, 7, 1)), ValueError, "X has the shape"),
    (np.zeros((0, 7)), ValueError, "at least one row"),
    (np.full((1, 7), np.nan), ValueError, "X is NaN at [0, 0]"),
    (np.full((1, 7), 1.5), ValueError, "X is 1.5 at [0, 0]; expected values in [0, 1]"),
    (np.full((1, 7), -1), ValueError, "X is -1 at [0, 0]"),
    (np.zeros((1, 7), object), TypeError, "X has the dtype object"),
]


@pytest.mark.parametrize(("data", "error", "message"), BAD_DATA)
def test_bad_data_is_refused_by_name(model, data, error, message):
    with pytest.raises(error) as caught:
        model.score_samples(data)
    assert message in str(caught.value)
    with pytest.raises(error) as caught:
        lnz.estimate(model, data=data, no_exact=True)
    assert message.replace("X ", "data ", 1) in str(caught.value)


def test_buffers_and_hidden_layers_of_nothing_are_fine():
    model = lnz.RBM(np.zeros((3, 0)), array.array("d", [0, 0, 0]), [])
    assert lnz.exact(model).log_z == pytest.approx(3 * np.log(2))
