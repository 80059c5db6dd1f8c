"""Reductions that leave a block on each replica (guide 21.15.13)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow import collectives

_OPS = {"ADD": "add", "MUL": "mul", "MIN": "min", "MAX": "max", "LOGICAL_AND": "and", "LOGICAL_OR": "or"} | {
    "SQUARE_ADD": "square_add",
    "MEAN": "mean",
}


def reduce_scatter(x: Any, replication_factor: int, op: str = "COLLECTIVE_OP_ADD", name: str | None = None) -> Any:
    """Block i of a vector that is combined over replicas, on replica i; zeros follow where it does not divide.

    Args:
        x: a vector, or a list of them.
        replication_factor: how many replicas are a group.
        op: ``COLLECTIVE_OP_`` and one of ADD, MUL, MIN, MAX, LOGICAL_AND, LOGICAL_OR, SQUARE_ADD, MEAN, LOCAL: its own
            values.

    Raises:
        ValueError: there is no such ``op``.
    """
    kind = op.removeprefix("COLLECTIVE_OP_")
    if kind not in (*_OPS, "LOCAL"):
        raise ValueError(
            f"reduce_scatter has no {op!r}; there are {', '.join(f'COLLECTIVE_OP_{each}' for each in (*_OPS, 'LOCAL'))}"
        )
    if isinstance(x, list | tuple):
        return [reduce_scatter(each, replication_factor, op, name) for each in x]
    if kind == "LOCAL":
        return collectives.called(_own_block(tf.convert_to_tensor(x), replication_factor), name)
    return collectives.called(collectives.reduce_scatter(x, _OPS[kind], replication_factor), name)


def _own_block(x: Any, group: int) -> Any:
    size = -(-x.shape[0] // group)
    padded = tf.concat([x, tf.zeros([size * group - x.shape[0]], x.dtype)], 0)
    return tf.slice(padded, [collectives.replica_index() % group * size], [size])
