"""Exchanges: what arrives, and how it is counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import mapping_text
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

Make = Callable[..., PerTileExecutor]
X4 = np.array([1, 2, 3, 4], np.float32)


def exchange(source: str, dest: str) -> str:
    return f"""func.func @main(%x: memref<4xf32, {source}>) -> memref<4xf32, {dest}> {{
        %y = memref.alloc() : memref<4xf32, {dest}>
        "ipu.exchange"(%x, %y) : (memref<4xf32, {source}>, memref<4xf32, {dest}>) -> ()
        return %y : memref<4xf32, {dest}> }}"""


def test_a_gather_on_one_tile_keeps_what_is_there(executor: Make) -> None:
    make = executor(exchange("#home4", "#tile1_4"))
    np.testing.assert_array_equal(make.run([X4])[0], X4)
    (traffic,) = make.traffic
    assert traffic.received.tolist() == [0, 3, 0, 0]
    assert traffic.sent.tolist() == [1, 0, 1, 1]
    assert traffic.local.tolist() == [0, 1, 0, 0]
    assert traffic.received_bytes.tolist() == [0, 12, 0, 0]
    assert (traffic.sent_bytes.tolist(), traffic.local_bytes.tolist()) == ([4, 0, 4, 4], [0, 4, 0, 0])
    assert traffic.location.startswith("-:")


def test_an_element_for_several_tiles_is_sent_once(executor: Make) -> None:
    make = executor(exchange("#home4", "#all4"))
    make.run([X4])
    (traffic,) = make.traffic
    assert traffic.received.tolist() == [3, 3, 3, 3]
    assert traffic.sent.tolist() == [1, 1, 1, 1]


def test_the_lowest_holder_sends_and_replicas_serve_themselves(executor: Make) -> None:
    make = executor(exchange("#ipu.mapping<4, [[4, 4, 1, 0], [1, 2, 0, 1]], 0, 1>", "#all4"))
    np.testing.assert_array_equal(make.run([X4])[0], X4)
    (traffic,) = make.traffic
    assert traffic.received.tolist() == [4, 0, 0, 4]
    assert traffic.sent.tolist() == [0, 4, 0, 0]
    assert traffic.local.tolist() == [0, 4, 4, 0]


def test_views_on_both_sides_move_only_what_they_show(executor: Make) -> None:
    """Column 3 of a 3x4 buffer becomes column 0 of another one, whose other columns stay unwritten."""
    make = executor(
        """func.func @main(%x: memref<3x4xf32, #rows12>) -> memref<3x1xf32, strided<[4, 1]>, #tile0_12> {
        %y = memref.alloc() : memref<3x4xf32, #tile0_12>
        %from = memref.subview %x[0, 3] [3, 1] [1, 1]
            : memref<3x4xf32, #rows12> to memref<3x1xf32, strided<[4, 1], offset: 3>, #rows12>
        %to = memref.subview %y[0, 0] [3, 1] [1, 1]
            : memref<3x4xf32, #tile0_12> to memref<3x1xf32, strided<[4, 1]>, #tile0_12>
        "ipu.exchange"(%from, %to) : (memref<3x1xf32, strided<[4, 1], offset: 3>, #rows12>,
                                      memref<3x1xf32, strided<[4, 1]>, #tile0_12>) -> ()
        return %to : memref<3x1xf32, strided<[4, 1]>, #tile0_12> }"""
    )
    np.testing.assert_array_equal(make.run([np.arange(12, dtype=np.float32).reshape(3, 4)])[0], [[3], [7], [11]])
    assert make.traffic[0].received.tolist() == [1, 0, 0, 0]
    assert make.traffic[0].local.tolist() == [2, 0, 0, 0]


def test_memory_is_held_from_the_allocation_to_the_last_use(executor: Make, vertices: Callable[..., str]) -> None:
    copy = "linalg.copy ins(%{} : memref<4xf32, #tile0_4>) outs(%{} : memref<4xf32, #tile0_4>)"
    make = executor(
        f"""func.func @main(%x: memref<4xf32, #home4>) -> memref<4xf32, #tile0_4> {{
        %a = memref.alloc() : memref<4xf32, #tile0_4>
        "ipu.exchange"(%x, %a) : (memref<4xf32, #home4>, memref<4xf32, #tile0_4>) -> ()
        %b = memref.alloc() : memref<4xf32, #tile0_4>
        {vertices(copy.format("a", "b"), "[[4, 4, 0]], 0")}
        %c = memref.alloc() : memref<4xf32, #tile0_4>
        {vertices(copy.format("b", "c"), "[[4, 4, 0]], 0")}
        return %c : memref<4xf32, #tile0_4> }}"""
    )
    make.run([X4])
    assert [step.per_tile.tolist() for step in make.memory_held()] == [[20, 4, 4, 4], [36, 4, 4, 4], [36, 4, 4, 4]]


@st.composite
def mappings(draw: st.DrawFn, rows: int, columns: int) -> Mapping:
    """A mapping of a matrix that covers it: blocks of both dimensions on a grid of tiles, perhaps replicated."""
    down, across = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    many = -(-columns // across)
    grid = -(-rows // down) * many
    copies = draw(st.integers(1, 2))
    loops = [MappingLoop(down, rows, columns, many), MappingLoop(across, columns, 1, 1)]
    if copies > 1:
        loops.append(MappingLoop(1, copies, 0, grid))
    return Mapping(rows * columns, tuple(loops), 0, draw(st.integers(0, 2)))


@st.composite
def exchanges(draw: st.DrawFn) -> tuple[int, int, Mapping, Mapping]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return rows, columns, draw(mappings(rows, columns)), draw(mappings(rows, columns))


def _holders(mapping: Mapping) -> dict[int, set[int]]:
    """Per element of the matrix, the tiles that hold it, one element at a time."""
    down, across = mapping.loops[:2]
    copies = mapping.loops[2] if len(mapping.loops) > 2 else MappingLoop(1, 1, 0, 0)
    found = {}
    for row in range(down.extent):
        for column in range(across.extent):
            tile = mapping.first_tile + row // down.block * down.tile_step + column // across.block
            found[row * across.extent + column] = {tile + copies.tile_step * copy for copy in range(copies.extent)}
    return found


@settings(max_examples=40, deadline=None)
@given(exchanges())
def test_any_exchange_is_a_copy_and_counts_what_it_moves(case: tuple[int, int, Mapping, Mapping]) -> None:
    rows, columns, source, dest = case
    home, there = (f"memref<{rows}x{columns}xi32, {mapping_text(mapping)}>" for mapping in (source, dest))
    with ipu.context():
        module = ir.Module.parse(
            f"""func.func @main(%x: {home}) -> {there} {{
            %y = memref.alloc() : {there}
            "ipu.exchange"(%x, %y) : ({home}, {there}) -> ()
            return %y : {there} }}"""
        )
        make = PerTileExecutor(module)
        x = np.random.default_rng(0).integers(-100, 100, (rows, columns), np.int32)
        result = make.run([x])[0]
    np.testing.assert_array_equal(result, x)
    sources, dests = _holders(source), _holders(dest)
    (traffic,) = make.traffic
    expected: dict[str, dict[int, Any]] = {"received": {}, "sent": {}, "local": {}}
    for element in sources:
        remote = dests[element] - sources[element]
        for tile in dests[element] & sources[element]:
            expected["local"][tile] = expected["local"].get(tile, 0) + 1
        for tile in remote:
            expected["received"][tile] = expected["received"].get(tile, 0) + 1
        if remote:
            sender = min(sources[element])
            expected["sent"][sender] = expected["sent"].get(sender, 0) + 1
    for name, counts in expected.items():
        found = getattr(traffic, name)
        assert {int(tile): int(found[tile]) for tile in np.flatnonzero(found)} == counts, name
