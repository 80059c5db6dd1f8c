"""A planner that knows one IPU, asked about one of several."""

from dataclasses import replace

from ipu_mlir.dialects.analysis.shards import ALL_IPUS
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation, Planner


def tiles_of_shard(shard: int | None, target: Target) -> range:
    """The tiles of IPU ``shard``, or of all IPUs.

    >>> tiles_of_shard(1, Target(ipus=2, tiles_per_ipu=4)), tiles_of_shard(None, Target(ipus=2, tiles_per_ipu=4))
    (range(4, 8), range(0, 8))
    """
    if shard in (None, ALL_IPUS):
        return range(target.num_tiles)
    assert shard is not None
    return range(shard * target.tiles_per_ipu, (shard + 1) * target.tiles_per_ipu)


def plan_on_shard(planner: Planner, operation: Operation, target: Target, shard: int | None) -> Parts | InSteps:
    """The decision of ``planner`` for ``operation`` on the tiles of ``shard``.

    Between I/O tiles of several IPUs, what may run anywhere runs on the first IPU: parts follow one another on tiles.
    The planner counts tiles from the first one of that IPU. Operands on other IPUs have tiles that it does not have.
    """
    is_anywhere = shard in (None, ALL_IPUS)
    if target.ipus == 1 or (is_anywhere and not target.io_tiles):
        return planner(operation, target)
    first = 0 if is_anywhere else tiles_of_shard(shard, target).start
    found = planner(moved(operation, -first), replace(target, ipus=1))
    return found if isinstance(found, InSteps) else replace(found, first_tile=found.first_tile + first)


def moved(operation: Operation, by: int) -> Operation:
    """``operation`` with all that lies somewhere ``by`` tiles further on."""

    def all_moved(uses: tuple[OperandUse, ...]) -> tuple[OperandUse, ...]:
        return tuple(
            use if use.home is None else replace(use, home=replace(use.home, first_tile=use.home.first_tile + by))
            for use in uses
        )

    return replace(
        operation,
        inputs=all_moved(operation.inputs),
        outputs=all_moved(operation.outputs),
        inits=all_moved(operation.inits),
    )
