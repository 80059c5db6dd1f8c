"""The emitter of each kind of statement."""

from collections.abc import Callable
from typing import Any

from ipu_mlir.runtime.translator.codegen.emit.emit_calls import (
    emit_check,
    emit_function_call,
    emit_library_call,
    emit_transfer,
)
from ipu_mlir.runtime.translator.codegen.emit.emit_contraction import emit_contraction
from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.emit.emit_reduction import emit_first_extreme, emit_reduction
from ipu_mlir.runtime.translator.codegen.emit.emit_scan import emit_scan
from ipu_mlir.runtime.translator.codegen.emit.emit_slice import emit_slice_update
from ipu_mlir.runtime.translator.codegen.schedule import Schedule
from ipu_mlir.runtime.translator.statements.statements import (
    Check,
    Dot,
    Elementwise,
    FirstExtreme,
    FunctionCall,
    LibraryCall,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
    Transfer,
)

EMITTERS: dict[type[Statement], Callable[[Any, Schedule], None]] = {
    Elementwise: emit_elementwise,
    Dot: emit_contraction,
    Reduce: emit_reduction,
    FirstExtreme: emit_first_extreme,
    Scan: emit_scan,
    SliceUpdate: emit_slice_update,
    Check: emit_check,
    LibraryCall: emit_library_call,
    Transfer: emit_transfer,
    FunctionCall: emit_function_call,
}


def emit(statement: Statement, schedule: Schedule) -> None:
    """Append the calls of ``statement`` to ``schedule``."""
    EMITTERS[type(statement)](statement, schedule)
