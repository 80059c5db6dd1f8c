"""``ipu-raise-dynamic-slices``: slices at run-time offsets, as gathers and updates."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.elements.raise_element_ops import is_in_body
from ipu_mlir.passes.raising.elements.update_slice import update_slice
from ipu_mlir.passes.support.linalg_builders import (
    as_index,
    generic,
    identity_map,
    index_sum,
    loop_index,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC, slice_dimensions, slice_offsets


class RaiseDynamicSlices(Pass):
    """Write slices at run-time offsets as structured ops.

    The route of an exchange is fixed when the program is compiled, so it cannot depend on an offset. As a gather, the
    dimensions that are indexed at run time lie whole on every tile that needs them.

    Needs:  linalg on tensors, static sizes; offsets that are in range (``ipu-clamp-slices``).
    Leaves: ``tensor.extract_slice`` and ``tensor.insert_slice`` with static offsets only.
    """

    name = "ipu-raise-dynamic-slices"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "tensor.extract_slice", "tensor.insert_slice"):
                if _is_raised(op) and not is_in_body(op):
                    with ir.InsertionPoint(op), op.location:
                        _raise_slice(op)


def _is_raised(op: ir.Operation) -> bool:
    """True if offsets are known only at run time, but sizes and steps now."""
    known = (*op.attributes["static_sizes"], *op.attributes["static_strides"])
    return DYNAMIC in list(op.attributes["static_offsets"]) and DYNAMIC not in known


@dataclass(frozen=True)
class _Slice:
    """Per dimension of the big tensor: offset, size and step, and which dimension of the small tensor it is, if any."""

    offsets: list[ir.Value | int]
    sizes: list[int]
    steps: list[int]
    dimensions: list[int | None]


def _raise_slice(op: ir.Operation) -> None:
    if op.name == "tensor.extract_slice":
        big, small = op.operands[0], op.results[0]
        new = _gathered(big, small.type, _slice_of(op, small.type))
    else:
        small, big = op.operands[0], op.operands[1]
        new = _updated(big, small, _slice_of(op, small.type))
    replace_op(op, [new])


def _slice_of(op: ir.Operation, small: Any) -> _Slice:
    sizes, steps = list(op.attributes["static_sizes"]), list(op.attributes["static_strides"])
    return _Slice(slice_offsets(op), sizes, steps, slice_dimensions(sizes, small.shape))


def _gathered(big: ir.Value, small: Any, cut: _Slice) -> ir.Value:
    """out[i, j] = big[offset + i, j]."""
    rank = len(small.shape)
    empty = upstream("tensor").EmptyOp(list(small.shape), small.element_type).result

    def body(_: list[ir.Value]) -> list[ir.Value]:
        index = [
            index_sum(offset, None if dimension is None else _times(loop_index(dimension), step))
            for offset, step, dimension in zip(cut.offsets, cut.steps, cut.dimensions, strict=True)
        ]
        return [upstream("tensor").ExtractOp(big, index).result]

    return generic([], [empty], [identity_map(rank)], [True] * rank, body).results[0]


def _updated(big: ir.Value, small: ir.Value, cut: _Slice) -> ir.Value:
    if any(step != 1 and size != 1 for step, size in zip(cut.steps, cut.sizes, strict=True)):
        return _chosen(big, small, cut)
    return update_slice(
        big,
        _with_unit_dimensions(small, cut),
        [
            None if (offset, size) == (0, extent) else as_index(offset)
            for offset, size, extent in zip(cut.offsets, cut.sizes, big.type.shape, strict=True)
        ],
    )


def _with_unit_dimensions(small: ir.Value, cut: _Slice) -> ir.Value:
    """``small`` with a dimension for each of the big tensor."""
    if len(small.type.shape) == len(cut.sizes):
        return small
    groups: list[list[int]] = []
    for dimension, at in enumerate(cut.dimensions):
        if at is not None or not groups:
            groups.append([])
        groups[-1].append(dimension)
    if groups and len(groups) > len(small.type.shape):
        groups = [[*groups[0], *groups[1]], *groups[2:]] if len(groups) > 1 else []
    wanted = ir.RankedTensorType.get(cut.sizes, small.type.element_type)
    return upstream("tensor").ExpandShapeOp(wanted, small, groups, [], cut.sizes).result


def _chosen(big: ir.Value, small: ir.Value, cut: _Slice) -> ir.Value:
    """big[k] = small[(k - offset) / step] where that is inside; what is outside stays."""
    arith = upstream("arith")
    rank = len(cut.sizes)

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        inside: Any = None
        index: list[ir.Value] = []
        for loop, (offset, size, step) in enumerate(zip(cut.offsets, cut.sizes, cut.steps, strict=True)):
            distance = arith.SubIOp(loop_index(loop), as_index(offset)).result
            at = distance if step == 1 else arith.FloorDivSIOp(distance, as_index(step)).result
            checks = [arith.CmpIOp(arith.CmpIPredicate.ult, at, as_index(size)).result]
            if step != 1:
                on_step = arith.CmpIOp(arith.CmpIPredicate.eq, _times(at, step), distance).result
                checks.append(on_step)
            for check in checks:
                inside = check if inside is None else arith.AndIOp(inside, check).result
            if cut.dimensions[loop] is not None:
                index.append(arith.SelectOp(checks[0], at, as_index(0)).result)
        new = upstream("tensor").ExtractOp(small, index).result
        return [arith.SelectOp(inside, new, arguments[0]).result]

    return generic([], [big], [identity_map(rank)], [True] * rank, body).results[0]


def _times(value: ir.Value, factor: int) -> ir.Value:
    return value if factor == 1 else upstream("arith").MulIOp(value, as_index(factor)).result
