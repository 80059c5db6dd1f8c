"""Rows of remote memory on all replicas at once: the number of the replica comes before those of rows."""

from collections.abc import Callable, Set

from ipu_mlir.dialects.analysis.remote import moved_and_rows, remote_buffer_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.host.replicas.axis import allocated, broadcast

_FETCH, _UPDATE = "ipu.fetch", "ipu.host_update_add"


def batch_move(
    op: ir.Operation, buffers: Set[str], batched: set[ir.Value], with_axis: Callable[[ir.Value], ir.Value]
) -> None:
    """Let ``op``, which moves rows, do so for all replicas.

    What all of them fetch from rows that are the same is fetched once. What they add to a table is added for each.

    Args:
        buffers: names of the remote buffers of which each replica has its own rows.
        batched: values that have the axis.
        with_axis: gives a value for each replica.
    """
    operands = list(op.operands)
    moved = moved_and_rows(op)[0]
    given = [value for value in operands if op.name != _FETCH or value != moved]
    if op.name == _UPDATE or remote_buffer_of(op) in buffers or any(value in batched for value in given):
        for number, value in enumerate(operands):
            op.operands[number] = with_axis(value)
    elif moved in batched:
        one = allocated(list(moved.type.shape)[1:], moved.type.element_type)
        op.operands[operands.index(moved)] = one
        with ir.InsertionPoint.after(op):
            broadcast(one, moved.type.shape[0], moved)
