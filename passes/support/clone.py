"""Copy ops with other operands."""

from collections.abc import Callable

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir

Known = dict[ir.Value, ir.Value]
"""What stands for which value in the copy; values that are not in it stand for themselves."""


def clone_into(op: ir.Operation, known: Known) -> ir.Operation:
    """Copy ``op`` to the current insertion point with the operands that ``known`` gives, and remember its results."""
    copy = op.clone()
    _patch(op, copy, known)
    known.update(zip(op.results, copy.results, strict=True))
    return copy


def read_from(op: ir.Operation, known: Known) -> None:
    """Give ``op``, and everything inside it, the operands that ``known`` gives."""
    _patch(op, op, known)


def _patch(op: ir.Operation, copy: ir.Operation, known: Known) -> None:
    """Give ``copy``, and everything inside it, the operands that ``known`` gives."""
    for number, value in enumerate(op.operands):
        if value in known:
            copy.operands[number] = known[value]
    for region, copied_region in zip(op.regions, copy.regions, strict=True):
        for block, copied_block in zip(region.blocks, copied_region.blocks, strict=True):
            for inner, copied in zip(block.operations, copied_block.operations, strict=True):
                _patch(inner.operation, copied.operation, known)


def clone_slice(value: ir.Value, known: Known, is_inside: Callable[[ir.Value], bool]) -> ir.Value:
    """Copy what ``value`` is computed from, as far as ``is_inside`` says, to the current insertion point.

    Every op on the way is copied once; ``known`` holds the values that stand for others from the start.
    """
    if value in known:
        return known[value]
    op = defining_op(value)
    if op is None or not is_inside(value):
        return value
    for operand in operands_from_outside(op):
        clone_slice(operand, known, is_inside)
    clone_into(op, known)
    return known[value]


def operands_from_outside(op: ir.Operation) -> list[ir.Value]:
    """Values that ``op`` or the ops inside it use and that are not made inside it."""
    made: set[ir.Value] = set()
    used: list[ir.Value] = list(op.operands)
    pending = [block for region in op.regions for block in region.blocks]
    while pending:
        block = pending.pop()
        made.update(block.arguments)
        for inner in block.operations:
            made.update(inner.operation.results)
            used.extend(inner.operation.operands)
            pending.extend(b for region in inner.operation.regions for b in region.blocks)
    return [value for value in used if value not in made]
