"""The seed of random numbers that have none of their own: a variable, which every use changes."""

from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

from ipu_mlir.tensorflow.variables import resident

_STATE: list[tf.Variable] = []


def state() -> tf.Variable:
    """The seed, and how often it was used."""
    if not _STATE:
        with context.eager_mode(), tf.device("/cpu:0"):
            made = tf.Variable(tf.constant([0, 0]), trainable=False, dtype=tf.int32, name="ipu.seed")
        resident(made, is_new=True)
        _STATE.append(made)
    return _STATE[0]


def next_seed() -> Any:
    """A seed that no other use has, two int32."""
    seed = state().read_value()
    state().assign_add([0, 1], read_value=False)
    return seed
