"""``ipu-raise-splats``: an op that gives every element one value is a ``linalg.fill``."""

from math import prod
from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, is_used
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, Patterns, rewrite
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

_SCALAR = ("arith.", "math.")
_MOST_STEPS = 64


def fill_of_constant(op: Any, rewriter: Any) -> bool:
    """A generic that computes one value of constants for every element becomes ``linalg.fill``, which folds into users.

    So does a reduction of few such elements. The scalar ops stand before it then, where folders of ``arith`` and
    ``math`` make one constant of them.
    """
    block = op.regions[0].blocks[0]
    spread: dict[ir.Value, ir.Value | ir.Attribute] = {}
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        if is_used(argument):
            value = _spread(operand)
            if value is None:
                return SKIP
            spread[argument] = value
    if len(op.results) != 1 or "library_call" in op.attributes:
        return SKIP
    *body, end = block.operations
    arguments, total, steps = list(block.arguments), end.operands[0], _steps(op)
    if steps is None or not all(inner.operation.name.startswith(_SCALAR) for inner in body):
        return SKIP
    made = {result for inner in body for result in inner.operation.results}
    outside = {value for inner in (*body, end) for value in inner.operation.operands} - made - spread.keys()
    if not all(map(_follows_from_constants, outside)):
        return SKIP
    with rewriter.ip, op.location:
        known: Known = {
            argument: value
            if isinstance(value, ir.Value)
            else upstream("arith").ConstantOp(argument.type, value).result
            for argument, value in spread.items()
        }
        for _ in range(steps):
            for inner in body:
                clone_into(inner.operation, known)
            known[arguments[-1]] = known.get(total, total)
        filled = fill_with(known[arguments[-1]], op.operands[-1])
    rewriter.replace_op(op, filled)
    return REWRITTEN


def _steps(op: Any) -> int | None:
    """The number of terms of each element of the result; None if there are many, or none."""
    if all("parallel" in str(kind) for kind in op.iterator_types):
        return 1
    nest = loop_nest(op)
    if nest is None or any(multiple > 1 for multiple in nest.cut_multiples):
        return None
    steps = prod(extent for extent, parallel in zip(nest.extents, nest.parallel, strict=True) if not parallel)
    return steps if 0 < steps <= _MOST_STEPS else None


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


def fold_truncation(op: Any, rewriter: Any) -> bool:
    """``arith.truncf`` of a constant is one; upstream leaves those that round."""
    constant = constant_of(op.operands[0])
    if not isinstance(constant, ir.FloatAttr):
        return SKIP
    kind = op.results[0].type
    with rewriter.ip, op.location:
        rewriter.replace_op(op, upstream("arith").ConstantOp(kind, ir.FloatAttr.get(kind, constant.value)))
    return REWRITTEN


def _follows_from_constants(value: ir.Value) -> bool:
    """True if ``value`` is a constant scalar, or one that folders have not computed yet."""
    op = defining_op(value)
    return op is not None and op.name.startswith(_SCALAR) and all(map(_follows_from_constants, op.operands))


def _spread(value: ir.Value) -> ir.Value | ir.Attribute | None:
    """The constant that every element of ``value`` is, or the scalar of constants that folders will make one."""
    while (view := defining_op(value, *VIEW_OPS)) is not None:
        value = view.operands[0]
    fill = defining_op(value, "linalg.fill")
    if fill is not None:
        value = fill.operands[0]
    constant: Any = constant_of(value)
    if isinstance(constant, ir.DenseElementsAttr):
        return constant.get_splat_value() if constant.is_splat else None
    if constant is None and not isinstance(value.type, ir.ShapedType) and _follows_from_constants(value):
        return value
    return constant


class RaiseSplats(Pass):
    """Write ops that give every element one value as linalg.fill, and compute what follows from constants.

    Needs:  linalg on tensors.
    Leaves: no ``tensor.splat`` of static shape; no ``linalg.generic``, element-wise or of at most 64 terms, whose
            operands are constants that are alike in every element; no constant that is rounded at run time. Fills fold
            into element-wise users as scalars (``ipu-fuse-elementwise-ops``).
    """

    name = "ipu-raise-splats"

    def run(self, module: ir.Operation) -> None:
        patterns: Patterns = {
            linalg.GenericOp: fill_of_constant,
            "tensor.splat": fill_of_splat,
            "arith.truncf": fold_truncation,
        }
        rewrite(module, patterns)
