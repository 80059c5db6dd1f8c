"""Neural networks (guide 21.15.8)."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.ops.ctc import (
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_with_log_probs,
    ctc_loss_v2,
    ctc_loss_with_log_probs,
)
from ipu_mlir.tensorflow.ipu.ops.sampled_losses import nce_loss, sampled_softmax_loss
from ipu_mlir.tensorflow.library_options import scopes_of

__all__ = [
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_with_log_probs",
    "ctc_loss_v2",
    "ctc_loss_with_log_probs",
    "gelu",
    "hard_sigmoid",
    "multi_conv",
    "nce_loss",
    "sampled_softmax_loss",
    "softmax",
    "swish",
]


def gelu(x: Any, approximate: bool = True, name: str | None = None) -> Any:
    """``x`` times the probability that a standard normal number is smaller.

    Args:
        approximate: by tanh; otherwise by erf, which is exact.
    """
    return tf.nn.gelu(x, approximate, name)


def hard_sigmoid(x: Any, name: str | None = None) -> Any:
    """``0.2 x + 0.5``, not below 0 and not above 1."""
    return tf.clip_by_value(0.2 * tf.convert_to_tensor(x) + 0.5, 0, 1, name)


def swish(x: Any, name: str | None = None) -> Any:
    """``x`` times its sigmoid."""
    return tf.identity(tf.nn.swish(x), name)


def softmax(x: Any, stable: bool = False, name: str | None = None) -> Any:
    """Exponentials along the last dimension, divided by their sum.

    Args:
        stable: whether the largest element is subtracted first, so that no exponential overflows.
    """
    if stable:
        return tf.nn.softmax(x, name=name)
    powers = tf.exp(x)
    return tf.divide(powers, tf.reduce_sum(powers, -1, keepdims=True), name)


def multi_conv(func: Callable[..., Any] | None = None, options: Mapping[str, str] | None = None) -> Any:
    """``func``, as a decorator with or without arguments; its convolutions run in parallel where they can.

    The compiler lets convolutions share a superstep that do not need each other, in any function and in its gradients;
    the decorator says so in the program and changes nothing of the result.

    Args:
        options: of the library for convolutions, by name. ``partialsType`` and ``use16BitPartials`` say in which
            type these convolutions are summed, ``availableMemoryProportion`` how much of a tile's memory each may take
            for what it fetches; the log says why others have no effect.

    Raises:
        TypeError: the options are no dictionary of text.
        ValueError: the library has no such option, or it does not take that value.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"multi_conv takes options as a dictionary of text by name, got {type(options).__name__}")
    for key, value in (options or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"multi_conv takes options as text by name, got {key!r}: {value!r}")
    if func is None:
        return functools.partial(multi_conv, options=options)
    scopes = ["multi_conv", *scopes_of(options or {})]

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        with tf.name_scope("/".join(scopes)):
            return func(*args, **kwargs)

    return called
