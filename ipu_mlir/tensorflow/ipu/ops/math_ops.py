"""Sums of segments, and products in parts (guide 21.15.6)."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

_DIMENSIONS = ("a_columns", "a_rows_b_columns", "b_rows")
_BY_A = {"a_columns": "a_columns", "a_rows_b_columns": "b_rows", "b_rows": "a_rows_b_columns"}
"""For each way to cut ``a b``, the way to cut its gradient by ``a`` at the same places: ``g b'``."""
_BY_B = {"a_columns": "a_rows_b_columns", "a_rows_b_columns": "a_columns", "b_rows": "b_rows"}
"""The same of the gradient by ``b``: ``a' g``."""


def segment_sum(data: Any, segment_ids: Any, num_segments: int, name: str | None = None) -> Any:
    """Sums of the rows of ``data`` by the numbers of their segments; a segment without rows is zero.

    Args:
        data: rows of any shape, one after another along the first dimension.
        segment_ids: the number of each row's segment, in ascending order.
        num_segments: how many there are; rows of others go.

    Raises:
        ValueError: there is not one number for each row, or there are no segments.
    """
    data, segment_ids = tf.convert_to_tensor(data), tf.convert_to_tensor(segment_ids)
    if data.shape.rank is None or segment_ids.shape.rank is None:
        raise ValueError("data and segment_ids must have a known rank; give them a shape by tf.ensure_shape")
    if data.shape.rank == 0:
        raise ValueError(f"data has rows along its first dimension, got a shape of {data.shape}")
    if segment_ids.shape.rank != 1:
        raise ValueError(f"segment_ids must have rank 1, a number for each row, got a shape of {segment_ids.shape}")
    if not segment_ids.dtype.is_integer:
        raise ValueError(f"segment_ids must be integers, got {segment_ids.dtype.name}")
    if not data.shape[:1].is_compatible_with(segment_ids.shape):
        raise ValueError(f"data has {data.shape[0]} rows, but segment_ids has {segment_ids.shape[0]} numbers")
    if num_segments <= 0:
        raise ValueError(f"num_segments must be greater than 0; got {num_segments}")
    return tf.math.unsorted_segment_sum(data, segment_ids, num_segments, name=name)


def serialized_matmul(
    a: Any,
    b: Any,
    serialization_factor: int,
    serialization_dimension: str,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> Any:
    """``a @ b``, one part after another, so that the device needs memory for one part at a time; gradients as well.

    Args:
        a: of shape ``[..., m, k]``.
        b: of shape ``[..., k, n]``; dimensions in front of those of a matrix broadcast.
        serialization_factor: how many parts.
        serialization_dimension: the dimension that is cut: ``a_columns`` is m, ``a_rows_b_columns`` is k, whose
            parts are summed, and ``b_rows`` is n.
        transpose_a: whether ``a`` is ``[..., k, m]``.
        transpose_b: whether ``b`` is ``[..., n, k]``.

    Raises:
        ValueError: no matrices, no such dimension, or a factor that does not divide it.
    """
    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
    for what, each in (("a", a), ("b", b)):
        if (each.shape.rank or 0) < 2:
            raise ValueError(f"{what} must be a matrix or a stack of them, got a shape of {each.shape}")
    if serialization_dimension not in _DIMENSIONS:
        raise ValueError(
            f"serialization_dimension must be one of {', '.join(_DIMENSIONS)}, got {serialization_dimension!r}"
        )
    a = tf.linalg.matrix_transpose(a) if transpose_a else a
    b = tf.linalg.matrix_transpose(b) if transpose_b else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"rows of {a.shape[-1]} elements cannot be multiplied by columns of {b.shape[-2]}")
    size = {"a_columns": a.shape[-2], "a_rows_b_columns": a.shape[-1], "b_rows": b.shape[-1]}[serialization_dimension]
    factor = int(serialization_factor)
    if factor < 1:
        raise ValueError(f"serialization_factor must be at least 1, got {serialization_factor}")
    if size % factor:
        raise ValueError(
            f"The serialization_factor ({factor}) must divide the size of {serialization_dimension} ({size})."
        )
    return tf.identity(_product(a, b, factor, serialization_dimension), name)


def _product(a: Any, b: Any, factor: int, dimension: str) -> Any:
    @tf.custom_gradient
    def whole(a: Any, b: Any) -> Any:
        def gradient(given: Any) -> Any:
            by_a = _product(given, tf.linalg.matrix_transpose(b), factor, _BY_A[dimension])
            by_b = _product(tf.linalg.matrix_transpose(a), given, factor, _BY_B[dimension])
            return _summed(by_a, a.shape), _summed(by_b, b.shape)

        return (tf.matmul(a, b) if factor == 1 else _in_parts(a, b, factor, dimension)), gradient

    return whole(a, b)


def _in_parts(a: Any, b: Any, factor: int, dimension: str) -> Any:
    if dimension == "a_rows_b_columns":
        left, right = _part(a, -1, factor), _part(b, -2, factor)
        start = tf.zeros([*tf.broadcast_static_shape(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]], a.dtype)
        return _loop(factor, lambda at, total: total + tf.matmul(left(at), right(at)), start)
    rows = dimension == "a_columns"
    cut = _part(a, -2, factor) if rows else _part(b, -1, factor)

    def one(at: Any, found: Any) -> Any:
        return found.write(at, tf.matmul(cut(at), b) if rows else tf.matmul(a, cut(at)))

    found = _loop(factor, one, tf.TensorArray(a.dtype, factor)).stack()
    rank = found.shape.rank
    along = rank - 2 if rows else rank - 1
    order = [*range(1, along), 0, *range(along, rank)]
    whole = tf.transpose(found, order)
    shape = whole.shape.as_list()
    return tf.reshape(whole, [*shape[: along - 1], shape[along - 1] * shape[along], *shape[along + 1 :]])


def _loop(count: int, body: Callable[[Any, Any], Any], start: Any) -> Any:
    def step(at: Any, value: Any) -> Any:
        return at + 1, body(at, value)

    return tf.while_loop(lambda at, _: at < count, step, (0, start), maximum_iterations=count)[1]


def _part(value: Any, axis: int, factor: int) -> Callable[[Any], Any]:
    """From a number to that part of ``value``, cut along ``axis``."""
    shape = value.shape.as_list()
    axis %= len(shape)
    size = shape[axis] // factor
    sizes = [*shape[:axis], size, *shape[axis + 1 :]]
    return lambda at: tf.ensure_shape(
        tf.slice(value, [at * size if each == axis else 0 for each in range(len(shape))], sizes), sizes
    )


def _summed(gradient: Any, shape: Any) -> Any:
    """``gradient`` of what was broadcast, for a value of that shape."""
    more = gradient.shape.rank - shape.rank
    axes = [*range(more), *(more + at for at, size in enumerate(shape[:-2]) if size != gradient.shape[more + at])]
    return tf.reshape(tf.reduce_sum(gradient, axes), shape) if axes else gradient
