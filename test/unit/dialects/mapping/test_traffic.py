"""Traffic of exchanges as they occur in programs, and views of mappings."""

import numpy as np
import pytest

from ipu_mlir.dialects.mapping import enumeration, traffic
from ipu_mlir.dialects.mapping.build import blocks, by_rows, linear, one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.mapping.traffic import Traffic, exchange_traffic
from ipu_mlir.dialects.mapping.views import View, seen_through
from ipu_mlir.dialects.support.errors import TargetError


def everywhere(elements: int, num_tiles: int) -> Mapping:
    return Mapping(elements, (MappingLoop(elements, elements, 1, 0), MappingLoop(1, num_tiles, 0, 1))).normalized()


def move(source: Mapping, dest: Mapping, num_tiles: int, shape: tuple[int, ...] | None = None) -> Traffic:
    view = View.whole(shape or (dest.elements,))
    return exchange_traffic(source, view, dest, view, num_tiles)


def as_lists(moved: Traffic) -> tuple[list[int], list[int], list[int]]:
    return moved.received.tolist(), moved.sent.tolist(), moved.local.tolist()


def test_a_broadcast_is_sent_once() -> None:
    assert as_lists(move(one_tile(5, tile=1), everywhere(5, 3), 4)) == ([5, 0, 5, 0], [0, 5, 0, 0], [0, 5, 0, 0])


def test_the_same_mapping_moves_nothing() -> None:
    assert as_lists(move(everywhere(5, 3), everywhere(5, 3), 3)) == ([0] * 3, [0] * 3, [5] * 3)
    assert as_lists(move(linear(6, 3), linear(6, 3), 3)) == ([0] * 3, [0] * 3, [2] * 3)


def test_copies_that_are_there_already_are_not_sent() -> None:
    """Tiles 0 and 1 hold all, tile 2 gets all of it from tile 0; narrowing to one tile is free."""
    assert as_lists(move(everywhere(4, 2), everywhere(4, 3), 3)) == ([0, 0, 4], [4, 0, 0], [4, 4, 0])
    assert as_lists(move(everywhere(4, 2), one_tile(4, tile=1), 3)) == ([0] * 3, [0] * 3, [0, 4, 0])


def test_rows_to_columns() -> None:
    rows, columns = by_rows((4, 4), 2), blocks((4, 4), (4, 2))
    assert as_lists(move(rows, columns, 2)) == ([4, 4], [4, 4], [4, 4])


def test_a_halo_sends_only_edges() -> None:
    window = Parts((PartLoop(2, 6, 1), PartLoop(3, 3, 0))).image((1, 1), 0, 8)
    home = Mapping(8, (MappingLoop(3, 8, 1, 1),))
    assert window.elements_per_tile()[1].tolist() == [4, 4, 4]
    assert as_lists(move(home, window, 3)) == ([1, 1, 2], [1, 3, 0], [3, 3, 2])


def test_a_halo_of_what_is_everywhere_is_free() -> None:
    window = Parts((PartLoop(2, 6, 1), PartLoop(3, 3, 0))).image((1, 1), 0, 8)
    assert as_lists(move(everywhere(8, 3), window, 3)) == ([0] * 3, [0] * 3, [4] * 3)


def test_a_row_of_an_allocation_goes_to_all() -> None:
    source, row = by_rows((4, 6), 2), View(offset=12, shape=(6,), strides=(1,))
    moved = exchange_traffic(source, row, everywhere(6, 3), View.whole((6,)), 3)
    assert as_lists(moved) == ([6, 0, 6], [0, 6, 0], [0, 6, 0])


def test_writing_into_a_slice_touches_only_the_slice() -> None:
    columns = View(offset=2, shape=(4, 3), strides=(6, 1))
    moved = exchange_traffic(one_tile(12), View.whole((4, 3)), by_rows((4, 6), 2), columns, 2)
    assert as_lists(moved) == ([0, 6], [6, 0], [6, 0])


def test_what_nobody_holds_is_not_sent() -> None:
    nothing = Mapping(6, (MappingLoop(1, 0, 0, 0),))
    assert as_lists(move(nothing, linear(6, 2), 2)) == ([3, 3], [0, 0], [0, 0])
    assert as_lists(move(linear(6, 2), nothing, 2)) == ([0, 0], [0, 0], [0, 0])
    assert as_lists(move(linear(0, 2), linear(0, 2), 2)) == ([0, 0], [0, 0], [0, 0])


def test_a_tile_out_of_range_is_named() -> None:
    with pytest.raises(TargetError, match="tile 3, but there are 2 tiles"):
        move(one_tile(4, tile=3), linear(4, 2), 2)


def test_answers_cannot_be_changed() -> None:
    with pytest.raises(ValueError):
        move(linear(6, 3), one_tile(6), 3).received[0] = 1
    with pytest.raises(ValueError):
        linear(6, 3).elements_per_tile()[1][0] = 7


WHOLE, TURNED, BLOCKED = View.whole((64, 48)), View(0, (64, 48), (1, 64)), blocks((64, 48), (8, 6))
COLUMNS, NARROW = View(12, (64, 12), (48, 1)), View.whole((64, 12))

COMMON_EXCHANGES = {
    "linear to blocks": (linear(64 * 48, 60), WHOLE, BLOCKED, WHOLE),
    "transposed blocks": (blocks((48, 64), (6, 8)), TURNED, BLOCKED, WHOLE),
    "transposed grains": (linear(64 * 48, 60), TURNED, BLOCKED, WHOLE),
    "columns of blocks": (BLOCKED, COLUMNS, linear(64 * 12, 60), NARROW),
    "columns of one tile": (one_tile(64 * 48), COLUMNS, linear(64 * 12, 60), NARROW),
    "rows into blocks": (linear(8 * 48, 60), View.whole((8, 48)), BLOCKED, View(16 * 48, (8, 48), (48, 1))),
    "every other row": (BLOCKED, View(0, (32, 48), (96, 1)), linear(32 * 48, 60), View.whole((32, 48))),
}


@pytest.mark.parametrize("case", COMMON_EXCHANGES)
def test_common_exchanges_have_a_closed_form(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, source_view, dest, dest_view = COMMON_EXCHANGES[case]
    families = family_with_distinct_tiles(source), family_with_distinct_tiles(dest)
    monkeypatch.setattr(enumeration, "CHUNK_ELEMENTS", 100)
    counted = traffic.traffic_by_element(families[0], source_view, families[1], dest_view, 64)
    monkeypatch.delattr(traffic, "traffic_by_element")
    exchange_traffic.cache_clear()
    moved = exchange_traffic(source, source_view, dest, dest_view, 64)
    assert as_lists(moved) == tuple(per_tile.tolist() for per_tile in counted)
    assert moved.received.sum() + moved.local.sum() == source_view.size


def test_view_elements() -> None:
    assert View.whole((2, 3)).elements().tolist() == list(range(6))
    assert View(1, (2, 2), (1, 4)).elements().tolist() == [1, 5, 2, 6]
    assert View(7, (), ()).elements().tolist() == [7]


@pytest.mark.parametrize(
    ("mapping", "view", "sizes"),
    [
        (blocks((4, 6), (2, 3)), View(0, (6, 4), (1, 6)), [6, 6, 6, 6]),
        (blocks((4, 6), (2, 3)), View(2, (4, 2), (6, 1)), [2, 2, 2, 2]),
        (blocks((4, 6), (2, 3)), View(0, (2, 6), (12, 1)), [3, 3, 3, 3]),
        (blocks((4, 6), (2, 3)), View(6, (1, 1), (6, 1)), [1, 0, 0, 0]),
        (by_rows((4, 6), 2), View(20, (2,), (1,)), [0, 2]),
        (one_tile(24), View(7, (2, 2), (6, 1)), [4]),
        (Mapping(24, (MappingLoop(2, 2, 6, 0), MappingLoop(3, 6, 1, 1)), 6), View(3, (18,), (1,)), [6, 6]),
    ],
)
def test_what_is_seen_through_a_view(mapping: Mapping, view: View, sizes: list[int]) -> None:
    seen = seen_through(family_with_distinct_tiles(mapping), view)
    assert seen is not None
    order = np.argsort(seen.tiles)
    assert seen.sizes[order].tolist() == sizes


def test_grains_that_wrap_around_are_no_product_of_digits() -> None:
    assert seen_through(family_with_distinct_tiles(linear(24, 5)), View(2, (4, 2), (6, 1))) is None
