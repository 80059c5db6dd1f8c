"""The balanced planner, held to a search through all grids."""

from itertools import product
from math import prod

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import linear, one_tile
from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.passes.placement.planner.balanced import Balanced, best_grid, cost
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation


def use(dimensions, extents, home=None, element_bytes=4):
    """An operand that has those loops as its dimensions, row-major."""
    shape = tuple(extents[d] for d in dimensions)
    strides = tuple(prod(shape[d + 1 :]) for d in range(len(shape)))
    indices = tuple(Index(tuple(int(loop == d) for loop in range(len(extents)))) for d in dimensions)
    return OperandUse(indices, shape, strides, 0, prod(shape), element_bytes, home)


def elementwise(extents, homes=(None,), element_bytes=4):
    loops = range(len(extents))
    inputs = tuple(use(loops, extents, home, element_bytes) for home in homes)
    outputs = (use(loops, extents, None, element_bytes),)
    return Operation("linalg.generic", "binary_f32", tuple(extents), (True,) * len(extents), inputs, outputs)


def matmul(m, n, k):
    extents = (m, n, k)
    inputs = (use((0, 2), extents), use((2, 1), extents))
    return Operation("linalg.matmul", "matmul_f32", extents, (True, True, False), inputs, (use((0, 1), extents),))


@pytest.mark.parametrize(
    ("operation", "tiles", "loops"),
    [
        (elementwise((8,)), 4, [(2, 8, 1)]),
        (elementwise((8,)), 100, [(2, 8, 1)]),  # two f32 are a word
        (elementwise((8,), element_bytes=8), 100, [(1, 8, 1)]),
        (elementwise((8,), element_bytes=1), 100, [(8, 8, 0)]),
        (elementwise((4, 6)), 4, [(1, 4, 1), (6, 6, 0)]),
        (elementwise(()), 4, []),
        (elementwise((1, 1)), 4, [(1, 1, 0), (1, 1, 0)]),
        (matmul(4, 4, 3), 4, [(2, 4, 2), (2, 4, 1), (3, 3, 0)]),
        (matmul(4, 4, 3), 1, [(4, 4, 0), (4, 4, 0), (3, 3, 0)]),
    ],
)
def test_parts_of_small_operations(operation, tiles, loops):
    assert Balanced()(operation, Target(tiles_per_ipu=tiles)) == Parts(tuple(PartLoop(*loop) for loop in loops))


def test_reduction_loop_is_never_cut():
    parts = Balanced()(matmul(2, 2, 10_000), Target(tiles_per_ipu=1472))
    assert parts.loops[2] == PartLoop(10_000, 10_000, 0)


def test_operation_runs_where_its_operand_lies():
    home = linear(8, num_tiles=2, first_tile=1)
    assert Balanced()(elementwise((8,), (home,)), Target(tiles_per_ipu=4)).first_tile == 1


def test_element_wise_op_stays_where_its_largest_operand_lies():
    parts = Balanced()(elementwise((4096,), (one_tile(4096, tile=5),)), Target(tiles_per_ipu=64))
    assert parts == Parts((PartLoop(4096, 4096, 0),), 5)


def test_product_spreads_over_the_tiles_although_its_operands_lie_on_one():
    extents = (32, 32, 8)
    inputs = (use((0, 2), extents, one_tile(256)), use((2, 1), extents, one_tile(256)))
    operation = Operation("linalg.matmul", "matmul_f32", extents, (True, True, False), inputs, (use((0, 1), extents),))
    assert Balanced()(operation, Target(tiles_per_ipu=16)).num_parts == 16


def test_scalar_operand_draws_nothing_to_its_tile():
    operation = elementwise((8,))
    scalar = OperandUse((), (), (), 0, 1, 4, one_tile(1, tile=3))
    operation = Operation("linalg.generic", "binary_f32", (8,), (True,), (*operation.inputs, scalar), operation.outputs)
    assert Balanced()(operation, Target(tiles_per_ipu=4)).num_parts == 4


def test_cost_counts_iterations_and_twice_what_moves():
    parts = Parts((PartLoop(2, 8, 1),))
    there, elsewhere = linear(8, num_tiles=4), linear(8, num_tiles=4, first_tile=9)
    assert cost(elementwise((8,), (there,)), parts) == 2
    assert cost(elementwise((8,), (elsewhere,)), parts) == 2 + 2 * 2
    assert cost(elementwise((8,), (there, elsewhere)), parts) == 2 + 2 * 2


def test_cuttable_loops_are_parallel_and_index_every_result():
    extents = (4, 5, 6)
    first, second = use((0, 1), extents), use((0,), extents)
    operation = Operation("linalg.generic", "map_f32", extents, (True, True, False), (), (first, second))
    assert operation.cuttable == (0,)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=2), st.integers(1, 9), st.sampled_from((1, 2)))
def test_largest_part_is_as_small_as_any_grid_allows(extents, tiles, grain):
    loops = tuple(range(len(extents)))
    grains = (1,) * (len(extents) - 1) + (grain,)
    parts = best_grid(tuple(extents), loops, (), grains, tiles)
    sizes = [[b for b in range(1, n + 1) if b == n or b % g == 0] for n, g in zip(extents, grains, strict=True)]
    grids = [g for g in product(*sizes) if prod(-(-n // b) for n, b in zip(extents, g, strict=True)) <= tiles]
    assert prod(loop.block for loop in parts.loops) == min(prod(grid) for grid in grids)


@settings(max_examples=100)
@given(
    st.lists(st.integers(1, 40), max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.integers(1, 64),
    st.integers(1, 16),
)
def test_parts_are_always_valid(extents, parallel, tiles, grain_bytes):
    parallel = tuple(parallel[: len(extents)])
    outputs = (use([loop for loop, kind in enumerate(parallel) if kind], extents),)
    inputs = (use(range(len(extents)), extents),)
    operation = Operation("linalg.generic", "map_f32", tuple(extents), parallel, inputs, outputs)
    parts = Balanced(grain_bytes)(operation, Target(tiles_per_ipu=tiles))
    assert broken_part_rule(parts, extents, parallel) is None
    assert parts.min_tile >= 0
    assert parts.max_tile < tiles
    assert outputs[0].needed(parts).is_home()


@st.composite
def reading_spaces(draw):
    """Loops of sizes as networks have them, of which inputs read some."""
    sizes = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 64, 256, 512, 1000))
    extents = tuple(draw(st.lists(sizes, min_size=1, max_size=6)))
    loops = st.sampled_from(range(len(extents)))
    cuttable = tuple(sorted(draw(st.sets(loops))))
    reads = tuple(tuple(sorted(each)) for each in draw(st.lists(st.sets(loops), max_size=3)))
    grains = tuple(draw(st.sampled_from((1, 1, 2, 4))) for _ in extents)
    return extents, cuttable, reads, grains, draw(st.sampled_from((1, 2, 3, 4, 7, 16, 64, 1216, 1472, 2944)))


@given(reading_spaces())
@example(((4, 512, 256, 3, 3), (1, 2, 3, 4), ((0, 1, 2, 3, 4),), (1,) * 5, 1472))
@settings(max_examples=150)
def test_there_is_a_grid_of_whole_grains_within_the_tiles(space):
    extents, cuttable, reads, grains, tiles = space
    loops = best_grid(*space).loops
    counts = [-(-loop.extent // loop.block) for loop in loops]
    assert tuple(loop.extent for loop in loops) == extents and prod(counts) <= tiles
    divisible = [loop for loop in cuttable if extents[loop] > grains[loop]]
    for number, (loop, count) in enumerate(zip(loops, counts, strict=True)):
        assert count == 1 or (number in divisible and loop.block % grains[number] == 0)
        assert count > 1 or number not in divisible or not reads or 2 ** len(divisible) > tiles
