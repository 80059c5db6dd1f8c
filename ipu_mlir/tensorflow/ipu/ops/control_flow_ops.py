"""The order of execution (guide 21.15.1)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.custom_calls import call


def barrier(tensors: Any, insert_barrier_for_gradients: bool = False, name: str | None = None) -> Any:
    """The tensors, when all of them are there.

    Args:
        tensors: a list, or nested as it likes.
        insert_barrier_for_gradients: whether their gradients wait for each other as well.

    Raises:
        ValueError: there are none.
    """
    if not tf.nest.flatten(tensors):
        raise ValueError(f"barrier takes one tensor at least, got {tensors!r}")

    def all_there(*values: Any) -> list[Any]:
        return call("barrier", values, [tf.TensorSpec(each.shape, each.dtype) for each in values])

    @tf.custom_gradient
    def whole(*values: Any) -> Any:
        def gradient(*given: Any) -> Any:
            if insert_barrier_for_gradients:
                return tuple(anywhere(all_there, given, "barrier")[0])
            return given[0] if len(given) == 1 else given

        return tuple(anywhere(all_there, values, name or "barrier")[0]), gradient

    return tf.nest.pack_sequence_as(tensors, list(whole(*tf.nest.flatten(tensors))))
