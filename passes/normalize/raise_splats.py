"""``ipu-raise-splats``: an op that spreads one value is a ``linalg.fill``."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.matchers import block_of, constant_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite


def fill_of_constant(op: Any, rewriter: Any) -> bool:
    """A generic that yields one constant for every element becomes ``linalg.fill``, which folds into its users."""
    body = op.regions[0].blocks[0]
    if body.operations[0].operation.name != "linalg.yield" or len(op.results) != 1:
        return SKIP
    if "library_call" in op.operation.attributes:
        return SKIP
    if any("parallel" not in str(kind) for kind in op.iterator_types):
        return SKIP
    yielded = body.operations[0].operands[0]
    is_outside = constant_of(yielded) is not None and block_of(yielded) != body
    constant = yielded if is_outside else _rank_zero_constant(yielded, op, body)
    if constant is None:
        return SKIP
    with rewriter.ip:
        if isinstance(constant, ir.Attribute):
            constant = upstream("arith").ConstantOp(op.results[0].type.element_type, constant, loc=op.location).result
        filled = fill_with(constant, op.operands[-1])
    rewriter.replace_op(op, filled)
    return REWRITTEN


def fill_of_splat(op: Any, rewriter: Any) -> bool:
    """``tensor.splat`` becomes ``linalg.fill``."""
    made = op.results[0].type
    if not made.has_static_shape:
        return SKIP
    with rewriter.ip:
        empty = upstream("tensor").EmptyOp(list(made.shape), made.element_type, loc=op.location).result
        filled = fill_with(op.operands[0], empty)
    rewriter.replace_op(op, filled)
    return REWRITTEN


def _rank_zero_constant(yielded: ir.Value, op: Any, body: ir.Block) -> ir.Attribute | None:
    """The value of the ``tensor<f32>`` constant that the body passes on, if it does just that."""
    for argument, operand in zip(list(body.arguments)[: len(op.inputs)], op.inputs, strict=True):
        value: Any = constant_of(operand) if argument == yielded else None
        if isinstance(operand.type, ir.RankedTensorType) and isinstance(value, ir.DenseElementsAttr):
            return value.get_splat_value() if value.is_splat else None
    return None


@dataclass(frozen=True)
class RaiseSplats(Pass):
    """Write ops that spread one value as linalg.fill.

    Needs:  linalg on tensors.
    Leaves: no ``tensor.splat`` of static shape, no ``linalg.generic`` that only yields a constant; fills fold into
            element-wise users as scalars (``ipu-fuse-elementwise-ops``).
    """

    name = "ipu-raise-splats"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, {linalg.GenericOp: fill_of_constant, "tensor.splat": fill_of_splat})
