"""``ipu-clamp-slices``: slices at run-time offsets, kept inside their tensors."""

from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.index_ranges import IndexRanges
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import DYNAMIC

_BIG = {"tensor.extract_slice": 0, "tensor.insert_slice": 1}
"""The number of the operand that the slice lies in; the offsets that are known at run time follow it."""


class ClampSlices(Pass):
    """Move slices at run-time offsets to where the whole slice lies inside its tensor.

    That is what such an offset means here, as in XLA: what is read or written is as large as the slice, wherever the
    offset points. Passes that follow may then move, join and split slices as if every offset were in range. An offset
    that constants and the bounds of loops keep in range stays as it is. Of one element, the step to the next one means
    nothing: it becomes 1, so that a slice of all there is can be seen to be one.

    Needs:  linalg on tensors.
    Leaves: slices of static sizes whose offsets are in range; steps of 1 in dimensions where a slice takes one element.
    """

    name = "ipu-clamp-slices"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            slices = list_ops(module, *_BIG)
            for op in slices:
                _drop_steps(op)
            offsets = [offset for op in slices if not _is_static(op) for offset in _offsets(op, refuse)]
        ranges = IndexRanges()
        with module.context:
            for offset in offsets:
                _clamp(offset, ranges)


@dataclass(frozen=True)
class _Offset:
    """An offset that is known at run time: operand ``number`` of ``op``. The slice fits from 0 to ``last``."""

    op: ir.Operation
    number: int
    last: int


def _drop_steps(op: ir.Operation) -> None:
    sizes, steps = list(op.attributes["static_sizes"]), list(op.attributes["static_strides"])
    fewer = [1 if size == 1 and step != DYNAMIC else step for size, step in zip(sizes, steps, strict=True)]
    if fewer != steps:
        op.attributes["static_strides"] = ir.DenseI64ArrayAttr.get(fewer)


def _is_static(op: ir.Operation) -> bool:
    return DYNAMIC not in list(op.attributes["static_offsets"])


def _offsets(op: ir.Operation, refuse: Refusals) -> list[_Offset]:
    """The run-time offsets of ``op`` in dimensions whose sizes are known, and in which the slice has elements."""
    found: list[_Offset] = []
    number = _BIG[op.name]
    shape = op.operands[number].type.shape
    starts, sizes, steps = (list(op.attributes[f"static_{which}"]) for which in ("offsets", "sizes", "strides"))
    for dimension, (start, size, step, extent) in enumerate(zip(starts, sizes, steps, shape, strict=True)):
        number += start == DYNAMIC
        if start != DYNAMIC or DYNAMIC in (size, step, extent) or size == 0:
            continue
        last = extent - (size - 1) * step - 1
        if step < 1 or last < 0:
            most = "take steps of at least 1" if step < 1 else f"at most {-(-extent // step)} fit"
            refuse(
                op, f"takes {size} elements in steps of {step} from dimension {dimension}, which has {extent}; {most}"
            )
        else:
            found.append(_Offset(op, number, last))
    return found


def _clamp(offset: _Offset, ranges: IndexRanges) -> None:
    """Keep ``offset`` within 0 .. ``last``."""
    arith = upstream("arith")
    value = offset.op.operands[offset.number]
    low, high = ranges.of(value)
    with ir.InsertionPoint(offset.op), offset.op.location:
        if low < 0:
            value = arith.MaxSIOp(value, constant_index(0)).result
        if high > offset.last:
            value = arith.MinSIOp(value, constant_index(offset.last)).result
    offset.op.operands[offset.number] = value
