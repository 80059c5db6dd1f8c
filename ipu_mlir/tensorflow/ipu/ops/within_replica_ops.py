"""Collectives over the IPUs of one replica (guide 21.15.14): a tensor for each shard, in their order, in and out."""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.placement import on_shard
from ipu_mlir.tensorflow.variables import is_tracing

_SHARD = re.compile(r"ipu\.shard\.(\d+)")
_COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": tf.add,
    "MUL": tf.multiply,
    "MIN": tf.minimum,
    "MAX": tf.maximum,
    "LOGICAL_AND": tf.logical_and,
    "LOGICAL_OR": tf.logical_or,
    "SQUARE_ADD": tf.add,
    "MEAN": tf.add,
}


def all_gather(input_shards: Sequence[Any], axis: int = 0) -> list[Any]:
    """On every shard all of the tensors, one after the other along ``axis``; numbers as a vector.

    Raises:
        ValueError: there is no tensor, one twice, or they are of several types or numbers of dimensions.
        FailedPreconditionError: they were made on shards of another order.
    """
    rows = _checked("all_gather", input_shards)
    return [_on(index, lambda: tf.concat(rows, axis)) for index in range(len(rows))]


def all_reduce(input_shards: Sequence[Any], op: str) -> list[Any]:
    """On every shard the combination of the tensors, numbers or vectors; shorter ones end in zeros.

    Args:
        op: as of ``reduce_scatter``.

    Raises:
        ValueError: as ``reduce_scatter``.
    """
    longest = max([each.shape[0] for each in _vectors("all_reduce", input_shards)])
    scattered = reduce_scatter(input_shards, op)
    parts = [scattered[index] for index in _ring(len(scattered))]
    whole = [_on(index, lambda: tf.concat(parts, 0)[:longest]) for index in range(len(parts))]
    is_number = tf.convert_to_tensor(input_shards[0]).shape.rank == 0
    return [own[0] for own in whole] if is_number else whole


def reduce_scatter(input_shards: Sequence[Any], op: str) -> list[Any]:
    """A part of the combination of the tensors, numbers or vectors, on each shard.

    Parts go round the ring of shards: shard ``k`` has the ``k``-th part, but the first shard has the last part, and the
    last shard the first one.

    All parts have one size, that of the longest tensor by the number of shards, rounded up; shorter tensors, and the
    last parts, end in zeros.

    Args:
        op: ``COLLECTIVE_OP_`` and one of ADD, MUL, MIN, MAX, LOGICAL_AND, LOGICAL_OR, SQUARE_ADD, MEAN.

    Raises:
        ValueError: there is no such ``op``, no tensor, or they are of several types or have more dimensions.
    """
    rows = _vectors("reduce_scatter", input_shards)
    kind = op.removeprefix("COLLECTIVE_OP_")
    if kind not in _COMBINERS:
        known = ", ".join(f"COLLECTIVE_OP_{each}" for each in _COMBINERS)
        raise ValueError(f"collectives of shards have no {op!r}; there are {known}")
    size = -(-max(each.shape[0] for each in rows) // len(rows))
    whole = [_on(index, lambda row=row: _padded(row, size * len(rows))) for index, row in enumerate(rows)]

    def part(index: int) -> Any:
        parts = [row[index * size : (index + 1) * size] for row in whole]
        if kind == "SQUARE_ADD":
            parts = [each * each for each in parts]
        if kind == "MEAN":
            parts = [each / len(rows) for each in parts]
        return reduce(_COMBINERS[kind], parts)

    return [_on(index, lambda own=own: part(own)) for index, own in enumerate(_ring(len(rows)))]


def _ring(shards: int) -> list[int]:
    """By shard, the number of its part; and by part, the number of its shard."""
    return list(range(shards)) if shards == 1 else [shards - 1, *range(1, shards - 1), 0]


def _on(index: int, make: Callable[[], Any]) -> Any:
    """What ``make`` gives, on shard ``index``; its gradient lies where that is computed."""

    @tf.custom_gradient
    def moved(value: Any) -> Any:
        found = call("to_shard", [value], [tf.TensorSpec(value.shape, value.dtype)], shard=index)[0]
        return found, lambda given: given

    with on_shard(index):
        return moved(make()) if is_tracing() else make()


def _padded(row: Any, size: int) -> Any:
    zeros = tf.zeros([size - row.shape[0]], row.dtype)
    return tf.concat([row, zeros], 0)


def _vectors(name: str, tensors: Sequence[Any]) -> list[Any]:
    rows = _checked(name, tensors)
    if rows[0].shape.rank != 1:
        raise ValueError(f"{name} takes numbers or vectors, got a shape of {rows[0].shape}; reshape them")
    return rows


def _checked(name: str, tensors: Sequence[Any]) -> list[Any]:
    rows = [tf.convert_to_tensor(each) for each in tensors]
    if not rows:
        raise ValueError(f"{name} takes a tensor for each shard, got none")
    if len({(each.dtype, each.shape.rank) for each in rows}) > 1:
        found = ", ".join(f"{each.dtype.name}{each.shape}" for each in rows)
        raise ValueError(f"{name} takes tensors of one type and one number of dimensions, got {found}")
    if len({id(each) for each in rows}) < len(rows):
        raise ValueError(
            f"{name} takes a tensor of its own for each shard, got one twice; use tf.identity on its shard"
        )
    if not tf.executing_eagerly():
        found = [_SHARD.findall(each.op.name) for each in rows]
        shards = [int(each[-1]) for each in found if each]
        if shards != sorted(shards):
            raise tf.errors.FailedPreconditionError(
                None, None, f"{name} takes the tensors of shards in their order, got those of shards {shards}"
            )
    return [tf.reshape(each, [1]) for each in rows] if rows[0].shape.rank == 0 else rows
