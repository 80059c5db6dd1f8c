"""The depth to which ops with regions may stand inside each other: what follows them calls itself for each level."""

import sys

from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, diagnostic_at

MOST_NESTED = 128
_ORDINARY = 32
_CALLS_PER_LEVEL, _OTHER_CALLS = 20, 1000
_NO_LEVEL = ("builtin.module", "func.func")


def check_nesting(root: ir.Operation) -> None:
    """Refuse a program with loops and branches too deep in each other, before anything meets them.

    For one that is deep but not too deep, Python's limit of calls is raised, and stays so: translation and runs
    follow.

    Raises:
        DiagnosedError: an op stands in more than ``MOST_NESTED`` others.
    """
    levels: dict[ir.Operation, int] = {}
    too_deep: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith(("linalg.", "ipu.")):
            return SKIP_INSIDE
        if len(op.regions) and op.name not in _NO_LEVEL:
            level = levels[op] = levels.get(op.parent.operation, 0) + 1
            if level > MOST_NESTED:
                too_deep.append(op)
                return ir.WalkResult.INTERRUPT
        return ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    for op in too_deep:
        message = f"'{op.name}' op stands in {MOST_NESTED} others, and no more are compiled; join loops or conditions"
        raise DiagnosedError([diagnostic_at(op.location, message)])
    deepest = max(levels.values(), default=0)
    if deepest > _ORDINARY:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _OTHER_CALLS + _CALLS_PER_LEVEL * deepest))
