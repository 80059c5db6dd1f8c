"""``ipu-use-io-tiles``: data of the host comes to, and goes from, tiles that do nothing else."""

from dataclasses import dataclass
from itertools import takewhile
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.host_calls import FROM_HOST
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, shard_attribute, shard_of
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr, module_target
from ipu_mlir.dialects.ipu import PlaceOp, ToShardOp
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import diagnostic_at
from ipu_mlir.dialects.support.errors import warn_of_memory
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.partition.on_shard import tiles_of_shard
from ipu_mlir.passes.support.rewriting import has_uses, list_ops

_STREAMED_TO_HOST = ("ipu.put", "ipu.remote_store")
_GRAIN_BYTES = 8


@dataclass(frozen=True)
class UseIoTiles(Pass):
    """Put what the host gives and takes on the I/O tiles of its IPU, from where it moves to those that compute.

    A tensor for which there is not enough memory there, after those before it, stays where ops need it; a warning of
    the class ``MemoryWarning`` says so.

    Options: ``proportion``, the share of the memory of I/O tiles that such data may take.

    Needs:  the shard of each op (``ipu-assign-shards``).
    Leaves: ``ipu.place`` on I/O tiles of what the host gives and takes, with an ``ipu.to_shard`` behind or before it
            whose place is free. Nothing changes for a target without I/O tiles.
    """

    name = "ipu-use-io-tiles"

    proportion: float = 0.9

    def run(self, module: ir.Operation) -> None:
        target = module_target(module)
        if not target.io_tiles:
            return
        with module.context:
            for function in list_ops(module, "func.func"):
                free = [int(target.bytes_per_tile * self.proportion)] * target.ipus
                for op in list_ops(function, *FROM_HOST, *_STREAMED_TO_HOST):
                    _use(op, target, free)


def _use(op: ir.Operation, target: Target, free: list[int]) -> None:
    value = op.results[0] if op.name in FROM_HOST else op.operands[0]
    shard = _shard_of(op if op.name in FROM_HOST else value.owner)
    if not isinstance(value.type, ir.RankedTensorType) or (op.name in FROM_HOST and not has_uses(op)):
        return
    size = element_bytes(value.type.element_type)
    mapping = spread(prod(value.type.shape), size, io_tiles_of(shard, target))
    needed = mapping.loops[0].block * size
    if needed > free[shard]:
        text = (
            f"'{op.name}' op moves {value.type}, {needed:,} B on each of {target.io_tiles} I/O tiles, where "
            f"{free[shard]:,} B are left for such data: it stays on tiles that compute, and nothing overlaps with it; "
            "use more I/O tiles"
        )
        place = diagnostic_at(op.location, text, severity="warning")
        warn_of_memory(str(place))
        return
    free[shard] -= needed
    with ir.InsertionPoint.after(_last_of_element(op)) if op.name in FROM_HOST else ir.InsertionPoint(op), op.location:
        if op.name not in FROM_HOST:
            here = ToShardOp(source=value, shard=shard_attribute(shard), moved=value.type).operation.results[0]
            op.operands[0] = PlaceOp(source=here, mapping=mapping_to_attr(mapping), placed=value.type).placed
            return
        place = PlaceOp(source=value, mapping=mapping_to_attr(mapping), placed=value.type)
        there = ToShardOp(source=place.operation.results[0], shard=shard_attribute(shard), moved=value.type)
    value.replace_all_uses_except(there.operation.results[0], [place.operation])


def _last_of_element(op: ir.Operation) -> ir.Operation:
    """The last op of those that take something from the host one after the other, so that tiles wait for them once."""
    operations = [each.operation for each in op.block.operations]
    following = operations[operations.index(op) + 1 :]
    return [op, *takewhile(lambda each: each.name in FROM_HOST, following)][-1]


def _shard_of(owner: ir.Operation | ir.OpView | ir.Block) -> int:
    """The IPU of what ``owner`` gives; the first one of what may be anywhere."""
    found = None if isinstance(owner, ir.Block) else shard_of(owner.operation)
    return 0 if found in (None, ALL_IPUS) else found


def io_tiles_of(shard: int, target: Target) -> range:
    """The I/O tiles of an IPU, which are its last ones.

    >>> io_tiles_of(1, Target(ipus=2, tiles_per_ipu=8, io_tiles=2))
    range(14, 16)
    """
    tiles = tiles_of_shard(shard, target)
    return tiles[len(tiles) - target.io_tiles :]


def spread(elements: int, bytes_each: int, tiles: range) -> Mapping:
    """``elements`` of so many bytes each on ``tiles``, in equal runs of whole grains, the last one shorter.

    >>> spread(elements=10, bytes_each=4, tiles=range(6, 8)).loops
    (MappingLoop(block=6, extent=10, stride=1, tile_step=1),)
    """
    grain = max(1, _GRAIN_BYTES // bytes_each)
    block = -(-elements // (grain * len(tiles))) * grain
    return Mapping(elements, (MappingLoop(max(1, block), elements, 1, 1),), 0, tiles.start)
