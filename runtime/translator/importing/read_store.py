"""``memref.store`` at function level: one element is written, and it may be chosen at run time."""

from collections.abc import Sequence

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, numbers
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Origin
from ipu_mlir.runtime.translator.array_ir.transform import standing
from ipu_mlir.runtime.translator.importing.read_memref import BufferView

BOOL = np.dtype(np.bool_)


def stored(view: BufferView, indices: Sequence[Expression], value: Expression, origin: Origin) -> Elementwise:
    """``value`` in the element of ``view`` at ``indices``.

    There is a loop per index that is no constant inside: each element on the way is chosen to be the new value or what
    it was, so an index outside writes nothing. ``dynamic_slices`` makes one assignment of a single such loop.
    """
    offset, extents, strides, moving = view.offset, [], [], []
    for index, size, stride in zip(indices, view.shape, view.strides, strict=True):
        if isinstance(index, Const) and 0 <= index.value < size:
            offset += int(index.value) * stride
        else:
            extents.append(size)
            strides.append(stride)
            moving.append(index)
    element = Access(view.buffer, offset, tuple(strides))
    here: Expression | None = None
    for loop, index in enumerate(moving):
        steps = tuple(int(other == loop) for other in range(len(moving)))
        number = Read(INDEX, Access(numbers(extents[loop]), 0, steps))
        equal = Apply(BOOL, "equal", (number, standing(index, len(moving))))
        here = equal if here is None else Apply(BOOL, "logical_and", (here, equal))
    rank = len(moving)
    chosen = standing(value, rank)
    if here is not None:
        dtype = view.buffer.dtype
        call = "select_bool" if dtype == BOOL else "select"
        chosen = Apply(dtype, call, (here, chosen, Read(dtype, element)))
    return Elementwise(tuple(extents), origin, (element,), (chosen,))
