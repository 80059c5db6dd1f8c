"""One ``ipu.to_shard`` for each value and each shard that it goes to."""

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import TO_SHARD, shard_attribute, shard_of
from ipu_mlir.dialects.ipu import ToShardOp
from ipu_mlir.dialects.support.bindings import ir


class Moves:
    """Moves a value to a shard where it is made, so that all who read it there share one move."""

    def __init__(self) -> None:
        self._moved: dict[tuple[ir.Value, int], ir.Value] = {}

    def to(self, value: ir.Value, shard: int) -> ir.Value:
        """``value`` on ``shard``; itself if it has come there."""
        origin = defining_op(value, TO_SHARD)
        if origin is not None and shard_of(origin) == shard:
            return value
        if (value, shard) not in self._moved:
            is_argument = isinstance(value.owner, ir.Block)
            begin = (
                ir.InsertionPoint.at_block_begin(value.owner) if is_argument else ir.InsertionPoint.after(value.owner)
            )
            with begin, value.location:
                move = ToShardOp(source=value, shard=shard_attribute(shard), moved=value.type)
                self._moved[value, shard] = move.moved
        return self._moved[value, shard]
