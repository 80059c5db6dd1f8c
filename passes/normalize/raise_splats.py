"""``ipu-raise-splats``: an op that gives every element one value is a ``linalg.fill``."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite


def fill_of_constant(op: Any, rewriter: Any) -> bool:
    """A generic that computes one value of constants for every element becomes ``linalg.fill``, which folds into users.

    Its scalar ops stand before it then, where folders of ``arith`` and ``math`` make one constant of them.
    """
    *body, end = op.regions[0].blocks[0].operations
    if len(op.results) != 1 or "library_call" in op.operation.attributes:
        return SKIP
    if any("parallel" not in str(kind) for kind in op.iterator_types):
        return SKIP
    if not all(inner.operation.name.startswith(("arith.", "math.")) for inner in body):
        return SKIP
    arguments = list(op.regions[0].blocks[0].arguments)
    spread = {
        argument: value
        for argument, operand in zip(arguments, op.inputs, strict=False)
        if (value := _spread_constant(operand)) is not None
    }
    made = {result for inner in body for result in inner.operation.results}
    used = {value for inner in (*body, end) for value in inner.operation.operands}
    if any(value not in made and value not in spread and constant_of(value) is None for value in used):
        return SKIP
    with rewriter.ip, op.location:
        known: Known = {
            argument: upstream("arith").ConstantOp(argument.type, spread[argument]).result
            for argument in spread
            if argument in used
        }
        for inner in body:
            clone_into(inner.operation, known)
        (value,) = end.operands
        filled = fill_with(known.get(value, value), op.operands[-1])
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


def _spread_constant(value: ir.Value) -> ir.Attribute | None:
    """The constant that every element of ``value`` is, or that the scalar ``value`` is."""
    fill = defining_op(value, "linalg.fill")
    constant: Any = constant_of(value if fill is None else fill.operands[0])
    if isinstance(constant, ir.DenseElementsAttr):
        return constant.get_splat_value() if constant.is_splat else None
    return constant


@dataclass(frozen=True)
class RaiseSplats(Pass):
    """Write ops that give every element one value as linalg.fill, and compute what follows from constants.

    Needs:  linalg on tensors.
    Leaves: no ``tensor.splat`` of static shape, no element-wise ``linalg.generic`` whose operands are constants that
            are alike in every element; fills fold into element-wise users as scalars (``ipu-fuse-elementwise-ops``).
    """

    name = "ipu-raise-splats"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, {linalg.GenericOp: fill_of_constant, "tensor.splat": fill_of_splat})
