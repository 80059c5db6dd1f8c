"""The function of a module that runs."""

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError


def entry_of(module: ir.Module, entry: str) -> ir.Operation:
    """The function of ``module`` that is called ``entry``.

    Raises:
        CompileError: there is none; with the names of those that there are.
    """
    functions = {
        ir.StringAttr(op.attributes["sym_name"]).value: op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    if entry not in functions:
        has = f"pass entry= one of {', '.join(map(repr, functions))}" if functions else "it has none at all"
        raise CompileError(f"the program has no function {entry!r}; {has}")
    return functions[entry]


def entry_alone(module: ir.Operation, entry: str) -> ir.Operation:
    """A copy of ``module`` in which nobody but ``entry`` can be called from outside; it shares the constants."""
    copy = module.clone()
    for function in copy.regions[0].blocks[0].operations:
        if function.operation.name == "func.func" and function.sym_name.value != entry:
            function.attributes["sym_visibility"] = ir.StringAttr.get("private", context=copy.context)
    return copy
