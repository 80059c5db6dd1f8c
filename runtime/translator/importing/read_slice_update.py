"""The library codelet ``update_slice``: the slice alone is written, in place."""

from collections.abc import Mapping

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import LoopNest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.read_region import BodyValues
from ipu_mlir.runtime.translator.importing.whole_views import whole
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Const, Expression, Read, apply
from ipu_mlir.runtime.translator.statements.intervals import Ranges, is_within
from ipu_mlir.runtime.translator.statements.statements import Check, Origin, SliceUpdate, Statement

BOOL = np.dtype(np.bool_)


def read_slice_update(
    op: ir.Operation,
    nest: LoopNest,
    views: Mapping[ir.Value, BufferView],
    scalars: Mapping[ir.Value, Expression],
    origin: Origin,
) -> list[Statement]:
    """The update, after demands that a slice of several points is inside where that does not follow from its offset.

    A single point outside is not written.
    """
    *offsets, update, dest = op.operands
    out = whole(views[dest])
    extents = views[dest].shape
    rank = len(extents)
    values = BodyValues(scalars, rank)
    sizes = views[update].shape if update in views else (1,) * rank
    if 0 in sizes:
        return []
    ranges = Ranges(extents)
    whole_ones = {index.plain_loop for index in nest.indices[rank]}  # dimensions in which the slice goes along
    statements: list[Statement] = []
    indexes: dict[int, Expression] = {}
    for loop, offset in enumerate(offsets):
        if loop in whole_ones:
            continue
        number = values[offset]
        last = extents[loop] - sizes[loop]
        if not is_within(number, last + 1, ranges):
            if sizes[loop] > 1:
                statements.append(Check((), origin, (_demand(scalars[offset], last),), _OUTSIDE))
            elif isinstance(number, Const):
                return []
        indexes[loop] = number
    value = values[update] if update not in views else _seen(whole(views[update]), sizes)
    box = tuple(sizes[loop] for loop in indexes)
    update_of_slice = SliceUpdate(extents, origin, tuple(indexes), tuple(indexes.values()), box, value, out, out)
    return [*statements, update_of_slice]


_OUTSIDE = "a slice is updated that is not inside its tensor"


def _seen(update: Access, sizes: tuple[int, ...]) -> Read:
    """The slice as loops see it that count from its begin on."""
    strides = tuple(stride if size > 1 else 0 for stride, size in zip(update.strides, sizes, strict=True))
    return Read(update.buffer.dtype, Access(update.buffer, update.offset, strides))


def _demand(number: Expression, last: int) -> Expression:
    least = apply("greater_equal", number, Const.of(0, number.dtype), dtype=BOOL)
    return apply(
        "logical_and", least, apply("less_equal", number, Const.of(last, number.dtype), dtype=BOOL), dtype=BOOL
    )
