"""Loops and branches, written for a batch: what differs from example to example decides with a mask."""

import functools
from collections.abc import Callable, Sequence

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.tracing.batching.batcher import Batcher, New, Rule, acts, generic
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.holders import Holder

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")


def _make(
    op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type], holders: Sequence[Holder]
) -> ir.Operation:
    attributes = {name: op.attributes[name] for name in op.attributes}
    new = ir.Operation.create(op.name, list(types), list(operands), attributes, regions=len(holders))
    for region, holder in zip(new.regions, holders, strict=True):
        holder.move_to(region)
    return new


def _carried(batcher: Batcher, holder: Holder, arguments: Sequence[ir.Value], flags: Sequence[bool]) -> None:
    """Give ``holder`` an argument for each of those of a block, batched as ``flags`` say."""
    for old, flag in zip(arguments, flags, strict=True):
        batcher.note(old, holder.add_argument(batcher.type(old.type) if flag else old.type), flag)


def _as_flagged(batcher: Batcher, values: Sequence[New], flags: Sequence[bool]) -> list[ir.Value]:
    return [batcher.repeated(new) if flag else new.value for new, flag in zip(values, flags, strict=True)]


def _settled(flags: list[bool], attempt: Callable[[list[bool]], tuple[list[bool], Callable[[], None]]]) -> None:
    """Try with ever more batched values until a round of the loop batches no others.

    Args:
        attempt: writes the loop with values batched as the flags say; gives the flags of what comes out of a round, and
            what forgets it again.
    """
    while True:
        found, drop = attempt(flags)
        grown = [one or other for one, other in zip(flags, found, strict=True)]
        if grown == flags:
            return
        drop()
        flags[:] = grown


def for_loop(batcher: Batcher, op: ir.Operation) -> None:
    """A loop between bounds of all examples stays one; else the longest one runs, and masks say who takes part."""
    if _is_loop_over_elements(op) and not batcher.is_batched(*list(op.operands)[:3]):
        _elements(batcher, op)
        return
    bounds = [batcher.new(value) for value in list(op.operands)[:3]]
    starts = [batcher.new(value) for value in list(op.operands)[3:]]
    masked = any(each.batched for each in bounds)
    flags = [masked or each.batched for each in starts]
    block = op.regions[0].blocks[0]
    made: list[tuple[Holder, list[New]]] = []
    limits = _longest(batcher, bounds) if masked else [each.value for each in bounds]

    def attempt(flags: list[bool]) -> tuple[list[bool], Callable[[], None]]:
        holder = Holder()
        counter = holder.add_argument(ir.IndexType.get())
        batcher.note(block.arguments[0], counter, False)
        _carried(batcher, holder, list(block.arguments)[1:], flags)
        with holder.filling():
            if not masked:
                results = batcher.block(block)
            else:
                own = New(_own_counter(batcher, bounds, counter), True)
                batcher.note(block.arguments[0], *own)
                active = New(_below(batcher, own, bounds[1]), True)
                before = [batcher.new(each) for each in list(block.arguments)[1:]]
                with batcher.only(active):
                    pairs = zip(batcher.block(block), before, strict=True)
                results = [New(batcher.chosen(active, new, old), True) for new, old in pairs]
        made[:] = [(holder, results)]
        return [each.batched for each in results], holder.drop

    _settled(flags, attempt)
    ((holder, results),) = made
    with holder.filling():
        scf.YieldOp(_as_flagged(batcher, results, flags))
    operands = [*limits, *_as_flagged(batcher, starts, flags)]
    new = _make(op, operands, [value.type for value in operands[3:]], [holder])
    for old, value, flag in zip(op.results, new.results, flags, strict=True):
        batcher.note(old, value, flag)


def _longest(batcher: Batcher, bounds: Sequence[New]) -> list[ir.Value]:
    """From 0 to the largest number of rounds of an example, one by one."""
    begin, end, step = bounds
    whole = ir.RankedTensorType.get([batcher.size], ir.IndexType.get())

    def code(*_: ir.Value) -> ir.Value:
        example = linalg.IndexOp(0).result
        first, last, by = (batcher.number(each, example) for each in (begin, end, step))
        return arith.ceildivsi(arith.subi(last, first), by)

    rounds = batcher.every([], whole, code)
    maps = [ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0)]), ir.AffineMap.get(1, 0, [])]
    none = fill_with(index_constant(0), tensor.EmptyOp([], ir.IndexType.get()).result).results[0]
    most = generic([rounds], maps, ["reduction"], none, lambda each, so_far: arith.maxsi(so_far, each))
    return [index_constant(0), tensor.ExtractOp(most, []).result, index_constant(1)]


def _own_counter(batcher: Batcher, bounds: Sequence[New], round_: ir.Value) -> ir.Value:
    """What the counter of each example is in round ``round_`` of all."""
    whole = ir.RankedTensorType.get([batcher.size], ir.IndexType.get())

    def code(*_: ir.Value) -> ir.Value:
        example = linalg.IndexOp(0).result
        begin, step = batcher.number(bounds[0], example), batcher.number(bounds[2], example)
        return arith.addi(begin, arith.muli(round_, step))

    return batcher.every([], whole, code)


def _below(batcher: Batcher, counter: New, end: New) -> ir.Value:
    def code(*_: ir.Value) -> ir.Value:
        example = linalg.IndexOp(0).result
        one, other = batcher.number(counter, example), batcher.number(end, example)
        return arith.cmpi(arith.CmpIPredicate.slt, one, other)

    return batcher.every([], _flags(batcher), code)


_OF_ELEMENTS = ("tensor.extract", "tensor.insert", "scf.yield")


def _is_loop_over_elements(op: ir.Operation) -> bool:
    """True if a loop carries tensors and only reads and writes single elements: a nest of such, around numbers."""
    if any(not isinstance(result.type, ir.RankedTensorType) for result in op.results):
        return False
    for view in op.regions[0].blocks[0].operations:
        inner = view.operation
        if inner.name == "scf.for":
            if not _is_loop_over_elements(inner):
                return False
        elif inner.name not in _OF_ELEMENTS and (
            len(inner.regions) or any(isinstance(each.type, ir.RankedTensorType) for each in inner.results)
        ):
            return False
    return True


def _elements(batcher: Batcher, op: ir.Operation) -> None:
    """One more loop around all others, so that they stay a nest around element ops."""
    starts = [batcher.for_all(value) for value in list(op.operands)[3:]]
    loop = scf.ForOp(index_constant(0), index_constant(batcher.size), index_constant(1), starts)
    with ir.InsertionPoint(loop.body):
        results = _loop_of_one(batcher, op, {}, loop.induction_variable, list(loop.inner_iter_args))
        scf.YieldOp(results)
    for old, value in zip(op.results, loop.results, strict=True):
        batcher.note(old, value, True)


def _loop_of_one(
    batcher: Batcher,
    op: ir.Operation,
    known: dict[ir.Value, New],
    example: ir.Value,
    starts: Sequence[ir.Value],
) -> list[ir.Value]:
    """The loop of one example; ``known`` has what stands for values inside, and whether that has the batch."""

    def new(value: ir.Value) -> New:
        return known[value] if value in known else batcher.new(value)

    def number(value: ir.Value) -> ir.Value:
        found, batched = new(value)
        return tensor.ExtractOp(found, [example]).result if batched else found

    loop = scf.ForOp(*(number(each) for each in list(op.operands)[:3]), list(starts))
    block = op.regions[0].blocks[0]
    known[block.arguments[0]] = New(loop.induction_variable, False)
    for old, value in zip(list(block.arguments)[1:], loop.inner_iter_args, strict=True):
        known[old] = New(value, True)
    with ir.InsertionPoint(loop.body):
        for view in block.operations:
            inner = view.operation
            if inner.name == "scf.for":
                carried = [batcher.repeated(new(each)) for each in list(inner.operands)[3:]]
                found = _loop_of_one(batcher, inner, known, example, carried)
                known.update({old: New(value, True) for old, value in zip(inner.results, found, strict=True)})
            elif inner.name == "tensor.extract":
                source, batched = new(inner.operands[0])
                place = [*([example] if batched else []), *map(number, list(inner.operands)[1:])]
                known[inner.results[0]] = New(tensor.ExtractOp(source, place).result, False)
            elif inner.name == "tensor.insert":
                place = [example, *map(number, list(inner.operands)[2:])]
                dest = batcher.repeated(new(inner.operands[1]))
                known[inner.results[0]] = New(tensor.InsertOp(number(inner.operands[0]), dest, place).result, True)
            else:
                copied = inner.clone()
                for place, value in enumerate(inner.operands):
                    found, batched = new(value)
                    is_tensor = isinstance(value.type, ir.RankedTensorType)
                    copied.operands[place] = found if is_tensor else number(value)
                for old, value in zip(inner.results, copied.results, strict=True):
                    known[old] = New(value, False)
    return list(loop.results)


def while_loop(batcher: Batcher, op: ir.Operation) -> None:
    """It runs as long as one example goes on; those that do not keep what they have."""
    before, after = (region.blocks[0] for region in op.regions)
    starts = [batcher.new(value) for value in op.operands]
    flags = [each.batched for each in starts]
    made: list[tuple[Holder, New, list[New], Holder, list[New]]] = []

    def attempt(flags: list[bool]) -> tuple[list[bool], Callable[[], None]]:
        first = Holder()
        _carried(batcher, first, before.arguments, flags)
        with first.filling():
            condition, *handed = batcher.block(before)
            if condition.batched and any(acts(view.operation) for view in before.operations):
                raise TraceTypeError(
                    "vmap: the condition of a loop that ends earlier for some examples than for others does more than "
                    "to decide, as a check or a print does; do that in the body of the loop"
                )
        handed_flags = [condition.batched or each.batched for each in handed]
        second = Holder()
        _carried(batcher, second, after.arguments, handed_flags)
        mask = New(second.add_argument(condition.value.type), True) if condition.batched else None
        with second.filling():
            if mask is None:
                results = batcher.block(after)
            else:
                with batcher.only(mask):
                    results = batcher.block(after)
                kept = [batcher.new(value) for value in after.arguments]
                results = [New(batcher.chosen(mask, new, old), True) for new, old in zip(results, kept, strict=True)]

        def drop() -> None:
            first.drop()
            second.drop()

        made[:] = [(first, condition, handed, second, results)]
        return [each.batched for each in results], drop

    _settled(flags, attempt)
    ((first, condition, handed, second, results),) = made
    handed_flags = [condition.batched or each.batched for each in handed]
    with first.filling():
        values = _as_flagged(batcher, handed, handed_flags)
        if condition.batched:
            scf.ConditionOp(_any(condition.value), [*values, condition.value])
            values.append(condition.value)
        else:
            scf.ConditionOp(condition.value, values)
    with second.filling():
        scf.YieldOp(_as_flagged(batcher, results, flags))
    new = _make(op, _as_flagged(batcher, starts, flags), [value.type for value in values], [first, second])
    for old, value, flag in zip(op.results, list(new.results), handed_flags, strict=False):
        batcher.note(old, value, flag)


def _any(flags: ir.Value) -> ir.Value:
    maps = [ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0)]), ir.AffineMap.get(1, 0, [])]
    bit = ir.IntegerType.get_signless(1)
    none = fill_with(arith.constant(bit, ir.IntegerAttr.get(bit, 0)), tensor.EmptyOp([], bit).result).results[0]
    found = generic([flags], maps, ["reduction"], none, lambda each, so_far: arith.ori(so_far, each))
    return tensor.ExtractOp(found, []).result


def branch(batcher: Batcher, op: ir.Operation) -> None:
    """One decision for all examples stays a branch; else all branches are computed, and each example takes its own."""
    decision = batcher.new(op.operands[0])
    blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
    if decision.batched:
        given = [_of_some(batcher, op, number) for number in range(len(blocks))]
        for number, old in enumerate(op.results):
            batcher.note(old, _select(batcher, op, [each[number] for each in given]), True)
        return
    holders, given = [], []
    for block in blocks:
        holder = Holder()
        with holder.filling():
            given.append(batcher.block(block))
        holders.append(holder)
    flags = [any(each[number].batched for each in given) for number in range(len(op.results))]
    for holder, values in zip(holders, given, strict=True):
        with holder.filling():
            scf.YieldOp(_as_flagged(batcher, values, flags))
    types = [batcher.type(old.type) if flag else old.type for old, flag in zip(op.results, flags, strict=True)]
    new = _make(op, [decision.value], types, holders)
    for old, value, flag in zip(op.results, new.results, flags, strict=True):
        batcher.note(old, value, flag)


def _of_some(batcher: Batcher, op: ir.Operation, number: int) -> list[New]:
    """A branch that some of the examples take: what it yields is there for all, what it does is done for those."""
    block = op.regions[number].blocks[0]
    if len(op.regions) == 1 or not any(acts(view.operation) for view in block.operations):
        return batcher.block(block)
    with batcher.only(_takers(batcher, op, number)):
        return batcher.block(block)


def _takers(batcher: Batcher, op: ir.Operation, number: int) -> New:
    """The examples that take a branch, as a mask."""
    decision, flags = batcher.new(op.operands[0]), _flags(batcher)
    if "cases" not in op.attributes:
        return decision if number == 0 else New(batcher.every([(decision, None)], flags, _is_false), True)
    cases = [index_constant(each) for each in ir.DenseI64ArrayAttr(op.attributes["cases"])]

    def code(each: ir.Value, _: ir.Value) -> ir.Value:
        if number:
            return arith.cmpi(arith.CmpIPredicate.eq, each, cases[number - 1])
        return functools.reduce(arith.andi, (arith.cmpi(arith.CmpIPredicate.ne, each, case) for case in cases))

    return New(batcher.every([(decision, None)], flags, code), True)


def _flags(batcher: Batcher) -> ir.RankedTensorType:
    """The type of a mask."""
    return batcher.type(ir.IntegerType.get_signless(1))


def _is_false(flag: ir.Value, *_: ir.Value) -> ir.Value:
    return arith.xori(flag, arith.constant(flag.type, ir.IntegerAttr.get(flag.type, 1)))


def _select(batcher: Batcher, op: ir.Operation, values: Sequence[New]) -> ir.Value:
    """Of ``values``, one per branch, that which the decision of each example says."""
    if "cases" not in op.attributes:
        return batcher.chosen(batcher.new(op.operands[0]), *values)
    found = batcher.repeated(values[0])
    for number, value in enumerate(values[1:], 1):
        found = batcher.chosen(_takers(batcher, op, number), value, New(found, True))
    return found


def asserted(batcher: Batcher, op: ir.Operation) -> None:
    """It holds for all examples that come by."""
    condition, flags = batcher.new(op.operands[0]), _flags(batcher)
    fails = batcher.every([(New(batcher.repeated(condition), True), None)], flags, _is_false)
    if batcher.taking_part is not None:
        inputs: list[tuple[New, int | None]] = [(New(fails, True), None), (batcher.taking_part, None)]
        fails = batcher.every(inputs, flags, lambda one, other, _: arith.andi(one, other))
    holds = _is_false(_any(fails))
    op.clone().operands[0] = holds


def printed(batcher: Batcher, op: ir.Operation) -> None:
    """All examples at once."""
    if batcher.taking_part is not None:
        raise TraceTypeError("vmap: a print where only some of the examples come by; print what the function returns")
    shown = batcher.for_all(op.operands[0])
    op.clone().operands[0] = shown


CONTROL: dict[str, Rule] = {
    "cf.assert": asserted,
    "ipu.print": printed,
    "scf.for": for_loop,
    "scf.if": branch,
    "scf.index_switch": branch,
    "scf.while": while_loop,
}
