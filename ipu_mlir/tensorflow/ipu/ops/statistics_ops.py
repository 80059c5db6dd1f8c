"""Histograms (guide 21.15.18)."""

from typing import Any

import tensorflow as tf


def histogram(inputs: Any, levels: Any, absolute_of_input: bool = False) -> Any:
    """The numbers of values below the first of the levels, between two of them, and from the last one on, in float32.

    Args:
        inputs: a vector of float16 or float32.
        levels: one of the same type, in ascending order.
        absolute_of_input: whether magnitudes are counted.

    Raises:
        ValueError: they are none, or of two types.
    """
    inputs, levels = _vector("inputs", inputs), tf.convert_to_tensor(levels)
    if _vector("levels", levels).dtype != inputs.dtype:
        raise ValueError(f"levels are of type {levels.dtype.name}, and inputs of {inputs.dtype.name}; cast one of them")
    values = tf.abs(inputs) if absolute_of_input else inputs
    reached = tf.reduce_sum(tf.cast(values[:, None] >= levels[None, :], tf.float32), 0)
    all_of_them = tf.fill([1], tf.constant(inputs.shape[0], tf.float32))
    return tf.concat([all_of_them, reached], 0) - tf.concat([reached, tf.zeros([1])], 0)


def histogram_update(hist: Any, inputs: Any, levels: Any, absolute_of_input: bool = False) -> Any:
    """``hist``, to which the counts of ``histogram`` are added.

    Raises:
        ValueError: as of ``histogram``, or ``hist`` is none of as many levels.
    """
    more = histogram(inputs, levels, absolute_of_input)
    hist = tf.convert_to_tensor(hist)
    if hist.dtype != tf.float32 or hist.shape != more.shape:
        raise ValueError(
            f"hist is {hist.dtype.name}{hist.shape}, expected float32{more.shape}: a count more than levels"
        )
    return hist + more


def fixed_width_bins(inputs: Any, n_bins: int) -> Any:
    """``n_bins`` levels from the least of the values to the largest, with the same distance.

    Raises:
        ValueError: ``inputs`` is no vector of float16 or float32, or there is no level.
    """
    inputs = _vector("inputs", inputs)
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    least, largest = tf.reduce_min(inputs), tf.reduce_max(inputs)
    parts = tf.constant([each / max(1, n_bins - 1) for each in range(n_bins)], inputs.dtype)
    return least * (1 - parts) + largest * parts


def _vector(what: str, given: Any) -> Any:
    found = tf.convert_to_tensor(given)
    if found.shape.rank != 1 or found.dtype not in (tf.float16, tf.float32):
        raise ValueError(f"{what} must be a vector of float16 or float32, got {found.dtype.name}{found.shape}")
    return found
