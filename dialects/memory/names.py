"""Names of buffers for a report or a message: by the argument or constant that it is, or the op that fills it."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.support.bindings import ir


def argument_name(argument: ir.BlockArgument) -> str:
    """``%x`` by the name that its location carries, ``%arg0`` where there is none; of a variable, ``@w``."""
    variable = variable_arguments(argument.owner.owner.operation).get(argument.arg_number)
    if variable is not None:
        return f"@{variable}"
    return f"%{name_scope(argument.location) or f'arg{argument.arg_number}'}"


def constant_name(get_global: ir.Operation) -> str:
    """``@weights``."""
    return f"@{ir.FlatSymbolRefAttr(get_global.attributes['name']).value}"


def buffer_name(value: ir.Value) -> str:
    """``linalg.matmul at mlp.mlir:14:8`` for the buffer ``value``: the op that computes what is in it.

    A copy on other tiles says of what: ``%arg0 exchanged at mlp.mlir:14:8``.
    """
    writer = writer_of(value)
    if writer is None:
        return _at(value.owner.name if not isinstance(value.owner, ir.Block) else "buffer", value)
    place = place_of(writer.location)
    if writer.name in ("ipu.exchange", "memref.copy"):
        return f"{_short_name(root_of(writer.operands[0]))} exchanged" + (f" at {place}" if place else "")
    return f"{writer.name} at {place}" if place else writer.name


def _short_name(value: ir.Value) -> str:
    """The name of what is copied, without its place."""
    if isinstance(value.owner, ir.Block):
        return argument_name(ir.BlockArgument(value))
    if (constant := defining_op(value, "memref.get_global")) is not None:
        return constant_name(constant)
    writer = writer_of(value)
    if writer is None or writer.name in ("ipu.exchange", "memref.copy"):
        return value.owner.name if writer is None else _short_name(root_of(writer.operands[0]))
    return writer.name


def _at(name: str, value: ir.Value) -> str:
    place = place_of(value.owner.location) if not isinstance(value.owner, ir.Block) else ""
    return f"{name} at {place}" if place else name


def writer_of(value: ir.Value) -> ir.Operation | None:
    """The op that computes what is in the buffer ``value``: better none that only fills it with one number."""
    writers = list(_writers(value))
    return next((op for op in reversed(writers) if op.name != "linalg.fill"), writers[-1] if writers else None)


def _writers(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that write to ``value`` or a view of it, last first: the order in which MLIR keeps uses."""
    for use in value.uses:
        op = use.owner.operation
        if op.name in VIEW_OPS:
            yield from _writers(op.results[0])
        elif op.name in ("ipu.exchange", "memref.copy"):
            if use.operand_number == 1:
                yield op
        elif is_structured(op) and use.operand_number >= len(op.operands) - num_outputs(op):
            yield op
