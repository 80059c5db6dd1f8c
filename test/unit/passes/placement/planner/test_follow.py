"""Parts that run where an operand lies."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ipu_mlir.dialects.mapping.build import blocks, linear, one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.passes.placement.planner.follow import parts_that_follow


def row_major(shape):
    strides, size = [], 1
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides), size


@pytest.mark.parametrize(
    ("mapping", "shape", "loops"),
    [
        (linear(8, num_tiles=4), (8,), [(2, 8, 1)]),
        (linear(8, num_tiles=3), (8,), [(3, 8, 1)]),
        (linear(24, num_tiles=3), (6, 4), [(2, 6, 1), (4, 4, 0)]),
        (linear(24, num_tiles=12), (6, 4), [(1, 6, 2), (2, 4, 1)]),
        (linear(24, num_tiles=24), (6, 4), [(1, 6, 4), (1, 4, 1)]),
        (blocks((4, 6), (2, 3)), (4, 6), [(2, 4, 2), (3, 6, 1)]),
        (one_tile(24), (6, 4), [(6, 6, 0), (4, 4, 0)]),
        (linear(24, num_tiles=2), (2, 3, 4), [(1, 2, 1), (3, 3, 0), (4, 4, 0)]),
        (one_tile(1), (), []),
    ],
)
def test_cuts_of_a_mapping_become_cuts_of_loops(mapping, shape, loops):
    strides, _ = row_major(shape)
    parts = parts_that_follow(mapping, shape, strides, range(len(shape)))
    assert parts == Parts(tuple(PartLoop(*loop) for loop in loops))


def test_first_tile_is_kept():
    assert parts_that_follow(linear(8, 4, first_tile=5), (8,), (1,), (0,)).first_tile == 5


def test_loops_in_another_order():
    parts = parts_that_follow(blocks((4, 6), (2, 3)), (6, 4), (1, 6), (0, 1))
    assert parts.loops == (PartLoop(3, 6, 1), PartLoop(2, 4, 2))


def test_loop_that_does_not_touch_the_operand_stays_whole():
    assert parts_that_follow(linear(8, 4), (5, 8), (0, 1), (0, 1)).loops == (PartLoop(5, 5, 0), PartLoop(2, 8, 1))


@pytest.mark.parametrize(
    ("mapping", "shape", "cuttable"),
    [
        (linear(24, num_tiles=5), (6, 4), (0, 1)),  # five elements are no cut of rows of four
        (linear(24, num_tiles=3), (6, 4), (1,)),  # rows may not be cut
        (Mapping(4, (MappingLoop(1, 2, 0, 1), MappingLoop(4, 4, 1, 0))), (4,), (0,)),  # every element lies twice
        (Mapping(8, (MappingLoop(1, 4, 2, 1), MappingLoop(2, 2, 1, 0))), (4,), (0,)),  # no loop has these steps
    ],
)
def test_nothing_where_the_cuts_do_not_fit(mapping, shape, cuttable):
    strides, _ = row_major(shape)
    assert parts_that_follow(mapping, shape, strides, cuttable) is None


@given(st.data())
def test_parts_find_their_elements_where_the_mapping_puts_them(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    strides, elements = row_major(shape)
    if data.draw(st.booleans()):
        mapping = linear(elements, data.draw(st.integers(1, 12)), first_tile=data.draw(st.integers(0, 2)))
    else:
        mapping = blocks(shape, tuple(data.draw(st.integers(1, extent)) for extent in shape))
    order = data.draw(st.permutations(range(len(shape))))
    extents, steps = tuple(shape[d] for d in order), tuple(strides[d] for d in order)
    parts = parts_that_follow(mapping, extents, steps, range(len(extents)))
    assume(parts is not None)
    assert parts.covers(extents)
    assert parts.tiles_are_distinct()
    needed = parts.image(steps, 0, elements)
    assert mapping.contains(needed)
    assert needed.contains(mapping)
