"""``ipu-wrap-scalars``: the arguments and results of a program are tensors."""

from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type

_SCALARS = (ir.FloatType, ir.IntegerType, ir.IndexType)


class WrapScalars(Pass):
    """Turn scalar arguments and results of functions into tensors of rank 0, which have a place.

    Needs:  functions that nobody calls (``inline``, ``symbol-dce``); others are left as they are.
    Leaves: no function that takes or returns a scalar.
    """

    name = "ipu-wrap-scalars"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            called = {str(call.attributes["callee"]) for call in list_ops(module, "func.call")}
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks) == 1 and f"@{symbol_of(function)}" not in called:
                    _wrap(function)


def _wrap(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for argument in block.arguments:
            if isinstance(argument.type, _SCALARS):
                _wrap_argument(argument)
    last = terminator(block)
    with ir.InsertionPoint(last), last.location:
        for number, value in enumerate(last.operands):
            if isinstance(value.type, _SCALARS):
                wrapped = ir.RankedTensorType.get([], value.type)
                last.operands[number] = upstream("tensor").FromElementsOp(wrapped, [value]).result
    set_function_type(function)


def _wrap_argument(argument: ir.BlockArgument) -> None:
    """Let all users of ``argument`` have the element of the tensor that it becomes."""
    scalar = argument.type
    argument.set_type(ir.RankedTensorType.get([], scalar))
    load = ir.Operation.create("tensor.extract", [scalar], [argument])
    argument.replace_all_uses_except(load.results[0], load)
