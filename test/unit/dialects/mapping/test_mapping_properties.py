"""Every query of a mapping against the definition, element by element, on random small mappings."""

from itertools import product
from math import prod

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects.mapping.boxes import boxes_of
from ipu_mlir.dialects.mapping.element_traffic import traffic_by_element
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.mapping.traffic import exchange_traffic
from ipu_mlir.dialects.mapping.views import View

settings.register_profile("mapping", max_examples=100, deadline=None, derandomize=True, database=None)
quick = settings(settings.get_profile("mapping"))

Sets = dict[int, set[int]]


def parts_of(mapping: Mapping) -> list[tuple[int, set[int]]]:
    """Tile and elements of each part, straight from the definition."""
    found = []
    for part in product(*(range(-(-x.extent // x.block)) for x in mapping.loops)):
        pairs = list(zip(mapping.loops, part, strict=True))
        tile = mapping.first_tile + sum(loop.tile_step * p for loop, p in pairs)
        blocks = [range(x.block * p, min(x.extent, x.block * (p + 1))) for x, p in pairs]
        held = {
            mapping.offset + sum(loop.stride * i for loop, i in zip(mapping.loops, index, strict=True))
            for index in product(*blocks)
        }
        found.append((tile, held))
    return found


def sets_of(mapping: Mapping) -> Sets:
    """The elements on each tile."""
    sets: Sets = {}
    for tile, held in parts_of(mapping):
        sets.setdefault(tile, set()).update(held)
    return sets


def holders_of(sets: Sets) -> dict[int, list[int]]:
    """The tiles of each element, in rising order."""
    holders: dict[int, list[int]] = {}
    for tile in sorted(sets):
        for element in sets[tile]:
            holders.setdefault(element, []).append(tile)
    return holders


@st.composite
def loops_of_dim(draw: st.DrawFn, extent: int, stride: int) -> tuple[list[tuple[int, int, int]], int]:
    """``(block, extent, stride)`` of loops that touch one dimension in a common way, and the offset they start at."""
    kind = draw(st.sampled_from(["whole", "split", "split", "slice", "window", "reversed"]))
    if kind == "whole":
        return [(extent, extent, stride)], 0
    if kind == "split":
        return [(draw(st.integers(1, extent)), extent, stride)], 0
    if kind == "reversed":
        return [(draw(st.integers(1, extent)), extent, -stride)], stride * (extent - 1)
    if kind == "slice":
        step = draw(st.integers(1, 2))
        start = draw(st.integers(0, extent - 1))
        length = draw(st.integers(1, 1 + (extent - 1 - start) // step))
        return [(draw(st.integers(1, length)), length, stride * step)], stride * start
    move, dilate = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel = draw(st.integers(1, 1 + (extent - 1) // dilate))
    length = 1 + (extent - 1 - dilate * (kernel - 1)) // move
    blocks = draw(st.integers(1, length)), draw(st.sampled_from([kernel, kernel, 1]))
    return [(blocks[0], length, stride * move), (blocks[1], kernel, stride * dilate)], 0


@st.composite
def mappings(draw: st.DrawFn, elements: int = 0, apart: bool = True) -> Mapping:
    """Mappings of an allocation of a few dimensions, with each part on a tile of its own if ``apart``."""
    shapes = [(12,), (4, 6), (6, 4), (2, 3, 4), (3, 8), (24,)] if elements == 24 else [(5,), (4, 6), (3, 2, 4), (7, 3)]
    shape = draw(st.sampled_from(shapes))
    bare: list[tuple[int, int, int]] = []
    offset = 0
    for dim, extent in enumerate(shape):
        loops, start = draw(loops_of_dim(extent, prod(shape[dim + 1 :])))
        bare += loops
        offset += start
    if draw(st.booleans()):
        bare.append((1, draw(st.integers(1, 3)), 0))
    if draw(st.integers(0, 5)) == 0:
        bare.append((draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(-7, 7))))
    if draw(st.integers(0, 5)) == 0:
        offset += draw(st.integers(-3, 7))
    return draw(placed(bare, elements or prod(shape), offset, apart))


@st.composite
def placed(draw: st.DrawFn, bare: list[tuple[int, int, int]], elements: int, offset: int, apart: bool) -> Mapping:
    """The loops in some order, with tile steps."""
    bare = draw(st.permutations(bare))
    steps = [0] * len(bare)
    step = 1
    for index in draw(st.permutations(range(len(bare)))):
        steps[index] = step if apart else draw(st.integers(-2, 4))
        step *= -(-bare[index][1] // bare[index][0]) + (draw(st.integers(0, 3)) == 0)
    first = draw(st.integers(0, 2))
    if draw(st.integers(0, 4)) == 0:
        first += sum(s * (-(-e // b) - 1) for s, (b, e, _) in zip(steps, bare, strict=True))
        steps = [-s for s in steps]
    loops = (MappingLoop(*loop, step) for loop, step in zip(bare, steps, strict=True))
    return Mapping(elements, tuple(loops), offset, first)


@quick
@given(mappings(apart=False))
def test_normalized_is_the_same_mapping_and_stays_so(mapping: Mapping) -> None:
    normal = mapping.normalized()
    expected = sorted((tile, sorted(held)) for tile, held in parts_of(mapping))
    assert sorted((tile, sorted(held)) for tile, held in parts_of(normal)) == expected
    assert normal.normalized() == normal
    assert all(loop.extent > 1 for loop in normal.loops)


@quick
@given(mappings(apart=False))
def test_parts_and_tiles(mapping: Mapping) -> None:
    tiles = [tile for tile, _ in parts_of(mapping)]
    held = set().union(*sets_of(mapping).values())
    assert mapping.tiles().tolist() == tiles
    assert (mapping.num_parts, mapping.min_tile, mapping.max_tile) == (len(tiles), min(tiles), max(tiles))
    assert mapping.tiles_are_distinct() == (len(set(tiles)) == len(tiles))
    assert (mapping.first_element, mapping.last_element) == (min(held), max(held))
    assert mapping.in_bounds() == (held <= set(range(mapping.elements)))
    assert mapping.covers() == (held == set(range(mapping.elements)))


@quick
@given(mappings())
def test_elements_per_tile(mapping: Mapping) -> None:
    sets = sets_of(mapping)
    tiles, counts = mapping.elements_per_tile()
    assert tiles.tolist() == sorted(sets)
    assert counts.tolist() == [len(sets[tile]) for tile in sorted(sets)]


@quick
@given(mappings())
def test_holders_of_elements(mapping: Mapping) -> None:
    holders = holders_of(sets_of(mapping))
    elements = range(-5, mapping.elements + 5)
    assert mapping.tile_of(np.array(elements)).tolist() == [holders.get(e, [-1])[0] for e in elements]
    disjoint = all(len(tiles) == 1 for tiles in holders.values())
    assert mapping.is_disjoint() == disjoint
    assert mapping.is_home() == (disjoint and set(holders) == set(range(mapping.elements)))


@quick
@given(mappings())
def test_boxes_list_each_element_once(mapping: Mapping) -> None:
    sets = sets_of(mapping)
    for tile in range(-1, mapping.max_tile + 2):
        listed = [
            offset + sum(stride * i for (_, stride), i in zip(dims, index, strict=True))
            for offset, dims in mapping.boxes(tile)
            for index in product(*(range(extent) for extent, _ in dims))
        ]
        assert sorted(listed) == sorted(sets.get(tile, ()))
        assert sorted(mapping.elements_on(tile).tolist()) == sorted(sets.get(tile, ()))
    from_arrays: dict[int, list[int]] = {tile: [] for tile in sets}
    family = family_with_distinct_tiles(mapping)
    for boxes in boxes_of(family, np.arange(family.num_parts)):
        for tile, offset, extents in zip(boxes.tiles.tolist(), boxes.offsets.tolist(), boxes.extents, strict=True):
            for index in product(*(range(extent) for extent in extents)):
                from_arrays[tile].append(offset + sum(s * i for s, i in zip(boxes.strides, index, strict=True)))
    assert {tile: sorted(held) for tile, held in from_arrays.items()} == {t: sorted(s) for t, s in sets.items()}


@settings(quick, max_examples=150)
@given(mappings(elements=24), mappings(elements=24))
def test_overlap_of_two_mappings(first: Mapping, second: Mapping) -> None:
    a, b = sets_of(first), sets_of(second)
    tiles, counts = first.overlap(second)
    assert tiles.tolist() == sorted(b)
    assert counts.tolist() == [len(a.get(tile, set()) & b[tile]) for tile in sorted(b)]
    lacking = [(tile, min(b[tile] - a.get(tile, set()))) for tile in sorted(b) if b[tile] - a.get(tile, set())]
    assert first.contains(second) == (not lacking)
    assert first.missing(second) == (lacking[0] if lacking else None)


@quick
@given(st.data())
def test_image_of_parts(data: st.DataObject) -> None:
    loops = data.draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6)), min_size=1, max_size=3))
    steps = data.draw(st.lists(st.integers(0, 12), min_size=len(loops), max_size=len(loops)))
    parts = Parts(tuple(PartLoop(*x, s) for x, s in zip(loops, steps, strict=True)), data.draw(st.integers(0, 3)))
    strides = data.draw(st.lists(st.sampled_from([0, 1, 2, 6, 7, -1]), min_size=len(loops), max_size=len(loops)))
    indices = list(product(*(range(-(-x.extent // x.block)) for x in parts.loops)))
    boxes = [parts.box(index) for index in indices]
    starts, stops = parts.bounds()
    assert [(tuple(a), tuple(b)) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)] == boxes
    runs = [list(product(*(range(a, b) for a, b in zip(*box, strict=True)))) for box in boxes]
    assert sorted(index for run in runs for index in run) == list(product(*(range(x.extent) for x in parts.loops)))
    assume(parts.tiles_are_distinct())
    assert len(set(parts.tiles().tolist())) == parts.num_parts == len(indices)
    image = parts.image(strides, 9, 99)
    touched = [{9 + sum(s * i for s, i in zip(strides, index, strict=True)) for index in run} for run in runs]
    assert sets_of(image) == dict(zip(parts.tiles().tolist(), touched, strict=True))


@st.composite
def view_pairs(draw: st.DrawFn, elements: int) -> tuple[View, View]:
    """Two views of one shape into allocations of ``elements``: whole, or the same or other slices, maybe turned."""
    shape = draw(st.sampled_from([(elements,), (4, 6), (2, 3, 4), (6, 4)]))
    if draw(st.booleans()):
        return View.whole(shape), View.whole(shape)
    extents = [draw(st.integers(1, extent)) for extent in shape]
    first = draw(slices(shape, extents))
    second = first if draw(st.booleans()) else draw(slices(shape, extents))
    return first, second


@st.composite
def slices(draw: st.DrawFn, shape: tuple[int, ...], extents: list[int]) -> View:
    """A strided slice of these extents, of an allocation that has the dimensions of ``shape`` in some order."""
    order = draw(st.permutations(range(len(shape))))
    offset, strides = 0, [0] * len(shape)
    for place, dim in enumerate(order):
        unit = prod(shape[d] for d in order[place + 1 :])
        step = draw(st.integers(1, 1 if extents[dim] == 1 else (shape[dim] - 1) // (extents[dim] - 1)))
        start = draw(st.integers(0, shape[dim] - 1 - step * (extents[dim] - 1)))
        offset, strides[dim] = offset + start * unit, step * unit
    return View(offset, tuple(extents), tuple(strides))


@settings(quick, max_examples=150)
@given(mappings(elements=24), mappings(elements=24), view_pairs(24))
def test_exchange_traffic(source: Mapping, dest: Mapping, views: tuple[View, View]) -> None:
    num_tiles = 1 + max(source.max_tile, dest.max_tile)
    source_sets, dest_sets = sets_of(source), sets_of(dest)
    holders, takers = holders_of(source_sets), holders_of(dest_sets)
    received, sent, local = ([0] * num_tiles for _ in range(3))
    for given_element, taken in zip(*(view.elements().tolist() for view in views), strict=True):
        missing = [tile for tile in takers.get(taken, ()) if given_element not in source_sets.get(tile, ())]
        for tile in takers.get(taken, ()):
            (received if tile in missing else local)[tile] += 1
        if missing and given_element in holders:
            sent[holders[given_element][0]] += 1
    traffic = exchange_traffic(source, views[0], dest, views[1], num_tiles)
    assert (traffic.received.tolist(), traffic.sent.tolist(), traffic.local.tolist()) == (received, sent, local)
    families = family_with_distinct_tiles(source), family_with_distinct_tiles(dest)
    counted = traffic_by_element(families[0], views[0], families[1], views[1], num_tiles)
    assert [per_tile.tolist() for per_tile in counted] == [received, sent, local]
