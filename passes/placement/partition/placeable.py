"""The ops that ``ipu-partition`` can place, and advice about the others.

Everything that it does not know is refused before it decides anything, all at once.
"""

from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS, TERMINATORS
from ipu_mlir.dialects.analysis.host_calls import TO_HOST
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.analysis.shards import TO_SHARD
from ipu_mlir.dialects.codelets.library import broken_call
from ipu_mlir.dialects.costs.scalar_ops import broken_body
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.support.placement_hints import MADE_WITHOUT_LOOPS
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

_KNOWN = (
    VIEW_OPS
    | CONTROL_OPS.keys()
    | TERMINATORS
    | MADE_WITHOUT_LOOPS
    | TO_HOST
    | {"arith.constant", "ipu.place", "tensor.empty", "tensor.extract", "tensor.insert_slice", TO_SHARD}
)
_DENSE = (ir.DenseElementsAttr, ir.DenseResourceElementsAttr)
_WAY_OUT = {
    "func.call": "only functions with a body of one block that do not call themselves can be inlined",
    "tensor.concat": "run ipu-decompose-tensor-ops",
    "tensor.from_elements": "run ipu-raise-element-ops",
    "tensor.gather": "write it as linalg.generic with tensor.extract in its body",
    "tensor.generate": "run ipu-raise-element-ops",
    "tensor.insert": "run ipu-raise-element-ops",
    "tensor.pad": "run ipu-decompose-tensor-ops",
    "tensor.reshape": "use tensor.collapse_shape and tensor.expand_shape, whose shapes are known",
    "tensor.scatter": "write it as a loop over tensor.insert",
    "tensor.splat": "run ipu-raise-splats",
}

_MOST_DIMENSIONS = 64
"""Of an array in NumPy."""
_MOST_ELEMENTS = 1 << 48
"""More than all tiles of a million IPUs hold; sums of strides stay far from 64 bits."""


def refuse_unplaceable(function: ir.Operation, refuse: Refusals) -> None:
    """Report everything in ``function`` that cannot be placed, each at its op.

    That is: several blocks, tensors of unknown sizes or of elements that are no numbers, ops on tensors that are
    neither structured nor views nor control flow, structured ops on buffers, without known loops or without iterations.
    """
    if not has_one_block(function, refuse):
        return
    block = function.regions[0].blocks[0]
    for argument in block.arguments:
        broken = _broken_type(argument.type)
        if broken is not None:
            refuse(function, f"has argument {argument.arg_number} {broken}")
    _refuse_in_block(block, refuse)


def has_one_block(function: ir.Operation, refuse: Refusals) -> bool:
    """True if the body of ``function`` is one block; reported if it is not."""
    count = len(function.regions[0].blocks)
    if count > 1:
        way_out = "write branches as scf.if and loops as scf.for or scf.while, as upstream's lift-cf-to-scf does"
        refuse(function, f"has {count} blocks; {way_out}")
    return count == 1


def _refuse_in_block(block: ir.Block, refuse: Refusals) -> None:
    for view in block.operations:
        op = view.operation
        broken = _broken_rule(op)
        if broken is not None:
            refuse(op, broken)
        if not is_structured(op):
            for region in op.regions:
                for inner in region.blocks:
                    _refuse_in_block(inner, refuse)


def _broken_rule(op: ir.Operation) -> str | None:
    """The reason why ``op`` cannot be placed, as the end of a sentence, or None."""
    for result in op.results:
        broken = _broken_type(result.type)
        if broken is not None:
            return f"has a result {broken}"
    if is_structured(op):
        buffers = [value.type for value in op.operands if isinstance(value.type, ir.MemRefType)]
        if buffers:
            return f"is on buffers, such as {buffers[0]}; place tensors, before bufferization"
        return _broken_loops(op)
    if not any(_is_tensor(value.type) for value in (*op.operands, *op.results)):
        return None
    if op.name == "arith.constant" and not isinstance(op.attributes["value"], _DENSE):
        return "has its elements not one by one in the program; write them as dense<...>"
    if op.name not in _KNOWN and OUTLINED not in op.attributes:
        return f"cannot be placed on tiles; {_WAY_OUT.get(op.name, 'write it as linalg on tensors')}"
    if op.name == "tensor.extract" and len(op.operands) > 1:
        return "reads one element outside vertices; run ipu-raise-element-ops"
    if len(op.operands) > _operands_of_static(op):
        return "has an offset that is known only at run time; run ipu-raise-dynamic-slices"
    return None


def _operands_of_static(op: ir.Operation) -> int:
    """The operands that a slice has if its offsets are known; for other ops, all that it has."""
    return {"tensor.extract_slice": 1, "tensor.insert_slice": 2}.get(op.name, len(op.operands))


def _broken_loops(op: ir.Operation) -> str | None:
    nest = loop_nest(op)
    if nest is None:
        return "has loops whose extents are not known; rewrite it as linalg.generic with static shapes"
    if len(nest.extents) > _MOST_DIMENSIONS:
        return f"has {len(nest.extents)} loops; no more than {_MOST_DIMENSIONS} are run, join some of them"
    if 0 in nest.extents:
        return "runs no iteration; run ipu-drop-idle-ops"
    for number, value in enumerate(op.operands):
        if isinstance(value.type, ir.RankedTensorType) and 0 in value.type.shape:
            return (
                f"reads and writes outside of operand {number}, which has no elements: {value.type}; give it its size"
            )
    if "library_call" in op.attributes:
        return broken_call(op, nest.num_inputs)
    for number, indices in enumerate(nest.indices[: nest.num_inputs]):
        if not all(index.linear for index in indices):
            return f"has an index of operand {number} that is no sum of loops; run ipu-normalize-indices"
    return nest.broken_results or broken_body(op)


def _broken_type(kind: Any) -> str | None:
    """The error in the type of a tensor, if it is one."""
    if isinstance(kind, ir.UnrankedTensorType):
        return f"of type {kind}, whose rank is not known; give it a shape"
    if not isinstance(kind, ir.RankedTensorType):
        return None
    if not kind.has_static_shape:
        return f"with a size that is not known: {kind}; name it with ipu-specialize-shapes"
    if not isinstance(kind.element_type, ir.IntegerType | ir.IndexType | ir.FloatType):
        return f"of type {kind}, whose elements are no integers or floats; split it into tensors of numbers"
    if isinstance(kind.element_type, ir.FloatType) and str(kind.element_type) not in ELEMENT_TYPES:
        return f"of type {kind}, whose elements no tile computes with; they can be {', '.join(ELEMENT_TYPES)}"
    if kind.rank > _MOST_DIMENSIONS:
        return f"of type {kind}, with {kind.rank} dimensions; no more than {_MOST_DIMENSIONS} are run, join some"
    if (elements := prod(kind.shape)) > _MOST_ELEMENTS:
        return f"of type {kind}, which has {elements:,} elements; no more than {_MOST_ELEMENTS:,} are placed"
    if kind.encoding is not None:
        return f"of type {kind}, which says already where it lies; run ipu-anchor-hints"
    return None


def _is_tensor(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType | ir.UnrankedTensorType)
