"""Grids that a planner compares: within the tiles, of whole grains, and enough of them."""

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.passes.placement.planner.grids import coarse_grids, grids_near, parts_of_grid


@st.composite
def spaces(draw):
    extents = tuple(draw(st.lists(st.integers(1, 200), min_size=1, max_size=4)))
    cuttable = tuple(loop for loop in range(len(extents)) if draw(st.booleans()))
    grains = tuple(draw(st.sampled_from((1, 2, 4))) for _ in extents)
    multiples = tuple(draw(st.sampled_from((1, 8, 16))) for _ in extents)
    return extents, cuttable, grains, multiples, draw(st.integers(1, 300))


def assert_good(grids, extents, cuttable, grains, tiles):
    for grid in grids.tolist():
        assert prod(-(-e // b) for e, b in zip(extents, grid, strict=True)) <= tiles
        for loop, block in enumerate(grid):
            assert block == extents[loop] or (loop in cuttable and block % grains[loop] == 0 and block < extents[loop])


@given(spaces())
def test_grids_are_within_the_tiles_and_of_whole_grains(space):
    extents, cuttable, grains, multiples, tiles = space
    grids = coarse_grids(extents, cuttable, grains, multiples, tiles)
    assert list(extents) in grids.tolist()
    assert_good(grids, extents, cuttable, grains, tiles)
    near = grids_near(grids[:4], extents, cuttable, grains, multiples, tiles)
    assert_good(near, extents, cuttable, grains, tiles)
    assert {tuple(grid) for grid in grids[:4].tolist()} <= {tuple(grid) for grid in near.tolist()}
    assert near.tolist() == np.unique(near, axis=0).tolist()


def test_every_power_of_two_is_near_a_coarse_grid():
    grids = coarse_grids((1024, 1024), (0, 1), (1, 1), (1, 1), 1024)
    counts = -(-1024 // grids)
    for wanted in [(2**a, 2**b) for a in range(11) for b in range(11 - a)]:
        assert (np.abs(np.log2(counts / np.array(wanted))).max(axis=1) < 0.2).any(), wanted


def test_blocks_that_are_multiples_are_offered():
    assert 48 in coarse_grids((100,), (0,), (1,), (16,), 3)[:, 0]


def test_parts_are_numbered_row_by_row():
    parts = parts_of_grid((4, 6, 2), (8, 6, 6))
    assert [loop.tile_step for loop in parts.loops] == [3, 0, 1]
    assert sorted(parts.tiles().tolist()) == list(range(6))
