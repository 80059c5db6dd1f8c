"""``memref.store`` at function level: one element is written, and it may be chosen at run time."""

from collections.abc import Sequence

from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Const, Expression
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin, SliceUpdate
from ipu_mlir.runtime.translator.statements.transform import standing


def stored(
    view: BufferView, indices: Sequence[Expression], value: Expression, origin: Origin
) -> Elementwise | SliceUpdate:
    """``value`` in the element of ``view`` at ``indices``; an index outside writes nothing."""
    offset, extents, strides, moving = view.offset, [], [], []
    for index, size, stride in zip(indices, view.shape, view.strides, strict=True):
        if isinstance(index, Const) and 0 <= index.value < size:
            offset += int(index.value) * stride
        else:
            extents.append(size)
            strides.append(stride)
            moving.append(index)
    element, rank = Access(view.buffer, offset, tuple(strides)), len(moving)
    if not moving:
        return Elementwise((), origin, (element,), (value,))
    places = tuple(standing(index, rank) for index in moving)
    return SliceUpdate(
        tuple(extents), origin, tuple(range(rank)), places, (1,) * rank, standing(value, rank), element, element
    )
