"""Bytes that vertices take besides their data: code, the state of a vertex, and scratch.

None of these numbers is published. They are assumptions, made from what the vertices have to hold: pointers and
counts of 4 bytes each, code of the length of the published assembly of similar codelets. They are kept in one place
so that a measurement can replace them.
"""

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.costs.amp import uses_amp
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Gather, Move, Reduction, Window, Work
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, choose
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

SUPERVISOR_CODE_BYTES = 96  # assumed: starts the workers and divides the work among them
FIELD_BYTES = 4  # a pointer or a count in the state of a vertex

_LONG_OPS = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "pow",
    "atan2",
    "erf",
    "erfc",
    "gelu_erf",
    "cbrt",
    "log1p",
)
_CODE_BYTES = {"fill": 96, "copy": 128, "transpose": 256}


def code_bytes(work: Work) -> int:
    """Bytes of a codelet's code, which a tile holds once however many vertices it runs; assumed.

    >>> code_bytes(Move("fill", "f32", (0,)))
    192
    """
    return SUPERVISOR_CODE_BYTES + _worker_code_bytes(work)


def _worker_code_bytes(work: Work) -> int:
    match work:
        case Contraction():
            if not uses_amp(work.dtype):
                return 256
            prepared = sum(_op_code_bytes(op) for each in work.prepared for op in each.ops)
            return (1600 if work.kernel else 1024) + prepared
        case Elementwise():
            return 64 + sum(_op_code_bytes(op) for op in work.ops)
        case Reduction():
            return 384 + sum(_op_code_bytes(op) for op in work.before)
        case Window():
            return 640
        case Gather():
            return 256 * len(work.slices) + sum(_op_code_bytes(op) for op in work.ops)
        case CodeletCall():
            return work.codelet.code_bytes
        case Move():
            return _CODE_BYTES[work.kind]


def _op_code_bytes(op: ScalarOp) -> int:
    if op.name in _LONG_OPS:
        return 640
    return 48 if op.shape in (Shape.CAST, Shape.INTEGER, Shape.SELECT) else 96


def vertex_state_bytes(work: Work, sizes: IntArray, operands: int, machine: Machine) -> IntArray:
    """Bytes of the state of one vertex for each of ``sizes``; assumed.

    A vertex has a pointer to its code, a pointer per operand and two counts. One of AMP has a pointer per group of
    channels of each operand, and a list of work for each worker.

    Args:
        sizes: iterations of every loop, shape ``(..., loops)``.
        operands: how many operands the op has.
    """
    simple = FIELD_BYTES * (1 + operands + 2)
    state: Size = simple
    if isinstance(work, Contraction) and uses_amp(work.dtype):
        groups, ins, outs, kernel = (
            np.prod(sizes[..., list(loops)], axis=-1, dtype=np.int64)
            for loops in (work.groups, work.in_channels, work.out_channels, work.kernel)
        )
        in_groups = ceil_div(ins, machine.amp_input_channels(work.dtype))
        out_groups = ceil_div(outs, machine.amp_units)
        pointers = groups * (in_groups + out_groups + in_groups * out_groups)
        work_lists = machine.workers * choose(kernel == 1, 3, 3 * kernel)
        state = simple + FIELD_BYTES * (pointers + work_lists)
    return np.broadcast_to(np.asarray(state, dtype=np.int64), sizes.shape[:-1])


def scratch_bytes(work: Work, sizes: IntArray, machine: Machine) -> IntArray:
    """Bytes that one vertex needs besides operands and results while it runs, for each of ``sizes``; assumed.

    A library codelet says it itself; a reduction whose elements the workers share has a partial result of each; a
    product has the factors that are computed first; everything else works in registers.
    """
    scratch: Size = 0
    if isinstance(work, CodeletCall):
        scratch = work.codelet.scratch_bytes(work, sizes, machine)
    elif isinstance(work, Reduction):
        results = np.prod(sizes[..., list(work.kept)], axis=-1, dtype=np.int64)
        shared = machine.workers * results * max(4, element_type(work.to_dtype).bytes)
        scratch = choose(results < machine.workers, shared, 0)
    elif isinstance(work, Contraction):
        for each in work.prepared:
            factors = np.prod(sizes[..., list(each.loops)], axis=-1, dtype=np.int64)
            scratch = scratch + factors * element_type(work.dtype).bytes
    return np.broadcast_to(np.asarray(scratch, dtype=np.int64), sizes.shape[:-1])
