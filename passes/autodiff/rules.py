"""The rules of all ops that have a derivative, by the name of the op."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.autodiff.backward import Backward, Rule
from ipu_mlir.passes.autodiff.collective_rules import COLLECTIVE_RULES
from ipu_mlir.passes.autodiff.control_rules import CONTROL_RULES
from ipu_mlir.passes.autodiff.program_rules import PROGRAM_RULES
from ipu_mlir.passes.autodiff.scalar_rules import SCALAR_RULES
from ipu_mlir.passes.autodiff.structured_rules import STRUCTURED_RULES
from ipu_mlir.passes.autodiff.view_rules import VIEW_RULES


def _scalar(op: ir.Operation, back: Backward) -> None:
    """The rule of an op on single numbers outside of structured ops."""
    cotangent = back.of(op.results[0])
    assert cotangent is not None
    given = SCALAR_RULES[op.name](list(op.operands), op.results[0], cotangent)
    for operand, each in zip(op.operands, given, strict=True):
        back.add(operand, each)


RULES: dict[str, Rule] = {
    **dict.fromkeys(SCALAR_RULES, _scalar),
    **VIEW_RULES,
    **STRUCTURED_RULES,
    **CONTROL_RULES,
    **PROGRAM_RULES,
    **COLLECTIVE_RULES,
}
