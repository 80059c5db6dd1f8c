"""Ops of ONNX that the reference implementation computes by writing to arrays, element by element."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype

from ipu_mlir.frontends.of_onnx.rules import known, rule, traced_like
from ipu_mlir.frontends.of_onnx.window_rules import text
from ipu_mlir.frontends.support.activations import softmax


@rule("BitShift")
def _bit_shift(x: Any, by: Any, *, direction: Any, **_: Any) -> Any:
    """By a negative number or by all bits and more, nothing is left but the sign of what is shifted to the right."""
    bits = 8 * x.dtype.itemsize
    inside = (by >= 0) & (by < bits)
    by = np.where(inside, by, np.zeros_like(by))
    is_left = text(direction) == "LEFT"
    found = np.left_shift(x, by) if is_left else np.right_shift(x, by)
    rest = np.right_shift(x, np.full_like(by, bits - 1)) if not is_left and x.dtype.kind == "i" else np.zeros_like(x)
    return np.where(inside, found, rest)


@rule("OneHot")
def _one_hot(indices: Any, depth: Any, values: Any, *, axis: int | None = -1, **_: Any) -> Any:
    depth, rank = int(np.reshape(known("OneHot", depth), ())), len(indices.shape) + 1
    along = (-1 if axis is None else axis) % rank
    places = np.arange(depth).reshape([-1 if each == along else 1 for each in range(rank)])
    wanted = np.where(indices < 0, indices + depth, indices)
    return np.where(np.expand_dims(wanted, along) == places, values[1], values[0])


@rule("Softsign")
def _softsign(x: Any, **_: Any) -> Any:
    return x / (1 + np.abs(x))


@rule("LRN")
def _local_response(
    x: Any, *, size: int, alpha: float | None = 1e-4, beta: float | None = 0.75, bias: float | None = 1.0, **_: Any
) -> Any:
    before, channels = (size - 1) // 2, x.shape[1]
    around = [(0, 0), (before, size - 1 - before), *[(0, 0)] * (len(x.shape) - 2)]
    squares = np.pad(x * x, around)
    total = sum(squares[:, first : first + channels] for first in range(size))
    return x / np.power(float(bias or 0.0) + float(alpha or 0.0) / size * total, x.dtype.type(beta))


@rule("CenterCropPad")
def _center(x: Any, shape: Any, *, axes: Sequence[int] | None = None, **_: Any) -> Any:
    rank = len(x.shape)
    for axis, size in zip(axes or range(rank), known("CenterCropPad", shape), strict=True):
        axis, more = axis % rank, int(size) - x.shape[axis]
        if more < 0:
            x = x[(*[slice(None)] * axis, slice(-more // 2, -more // 2 + int(size)))]
        elif more:
            x = np.pad(x, [(more // 2, more - more // 2) if each == axis else (0, 0) for each in range(rank)])
    return x


@rule("Pad")
def _pad(
    x: Any, widths: Any = None, fill: Any = None, axes: Any = None, *, mode: Any = "constant", pads: Any = None,
    value: float | None = 0.0, **_: Any,
) -> Any:  # fmt: skip
    """Elements around ``x``; a negative width takes some away. Widths were an attribute before opset 11."""
    rank = len(x.shape)
    before, behind = np.reshape(known("Pad", pads if widths is None else widths), (2, -1)).tolist()
    along = range(rank) if axes is None else [int(each) % rank for each in known("Pad", axes)]
    around = [(0, 0)] * rank
    for axis, *each in zip(along, before, behind, strict=True):
        around[axis] = (each[0], each[1])
    kept = tuple(slice(max(0, -low), size + min(0, high)) for size, (low, high) in zip(x.shape, around, strict=True))
    x, around = x[kept], [(max(0, low), max(0, high)) for low, high in around]
    how: Any = text(mode)
    if how != "constant":
        return np.pad(x, around, mode=how)
    fill = (0.0 if value is None else value) if fill is None else np.reshape(fill, ())
    return np.pad(x, around, constant_values=fill if hasattr(fill, "program") else x.dtype.type(fill))


@rule("GatherND")
def _gather_nd(x: Any, indices: Any, *, batch_dims: int | None = 0, **_: Any) -> Any:
    count, x = batch_dims or 0, traced_like(x, indices)
    rank = len(indices.shape) - 1
    samples = [np.arange(x.shape[each]).reshape([-1 if d == each else 1 for d in range(rank)]) for each in range(count)]
    return x[(*samples, *(indices[..., each] for each in range(indices.shape[-1])))]


@rule("GatherElements")
def _gather_elements(x: Any, indices: Any, *, axis: int | None = 0, **_: Any) -> Any:
    """Of fewer places than there are elements, those of the first ones."""
    axis = (axis or 0) % len(x.shape)
    x = x[tuple(slice(None) if each == axis else slice(size) for each, size in enumerate(indices.shape))]
    return np.take_along_axis(x, indices, axis)


@rule("Einsum")
def _einsum(*operands: Any, equation: Any, **_: Any) -> Any:
    return np.einsum(text(equation).replace(" ", ""), *operands).astype(operands[0].dtype)


@rule("Attention")
def _attention(query: Any, key: Any, value: Any, mask: Any = None, *more: Any, definition: Any, **_: Any) -> Any:
    """With a mask of numbers in place of one of truth values, which the definition writes to."""
    if mask is not None and mask.dtype.kind == "b":
        mask = np.where(mask, query.dtype.type(0), query.dtype.type(-np.inf))
    return definition(query, key, value, mask, *more)


@rule("FlexAttention", domain="ai.onnx.preview")
def _flex_attention(
    query: Any, key: Any, value: Any, *, scale: float | None = None, score_mod: Any = None, prob_mod: Any = None,
    softmax_precision: int | None = None, **_: Any,
) -> Any:  # fmt: skip
    """Attention whose scores and probabilities are changed by bodies."""
    dtype = np.dtype(tensor_dtype_to_np_dtype(softmax_precision)) if softmax_precision else query.dtype
    dtype = dtype if softmax_precision or dtype.itemsize >= 4 else np.dtype(np.float32)
    repeats = query.shape[1] // key.shape[1]
    key, value = (np.repeat(each, repeats, axis=1) if repeats > 1 else each for each in (key, value))
    factor = query.dtype.type(np.sqrt(np.float32(query.shape[-1] ** -0.5 if scale is None else scale)))
    scores = np.matmul(query * factor, np.swapaxes(key * factor, -1, -2)).astype(dtype)
    shares = softmax(_changed(score_mod, scores).astype(dtype))
    return np.matmul(_changed(prob_mod, shares).astype(dtype), value.astype(dtype)).astype(value.dtype)


def _changed(body: Any, x: Any) -> Any:
    return x if body is None else body.run(None, {body.input_names[0]: x})[0]


@rule("TfIdfVectorizer")
def _count_ngrams(
    x: Any, *, mode: Any, min_gram_length: int, max_gram_length: int, max_skip_count: int,
    ngram_counts: Sequence[int], ngram_indexes: Sequence[int], pool_int64s: Sequence[int] | None = None,
    weights: Sequence[float] | None = None, **_: Any,
) -> Any:  # fmt: skip
    """How often each row has each n-gram of a pool, whose elements may have others between them."""
    if not pool_int64s:
        raise TypeError("TfIdfVectorizer of text, which no tile has; give it integers")
    pool, length = np.asarray(pool_int64s), x.shape[-1]
    ends = [*ngram_counts[1:], len(pool)]
    grams = [
        pool[first : first + size]
        for size, (begin, end) in enumerate(zip(ngram_counts, ends, strict=True), 1)
        for first in range(begin, end, size)
    ]
    columns: list[Any] = [None] * (max(ngram_indexes) + 1)
    for gram, column in zip(grams, ngram_indexes, strict=True):
        size, found = len(gram), np.zeros(x.shape[:-1], np.float32)
        if not min_gram_length <= size <= max_gram_length:
            continue
        for skip in range(1, max_skip_count + 2 if size > 1 else 2):
            windows = length - skip * (size - 1)
            if windows > 0:
                parts = [x[..., skip * each : skip * each + windows] == gram[each] for each in range(size)]
                found = found + np.sum(np.all(np.stack(parts), axis=0).astype(np.float32), axis=-1)
        columns[column] = found if columns[column] is None else columns[column] + found
    nothing = np.zeros(x.shape[:-1], np.float32)
    counted = np.stack([nothing if each is None else each for each in columns], axis=-1)
    if text(mode) == "TF":
        return counted
    if text(mode) == "IDF":
        counted = (counted > 0).astype(np.float32)
    return counted * np.asarray(weights, np.float32) if weights else counted
