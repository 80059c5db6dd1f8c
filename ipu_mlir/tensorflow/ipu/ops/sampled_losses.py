"""Losses over a sample of the classes, and the sampler (guide 21.15.8)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow.random_state import next_seed

_APART = [0, 0x3C6EF372]
"""The difference between the seeds of two draws."""


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    name: str = "nce_loss",
) -> Any:
    """The noise-contrastive loss of each sample: its true classes against classes that are drawn.

    Args:
        weights: of shape ``[num_classes, size]``, or a list of such parts that are concatenated.
        biases: of shape ``[num_classes]``.
        labels: the true classes, ``[batch, num_true]``.
        inputs: of shape ``[batch, size]``.
        num_sampled: how many classes are drawn, for the whole batch; no class twice.
        num_classes: how many classes there are.
        num_true: how many of them are true of a sample.
        sampled_values: classes that were drawn, how often each true class is expected, and each drawn one; without
            them they are drawn by a log-uniform sampler.

    Returns:
        A tensor of shape ``[batch]``.

    Raises:
        ValueError: shapes that do not fit, or more draws than classes.
    """
    with tf.name_scope(name or "nce_loss"):
        logits, targets = _logits(
            (weights, biases), labels, inputs, (num_sampled, num_classes, num_true), sampled_values, None, False
        )
        return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(targets, logits), 1)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Any:
    """The cross entropy of each sample over its true classes and those that are drawn.

    A drawn class that is a true one of a sample has no part in the loss of that sample.

    Args:
        seed: of the draws, which are the same each time; without it they are others.

    The others are as of ``nce_loss``.

    Returns:
        A tensor of shape ``[batch]``.

    Raises:
        ValueError: shapes that do not fit, or more draws than classes.
    """
    with tf.name_scope(name or "sampled_softmax_loss"):
        logits, targets = _logits(
            (weights, biases), labels, inputs, (num_sampled, num_classes, num_true), sampled_values, seed, True
        )
        return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(targets), logits)


def log_uniform_sample(true_classes: Any, count: int, num_classes: int, seed: Any) -> tuple[Any, Any, Any]:
    """Classes drawn without repetition, where class k has the probability log((k+2)/(k+1)) / log(num_classes+1).

    This is the distribution of draws of which repeated ones are dropped, until there are ``count``: the largest sums of
    a logarithm of the probability and a Gumbel number come in the order of such draws, and between two of them the
    number of draws that are dropped has a geometric distribution.

    Args:
        true_classes: integers of any shape.
        seed: two int32.

    Returns:
        The classes, ``[count]``, and how often each true class and each drawn one is expected among them, as
        TensorFlow's sampler has it: of draws without a repetition, the probability times their number.
    """
    numbers = np.arange(num_classes, dtype=np.float64)
    chances = np.log1p(1 / (numbers + 1)) / np.log1p(num_classes)
    table = tf.constant(chances, tf.float32)
    noise = -tf.math.log(-tf.math.log(_positive([num_classes], seed)))
    _, drawn = tf.math.top_k(tf.math.log(table) + noise, count)
    taken = tf.cumsum(tf.gather(table, drawn), exclusive=True)
    waits = tf.math.log(_positive([count], tf.bitwise.bitwise_xor(seed, _APART))) / tf.math.log(
        tf.maximum(taken, 1e-30)
    )
    draws = tf.reduce_sum(1 + tf.floor(tf.where(taken > 0, waits, 0)))

    def expected(classes: Any) -> Any:
        chance = tf.gather(table, classes)
        return tf.where(draws == count, count * chance, -tf.math.expm1(draws * tf.math.log1p(-chance)))

    return tf.cast(drawn, true_classes.dtype), expected(true_classes), expected(drawn)


def _positive(shape: Sequence[int], seed: Any) -> Any:
    """Numbers from 0 to 1, without both."""
    return tf.random.stateless_uniform(shape, seed, 2.0**-25, 1.0)


def _logits(
    weighed: tuple[Any, Any],
    labels: Any,
    inputs: Any,
    counts: tuple[int, int, int],
    values: Any,
    seed: Any,
    apart: bool,
) -> tuple[Any, Any]:
    """Logits of true and drawn classes for each sample, less the logarithm of the expected counts; and their targets.

    Args:
        seed: of the draws, if there is one.
        apart: whether drawn classes that are true ones have no part.
    """
    count, num_classes, num_true = counts
    weights, biases = (tf.concat(list(each), 0) if isinstance(each, list | tuple) else each for each in weighed)
    labels, inputs = tf.convert_to_tensor(labels), tf.convert_to_tensor(inputs)
    if labels.shape.rank != 2 or labels.shape[1] != num_true:
        raise ValueError(f"labels must have the shape [batch, num_true] with num_true {num_true}, got {labels.shape}")
    if inputs.shape.rank != 2 or not inputs.shape[:1].is_compatible_with(labels.shape[:1]):
        raise ValueError(f"inputs must have the shape [batch, size] for labels {labels.shape}, got {inputs.shape}")
    labels = labels if labels.dtype in (tf.int32, tf.int64) else tf.cast(labels, tf.int64)
    if values is None:
        if not 1 <= count <= num_classes:
            raise ValueError(f"num_sampled is {count}, but no class is drawn twice; it is 1 to {num_classes}")
        own = next_seed() if seed is None else tf.constant([seed, 0], tf.int32)
        values = log_uniform_sample(labels, count, num_classes, own)
    drawn, true_expected, drawn_expected = (tf.stop_gradient(each) for each in values)
    drawn = tf.cast(drawn, labels.dtype)
    true_weights, true_biases = tf.gather(weights, labels), tf.gather(biases, labels)
    drawn_weights, drawn_biases = tf.gather(weights, drawn), tf.gather(biases, drawn)
    true = tf.reduce_sum(true_weights * inputs[:, None, :], -1) + true_biases
    others = tf.matmul(inputs, drawn_weights, transpose_b=True) + drawn_biases
    if apart:
        hits = tf.reduce_any(labels[:, :, None] == drawn[None, None, :], 1)
        others = tf.where(hits, others + others.dtype.min, others)
    true -= tf.math.log(tf.cast(true_expected, true.dtype))
    others -= tf.math.log(tf.cast(drawn_expected, others.dtype))
    targets = tf.concat([tf.ones_like(true) / num_true, tf.zeros_like(others)], 1)
    return tf.concat([true, others], 1), targets
