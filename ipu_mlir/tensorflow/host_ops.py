"""Python in graphs: a function of the host that a session runs, or that runs at once where there is no graph."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


def host_op(function: Callable[[], None]) -> Any:
    """Run ``function`` now, or give an operation that does."""
    if tf.executing_eagerly():
        function()
        return None
    with tf.device("/cpu:0"):
        return tf.numpy_function(function, [], [])


def host_values(function: Callable[[], Any], form: Any, more: Sequence[int | None] = ()) -> Any:
    """The results of ``function``, now or when a session asks.

    Args:
        function: gives flat arrays.
        form: how they are nested, with specs.
        more: dimensions in front of those of the specs.
    """
    specs = tf.nest.flatten(form)
    if tf.executing_eagerly():
        return tf.nest.pack_sequence_as(
            form, [tf.constant(array, spec.dtype) for array, spec in zip(function(), specs, strict=True)]
        )
    with tf.device("/cpu:0"):
        found = tf.numpy_function(function, [], [spec.dtype for spec in specs])
    for tensor, spec in zip(found, specs, strict=True):
        tensor.set_shape([*more, *spec.shape])
    return tf.nest.pack_sequence_as(form, found)
