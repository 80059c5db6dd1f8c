"""A plugin with a dialect, a pass and a planner, for ``--load``."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ext, ir, upstream
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.linalg_builders import elementwise
from ipu_mlir.passes.support.rewriting import REWRITTEN, list_ops, rewrite


class Zoo(ext.Dialect, name="zoo"):
    """One op."""


class TwiceOp(Zoo.Operation, name="twice"):
    """Twice the operand."""

    source: ext.Operand[Any]
    times: ir.IntegerAttr
    value: ext.Result[Any]

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        return op.times.value == 2 or fail(op, f"has times {op.times.value}; it is 2")


def lower_twice(op: Any, rewriter: Any) -> bool:
    """twice(x) becomes x + x."""
    with rewriter.ip, op.location:
        element = op.operands[0].type.element_type
        rewriter.replace_op(op, elementwise(op.operands[0], element, lambda x: upstream("arith").addf(x, x)))
    return REWRITTEN


@dataclass(frozen=True)
class LowerTwice(Pass):
    """Turn the ops of ``zoo`` into linalg.

    Needs:  tensors.
    Leaves: no op of ``zoo``.
    """

    name = "lower-twice"

    fail: bool = False

    def run(self, module: ir.Operation) -> None:
        with Refusals() as refuse:
            for op in list_ops(module, "zoo.twice") if self.fail else ():
                refuse(op, "is not to be lowered")
        rewrite(module, {"zoo.twice": lower_twice})


def whole(operation: Any, target: Any) -> Parts:
    """Every op on one tile."""
    return Parts(tuple(PartLoop(extent, extent, 0) for extent in operation.extents), 0)


PLANNERS = {"whole": whole}
