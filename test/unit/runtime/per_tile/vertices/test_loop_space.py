"""Loop spaces: their axes, and how they are cut without changing the order of a reduction."""

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.runtime.per_tile.vertices.loop_space import LoopSpace, pieces

BOXES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), min_size=1, max_size=4)


def _space(loops: list[tuple[int, int, bool]]) -> LoopSpace:
    return LoopSpace(tuple(range(start, start + size) for start, size, _ in loops), tuple(x[2] for x in loops))


def test_reduction_loops_have_the_first_axes() -> None:
    space = LoopSpace((range(2), range(3), range(4)), (False, True, False))
    assert space.shape == (3, 2, 4)
    assert (space.reduction_shape, space.parallel_shape) == ((3,), (2, 4))
    assert [loop.shape for loop in space.loops()] == [(1, 2, 1), (3, 1, 1), (1, 1, 4)]


def test_a_step_takes_what_moves_and_repeats_what_does_not() -> None:
    space = LoopSpace((range(5, 8), range(2)), (True, False))
    assert [space.at_step(space.loops()[0], step).tolist() for step in space.steps()] == [[5], [6], [7]]
    assert space.at_step(space.loops()[1], (2,)).tolist() == [0, 1]


def _reduction_order(space: LoopSpace) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(parallel, reduction) indices in the order in which they run."""
    loops = np.broadcast_arrays(*space.loops())
    reduces = [axis for axis, reduction in enumerate(space.is_reduction) if reduction]
    parallel = [axis for axis, reduction in enumerate(space.is_reduction) if not reduction]
    found = []
    for place in np.ndindex(space.shape):
        values = [int(loop[place]) for loop in loops]
        found.append((tuple(values[axis] for axis in parallel), tuple(values[axis] for axis in reduces)))
    return found


@given(BOXES, st.integers(1, 6))
def test_pieces_are_small_and_keep_the_order_of_every_reduction(loops: list[tuple[int, int, bool]], most: int) -> None:
    space = _space(loops)
    cut = list(pieces(space, lambda piece: prod(piece.shape) > most, lambda piece: False))
    assert all(prod(piece.shape) <= most for piece in cut)
    by_result: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for piece in cut:
        for result, step in _reduction_order(piece):
            by_result.setdefault(result, []).append(step)
    expected: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for result, step in _reduction_order(space):
        expected.setdefault(result, []).append(step)
    assert by_result == expected


@given(BOXES)
def test_only_reductions_are_cut_where_an_output_moves(loops: list[tuple[int, int, bool]]) -> None:
    space = _space(loops)
    cut = list(pieces(space, lambda piece: False, lambda piece: True))
    assert all(prod(piece.reduction_shape) == 1 for piece in cut)
    assert all(piece.parallel_shape == space.parallel_shape for piece in cut)
    assert len(cut) == prod(space.reduction_shape)
