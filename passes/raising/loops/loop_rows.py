"""Rows that a loop takes and puts one after the other, each of them once."""

from collections.abc import Mapping

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, terminator
from ipu_mlir.dialects.analysis.shards import SHARD
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.affine_expressions import as_it_is
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import generic
from ipu_mlir.passes.support.tensor_views import slice_offsets
from ipu_mlir.passes.support.wrapped_scalars import scalar_op


def counted_rounds(loop: ir.Operation) -> int | None:
    """The iterations of a ``scf.for`` that counts them from 0; None where that is not known."""
    rule = control_op(loop)
    counts = integer_of(loop.operands[0]) == 0 and integer_of(loop.operands[2]) == 1
    return rule.trip_count(loop) if rule is not None and counts else None


def row_order(op: ir.Operation, loop: ir.Operation) -> int | None:
    """1 if ``op`` takes or puts the row that ``loop`` counts, of as many as it runs; -1 if from the last one on."""
    is_put = op.name == "tensor.insert_slice"
    row, whole = (op.operands[0].type, op.operands[1].type) if is_put else (op.results[0].type, op.operands[0].type)
    first, *others = slice_offsets(op)
    rounds = counted_rounds(loop)
    is_row = list(row.shape) == list(whole.shape)[1:] and rounds == whole.shape[0] and not any(others)
    return _order(first, loop.regions[0].blocks[0].arguments[0], rounds) if is_row and rounds else None


def row_that_is_put(loop: ir.Operation, number: int) -> ir.Operation | None:
    """The ``tensor.insert_slice`` with which each iteration puts one row of result ``number``, all of them in turn."""
    block = loop.regions[0].blocks[0]
    insert = defining_op(terminator(block).operands[number], "tensor.insert_slice")
    is_next = insert is not None and insert.operands[1] == block.arguments[1 + number]
    return insert if is_next and row_order(insert, loop) is not None else None


def _order(value: ir.Value | int, counter: ir.Value, rows: int) -> int | None:
    """1 if ``value`` is ``counter``, in another type or between bounds that it does not leave; -1 if it is the rest."""
    order = 1
    while value != counter:
        match None if isinstance(value, int) else scalar_op(value):
            case (op, [value]) if op.name == "arith.index_cast":
                pass
            case (op, [last, value]) if op.name == "arith.subi" and integer_of(last) == rows - 1:
                order = -order
            case (op, [value, bound]) if (end := integer_of(bound)) is not None:
                if not (op.name == "arith.maxsi" and end <= 0) and not (op.name == "arith.minsi" and end >= rows - 1):
                    return None
            case _:
                return None
    return order


def of_all_rows(op: ir.Operation, wholes: Mapping[ir.Value, ir.Value], start: ir.Value) -> ir.Value:
    """What ``op``, without indices in its body, gives of tensors in place of their rows: rows of it, or their sum.

    Args:
        wholes: by operand of ``op`` that is a row.
        start: what the sums begin with; rows are one more dimension of it, unless they are added up.
    """
    maps, nest, old = indexing_maps(op), loop_nest(op), op.regions[0].blocks[0]
    assert maps is not None and nest is not None, "it has a loop nest"
    is_kept, loops = start.type.rank > op.results[0].type.rank, maps[0].n_dims + 1
    inner = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(each) for each in range(1, loops)])
    has_rows = [value in wholes for value in list(op.operands)[:-1]] + [is_kept]
    with_rows = [
        ir.AffineMap.get(
            loops,
            0,
            [*[ir.AffineExpr.get_dim(0)] * has_row, *(as_it_is(each.compose(inner)) for each in own.results)],
        )
        for own, has_row in zip(maps, has_rows, strict=True)
    ]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        known: Known = dict(zip(old.arguments, arguments, strict=True))
        *ops, end = [each.operation for each in old.operations]
        for each in ops:
            clone_into(each, known)
        return [known.get(value, value) for value in end.operands]

    operands = [wholes.get(value, value) for value in list(op.operands)[:-1]]
    shard = {SHARD: op.attributes[SHARD]} if SHARD in op.attributes else {}
    return generic(operands, [start], with_rows, [is_kept, *nest.parallel], body, shard).results[0]
