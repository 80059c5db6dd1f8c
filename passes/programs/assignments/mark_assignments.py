"""``ipu-mark-assignments``: the places from which on variables have the values that the program gives them."""

from ipu_mlir.dialects.analysis.control_flow import blocks_of, is_branch, is_loop
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.analysis.variables import updated_arguments, variable_arguments, variable_results
from ipu_mlir.dialects.ipu import AssignedOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class MarkAssignments(Pass):
    """Put ``ipu.assigned`` at the end of each block that hands on another value of a variable than it began with.

    Buffers do not say which of the values that were in the memory of a variable is the one that the program assigned:
    of tensors it is known, and bufferization leaves what takes no tensors where it is. A block that hands the variable
    on as it is has no mark, so that ``ipu-check-assignments`` finds ops that write to it all the same.

    Needs:  functions whose results say which variables they assign (``ipu-promote-variables``), or which arguments
            they update (``ipu-outline-functions``); tensors.
    Leaves: ``ipu.assigned`` before the terminators of these blocks; of branches, inside, and of loops that begin with
            the variable.
    """

    name = "ipu-mark-assignments"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks) == 1:
                    _mark_function(function)


def _mark_function(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    places = {name: number for number, name in variable_arguments(function).items()}
    assigned = {result: places[name] for result, name in variable_results(function).items()}
    end = terminator(block)
    for result, number in (assigned | updated_arguments(function)).items():
        _mark(block, block.arguments[number], end.operands[result], number)


def _mark(block: ir.Block, old: ir.Value, new: ir.Value, number: int) -> None:
    """Mark where ``block``, which begins with ``old`` and yields ``new``, assigns argument ``number``."""
    if new == old:
        return
    op = defining_op(new)
    if op is not None and op.block == block and is_branch(op):
        for inner in blocks_of(op):
            _mark(inner, old, terminator(inner).operands[new.result_number], number)
    elif op is not None and op.block == block and is_loop(op) and _begins_with(op, new.result_number, old):
        place = new.result_number - len(op.results)
        for inner in blocks_of(op):
            _mark(inner, inner.arguments[place], terminator(inner).operands[place], number)
    else:
        with ir.InsertionPoint(terminator(block)), terminator(block).location:
            AssignedOp(argument=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number))


def _begins_with(loop: ir.Operation, result: int, old: ir.Value) -> bool:
    """True if ``loop`` begins with ``old`` as its result of that number, and carries what it gives, in that order."""
    types = [each.type for each in loop.results]
    is_carried = all([each.type for each in block.arguments][-len(types) :] == types for block in blocks_of(loop))
    return is_carried and list(loop.operands)[-len(types) :][result] == old
