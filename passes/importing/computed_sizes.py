"""Sizes that a program computes in tensors of integers, as front ends do to put shapes together."""

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
            elements = [_element(op, point) for point in np.ndindex(*shape)]
            op.results[0].replace_all_uses_with(upstream("tensor").FromElementsOp(op.results[0].type, elements).result)
        op.erase()
    return len(found)


def _what_sizes_depend_on(module: ir.Operation) -> list[ir.Operation]:
    """Every ``linalg.generic`` on the way to a size that is not known, users before what they use."""
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
        if op.name == "linalg.generic":
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
    *given, own = [each.value for each in op.attributes["indexing_maps"]]
    body = op.regions[0].blocks[0]
    return (
        own == ir.AffineMap.get_identity(kind.rank)
        and all(isinstance(e, ir.AffineDimExpr | ir.AffineConstantExpr) for each in given for e in each.results)
        and not any(inner.name == "linalg.index" and inner.parent != op for inner in list_ops(op))
        and not any(body.arguments[-1].uses)
    )


def _element(op: ir.Operation, point: tuple[int, ...]) -> ir.Value:
    """The element of ``op``'s result at ``point``, computed at the current insertion point."""
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
