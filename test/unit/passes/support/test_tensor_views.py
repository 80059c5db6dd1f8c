"""Views of allocations, held to NumPy's views."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import (
    collapsed,
    expanded,
    sliced,
    view_of,
    without_dropped,
)

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def shown(window, elements):
    """The numbers of the elements that ``window`` shows of an allocation of ``elements``."""
    numbers = np.arange(elements)
    strides = [stride * numbers.itemsize for stride in window.strides]
    return as_strided(numbers[window.offset :], window.shape, strides)


@given(SHAPES, st.data())
def test_slice_shows_what_numpy_shows(shape, data):
    offsets = [data.draw(st.integers(0, n - 1)) for n in shape]
    steps = [data.draw(st.integers(1, 3)) for _ in shape]
    sizes = [data.draw(st.integers(1, 1 + (n - 1 - o) // s)) for n, o, s in zip(shape, offsets, steps, strict=True)]
    elements = int(np.prod(shape))
    cut = tuple(slice(o, o + (z - 1) * s + 1, s) for o, z, s in zip(offsets, sizes, steps, strict=True))
    expected = np.arange(elements).reshape(shape)[cut]
    np.testing.assert_array_equal(shown(sliced(View.whole(shape), offsets, sizes, steps), elements), expected)


@given(SHAPES, st.data())
def test_collapse_of_a_slice_shows_what_a_reshape_shows(shape, data):
    sizes = [data.draw(st.integers(1, n)) for n in shape]
    groups, start = [], 0
    while start < len(shape):
        stop = data.draw(st.integers(start + 1, len(shape)))
        groups.append(tuple(range(start, stop)))
        start = stop
    window = sliced(View.whole(shape), [0] * len(shape), sizes, [1] * len(shape))
    narrower = collapsed(window, groups)
    assume(narrower is not None)
    elements = int(np.prod(shape))
    expected = shown(window, elements).reshape([int(np.prod([sizes[d] for d in group])) for group in groups])
    np.testing.assert_array_equal(shown(narrower, elements), expected)


@given(SHAPES)
def test_whole_tensor_always_collapses(shape):
    assert collapsed(View.whole(shape), [tuple(range(len(shape)))]) == View.whole((int(np.prod(shape)),))


@given(SHAPES)
def test_expand_undoes_collapse(shape):
    group = tuple(range(len(shape)))
    assert expanded(collapsed(View.whole(shape), [group]), [group], shape) == View.whole(shape)


@pytest.mark.parametrize(
    ("window", "groups"),
    [
        (View(0, (2, 3), (8, 1)), ((0, 1),)),  # rows with gaps
        (View(0, (2, 3), (1, 2)), ((0, 1),)),  # transposed
        (View(0, (2, 3, 2), (8, 2, 1)), ((0, 1), (2,))),
    ],
)
def test_no_view_where_a_group_is_not_evenly_spaced(window, groups):
    assert collapsed(window, groups) is None


def test_unit_dimensions_do_not_stand_in_the_way():
    assert collapsed(View(0, (2, 1, 3), (3, 99, 1)), ((0, 1, 2),)) == View(0, (6,), (1,))


def test_collapse_to_rank_zero():
    assert collapsed(View(7, (1, 1), (5, 1)), ()) == View(7, (), ())


def test_expand_from_rank_zero():
    assert expanded(View(7, (), ()), (), (1, 1)) == View(7, (1, 1), (1, 1))


@pytest.mark.parametrize(
    ("shape", "wanted", "strides"),
    [
        ((1, 3), (3,), (1,)),
        ((3, 1), (3,), (7,)),
        ((1, 1), (1,), (1,)),
        ((1, 1), (), ()),
        ((2, 1, 3), (2, 3), (7, 1)),
        ((2, 3), (2, 3), (7, 1)),
    ],
)
def test_dropped_dimensions(shape, wanted, strides):
    window = View(0, shape, (7, 1) if len(shape) == 2 else (7, 3, 1))
    assert without_dropped(window, wanted) == View(0, wanted, strides)


def view_of_last(body, argument):
    """The view that the last op makes in a function of one argument ``%x``, and whether its root is the argument."""
    module = parse_module(f"func.func @f(%x: {argument}, %i: index) {{\n{body}\n  return\n}}", ipu.context())
    (function,) = list_ops(module.operation, "func.func")
    views = [op for op in list_ops(module.operation) if op.name.startswith("tensor.")]
    found = view_of(views[-1].results[0])
    return found and (found[1], found[0] == function.regions[0].blocks[0].arguments[0])


def test_view_through_a_chain_of_views():
    body = """
  %a = tensor.extract_slice %x[1, 0, 2] [1, 3, 2] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3x2xf32>
  %b = tensor.expand_shape %a [[0, 1], [2]] output_shape [3, 1, 2] : tensor<3x2xf32> into tensor<3x1x2xf32>"""
    assert view_of_last(body, "tensor<2x3x4xf32>") == (View(14, (3, 1, 2), (4, 4, 1)), True)


def test_view_of_a_reshape():
    body = "  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>"
    assert view_of_last(body, "tensor<2x3x4xf32>") == (View.whole((6, 4)), True)


def test_no_view_of_a_slice_at_a_run_time_offset():
    assert (
        view_of_last("  %a = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>", "tensor<4xf32>")
        is None
    )


def test_no_view_behind_a_reshape_that_copies():
    body = """
  %a = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %c = tensor.extract_slice %b[0] [2] [1] : tensor<4xf32> to tensor<2xf32>"""
    assert view_of_last(body, "tensor<2x3xf32>") is None


def test_view_of_a_value_that_is_no_view_is_itself():
    window, is_argument = view_of_last("  %e = tensor.empty() : tensor<2x3xf32>", "tensor<4xf32>")
    assert window == View.whole((2, 3))
    assert not is_argument
