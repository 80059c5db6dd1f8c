"""The variables of a module, and the arguments and results of its functions that are variables.

After ``ipu-promote-variables`` a function takes each variable that it uses as an argument with the attribute
``ipu.variable``, and gives each that it changes as a result with it. In supersteps only the arguments are left, and the
function writes to them in place.
"""

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ir

VARIABLE = "ipu.variable"
"""Attribute of an argument or a result that is a variable, with its name; and what the op is called."""

READ, ASSIGN = "ipu.read", "ipu.assign"
"""Ops that read and write a variable."""

UNSET = "ipu.unset"
"""Attribute of an argument that is a variable: the function assigns it before it reads it."""

UPDATED = "ipu.updated"
"""Attribute of an argument and a result of an outlined function, with one number: the value of a variable, and the new
one."""


def variables_in(module: ir.Operation) -> dict[str, ir.Operation]:
    """The ``ipu.variable`` ops of ``module`` by name, in the order in which they stand there."""
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    return {symbol_of(op): op for op in ops if op.name == VARIABLE}


def variable_of(op: ir.Operation) -> str:
    """The name of the variable that a ``READ`` or ``ASSIGN`` is about."""
    return ir.FlatSymbolRefAttr(op.attributes["variable"]).value


def variable_arguments(function: ir.Operation) -> dict[int, str]:
    """By number of the argument, the variable that it is."""
    return _named(function, "arg_attrs")


def variable_results(function: ir.Operation) -> dict[int, str]:
    """By number of the result, the variable that gets it."""
    return _named(function, "res_attrs")


def unset_arguments(function: ir.Operation) -> set[int]:
    """Numbers of the arguments that are variables whose value does not matter when the function begins."""
    entries = function.attributes.get("arg_attrs", ())
    return {number for number, each in enumerate(entries) if UNSET in each}


def updated_arguments(function: ir.Operation) -> dict[int, int]:
    """By number of a result, the argument of an outlined function that has the old value of the same variable."""
    taken, given = (_numbered(function, attribute) for attribute in ("arg_attrs", "res_attrs"))
    return {number: taken[which] for which, number in given.items() if which in taken}


def assigned_arguments(function: ir.Operation) -> set[int]:
    """Numbers of the arguments that ``function`` may write, as long as its results say what it assigns.

    They are the variables that it assigns, and values that callers hand it to be updated. What it only reads stays.
    """
    assigned = set(variable_results(function).values())
    own = {number for number, name in variable_arguments(function).items() if name in assigned}
    return {*own, *_numbered(function, "arg_attrs").values()}


def state_arguments(function: ir.Operation) -> set[int]:
    """Numbers of the arguments that are memory of variables: its own, or handed to it by callers to be updated."""
    return {*variable_arguments(function), *_numbered(function, "arg_attrs").values()}


def _numbered(function: ir.Operation, attribute: str) -> dict[int, int]:
    entries = enumerate(function.attributes.get(attribute, ()))
    return {ir.IntegerAttr(each[UPDATED]).value: number for number, each in entries if UPDATED in each}


def _named(function: ir.Operation, attribute: str) -> dict[int, str]:
    entries = function.attributes.get(attribute, ())
    named = ((number, each[VARIABLE]) for number, each in enumerate(entries) if VARIABLE in each)
    return {number: symbol.value for number, symbol in named if isinstance(symbol, ir.FlatSymbolRefAttr)}
