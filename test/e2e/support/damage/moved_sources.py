"""Superstep programs whose arguments or constants lie elsewhere: what becomes of a program if its inputs move.

An argument that only exchanges read may lie on any tiles: the exchanges fetch it from where it is. One that a vertex
reads has to be on that vertex's tile.
"""

from dataclasses import dataclass, replace

from support.damage.mutations import move_all
from support.tied_values import HANDED_ON, tied, update_signatures

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import target_from_attr, target_to_attr
from ipu_mlir.dialects.support.bindings import ir

_ONLY_READS_VALUES = (*HANDED_ON, "ipu.exchange", "ipu.read_control")


@dataclass(frozen=True)
class MovedSource:
    """A module in which one argument or constant lies a tile further on.

    Attributes:
        description: which one.
        is_legal: whether nothing but exchanges and returns reads it, so that it may lie anywhere.
    """

    description: str
    is_legal: bool
    _original: str
    _number: int

    def text(self) -> str:
        """The module; its target has one more tile."""
        with ipu.context(), ir.Location.unknown():
            module = ir.Module.parse(self._original)
            move_all(tied(_sources(module)[self._number]), 1)
            update_signatures(module.operation)
            _add_a_tile(module)
            return module.operation.get_asm(assume_verified=True)


def moved_sources(text: str) -> list[MovedSource]:
    """The module with each argument of ``@main`` and each constant in turn ``1`` tile further on."""
    with ipu.context():
        return [
            MovedSource(f"source {number} of type {source.type}", _is_free(source), text, number)
            for number, source in enumerate(_sources(ir.Module.parse(text)))
        ]


def _sources(module: ir.Module) -> list[ir.Value]:
    block = _main(module).regions[0].blocks[0]
    globals_ = [op.operation.results[0] for op in block if op.operation.name == "memref.get_global"]
    return [*block.arguments, *globals_]


def _main(module: ir.Module) -> ir.Operation:
    return ir.SymbolTable(module.operation)["main"].operation


def _is_free(source: ir.Value) -> bool:
    """Whether nothing that runs on a tile of its own reads the source, under any name."""
    users = (use.owner.operation.name for value in tied(source) for use in value.uses)
    return all(name in _ONLY_READS_VALUES for name in users)


def _add_a_tile(module: ir.Module) -> None:
    target = target_from_attr(module.operation.attributes["ipu.target"])
    more = replace(target, tiles_per_ipu=target.tiles_per_ipu + 1)
    module.operation.attributes["ipu.target"] = target_to_attr(more)
