"""``ipu-raise-dynamic-slices``: slices at run-time offsets, as gathers and updates."""

from dataclasses import dataclass, replace
from math import prod
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
    reshaped,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC, slice_dimensions, slice_offsets

_LARGE = 1 << 13  # elements of a tensor that is worth two slices
_LONG = 1 << 15  # elements of a vector that is worth rows


class RaiseDynamicSlices(Pass):
    """Write slices at run-time offsets as structured ops.

    The route of an exchange is fixed when the program is compiled, so it cannot depend on an offset. As a gather, the
    dimensions that are indexed at run time lie whole on every tile that needs them. A large tensor that is indexed
    in several dimensions is sliced in one after the other, so that others can be cut; a long vector is sliced as rows,
    and the rows and what follows them as columns.

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


def _first_of_several(big: ir.Value, cut: _Slice) -> int | None:
    """The dimension that is sliced before others, of which it leaves the smallest share; None where none is."""
    long = [at for at, offset in enumerate(cut.offsets) if isinstance(offset, ir.Value) and cut.sizes[at] > 1]
    if len(long) < 2 or prod(big.type.shape) < _LARGE:
        return None
    return min(long, key=lambda at: cut.sizes[at] / big.type.shape[at])


def _one_after_the_other(big: ir.Value, cut: _Slice, first: int) -> tuple[_Slice, Any, _Slice]:
    """The slice of dimension ``first`` alone, the type of what it takes, and the slice of the others from that."""
    shape, rank = list(big.type.shape), len(cut.sizes)
    sizes = [cut.sizes[at] if at == first else size for at, size in enumerate(shape)]
    alone = _Slice(
        [cut.offsets[at] if at == first else 0 for at in range(rank)],
        sizes,
        [cut.steps[at] if at == first else 1 for at in range(rank)],
        list(range(rank)),
    )
    offsets, steps = (
        [x if at == first else y for at, y in enumerate(of)] for x, of in ((0, cut.offsets), (1, cut.steps))
    )
    taken = ir.RankedTensorType.get(sizes, big.type.element_type)
    return alone, taken, replace(cut, offsets=offsets, steps=steps)


def _of_long_vector(big: ir.Value, cut: _Slice) -> ir.Value:
    """The slice of a vector that is laid out in rows: some rows, each with the next one, and columns of those.

    An element is in the row of its number by their length or, behind the end of that, in the next one.
    """
    arith, tensor, element = upstream("arith"), upstream("tensor"), big.type.element_type
    (size,), (offset,), (extent,) = cut.sizes, cut.offsets, big.type.shape
    columns = 1 << (size.bit_length() // 2)
    rows, count = extent // columns + 3, -(-size // columns)
    begin = arith.DivUIOp(as_index(offset), as_index(columns)).result
    behind = arith.RemUIOp(as_index(offset), as_index(columns)).result
    filled = tensor.EmptyOp([rows * columns], element).result
    filled = tensor.InsertSliceOp(big, filled, [], [], [], [0], [extent], [1]).result
    laid_out = reshaped(filled, [rows, columns])
    kind = ir.RankedTensorType.get([count + 1, columns], element)
    some = _gathered(laid_out, kind, _Slice([begin, 0], [count + 1, columns], [1, 1], [0, 1]))
    pairs = tensor.EmptyOp([count, 2 * columns], element).result
    half = ir.RankedTensorType.get([count, columns], element)
    for at in range(2):
        own = tensor.ExtractSliceOp(half, some, [], [], [], [at, 0], [count, columns], [1, 1]).result
        pairs = tensor.InsertSliceOp(own, pairs, [], [], [], [0, at * columns], [count, columns], [1, 1]).result
    found = _gathered(pairs, half, _Slice([0, behind], [count, columns], [1, 1], [0, 1]))
    vector = ir.RankedTensorType.get([size], element)
    return tensor.ExtractSliceOp(vector, reshaped(found, [count * columns]), [], [], [], [0], [size], [1]).result


def _gathered(big: ir.Value, small: Any, cut: _Slice) -> ir.Value:
    """out[i, j] = big[offset + i, j]."""
    if (first := _first_of_several(big, cut)) is not None:
        alone, taken, others = _one_after_the_other(big, cut, first)
        return _gathered(_gathered(big, taken, alone), small, others)
    if len(cut.sizes) == len(small.shape) == 1 and cut.steps == [1] and cut.sizes[0] >= _LONG:
        return _of_long_vector(big, cut)
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
    if (first := _first_of_several(big, cut)) is not None:
        alone, taken, others = _one_after_the_other(big, cut, first)
        return _updated(big, _updated(_gathered(big, taken, alone), small, others), alone)
    if len(cut.sizes) == 1 and cut.sizes[0] >= _LONG:
        return _of_long_vector_updated(big, small, cut)
    return update_slice(
        big,
        _with_unit_dimensions(small, cut),
        [
            None if (offset, size) == (0, extent) else as_index(offset)
            for offset, size, extent in zip(cut.offsets, cut.sizes, big.type.shape, strict=True)
        ],
    )


def _of_long_vector_updated(big: ir.Value, small: ir.Value, cut: _Slice) -> ir.Value:
    """out[k] = small[k - offset] where there is such an element, else big[k]: a slice of a longer vector."""
    arith, tensor, (offset,), (extent,) = upstream("arith"), upstream("tensor"), cut.offsets, big.type.shape
    around = tensor.EmptyOp([2 * extent], big.type.element_type).result
    around = tensor.InsertSliceOp(small, around, [], [], [], [extent], cut.sizes, [1]).result
    begin = arith.SubIOp(as_index(extent), as_index(offset)).result
    moved = _gathered(around, big.type, _Slice([begin], [extent], [1], [0]))

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        distance = arith.SubIOp(loop_index(0), as_index(offset)).result
        inside = arith.CmpIOp(arith.CmpIPredicate.ult, distance, as_index(cut.sizes[0])).result
        return [arith.SelectOp(inside, arguments[0], arguments[1]).result]

    return generic([moved], [big], [identity_map(1)] * 2, [True], body).results[0]


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
