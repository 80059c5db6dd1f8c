"""The formulas give the figures that are published for them."""

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.scatter import multi_update_add_cycles
from ipu_mlir.dialects.codelets.sort import sort_cycles
from ipu_mlir.dialects.codelets.update_slice import dynamic_slice_cycles
from ipu_mlir.dialects.costs.amp import (
    amp_1x1_cycles,
    amp_nx1_cycles,
    horizontal_mac_cycles,
    slic_cycles,
    vertical_mac_cycles,
)
from ipu_mlir.dialects.costs.elementwise import (
    ScalarOp,
    Shape,
    broadcast_scalar_cycles,
    broadcast_vector_cycles,
    cast_cycles,
    elementwise_cycles,
)
from ipu_mlir.dialects.costs.moves import (
    fill_worker_cycles,
    multi_slice_cycles,
)
from ipu_mlir.dialects.costs.pooling import pool_cycles
from ipu_mlir.dialects.costs.reductions import (
    continuous_cycles,
    reduction_cycles,
    strided_cycles,
    sum_of_rows_cycles,
)
from ipu_mlir.dialects.machine.machine import IPU1, IPU2, IPU21

AMP_TABLE = [
    # rows, measured TFLOPS, cycles of the formula, TFLOPS of the formula
    (16, 55.49, 353, 63.2),
    (32, 96.71, 425, 105.0),
    (64, 152.8, 545, 163.7),
    (128, 211.12, 809, 220.6),
    (256, 264.0, 1313, 271.8),
    (512, 299.78, 2345, 304.4),
    (1024, 322.7, 4385, 325.6),
    (2048, 334.9, 8489, 336.4),
]


def unary(name: str, dtype: str) -> ScalarOp:
    return ScalarOp(Shape.UNARY, name, dtype)


def binary(name: str, dtype: str) -> ScalarOp:
    return ScalarOp(Shape.BINARY, name, dtype)


@pytest.mark.parametrize(("rows", "measured", "cycles", "tflops"), AMP_TABLE)
def test_matmuls_of_16_by_16_channels(rows: int, measured: float, cycles: int, tflops: float) -> None:
    found = amp_1x1_cycles(1, rows, 16, 16, "f16", IPU21)
    assert found == cycles
    reached = 2 * rows * 16 * 16 * IPU21.tiles_per_ipu * IPU21.clock_hz / found / 1e12
    assert reached == pytest.approx(tflops, abs=0.06)
    allowed = 0.15 if rows < 64 else 0.08 if rows < 1024 else 0.01
    assert abs(reached - measured) <= allowed * measured


def test_a_worker_takes_44_cycles_for_three_rows_of_f8_and_37_of_f16() -> None:
    """And four for every further row of either, with twice as many channels of f8."""
    for rows in (18, 600):
        f8, f16 = (amp_1x1_cycles(1, rows, *sizes, IPU2) for sizes in ((32, 16, "f8E4M3FNUZ"), (16, 16, "f16")))
        assert f8 - f16 == 6 * (17 + 27 - 37)


def test_the_second_generation_and_bow_take_the_same_cycles() -> None:
    assert amp_1x1_cycles(1, 512, 64, 64, "f16", IPU2) == amp_1x1_cycles(1, 512, 64, 64, "f16", IPU21)
    assert IPU21.clock_hz / IPU2.clock_hz == pytest.approx(1.85 / 1.325)


@pytest.mark.parametrize("machine", [IPU1, IPU2])
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_long_matmuls_come_close_to_the_peak_and_stay_below(machine, dtype: str) -> None:
    """What f32 loses is the zeroing of the results, which takes as long as one pass."""
    flops = 2 * 60_000 * 1024 * 16
    cycles = amp_1x1_cycles(1, 60_000, 1024, 16, dtype, machine)
    assert 0.95 <= flops / cycles / machine.amp_flops_per_cycle(dtype) < 1


def test_channels_are_padded_to_the_units() -> None:
    assert amp_1x1_cycles(1, 96, 17, 17, "f16", IPU2) == amp_1x1_cycles(1, 96, 32, 32, "f16", IPU2)
    assert amp_1x1_cycles(1, 96, 9, 16, "f32", IPU2) == amp_1x1_cycles(1, 96, 16, 16, "f32", IPU2)


def test_convolution_of_three_by_three() -> None:
    """109 + 108 for the start, 18 + 1 to zero, 44 around one group; nine passes of 32 + 6 * (17 + 8 * (3 + 29 - 9))."""
    passes = 9 * (32 + 6 * (17 + 8 * (3 + 29 - 9)))
    assert amp_nx1_cycles(1, 48, 1, 16, 16, 9, "f16", IPU2) == 109 + 108 + 18 + 1 + 44 + passes


def test_a_worker_runs_the_instructions_of_the_vertex_in_f32() -> None:
    """55 for one point, 61 for two, 63 for three, eight for every further one; the first pass zeroes, too."""
    for points, worker in ((1, 55), (2, 61), (3, 63), (5, 79)):
        one, two = (amp_1x1_cycles(1, 6 * points, channels, 16, "f32", IPU21) for channels in (8, 16))
        assert two - one == 15 + 19 + 6 + 32 + 6 * worker
        assert one == 50 + 13 + 11 + 18 + 7 + 32 + 6 * (worker + 2 + 8 * points)


def test_windows_of_four_slide() -> None:
    worker = 17 + 2 * (10 + 3 + 2 * (14 + 49))
    assert slic_cycles(1, 648, 54, 4, 4, 9, 3, IPU1) == 28 + 21 + 6 + 3 * (34 + 26 + 6 * worker)
    depthwise = slic_cycles(4, 648, 54, 1, 1, 9, 3, IPU1)
    assert depthwise - slic_cycles(1, 648, 54, 4, 4, 9, 3, IPU1) == 3 * (31 + 60 + 6 - 18)
    assert slic_cycles(1, 648, 54, 8, 4, 15, 5, IPU1) > 4 * slic_cycles(1, 648, 54, 4, 4, 9, 3, IPU1) - 200


def test_products_without_amp() -> None:
    worker = 16 + 16 + 19 + 2 * (7 + 7 + 4)
    assert horizontal_mac_cycles(1, 12, 12, 8, 8, 1, "f32", IPU2) == 58 + 54 + 38 + 8 * (10 + 6 * worker)
    worker = 13 + 2 * (25 + 3 * 8)
    assert vertical_mac_cycles(8, 12, 9, IPU2) == 100 + 4 + 24 + 32 + 24 + 6 * worker + 10 + 12 * 2


@pytest.mark.parametrize(
    ("dtype", "n", "cycles"), [("f32", 1000, 1697), ("f16", 1000, 923), ("f32", 10_000, 15_197), ("f16", 10_000, 7673)]
)
def test_binary_sums(dtype: str, n: int, cycles: int) -> None:
    assert elementwise_cycles([binary("add", dtype)], n, IPU2) == cycles


def test_several_operations_share_a_loop_where_that_is_faster() -> None:
    stencil = [binary("add", "f32")] * 3 + [binary("mul", "f32"), binary("sub", "f32")] + [binary("mul", "f32")] * 2
    assert elementwise_cycles(stencil, 1200, IPU2, operands=6) == 11 + 6 * (29 + 100 * (7 + 6 + 6))
    assert elementwise_cycles(stencil, 1200, IPU2) == 11 + 6 * (29 + 100 * 21)
    assert elementwise_cycles(stencil[:2], 1200, IPU2, operands=3) == 11 + 6 * (29 + 100 * 6)
    numbers = [ScalarOp(Shape.INTEGER, "plain", "i32")] * 4
    assert elementwise_cycles(numbers, 600, IPU2, operands=2) == 11 + 6 * (26 + 100 * (4 + 2 + 6))


def test_unary_operations() -> None:
    assert elementwise_cycles([unary("exp", "f16")], 1200, IPU2) == 1418
    assert elementwise_cycles([unary("tanh", "f32")], 600, IPU2) == 3722
    assert elementwise_cycles([unary("abs", "f32")], 600, IPU2) == 20 + 6 * (17 + 50 * 5)


def test_other_element_wise_vertices() -> None:
    assert elementwise_cycles([binary("add", "f32")], 1000, IPU2, in_place=True) == 11 + 6 * (58 + 84 * 3)
    assert elementwise_cycles([ScalarOp(Shape.INTEGER, "plain", "i32")], 60, IPU2) == 11 + 6 * (26 + 10 * 7)
    assert elementwise_cycles([ScalarOp(Shape.INTEGER, "plain", "i64")], 60, IPU2) == 11 + 6 * (26 + 2 * 10 * 7)
    assert elementwise_cycles([binary("compare", "f32")], 240, IPU2) == 11 + 6 * (29 + 10 * 14)
    assert broadcast_scalar_cycles(binary("mul", "f16"), 240, IPU2) == 11 + 6 * (20 + 10 * 2)
    assert broadcast_vector_cycles(binary("add", "f32"), 12, 64, IPU2) == 11 + 6 * (15 + 2 * (7 + 32 * 2))
    assert broadcast_vector_cycles(binary("add", "f32"), 1, 1200, IPU2) == 11 + 6 * (15 + 7 + 100 * 2)


def test_casts() -> None:
    assert cast_cycles("f16", "f32", 1200, IPU2) == 12 + 6 * (19 + 18 + 100)
    assert cast_cycles("f32", "f16", 1200, IPU2) == 12 + 6 * (19 + 18 + 2 * 50)
    assert cast_cycles("i32", "f32", 1200, IPU2) == 12 + 6 * (19 + 18 + 2 * 200)


def test_reductions() -> None:
    assert strided_cycles(64, 10, "f32", "f32", IPU2) == 16 + 32 * (3 + 5 + 3 + 9)
    assert continuous_cycles(4, 101, "f32", IPU2) == 17 + 4 * (12 + 50 + 2)


def test_sums_of_rows() -> None:
    """Four accumulators in f32 and eight in f16, which two loads of 64 bits fill."""
    assert sum_of_rows_cycles(96, 3, "f32", "f32", IPU2) == 33 + 6 * (20 + 4 * (2 * 3 + 8))
    assert sum_of_rows_cycles(96, 3, "f16", "f16", IPU2) == 33 + 6 * (20 + 2 * (2 * 3 + 9))
    assert sum_of_rows_cycles(96, 3, "f16", "f32", IPU2) == 33 + 6 * (20 + 2 * (2 * 3 + 10))


@pytest.mark.parametrize("continuous", [True, False])
def test_reductions_are_linear_in_the_elements(continuous: bool) -> None:
    cycles = reduction_cycles(6, np.array([1200, 2400, 3600]), "f32", "f32", continuous, IPU2)
    assert cycles[2] - cycles[1] == cycles[1] - cycles[0] > 0


def test_workers_share_the_elements_of_few_results() -> None:
    many = reduction_cycles(1, 12_000, "f32", "f32", True, IPU2)
    assert many < 2 * 6 * continuous_cycles(1, 2000, "f32", IPU2)


def test_pooling() -> None:
    assert pool_cycles("max", 12, 8, 9, "f16", IPU2) == 6 * (30 + 2 * (20 + 2 * (7 + 27)))
    assert pool_cycles("sum", 12, 8, 9, "f16", IPU2) == 6 * (30 + 2 * (20 + 2 * (5 + 27)))


def test_moves() -> None:
    assert [int(fill_worker_cycles(n, "f16")) for n in (1, 2, 8)] == [15, 21, 28]
    assert [int(fill_worker_cycles(n, "f32")) for n in (4, 5)] == [25, 26]
    assert [int(fill_worker_cycles(n, "i8")) for n in (40, 80)] == [38, 49]
    assert dynamic_slice_cycles(2, 120, "f32", IPU2) == 25 + 6 * (39 + (24 + 20) * 2)
    assert multi_slice_cycles(12, 8, "f16", IPU2) == 6 * (30 + 2 * (19 + 4))
    assert multi_slice_cycles(1, 4800, "f16", IPU2) == 6 * (30 + 19 + 400)
    assert multi_update_add_cycles(3, 60, "f32", IPU2, elsewhere=2) == 6 * (32 + 3 * (11 + 27) + 10)
    assert sort_cycles(1, 1, IPU2) < sort_cycles(1, 1024, IPU2) == 11 + 6 * (26 + 171 * 100 + 3 * 100)


@pytest.mark.parametrize(
    "formula",
    [
        lambda n: amp_1x1_cycles(2, n, 24, 40, "f16", IPU2),
        lambda n: amp_1x1_cycles(2, n, 24, 40, "f32", IPU2),
        lambda n: amp_1x1_cycles(1, 8, n, n, "f16", IPU1),
        lambda n: amp_nx1_cycles(1, n, 7, 16, 16, 9, "f32", IPU2),
        lambda n: horizontal_mac_cycles(1, n, 7, n, 3, 2, "f16", IPU2),
        lambda n: vertical_mac_cycles(n, n, 3, IPU2),
        lambda n: slic_cycles(1, n, 7, n, 4, 9, 3, IPU2),
        lambda n: sum_of_rows_cycles(n, 5, "f16", "f32", IPU2),
        lambda n: elementwise_cycles([unary("exp", "f16"), binary("div", "f16")], n, IPU2),
        lambda n: broadcast_vector_cycles(binary("add", "f32"), n, 5, IPU2),
        lambda n: cast_cycles("f32", "f16", n, IPU2),
        lambda n: reduction_cycles(n, 40, "f16", "f32", True, IPU2),
        lambda n: reduction_cycles(3, n, "f32", "f32", False, IPU2, strides=2),
        lambda n: pool_cycles("max", n, 9, 4, "f16", IPU2),
        lambda n: multi_slice_cycles(n, 9, "f32", IPU2),
        lambda n: multi_update_add_cycles(n, 9, "f16", IPU2),
        lambda n: fill_worker_cycles(n, "i8"),
        lambda n: sort_cycles(3, n, IPU2),
    ],
)
def test_arrays_of_sizes_give_what_each_size_gives(formula) -> None:
    sizes = np.arange(1, 200)
    cycles = formula(sizes)
    assert cycles.dtype == np.int64
    assert cycles.tolist() == [int(formula(int(n))) for n in sizes]
    assert (cycles > 0).all() and cycles[-1] > cycles[0]
