"""``ipu-materialize-views``: a copy where memory has to be its own."""

from itertools import zip_longest

from ipu_mlir.dialects.analysis.control_flow import (
    CONTROL_OPS,
    blocks_of,
    is_branch,
    is_loop,
    is_terminator,
    terminator,
)
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op, is_made_inside
from ipu_mlir.dialects.analysis.shards import TO_SHARD
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.preparation.overwritten_views import base_of, is_overwritten
from ipu_mlir.passes.support.linalg_builders import copy_into
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, slice_dimensions, view_of

_CASTS_TO_BE = frozenset(("ipu.place", TO_SHARD))
"""Ops of the dialect whose result is their operand in another place: they read a view, and give memory of its own."""


class MaterializeViews(Pass):
    """Copy where a view cannot show its elements, or must have memory of its own.

    Bufferization would allocate there by itself, but with the mapping of the source, which has another size. What a
    branch yields must have memory of its own, too, unless all blocks yield one tensor, updated in place or not: a
    machine has no pointers, and bufferization takes all that a result may be for one memory. It lets a ``scf.while``
    update what the round before left, even if that is a constant. What goes to the host or to other replicas is whole.

    A slice of all of a tensor is a reshape: as a slice it would have a layout of its own, and what a branch gives that
    yields such a layout and another one would have one that is known at run time only.

    Needs:  linalg on tensors, after the last ``canonicalize`` (which removes copies between equal types).
    Leaves: slices of less than their source; views whose elements are evenly spaced in the memory of their source;
            results of functions, destinations of inserted slices, initial values of ops, and operands of ops of the
            dialect (but for ``ipu.place`` and ``ipu.to_shard``, which will be casts) that are no parts of other
            tensors; no part of a tensor that is read after the tensor was updated; results of branches that are new
            memory or one tensor in all blocks; loops that hand on what they carry or new memory.
    """

    name = "ipu-materialize-views"

    def run(self, module: ir.Operation) -> None:
        for function in list_ops(module, "func.func"):
            for op in list_ops(function, "tensor.extract_slice"):
                source = op.operands[0].type
                if source.has_static_shape and list(op.attributes["static_sizes"]) == list(source.shape):
                    replace_op(op, [_reshaped(op)])
            for op in list_ops(function, *VIEW_OPS):
                if not (op.results[0].type.has_static_shape and op.operands[0].type.has_static_shape):
                    continue  # ipu-partition refuses it
                if view_of(op.results[0]) is None and view_of(op.operands[0]) is not None:
                    _copy_operand(op, 0)
                elif _is_part_of_another(op.results[0]) and is_overwritten(op):
                    _copy_result(op)
            for op in list_ops(function):
                for number in _owning_operands(op):
                    if _is_part_of_another(op.operands[number]):
                        _copy_operand(op, number)
            for op in list_ops(function, *CONTROL_OPS):
                _own_results(op)


def _own_results(op: ir.Operation) -> None:
    """Copy tensors from outside that the blocks of a loop or a branch yield.

    What all blocks of a branch yield, updated in place or not, stays where it is.
    """
    ends = [terminator(block) for block in blocks_of(op)]
    for number, values in enumerate(zip_longest(*(list(end.operands) for end in ends))):
        bases = [base_of(value) if _is_tensor(value) else None for value in values]
        if is_branch(op) and all(base == bases[0] for base in bases):
            continue
        for end, base in zip(ends, bases, strict=True):
            if base is not None and not is_made_inside(base, op):
                _copy_operand(end, number)


def _is_tensor(value: ir.Value | None) -> bool:
    return value is not None and isinstance(value.type, ir.RankedTensorType)


def _owning_operands(op: ir.Operation) -> range:
    """The operands that need memory of their own."""
    if is_terminator(op) or is_loop(op):
        return range(len(op.operands))
    if op.name == "tensor.insert_slice":
        return range(1, 2)
    if is_structured(op):
        return range(len(op.operands) - len(op.results), len(op.operands))
    if op.name.startswith("ipu.") and op.name not in _CASTS_TO_BE:
        return range(len(op.operands))
    return range(0)


def _reshaped(op: ir.Operation) -> ir.Value:
    """The source of a slice of all of it, without the dimensions that the slice drops."""
    source, shape = op.operands[0], op.results[0].type.shape
    groups: list[list[int]] = [[] for _ in shape]
    at = 0
    for number, dimension in enumerate(slice_dimensions(source.type.shape, shape)):
        at = at if dimension is None else dimension
        if groups:
            groups[at].append(number)
    if len(shape) == len(source.type.shape):
        return source
    with ir.InsertionPoint(op), op.location:
        return upstream("tensor").CollapseShapeOp(op.results[0].type, source, groups).result


def _is_part_of_another(value: ir.Value) -> bool:
    """True if ``value`` is made by a slice, or by reshapes of one."""
    if defining_op(value, *VIEW_OPS) is None or not value.type.has_static_shape:
        return False
    while (op := defining_op(value, *VIEW_OPS)) is not None:
        if op.name == "tensor.extract_slice":
            return True
        value = op.operands[0]
    return False


def _copy_operand(op: ir.Operation, number: int) -> None:
    with ir.InsertionPoint(op), op.location:
        op.operands[number] = _copy(op.operands[number])


def _copy_result(op: ir.Operation) -> None:
    """Copy the result of ``op`` as soon as it is there, for all its users."""
    with ir.InsertionPoint.after(op), op.location:
        copy = _copy(op.results[0])
    op.results[0].replace_all_uses_except(copy, copy.owner.operation)


def _copy(value: ir.Value) -> ir.Value:
    fresh = upstream("tensor").EmptyOp(list(value.type.shape), value.type.element_type).result
    return copy_into(value, fresh).results[0]
