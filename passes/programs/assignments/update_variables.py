"""``ipu-update-variables``: functions write to their variables, and give them back no more."""

from ipu_mlir.dialects.analysis.buffers import memories_of
from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callees_first, calls_by_callee
from ipu_mlir.dialects.analysis.variables import variable_arguments, variable_results
from ipu_mlir.dialects.ipu import AssignedOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.call_results import Operand, Result, drop_results
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


class UpdateVariables(Pass):
    """Copy new values of variables to where the variables lie, unless bufferization has written them there.

    All are copied at the end, as if at once: what is still to be copied or given back is moved out of the way before.
    Outlined functions do not give back memory that callers handed them: callers know it under the name that they have
    for it.

    Needs:  bufferized functions with ``ipu.variable`` on arguments and results (``ipu-promote-variables``), or
            ``ipu.updated`` (``ipu-outline-functions``).
    Leaves: ``ipu.variable`` on arguments only, whose memory has the new values when the function returns, with
            ``ipu.assigned`` behind the copies; outlined functions that give new memory only.
    """

    name = "ipu-update-variables"

    def run(self, module: ir.Operation) -> None:
        functions, calls = list_ops(module, "func.func"), calls_by_callee(module)
        with module.context:
            for function in callees_first([each for each in functions if symbol_of(each) in calls]):
                if "sym_visibility" in function.attributes:
                    _return_less(function, calls[symbol_of(function)])
            for function in functions:
                if variable_results(function):
                    _update(function)


def _return_less(function: ir.Operation, calls: list[ir.Operation]) -> None:
    """Let an outlined function give its ``calls`` nothing of what they handed it."""
    block = function.regions[0].blocks[0]
    end = terminator(block)
    gone: dict[int, Operand | Result] = {}
    for number, value in enumerate(end.operands):
        handed = [each for each in memories_of(value) if each.owner == block] if _is_buffer(value) else []
        if handed and value.type == handed[0].type and memories_of(value) == {handed[0]}:
            gone[number] = Operand(ir.BlockArgument(handed[0]).arg_number)
        elif handed:
            with ir.InsertionPoint(end), end.location:
                end.operands[number] = _moved_aside(value, value.type)
    drop_results(function, calls, gone)


def _is_buffer(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType)


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
            value if memories_of(value).isdisjoint(overwritten) else _moved_aside(value, value.type)
            for value in given_back
        ]
        waiting = [
            value if memories_of(value).isdisjoint(overwritten - {variable}) else _moved_aside(value, variable.type)
            for value, variable in copies
        ]
        for value, (_, variable) in zip(waiting, copies, strict=True):
            upstream("memref").CopyOp(value, variable)
            number = ir.BlockArgument(variable).arg_number
            AssignedOp(argument=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number))
        ir.Operation.create("func.return", [], given_back)
    end.erase()
    kept = [entry for number, entry in enumerate(value_attributes(function, "res_attrs")) if number not in results]
    set_function_type(function)
    set_value_attributes(function, "res_attrs", kept)


def _is_there(value: ir.Value, variable: ir.Value) -> bool:
    """True if ``value`` is the memory of ``variable``, as it is or after loops and branches that write to it."""
    return value.type == variable.type and memories_of(value) == {variable}


def _moved_aside(value: ir.Value, kind: ir.Type) -> ir.Value:
    """A copy of ``value`` in memory of its own."""
    memref = ir.MemRefType.get(kind.shape, kind.element_type, memory_space=kind.memory_space, loc=ir.Location.unknown())
    copy = upstream("memref").AllocOp(memref, [], []).memref
    upstream("memref").CopyOp(value, copy)
    return copy
