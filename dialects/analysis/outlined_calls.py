"""Calls of functions that stay: outlined ones, whose code stands in the program once."""

from collections.abc import Iterable, Mapping, Sequence

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ADVANCE, ir

OUTLINED = "ipu.outlined"
"""Attribute of a ``func.call`` that is not inlined."""


def callee_of(call: ir.Operation) -> str:
    """The name of the function that ``call`` calls."""
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def calls_by_callee(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """Every ``func.call`` in ``module``, by the name of the function that it calls."""
    found: dict[str, list[ir.Operation]] = {}
    for call in calls_in(module):
        found.setdefault(callee_of(call), []).append(call)
    return found


def callee_in(call: ir.Operation) -> ir.Operation | None:
    """The function of the same module that ``call`` calls; None if it has none of that name."""
    module = call
    while module.parent is not None:
        module = module.parent.operation
    name = callee_of(call)
    functions = (op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "func.func")
    return next((function for function in functions if symbol_of(function) == name), None)


def callees_first(functions: Sequence[ir.Operation]) -> list[ir.Operation]:
    """``functions`` in their order, but each behind those that it calls; a function that calls itself is among them."""
    by_name = {symbol_of(each): each for each in functions}
    called = {name: list(dict.fromkeys(map(callee_of, calls_in(each)))) for name, each in by_name.items()}
    return [by_name[name] for name in names_callees_first(called)]


def names_callees_first(called: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys of ``called`` in their order, but each behind those of them that it calls.

    >>> names_callees_first({"f": ["g", "h"], "g": ["h"], "h": ["f"]})
    ['h', 'g', 'f']
    """
    found: dict[str, None] = {}
    for first in called:
        waiting = [(first, iter(called[first]))]
        seen = {first}
        while waiting and first not in found:
            name, others = waiting[-1]
            callee = next((each for each in others if each in called and each not in found and each not in seen), None)
            if callee is None:
                found[name] = None
                waiting.pop()
            else:
                seen.add(callee)
                waiting.append((callee, iter(called[callee])))
    return list(found)


def calls_in(function: ir.Operation) -> list[ir.Operation]:
    """Every ``func.call`` in ``function``, or in a module."""
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
