"""``ipu-guard-integers``: the result of an integer division by 0, and of a shift by all bits, in the IR."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.normalize.folding.constant_arrays import array_of
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_DIVISIONS = ("arith.ceildivsi", "arith.ceildivui", "arith.divsi", "arith.divui", "arith.floordivsi")
_INDEX_BITS = 64
_EQUAL = 0


class GuardIntegers(Pass):
    """Write into the IR what a division by zero and a shift by all bits give.

    For MLIR both are undefined, and its folders make use of that: ``x / x`` is 1 for them and ``x >> x`` 0, whatever x
    is. Here the quotient is 0 and the shift to the right gives copies of the sign, so a divisor that may be 0 becomes
    one that is not, with a choice behind it, and a shift by a number that may be too large becomes one by the largest.
    Remainders and shifts to the left are folded to what they give here.

    Needs:  integer ops that no folder has seen; named linalg ops have them once they are generic.
    Leaves: divisors that are not 0; shifts to the right of signed numbers by less than their bits.
    """

    name = "ipu-guard-integers"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, *_DIVISIONS):
                if not (_in_library(op) or _has_no_zero(op.operands[1])):
                    _guard_division(op)
            for op in list_ops(module, "arith.shrsi"):
                if not (_in_library(op) or _is_below(op.operands[1], _bits(op.operands[1]))):
                    _guard_shift(op)


def _in_library(op: ir.Operation) -> bool:
    """True in a body that stands for a codelet."""
    around = op.parent
    return around is not None and around.name == "linalg.generic" and "library_call" in around.attributes


def _has_no_zero(divisor: ir.Value) -> bool:
    """True of a constant without a 0, and of a choice of such a constant in place of 0."""
    if (known := _elements(divisor)) is not None:
        return bool((known != 0).all())
    choice = defining_op(divisor, "arith.select")
    if choice is None:
        return False
    condition, instead, otherwise = choice.operands
    known = _elements(instead)
    return known is not None and bool((known != 0).all()) and _holds_of_zero(condition, otherwise)


def _holds_of_zero(condition: ir.Value, value: ir.Value) -> bool:
    """True if ``condition`` is known to be true where ``value`` is 0."""
    either = defining_op(condition, "arith.ori")
    if either is not None:
        return any(_holds_of_zero(each, value) for each in either.operands)
    compared = defining_op(condition, "arith.cmpi")
    if compared is None or ir.IntegerAttr(compared.attributes["predicate"]).value != _EQUAL:
        return False
    left, right = compared.operands
    zero = _elements(right) if left == value else _elements(left) if right == value else None
    return zero is not None and not zero.any()


def _is_below(by: ir.Value, bits: int) -> bool:
    """True of a constant, or the smaller one of a constant and something, below ``bits``."""
    if (known := _elements(by)) is not None:
        return bool(((known >= 0) & (known < bits)).all())
    least = defining_op(by, "arith.minui")
    return least is not None and any(_is_below(each, bits) for each in least.operands if _elements(each) is not None)


def _elements(value: ir.Value) -> np.ndarray[Any, Any] | None:
    constant = constant_of(value)
    return None if constant is None else array_of(constant)


def _bits(value: ir.Value) -> int:
    element = getattr(value.type, "element_type", value.type)
    return element.width if isinstance(element, ir.IntegerType) else _INDEX_BITS


def _guard_division(op: ir.Operation) -> None:
    arith, (dividend, divisor) = upstream("arith"), op.operands
    with ir.InsertionPoint(op), op.location:
        zero = _constant(divisor, 0)
        by_zero = arith.cmpi(_EQUAL, divisor, zero)
        other = arith.select(by_zero, _constant(divisor, 1), divisor)
        quotient = ir.Operation.create(op.name, [dividend.type], [dividend, other]).result
        replace_op(op, [arith.select(by_zero, zero, quotient)])


def _guard_shift(op: ir.Operation) -> None:
    by = op.operands[1]
    with ir.InsertionPoint(op), op.location:
        op.operands[1] = upstream("arith").minui(by, _constant(by, _bits(by) - 1))


def _constant(like: ir.Value, number: int) -> ir.Value:
    """``number`` everywhere, in the type of ``like``."""
    element = getattr(like.type, "element_type", like.type)
    value: ir.Attribute = ir.IntegerAttr.get(element, number)
    if element != like.type:
        value = ir.DenseElementsAttr.get_splat(like.type, value)
    return upstream("arith").ConstantOp(like.type, value).result
