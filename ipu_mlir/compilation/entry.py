"""The function of a module that runs."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, Settings


def entry_name(module: ir.Module, entry: str | None = None) -> str:
    """The name of the function of ``module`` that runs: the one called ``entry`` or ``@entry``.

    Without a name it is the only public function, or of several the one called ``main``.

    Raises:
        CompileError: there is no such function, none that is meant, or it has no body; with the names of all there are.
    """
    functions = {symbol_of(op): op.operation for op in module.body.operations if op.operation.name == "func.func"}
    if entry is None:
        entry = _only(functions)
    elif entry not in functions:
        entry = entry.removeprefix("@")
    if entry not in functions:
        raise _not_said(f"the program has no function @{entry}", functions)
    if not functions[entry].regions[0].blocks:
        raise CompileError(f"function @{entry} has no body: it is only declared, and nothing says what it computes")
    return entry


def entry_of(module: ir.Module, entry: str) -> ir.Operation:
    """The function of ``module`` that is called ``entry``."""
    return ir.SymbolTable(module.operation)[entry].operation


def entries_alone(module: ir.Operation, entries: Sequence[str]) -> ir.Operation:
    """A copy of ``module`` in which ``entries`` and nobody else can be called from outside; it shares the constants."""
    copy = module.clone()
    for function in copy.regions[0].blocks[0].operations:
        if function.operation.name != "func.func":
            continue
        if function.sym_name.value not in entries:
            function.attributes["sym_visibility"] = ir.StringAttr.get("private", context=copy.context)
        elif "sym_visibility" in function.attributes:
            del function.attributes["sym_visibility"]
    return copy


def _only(functions: dict[str, ir.Operation]) -> str:
    public = [name for name, op in functions.items() if "sym_visibility" not in op.attributes or _is_public(op)]
    if len(public) == 1:
        return public[0]
    if "main" in functions or len(functions) == 1:
        return "main" if "main" in functions else next(iter(functions))
    which = f"{len(public)} public functions" if public else "no public function"
    raise _not_said(f"the program has {which}, and none is called main", functions)


def _is_public(function: ir.Operation) -> bool:
    return ir.StringAttr(function.attributes["sym_visibility"]).value == "public"


def _not_said(what: str, functions: dict[str, ir.Operation]) -> CompileError:
    if not functions:
        return CompileError("the program has no function at all")
    settings = Settings(entry=next(iter(functions)))
    named = ", ".join(f"@{name}" for name in functions)
    return CompileError(f"{what}; it has {named}: say which runs, as in {settings}", settings=(settings,))
