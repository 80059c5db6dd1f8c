"""The judges of the end-to-end tests notice what they are there to notice."""

import doctest
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from support import case, compare, corpus, tensor_text
from support.case import Case, some
from support.compare import disagreements, same_bits
from support.random import programs
from support.random.bodies import COMBINERS, PRODUCTS, identity
from support.random.programs import Node, Program, Value
from support.tensor_text import one_generic

X = np.array([[1.0, -2.0], [np.inf, np.nan]], np.float32)
N = np.array([3, 4], np.int32)
ATOL = (1e-3, 0.0)


@pytest.mark.parametrize("module", [case, compare, corpus, programs, tensor_text], ids=lambda m: m.__name__)
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def _with(place: tuple[int, int], value: float) -> np.ndarray:
    changed = X.copy()
    changed[place] = value
    return changed


def test_equal_results_agree() -> None:
    assert disagreements([_with((0, 0), 1.0009), N], [X, N], ATOL) == []


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([X], "1 results instead of 2"),
        ([X[0], N], "result 0: shape (2,) instead of (2, 2)"),
        ([X.astype(np.float64), N], "result 0: dtype float64 instead of float32"),
        ([X, N.astype(np.int64)], "result 1: dtype int64 instead of int32"),
        ([X, N + np.array([0, 1], np.int32)], "result 1: 1 of 2 elements differ"),
        ([_with((0, 0), 1.002), N], "result 0: off by 0.002, allowed 0.001"),
        ([_with((0, 0), np.nan), N], "result 0: NaN in different places"),
        ([_with((1, 1), 0.0), N], "result 0: NaN in different places"),
        ([_with((1, 0), 3e38), N], "result 0: infinities differ"),
        ([_with((0, 0), np.inf), N], "result 0: infinities differ"),
    ],
)
def test_results_that_are_off_disagree(results: list[np.ndarray], words: str) -> None:
    assert disagreements(results, [X, N], ATOL) == [words]


def test_ill_conditioned_results_may_be_off_by_a_share_of_the_largest() -> None:
    want = np.array([10.0, 0.0])
    assert disagreements([want + 0.4], [want], [0.0], {0}) == []
    assert disagreements([want + 0.6], [want], [0.0], {0}) == ["result 0: off by 0.6, allowed 0.5"]


def test_bits_tell_zeros_apart_and_no_nan_from_another() -> None:
    zeros = np.array([0.0, -0.0, np.nan])
    assert same_bits([zeros], [np.array([0.0, -0.0, -np.nan])]) == []
    assert len(same_bits([zeros], [np.array([0.0, 0.0, np.nan])])) == 1


def test_floats_may_be_off_by_units_in_the_last_place_where_that_is_said() -> None:
    want = np.array([1.0, np.inf, np.nan, 0.0], np.float32)
    near = np.array([1 + 2.0**-22, np.inf, np.nan, 0.0], np.float32)
    assert same_bits([near], [want], 2) == []
    assert len(same_bits([near], [want], 1)) == 1
    for other in ([1, 3e38, np.nan, 0], [1, np.inf, 1, 0], [1, np.inf, np.nan, -0.0]):
        assert len(same_bits([np.array(other, np.float32)], [want], 2)) == 1
    assert len(same_bits([np.array([2])], [np.array([1])], 2)) == 1


@pytest.mark.parametrize("sum_length", [0, 9])
def test_a_case_with_a_wrong_expectation_fails(sum_length: int) -> None:
    text = one_generic("i", ["9xf32[i]"], "f32[]", "arith.addf %x0, %acc : f32", reduced="i", init="0.0")
    right = Case("sum", text, some("9xf32"), lambda x: x.sum(), sum_length=9)
    right.check(case.TARGETS[4])
    wrong = replace(right, expected=lambda x: x.sum() + np.float32(1e-4), sum_length=sum_length)
    with pytest.raises(AssertionError, match="result 0"):
        wrong.check(case.TARGETS[4])


def _combiner(op: str, element: str) -> int:
    return next(place for place, each in enumerate(COMBINERS) if (each.op, each.element) == (op, element))


def test_random_programs_mean_what_their_text_says() -> None:
    """y[l, i] = sum over k of a[k, i] * b[l, k], and z = the largest of each column."""
    a, b = Value("%a0", "ki", "i32"), Value("%a1", "lk", "i32")
    y, z = Value("%r0", "li", "i32"), Value("%r1", "i", "i32")
    product = next(op for op in PRODUCTS if op.gives == "i32")
    nodes = (
        Node(y, (a, b), "kil", product, COMBINERS[_combiner("arith.addi", "i32")]),
        Node(z, (y,), "li", identity("i32"), COMBINERS[_combiner("arith.maxsi", "i32")]),
    )
    program = Program({"i": 2, "j": 1, "k": 3, "l": 4}, (a, b), nodes, seed=1, is_exact=True)
    x, w = program.inputs()
    assert (x.shape, w.shape) == ((3, 2), (4, 3))
    for got, want in zip(program.evaluate([x, w]), (w @ x, (w @ x).max(axis=0)), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)
    assert "affine_map<(k, i, l) -> (l, i)>" in program.text
    assert 'iterator_types = ["reduction", "parallel", "parallel"]' in program.text
