"""Cycles of all parts of an op, and what its vertices take in memory."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape, cast_cycles
from ipu_mlir.dialects.costs.family import cycles_of, cycles_of_parts, distinct_sizes
from ipu_mlir.dialects.costs.footprint import code_bytes, scratch_bytes, vertex_state_bytes
from ipu_mlir.dialects.costs.work import (
    Contraction,
    Elementwise,
    Gather,
    Move,
    Preparation,
    Reduction,
    Window,
)
from ipu_mlir.dialects.machine.machine import IPU1, IPU2, Machine
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

ADD = ScalarOp(Shape.BINARY, "add", "f32")
TANH = ScalarOp(Shape.UNARY, "tanh", "f32")
INTEGER = ScalarOp(Shape.INTEGER, "plain", "i32")
MATMUL = Contraction("f16", (), (0,), (1,), (2,), ())
CONVOLUTION = Contraction("f16", (), (0,), (1,), (), (2,))


def rows(codelet: str, kept: tuple[int, ...], reduced: tuple[int, ...]) -> CodeletCall:
    """A codelet that works on rows of f32."""
    loops = tuple(sorted((*kept, *reduced)))
    shapes = ((10, 9, 5), (10, 9, 5))
    return CodeletCall(codelet_named(codelet), ("f32", "f32"), shapes, (loops, loops), kept, reduced)


def scatter(codelet: str, kept: tuple[int, ...], reduced: tuple[int, ...]) -> CodeletCall:
    """A scatter of f32 elements, not of rows."""
    dtypes = (*["i32"] * len(kept), "i1", "f32", *["index"] * len(kept), "f32")
    loops = (*[reduced] * (len(kept) + 2), *[(loop,) for loop in kept], kept)
    shape = tuple((10, 9, 5)[loop] for loop in kept)
    shapes = (*[(7,)] * (len(kept) + 2), *[(size,) for size in shape], shape)
    return CodeletCall(codelet_named(codelet), dtypes, shapes, loops, kept, reduced)


WORKS = [
    MATMUL,
    Contraction("f32", (0,), (1,), (2,), (), ()),
    Contraction("i32", (0,), (1,), (2,), (), ()),
    CONVOLUTION,
    Contraction("f16", (0,), (1,), (), (), (2,)),
    Elementwise((ADD, TANH)),
    Elementwise((ADD,), "scalar"),
    Elementwise((ADD,), "vector"),
    Elementwise((ADD,), in_place=True),
    Reduction("f32", "f32", (0,), (1, 2), True, (TANH,), ADD),
    Reduction("f32", "f32", (0, 2), (1,), False, (), ADD),
    Reduction("i32", "i32", (0, 2), (1,), False, (INTEGER,), None),
    Window("f32", "max", (0,), (1,), (2,)),
    Gather("f32", (0, 1, 2), ((2,),), (ADD,)),
    scatter("scatter_add", kept=(0, 1), reduced=(2,)),
    scatter("scatter_set", kept=(0,), reduced=(1, 2)),
    rows("sort", kept=(0, 1), reduced=(2,)),
    rows("scan_add", kept=(0, 1), reduced=(2,)),
    rows("scan_logaddexp", kept=(0, 2), reduced=(1,)),
    Move("fill", "f32", (0, 1, 2)),
    Move("transpose", "f16", (0, 1, 2)),
]
RAGGED = Parts((PartLoop(4, 10, 3), PartLoop(3, 9, 1), PartLoop(5, 5, 0)))


@pytest.mark.parametrize("work", WORKS, ids=str)
def test_parts_cost_what_each_of_them_costs_by_itself(work) -> None:
    first, end = RAGGED.bounds()
    one_by_one = [int(cycles_of(work, sizes, IPU2)) for sizes in end - first]
    cycles = cycles_of_parts(work, RAGGED, IPU2)
    assert cycles.tolist() == one_by_one
    assert cycles.shape == (RAGGED.num_parts,) and cycles.min() > 0


@pytest.mark.parametrize("work", WORKS, ids=str)
def test_a_part_of_twice_the_work_takes_no_less(work) -> None:
    cycles = cycles_of(work, np.array([[24, 24, 24], [48, 48, 48]]), IPU2)
    assert cycles[0] < cycles[1]


def test_sizes_of_parts_are_found_without_looking_at_each() -> None:
    parts = Parts((PartLoop(2, 2 * 1472 - 1, 64), PartLoop(7, 7 * 64, 1), PartLoop(3, 3, 0)))
    sizes, number = distinct_sizes(parts)
    assert sizes.tolist() == [[2, 7, 3], [1, 7, 3]]
    assert number.shape == (94_208,)
    starts, stops = parts.bounds()
    np.testing.assert_array_equal(sizes[number], stops - starts)


@pytest.mark.parametrize("extent", [0, 1, 4, 7, 8])
def test_iterations_of_all_parts_are_those_of_the_loops(extent: int) -> None:
    parts = Parts((PartLoop(4, extent, 1), PartLoop(3, 5, 2)))
    sizes, number = distinct_sizes(parts)
    assert np.prod(sizes, axis=1)[number].sum() == 5 * extent


def test_an_op_without_loops_is_one_element() -> None:
    assert cycles_of_parts(Elementwise((TANH,)), Parts(()), IPU2).tolist() == [20 + 6 * (17 + 12)]


def test_either_operand_of_a_matmul_may_be_the_weights() -> None:
    tall, wide = cycles_of(MATMUL, np.array([[960, 16, 16], [16, 960, 16]]), IPU2)
    assert tall == wide


def _product(dtype: str, machine: Machine, kernel: tuple[int, ...] = ()) -> int:
    sizes = np.array([[512, 64, 256, 3]])
    return int(cycles_of(Contraction(dtype, (), (0,), (1,), (2,), kernel), sizes, machine)[0])


def test_products_of_f8_take_half_of_those_of_f16_where_the_units_take_them() -> None:
    assert 0.45 < _product("f8E4M3FN", IPU2) / _product("f16", IPU2) < 0.55
    assert _product("f8E4M3FN", IPU1) > _product("f16", IPU1), "a conversion comes first"
    assert _product("f8E5M2", IPU2, kernel=(3,)) > _product("f16", IPU2, kernel=(3,)), "and where a window moves"
    assert _product("bf16", IPU1) == _product("f16", IPU1)


def test_few_f8_are_multiplied_as_fast_as_they_can_be() -> None:
    """A product of few channels has no use for 32 of them at once: what f16 does with 16 may be faster."""
    sizes = np.array([[16, 16, 16]])
    as_f16 = cycles_of(MATMUL, sizes, IPU2) + cast_cycles("f8E4M3FN", "f16", 2 * 16 * 16, IPU2)
    assert cycles_of(replace(MATMUL, dtype="f8E4M3FN"), sizes, IPU2) <= as_f16


def test_an_op_on_f8_is_one_on_f16_between_conversions() -> None:
    def cycles(dtype: str) -> int:
        return int(cycles_of(Elementwise((ScalarOp(Shape.BINARY, "add", dtype),)), np.array([[2400]]), IPU2)[0])

    assert cycles("f8E5M2") - cycles("f16") == 6 * 2 * 100


def test_f8_move_as_bytes() -> None:
    moves = [Move("copy", dtype, (0,)) for dtype in ("f8E5M2", "i8", "f16")]
    f8, i8, f16 = (int(cycles_of(move, np.array([[4800]]), IPU2)[0]) for move in moves)
    assert f8 == i8 < f16


def test_a_kernel_of_one_element_needs_no_window() -> None:
    window, plain = CONVOLUTION, Contraction("f16", (), (0,), (1,), (), ())
    sizes = np.array([[96, 32, 1]])
    assert cycles_of(window, sizes, IPU2) == cycles_of(plain, sizes, IPU2)


def test_cycles_of_a_family_in_ir() -> None:
    module = parse_module(
        """func.func @f(%x: tensor<40x16xf16>, %w: tensor<16x16xf16>, %y: tensor<40x16xf16>) -> tensor<40x16xf16> {
          %r = linalg.matmul ins(%x, %w : tensor<40x16xf16>, tensor<16x16xf16>)
              outs(%y : tensor<40x16xf16>) -> tensor<40x16xf16>
          return %r : tensor<40x16xf16> }""",
        ipu.context(),
    )
    (op,) = [each for each in list_ops(module.operation) if is_structured(each)]
    nest = loop_nest(op)
    assert nest is not None
    parts = Parts((PartLoop(32, 40, 1), PartLoop(16, 16, 0), PartLoop(16, 16, 0)))
    assert cycles_of_parts(classify(op, nest), parts, IPU2).tolist() == [425, 353]


@pytest.mark.parametrize("work", WORKS, ids=str)
def test_vertices_take_memory(work) -> None:
    sizes = np.array([[4, 3, 5], [8, 6, 10]])
    assert code_bytes(work) > 96
    assert (vertex_state_bytes(work, sizes, 3, IPU2) >= 24).all()
    assert scratch_bytes(work, sizes, IPU2).shape == (2,)


def test_state_of_a_matmul_grows_with_its_groups_of_channels() -> None:
    state = vertex_state_bytes(MATMUL, np.array([[96, 16, 16], [96, 32, 64]]), 3, IPU2)
    assert state.tolist() == [24 + 4 * (3 + 18), 24 + 4 * (4 + 2 + 8 + 18)]


def test_factors_computed_first_cost_cycles_and_scratch() -> None:
    plain = Contraction("f32", (), (0,), (1,), (2,), ())
    prepared = replace(plain, prepared=(Preparation((TANH,), (0, 2)),))
    sizes = np.array([[12, 8, 100]])
    assert cycles_of(prepared, sizes, IPU2) - cycles_of(plain, sizes, IPU2) == 20 + 6 * (17 + 100 * 12)
    assert scratch_bytes(prepared, sizes, IPU2).tolist() == [4800]
    assert scratch_bytes(plain, sizes, IPU2).tolist() == [0]


def test_scratch_of_sorts_and_of_shared_reductions() -> None:
    sizes = np.array([[2, 100], [6, 100], [9, 100]])  # six workers have at most six of them in hand
    assert scratch_bytes(rows("sort", (0,), (1,)), sizes, IPU2).tolist() == [2 * 400, 6 * 400, 6 * 400]
    reduction = Reduction("f32", "f32", (0,), (1,), True, (), ADD)
    assert scratch_bytes(reduction, np.array([[1, 100], [6, 100]]), IPU2).tolist() == [24, 0]


def test_workers_share_the_rows_of_a_scan_or_each_row() -> None:
    sizes = np.array([[600, 100], [1, 600]])
    assert cycles_of(rows("scan_add", (0,), (1,)), sizes, IPU2).tolist() == [
        11 + 6 * (26 + 100 * 100 * 3),
        11 + 6 * (52 + 100 * 5),
    ]
