"""Loops that put elements into several tensors, as one loop for each tensor."""

from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_slice, operands_from_outside


def split_by_tensor(loop: ir.Operation) -> bool:
    """Replace an ``scf.for`` that puts elements into several tensors by one loop per tensor; the places of the elements
    are computed in each.

    Answers whether it did: the tensors must have nothing to do with each other, and each may be filled by a
    ``tensor.insert``, with a condition or without (``split_branches`` first), or by a loop for it alone (split inner
    loops first). A sort of keys and values is such a nest.
    """
    block = loop.regions[0].blocks[0]
    *body, terminator = (op.operation for op in block.operations)
    carried = list(block.arguments)[1:]
    makers = [_maker(value, old) for value, old in zip(terminator.operands, carried, strict=True)]
    if len(carried) < 2 or not all(makers):
        return False
    if any(isinstance(result.type, ir.ShapedType) for op in body if op not in makers for result in op.results):
        return False
    if not all(_stands_alone(maker, old, carried) for maker, old in zip(makers, carried, strict=True)):
        return False
    for number, result in enumerate(loop.results):
        with ir.InsertionPoint(loop), loop.location:
            result.replace_all_uses_with(_loop_for(loop, number))
    loop.erase()
    return True


def split_branches(branch: ir.Operation) -> bool:
    """Replace an ``scf.if`` in a loop that puts elements into several tensors by one per tensor, if that can be."""
    if len(branch.results) < 2 or branch.parent.name != "scf.for":
        return False
    if not all(isinstance(result.type, ir.RankedTensorType) for result in branch.results):
        return False
    blocks = [region.blocks[0] for region in branch.regions]
    inside = [op.operation for block in blocks for op in list(block.operations)[:-1]]
    if not all(
        op.name.startswith(("arith.", "math.")) or op.name in ("tensor.insert", "tensor.extract") for op in inside
    ):
        return False
    for number, result in enumerate(branch.results):
        with ir.InsertionPoint(branch), branch.location:
            new = upstream("scf").IfOp(branch.operands[0], [result.type], has_else=True)
        for block, copied in zip(blocks, (new.then_block, new.else_block), strict=True):
            yielded = terminator(block).operands[number]
            with ir.InsertionPoint(copied), branch.location:
                upstream("scf").YieldOp([clone_slice(yielded, {}, lambda value, block=block: block_of(value) == block)])
        result.replace_all_uses_with(new.results[0])
    branch.erase()
    return True


def _maker(value: ir.Value, old: ir.Value) -> ir.Operation | None:
    """The op that makes ``value`` of the tensor ``old``, by one element or by a loop over elements."""
    op = defining_op(value) if isinstance(value.type, ir.RankedTensorType) else None
    if op is None:
        return None
    if op.name == "scf.if" and len(op.results) == 1:
        return op
    inserts = op.name == "tensor.insert" and op.operands[1] == old
    loops = op.name == "scf.for" and len(op.results) == 1 and op.operands[3] == old
    return op if inserts or loops else None


def _stands_alone(maker: ir.Operation | None, old: ir.Value, carried: list[ir.Value]) -> bool:
    """True if ``maker`` and what it is computed from knows only ``old`` of what is carried."""
    assert maker is not None, "every carried tensor has a maker"
    seen: set[ir.Operation] = set()
    pending = [maker]
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        for value in operands_from_outside(op):
            if value in carried and value != old:
                return False
            made = defining_op(value)
            if made is not None and made.block == maker.block:
                pending.append(made)
    return True


def _loop_for(loop: ir.Operation, number: int) -> ir.Value:
    """The result ``number`` of ``loop``, by a loop of its own at the current insertion point."""
    block = loop.regions[0].blocks[0]
    yielded = terminator(block).operands[number]
    new = upstream("scf").ForOp(*list(loop.operands)[:3], [loop.operands[3 + number]])
    known: Known = {block.arguments[0]: new.induction_variable, block.arguments[1 + number]: new.inner_iter_args[0]}
    with ir.InsertionPoint(new.body):
        upstream("scf").YieldOp([clone_slice(yielded, known, lambda value: value.owner.operation.block == block)])
    return new.results[0]
