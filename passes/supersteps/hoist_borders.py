"""``ipu-hoist-borders``: the constant border of a buffer is written once, before the loop that fills the rest."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS
from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS, blocks_of, control_op, is_loop
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.matchers import defining_op, ops_around, symbol_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.ipu import ExchangeOp
from ipu_mlir.dialects.memory.bound import data_bound
from ipu_mlir.dialects.memory.resident import entries_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import DYNAMIC

_ROOM = 0.5
"""The share of a tile up to which more of its memory may be taken for longer."""

Box = tuple[tuple[int, int], ...]
"""Where elements begin and end, in each dimension of an allocation."""


class HoistBorders(Pass):
    """Write parts of buffers that are constants before the loops that write the other parts.

    What is padded in a loop has a border that is the same in every iteration: the buffer is allocated before the loop,
    where its border is brought to it once.

    Needs:  supersteps (``ipu-form-supersteps``), before their order is changed (``ipu-order-supersteps``).
    Leaves: no exchange of a constant, in the block of a loop, to a part of an allocation of that block which nothing
            else writes, and of which no control flow has another name; unless more than half of a tile would be taken,
            and more than before.
    """

    name = "ipu-hoist-borders"

    def run(self, module: ir.Operation) -> None:
        entries = [symbol_of(function) for function in entries_of(module)]
        most = _ROOM * module_target(module).bytes_per_tile
        for loop in filter(is_loop, list_ops(module, *CONTROL_OPS)):  # what it leaves may leave a loop around it
            found = [op for block in blocks_of(loop) for buffer in _buffers(block) for op in _with_border(buffer)]
            if not found:
                continue
            before, behind = [data_bound(module, each) for each in entries], [_next(op) for op in found]
            for op in found:
                op.move_before(loop)
            after = [data_bound(module, each) for each in entries]
            if any(now > max(then, most) for then, now in zip(before, after, strict=True)):
                for op, place in reversed([*zip(found, behind, strict=True)]):
                    op.move_before(place)


def _next(op: ir.Operation) -> ir.Operation:
    """The op behind ``op``, which does not end its block."""
    ops = [each.operation for each in op.block.operations]
    return ops[ops.index(op) + 1]


def _buffers(block: ir.Block) -> Iterator[ir.Operation]:
    yield from (op.operation for op in block.operations if op.operation.name == "memref.alloc")


def _with_border(allocation: ir.Operation) -> list[ir.Operation]:
    """``allocation`` and what writes its constant parts, in their order; none where there are no such parts."""
    uses = list(_uses(allocation.results[0]))
    if None in uses:
        return []
    writes = [(op, box) for op, writes, box in filter(None, uses) if writes]
    borders = [(op, box) for op, box in writes if _brings_constant(op, allocation)]
    others = [box for op, box in writes if not _brings_constant(op, allocation)]
    if not borders or any(_meet(box, other) for _, box in borders for other in others):
        return []
    wanted = [allocation, *(op for op, _ in borders)]
    wanted += [op for exchange, _ in borders for value in exchange.operands if (op := defining_op(value)) is not None]
    return [op.operation for op in allocation.block.operations if op.operation in wanted]


def _uses(buffer: ir.Value, box: Box | None = None) -> Iterator[tuple[ir.Operation, bool, Box] | None]:
    """The steps that use ``buffer``, or a part of it in ``box``, and whether they write it; None for other names."""
    is_whole = box is None
    box = tuple((0, extent) for extent in buffer.type.shape) if box is None else box
    for use in buffer.uses:
        op = use.owner.operation
        if op.name in VIEW_OPS:
            yield from _uses(op.results[0], (_slice_of(op) if is_whole else None) or box)
            continue
        step = next((each for each in ops_around(op) if effects_of(each) is not None or control_op(each)), None)
        effects = None if step is None else effects_of(step)
        if step is None or effects is None:
            yield None
            continue
        yield step, any(writes for value, writes in effects.touches(step.opview) if value == buffer), box


def _slice_of(view: ir.Operation) -> Box | None:
    """The box of an allocation that ``view`` of it shows; None where it is not known."""
    if view.name != "memref.subview" or DYNAMIC in view.attributes["static_offsets"]:
        return None
    offsets, sizes, steps = (list(view.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))
    sides = zip(offsets, sizes, steps, strict=True)
    return tuple((first, first + step * (size - 1) + 1) for first, size, step in sides)


def _brings_constant(op: ir.Operation, allocation: ir.Operation) -> bool:
    """True of an exchange beside ``allocation`` that brings a constant to all of it, or to a slice of it."""
    if op.name != ExchangeOp.OPERATION_NAME or op.block != allocation.block:
        return False
    dest = defining_op(op.operands[1])
    is_direct = dest is not None and (dest == allocation or list(dest.operands) == [allocation.results[0]])
    return is_direct and defining_op(op.operands[0], "memref.get_global") is not None


def _meet(one: Box, other: Box) -> bool:
    """True if two boxes have an element in common.

    >>> _meet(((0, 1), (0, 9)), ((1, 8), (1, 8))), _meet(((0, 2), (0, 9)), ((1, 8), (1, 8)))
    (False, True)
    """
    pairs = zip(one, other, strict=True)
    return all(first < end and start < stop for (first, stop), (start, end) in pairs)
