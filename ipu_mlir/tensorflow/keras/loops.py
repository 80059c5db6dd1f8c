"""Batches in loops of the device."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def at(batches: Any, number: Any) -> Any:
    """One of the batches that were stacked."""
    return tf.nest.map_structure(lambda each: each[number] if tf.is_tensor(each) else each, batches)


def zeros(form: Any) -> Any:
    """Zeros of specs."""
    return tf.nest.map_structure(lambda spec: tf.zeros(spec.shape, spec.dtype), form)


def form_of(step: Callable[..., Any], batch: Any) -> Any:
    """What ``step`` gives for a batch, as specs."""
    leaves = tf.nest.flatten(batch)
    places = [place for place, leaf in enumerate(leaves) if tf.is_tensor(leaf)]

    def flat(*tensors: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        return step(tf.nest.pack_sequence_as(batch, filled))

    specs = [tf.TensorSpec(leaves[place].shape, leaves[place].dtype) for place in places]
    return tf.function(flat, autograph=False).get_concrete_function(*specs).structured_outputs
