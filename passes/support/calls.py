"""Calls that a pass of ours inlines: upstream's inliner leaves functions with ops of ours alone."""

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import replace_op


def inline_call(call: ir.Operation, callee: ir.Operation) -> None:
    """Put the code of ``callee``, a function of one block, in the place of ``call``."""
    block = callee.regions[0].blocks[0]
    known: Known = dict(zip(block.arguments, call.operands, strict=True))
    with ir.InsertionPoint(call):
        for op in list(block.operations)[:-1]:
            clone_into(op.operation, known)
    replace_op(call, [known.get(value, value) for value in terminator(block).operands])
