"""``ipu-infer-sizes``: sizes inside a function that follow from what it is given."""

from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.matchers import constant_of
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.carried_sizes import carry_what_is_cast
from ipu_mlir.passes.importing.computed_sizes import write_out_computed_sizes
from ipu_mlir.passes.importing.dynamic_types import before_cast, cast_to, dynamic_sizes
from ipu_mlir.passes.support.linalg_builders import reshaped
from ipu_mlir.passes.support.rewriting import list_ops


class InferSizes(Pass):
    """Give tensors whose sizes follow from those of the arguments types that say so.

    Front ends leave ``?`` inside programs whose arguments have none: a roll is a concatenation of two slices of sizes
    that it casts away.

    Needs:  linalg on tensors.
    Leaves: ``?`` only where a size depends on data or on an argument; no ``tensor.reshape`` to a shape that is known.
    """

    name = "ipu-infer-sizes"

    def run(self, module: ir.Operation) -> None:
        if list_ops(module, "tensor.cast", "tensor.reshape") or any(
            dynamic_sizes(op.results[0].type) for op in list_ops(module, *_SIZED)
        ):  # where else ? comes from, canonicalize follows it
            infer_sizes(module)


def infer_sizes(module: ir.Operation) -> None:
    """Replace ``?`` in ``module`` as far as it follows from static types, and clean up.

    ``canonicalize`` knows most ops; it is run until there is nothing new for what it does not know.
    """
    manager = passmanager.PassManager.parse("builtin.module(canonicalize,cse)", context=module.context)
    with module.context, ir.Location.unknown():
        manager.run(module)
        while sum(infer(module) for infer in _INFERENCES):
            manager.run(module)


def _concatenate_what_is_cast(module: ir.Operation) -> int:
    """Concatenate tensors, not their casts to types that say less; gives how many.

    Upstream infers the type of the result from those of the operands.
    """
    count = 0
    for op in list_ops(module, "tensor.concat"):
        for number, operand in enumerate(op.operands):
            if dynamic_sizes(before_cast(operand).type) < dynamic_sizes(operand.type):
                op.operands[number] = before_cast(operand)
                count += 1
    return count


def _write_reshapes_as_views(module: ir.Operation) -> int:
    """Write ``tensor.reshape`` to a constant shape as a collapse and an expansion; gives how many."""
    count = 0
    for op in list_ops(module, "tensor.reshape"):
        source, shape = before_cast(op.operands[0]), _constant_shape(op.operands[1])
        if shape is None or dynamic_sizes(source.type) or prod(shape) != prod(source.type.shape):
            continue
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(cast_to(reshaped(source, shape), op.results[0].type))
        op.erase()
        count += 1
    return count


def _constant_shape(value: ir.Value) -> list[int] | None:
    constant = constant_of(value)
    return None if constant is None else [int(size) for size in np.asarray(constant)]


def _compute_on_what_is_cast(module: ir.Operation) -> int:
    """Let ``arith`` and ``math`` ops compute on tensors, not on their casts to types that say less; gives how many."""
    count = 0
    for op in list_ops(module):
        if op.name.startswith(("arith.", "math.")) and len(op.results) == 1 and dynamic_sizes(op.results[0].type):
            shapes = [before_cast(value).type for value in op.operands if isinstance(value.type, ir.RankedTensorType)]
            known = min(shapes, key=dynamic_sizes, default=op.results[0].type)
            if dynamic_sizes(known) < dynamic_sizes(op.results[0].type):
                _compute_in_shape(op, known)
                count += 1
    return count


def _compute_in_shape(op: ir.Operation, known: ir.RankedTensorType) -> None:
    """Replace ``op`` by one whose tensors all have the shape of ``known``."""

    def in_shape(kind: ir.Type) -> ir.Type:
        if not isinstance(kind, ir.RankedTensorType):
            return kind
        return ir.RankedTensorType.get(known.shape, kind.element_type, kind.encoding)

    with ir.InsertionPoint(op), op.location:
        operands = [cast_to(before_cast(value), in_shape(value.type)) for value in op.operands]
        new = ir.Operation.create(op.name, [in_shape(op.results[0].type)], operands, dict(op.attributes)).results[0]
        op.results[0].replace_all_uses_with(cast_to(new, op.results[0].type))
    op.erase()


_SIZED = ("tensor.empty", "tensor.extract_slice", "tensor.pad")
"""Ops that take sizes as operands."""
_INFERENCES = (
    _concatenate_what_is_cast,
    _write_reshapes_as_views,
    carry_what_is_cast,
    _compute_on_what_is_cast,
    write_out_computed_sizes,
)
"""What ``canonicalize`` does not know; each gives how many ops it has replaced."""
