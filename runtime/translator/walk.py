"""Cheap access to IR: children of an op without making OpViews (which would import whole dialect modules)."""

import re
from collections.abc import Iterator

from ipu_mlir.dialects.bindings import ir


def children(op: ir.Operation) -> list[ir.Operation]:
    """The ops directly inside ``op``'s regions, in order."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == op:
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.SKIP

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def value_names(function: ir.Operation) -> Iterator[str]:
    """Names of the function's arguments, then of each ``memref.alloc`` in order, as the printer gives them."""
    text = function.get_asm(large_elements_limit=1, use_local_scope=True, assume_verified=True, enable_debug_info=False)
    header_end = text.index("\n")
    # an argument is "%name: type"; nothing else in the header has that form
    for match in re.finditer(r"%([\w$.-]+): ", text[:header_end]):
        yield match[1]
    for match in re.finditer(r"%([\w$.-]+) = memref\.alloca?\(", text):
        yield match[1]
