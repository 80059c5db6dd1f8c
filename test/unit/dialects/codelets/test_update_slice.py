"""The update of a slice: vertices that own parts of a tensor give what NumPy's assignment gives; and what it takes."""

from itertools import pairwise, product

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE, dynamic_slice_cycles
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.machine.machine import IPU2

SHAPE = (5, 6, 4)


@pytest.mark.parametrize("blocks", [(5, 6, 4), (2, 6, 4), (5, 1, 3), (1, 4, 2)])
@pytest.mark.parametrize(
    ("offsets", "sizes"),
    [
        ((3, None, None), (1, 6, 4)),
        ((None, 2, None), (5, 3, 4)),
        ((0, 3, 1), (2, 3, 2)),
        ((None, None, 3), (5, 6, 1)),
        ((4, 5, 0), ()),
        ((0, 0, 0), (5, 6, 4)),
    ],
)
def test_every_vertex_writes_what_lies_in_its_part(blocks, offsets, sizes) -> None:
    random = np.random.default_rng(8)
    x, update = random.standard_normal(SHAPE), random.standard_normal(sizes)
    starts = [offset or 0 for offset in offsets]
    want = x.copy()
    want[tuple(slice(o, o + n) for o, n in zip(starts, sizes or (1, 1, 1), strict=True))] = update
    found = np.full(SHAPE, np.nan)
    bounds = [[*range(0, n, block), n] for n, block in zip(SHAPE, blocks, strict=True)]
    for ranges in product(*(list(pairwise(each)) for each in bounds)):
        own = [np.arange(*each) for each in ranges]
        part = [here if o is None else np.arange(n) for o, here, n in zip(offsets, own, sizes, strict=False)]
        held = x[np.ix_(*own)]
        operands = (*map(np.asarray, starts), update[np.ix_(*part)] if sizes else update, held)
        (found[np.ix_(*own)],) = UPDATE_SLICE.per_tile([[], [], [], part, own], *operands)
        np.testing.assert_array_equal(held, x[np.ix_(*own)], "the operand stays")
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    ("inputs", "output", "takes"),
    [
        (((), (), (1, 6)), (5, 6), True),
        (((), (), ()), (5, 6), True),
        (((), (), (6,)), (5, 6), False),
        (((), (), (6, 6)), (5, 6), False),
        (((), (1, 6)), (5, 6), False),
        (((1,), (), (1, 6)), (5, 6), False),
        (((),), (), False),
    ],
)
def test_operands_that_it_takes(inputs, output, takes) -> None:
    assert UPDATE_SLICE.takes(inputs, (output,)) is takes


def _call(update: tuple[int, ...], loops: tuple[int, ...], reduced: tuple[int, ...] = ()) -> CodeletCall:
    shapes = ((), (), update, (64, 48))
    dtypes = ("index", "index", "f32", "f32")
    return CodeletCall(UPDATE_SLICE, dtypes, shapes, ((), (), loops, (0, 1)), kept=(0, 1), reduced=reduced)


@pytest.mark.parametrize(
    ("call", "slices", "region"),
    [
        (_call((1, 48), (1,)), 1, 48),
        (_call((3, 48), (1, 2), reduced=(2,)), 1, 3 * 48),
        (_call((64, 5), (0, 2), reduced=(2,)), 8, 5),
        (_call((2, 5), (2, 3), reduced=(2, 3)), 2, 5),
        (_call((), ()), 1, 1),
    ],
    ids=str,
)
def test_a_vertex_pays_for_what_it_has_of_the_slice(call: CodeletCall, slices: int, region: int) -> None:
    sizes = np.array([[8, 48, 3, 3]])
    assert cycles_of(call, sizes, IPU2) == dynamic_slice_cycles(slices, region, "f32", IPU2)
    assert cycles_of(call, sizes * [[16, 1, 1, 1]], IPU2) == dynamic_slice_cycles(
        16 * slices if call.shapes[2] == (64, 5) else slices, region, "f32", IPU2
    ), "rows that the slice does not have cost nothing"
