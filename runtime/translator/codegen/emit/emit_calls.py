"""Statements that are one call of something other than NumPy: assertions, codelets, functions, transfers to queues."""

import numpy as np

from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.runtime.translator.array_ir.access import temporary
from ipu_mlir.runtime.translator.array_ir.expression import reads
from ipu_mlir.runtime.translator.array_ir.statements import Check, Elementwise, FunctionCall, LibraryCall, Transfer
from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.schedule import Call, Schedule, View


def emit_check(statement: Check, schedule: Schedule) -> None:
    """Compute the condition where it varies, then demand that it holds."""
    (condition,) = statement.values
    loops = sorted({loop for access in reads(statement.values) for loop in access.loops()})
    extents = tuple(n if loop in loops else 1 for loop, n in enumerate(statement.extents))
    held = temporary("holds", condition.dtype, extents, loops)
    emit_elementwise(Elementwise(extents, statement.origin, (held,), statement.values), schedule)
    view = View(held.buffer, condition.dtype, 0, (held.buffer.elements,), (1,))
    place = f" (at {statement.origin.location})" if statement.origin.location else ""
    message = repr(statement.message + place).replace("{", "{{").replace("}", "}}")
    schedule.call(f"require({{0}}, {message})", (view,), view, statement.origin)


def emit_library_call(statement: LibraryCall, schedule: Schedule) -> None:
    """Hand whole arrays to the codelet; it fills, or updates, the arrays of the outputs."""
    views = []
    for access, shape in zip((*statement.inputs, *statement.outputs), statement.shapes, strict=True):
        views.append(View(access.buffer, access.buffer.dtype, access.offset, shape, access.strides))
    count = len(statement.inputs)
    updated = [count + i for i, old in enumerate(statement.updated) if old]
    taken = "".join(f"{{{i}}}, " for i in (*range(count), *updated))
    given = "".join(f"{{{count + i}}}, " for i in range(len(statement.outputs)))
    template = f"run_codelet({statement.codelet!r}, ({taken.strip()}), ({given.strip()}))"
    schedule.call(template, tuple(views), views[count], statement.origin)


def emit_function_call(statement: FunctionCall, schedule: Schedule) -> None:
    """Hand whole arrays to a function of the program: arguments, state, what it needs of the host, results."""
    views = [
        View(access.buffer, access.buffer.dtype, access.offset, shape, access.strides)
        for access, shape in zip((*statement.inputs, *statement.outputs), statement.shapes, strict=True)
    ]
    first = len(statement.inputs) + sum(statement.updated)
    taken, given = ("".join(f"{{{i}}}, " for i in part) for part in (range(first), range(first, len(views))))
    out = views[-1] if statement.outputs else _nothing(schedule)
    template = f"{{function}}({taken}{{host}}{given})"
    schedule.steps.append(Call(template, tuple(views), out, statement.origin, function=statement.function))


def _nothing(schedule: Schedule) -> View:
    """What a call writes that fills nothing."""
    return View(schedule.scratch("nothing", 0, np.dtype(np.uint8)), np.dtype(np.uint8), 0, (0,), (1,))


def emit_transfer(statement: Transfer, schedule: Schedule) -> None:
    """Ask the streams or the remote memory of the run, or hand them something; a call that fills none has no result."""
    views = [
        View(access.buffer, access.buffer.dtype, access.offset, shape, access.strides)
        for access, shape in zip((*statement.inputs, *statement.outputs), statement.shapes, strict=True)
    ]
    call = HOST_CALLS[statement.codelet]
    arguments = [repr(statement.queue).replace("{", "{{").replace("}", "}}")]
    arguments += [] if call.number is None else [str(statement.index)]
    arguments += [f"{{{number}}}" for number in range(len(views))]
    template = f"{call.server}.{statement.codelet}({', '.join(arguments)})"
    schedule.call(template, tuple(views), views[-1] if statement.outputs else _nothing(schedule), statement.origin)
