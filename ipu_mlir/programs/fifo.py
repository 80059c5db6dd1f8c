"""``fifo``: a value of some iterations ago."""

from typing import Any

from ipu_mlir.dialects.ipu import FifoOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol


def fifo(x: Any, depth: int, *, offload: bool = False) -> Any:
    """The value that ``x`` had ``depth`` executions of this place in the program ago; zeros before there is one.

        def body(i, w):
            late = ipu.fifo(w, 2)

    It remembers from run to run, as a variable of the session does.

    Args:
        x: a traced tensor.
        depth: with less than 1 it is ``x`` as it is now.
        offload: whether the values wait in remote memory.

    Raises:
        TraceTypeError: ``x`` is no traced tensor, or the depth no integer. TraceValueError: ``x`` has no elements.
    """
    if not isinstance(x, Symbol):
        raise TraceTypeError(f"fifo takes a traced tensor, got {type(x).__name__}; call it inside an @ipu.function")
    if type(depth) is not int:
        raise TraceTypeError(f"fifo of {x} has a depth of {depth!r}; it is an integer")
    if 0 in x.shape:
        raise TraceValueError(f"fifo of {x}: a tensor without elements has nothing to remember; use it as it is")
    with x.program.emit("fifo"):
        op = FifoOp(
            depth=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), depth), value=x.value, delayed=x.value.type
        )
        if offload:
            op.operation.attributes["offload"] = ir.UnitAttr.get()
        return x.program.wrap(op.delayed, x.shape, x.dtype)
