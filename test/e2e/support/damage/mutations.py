"""Superstep programs with one thing wrong: what the verifier must reject, and the per-tile executor must notice.

A function per kind of mistake takes the text of a module and gives, per place where the mistake can be made, a
description and the text of the module with that one mistake. The texts print and parse; upstream's own rules hold in
them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from support.tied_values import HANDED_ON, module_of, tied, update_signatures

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import (
    mapping_from_attr,
    mapping_to_attr,
    parts_from_attr,
    parts_to_attr,
    target_from_attr,
    target_to_attr,
)
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir

Change = Callable[[ir.Operation], str]
"""Makes one mistake at an op, and describes it."""


class Mutants(Sequence[tuple[str, str]]):
    """The mutants of one kind, each made when it is asked for: a program has hundreds, of which a test takes two."""

    def __init__(self, text: str, changes_of: Callable[[ir.Operation], list[Change]]) -> None:
        """The mutants of the module ``text``; ``changes_of`` gives the mistakes that an op offers."""
        self._text, self._changes_of = text, changes_of
        with ipu.context():
            module = ir.Module.parse(text)
            counts = [len(changes_of(op)) for op in _operations(module.operation)]
        self._places = [(place, number) for place, count in enumerate(counts) for number in range(count)]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place, number = self._places[index]
        with ipu.context(), ir.Location.unknown():
            module = ir.Module.parse(self._text)
            op = next(islice(_operations(module.operation), place, None))
            description = self._changes_of(op)[number](op)
            return description, module.operation.get_asm(assume_verified=True)


def all_mutants(text: str) -> list[tuple[str, str]]:
    """The mutants of every kind."""
    return [*lost_exchanges(text), *moved_buffers(text), *dropped_parts(text), *reversed_parts(text)]


def lost_exchanges(text: str) -> Mutants:
    """Without one ``ipu.exchange``."""

    def lose(op: ir.Operation) -> str:
        description = f"no exchange at {op.location}"
        op.erase()
        return description

    return Mutants(text, lambda op: [lose] if op.name == "ipu.exchange" else [])


def moved_buffers(text: str, by: int = 1) -> Mutants:
    """With one ``memref.alloc`` ``by`` tiles further on: all views of it, and what loops and calls hand it on as.

    The target gets as many more tiles: the mistake is that the buffer is elsewhere, not that it is nowhere. A buffer
    that only exchanges and ``ipu.read_control`` touch may lie anywhere; it is left out.
    """

    def move(op: ir.Operation) -> str:
        move_all(tied(op.results[0]), by)
        module = module_of(op)
        update_signatures(module)
        _add_tiles(module, by)
        return f"buffer at {op.location} moved by {by} tiles"

    return Mutants(text, lambda op: [move] if op.name == "memref.alloc" and _is_tied_to_tiles(op) else [])


def _is_tied_to_tiles(alloc: ir.Operation) -> bool:
    """Whether a vertex reads or writes the buffer, under any name."""
    users = (use.owner.operation.name for value in tied(alloc.results[0]) for use in value.uses)
    return any(name not in (*HANDED_ON, "ipu.exchange", "ipu.read_control") for name in users)


def dropped_parts(text: str) -> Mutants:
    """Without the last block of one loop of one family."""

    def shorten(parts: Parts, loop: int) -> Parts | None:
        blocks = _num_blocks(parts.loops[loop])
        if blocks < 2:
            return None
        return _with_loop(parts, loop, replace(parts.loops[loop], extent=parts.loops[loop].block * (blocks - 1)))

    return Mutants(text, _changes_of_parts(shorten, "last block dropped"))


def reversed_parts(text: str) -> Mutants:
    """With the blocks of one loop of one family on their tiles in reverse order."""

    def turn(parts: Parts, loop: int) -> Parts | None:
        step, blocks = parts.loops[loop].tile_step, _num_blocks(parts.loops[loop])
        if step == 0 or blocks < 2:
            return None
        turned = _with_loop(parts, loop, replace(parts.loops[loop], tile_step=-step))
        return replace(turned, first_tile=parts.first_tile + step * (blocks - 1))

    return Mutants(text, _changes_of_parts(turn, "tiles reversed"))


def _operations(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _operations(inner.operation)


def _changes_of_parts(
    change: Callable[[Parts, int], Parts | None], what: str
) -> Callable[[ir.Operation], list[Change]]:
    """Offers of an ``ipu.vertices``: what ``change`` makes of its parts, per loop for which it makes anything."""

    def set_parts(parts: Parts, loop: int) -> Change:
        def apply(op: ir.Operation) -> str:
            op.attributes["parts"] = parts_to_attr(parts)
            return f"vertices at {op.location}, loop {loop}: {what}"

        return apply

    def offers(op: ir.Operation) -> list[Change]:
        if op.name != "ipu.vertices":
            return []
        parts = parts_from_attr(op.attributes["parts"])
        changed = [(loop, change(parts, loop)) for loop in range(len(parts.loops))]
        return [set_parts(new, loop) for loop, new in changed if new is not None]

    return offers


def _add_tiles(module: ir.Operation, count: int) -> None:
    """Give the target of the module that many more tiles."""
    if "ipu.target" in module.attributes:
        target = target_from_attr(module.attributes["ipu.target"])
        module.attributes["ipu.target"] = target_to_attr(replace(target, tiles_per_ipu=target.tiles_per_ipu + count))


def _num_blocks(loop: PartLoop) -> int:
    return -(-loop.extent // loop.block)


def _with_loop(parts: Parts, number: int, loop: PartLoop) -> Parts:
    return replace(parts, loops=(*parts.loops[:number], loop, *parts.loops[number + 1 :]))


def move_all(values: Sequence[ir.Value], by: int) -> None:
    """Give ``values`` the mapping that they have, ``by`` tiles further on."""
    for value in values:
        memref = ir.MemRefType(value.type)
        mapping = mapping_from_attr(memref.memory_space)
        moved = mapping_to_attr(replace(mapping, first_tile=mapping.first_tile + by))
        value.set_type(ir.MemRefType.get(memref.shape, memref.element_type, memref.layout, moved))
