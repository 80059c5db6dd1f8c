"""On which IPU operations of a graph are (guide 21.17): the number that ``ipu_shard`` gave them."""

import re
from collections.abc import Sequence

import tensorflow as tf
from tensorflow.compiler.xla.xla_data_pb2 import OpSharding

from ipu_mlir.tensorflow.placement import SHARD_ATTRIBUTE, shard_attribute

_NAMED = re.compile(r"ipu\.shard\.(-?\d+)")


def has_attr(o: tf.Operation, attr_name: str) -> bool:
    """True if an operation has an attribute."""
    return attr_name in o.node_def.attr


def get_sharding(op: tf.Operation) -> int | None:
    """The shard of an operation; None where it has none, or is on all IPUs.

    In programs, and for the gradients of an operation, its name says it.
    """
    if has_attr(op, SHARD_ATTRIBUTE):
        return OpSharding.FromString(op.get_attr(SHARD_ATTRIBUTE)).tile_assignment_devices[0]
    shard = int((_NAMED.findall(op.name) or [-1])[-1])
    return None if shard < 0 else shard


def get_shard_from_colocation(op: tf.Operation) -> int | None:
    """The shard of the first operation that ``op`` is to be with and that has one; or None."""
    names = [group.decode().removeprefix("loc:@") for group in op.colocation_groups()]
    found = (get_sharding(op.graph.get_operation_by_name(name)) for name in names if name != op.name)
    return next((shard for shard in found if shard is not None), None)


def propagate_sharding(g: tf.Graph) -> None:
    """Give operations without a shard that of the operations that they are to be with, as gradients are."""
    for op in g.get_operations():
        shard = get_shard_from_colocation(op)
        if shard is not None and not has_attr(op, SHARD_ATTRIBUTE):
            op._set_attr(SHARD_ATTRIBUTE, shard_attribute(shard))


def dependencies(roots: Sequence[tf.Operation]) -> list[tf.Operation]:
    """``roots`` and all operations that they need, each once."""
    found: dict[tf.Operation, None] = {}
    waiting = list(roots)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found[op] = None
            waiting += [*(each.op for each in op.inputs), *op.control_inputs]
    return list(found)


def enable_sharded_gradient_tape() -> None:
    """Without effect: gradients of a tape have the shard of their operation in any case."""
