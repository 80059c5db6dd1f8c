"""Reductions with any body: the reduced loops run in Python, each point computes whole planes of the parallel loops.

Slow where planes are small, but right for every body: several running values, choices between them, anything.
"""

from dataclasses import replace

from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.gather import flattened
from ipu_mlir.runtime.translator.codegen.schedule import Call, Loop, Operand, Schedule, View
from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.expression import Expression, Gather, rewrite
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Scan
from ipu_mlir.runtime.translator.statements.transform import with_reads


def emit_scan(statement: Scan, schedule: Schedule) -> None:
    """Append the loop of ``statement``."""
    loops = [loop for loop, r in enumerate(statement.reduced) if r and statement.extents[loop] > 1]
    kept = [loop for loop, r in enumerate(statement.reduced) if not r]
    moving: dict[Buffer, Access] = {}

    def standing(access: Access) -> Access:
        """``access`` as one point of the reduced loops sees it."""
        strides = tuple(access.strides[loop] for loop in kept)
        if not any(access.strides[loop] for loop in loops):
            return replace(access, strides=strides)
        old = access.buffer
        stand_in = Buffer(old.name, old.elements, old.dtype, old.role, old.shape)
        schedule.places[stand_in] = schedule.places.get(old, old)
        moving[stand_in] = access
        return Access(stand_in, access.offset, strides)

    def in_index(node: Expression) -> Expression:
        """A gather whose access moves with the reduced loops, with all of its address in the index."""
        if isinstance(node, Gather) and any(node.access.strides[loop] for loop in loops):
            return flattened(node, statement.extents)
        return node

    known: dict[Access, Access] = {}
    values = with_reads(
        tuple(rewrite(statement.values, in_index)), lambda access: known.setdefault(access, standing(access))
    )
    outputs = tuple(replace(out, strides=tuple(out.strides[loop] for loop in kept)) for out in statement.outputs)
    extents = tuple(statement.extents[loop] for loop in kept)
    inner = Schedule(schedule.options, schedule.places)
    emit_elementwise(Elementwise(extents, statement.origin, outputs, values), inner)

    def restored(operand: Operand) -> Operand:
        """The array that the loop variables index."""
        if not isinstance(operand, View) or operand.buffer not in moving:
            return operand
        access = moving[operand.buffer]
        shape = (*(statement.extents[loop] for loop in loops), *operand.shape)
        strides = (*(access.strides[loop] for loop in loops), *operand.strides)
        return View(access.buffer, operand.dtype, operand.offset, shape, strides, indexed=len(loops))

    calls = []
    for call in inner.steps:
        assert isinstance(call, Call), "a body is straight-line code"
        calls.append(replace(call, operands=tuple(map(restored, call.operands))))
    counts = tuple(statement.extents[loop] for loop in loops)
    schedule.steps.append(Loop(counts, tuple(calls), statement.origin))
