"""Ops of TensorFlow that XLA does not have, in programs: as ops that it has, with the same values and gradients."""

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.ops import (
    gen_image_ops,
    gen_linalg_ops,
    gen_math_ops,
    gen_nn_ops,
    gen_sparse_ops,
    gen_special_math_ops,
    linalg_ops,
)

from ipu_mlir.frontends.of_tensorflow import linear_algebra, resizing, windows
from ipu_mlir.frontends.of_tensorflow.resizing import known

_HERE = threading.local()


@contextmanager
def absent_ops_replaced() -> Iterator[None]:
    """While the block traces a program, such ops become others; tracing in other threads is left alone."""
    _take_over()
    before = getattr(_HERE, "depth", 0)
    _HERE.depth = before + 1
    try:
        yield
    finally:
        _HERE.depth = before


@functools.cache
def _take_over() -> None:
    for module, name, own, is_for in _REPLACED:
        theirs = getattr(module, name)
        in_programs = functools.partial(_in_programs, own, is_for, inspect.signature(theirs))
        if (asked := getattr(module, f"_dispatcher_for_{name}", None)) is not None:
            setattr(module, f"_dispatcher_for_{name}", _answering(asked, in_programs))
        elif "fn" in theirs.__code__.co_freevars:
            called = theirs.__closure__[theirs.__code__.co_freevars.index("fn")]  # by what callers have, under any name
            called.cell_contents = _replacing(called.cell_contents, in_programs)
        else:
            setattr(module, name, _replacing(theirs, in_programs))


def _answering(asked: Callable[..., Any], in_programs: Callable[..., Any]) -> Callable[..., Any]:
    """What an op asks first, under whatever name it is called, for other implementations of itself."""

    def answer(args: Any, kwargs: Any) -> Any:
        found = in_programs(args, kwargs or {})
        return asked(args, kwargs) if found is NotImplemented else found

    return answer


def _replacing(theirs: Callable[..., Any], in_programs: Callable[..., Any]) -> Callable[..., Any]:
    """A function in the place of one that does not ask."""

    @functools.wraps(theirs)
    def op(*args: Any, **kwargs: Any) -> Any:
        found = in_programs(args, kwargs)
        return theirs(*args, **kwargs) if found is NotImplemented else found

    return op


def _in_programs(
    own: Callable[..., Any],
    is_for: Callable[[dict[str, Any]], bool],
    signature: inspect.Signature,
    args: Any,
    kwargs: Any,
) -> Any:
    """What ``own`` gives where a program is traced, and it is for such arguments; else NotImplemented."""
    if not getattr(_HERE, "depth", 0) or tf.executing_eagerly():
        return NotImplemented
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    if not is_for(given):
        return NotImplemented
    given.pop("name")
    return own(**given)


def _has_known_length(given: dict[str, Any]) -> bool:
    """True if the counts have as many elements as the caller says, whatever there is to count."""
    lengths = [given["minlength"], given["maxlength"]]
    lengths = [None if each is None else known(each) for each in lengths]
    dense = not isinstance(given["arr"], tf.SparseTensor | tf.RaggedTensor)
    return dense and lengths[0] is not None and lengths[0] == lengths[1]


def _bincount(
    arr: Any, weights: Any, minlength: Any, maxlength: Any, dtype: Any, axis: int | None, binary_output: bool
) -> Any:
    del minlength  # is the same
    arr = tf.cast(arr, tf.int32)
    if axis in (None, 0):
        arr = tf.reshape(arr, [-1])
    length = known(maxlength)
    if binary_output:
        return tf.reduce_max(tf.one_hot(arr, length, dtype=dtype), -2)
    if weights is None:
        return tf.reduce_sum(tf.one_hot(arr, length, dtype=dtype), -2)
    weights = tf.convert_to_tensor(weights)
    return tf.reduce_sum(tf.one_hot(arr, length, dtype=weights.dtype) * tf.reshape(weights, [*arr.shape, 1]), -2)


def _projective_transform(
    images: Any, transforms: Any, output_shape: Any, fill_value: Any, interpolation: str, fill_mode: str
) -> Any:
    """Output pixel (x, y) is the input at ((a x + b y + c) / k, (d x + e y + f) / k), where k = g x + h y + 1."""
    images, transforms = tf.convert_to_tensor(images), tf.convert_to_tensor(transforms)
    height: Any
    width: Any
    height, width = tensor_util.constant_value_as_shape(tf.convert_to_tensor(output_shape))
    how = interpolation.upper(), fill_mode.upper()

    @tf.custom_gradient
    def transformed(images: Any, transforms: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            """TensorFlow's: the inverse transform of what comes in, which is the gradient but for the interpolation."""
            back = _as_transforms(tf.linalg.inv(_as_matrices(transforms)))
            return _sampled(upstream, back, images.shape[1], images.shape[2], 0.0, *how), None

        return _sampled(images, transforms, height, width, fill_value, *how), gradient

    return transformed(images, transforms)


def _as_matrices(transforms: Any) -> Any:
    return tf.reshape(tf.concat([transforms, tf.ones([transforms.shape[0], 1])], 1), [-1, 3, 3])


def _as_transforms(matrices: Any) -> Any:
    flat = tf.reshape(matrices, [-1, 9])
    return flat[:, :8] / flat[:, 8:]


def _sampled(
    images: Any, transforms: Any, height: int, width: int, fill_value: Any, interpolation: str, fill_mode: str
) -> Any:
    """The pixels of ``images``, NHWC, that ``transforms``, (1 or N, 8), take to images of height x width."""
    a, b, c, d, e, f, g, h = (each[:, None, None] for each in tf.unstack(transforms, axis=1))
    x, y = tf.range(width, dtype=tf.float32)[None, None, :], tf.range(height, dtype=tf.float32)[None, :, None]
    k = g * x + h * y + 1.0
    safe = tf.where(k == 0.0, 1.0, k)
    at_x = _inside((a * x + b * y + c) / safe, images.shape[2], fill_mode)
    at_y = _inside((d * x + e * y + f) / safe, images.shape[1], fill_mode)
    fill = tf.cast(fill_value, tf.float32)
    found = _interpolated(images, at_y, at_x, interpolation == "NEAREST", fill)
    return tf.cast(tf.where(k[..., None] == 0.0, fill, found), images.dtype)


def _interpolated(images: Any, row: Any, column: Any, takes_nearest: bool, fill: Any) -> Any:
    """``images`` at places, the nearest pixel of each or the four around it; ``fill`` outside of the images."""
    if takes_nearest:
        return _pixels(images, _rounded(row), _rounded(column), fill)
    top, left = tf.floor(row), tf.floor(column)
    down, aside = (row - top)[..., None], (column - left)[..., None]
    lines = [
        (1.0 - aside) * _pixels(images, line, left, fill) + aside * _pixels(images, line, left + 1.0, fill)
        for line in (top, top + 1.0)
    ]
    return (1.0 - down) * lines[0] + down * lines[1]


def _rounded(at: Any) -> Any:
    """Halves away from zero."""
    return tf.sign(at) * tf.floor(tf.abs(at) + 0.5)


def _inside(at: Any, size: int, fill_mode: str) -> Any:
    """Places in a dimension, where ``fill_mode`` lets them be inside: as TensorFlow's kernel computes them."""
    if fill_mode == "CONSTANT":
        return at
    last, whole = float(size - 1), float(size)
    if size == 1:
        return tf.zeros_like(at)
    if fill_mode == "REFLECT":  # dcba|abcd|dcba
        folded = at + 2 * whole * tf.floor(-at / (2 * whole))
        below = tf.where(folded < -whole, folded + 2 * whole, -folded - 1.0)
        beyond = at - 2 * whole * tf.floor(at / (2 * whole))
        above = tf.where(beyond >= whole, 2 * whole - beyond - 1.0, beyond)
        at = tf.where(at < 0.0, below, tf.where(at > last, above, at))
    elif fill_mode == "WRAP":  # abcd|abcd|abcd
        below = at + whole * (tf.floor(-at / last) + 1.0)
        above = at - whole * tf.floor(at / last)
        at = tf.where(at < 0.0, below, tf.where(at > last, above, at))
    return tf.clip_by_value(at, 0.0, last)


def _pixels(images: Any, row: Any, column: Any, fill: Any) -> Any:
    """The pixels at whole places; ``fill`` outside of the images."""
    count, height, width, channels = images.shape
    known = (row >= 0.0) & (row <= height - 1.0) & (column >= 0.0) & (column <= width - 1.0)
    place = tf.clip_by_value(row, 0.0, height - 1.0) * width + tf.clip_by_value(column, 0.0, width - 1.0)
    place = tf.cast(tf.broadcast_to(place, [count, *place.shape[1:]]), tf.int32)
    found = tf.gather(tf.reshape(images, [count, height * width, channels]), place, axis=1, batch_dims=1)
    return tf.where(known[..., None], tf.cast(found, tf.float32), fill)


def _crop_and_resize(
    image: Any, boxes: Any, box_ind: Any, crop_size: Any, method: str, extrapolation_value: float
) -> Any:
    """The pixels of boxes, whose corners are in parts of the height and the width, in images of one size."""
    images = tf.gather(tf.cast(image, tf.float32), box_ind)
    top, left, bottom, right = tf.unstack(tf.cast(boxes, tf.float32), axis=1)
    height, width = map(int, known(crop_size))
    row = _between(top, bottom, height, images.shape[1])[:, :, None]
    column = _between(left, right, width, images.shape[2])[:, None, :]
    fill = tf.constant(extrapolation_value, tf.float32)
    inside = (row >= 0.0) & (row <= images.shape[1] - 1.0) & (column >= 0.0) & (column <= images.shape[2] - 1.0)
    row, column = tf.where(inside, row, 0.0), tf.where(inside, column, 0.0)
    found = _interpolated(images, row, column, method == "nearest", fill)
    return tf.where(inside[..., None], found, fill)


def _between(first: Any, last: Any, count: int, size: int) -> Any:
    """``count`` places from a part of a dimension to another one; a single one is in the middle."""
    if count == 1:
        return (0.5 * (first + last) * (size - 1))[:, None]
    step = (last - first) * (size - 1) / (count - 1)
    return (first * (size - 1))[:, None] + tf.range(count, dtype=tf.float32) * step[:, None]


def _turned(image: Any, k: Any) -> Any:
    """``k`` quarter turns; TensorFlow's own has a branch for each number of them, of several shapes."""
    image = tf.convert_to_tensor(image)
    rows, columns = axes = [len(image.shape) - 3, len(image.shape) - 2]
    order = [*range(rows), columns, rows, len(image.shape) - 1]
    match int(known(k)) % 4:
        case 1:
            return tf.transpose(tf.reverse(image, [columns]), order)
        case 2:
            return tf.reverse(image, axes)
        case 3:
            return tf.reverse(tf.transpose(image, order), [columns])
    return tf.identity(image)


def _counted_in_bins(values: Any, value_range: Any, nbins: Any, dtype: Any) -> Any:
    """How many values are in each of equal parts of a range; those outside are in the first or the last.

    Doubles as in TensorFlow: with singles 0.7, which is a little less, would count for the eighth of ten parts of 1.
    """
    low, high = tf.unstack(tf.cast(tf.cast(value_range, values.dtype), tf.float64))
    width = (high - low) / tf.cast(nbins, tf.float64)
    place = (tf.cast(tf.reshape(values, [-1]), tf.float64) - low) / width
    place = tf.cast(tf.clip_by_value(place, 0.0, tf.cast(nbins - 1, tf.float64)), tf.int32)
    return tf.reduce_sum(tf.one_hot(place, known(nbins), dtype=dtype), 0)


def _largest(input: Any, k: Any, sorted: Any, index_type: Any) -> Any:
    """The op itself, in sizes that XLA takes for known: else it bounds them, and cannot write out branches on them."""
    found = tf.raw_ops.TopKV2(input=input, k=k, sorted=sorted, index_type=index_type)
    return type(found)(*(tf.reshape(each, each.shape) if each.shape.is_fully_defined() else each for each in found))


def _sparse_product(a_indices: Any, a_values: Any, a_shape: Any, b: Any, adjoint_a: bool, adjoint_b: bool) -> Any:
    b = tf.linalg.adjoint(b) if adjoint_b else tf.reshape(b, tf.shape(b))  # whose gradient has all rows
    a_values = tf.math.conj(a_values) if adjoint_a else tf.convert_to_tensor(a_values)
    to, source = (1, 0) if adjoint_a else (0, 1)
    rows = a_values[:, None] * tf.gather(b, a_indices[:, source])
    return tf.math.unsorted_segment_sum(rows, a_indices[:, to], int(known(a_shape)[to]))


def _euclidean_norm(input: Any, axis: Any, keep_dims: bool) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.math.conj(input) * input, axis, keep_dims))


def _of_segments(whole: Callable[..., Any], is_extreme: bool = False) -> Callable[..., Any]:
    """A reduction of segments whose numbers are known; extremes of none are 0."""

    def reduced(data: Any, segment_ids: Any) -> Any:
        numbers = known(segment_ids)
        count = int(numbers[-1]) + 1 if len(numbers) else 0
        found = whole(data, segment_ids, count)
        filled = np.bincount(numbers, minlength=count) > 0
        if not is_extreme or filled.all():
            return found
        return tf.where(tf.reshape(filled, [-1, *[1] * (len(found.shape) - 1)]), found, tf.zeros((), found.dtype))

    return reduced


def _has_known_numbers(given: dict[str, Any]) -> bool:
    return known(given["segment_ids"]) is not None


def _inverse_order(x: Any) -> Any:
    return tf.scatter_nd(x[:, None], tf.range(x.shape[0], dtype=x.dtype), x.shape)


def _is_known_crop(given: dict[str, Any]) -> bool:
    return known(given["crop_size"]) is not None and tf.convert_to_tensor(given["image"]).shape.is_fully_defined()


_SEGMENTS: tuple[tuple[Any, str, Callable[..., Any], Callable[[dict[str, Any]], bool]], ...] = tuple(
    (
        gen_math_ops,
        f"segment_{name}",
        _of_segments(getattr(tf.math, f"unsorted_segment_{name}"), extreme),
        _has_known_numbers,
    )
    for name, extreme in {"sum": False, "mean": False, "prod": False, "min": True, "max": True}.items()
)
_REPLACED: tuple[tuple[Any, str, Callable[..., Any], Callable[[dict[str, Any]], bool]], ...] = (
    (tf.raw_ops, "ImageProjectiveTransformV3", _projective_transform, lambda given: True),
    (tf.math, "bincount", _bincount, _has_known_length),
    (tf.image, "rot90", _turned, lambda given: known(given["k"]) is not None),
    (gen_math_ops, "euclidean_norm", _euclidean_norm, lambda given: known(given["axis"]) is not None),
    (gen_image_ops, "crop_and_resize", _crop_and_resize, _is_known_crop),
    (gen_image_ops, "resize_bicubic", resizing.bicubic, resizing.is_of_known_size),
    (gen_image_ops, "resize_area", resizing.area, resizing.is_of_known_size),
    (gen_image_ops, "scale_and_translate", resizing.scaled_and_translated, resizing.is_of_known_size),
    (tf.math, "invert_permutation", _inverse_order, lambda given: known(given["x"]) is None),
    (gen_linalg_ops, "matrix_determinant", linear_algebra.determinant, linear_algebra.is_real),
    (tf.linalg, "slogdet", linear_algebra.sign_and_logarithm, linear_algebra.is_real),
    (gen_linalg_ops, "lu", linear_algebra.factors, linear_algebra.is_real),
    (
        linalg_ops,
        "tridiagonal_solve",
        linear_algebra.tridiagonal_solution,
        linear_algebra.is_real_and_tridiagonal,
    ),
    (gen_math_ops, "_histogram_fixed_width", _counted_in_bins, lambda given: known(given["nbins"]) is not None),
    (
        gen_sparse_ops,
        "sparse_tensor_dense_mat_mul",
        _sparse_product,
        lambda given: known(given["a_shape"]) is not None,
    ),
    (gen_special_math_ops, "bessel_i0", lambda x: tf.exp(tf.abs(x)) * tf.math.bessel_i0e(x), lambda given: True),
    (gen_special_math_ops, "bessel_i1", lambda x: tf.exp(tf.abs(x)) * tf.math.bessel_i1e(x), lambda given: True),
    (gen_nn_ops, "top_kv2", _largest, lambda given: True),
    (gen_nn_ops, "dilation2d", windows.dilation, windows.is_of_known_size),
    (gen_nn_ops, "max_pool_with_argmax", windows.pooled_with_places, windows.is_of_known_size),
    *_SEGMENTS,
)
"""By the module and the name that callers have: the replacement, and whether it can be one."""
