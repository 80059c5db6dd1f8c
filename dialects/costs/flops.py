"""Floating-point operations of a vertex, for rates and shares of the peak; a multiply-add counts as two."""

from collections.abc import Iterable

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Gather, Loops, Move, Reduction, Window, Work
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.element_types import element_type


def flops_of(work: Work, sizes: IntArray) -> IntArray:
    """Floating-point operations of a vertex for each of ``sizes``, shape ``(..., loops)``.

    Every arithmetic operation on floats counts as one, also an ``exp``; casts, comparisons and selects count as none.
    """

    def size(loops: Loops) -> IntArray:
        return np.prod(sizes[..., list(loops)], axis=-1, dtype=np.int64)

    iterations = np.prod(sizes, axis=-1, dtype=np.int64)
    match work:
        case Contraction():
            prepared = sum((_count(each.ops) * size(each.loops) for each in work.prepared), start=0)
            return 2 * iterations * element_type(work.dtype).is_float + prepared
        case Elementwise() | Gather():
            return _count(work.ops) * iterations
        case Reduction():
            return _count((*work.before, *([work.combine] if work.combine else []))) * iterations
        case Window():
            return iterations * element_type(work.dtype).is_float
        case CodeletCall():
            return 0 * iterations + work.codelet.flops(work, sizes)
        case Move():
            return 0 * iterations


def flops_of_parts(work: Work, parts: Parts) -> int:
    """Floating-point operations of all parts together: those of the whole loops, however they are cut."""
    return int(flops_of(work, np.array([loop.extent for loop in parts.loops], dtype=np.int64)))


def _count(ops: Iterable[ScalarOp]) -> int:
    counted = (Shape.UNARY, Shape.BINARY)
    floats = [op for op in ops if op.shape in counted and element_type(op.dtype).is_float and op.name != "compare"]
    return sum(2 if op.name == "scaled_add" else 1 for op in floats)
