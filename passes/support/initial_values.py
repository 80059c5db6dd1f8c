"""Initial values of results: what a structured op starts from, and who decides where that lies."""

from typing import Any

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.placement_hints import PARTS


def is_filled_here(value: ir.Value) -> bool:
    """True if ``value`` is an empty or filled tensor that lies wherever the op wants it that starts from it."""
    op = defining_op(value)
    return op is not None and (op.name == "tensor.empty" or is_initial_fill(op))


def is_initial_fill(op: Any) -> bool:
    """True if ``op`` is a fill without a hint that is only the initial value of another structured op's result."""
    if op.name != "linalg.fill" or PARTS in op.attributes:
        return False
    uses = list(op.operation.results[0].uses)
    if len(uses) != 1 or not is_structured(uses[0].owner):
        return False
    user = uses[0].owner.operation
    return uses[0].operand_number >= len(user.operands) - len(user.results)
