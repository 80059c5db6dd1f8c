"""Rules of branches and loops.

The backward code of a region runs its forward code again, from what the region takes, as far as derivatives need it.
What an iteration of a loop takes from the one before is stored in the forward loop (``stored_values.py``).
"""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.matchers import integer_of, is_made_inside
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import active_values
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule
from ipu_mlir.passes.autodiff.stored_values import erase_unused, store_for
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, scf = upstream("arith"), upstream("scf")


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


def _for(op: ir.Operation, back: Backward) -> None:
    body = op.regions[0].blocks[0]
    low, high, step, *first = op.operands
    counter, *carried = body.arguments
    moving = [place for place, value in enumerate(carried) if back.wants(value)]
    row = control_op(op)
    count = row.trip_count(op) if row is not None else None
    if count == 0:  # the results are what the loop starts from
        for value, result in zip(first, op.results, strict=True):
            back.add(value, back.of(result))
        return
    captured = _captured(op, back)
    starts = [back.of_or_zeros(op.results[place]) for place in moving] + [back.of_or_zeros(each) for each in captured]
    last = _last(low, high, step, count)
    loop = scf.ForOp(constant_index(0), last[0], constant_index(1), starts)
    with ir.InsertionPoint(loop.body):
        iteration = arith.subi(last[1], loop.induction_variable)
        known: Known = {counter: _counter(low, step, iteration, counter.type)}
        inner = list(loop.inner_iter_args)
        given: list[ir.Value | None] = [None] * len(carried)
        for place, cotangent in zip(moving, inner, strict=False):
            given[place] = cotangent
        so_far = dict(zip(captured, inner[len(moving) :], strict=True))
        own = _backward_of(body, known, back, given, so_far)
        scf.YieldOp(
            [own.of_or_zeros(carried[place]) for place in moving] + [own.of_or_zeros(each) for each in captured]
        )
    results = list(loop.results)
    for value, cotangent in zip(captured, results[len(moving) :], strict=True):
        back.replace(value, cotangent)
    for place, cotangent in zip(moving, results, strict=False):
        back.add(first[place], cotangent)
    replaced = store_for(op, loop.operation, last[1], count, known)
    if replaced:
        back.note_replaced(replaced)
        op.erase()


def _last(low: ir.Value, high: ir.Value, step: ir.Value, count: int | None) -> tuple[ir.Value, ir.Value]:
    """The number of iterations, and the number of the last one."""
    if count is not None:
        return constant_index(count), constant_index(count - 1)
    index = ir.IndexType.get()
    low, high, step = (value if value.type == index else arith.index_cast(index, value) for value in (low, high, step))
    number = arith.ceildivsi(arith.subi(high, low), step)
    number = arith.maxsi(number, constant_index(0))
    return number, arith.subi(number, constant_index(1))


def _counter(low: ir.Value, step: ir.Value, iteration: ir.Value, kind: ir.Type) -> ir.Value:
    """What the loop counts in an iteration."""
    if integer_of(low) == 0 and integer_of(step) == 1 and kind == iteration.type:
        return iteration
    number = iteration if kind == iteration.type else arith.index_cast(kind, iteration)
    return arith.addi(low, arith.muli(number, step))


def _while(op: ir.Operation, back: Backward) -> None:
    raise NotDifferentiable(
        op, "runs a number of iterations that is known only at run time; use a loop that counts to a constant"
    )


CONTROL_RULES: dict[str, Rule] = {
    "scf.if": _branch,
    "scf.index_switch": _branch,
    "scf.for": _for,
    "scf.while": _while,
}
"""By the name of the op."""
