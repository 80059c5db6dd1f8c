"""``ipu-trim-calls``: outlined functions give nothing that their callers have already."""

from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callees_first, calls_by_callee
from ipu_mlir.dialects.analysis.variables import UPDATED, updated_arguments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.call_results import Operand, Result, drop_results
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


class TrimCalls(Pass):
    """Let callers use what they handed to an outlined function instead of a result that is the same.

    Bufferization does not know that two results of a call may be one buffer, and would update one of them while the
    other is read. A variable that a function gives back as it got it is none that it updates.

    Needs:  calls of functions of one block (``ipu-outline-functions``), without operations that compute nothing.
    Leaves: no private function that gives one of its arguments, or a value twice.
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
