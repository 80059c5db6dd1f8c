"""Types and attributes of the arguments and results of functions; attributes as dictionaries that may be changed."""

from collections.abc import Iterable, Mapping
from typing import Literal

from ipu_mlir.dialects.analysis.matchers import function_type, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.dictionaries import entries_of

Which = Literal["arg_attrs", "res_attrs"]


def value_attributes(function: ir.Operation, which: Which) -> list[dict[str, ir.Attribute]]:
    """A dictionary for each argument or result that the type of ``function`` has; empty where nothing is said of it."""
    kind = function_type(function)
    said = [entries_of(entry) for entry in function.attributes.get(which, ())]
    return said + [{} for _ in range(len(kind.inputs if which == "arg_attrs" else kind.results) - len(said))]


def set_value_attributes(function: ir.Operation, which: Which, entries: Iterable[Mapping[str, ir.Attribute]]) -> None:
    """Put ``entries``, one for each argument or result, in the place of those that are there."""
    kept = [ir.DictAttr.get(dict(each), context=function.context) for each in entries]
    function.attributes[which] = ir.ArrayAttr.get(kept, context=function.context)


def set_function_type(function: ir.Operation) -> None:
    """Let the type of ``function`` say what its only block takes and gives back."""
    block = function.regions[0].blocks[0]
    inputs, results = ([value.type for value in values] for values in (block.arguments, terminator(block).operands))
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results, function.context))
