"""``scf.while`` that counts: the number of its iterations is known, or a bound of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.wrapped_scalars import scalar_op, splat_integer

scf = upstream("scf")


@dataclass(frozen=True)
class Counter:
    """What a loop counts by ones, from a constant up to one.

    Attributes:
        place: which of the loop-carried values it is.
        first: the number that it begins with.
        most: iterations of the loop at most.
        is_exact: whether these are all of them in any case.
    """

    place: int
    first: int
    most: int
    is_exact: bool


def counter_of(loop: ir.Operation) -> Counter | None:
    """The counter that ends a ``scf.while`` at the latest; None if there is none."""
    before, body = (region.blocks[0] for region in loop.regions)
    condition, yielded = terminator(before), list(terminator(body).operands)
    if list(condition.operands)[1:] != list(before.arguments):
        return None
    limits = list(_all_of(condition.operands[0]))
    for op, operands in limits:
        if op.name != "arith.cmpi" or operands[0] not in before.arguments or predicate_of(op) not in ("slt", "ult"):
            continue
        place = list(before.arguments).index(operands[0])
        step, first = scalar_op(yielded[place]), _integer(loop.operands[place])
        if step is None or step[0].name != "arith.addi" or step[1][0] != body.arguments[place]:
            continue
        end = _as_it_begins(operands[1], loop)
        most, exact = upper_bound(end), _integer(end)
        if first is not None and first >= 0 and most is not None and _integer(step[1][1]) == 1:
            return Counter(place, first, max(0, most - first), len(limits) == 1 and exact is not None)
    return None


def _as_it_begins(value: ir.Value, loop: ir.Operation) -> ir.Value:
    """What a loop-carried value that no iteration changes begins with; any other value as it is."""
    before, body = (region.blocks[0] for region in loop.regions)
    if value not in before.arguments:
        return value
    place = list(before.arguments).index(value)
    return loop.operands[place] if terminator(body).operands[place] == body.arguments[place] else value


def upper_bound(value: ir.Value) -> int | None:
    """A number that an integer does not exceed, as far as it is a constant, or the lesser of one and something else."""
    known, found = _integer(value), scalar_op(value)
    if known is not None or found is None:
        return known
    op, operands = found
    if op.name in ("arith.index_cast", "arith.extsi"):
        return upper_bound(operands[0])
    if op.name != "arith.minsi":
        return None
    return min((bound for each in operands if (bound := upper_bound(each)) is not None), default=None)


def _all_of(flag: ir.Value) -> Iterator[tuple[ir.Operation, list[ir.Value]]]:
    """The ops, with their operands, that all have to give true for ``flag`` to be so."""
    found = scalar_op(flag)
    if found is None:
        return
    op, operands = found
    if op.name == "arith.andi":
        for each in operands:
            yield from _all_of(each)
    elif op.name == "arith.cmpi" and predicate_of(op) == "ne" and _integer(operands[1]) == 0 and _is_flag(operands[0]):
        yield from _all_of(operands[0])
    else:
        yield found


def _is_flag(value: ir.Value) -> bool:
    return value.type == ir.IntegerType.get_signless(1)


def _integer(value: ir.Value) -> int | None:
    found = integer_of(value)
    return splat_integer(value) if found is None else found


def count_whiles(function: ir.Operation) -> None:
    """Write every ``scf.while`` of ``function`` whose number of iterations is known as ``scf.for``."""
    for loop in list_ops(function, "scf.while"):
        counter = counter_of(loop)
        if counter is not None and counter.is_exact:
            with ir.InsertionPoint(loop), loop.location:
                _as_for(loop, counter.most)


def _as_for(loop: ir.Operation, count: int) -> None:
    body = loop.regions[1].blocks[0]
    made = scf.ForOp(constant_index(0), constant_index(count), constant_index(1), list(loop.operands))
    with ir.InsertionPoint(made.body):
        known: Known = dict(zip(body.arguments, made.inner_iter_args, strict=True))
        for op in list(body.operations)[:-1]:
            clone_into(op.operation, known)
        scf.YieldOp([known.get(value, value) for value in terminator(body).operands])
    replace_op(loop, made.results)
