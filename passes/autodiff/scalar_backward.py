"""The backward code of scalar ops in the body of a structured op."""

from collections.abc import Mapping, Sequence

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import is_differentiable
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.autodiff.scalar_rules import SCALAR_RULES, log_of_sum

arith = upstream("arith")


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
        operands, rule = log_of_sum(op) or (op.operands, SCALAR_RULES.get(op.name))
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
