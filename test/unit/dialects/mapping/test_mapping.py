"""Mappings as they occur in programs: what is one form, what is a home, and what contains what."""

import numpy as np
import pytest

from ipu_mlir.dialects.mapping import enumeration
from ipu_mlir.dialects.mapping.build import blocks, by_rows, linear, one_tile
from ipu_mlir.dialects.mapping.factors import family_of
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.overlap import count_on_same_tiles
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.errors import CompileError

ALL_TILES = 64 * 1472


def mapping(elements: int, *loops: tuple[int, int, int, int], offset: int = 0, first_tile: int = 0) -> Mapping:
    return Mapping(elements, tuple(MappingLoop(*loop) for loop in loops), offset, first_tile)


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        (mapping(12, (12, 12, 1, 7)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (20, 12, 1, 7)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (1, 1, 99, 7), (12, 12, 1, 0)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (12, 12, 1, 0), (2, 7, 0, 3)), mapping(12, (12, 12, 1, 0), (1, 4, 0, 3))),
        (mapping(12, (12, 12, 1, 0), (7, 7, 0, 3)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (12, 12, 1, 0), (1, 4, 0, -1), first_tile=3), mapping(12, (12, 12, 1, 0), (1, 4, 0, 1))),
        (mapping(12, (2, 3, 4, 1), (4, 4, 1, 0)), mapping(12, (8, 12, 1, 1))),
        (mapping(12, (1, 3, 4, 2), (2, 4, 1, 1)), mapping(12, (2, 12, 1, 1))),
        (mapping(12, (1, 3, 4, 1), (2, 4, 1, 3)), mapping(12, (1, 3, 4, 1), (2, 4, 1, 3))),
        (mapping(12, (4, 4, 1, 0), (3, 3, 4, 0)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (1, 12, 1, 6), (1, 2, 0, 3), (1, 3, 0, 1)), mapping(12, (1, 12, 1, 6), (1, 6, 0, 1))),
        (mapping(12, (12, 12, -1, 0), offset=11), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (6, 12, -1, 1), offset=11), mapping(12, (6, 12, 1, -1), first_tile=1)),
        (mapping(12, (10, 10, 1, 0), (3, 3, 1, 0)), mapping(12, (12, 12, 1, 0))),
        (mapping(12, (3, 0, 1, 1), (4, 4, 1, 0), offset=5, first_tile=2), mapping(12, (1, 0, 0, 0))),
    ],
)
def test_normal_form(given: Mapping, normal: Mapping) -> None:
    assert given.normalized() == normal


@pytest.mark.parametrize(
    ("built", "tiles", "counts"),
    [
        (one_tile(12, tile=5), [5], [12]),
        (linear(12, num_tiles=5), [0, 1, 2, 3], [3, 3, 3, 3]),
        (linear(12, num_tiles=4, grain=2, first_tile=8), [8, 9, 10], [4, 4, 4]),
        (linear(3, num_tiles=8), [0, 1, 2], [1, 1, 1]),
        (by_rows((5, 4), num_tiles=3), [0, 1, 2], [8, 8, 4]),
        (by_rows((7,), num_tiles=2), [0, 1], [4, 3]),
        (by_rows((), num_tiles=2), [0], [1]),
        (blocks((4, 6), (2, 4)), [0, 1, 2, 3], [8, 4, 8, 4]),
        (blocks((4, 6), (2, 4), tile_steps=(1, 2)), [0, 1, 2, 3], [8, 8, 4, 4]),
        (blocks((), ()), [0], [1]),
    ],
)
def test_builders_give_homes(built: Mapping, tiles: list[int], counts: list[int]) -> None:
    assert built.is_home()
    assert [x.tolist() for x in built.elements_per_tile()] == [tiles, counts]


@pytest.mark.parametrize(
    "not_home",
    [
        mapping(12, (4, 11, 1, 1)),  # leaves element 11 out
        mapping(12, (4, 12, 1, 1), offset=1),  # past the end
        mapping(12, (12, 12, 1, 0), (1, 2, 0, 1)),  # twice
        mapping(12, (4, 10, 1, 1), (3, 3, 1, 0)),  # overlapping windows
        mapping(12, (4, 12, 1, 0)),  # three parts on one tile
    ],
)
def test_what_is_no_home(not_home: Mapping) -> None:
    assert not not_home.is_home()


def test_empty_allocation_has_an_empty_home() -> None:
    empty = linear(0, num_tiles=4)
    assert empty.is_home()
    assert empty.elements_per_tile()[0].tolist() == []
    assert one_tile(0).contains(empty) and empty.contains(empty)
    assert empty.tile_of(np.arange(2)).tolist() == [-1, -1]
    assert not empty.contains(one_tile(3))


def test_two_parts_on_one_tile_are_refused() -> None:
    with pytest.raises(CompileError, match="two parts on one tile"):
        mapping(12, (4, 12, 1, 0)).elements_per_tile()


def test_tiles_of_steps_that_do_not_chain() -> None:
    assert mapping(6, (1, 2, 3, 3), (1, 3, 1, 2)).tiles_are_distinct()
    assert not mapping(6, (1, 3, 2, 2), (1, 3, 1, 1)).tiles_are_distinct()


def test_is_well_formed() -> None:
    assert mapping(12, (4, 12, 1, 1)).is_well_formed()
    assert not mapping(12, (0, 12, 1, 1)).is_well_formed()
    assert not mapping(12, (4, -1, 1, 1)).is_well_formed()
    assert not mapping(-1).is_well_formed()


def test_matmul_operands_are_contained_in_what_holds_them() -> None:
    parts = Parts((PartLoop(8, 128, 22), PartLoop(12, 256, 1), PartLoop(784, 784, 0)))
    x = parts.image((784, 0, 1), offset=0, elements=128 * 784)
    w = parts.image((0, 1, 256), offset=0, elements=784 * 256)
    y = parts.image((256, 1, 0), offset=0, elements=128 * 256)
    assert parts.num_parts == x.num_parts == w.num_parts == y.num_parts == 16 * 22
    assert x == mapping(128 * 784, (8 * 784, 128 * 784, 1, 22), (1, 22, 0, 1))
    assert y.is_home() and y == blocks((128, 256), (8, 12))
    assert not x.is_disjoint() and x.covers()
    home = by_rows((128, 784), num_tiles=16)
    assert x.contains(x) and not home.contains(x)
    assert home.missing(x) == (1, 0)
    shifted = Mapping(w.elements, w.loops, w.offset, w.first_tile + 1)
    assert shifted.missing(w) == (0, 0)
    assert one_tile(784 * 256).overlap(w)[1].tolist() == [784 * 12] + [0] * 351


@pytest.mark.parametrize(
    ("move", "dilate", "kernel", "block", "boxes"),
    [
        (1, 1, 3, 4, [(0, ((6, 1),))]),
        (2, 1, 3, 4, [(0, ((9, 1),))]),
        (2, 1, 1, 4, [(0, ((4, 2),))]),
        (3, 1, 2, 2, [(0, ((2, 3), (2, 1)))]),
        (1, 2, 3, 1, [(0, ()), (2, ()), (4, ())]),
        (2, 3, 2, 3, [(0, ()), (2, ((4, 1),)), (7, ())]),
    ],
)
def test_windows_count_each_element_once(
    move: int, dilate: int, kernel: int, block: int, boxes: list[tuple[int, tuple[tuple[int, int], ...]]]
) -> None:
    window = Parts((PartLoop(block, 8, 1), PartLoop(kernel, kernel, 0))).image((move, dilate), 0, 40)
    assert window.boxes(0) == boxes
    expected = {move * i + dilate * k for i in range(block) for k in range(kernel)}
    assert window.elements_per_tile()[1][0] == len(expected)
    assert set(window.elements_on(0).tolist()) == expected


def test_tile_of_takes_any_shape() -> None:
    assert blocks((4, 6), (2, 3)).tile_of(np.array([[0, 3], [23, 24]])).tolist() == [[0, 1], [3, -1]]


def test_reshaped_blocks_compare_digit_by_digit() -> None:
    """Blocks of a (8, 64) and of a (16, 32) tensor have no common digits until rows are cut in halves."""
    wide, narrow = blocks((8, 64), (2, 32)), blocks((16, 32), (4, 16), tile_steps=(2, 1))
    expected = [len(set(wide.elements_on(t).tolist()) & set(narrow.elements_on(t).tolist())) for t in range(8)]
    assert wide.overlap(narrow)[1].tolist() == expected


def test_enumeration_in_chunks_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    a = family_of(mapping(60, (3, 10, 6, 1), (4, 6, 1, 4)).loops, 0, 0)
    b = family_of(mapping(60, (7, 20, 3, 1), (1, 2, 1, 3)).loops, 0, 0)
    a_parts, b_parts = np.arange(6), np.arange(6)
    together = enumeration.count_held(a, a_parts, b, b_parts)
    monkeypatch.setattr(enumeration, "CHUNK_ELEMENTS", 10)
    assert len(list(enumeration.chunks(b, b_parts))) > 1
    assert enumeration.count_held(a, a_parts, b, b_parts).tolist() == together.tolist()


def test_all_tiles_of_the_largest_system() -> None:
    """Rank arithmetic on as many parts as there are tiles agrees with blocks worked out by hand."""
    n = 4096
    parts = Parts((PartLoop(16, n, 342), PartLoop(12, n, 1), PartLoop(n, n, 0)))
    rows = parts.image((n, 0, 1), 0, n * n)
    home = linear(n * n, ALL_TILES)
    block = home.loops[0].block
    tiles, counts = home.overlap(rows)
    start, stop = tiles * block, np.minimum((tiles + 1) * block, n * n)
    row_start = tiles // 342 * 16 * n
    expected = np.maximum(np.minimum(stop, row_start + 16 * n) - np.maximum(start, row_start), 0)
    assert len(tiles) == 256 * 342 <= ALL_TILES
    assert np.array_equal(counts, expected)
    swapped = count_on_same_tiles(family_of(rows.loops, 0, 0), family_of(home.loops, 0, 0))
    assert swapped is not None and np.array_equal(swapped[: len(tiles)], expected)
