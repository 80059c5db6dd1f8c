"""Cotangents of what is read at indices that are computed: added up element by element, in loops.

``ipu-raise-loops`` makes one scatter of such loops.
"""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.scalar_backward import depends_on
from ipu_mlir.passes.autodiff.structured import Structured
from ipu_mlir.passes.support.clone import Known
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")

Step = Callable[[Sequence[ir.Value], ir.Value], ir.Value]
"""From the counters of all loops and the carried tensor to the next one."""


def loops(sizes: Sequence[int], step: Step, start: ir.Value, counters: tuple[ir.Value, ...] = ()) -> ir.Value:
    """``start``, changed by ``step`` at all counters below ``sizes``, the last one moving fastest."""
    if not sizes:
        return step(counters, start)
    size, *inner = sizes
    loop = scf.ForOp(constant_index(0), constant_index(size), constant_index(1), [start])
    with ir.InsertionPoint(loop.body):
        scf.YieldOp([loops(inner, step, loop.inner_iter_args[0], (*counters, loop.induction_variable))])
    return loop.results[0]


def add_at_indices(each: ir.Value, indices: Sequence[Index], start: ir.Value) -> ir.Value:
    """``start`` with every element of ``each`` added at ``indices`` of its own indices."""
    return loops(
        list(each.type.shape), lambda at, into: _added(each, at, into, [index_at(i, at) for i in indices]), start
    )


def add_at_points(nest: Structured, index: Sequence[ir.Value], each: ir.Value, start: ir.Value) -> ir.Value:
    """``start`` with every element of ``each``, one for each point of the loops, added at ``index`` of the body."""

    def step(at: Sequence[ir.Value], into: ir.Value) -> ir.Value:
        known: Known = {}
        for op in (op.operation for op in nest.block.operations):
            if op.name == "linalg.index":
                known[op.results[0]] = at[ir.IntegerAttr(op.attributes["dim"]).value]
        for number in nest.reads:
            if any(depends_on(value, [nest.arguments[number]], nest.block) for value in index):
                operand = nest.op.operands[number]
                own = [index_at(each, at) for each in nest.nest.indices[number]]
                is_tensor = isinstance(operand.type, ir.RankedTensorType)
                known[nest.arguments[number]] = tensor.ExtractOp(operand, own).result if is_tensor else operand
        return _added(each, at, into, [nest.copied(value, known) for value in index])

    return loops(nest.nest.extents, step, start)


def _added(each: ir.Value, at: Sequence[ir.Value], into: ir.Value, index: Sequence[ir.Value]) -> ir.Value:
    element = tensor.ExtractOp(each, list(at)).result
    so_far = tensor.ExtractOp(into, list(index)).result
    return tensor.InsertOp(arith.addf(so_far, element), into, list(index)).result


def index_at(index: Index, at: Sequence[ir.Value]) -> ir.Value:
    """A sum of multiples of loops, where the loops are ``at``."""
    found: ir.Value | None = None
    for loop, factor in enumerate(index.coefficients):
        if factor:
            term = at[loop] if factor == 1 else arith.muli(at[loop], constant_index(factor))
            found = term if found is None else arith.addi(found, term)
    if found is None or index.constant:
        constant = constant_index(index.constant)
        found = constant if found is None else arith.addi(found, constant)
    return found
