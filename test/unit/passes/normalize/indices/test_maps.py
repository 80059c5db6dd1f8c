"""Which iterations of an op write one element, and whether a slice shows what they write."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.indices.maps import ResultMaps
from ipu_mlir.passes.support.affine_expressions import loops_in, values_at, without


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as made:
        yield made


def expressions(text: str) -> tuple:
    return tuple(ir.AffineMapAttr.parse(f"affine_map<(i, j, k) -> ({text})>").value.results)


def maps(*results: str, extents=(4, 3, 1), parallel=(False, False, False)) -> ResultMaps:
    found = tuple(expressions(text) for text in results)
    return ResultMaps(extents, parallel, found, tuple((20,) * len(each) for each in found))


def test_values_of_every_kind_of_expression():
    i, j = np.arange(4)[:, None], np.arange(3)
    texts = "i * 2 + j, (i + j) floordiv 2, i mod 3, j ceildiv 2, 5 - i, 7"
    found = [values_at(each, [i, j, 0]) for each in expressions(texts)]
    expected = [i * 2 + j, (i + j) // 2, i % 3, -(-j // 2), 5 - i, 7]
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert [sorted(loops_in(each)) for each in expressions(texts)] == [[0, 1], [0, 1], [0], [1], [0], []]


def test_an_expression_without_the_loops_that_stand_still():
    text = "i * 2 + j floordiv 2 + 3, i mod 2, j * 4 - i"
    moved, mixed, scaled = (without(each, frozenset({1})) for each in expressions(text))
    assert moved is not None and scaled is not None and mixed is None
    assert moved[0] == {0: 2} and scaled[0] == {0: -1}
    assert values_at(moved[1], [0, 5, 0]) == 5 and values_at(scaled[1], [0, 5, 0]) == 20


@pytest.mark.parametrize(
    ("results", "plain"),
    [
        (("i, j",), True),
        (("j, i", "i, j"), True),
        (("j, k, i", "i, j"), True),  # a loop of one iteration is none
        (("i, j", "i"), False),
        (("i + j",), False),
        (("i, i",), False),
        (("i * 2",), False),
        (("i, 0",), False),  # of 20
    ],
)
def test_results_that_are_loops_alone(results, plain):
    assert maps(*results).are_plain() == plain


def test_a_parallel_loop_that_no_index_names_is_not_plain():
    assert not maps("i", parallel=(True, True, True)).are_plain()
    assert maps("i", parallel=(True, False, True)).are_plain()


@pytest.mark.parametrize(
    ("text", "one_to_one", "sliced"),
    [
        ("i * 2 + 1", True, True),
        ("5 - i", True, False),
        ("i * 3 + j", True, False),
        ("i * 2 + j", False, False),
        ("i, i + j", True, False),
        ("i floordiv 2, i mod 2", True, False),
        ("i floordiv 2", False, False),
        ("i + k", True, True),
    ],
)
def test_points_that_are_elements(text, one_to_one, sliced):
    result = maps(text)
    ((loops, dimensions),) = result.meeting(0, frozenset())
    assert result.is_one_to_one(0, loops, dimensions) == one_to_one
    assert result.is_sliced(0, dimensions, frozenset()) == sliced


def test_indices_without_a_common_loop_are_asked_about_alone():
    assert sorted(maps("i + j, k, 3, i").meeting(0, frozenset())) == [((0, 1), (0, 3))]
    assert sorted(maps("i, j").meeting(0, frozenset({1}))) == [((0,), (0,))]


@pytest.mark.parametrize(
    ("text", "parallel", "loop"),
    [
        ("i + j", (True, False, False), 0),
        ("i + j", (False, True, False), 1),
        ("i * 3 + j", (True, True, False), None),
        ("i, i + j", (True, True, False), None),
        ("i floordiv 2, j", (True, True, False), 0),
        ("i floordiv 2, j", (False, True, False), None),
        ("i", (True, True, False), 1),
    ],
)
def test_parallel_iterations_that_write_one_element(text, parallel, loop):
    broken = maps(text, parallel=parallel).broken(0)
    assert broken is None if loop is None else f"in several iterations of loop {loop}, which is parallel" in broken
