"""Sizes of tensors that loops carry and branches yield, where those say less than is known."""

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.dynamic_types import before_cast, cast_to, dynamic_sizes
from ipu_mlir.passes.support.rewriting import list_ops


def carry_what_is_cast(module: ir.Operation) -> int:
    """Let loops carry and branches yield tensors themselves, not their casts to types that say less; gives how many."""
    return _carry(module) + _carry_while(module) + _yield_from_branches(module)


def _carry(module: ir.Operation) -> int:
    """Let ``scf.for`` carry tensors that each iteration only updates.

    Upstream does so where all users of the result cast it back.
    """
    count = 0
    for loop in list_ops(module, "scf.for"):
        body = loop.regions[0].blocks[0]
        end = terminator(body)
        for number, result in enumerate(loop.results):
            init, carried = loop.operands[number + 3], body.arguments[number + 1]
            before = before_cast(init)
            known, general = before.type, result.type
            if dynamic_sizes(known) >= dynamic_sizes(general) or not _is_update(end.operands[number], carried):
                continue
            loop.operands[number + 3] = before
            _set_type_inside(body, number + 1, known)
            with ir.InsertionPoint(end), loop.location:
                end.operands[number] = cast_to(end.operands[number], known)
            _set_type_of_result(loop, number, known)
            count += 1
    return count


def _carry_while(module: ir.Operation) -> int:
    """Let ``scf.while`` carry what it yields as it is, and what each iteration gives tensors of the same sizes."""
    count = 0
    for loop in list_ops(module, "scf.while"):
        before, after = (region.blocks[0] for region in loop.regions)
        condition, end = terminator(loop.regions[0].blocks[0]), terminator(loop.regions[1].blocks[0])
        yielded = list(condition.operands)[1:] == list(before.arguments)
        for number, init in enumerate(loop.operands):
            known, general = before_cast(init).type, init.type
            given, inside = end.operands[number], after.arguments[number] if yielded else None
            if inside is None or dynamic_sizes(known) >= dynamic_sizes(general):
                continue
            if before_cast(given).type != known and not _is_update(given, inside):
                continue
            loop.operands[number] = before_cast(init)
            for block in (before, after):
                _set_type_inside(block, number, known)
            condition.operands[number + 1] = before.arguments[number]
            with ir.InsertionPoint(end), loop.location:
                end.operands[number] = cast_to(before_cast(given), known)
            _set_type_of_result(loop, number, known)
            count += 1
    return count


def _set_type_inside(block: ir.Block, number: int, known: ir.Type) -> None:
    argument, general = block.arguments[number], block.arguments[number].type
    argument.set_type(known)
    with ir.InsertionPoint.at_block_begin(block), block.owner.location:
        inside = cast_to(argument, general)
        argument.replace_all_uses_except(inside, inside.owner.operation)


def _set_type_of_result(loop: ir.Operation, number: int, known: ir.Type) -> None:
    result, general = loop.results[number], loop.results[number].type
    result.set_type(known)
    with ir.InsertionPoint.after(loop), loop.location:
        outside = cast_to(result, general)
        result.replace_all_uses_except(outside, outside.owner.operation)


def _yield_from_branches(module: ir.Operation) -> int:
    """Let branches yield what all of them cast from one type."""
    count = 0
    for branches in list_ops(module, "scf.if", "scf.index_switch"):
        ends = [terminator(region.blocks[0]) for region in branches.regions if len(region.blocks)]
        for number, result in enumerate(branches.results):
            known, *others = [before_cast(end.operands[number]).type for end in ends]
            general = result.type
            if dynamic_sizes(known) >= dynamic_sizes(general) or any(other != known for other in others):
                continue
            for end in ends:
                end.operands[number] = before_cast(end.operands[number])
            result.set_type(known)
            with ir.InsertionPoint.after(branches), branches.location:
                outside = cast_to(result, general)
                result.replace_all_uses_except(outside, outside.owner.operation)
            count += 1
    return count


def _is_update(value: ir.Value, of: ir.Value) -> bool:
    """True if ``value`` is ``of`` with other elements, so of the same sizes."""
    op = defining_op(value)
    if value == of or op is None:
        return value == of
    number = ir.OpResult(value).result_number
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return _is_update(op.operands[1], of)
    if op.name == "tensor.cast":
        return _is_update(op.operands[0], of)
    if is_structured(op):
        return _is_update(op.operands[len(op.operands) - len(op.results) + number], of)
    if op.name in ("scf.for", "scf.if", "scf.index_switch"):
        ends = [terminator(region.blocks[0]) for region in op.regions]
        if op.name != "scf.for":
            return all(_is_update(end.operands[number], of) for end in ends)
        carried = op.regions[0].blocks[0].arguments[number + 1]
        return _is_update(op.operands[number + 3], of) and _is_update(ends[0].operands[number], carried)
    return False
