"""``ipu-infer-sizes``: sizes inside a function that follow from what it is given."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir, passmanager, upstream
from ipu_mlir.dialects.loop_nest import is_structured
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.rewriting import list_ops


@dataclass(frozen=True)
class InferSizes(Pass):
    """Give tensors whose sizes follow from those of the arguments types that say so.

    Front ends leave ``?`` inside programs whose arguments have none: a roll is a concatenation of two slices of sizes
    that it casts away.

    Needs:  linalg on tensors.
    Leaves: ``?`` only where a size depends on data or on an argument; no ``tensor.reshape`` to a shape that is known.
    """

    name = "ipu-infer-sizes"

    def run(self, module: ir.Operation) -> None:
        if list_ops(module, "tensor.cast", "tensor.reshape"):  # where else ? comes from, canonicalize follows it
            infer_sizes(module)


def infer_sizes(module: ir.Operation) -> None:
    """Replace ``?`` in ``module`` as far as it follows from static types, and clean up.

    ``canonicalize`` knows most ops; it is run until there is nothing new for what it does not know.
    """
    manager = passmanager.PassManager.parse("builtin.module(canonicalize,cse)", context=module.context)
    with module.context, ir.Location.unknown():
        manager.run(module)
        while _concatenate_what_is_cast(module) + _write_reshapes_as_views(module) + _carry_what_is_cast(module):
            manager.run(module)


def dynamic_sizes(shaped: ir.Type) -> int:
    """How many ``?`` a tensor type has.

    Types that are no tensors have none.
    """
    if not isinstance(shaped, ir.RankedTensorType):
        return 0
    return sum(shaped.is_dynamic_dim(dimension) for dimension in range(shaped.rank))


def _concatenate_what_is_cast(module: ir.Operation) -> int:
    """Concatenate tensors, not their casts to types that say less; gives how many.

    Upstream infers the type of the result from those of the operands.
    """
    count = 0
    for op in list_ops(module, "tensor.concat"):
        for number, operand in enumerate(op.operands):
            if dynamic_sizes(_not_cast(operand).type) < dynamic_sizes(operand.type):
                op.operands[number] = _not_cast(operand)
                count += 1
    return count


def _write_reshapes_as_views(module: ir.Operation) -> int:
    """Write ``tensor.reshape`` to a constant shape as a collapse and an expansion; gives how many."""
    count = 0
    for op in list_ops(module, "tensor.reshape"):
        source, shape = op.operands[0], _constant_shape(op.operands[1])
        if shape is None or dynamic_sizes(source.type) or prod(shape) != prod(source.type.shape):
            continue
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_cast(_reshape(source, shape), op.results[0].type))
        op.erase()
        count += 1
    return count


def _carry_what_is_cast(module: ir.Operation) -> int:
    """Let ``scf.for`` carry tensors that each iteration only updates, not their casts; gives how many.

    Upstream does so where all users of the result cast it back.
    """
    count = 0
    for loop in list_ops(module, "scf.for"):
        body = loop.regions[0].blocks[0]
        terminator = body.operations[len(body.operations) - 1].operation
        for number, result in enumerate(loop.results):
            init, carried = loop.operands[number + 3], body.arguments[number + 1]
            before = _not_cast(init)
            known, general = before.type, result.type
            if dynamic_sizes(known) >= dynamic_sizes(general) or not _is_update(terminator.operands[number], carried):
                continue
            loop.operands[number + 3] = before
            carried.set_type(known)
            with ir.InsertionPoint.at_block_begin(body), loop.location:
                inside = _cast(carried, general)
                carried.replace_all_uses_except(inside, inside.owner.operation)
            with ir.InsertionPoint(terminator), loop.location:
                terminator.operands[number] = _cast(terminator.operands[number], known)
            result.set_type(known)
            with ir.InsertionPoint.after(loop), loop.location:
                outside = _cast(result, general)
                result.replace_all_uses_except(outside, outside.owner.operation)
            count += 1
    return count


def _is_update(value: ir.Value, of: ir.Value) -> bool:
    """Whether ``value`` is ``of`` with other elements, so of the same sizes."""
    if value == of:
        return True
    if isinstance(value.owner, ir.Block):
        return False
    op, number = value.owner.operation, ir.OpResult(value).result_number
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return _is_update(op.operands[1], of)
    if op.name == "tensor.cast":
        return _is_update(op.operands[0], of)
    if is_structured(op):
        return _is_update(op.operands[len(op.operands) - len(op.results) + number], of)
    if op.name in ("scf.for", "scf.if", "scf.index_switch"):
        ends = [region.blocks[0].operations[len(region.blocks[0].operations) - 1] for region in op.regions]
        if op.name != "scf.for":
            return all(_is_update(end.operands[number], of) for end in ends)
        carried = op.regions[0].blocks[0].arguments[number + 1]
        return _is_update(op.operands[number + 3], of) and _is_update(ends[0].operands[number], carried)
    return False


def _constant_shape(value: ir.Value) -> list[int] | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    return [int(size) for size in np.asarray(owner.attributes["value"])]


def _reshape(source: Any, shape: list[int]) -> ir.Value:
    """``source`` in another shape, through a flat tensor."""
    tensor, element_type = upstream("tensor"), source.type.element_type
    if source.type.rank != 1:
        flat = ir.RankedTensorType.get([prod(shape)], element_type)
        every = [list(range(source.type.rank))]
        if source.type.rank:
            source = tensor.CollapseShapeOp(flat, source, every).result
        else:
            source = tensor.ExpandShapeOp(flat, source, [], [], [1]).result
    if len(shape) != 1:
        wanted = ir.RankedTensorType.get(shape, element_type)
        if shape:
            source = tensor.ExpandShapeOp(wanted, source, [list(range(len(shape)))], [], shape).result
        else:
            source = tensor.CollapseShapeOp(wanted, source, []).result
    return source


def _not_cast(value: ir.Value) -> ir.Value:
    """``value`` before it was cast, if it was."""
    is_cast = not isinstance(value.owner, ir.Block) and value.owner.name == "tensor.cast"
    return value.owner.operands[0] if is_cast else value


def _cast(value: ir.Value, wanted: ir.Type) -> ir.Value:
    return value if value.type == wanted else upstream("tensor").CastOp(wanted, value).result
