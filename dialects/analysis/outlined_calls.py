"""Calls of functions that stay: outlined ones, whose code stands in the program once."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ADVANCE, ir

OUTLINED = "ipu.outlined"
"""Attribute of a ``func.call`` that is not inlined."""


def callee_of(call: ir.Operation) -> str:
    """The name of the function that ``call`` calls."""
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def callees_first(functions: Sequence[ir.Operation]) -> list[ir.Operation]:
    """``functions`` in their order, but each behind those that it calls; a function that calls itself is among them."""
    by_name = {symbol_of(each): each for each in functions}
    found: dict[str, ir.Operation] = {}
    waiting: set[str] = set()

    def add(name: str) -> None:
        if name in found or name in waiting or name not in by_name:
            return
        waiting.add(name)
        for call in calls_in(by_name[name]):
            add(callee_of(call))
        found[name] = by_name[name]

    for name in by_name:
        add(name)
    return list(found.values())


def calls_in(function: ir.Operation) -> list[ir.Operation]:
    """Every ``func.call`` in ``function``."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.call":
            found.append(op)
        return ADVANCE

    function.walk(visit)
    return found


def meaning_of(function: ir.Operation) -> str:
    """A text that functions have in common which do the same."""
    copy = function.clone()
    with function.context:
        copy.attributes["sym_name"] = ir.StringAttr.get("f")
        copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    text = copy.get_asm(enable_debug_info=False)
    copy.erase()
    return text
