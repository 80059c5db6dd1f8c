"""Sizes that a program computes in tensors of integers, as front ends do to put shapes together."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.importing.dynamic_types import dynamic_sizes
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops

_MOST_ELEMENTS = 16  # of a tensor of sizes: no more than there are dimensions


def write_out_computed_sizes(module: ir.Operation) -> int:
    """Compute, one by one as scalars, the elements of tensors that sizes depend on; gives of how many tensors.

    ``canonicalize`` folds scalars, and knows the sizes then.
    """
    found = [op for op in _what_sizes_depend_on(module) if _can_be_written_out(op)]
    for op in found:
        with ir.InsertionPoint(op), op.location:
            shape = list(op.results[0].type.shape)
            elements = [_ELEMENTS[op.name](op, point) for point in np.ndindex(*shape)]
            op.results[0].replace_all_uses_with(upstream("tensor").FromElementsOp(op.results[0].type, elements).result)
        op.erase()
    return len(found)


def _what_sizes_depend_on(module: ir.Operation) -> list[ir.Operation]:
    """Every op that makes numbers of numbers on the way to a size that is not known, users before what they use."""
    pending = [
        value
        for op in list_ops(module)
        if any(dynamic_sizes(result.type) for result in op.results)
        for value in (op.operands[1:] if op.name == "tensor.reshape" else op.operands)
        if op.name == "tensor.reshape" or isinstance(value.type, ir.IndexType)
    ]
    found: dict[ir.Operation, None] = {}
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if value in seen or op is None:
            continue
        seen.add(value)
        if op.name in _ELEMENTS:
            found[op] = None
        if op.name != "tensor.dim":
            pending += operands_from_outside(op)
    return list(found)


def _can_be_written_out(op: ir.Operation) -> bool:
    kind, *others = [result.type for result in op.results]
    if others or not isinstance(kind, ir.RankedTensorType) or dynamic_sizes(kind) or prod(kind.shape) > _MOST_ELEMENTS:
        return False
    if not isinstance(kind.element_type, ir.IntegerType | ir.IndexType):
        return False
    if op.name != "linalg.generic":
        return not any(dynamic_sizes(operand.type) for operand in op.operands) and (
            op.name != "tensor.extract_slice" or len(op.operands) == 1
        )
    *given, own = [each.value for each in op.attributes["indexing_maps"]]
    body = op.regions[0].blocks[0]
    return (
        own == ir.AffineMap.get_identity(kind.rank)
        and all(isinstance(e, ir.AffineDimExpr | ir.AffineConstantExpr) for each in given for e in each.results)
        and not any(inner.name == "linalg.index" and inner.parent != op for inner in list_ops(op))
        and not any(body.arguments[-1].uses)
    )


def _computed(op: ir.Operation, point: tuple[int, ...]) -> ir.Value:
    body = op.regions[0].blocks[0]
    known: Known = {}
    for each, operand, argument in zip(op.attributes["indexing_maps"], op.operands, body.arguments, strict=True):
        if any(argument.uses):
            at = (point[e.position] if isinstance(e, ir.AffineDimExpr) else e.value for e in each.value.results)
            known[argument] = upstream("tensor").ExtractOp(operand, list(map(constant_index, at))).result
    *inner, terminator = [each.operation for each in body.operations]
    for each in inner:
        if each.name == "linalg.index":
            known[each.results[0]] = constant_index(point[each.attributes["dim"].value])
        else:
            clone_into(each, known)
    return known.get(terminator.operands[0], terminator.operands[0])


def _joined(op: ir.Operation, point: tuple[int, ...]) -> ir.Value:
    dimension, rest = ir.IntegerAttr(op.attributes["dim"]).value, list(point)
    for operand in op.operands:
        if rest[dimension] < operand.type.shape[dimension]:
            return _extracted(operand, rest)
        rest[dimension] -= operand.type.shape[dimension]
    raise AssertionError("a concatenation has the elements of its operands")


def _cut(op: ir.Operation, point: tuple[int, ...]) -> ir.Value:
    offsets, sizes, strides = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{each}"])) for each in _BOUNDS)
    steps = _same_element(point, op.results[0].type.shape, sizes)
    place = [offset + step * stride for offset, step, stride in zip(offsets, steps, strides, strict=True)]
    return _extracted(op.operands[0], place)


def _reshaped(op: ir.Operation, point: tuple[int, ...]) -> ir.Value:
    return _extracted(op.operands[0], _same_element(point, op.results[0].type.shape, op.operands[0].type.shape))


def _same_element(point: Sequence[int], shape: Sequence[int], other: Sequence[int]) -> list[int]:
    """Where the element at ``point`` of ``shape`` lies in the ``other`` shape, row by row."""
    number = np.ravel_multi_index(tuple(point), tuple(shape)) if point else 0
    return [int(each) for each in np.unravel_index(number, tuple(other))] if other else []


def _extracted(tensor: ir.Value, place: Sequence[int]) -> ir.Value:
    return upstream("tensor").ExtractOp(tensor, list(map(constant_index, place))).result


_BOUNDS = ("offsets", "sizes", "strides")
_ELEMENTS = {
    "linalg.generic": _computed,
    "tensor.concat": _joined,
    "tensor.extract_slice": _cut,
    "tensor.collapse_shape": _reshaped,
    "tensor.expand_shape": _reshaped,
}
"""Ops that make tensors of sizes; each gives the element of the result at a point, at the current insertion point."""
