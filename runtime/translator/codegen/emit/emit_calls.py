"""Statements that are one call of something other than NumPy: assertions, codelets, functions, transfers to queues."""

import numpy as np

from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.schedule import Call, Schedule, View
from ipu_mlir.runtime.translator.statements.access import temporary
from ipu_mlir.runtime.translator.statements.expression import loops_of
from ipu_mlir.runtime.translator.statements.statements import Check, Elementwise, FunctionCall, LibraryCall, Transfer


def emit_check(statement: Check, schedule: Schedule) -> None:
    """Compute the condition where it varies, then demand that it holds."""
    (condition,) = statement.values
    loops = sorted(loops_of(condition))
    extents = tuple(n if loop in loops else 1 for loop, n in enumerate(statement.extents))
    held = temporary("holds", condition.dtype, extents, loops)
    emit_elementwise(Elementwise(extents, statement.origin, (held,), statement.values), schedule)
    view = View(held.buffer, condition.dtype, 0, (held.buffer.elements,), (1,))
    place = f" (at {statement.origin.location})" if statement.origin.location else ""
    schedule.call(f"require({{0}}, {_quoted(statement.message + place)})", (view,), view, statement.origin)


def emit_library_call(statement: LibraryCall, schedule: Schedule) -> None:
    """Hand whole arrays to the codelet; it fills, or updates, the arrays of the outputs."""
    views = _views(statement)
    count = len(statement.inputs)
    updated = [count + i for i, old in enumerate(statement.updated) if old]
    taken = "".join(f"{{{i}}}, " for i in (*range(count), *updated))
    given = "".join(f"{{{count + i}}}, " for i in range(len(statement.outputs)))
    template = f"run_codelet({statement.codelet!r}, ({taken.strip()}), ({given.strip()}))"
    schedule.call(template, views, views[count], statement.origin)


def emit_function_call(statement: FunctionCall, schedule: Schedule) -> None:
    """Hand whole arrays to a function of the program: arguments, state, what it needs of the host, results."""
    views = _views(statement)
    first = len(statement.inputs) + sum(statement.updated)
    taken, given = ("".join(f"{{{i}}}, " for i in part) for part in (range(first), range(first, len(views))))
    out = views[-1] if statement.outputs else _nothing(schedule)
    template = f"{{function}}({taken}{{host}}{given})"
    schedule.steps.append(Call(template, views, out, statement.origin, function=statement.function))


def _nothing(schedule: Schedule) -> View:
    """The empty array that a call writes which fills nothing."""
    return View(schedule.scratch("nothing", 0, np.dtype(np.uint8)), np.dtype(np.uint8), 0, (0,), (1,))


def emit_transfer(statement: Transfer, schedule: Schedule) -> None:
    """Ask the streams or the remote memory of the run, or hand them something; a call that fills none has no result."""
    views = _views(statement)
    call = HOST_CALLS[statement.codelet]
    arguments = [_quoted(statement.queue)]
    arguments += [] if call.number is None else [str(statement.index)]
    arguments += [f"{{{number}}}" for number in range(len(views))]
    template = f"{call.server}.{statement.codelet}({', '.join(arguments)})"
    schedule.call(template, views, views[-1] if statement.outputs else _nothing(schedule), statement.origin)


def _views(call: LibraryCall) -> tuple[View, ...]:
    """The arrays that ``call`` is handed: inputs, then outputs."""
    return tuple(
        View(access.buffer, access.buffer.dtype, access.offset, shape, access.strides)
        for access, shape in zip((*call.inputs, *call.outputs), call.shapes, strict=True)
    )


def _quoted(text: str) -> str:
    """``text`` in quotation marks, for a template."""
    return repr(text).replace("{", "{{").replace("}", "}}")
