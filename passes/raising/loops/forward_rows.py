"""``ipu-forward-rows``: rows of which a loop makes all alike are what it makes them of."""

from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, float_of, is_made_inside, is_used, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.loops.loop_rows import row_order, row_that_is_put
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ForwardRows(Pass):
    """Take a tensor that a loop puts into each row of another one instead of a row of that one.

    TensorFlow stores for a gradient whatever an iteration takes, the weights of a layer, too, which are the same in
    every one: a row of them per step.

    What an iteration takes of a row that it then puts is what the loop began with. So a gradient adds to rows of zeros,
    and puts zeros into those that it has read: the sums are what is added, and the zeros nobody takes.

    Needs:  linalg on tensors, loops that count (``ipu-raise-counted-loops``), rows as slices.
    Leaves: no slice of a single row of a loop's result that has a tensor from outside of the loop in all rows, no
            such result that nobody takes, and no row of what a loop carries that is read where the loop puts it.
    """

    name = "ipu-forward-rows"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for loop in list_ops(module, "scf.for"):
                for number in range(len(loop.results)):
                    insert = row_that_is_put(loop, number)
                    if insert is not None:
                        _take_from_start(loop, number, insert)
                        _forward(loop, number, insert)


def _take_from_start(loop: ir.Operation, number: int, insert: ir.Operation) -> None:
    """Let iterations take what the loop begins with of result ``number``, if they take the rows that they put."""
    start, carried = loop.operands[3 + number], insert.operands[1]
    readers = [use.owner.operation for use in carried.uses if use.owner.operation != insert]
    if any(
        reader.name != "tensor.extract_slice" or row_order(reader, loop) != row_order(insert, loop)
        for reader in readers
    ):
        return
    for reader in readers:
        reader.operands[0] = start
        fill = defining_op(start, "linalg.fill")
        if fill is not None and float_of(fill.operands[0]) == 0:
            for use in list(reader.results[0].uses):
                _drop_sum_with_zeros(use.owner.operation, use.operand_number)
    if not is_used(loop.results[number]):
        terminator(loop.regions[0].blocks[0]).operands[number] = carried


def _drop_sum_with_zeros(op: ir.Operation, zeros: int) -> None:
    """Replace the sum of two tensors, one of them zeros, by the other one."""
    nest = loop_nest(op) if op.name == "linalg.generic" else None
    if nest is None or nest.num_inputs != 2 or not all(nest.parallel) or len(set(nest.indices)) > 1:
        return
    block = op.regions[0].blocks[0]
    step = defining_op(terminator(block).operands[0], "arith.addf")
    if step is not None and set(step.operands) == set(list(block.arguments)[:2]):
        replace_op(op, [op.operands[1 - zeros]])


def _forward(loop: ir.Operation, number: int, insert: ir.Operation) -> None:
    row, result = insert.operands[0], loop.results[number]
    if is_made_inside(row, loop):
        return
    for use in list(result.uses):
        reader = use.owner.operation
        if reader.name == "tensor.extract_slice" and reader.results[0].type == row.type:
            replace_op(reader, [row])
    end = terminator(loop.regions[0].blocks[0])
    if not is_used(result):
        end.operands[number] = insert.operands[1]
