"""Superstep programs whose arguments or constants lie elsewhere: what becomes of a program if its inputs move.

An argument that only exchanges read may lie on any tiles: the exchanges fetch it from where it is. One that a vertex
reads has to be on that vertex's tile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from support.mutations import VIEWS

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes import mapping_from_attr, mapping_to_attr, target_from_attr, target_to_attr
from ipu_mlir.dialects.bindings import ir

_ONLY_READS_VALUES = ("ipu.exchange", "func.return")


@dataclass(frozen=True)
class MovedSource:
    """A module in which one argument or constant lies a tile further on.

    Attributes:
        description: which one.
        text: the module; its target has one more tile.
        is_legal: whether nothing but exchanges and returns reads it, so that it may lie anywhere.
    """

    description: str
    text: str
    is_legal: bool


def moved_sources(text: str) -> Iterator[MovedSource]:
    """The module with each argument of ``@main`` and each constant in turn ``1`` tile further on."""
    with ipu.context(), ir.Location.unknown():
        count = len(_sources(ir.Module.parse(text)))
        for number in range(count):
            module = ir.Module.parse(text)
            source = _sources(module)[number]
            is_legal = all(name in _ONLY_READS_VALUES for name in _readers(source))
            description = f"source {number} of type {source.type}"
            _move(source)
            _update_signatures(module)
            yield MovedSource(description, module.operation.get_asm(assume_verified=True), is_legal)


def _sources(module: ir.Module) -> list[ir.Value]:
    block = _main(module).regions[0].blocks[0]
    globals_ = [op.operation.results[0] for op in block if op.operation.name == "memref.get_global"]
    return [*block.arguments, *globals_]


def _main(module: ir.Module) -> ir.Operation:
    return ir.SymbolTable(module.operation)["main"].operation


def _readers(value: ir.Value) -> Iterator[str]:
    """The names of the ops that read ``value``, through views or not."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in VIEWS:
            yield from _readers(user.results[0])
        else:
            yield user.name


def _move(value: ir.Value) -> None:
    """Give ``value`` and its views the mapping one tile further on."""
    memref = ir.MemRefType(value.type)
    mapping = mapping_from_attr(memref.memory_space)
    moved = mapping_to_attr(replace(mapping, first_tile=mapping.first_tile + 1))
    value.set_type(ir.MemRefType.get(memref.shape, memref.element_type, memref.layout, moved))
    for use in value.uses:
        if use.owner.operation.name in VIEWS:
            _move(use.owner.operation.results[0])


def _update_signatures(module: ir.Module) -> None:
    """Let the function and the constants say what their values say now, and give the target one more tile."""
    function = _main(module)
    block = function.regions[0].blocks[0]
    results = [operand.type for operand in list(block)[-1].operation.operands]
    arguments = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, results))
    symbols = ir.SymbolTable(module.operation)
    for op in block:
        if op.operation.name == "memref.get_global":
            name = ir.FlatSymbolRefAttr(op.operation.attributes["name"]).value
            symbols[name].operation.attributes["type"] = ir.TypeAttr.get(op.operation.results[0].type)
    target = target_from_attr(module.operation.attributes["ipu.target"])
    more = replace(target, tiles_per_ipu=target.tiles_per_ipu + 1)
    module.operation.attributes["ipu.target"] = target_to_attr(more)
