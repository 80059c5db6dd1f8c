"""``ipu-rejoin-branches``: the branches that were put into functions for bufferization go back to their places."""

from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.supersteps.divide_branches import DIVIDED
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class RejoinBranches(Pass):
    """Put the ops of the functions that ``ipu-divide-branches`` made in the place of their calls.

    The ops are moved, those of this dialect as well, which upstream's ``inline`` leaves alone.

    Needs:  buffers, with each function that has ``ipu.divided`` called once.
    Leaves: none of these functions.
    """

    name = "ipu-rejoin-branches"

    def run(self, module: ir.Operation) -> None:
        divided = {symbol_of(op): op for op in list_ops(module, "func.func") if DIVIDED in op.attributes}
        if not divided:
            return
        for call in list_ops(module, "func.call"):
            function = divided.get(callee_of(call))
            if function is not None:
                _move_back(call, function.regions[0].blocks[0])
                function.erase()


def _move_back(call: ir.Operation, block: ir.Block) -> None:
    for argument, value in zip(block.arguments, call.operands, strict=True):
        argument.replace_all_uses_with(value)
    end = terminator(block)
    for op in list(block.operations)[:-1]:
        op.move_before(call)
    replace_op(call, list(end.operands))
