"""``shard``: which IPU the ops of a traced function belong to."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, SHARD, shard_attribute
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import own_trace


@contextmanager
def shard(index: int) -> Iterator[None]:
    """Within the block, what a traced function computes runs on one IPU of those that it is compiled for.

        with ipu.shard(0):
            h = ipu.nn.relu(x @ w1)
        with ipu.shard(1):
            y = h @ w2

    Of two blocks around an op, the inner one counts. Ops outside of all run where their operands are; what an op reads
    from another IPU moves there. A slice or a reshape stays where its operand is.

    Args:
        index: of the IPU, from 0; -1 lets the ops run on all of them.

    Raises:
        TypeError: no function is being traced, or ``index`` is no integer.
        ValueError: ``index`` is less than -1.
    """
    trace = own_trace()
    if trace is None:
        raise TraceTypeError("shard says where ops of a traced function run; call it inside an @ipu.function")
    if isinstance(index, bool) or not isinstance(index, int):
        raise TraceTypeError(f"shard takes the number of an IPU, counted from 0, got {index!r}")
    if index < ALL_IPUS:
        raise TraceValueError(f"shard takes the number of an IPU, counted from 0, or -1 for all, got {index}")
    with trace.context, appended_on(trace.block, index):
        yield


@contextmanager
def appended_on(block: ir.Block, shard: int) -> Iterator[None]:
    """Within the block, what is appended to ``block`` belongs to ``shard``, but for what belongs to another already."""
    before = len(block.operations)
    yield

    def belongs(op: ir.Operation) -> ir.WalkResult:
        if SHARD not in op.attributes:
            op.attributes[SHARD] = shard_attribute(shard)
        return SKIP_INSIDE if is_structured(op) else ADVANCE

    for added in islice(block.operations, before, None):
        added.operation.walk(belongs, ir.WalkOrder.PRE_ORDER)
