"""``ipu-trim-calls``: outlined functions give nothing that their callers have already, and take nothing for nothing."""

from ipu_mlir.dialects.analysis.matchers import module_around, symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callees_first, calls_by_callee
from ipu_mlir.dialects.analysis.variables import UPDATED, updated_arguments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.call_results import Operand, Result, drop_results
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


class TrimCalls(Pass):
    """Let callers use what they handed to an outlined function instead of a result that is the same.

    Bufferization does not know that two results of a call may be one buffer, and would update one of them while the
    other is read. A variable that a function gives back as it got it is none that it updates. An argument that nobody
    reads would lie where no reader needs it, on another IPU even.

    Needs:  calls of functions of one block (``ipu-outline-functions``), without operations that compute nothing.
    Leaves: no private function that gives one of its arguments, or a value twice, or takes what it does not read.
    """

    name = "ipu-trim-calls"

    def run(self, module: ir.Operation) -> None:
        calls = calls_by_callee(module)
        functions = [each for each in list_ops(module, "func.func") if symbol_of(each) in calls]
        with module.context:
            for function in callees_first(functions):
                if "sym_visibility" in function.attributes and len(function.regions[0].blocks) == 1:
                    gone = _known_to_callers(function)
                    _keep_arguments(function, gone)
                    drop_results(function, calls[symbol_of(function)], gone)
                    _drop_unread(function)


def _known_to_callers(function: ir.Operation) -> dict[int, Operand | Result]:
    block = function.regions[0].blocks[0]
    first: dict[ir.Value, int] = {}
    gone: dict[int, Operand | Result] = {}
    for number, value in enumerate(terminator(block).operands):
        if value.owner == block:
            gone[number] = Operand(ir.BlockArgument(value).arg_number)
        elif value in first:
            gone[number] = Result(first[value])
        first.setdefault(value, number)
    return gone


def _keep_arguments(function: ir.Operation, gone: dict[int, Operand | Result]) -> None:
    """Say no more that arguments are updated whose new values are ``gone``."""
    updated = updated_arguments(function)
    if updated.keys().isdisjoint(gone):
        return
    entries = value_attributes(function, "arg_attrs")
    for number in updated.keys() & gone.keys():
        del entries[updated[number]][UPDATED]
    set_value_attributes(function, "arg_attrs", entries)


def _drop_unread(function: ir.Operation) -> None:
    """Let ``function`` and its callers do without arguments that nobody reads; variables stay."""
    block = function.regions[0].blocks[0]
    entries = value_attributes(function, "arg_attrs")
    kept = [each.arg_number for each in block.arguments if any(each.uses) or entries[each.arg_number]]
    if len(kept) == len(entries):
        return
    for number in reversed(range(len(entries))):
        if number not in kept:
            block.erase_argument(number)
    set_function_type(function)
    set_value_attributes(function, "arg_attrs", [entries[number] for number in kept])
    for call in calls_by_callee(module_around(function))[symbol_of(function)]:
        with ir.InsertionPoint(call), call.location:
            operands = [call.operands[number] for number in kept]
            attributes = {name: call.attributes[name] for name in call.attributes}
            new = ir.Operation.create("func.call", [each.type for each in call.results], operands, attributes)
        replace_op(call, list(new.results))
