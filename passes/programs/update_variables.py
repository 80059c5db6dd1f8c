"""``ipu-update-variables``: functions write to their variables, and give them back no more."""

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.control_flow import sources_of, terminator
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.variables import variable_arguments, variable_results
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


class UpdateVariables(Pass):
    """Copy new values of variables to where the variables lie, unless bufferization has written them there.

    All are copied at the end, as if at once: what is still to be copied or given back is moved out of the way before.

    Needs:  bufferized functions with ``ipu.variable`` on arguments and results (``ipu-promote-variables``).
    Leaves: ``ipu.variable`` on arguments only, whose memory has the new values when the function returns.
    """

    name = "ipu-update-variables"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                if variable_results(function):
                    _update(function)


def _update(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    arguments = {name: block.arguments[number] for number, name in variable_arguments(function).items()}
    end, results = terminator(block), variable_results(function)
    given_back = [value for number, value in enumerate(end.operands) if number not in results]
    copies = [(end.operands[number], arguments[name]) for number, name in results.items()]
    copies = [(value, variable) for value, variable in copies if not _is_there(value, variable)]
    overwritten = {variable for _, variable in copies}
    with ir.InsertionPoint(end), end.location:
        given_back = [
            value if _memory_of(value).isdisjoint(overwritten) else _moved_aside(value, value.type)
            for value in given_back
        ]
        waiting = [
            value if _memory_of(value).isdisjoint(overwritten - {variable}) else _moved_aside(value, variable.type)
            for value, variable in copies
        ]
        for value, (_, variable) in zip(waiting, copies, strict=True):
            upstream("memref").CopyOp(value, variable)
        ir.Operation.create("func.return", [], given_back)
    end.erase()
    kept = [entry for number, entry in enumerate(value_attributes(function, "res_attrs")) if number not in results]
    set_function_type(function)
    set_value_attributes(function, "res_attrs", kept)


def _is_there(value: ir.Value, variable: ir.Value) -> bool:
    """True if ``value`` is the memory of ``variable``, as it is or after loops and branches that write to it."""
    return value.type == variable.type and _memory_of(value) == {variable}


def _memory_of(value: ir.Value) -> set[ir.Value]:
    """The arguments and allocations that ``value`` may be memory of."""
    found: set[ir.Value] = set()
    waiting, seen = [value], set()
    while waiting:
        root = root_of(waiting.pop())
        if root in seen:
            continue
        seen.add(root)
        chosen = sources_of(root)
        if defining_op(root, "arith.select") is not None:
            chosen = list(root.owner.operation.operands)[1:]
        waiting += chosen
        if not chosen:
            found.add(root)
    return found


def _moved_aside(value: ir.Value, kind: ir.Type) -> ir.Value:
    """A copy of ``value`` in memory of its own."""
    memref = ir.MemRefType.get(kind.shape, kind.element_type, memory_space=kind.memory_space, loc=ir.Location.unknown())
    copy = upstream("memref").AllocOp(memref, [], []).memref
    upstream("memref").CopyOp(value, copy)
    return copy
