"""The backward code of scalar ops in the body of a structured op.

Functions that are smooth, but written in parts that are not, have rules of their own: gradients of gradients need them.
"""

from collections.abc import Callable, Mapping, Sequence

from ipu_mlir.dialects.analysis.matchers import defining_op, float_of, predicate_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import is_differentiable
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.autodiff.scalar_rules import SCALAR_RULES, Rule, number_like

arith, math = upstream("arith"), upstream("math")

_IS = arith.CmpFPredicate


def scalar_cotangents(
    block: ir.Block, known: Mapping[ir.Value, ir.Value], seeds: Mapping[ir.Value, ir.Value]
) -> dict[ir.Value, ir.Value]:
    """The cotangents of all values of ``block`` from those of some, at the current insertion point.

    Args:
        block: of scalar ops.
        known: for every value of the block that derivatives may need, what it is at the insertion point.
        seeds: the cotangents that are known.

    Raises:
        NotDifferentiable: an op that a cotangent has to go through has no rule.
    """
    found = dict(seeds)
    for op in reversed([each.operation for each in block.operations]):
        if len(op.results) != 1 or op.results[0] not in found or op.name == "tensor.extract":
            continue
        operands, rule = _smooth_rule(op) or (op.operands, SCALAR_RULES.get(op.name))
        if rule is None:
            raise NotDifferentiable(op, "has no rule for its derivative")
        values = [known.get(value, value) for value in operands]
        given = rule(values, known.get(op.results[0], op.results[0]), found[op.results[0]])
        for operand, cotangent in zip(operands, given, strict=True):
            if cotangent is not None and is_differentiable(operand.type):
                old = found.get(operand)
                found[operand] = cotangent if old is None else arith.addf(old, cotangent)
    return found


def depends_on(value: ir.Value, others: Sequence[ir.Value], block: ir.Block) -> bool:
    """True if ``value`` is one of ``others``, or is computed from one in ``block``."""
    pending, seen = [value], set()
    while pending:
        each = pending.pop()
        if each in others:
            return True
        op = defining_op(each)
        if each in seen or op is None or op.block != block:
            continue
        seen.add(each)
        pending.extend(op.operands)
    return False


def _smooth_rule(op: ir.Operation) -> tuple[Sequence[ir.Value], Rule] | None:
    """The operands of the smooth function that ``op`` ends, and its rule; None if it ends none."""
    return _log_of_sum(op) if op.name == "arith.addf" else _length(op) if op.name == "arith.select" else None


def _log_of_sum(op: ir.Operation) -> tuple[Sequence[ir.Value], Rule] | None:
    """``log(exp(a) + exp(b))``, or that of powers of 2.

    It is written as ``max(a, b) + log1p(exp(-|a - b|))``, whose parts have no derivative where both are equal, but it
    is smooth there: the gradient of its gradient is not that of its parts.
    """
    for rest, largest in (op.operands, reversed(list(op.operands))):
        extreme = defining_op(largest, "arith.maximumf", "arith.maxnumf")
        scaled = defining_op(rest, "arith.mulf")
        made: ir.Operation | None = defining_op(rest if scaled is None else scaled.operands[0], "math.log1p")
        power = None if made is None else defining_op(made.operands[0], "math.exp", "math.exp2")
        made = None if power is None else defining_op(power.operands[0], "arith.negf")
        made = None if made is None else defining_op(made.operands[0], "math.absf")
        if extreme is None or power is None or made is None or (power.name == "math.exp2") == (scaled is None):
            continue
        a, b = extreme.operands
        difference = defining_op(made.operands[0], "arith.subf")
        minus_zero = made.operands[0] == a and float_of(b) == 0  # which has been folded
        if minus_zero or (difference is not None and list(difference.operands) in ([a, b], [b, a])):
            return [a, b], _shares(math.exp if scaled is None else math.exp2)
    return None


def _shares(power: Callable[[ir.Value], ir.Value]) -> Rule:
    """Of the logarithm of a sum of two powers: the share of each in the sum; 0 of numbers without a difference."""

    def rule(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
        a, b = values
        found: list[ir.Value | None] = []
        for difference in (arith.subf(b, a), arith.subf(a, b)):
            share = arith.divf(ct, arith.addf(number_like(ct, 1), power(difference)))
            known = arith.cmpf(_IS.ORD, difference, difference)
            found.append(arith.select(known, share, number_like(ct, 0)))
        return found

    return rule


def _length(op: ir.Operation) -> tuple[Sequence[ir.Value], Rule] | None:
    """The square root of ``a * a + b * b``, written with the larger one taken out of the root: ``np.hypot``."""
    chosen = defining_op(op.operands[2], "arith.select")
    compared = None if chosen is None else defining_op(chosen.operands[0], "arith.cmpf")
    product = None if chosen is None else defining_op(chosen.operands[2], "arith.mulf")
    if compared is None or product is None or predicate_of(compared) != "oeq":
        return None
    small, large = (defining_op(each, f"arith.{kind}") for each, kind in zip(compared.operands, _EXTREMES, strict=True))
    root = defining_op(product.operands[1], "math.sqrt")
    if small is None or large is None or root is None or list(small.operands) != list(large.operands):
        return None
    sides = [side for each in large.operands if (side := _signed(each)) is not None]
    is_length = len(sides) == 2 and product.operands[0] == large.results[0] and float_of(op.operands[1]) == _INFINITY
    return (sides, _side_by_length) if is_length else None


_INFINITY = float("inf")
_EXTREMES = ("minimumf", "maximumf")


def _signed(size: ir.Value) -> ir.Value | None:
    """What ``size`` is the absolute value of."""
    absolute = defining_op(size, "math.absf")
    if absolute is not None:
        return absolute.operands[0]
    return None if float_of(size) is None else size


def _side_by_length(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """0 where both sides are 0."""
    zero = number_like(ct, 0)
    is_point = arith.cmpf(_IS.OEQ, result, zero)
    share = arith.divf(ct, arith.select(is_point, number_like(ct, 1), result))
    return [arith.select(is_point, zero, arith.mulf(each, share)) for each in values]
