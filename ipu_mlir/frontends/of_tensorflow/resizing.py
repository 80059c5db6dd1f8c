"""Images of other sizes, as TensorFlow's own kernels make them: a matrix for the rows, and one for the columns."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util

_TABLE_SIZE = 1024
"""In how many steps TensorFlow rounds the distance of a pixel for bicubic interpolation."""


def known(number: Any) -> Any:
    """A number, if it is known while a program is traced."""
    return tensor_util.constant_value(tf.convert_to_tensor(number))


def is_of_known_size(given: dict[str, Any]) -> bool:
    """True if the program knows all sizes."""
    return tf.convert_to_tensor(given["images"]).shape.is_fully_defined() and known(given["size"]) is not None


def bicubic(images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    """As ``tf.raw_ops.ResizeBicubic``."""
    return _resized(images, size, lambda given, wanted, _: _bicubic(given, wanted, align_corners, half_pixel_centers))


def area(images: Any, size: Any, align_corners: bool) -> Any:
    """As ``tf.raw_ops.ResizeArea``."""
    return _resized(images, size, lambda given, wanted, _: _area(given, wanted, align_corners))


def scaled_and_translated(
    images: Any, size: Any, scale: Any, translation: Any, kernel_type: str, antialias: bool
) -> Any:
    """As ``tf.raw_ops.ScaleAndTranslate``."""
    return _resized(
        images,
        size,
        lambda given, wanted, axis: _sampled(given, wanted, scale[axis], translation[axis], kernel_type, antialias),
    )


def _resized(images: Any, size: Any, weights: Callable[[int, int, int], Any]) -> Any:
    images = tf.cast(images, tf.float32)
    _, height, width, _ = images.shape
    rows, columns = (int(each) for each in known(size))
    found = tf.einsum("nhwc,yh->nywc", images, weights(height, rows, 0))
    return tf.einsum("nywc,xw->nyxc", found, weights(width, columns, 1))


def _scale(given: int, wanted: int, align_corners: bool) -> np.float32:
    if align_corners and wanted > 1:
        return np.float32(given - 1) / np.float32(wanted - 1)
    return np.float32(given) / np.float32(wanted)


def _bicubic(given: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    at = np.arange(wanted, dtype=np.float32)
    scale = _scale(given, wanted, align_corners)
    at = (at + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else at * scale
    first = np.floor(at)
    apart = np.rint((at - first) * _TABLE_SIZE) / _TABLE_SIZE
    places = first[:, None] + np.arange(-1, 3)
    found = _keys(np.abs(apart[:, None] - np.arange(-1, 3)), -0.5 if half_pixel_centers else -0.75)
    inside = (places >= 0) & (places < given)
    if half_pixel_centers:
        found = np.where(inside, found, 0)
        found /= found.sum(1, keepdims=True)
    return _matrix(found, np.clip(places, 0, given - 1), given)


def _area(given: int, wanted: int, align_corners: bool) -> np.ndarray:
    scale = _scale(given, wanted, align_corners)
    begin = np.arange(wanted, dtype=np.float32) * scale
    end = (np.arange(wanted, dtype=np.float32) + 1) * scale
    places = np.floor(begin)[:, None] + np.arange(int(np.ceil(scale)) + 1)
    covered = np.minimum(places + 1, end[:, None]) - np.maximum(places, begin[:, None])
    return _matrix(np.maximum(covered, 0) / scale, np.clip(places, 0, given - 1), given)


def _sampled(given: int, wanted: int, scale: Any, shift: Any, kernel_type: str, antialias: bool) -> Any:
    kernel, radius = _KERNELS[kernel_type]
    inverse = 1.0 / scale
    wide = tf.maximum(inverse, 1.0) if antialias else 1.0
    at = (tf.range(wanted, dtype=tf.float32) + 0.5) * inverse - inverse * shift
    distance = tf.abs(tf.range(given, dtype=tf.float32) + 0.5 - at[:, None]) / wide
    found = tf.where(distance <= radius, kernel(distance), 0.0)
    found = tf.math.divide_no_nan(found, tf.reduce_sum(found, 1, keepdims=True))
    return tf.where(((at < 0.0) | (at > float(given)))[:, None], 0.0, found)


def _matrix(weights: np.ndarray, places: np.ndarray, given: int) -> np.ndarray:
    """Row by row, the weight of each of ``given`` pixels."""
    found = np.zeros((len(weights), given))
    np.add.at(found, (np.arange(len(weights))[:, None], places.astype(int)), weights)
    return found.astype(np.float32)


def _keys(x: Any, a: float = -0.5) -> Any:
    """The weight of a pixel at distance ``x``, an array or a tensor."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    where = np.where if isinstance(x, np.ndarray) else tf.where
    return where(x <= 1, near, where(x <= 2, far, 0.0))


def _mitchell(x: Any) -> Any:
    near = ((7 / 6) * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return tf.where(x <= 1, near, tf.where(x <= 2, far, 0.0))


def _lanczos(radius: int) -> tuple[Callable[[Any], Any], float]:
    def sinc(x: Any) -> Any:
        safe = tf.where(x == 0.0, 1.0, math.pi * x)
        return tf.where(x == 0.0, 1.0, tf.sin(safe) / safe)

    return lambda x: tf.where(x < radius, sinc(x) * sinc(x / radius), 0.0), float(radius)


_KERNELS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": (lambda x: tf.where(x < 1.5, tf.exp(-2.0 * x * x), 0.0), 1.5),
    "box": (lambda x: tf.where(x < 0.5, 1.0, tf.where(x == 0.5, 0.5, 0.0)), 1.0),
    "triangle": (lambda x: tf.maximum(1.0 - x, 0.0), 1.0),
    "keyscubic": (_keys, 2.0),
    "mitchellcubic": (_mitchell, 2.0),
}
"""By name, the weight of a pixel at a distance, and the largest distance."""
