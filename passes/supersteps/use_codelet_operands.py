"""``ipu-use-codelet-operands``: bufferization sees what a library codelet reads."""

from ipu_mlir.dialects.analysis.loop_nest import num_outputs
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class UseCodeletOperands(Pass):
    """Let the body of a library codelet use each of its inputs, which the codelet reads whatever the body says.

    ``one-shot-bufferize`` asks the body which operands an op reads, and copies no data into memory that nothing reads:
    what a loop begins with was lost where only a codelet read it.

    Needs:  linalg on tensors; no ``canonicalize`` before bufferization, which would remove the uses.
    Leaves: in bodies of library codelets no argument of an input without a use; ``canonicalize`` drops them again.
    """

    name = "ipu-use-codelet-operands"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                if "library_call" in op.attributes:
                    _use_inputs(op)


def _use_inputs(op: ir.Operation) -> None:
    block = op.regions[0].blocks[0]
    unused = [each for each in list(block.arguments)[: len(op.operands) - num_outputs(op)] if not list(each.uses)]
    with ir.InsertionPoint(terminator(block)), op.location:
        for argument in unused:
            always = upstream("arith").ConstantOp(ir.IntegerType.get_signless(1), 1).result
            ir.Operation.create("arith.select", [argument.type], [always, argument, argument])
