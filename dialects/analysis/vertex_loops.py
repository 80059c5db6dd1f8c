"""Loops that are one vertex: what is in them runs on one tile, without a sync."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.buffers import memory_mapping
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, is_loop, is_terminator
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.matchers import ops_around
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir

ONE_VERTEX = "ipu.one_vertex"
"""Attribute of a loop that one vertex runs, with the tile that it runs on."""

NUMBER_DIALECTS = ("affine.", "arith.", "math.")
"""Of ops on numbers, which control flow computes with."""


def is_in_vertex(op: ir.Operation) -> bool:
    """True if ``op`` stands in a loop that is one vertex."""
    return any(ONE_VERTEX in each.attributes for each in ops_around(op))


def steps_in(loop: ir.Operation) -> Iterator[ir.Operation]:
    """The ops in the blocks of ``loop`` and of control flow in it, in order; ops with control flow are left out."""
    for block in blocks_of(loop):
        for each in block.operations:
            op = each.operation
            if control_op(op) is None:
                yield op
            else:
                yield from steps_in(op)


def vertex_tile(loop: ir.Operation, is_formed: bool = True) -> int | None:
    """The tile on which all that ``loop`` does runs, so that it can be one vertex; None if there is no such tile.

    Args:
        is_formed: whether it has compute sets only; before, exchanges may copy from the tile to itself.
    """
    tiles: set[int] = set()
    for op in steps_in(loop) if is_loop(loop) else ():
        if op.name == "ipu.compute_set":
            families = [family.operation for family in op.regions[0].blocks[0].operations]
            tiles.update(_only_tile(parts_from_attr(family.attributes["parts"])) for family in families)
        elif op.name == "ipu.read_control" or (op.name == "ipu.exchange" and not is_formed):
            tiles.update(_only_tile(memory_mapping(operand.type)) for operand in op.operands)
        elif not is_terminator(op) and not _only_names(op):
            return None
    (tile,) = tiles if len(tiles) == 1 else (-1,)
    return None if tile < 0 else tile


def _only_tile(parts: Parts | Mapping | None) -> int:
    """The tile that all of ``parts`` are on; -1 where there are several."""
    return parts.first_tile if parts is not None and parts.num_parts == 1 else -1


def _only_names(op: ir.Operation) -> bool:
    """True if ``op`` makes a number, or a buffer or a view of one: no step."""
    effects = effects_of(op)
    if effects is None:
        return op.name.startswith(NUMBER_DIALECTS)
    return effects.is_free_to_move and not list(effects.touches(op.opview))
