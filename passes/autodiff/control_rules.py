"""Rules of branches and loops.

The backward code of a region runs its forward code again, from what the region takes, as far as derivatives need it.
What an iteration of a loop takes from the one before is stored in the forward loop (``stored_values.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.matchers import integer_of, is_made_inside
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import active_values
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule
from ipu_mlir.passes.autodiff.counted_whiles import counter_of, upper_bound
from ipu_mlir.passes.autodiff.stored_values import NumberOf, body_of, erase_unused, store_for
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")


def _captured(op: ir.Operation, back: Backward) -> list[ir.Value]:
    """The values from around ``op`` that its regions use, and whose cotangents are asked for."""
    found: dict[ir.Value, None] = {}
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                for value in operands_from_outside(inner.operation):
                    if not is_made_inside(value, op) and back.wants(value):
                        found[value] = None
    return list(found)


def _backward_of(
    block: ir.Block, known: Known, back: Backward, given: Sequence[ir.Value | None], captured: dict[ir.Value, ir.Value]
) -> Backward:
    """The cotangents in ``block`` after its backward code, which follows a copy of it at the current insertion point.

    Args:
        known: values of the block that have others in the copy; those of its ops are added.
        given: the cotangents of what the block yields.
        captured: those that values from around it have so far.
    """
    *ops, end = [each.operation for each in block.operations]
    copies = [clone_into(op, known) for op in ops]
    own = Backward(back.rules, active_values(copies, back.active), captured, known)
    for value, cotangent in zip(end.operands, given, strict=True):
        own.add(known.get(value, value), cotangent)
    own.run(copies)
    return own


def _branch(op: ir.Operation, back: Backward) -> None:
    captured = _captured(op, back)
    given = [back.of(result) for result in op.results]
    start = {value: known for value in captured if (known := back.of(value)) is not None}
    made = ir.Operation.create(
        op.name,
        results=[value.type for value in captured],
        operands=list(op.operands),
        attributes={name: op.attributes[name] for name in op.attributes},
        regions=len(op.regions),
    )
    for region, new in zip(op.regions, made.regions, strict=True):
        block = ir.Block.create_at_start(new, [])
        with ir.InsertionPoint(block):
            own = _backward_of(region.blocks[0], {}, back, given, start)
            scf.YieldOp([own.of_or_zeros(value) for value in captured])
        for left in erase_unused(block):
            raise NotDifferentiable(left, "gives a branch what its derivative needs, and does more than that")
    for value, cotangent in zip(captured, made.results, strict=True):
        back.replace(value, cotangent)


@dataclass(frozen=True)
class _Loop:
    """What a loop does forwards.

    Attributes:
        carried: the arguments of its body that it carries.
        starts: what they begin with.
        count: the number of iterations.
        last: the number of the last one.
        most: iterations at most, if that is known.
        known: from the number of an iteration to arguments of the body that follow from it.
        number_of: from the arguments of the body to the number of the iteration.
    """

    carried: list[ir.Value]
    starts: list[ir.Value]
    count: ir.Value
    last: ir.Value
    most: int | None
    known: Callable[[ir.Value], Known]
    number_of: NumberOf


def _for(op: ir.Operation, back: Backward) -> None:
    counter, *carried = body_of(op).arguments
    low, high, step, *starts = op.operands
    row = control_op(op)
    count = row.trip_count(op) if row is not None else None
    most = _most(low, high, step) if count is None else count
    if most == 0:
        _hand_on(op, starts, back)
        return
    number, last = _numbers(low, high, step, count)

    def known(iteration: ir.Value) -> Known:
        return {counter: _counter(low, step, iteration, counter.type)}

    def number_of(arguments: list[ir.Value]) -> ir.Value:
        at, start, distance = (_as_index(each) for each in (arguments[0], low, step))
        return arith.divsi(arith.subi(at, start), distance)

    _backwards(op, back, _Loop(carried, starts, number, last, most, known, number_of))


def _while(op: ir.Operation, back: Backward) -> None:
    counter = counter_of(op)
    if counter is None:
        raise NotDifferentiable(
            op,
            "runs a number of iterations that nothing limits; let a part of its condition compare a counter with a "
            "constant, as while_loop(..., maximum_iterations=100) does",
        )
    if counter.most == 0:
        _hand_on(op, list(op.operands), back)
        return
    carried, first = list(body_of(op).arguments), constant_index(counter.first)
    kind = carried[counter.place].type
    count = arith.subi(_as_index(_number_of(op.results[counter.place])), first)

    def known(iteration: ir.Value) -> Known:
        scalar = kind.element_type if isinstance(kind, ir.RankedTensorType) else kind
        number = arith.addi(iteration, first)
        number = number if scalar == number.type else arith.index_cast(scalar, number)
        return {carried[counter.place]: number if scalar == kind else tensor.FromElementsOp(kind, [number]).result}

    def number_of(arguments: list[ir.Value]) -> ir.Value:
        return arith.subi(_as_index(_number_of(arguments[counter.place])), constant_index(counter.first))

    last = arith.subi(count, constant_index(1))
    _backwards(op, back, _Loop(carried, list(op.operands), count, last, counter.most, known, number_of))


def _hand_on(op: ir.Operation, starts: Sequence[ir.Value], back: Backward) -> None:
    """A loop that never runs gives what it begins with."""
    for value, result in zip(starts, op.results, strict=True):
        back.add(value, back.of(result))


def _backwards(op: ir.Operation, back: Backward, forward: _Loop) -> None:
    """The loop that runs from the last iteration of ``op`` to the first."""
    carried = forward.carried
    moving = [place for place, value in enumerate(carried) if back.wants(value)]
    captured = _captured(op, back)
    starts = [back.of_or_zeros(op.results[place]) for place in moving] + [back.of_or_zeros(each) for each in captured]
    loop = scf.ForOp(constant_index(0), forward.count, constant_index(1), starts)
    with ir.InsertionPoint(loop.body):
        known = forward.known(arith.subi(forward.last, loop.induction_variable))
        inner = list(loop.inner_iter_args)
        given: list[ir.Value | None] = [None] * len(carried)
        for place, cotangent in zip(moving, inner, strict=False):
            given[place] = cotangent
        so_far = dict(zip(captured, inner[len(moving) :], strict=True))
        own = _backward_of(body_of(op), known, back, given, so_far)
        scf.YieldOp(
            [own.of_or_zeros(carried[place]) for place in moving] + [own.of_or_zeros(each) for each in captured]
        )
    results = list(loop.results)
    for value, cotangent in zip(captured, results[len(moving) :], strict=True):
        back.replace(value, cotangent)
    for place, cotangent in zip(moving, results, strict=False):
        back.add(forward.starts[place], cotangent)
    replaced = store_for(op, loop.operation, forward.last, forward.most, known, forward.number_of)
    if replaced:
        back.note_replaced(replaced)
        op.erase()


def _numbers(low: ir.Value, high: ir.Value, step: ir.Value, count: int | None) -> tuple[ir.Value, ir.Value]:
    """The number of iterations, and the number of the last one."""
    if count is not None:
        return constant_index(count), constant_index(count - 1)
    low, high, step = (_as_index(value) for value in (low, high, step))
    number = arith.ceildivsi(arith.subi(high, low), step)
    number = arith.maxsi(number, constant_index(0))
    return number, arith.subi(number, constant_index(1))


def _most(low: ir.Value, high: ir.Value, step: ir.Value) -> int | None:
    """Iterations at most of a loop that ends at the lesser of something and a constant."""
    first, distance, end = integer_of(low), integer_of(step), upper_bound(high)
    return None if first is None or not distance or end is None else max(0, -((first - end) // distance))


def _as_index(value: ir.Value) -> ir.Value:
    index = ir.IndexType.get()
    return value if value.type == index else arith.index_cast(index, value)


def _number_of(value: ir.Value) -> ir.Value:
    """The number that a tensor without dimensions holds; any other value as it is."""
    return tensor.ExtractOp(value, []).result if isinstance(value.type, ir.RankedTensorType) else value


def _counter(low: ir.Value, step: ir.Value, iteration: ir.Value, kind: ir.Type) -> ir.Value:
    """What the loop counts in an iteration."""
    if integer_of(low) == 0 and integer_of(step) == 1 and kind == iteration.type:
        return iteration
    number = iteration if kind == iteration.type else arith.index_cast(kind, iteration)
    return arith.addi(low, arith.muli(number, step))


CONTROL_RULES: dict[str, Rule] = {
    "scf.if": _branch,
    "scf.index_switch": _branch,
    "scf.for": _for,
    "scf.while": _while,
}
"""By the name of the op."""
