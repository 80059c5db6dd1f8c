"""What parts touch of an operand, held to a walk through every iteration."""

from collections import defaultdict
from itertools import product
from operator import mul

from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts


@st.composite
def accesses(draw):
    """Parts of up to three loops, and an access of up to three dimensions that stays in bounds."""
    extents = draw(st.lists(st.integers(1, 5), min_size=0, max_size=3))
    loops, step = [], 1
    for extent in extents:
        block = draw(st.integers(1, extent))
        count = -(-extent // block)
        loops.append(PartLoop(block, extent, step if count > 1 else 0))
        step *= count
    parts = Parts(tuple(loops), draw(st.integers(0, 3)))
    indices, shape = [], []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.integers(0, 4)) == 0:
            indices.append(Index((0,) * len(extents), linear=False))
            shape.append(draw(st.integers(1, 4)))
            continue
        if extents and draw(st.integers(0, 3)) == 0:
            loop, block = draw(st.integers(0, len(extents) - 1)), draw(st.integers(1, 3))
            indices.append(Index((0,) * len(extents), linear=False, block_of=(loop, block)))
            shape.append(-(-extents[loop] // block))
            continue
        coefficients = tuple(draw(st.sampled_from((0, 1, 1, 2))) for _ in extents)
        index = Index(coefficients, draw(st.integers(0, 2)))
        indices.append(index)
        reach = index.constant + sum(c * (n - 1) for c, n in zip(coefficients, extents, strict=True))
        shape.append(reach + 1 + draw(st.integers(0, 2)))
    strides, elements = [], draw(st.integers(1, 2))
    for size in reversed(shape):
        strides.insert(0, elements)
        elements *= size
    offset = draw(st.integers(0, 3))
    return parts, tuple(indices), tuple(shape), tuple(strides), offset, elements + offset


def known(parts, indices):
    """Per index, whether what the parts touch is known: not of other indices than sums, where it may be anything, nor
    where parts cut within a block or where the loop of a block occurs again; there, all of it counts as touched."""
    found, taken = [], set()
    for index in indices:
        if index.block_of is None:
            found.append(index.linear)
            continue
        loop, block = index.block_of
        again = loop in taken or any(other.coefficients[loop] for other in indices)
        found.append(not again and parts.loops[loop].block % block == 0)
        if found[-1]:
            taken.add(loop)
    return found


def touched(parts, indices, shape, strides, offset):
    """Per tile, the elements that its part touches, by running its loops."""
    found = defaultdict(set)
    is_known = known(parts, indices)
    for part in product(*(range(count) for count in parts.parts_per_loop)):
        tile = parts.first_tile + sum(loop.tile_step * p for loop, p in zip(parts.loops, part, strict=True))
        starts, ends = parts.box(part)
        for iteration in product(*(range(a, b) for a, b in zip(starts, ends, strict=True))):
            values = [
                (range(size) if not sure else [index.constant + sum(map(mul, index.coefficients, iteration))])
                if index.block_of is None or not sure
                else [iteration[index.block_of[0]] // index.block_of[1]]
                for index, size, sure in zip(indices, shape, is_known, strict=True)
            ]
            for at in product(*values):
                found[tile].add(offset + sum(stride * i for stride, i in zip(strides, at, strict=True)))
    return found


@given(accesses())
def test_operand_mapping_is_what_the_parts_touch(access):
    parts, indices, shape, strides, offset, elements = access
    mapping = operand_mapping(parts, indices, shape, strides, offset, elements)
    expected = touched(parts, indices, shape, strides, offset)
    assert mapping.elements == elements
    assert set(mapping.tiles().tolist()) == set(expected)
    for tile, held in expected.items():
        assert mapping.elements_on(tile).tolist() == sorted(held)
