"""What moves between IPUs, against a look at every element."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects.mapping import ipu_traffic as module
from ipu_mlir.dialects.mapping.build import blocks, by_rows, linear, one_tile
from ipu_mlir.dialects.mapping.ipu_traffic import crossing_traffic, ipu_traffic
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.mapping.views import View

IPUS, TILES = 3, 4
SHAPE = (12, 8)


def everywhere(elements: int, num_tiles: int) -> Mapping:
    return Mapping(elements, (MappingLoop(elements, elements, 1, 0), MappingLoop(1, num_tiles, 0, 1))).normalized()


HOMES = {
    "one tile": one_tile(96, tile=6),
    "linear": linear(96, 12),
    "rows": by_rows(SHAPE, 6),
    "blocks": blocks(SHAPE, (4, 2)),
    "columns": Mapping(96, (MappingLoop(4, 12, 8, 1), MappingLoop(2, 8, 1, 3))),
    "everywhere": everywhere(96, 12),
    "on the first": everywhere(96, 4),
    "rows for columns": Parts((PartLoop(4, 12, 4), PartLoop(2, 8, 1), PartLoop(8, 8, 0))).image((8, 0, 1), 0, 96),
    "halo": Parts((PartLoop(1, 10, 1), PartLoop(3, 3, 0), PartLoop(8, 8, 0))).image((8, 8, 1), 0, 96),
}


def received(source: Mapping, dest: Mapping) -> list[int]:
    view = View.whole(SHAPE)
    return ipu_traffic(source, view, dest, view, IPUS, TILES).received.tolist()


def sent(source: Mapping, dest: Mapping) -> list[int]:
    view = View.whole(SHAPE)
    return ipu_traffic(source, view, dest, view, IPUS, TILES).sent.tolist()


def expected(source: Mapping, dest: Mapping) -> list[int]:
    def on(mapping: Mapping, ipu: int) -> set[int]:
        return {int(x) for tile in range(TILES * ipu, TILES * (ipu + 1)) for x in mapping.elements_on(tile)}

    return [len(on(dest, ipu) - on(source, ipu)) for ipu in range(IPUS)]


@pytest.mark.parametrize("source", HOMES)
@pytest.mark.parametrize("dest", HOMES)
def test_an_ipu_gets_what_it_needs_and_does_not_hold(source: str, dest: str) -> None:
    assert received(HOMES[source], HOMES[dest]) == expected(HOMES[source], HOMES[dest])


@pytest.mark.parametrize("source", HOMES)
@pytest.mark.parametrize("dest", ["linear", "columns", "everywhere"])
@pytest.mark.parametrize("at", [1, 2])
def test_what_passes_between_two_ipus_counts_once(source: str, dest: str, at: int) -> None:
    def on(mapping: Mapping, tiles: range) -> set[int]:
        return {int(x) for tile in tiles for x in mapping.elements_on(tile)}

    below, above = range(TILES * at), range(TILES * at, TILES * IPUS)
    have, need = HOMES[source], HOMES[dest]
    up, down = (
        len(on(need, there) & on(have, here) - on(have, there)) for here, there in ((below, above), (above, below))
    )
    view = View.whole(SHAPE)
    assert crossing_traffic(have, view, need, view, IPUS, TILES, at) == (up, down)


def test_what_many_tiles_need_comes_once() -> None:
    assert received(HOMES["one tile"], HOMES["everywhere"]) == [96, 0, 96]
    assert sent(HOMES["one tile"], HOMES["everywhere"]) == [0, 192, 0]


def test_what_all_need_leaves_the_ipu_that_has_it() -> None:
    assert sent(HOMES["linear"], HOMES["everywhere"]) == [64, 64, 64]
    assert sent(HOMES["linear"], HOMES["one tile"]) == [32, 0, 32]


def test_who_sends_what_several_have_is_shared_out() -> None:
    first_two = Mapping(96, (MappingLoop(96, 96, 1, 0), MappingLoop(1, 2, 0, TILES)))
    assert received(first_two, HOMES["everywhere"]) == [0, 0, 96]
    assert sent(first_two, HOMES["everywhere"]) == [48, 48, 0]


def test_a_view_counts_what_it_shows() -> None:
    row = View(offset=0, shape=(8,), strides=(1,))
    dest = everywhere(8, 12)
    moved = ipu_traffic(HOMES["rows"], row, dest, View.whole((8,)), IPUS, TILES)
    assert (moved.received.tolist(), moved.sent.tolist()) == ([0, 8, 8], [16, 0, 0])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_the_closed_form_is_that_of_every_element(data: st.DataObject) -> None:
    def side(halo: int) -> Mapping:
        """Blocks; with a halo of so many elements, that neighbours have of each other."""
        rows, columns = data.draw(st.integers(1, 12 - halo)), data.draw(st.integers(1, 8 - halo))
        swapped = data.draw(st.booleans())
        grid = -(-(12 - halo) // rows), -(-(8 - halo) // columns)
        steps = (1, grid[0]) if swapped else (grid[1], 1)
        own = MappingLoop(rows, 12 - halo, 8, steps[0]), MappingLoop(columns, 8 - halo, 1, steps[1])
        around = [MappingLoop(halo + 1, halo + 1, stride, 0) for stride in (8, 1)] if halo else []
        return Mapping(96, (*own, *around))

    source, dest = side(halo=0), side(halo=data.draw(st.integers(0, 2)))
    view = View.whole(SHAPE)
    ipus = 96 // TILES
    by_element = module._by_element(source, view, dest, view, ipus, TILES)
    found = module._without_elements(source, view, dest, view, ipus, TILES)
    assert found is not None
    np.testing.assert_array_equal(found.received, by_element.received)
    np.testing.assert_array_equal(found.sent, by_element.sent)
    assert found.received.sum() == found.sent.sum()
