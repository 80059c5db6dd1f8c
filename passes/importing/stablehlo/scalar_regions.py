"""Loops over elements, and the regions of StableHLO ops, which work on tensors of rank 0, inside of them."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_into

Values = list[ir.Value]


def index(number: int) -> ir.Value:
    """A constant index."""
    return upstream("arith").ConstantOp(ir.IndexType.get(), number).result


def truth(value: bool) -> ir.Value:
    """A constant i1."""
    kind = ir.IntegerType.get_signless(1)
    return upstream("arith").ConstantOp(kind, ir.IntegerAttr.get(kind, int(value))).result


def for_each(extents: Sequence[int], initial: Sequence[ir.Value], body: Callable[[Values, Values], Values]) -> Values:
    """Loops from 0 to each extent, the first one outermost; ``body(counters, carried)`` gives what is carried on."""
    scf = upstream("scf")
    if not extents:
        return body([], list(initial))
    zero, one = index(0), index(1)

    def nest(rest: Sequence[int], counters: Values, carried: Values) -> Values:
        if not rest:
            return body(counters, carried)
        loop = scf.ForOp(zero, index(rest[0]), one, carried)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(nest(rest[1:], [*counters, loop.induction_variable], list(loop.inner_iter_args)))
        return list(loop.results)

    return nest(extents, [], list(initial))


def extract(tensor: ir.Value, indices: Sequence[ir.Value] = ()) -> ir.Value:
    """One element of ``tensor``."""
    return upstream("tensor").ExtractOp(tensor, list(indices)).result


def insert(value: ir.Value, tensor: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
    """``tensor`` with ``value`` at the indices."""
    return upstream("tensor").InsertOp(value, tensor, list(indices)).result


def wrap(scalar: ir.Value) -> ir.Value:
    """``scalar`` as a tensor of rank 0."""
    return upstream("tensor").FromElementsOp(ir.RankedTensorType.get([], scalar.type), [scalar]).result


def select(condition: ir.Value, first: ir.Value, second: ir.Value) -> ir.Value:
    """One of two scalars."""
    return upstream("arith").SelectOp(condition, first, second).result


def both(first: ir.Value | None, second: ir.Value) -> ir.Value:
    """The conjunction of two conditions, of which the first may be missing."""
    return second if first is None else upstream("arith").AndIOp(first, second).result


def compare(predicate: str, first: ir.Value, second: ir.Value) -> ir.Value:
    """``first predicate second`` of two integers or indices."""
    arith = upstream("arith")
    return arith.CmpIOp(getattr(arith.CmpIPredicate, predicate), first, second).result


def apply_region(region: ir.Region, scalars: Sequence[ir.Value]) -> Values:
    """The scalars that a region gives for ``scalars``; its ops are copied to here."""
    block = region.blocks[0]
    known: Known = {argument: wrap(scalar) for argument, scalar in zip(block.arguments, scalars, strict=True)}
    *body, terminator = (op.operation for op in block.operations)
    for op in body:
        clone_into(op, known)
    return [extract(known.get(value, value)) for value in terminator.operands]
