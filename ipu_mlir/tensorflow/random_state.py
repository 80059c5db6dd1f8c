"""The seed of random numbers that have none of their own: a variable, which every use changes."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.ops import gen_random_ops

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.runtime.engine.state import Cell
from ipu_mlir.runtime.translator.translation import Variable
from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.variables import is_tracing, resident

_APART = -0x61C88647
"""What seeds of neighbouring replicas differ by: the golden ratio in 32 bits, so that no other seed is near."""

_BITS = {tf.float16: 11, tf.bfloat16: 8}
"""Of a significand."""

_STATE: list[tf.Variable] = []


def state() -> tf.Variable:
    """The seed, how often it was used, and 1 if each replica draws numbers of its own, else 0."""
    if not _STATE:
        with context.eager_mode(), tf.device("/cpu:0"):
            made = tf.Variable(tf.constant([0, 0, 1]), trainable=False, dtype=tf.int32, name="ipu.seed")
        resident(made, is_new=True)
        _STATE.append(made)
    return _STATE[0]


def next_seed() -> Any:
    """A seed that no other use has, two int32; nor another replica, unless they are to be identical."""
    seed, uses, has_own = tf.unstack(state().read_value())
    state().assign_add([0, 1, 0], read_value=False)
    replica = call("replica_index", [], [tf.TensorSpec((), tf.int32)])[0] if is_tracing() else 0
    return tf.stack([seed + has_own * replica * _APART, uses])


_ROUNDING: list[Cell] = []
_ROUNDING_SEED = [0]


def rounding_cell(form: Variable) -> Cell:
    """The state of stochastic rounding, which all programs share."""
    if not _ROUNDING:
        _ROUNDING.append(Cell(form))
        _ROUNDING[0].give(np.asarray(_ROUNDING_SEED[0], np.int32))
    return _ROUNDING[0]


def begin_rounding_anew(seed: int) -> None:
    """Let the same programs round the same numbers the same way afterwards."""
    _ROUNDING_SEED[0] = seed
    for cell in _ROUNDING:
        cell.give(np.asarray(seed, np.int32))


def draw(codelet: str, shape: Any, seed: Any, dtype: Any = tf.float32) -> Any:
    """Numbers of a library codelet, such as ``random_uniform``; the same in programs and on the host.

    Args:
        shape: known when the function is traced.
        seed: two int32.
        dtype: of floats; uniform numbers of fewer bits are rounded down, and stay below 1.
    """
    sizes = [int(each) for each in tf.get_static_value(shape)]
    count = math.prod(sizes)
    if not count:
        return tf.zeros(sizes, dtype)
    key = tf.concat([tf.reshape(tf.cast(seed, tf.int32), [2]), tf.zeros([2], tf.int32)], 0)
    if is_tracing():
        (flat,) = call("codelet", [key], [tf.TensorSpec([count], tf.float32)], name=codelet)
    else:
        run = codelet_named(codelet).vectorised
        assert run is not None, "random numbers have a fast form"
        flat = tf.numpy_function(lambda own: run(own, np.empty(count, np.float32))[0], [key], tf.float32)
    found = tf.reshape(flat, sizes)
    if codelet == "random_uniform" and dtype in _BITS:
        steps = 2.0 ** _BITS[dtype]
        found = tf.floor(found * steps) / steps
    return tf.cast(found, dtype)


@functools.cache
def take_over_random_numbers() -> None:
    """Let ops of TensorFlow that draw from a state of the host draw from ``state`` in programs for the device."""
    for name, own in _DRAWN.items():
        setattr(gen_random_ops, name, _in_programs(getattr(gen_random_ops, name), own))


def _in_programs(theirs: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def draw(*args: Any, **kwargs: Any) -> Any:
        inside = isinstance(tf.compat.v1.get_default_graph(), FuncGraph)  # initial values of variables are made outside
        if not is_tracing() or not inside:
            return theirs(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        seeds = [(given.pop(each) or 0) & 0x7FFFFFFF for each in ("seed", "seed2")]
        given.pop("name")
        return own(seed=tf.bitwise.bitwise_xor(next_seed(), seeds), **given)

    return draw


def _categorical(logits: Any, num_samples: Any, output_dtype: Any, seed: Any) -> Any:
    return tf.random.stateless_categorical(logits, num_samples, seed, output_dtype or tf.int64)


def _shuffled(value: Any, seed: Any) -> Any:
    return tf.gather(value, tf.argsort(tf.random.stateless_uniform([value.shape[0]], seed)))


_DRAWN: dict[str, Callable[..., Any]] = {
    "multinomial": _categorical,
    "random_shuffle": _shuffled,
    "random_standard_normal": lambda shape, seed, dtype: draw("random_normal", shape, seed, dtype),
    "random_uniform": lambda shape, seed, dtype: draw("random_uniform", shape, seed, dtype),
    "random_uniform_int": lambda minval, **given: tf.random.stateless_uniform(
        minval=minval, dtype=tf.as_dtype(minval.dtype), **given
    ),
    "truncated_normal": lambda shape, seed, dtype: draw("random_truncated_normal", shape, seed, dtype),
}
"""By name of the op, what draws the same from a seed."""
