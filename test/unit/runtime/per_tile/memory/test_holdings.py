"""The enumeration of mappings and parts, against sets written down by hand."""

import pytest

from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.holdings import held_elements, vertex_boxes


def _held(mapping: Mapping) -> dict[int, list[int]]:
    return {tile: elements.tolist() for tile, elements in held_elements(mapping).items()}


def test_last_block_of_a_ragged_loop_is_smaller() -> None:
    assert _held(Mapping(5, (MappingLoop(2, 5, 1, 1),), first_tile=3)) == {3: [0, 1], 4: [2, 3], 5: [4]}


def test_blocks_of_two_dimensions_lie_on_a_grid_of_tiles() -> None:
    mapping = Mapping(6, (MappingLoop(1, 2, 3, 2), MappingLoop(2, 3, 1, 1)))
    assert _held(mapping) == {0: [0, 1], 1: [2], 2: [3, 4], 3: [5]}


def test_stride_zero_repeats_the_elements_on_every_tile() -> None:
    assert _held(Mapping(2, (MappingLoop(2, 2, 1, 0), MappingLoop(1, 3, 0, 1)))) == {0: [0, 1], 1: [0, 1], 2: [0, 1]}


def test_two_loops_over_one_dimension_are_a_halo_held_once() -> None:
    assert _held(Mapping(6, (MappingLoop(2, 4, 1, 1), MappingLoop(3, 3, 1, 0)))) == {0: [0, 1, 2, 3], 1: [2, 3, 4, 5]}


def test_offset_shifts_the_elements() -> None:
    assert _held(Mapping(8, (MappingLoop(1, 2, 4, 1),), offset=3)) == {0: [3], 1: [7]}


def test_no_loops_put_one_element_on_one_tile() -> None:
    assert _held(Mapping(1, (), first_tile=2)) == {2: [0]}


def test_a_negative_tile_step_counts_tiles_down() -> None:
    assert _held(Mapping(2, (MappingLoop(1, 2, 1, -1),), first_tile=1)) == {1: [0], 0: [1]}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (Mapping(4, (MappingLoop(4, 5, 1, 1),)), "elements 4 to 4 on tile 1"),
        (Mapping(4, (MappingLoop(2, 4, 1, 0),)), "two parts on tile 0"),
        (Mapping(4, (MappingLoop(2, 4, 1, -1),)), "lies on tile -1"),
    ],
)
def test_a_mapping_that_no_machine_has_is_refused(mapping: Mapping, message: str) -> None:
    with pytest.raises(RunError, match=message):
        held_elements(mapping)


def test_vertices_have_boxes_of_global_indices() -> None:
    parts = Parts((PartLoop(2, 3, 1), PartLoop(4, 4, 0)), first_tile=1)
    assert list(vertex_boxes(parts)) == [(1, (range(2), range(4))), (2, (range(2, 3), range(4)))]


def test_two_vertices_on_a_tile_are_refused() -> None:
    with pytest.raises(RunError, match="two vertices on tile 0"):
        list(vertex_boxes(Parts((PartLoop(2, 4, 0),))))
