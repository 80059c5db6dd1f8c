"""``ipu-update-variables``: functions write to their variables, and give them back no more."""

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.control_flow import sources_of, terminator
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.outlined_calls import callee_of, callees_first
from ipu_mlir.dialects.analysis.variables import updated_arguments, variable_arguments, variable_results
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


class UpdateVariables(Pass):
    """Copy new values of variables to where the variables lie, unless bufferization has written them there.

    All are copied at the end, as if at once: what is still to be copied or given back is moved out of the way before.
    Outlined functions give nothing back that they have written to what callers handed them.

    Needs:  bufferized functions with ``ipu.variable`` on arguments and results (``ipu-promote-variables``), or
            ``ipu.updated`` (``ipu-outline-functions``).
    Leaves: ``ipu.variable`` on arguments only, whose memory has the new values when the function returns.
    """

    name = "ipu-update-variables"

    def run(self, module: ir.Operation) -> None:
        functions = list_ops(module, "func.func")
        with module.context:
            for function in callees_first(functions) if any(map(updated_arguments, functions)) else ():
                _return_less(
                    function,
                    [
                        op
                        for op in list_ops(module, "func.call")
                        if callee_of(op) == ir.StringAttr(function.attributes["sym_name"]).value
                    ],
                )
            for function in functions:
                if variable_results(function):
                    _update(function)


def _return_less(function: ir.Operation, calls: list[ir.Operation]) -> None:
    """Let an outlined function that has written to what its ``calls`` handed it give that back no more."""
    block = function.regions[0].blocks[0]
    end = terminator(block)
    gone = {n: a for n, a in updated_arguments(function).items() if end.operands[n] == block.arguments[a]}
    kept = [number for number in range(len(end.operands)) if number not in gone]
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", [], [end.operands[number] for number in kept])
    end.erase()
    entries = value_attributes(function, "res_attrs")
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    kind = ir.FunctionType.get(kind.inputs, [kind.results[number] for number in kept])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    set_value_attributes(function, "res_attrs", [entries[number] for number in kept])
    for call in calls:
        attributes = {name: call.attributes[name] for name in call.attributes}
        with ir.InsertionPoint(call), call.location:
            results = [call.results[number].type for number in kept]
            new = ir.Operation.create("func.call", results, list(call.operands), attributes)
        for number, result in enumerate(call.results):
            result.replace_all_uses_with(
                call.operands[gone[number]] if number in gone else new.results[kept.index(number)]
            )
        call.erase()


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
