"""``ipu-forward-rows``: rows of which a loop makes all alike are what it makes them of."""

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, is_made_inside, is_used, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import slice_offsets
from ipu_mlir.passes.support.wrapped_scalars import scalar_op


class ForwardRows(Pass):
    """Take a tensor that a loop puts into each row of another one instead of a row of that one.

    TensorFlow stores for a gradient whatever an iteration takes, the weights of a layer, too, which are the same in
    every one: a row of them per step.

    Needs:  linalg on tensors, loops that count (``ipu-raise-counted-loops``), rows as slices.
    Leaves: no slice of a single row of a loop's result that has a tensor from outside of the loop in all rows, and no
            such result that nobody takes.
    """

    name = "ipu-forward-rows"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for loop in list_ops(module, "scf.for"):
                for number in range(len(loop.results)):
                    insert = _fills_all_rows(loop, number)
                    if insert is not None:
                        _forward(loop, number, insert)


def _fills_all_rows(loop: ir.Operation, number: int) -> ir.Operation | None:
    """The ``tensor.insert_slice`` that puts one tensor into each row of result ``number``."""
    block = loop.regions[0].blocks[0]
    counter, *carried = block.arguments
    insert = defining_op(terminator(block).operands[number], "tensor.insert_slice")
    if insert is None or insert.operands[1] != carried[number] or is_made_inside(insert.operands[0], loop):
        return None
    row, whole = insert.operands[0].type, insert.operands[1].type
    first, *others = slice_offsets(insert)
    counts = integer_of(loop.operands[0]) == 0 and integer_of(loop.operands[2]) == 1
    rule = control_op(loop)
    rows = rule.trip_count(loop) if rule is not None and counts else None
    is_whole_row = list(row.shape) == list(whole.shape)[1:] and not any(others)
    if rows is None or rows != whole.shape[0] or not is_whole_row or isinstance(first, int):
        return None
    return insert if _is_counter(first, counter, rows) else None


def _is_counter(value: ir.Value, counter: ir.Value, rows: int) -> bool:
    """True if ``value`` is ``counter``, in another type or between bounds that it does not leave."""
    while value != counter:
        match scalar_op(value):
            case (op, [value]) if op.name == "arith.index_cast":
                pass
            case (op, [value, bound]) if (end := integer_of(bound)) is not None:
                if not (op.name == "arith.maxsi" and end <= 0) and not (op.name == "arith.minsi" and end >= rows - 1):
                    return False
            case _:
                return False
    return True


def _forward(loop: ir.Operation, number: int, insert: ir.Operation) -> None:
    row, result = insert.operands[0], loop.results[number]
    for use in list(result.uses):
        reader = use.owner.operation
        if reader.name == "tensor.extract_slice" and reader.results[0].type == row.type:
            replace_op(reader, [row])
    end = terminator(loop.regions[0].blocks[0])
    if not is_used(result):
        end.operands[number] = insert.operands[1]
