"""The rows of tensors that loops carry and of which each iteration writes one."""

from math import prod

from ipu_mlir.dialects.analysis.control_flow import flows
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir


def whole_dimensions(value: ir.Value, num_tiles: int) -> tuple[int, ...]:
    """The dimensions of ``value``, a tensor that a loop may carry, that stay whole on each tile.

    Those are the ones in which a loop chooses a row when it runs: cut, a row would lie on few tiles, and all rows would
    have to come together wherever one of them is read. A tensor whose rows have fewer elements than there are tiles is
    cut nonetheless.
    """
    found: set[int] = set()
    seen, waiting = {value}, [value]
    while waiting:
        each = waiting.pop()
        for use in each.uses:
            user = use.owner.operation
            found |= _written_dimensions(user, each)
            for flow in flows(user):
                place = use.operand_number - flow.first
                if flow.source == user and 0 <= place < len(flow.targets) and flow.targets[place] not in seen:
                    seen.add(flow.targets[place])
                    waiting.append(flow.targets[place])
    rest = prod(size for dimension, size in enumerate(value.type.shape) if dimension not in found)
    return tuple(sorted(found)) if rest >= num_tiles else ()


def _written_dimensions(op: ir.Operation, value: ir.Value) -> set[int]:
    """The dimensions in which ``op`` updates a part of ``value`` at a place that is known when it runs."""
    call = op.attributes.get("library_call", None)
    if call is None or ir.StringAttr(call).value != UPDATE_SLICE.name or op.operands[len(op.operands) - 1] != value:
        return set()
    *offsets, update, whole = op.operands
    if not isinstance(update.type, ir.RankedTensorType):
        return set()
    sizes = zip(update.type.shape, whole.type.shape, offsets, strict=True)
    return {
        dimension
        for dimension, (part, size, offset) in enumerate(sizes)
        if part < size and getattr(defining_op(offset), "name", "") != "arith.constant"
    }
