"""Cheap access to IR: children of an op without making OpViews (which would import whole dialect modules)."""

import re
from collections.abc import Iterator

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.runtime.translator.statements.statements import Origin

_ALLOCATED = re.compile(r"^ *%(\S+) = memref\.alloca?\(", re.MULTILINE)


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
    """Names of the function's arguments, then of each ``memref.alloc`` in order, as the printer gives them.

    The names are read from a print, because the bindings never free an ``ir.AsmState``.
    """
    yield from (f"arg{number}" for number in range(len(function.regions[0].blocks[0].arguments)))
    text = function.get_asm(use_local_scope=True, assume_verified=True, large_elements_limit=1)
    for match in _ALLOCATED.finditer(text):
        yield match[1]
