"""Maxima of windows that XLA does not have: with a filter that is added before, and with their places."""

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_nn_ops


def is_of_known_size(given: dict[str, Any]) -> bool:
    """True if the windows have known places."""
    return tf.convert_to_tensor(given["input"]).shape.is_fully_defined()


def dilation(input: Any, filter: Any, strides: Sequence[int], rates: Sequence[int], padding: str) -> Any:
    """As ``tf.nn.dilation2d``."""
    input, filter = tf.convert_to_tensor(input), tf.convert_to_tensor(filter)
    sizes = filter.shape[:2]
    found = (each + filter[place] for place, each in _shifted(input, sizes, strides[1:3], rates[1:3], padding))
    largest = next(found)
    for each in found:
        largest = tf.maximum(largest, each)
    return largest


def pooled_with_places(
    input: Any, ksize: Sequence[int], strides: Sequence[int], padding: str, Targmax: Any, include_batch_in_index: bool
) -> Any:
    """As ``tf.nn.max_pool_with_argmax``: the first of equal elements of a window counts."""
    input = tf.convert_to_tensor(input)
    batch, height, width, channels = input.shape
    numbers = tf.reshape(tf.range(height * width * channels), [1, height, width, channels])
    if include_batch_in_index:
        numbers = numbers + tf.reshape(tf.range(batch), [-1, 1, 1, 1]) * (height * width * channels)
    window = (ksize[1:3], strides[1:3], (1, 1), padding)
    pairs = zip(_shifted(input, *window), _shifted(numbers, *window), strict=True)
    (_, largest), (_, place) = next(pairs)
    place = tf.broadcast_to(place, largest.shape)
    for (_, each), (_, number) in pairs:
        place, largest = tf.where(each > largest, number, place), tf.maximum(largest, each)
    return gen_nn_ops._MaxPoolWithArgmaxOutput(largest, tf.cast(place, Targmax))


def _shifted(
    x: Any, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: Any
) -> Iterator[tuple[tuple[int, int], Any]]:
    """By the place in a window, the elements of ``x``, NHWC, that all windows have there; outside is the least."""
    padding = padding.decode() if isinstance(padding, bytes) else padding
    reach = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates, strict=True)]
    before, counts = [0, 0], [0, 0]
    for axis, (size, stride, extent) in enumerate(zip(x.shape[1:3], strides, reach, strict=True)):
        counts[axis] = -(-size // stride) if padding == "SAME" else -(-(size - extent + 1) // stride)
        missing = max((counts[axis] - 1) * stride + extent - size, 0)
        before[axis] = missing // 2
    after = [
        max((count - 1) * stride + extent - size - first, 0)
        for count, stride, extent, size, first in zip(counts, strides, reach, x.shape[1:3], before, strict=True)
    ]
    x = tf.pad(x, [[0, 0], *zip(before, after, strict=True), [0, 0]], constant_values=x.dtype.min)
    for row in range(sizes[0]):
        for column in range(sizes[1]):
            top, left = row * rates[0], column * rates[1]
            bottom, right = top + (counts[0] - 1) * strides[0] + 1, left + (counts[1] - 1) * strides[1] + 1
            yield (row, column), x[:, top : bottom : strides[0], left : right : strides[1]]
