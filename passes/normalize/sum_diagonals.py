"""``ipu-sum-diagonals``: what is combined on a diagonal alone is read there alone."""

import math

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import (
    constant_of,
    defining_op,
    float_of,
    has_one_use,
    loop_of,
    predicate_of,
    terminator,
)
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.combiners import neutral
from ipu_mlir.passes.support.linalg_builders import iterator_types
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class SumDiagonals(Pass):
    """Combine the elements at which two loops have one index in one loop, if all others are neutral.

    That is how JAX writes a trace and ``einsum('bii->b')``: a sum of ``select(i == j, x, 0)`` over rows and columns.

    Needs:  linalg on tensors, with comparisons of indices in its bodies (``ipu-fuse-elementwise-ops``).
    Leaves: no sum, product or extreme over a loop of what is neutral unless its index is that of another loop.
    """

    name = "ipu-sum-diagonals"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                nest = loop_nest(op)
                while nest is not None and (found := _diagonal(op, nest)) is not None:
                    _follow(op, nest, *found)
                    nest = loop_nest(op)


def _diagonal(op: ir.Operation, nest: LoopNest) -> tuple[ir.Value, ir.Value, int, int] | None:
    """What is combined, what that is on the diagonal, and its two loops: the one that stays, and one of the reduction.

    None if all elements are combined.
    """
    block = op.regions[0].blocks[0]
    if len(op.results) != 1 or "library_call" in op.attributes:
        return None
    running = block.arguments[len(block.arguments) - 1]
    combiner = defining_op(terminator(block).operands[0])
    if combiner is None or len(combiner.operands) != 2 or running not in [*combiner.operands]:
        return None
    term = combiner.operands[int(combiner.operands[0] == running)]
    select = defining_op(term, "arith.select")
    compared = None if select is None else defining_op(select.operands[0], "arith.cmpi")
    if select is None or compared is None or not has_one_use(running) or not has_one_use(term):
        return None
    predicate = predicate_of(compared)
    loops = {loop for each in compared.operands if (loop := _loop(each)) is not None}
    if predicate not in ("eq", "ne") or len(loops) != 2 or len({nest.extents[loop] for loop in loops}) > 1:
        return None
    on, off = select.operands[1 + (predicate == "ne")], select.operands[1 + (predicate == "eq")]
    reduced = max((loop for loop in loops if not nest.parallel[loop]), default=None)
    if reduced is None or not _is_neutral(off, combiner.name, op.operands[len(op.operands) - 1]):
        return None
    (stays,) = loops - {reduced}
    return term, on, stays, reduced


def _loop(index: ir.Value) -> int | None:
    """The loop whose number ``index`` is, as an integer of any type."""
    cast = defining_op(index, "arith.index_cast", "arith.index_castui")
    return loop_of(index if cast is None else cast.operands[0])


def _is_neutral(value: ir.Value, combiner: str, start: ir.Value) -> bool:
    """True if ``value`` changes nothing that it is combined with; a sum that begins with 0.0 never is -0.0."""
    if constant_of(value) == neutral(combiner, value.type):
        return True
    fill = defining_op(start, "linalg.fill")
    zeros = [float_of(value), None if fill is None else float_of(fill.operands[0])]
    return combiner == "arith.addf" and zeros == [0.0, 0.0] and math.copysign(1, zeros[1] or 0.0) == 1


def _follow(op: ir.Operation, nest: LoopNest, term: ir.Value, on: ir.Value, stays: int, reduced: int) -> None:
    """Run ``reduced`` together with ``stays``, and combine what lies ``on`` the diagonal."""
    rank = len(nest.extents)
    numbers = [loop - (loop > reduced) for loop in range(rank)]
    numbers[reduced] = numbers[stays]
    followed = ir.AffineMap.get(rank - 1, 0, [ir.AffineExpr.get_dim(number) for number in numbers])
    maps = [
        ir.AffineMap.get(rank - 1, 0, [each.compose(followed) for each in old.results])
        for old in indexing_maps(op) or ()
    ]
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    op.attributes["iterator_types"] = iterator_types([p for loop, p in enumerate(nest.parallel) if loop != reduced])
    for inner in op.regions[0].blocks[0].operations:
        if (loop := next(map(loop_of, inner.operation.results), None)) is not None:
            inner.operation.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), numbers[loop])
    replace_op(term.owner.operation, [on])
