"""Probes in plain integers: an answer is that of the mapping itself, and a lack that they see is one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects.mapping.build import blocks, by_rows
from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.normalize import LoopNest
from ipu_mlir.dialects.mapping.probes import holds, lacks_a_probe

quick = settings(max_examples=200, deadline=None, derandomize=True, database=None)


@st.composite
def mappings(draw: st.DrawFn) -> Mapping:
    """Loops of any sizes and strides; few of them tile the allocation."""
    loops, step = [], 1
    for _ in range(draw(st.integers(0, 3))):
        extent, stride = draw(st.integers(1, 5)), draw(st.sampled_from((0, 1, 1, 2, 4, 5, 12, -1)))
        block = draw(st.integers(1, extent))
        loops.append(MappingLoop(block, extent, stride, step))
        step *= draw(st.sampled_from((1, 1, 2))) * -(-extent // block)
    return Mapping(60, tuple(draw(st.permutations(loops))), draw(st.integers(0, 6)), draw(st.integers(0, 2)))


def nest_of(mapping: Mapping) -> LoopNest:
    normal = mapping.normalized()
    return normal.loops, normal.offset, normal.first_tile


@quick
@given(mappings())
def test_an_answer_is_that_of_the_mapping(mapping: Mapping) -> None:
    nest = nest_of(mapping)
    for tile in range(-1, mapping.max_tile + 2):
        held = set(mapping.elements_on(tile).tolist())
        for element in range(-6, 70):
            assert holds(nest, tile, element) in (None, element in held)


@quick
@given(mappings(), mappings())
def test_a_lack_is_certain(holder: Mapping, held: Mapping) -> None:
    lacking = any(set(held.elements_on(t)) - set(holder.elements_on(t)) for t in range(held.max_tile + 1))
    assert lacking or not lacks_a_probe(nest_of(holder), nest_of(held))
    assert holder.contains(held) != lacking


def test_blocks_of_other_shapes_are_told_apart() -> None:
    rows, squares = by_rows((8, 8), num_tiles=4), blocks((8, 8), (4, 4))
    assert lacks_a_probe(nest_of(rows), nest_of(squares)) and lacks_a_probe(nest_of(squares), nest_of(rows))
    assert not lacks_a_probe(nest_of(rows), nest_of(rows))


def test_strides_that_are_no_digits_are_left_open() -> None:
    window = Mapping(8, (MappingLoop(2, 4, 1, 1), MappingLoop(3, 3, 1, 0)))
    assert holds(nest_of(window), 0, 0) is None


def test_what_is_empty_holds_nothing() -> None:
    nothing = Mapping(8, (MappingLoop(2, 4, 1, 1), MappingLoop(1, 0, 4, 0)))
    assert holds(nest_of(nothing), 0, 0) is False
    assert lacks_a_probe(nest_of(nothing), nest_of(by_rows((8, 1), num_tiles=4)))
    assert not lacks_a_probe(nest_of(by_rows((8, 1), num_tiles=4)), nest_of(nothing))
