"""Attributes of the dialect that parse but say nothing: wrong numbers of entries, blocks of nothing, unknown fields,
variables that are not there.

MLIR checks the kinds of an attribute's parameters and not what stands in them, and verifiers see the attributes of our
own ops only. Passes that read mappings, parts or the target ask here before they do.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ipu_mlir.dialects.analysis.recurrent_cells import RECURRENCE, family_from_attr
from ipu_mlir.dialects.analysis.variables import VARIABLE, variables_in
from ipu_mlir.dialects.attributes.attributes import TARGET, mapping_from_attr, parts_from_attr, target_from_attr
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.support.placement_hints import MAP, PARTS
from ipu_mlir.passes.support.rewriting import list_outside_bodies

_MAPPING = "#ipu.mapping<"
_READERS: tuple[tuple[str, Callable[[ir.Attribute], Any]], ...] = (
    (MAP, mapping_from_attr),
    (PARTS, parts_from_attr),
    (TARGET, target_from_attr),
    (RECURRENCE, family_from_attr),
)


def refuse_malformed(module: ir.Operation, refuse: Refusals) -> None:
    """Report every mapping, parts and target of ``module`` that is malformed, each at its op."""
    known: dict[ir.Type, str | None] = {}
    for op in list_outside_bodies(module):
        for broken in _broken_attributes(op):
            refuse(op, broken)
        if op.name == "func.func":
            for broken in _broken_variables(op):
                refuse(op, broken)
        for value in (*op.results, *_arguments(op)):
            kind = value.type
            if kind not in known:
                broken = known[kind] = _broken_type(kind)
                if broken is not None:
                    refuse(op, broken)


def _broken_attributes(op: ir.Operation) -> Iterator[str]:
    attributes = op.attributes
    for name, reader in _READERS:
        if name in attributes and (broken := _broken(reader, attributes[name])):
            yield broken
    if op.name == "func.func" and "arg_attrs" in attributes:
        for entries in attributes["arg_attrs"]:
            if MAP in entries and (broken := _broken(mapping_from_attr, entries[MAP])):
                yield broken


def _broken_variables(function: ir.Operation) -> Iterator[str]:
    """The errors of variables among the arguments and results of ``function``, as ends of sentences."""
    entries = [(name, list(function.attributes.get(name, ()))) for name in ("arg_attrs", "res_attrs")]
    if not any(VARIABLE in each for _, many in entries for each in many):
        return
    kind = function.attributes["function_type"].value
    around = function.parent.operation
    declared = variables_in(around) if around.name == "builtin.module" else {}
    taken: set[str] = set()
    for (name, many), types in zip(entries, (kind.inputs, kind.results), strict=True):
        what, seen = "argument" if name == "arg_attrs" else "result", set[str]()
        for number, (each, given) in enumerate(zip(many, types, strict=False)):
            if VARIABLE not in each:
                continue
            symbol = each[VARIABLE]
            variable = declared.get(symbol.value) if isinstance(symbol, ir.FlatSymbolRefAttr) else None
            if variable is None:
                yield f"has {what} {number} that is variable {symbol}, but the module has none of that name"
                continue
            wanted = ir.TypeAttr(variable.attributes["type"]).value
            if not isinstance(given, ir.ShapedType) or (list(given.shape), given.element_type) != (
                list(wanted.shape),
                wanted.element_type,
            ):
                yield f"has {what} {number} of type {given} for variable {symbol}, which is of type {wanted}"
            if symbol.value in seen:
                yield f"has two {what}s that are variable {symbol}"
            if name == "res_attrs" and symbol.value not in taken:
                yield f"gives variable {symbol}, which it does not take"
            seen.add(symbol.value)
        taken |= seen


def _arguments(op: ir.Operation) -> list[ir.Value]:
    if op.name != "func.func":
        return []
    return [argument for block in op.regions[0].blocks for argument in block.arguments]


def _broken_type(kind: Any) -> str | None:
    """The error in the mapping of a tensor or memref type, if it has one."""
    space = kind.encoding if isinstance(kind, ir.RankedTensorType) else None
    space = kind.memory_space if isinstance(kind, ir.MemRefType) else space
    return None if space is None or not str(space).startswith(_MAPPING) else _broken(mapping_from_attr, space)


def _broken(reader: Callable[[ir.Attribute], Any], attribute: ir.Attribute) -> str | None:
    try:
        reader(attribute)
    except (IpuError, ValueError) as error:
        return str(error)
    return None
