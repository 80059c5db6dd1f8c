"""Cheap access to IR: children of an op without making OpViews (which would import whole dialect modules)."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.dialects.support.verifiers import unverified
from ipu_mlir.runtime.translator.array_ir.statements import Origin

_ALLOCATIONS = frozenset(["memref.alloc", "memref.alloca"])


def children(op: ir.Operation) -> list[ir.Operation]:
    """The ops directly inside ``op``'s regions, in order."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == op:
            return ADVANCE
        found.append(inner)
        return SKIP_INSIDE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def origin_of(op: ir.Operation) -> Origin:
    """``op`` and its place, for the statements that it becomes."""
    return Origin(op.name, place_of(op.location))


def value_names(function: ir.Operation) -> Iterator[str]:
    """Names of the function's arguments, then of each ``memref.alloc`` in order, as the printer gives them."""
    with unverified():  # MLIR checks what it is about to print
        state = ir.AsmState(function, use_local_scope=True)
    for argument in function.regions[0].blocks[0].arguments:
        yield argument.get_name(state).lstrip("%")
    allocations: list[ir.Value] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _ALLOCATIONS:
            allocations.append(op.results[0])
        return ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    for value in allocations:
        yield value.get_name(state).lstrip("%")
