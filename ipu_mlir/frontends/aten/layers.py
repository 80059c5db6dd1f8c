"""Ops of layers: norms, attention, embeddings in bags, distances, and gradients of losses of margins."""

import math
from typing import Any

import numpy as np
import torch

from ipu_mlir.frontends.aten.rules import Made, constant, rule, wide
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.frontends.support.activations import softmax
from ipu_mlir.programs.replicas import all_reduce


@rule("native_layer_norm.default")
def _layer_norm(x: Any, shape: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    along = tuple(range(-len(shape), 0))
    found, mean, scale = _normal(wide(x), along, epsilon)
    return _with_weights(found, weight, bias), mean, scale


def _normal(x: Any, along: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """``x`` with mean 0 and variance 1 along some dimensions, the mean, and one over the deviation."""
    mean = np.mean(x, axis=along, keepdims=True)
    apart = x - mean
    scale = 1.0 / np.sqrt(np.mean(apart * apart, axis=along, keepdims=True) + epsilon)
    return apart * scale, mean, scale


def _with_weights(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight.astype(x.dtype)
    return x if bias is None else x + bias.astype(x.dtype)


@rule("layer_norm.default")
def _layer_norm_alone(x: Any, shape: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5, *_: Any) -> Any:
    return _layer_norm(x, shape, weight, bias, epsilon)[0]


@rule("rms_norm.default")
def _rms_norm(x: Any, shape: Any, weight: Any = None, epsilon: float | None = None) -> Any:
    x = wide(x)
    epsilon = float(np.finfo(np.float32 if x.dtype == np.float32 else np.float64).eps) if epsilon is None else epsilon
    squares = np.mean(x * x, axis=tuple(range(-len(shape), 0)), keepdims=True)
    return _with_weights(x * (1.0 / np.sqrt(squares + epsilon)), weight, None)


@rule("native_group_norm.default")
def _group_norm(x: Any, weight: Any, bias: Any, n: int, c: int, hxw: int, groups: int, epsilon: float) -> Any:
    found, mean, scale = _normal(np.reshape(wide(x), (n, groups, c // groups * hxw)), -1, epsilon)
    over = (c, *(1,) * (len(x.shape) - 2))
    found = _with_weights(
        np.reshape(found, x.shape), *(each if each is None else np.reshape(each, over) for each in (weight, bias))
    )
    return found, mean[..., 0], scale[..., 0]


@rule("_native_batch_norm_legit_no_training.default")
def _batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, epsilon: float, *, made: Made
) -> Any:
    over = (-1, *(1,) * (len(x.shape) - 2))
    scale = 1.0 / np.sqrt(wide(variance) + epsilon)
    scale = scale if weight is None else scale * weight.astype(scale.dtype)
    found = wide(x) * np.reshape(scale, over)
    shift = -wide(mean) * scale
    shift = shift if bias is None else shift + bias.astype(shift.dtype)
    none = constant(np.zeros((0,), made.every[1][1]))
    return found + np.reshape(shift, over), none, none


_LIBRARY = torch.library.Library(SPACE, "FRAGMENT")
_LIBRARY.define("sum_of_replicas(Tensor x) -> Tensor")
_LIBRARY.impl("sum_of_replicas", torch.clone, "CompositeExplicitAutograd")
torch.library.register_fake(f"{SPACE}::sum_of_replicas", torch.empty_like)
torch.library.register_autograd(f"{SPACE}::sum_of_replicas", lambda _, slope: sum_of_replicas(slope))
sum_of_replicas: Any = torch.ops.ipu_mlir.sum_of_replicas
"""An op of PyTorch, which is ``x`` itself where there are no replicas."""


@rule(f"{SPACE}.sum_of_replicas.default")
def _sum_of_replicas(x: Any) -> Any:
    return all_reduce(x)


@rule("scaled_dot_product_attention.default")
def _attention(
    query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if dropout:
        raise NotImplementedError("attention with dropout is decomposed")
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = (np.repeat(each, times, axis=-3) for each in (key, value))
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = wide(np.matmul(query, np.swapaxes(key, -2, -1))) * scale
    if is_causal:
        rows, columns = scores.shape[-2:]
        scores = np.where(constant(np.tril(np.ones((rows, columns), bool))), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype.kind == "b" else scores + mask.astype(scores.dtype)
    shares = softmax(scores)
    if mask is not None and mask.dtype.kind == "b":
        shares = np.where(np.any(mask, axis=-1, keepdims=True), shares, 0.0)
    return np.matmul(shares.astype(query.dtype), value)


@rule("_safe_softmax.default")
def _safe_softmax(x: Any, dim: int, *_: Any) -> Any:
    """Of rows that are all minus infinity, zeros."""
    x = wide(x)
    largest = np.max(x, axis=dim, keepdims=True)
    is_none = largest == -np.inf
    found = np.exp(x - np.where(is_none, 0.0, largest))
    total = np.sum(found, axis=dim, keepdims=True)
    return found / np.where(is_none, 1.0, total)


@rule("_cdist_forward.default")
def _distances(one: Any, other: Any, p: float, mode: int | None = None) -> Any:
    apart = np.abs(one[..., :, None, :] - other[..., None, :, :])
    return _norm(apart, p)


def _norm(apart: Any, p: float) -> Any:
    if p == 0:
        return np.sum((apart != 0).astype(apart.dtype), axis=-1)
    if math.isinf(p):
        return np.max(apart, axis=-1)
    if p == 1:
        return np.sum(apart, axis=-1)
    if p == 2:
        return np.sqrt(np.sum(apart * apart, axis=-1))
    return np.sum(apart**p, axis=-1) ** (1.0 / p)


def _shares_of_norm(apart: Any, distance: Any, p: float) -> Any:
    """The derivative of a distance by each difference."""
    sign, size = np.sign(apart), np.abs(apart)
    if p == 0:
        return np.zeros_like(apart)
    if p == 1:
        return sign
    if math.isinf(p):
        return np.where(size == distance, sign, 0.0)
    inverse = np.where(distance == 0, 0.0, 1.0 / np.where(distance == 0, 1.0, distance))
    if p == 2:
        return apart * inverse
    return sign * np.where(size == 0, 0.0, np.where(size == 0, 1.0, size * inverse) ** (p - 1))


@rule("_cdist_backward.default")
def _distances_backward(gradient: Any, one: Any, other: Any, p: float, distances: Any) -> Any:
    apart = one[..., :, None, :] - other[..., None, :, :]
    return np.sum(gradient[..., None] * _shares_of_norm(apart, distances[..., None], p), axis=-2)


@rule("_pdist_forward.default")
def _pairs(x: Any, p: float = 2.0) -> Any:
    first, second = np.triu_indices(x.shape[0], 1)
    return _norm(np.abs(np.take(x, first, axis=0) - np.take(x, second, axis=0)), p)


@rule("_pdist_backward.default")
def _pairs_backward(gradient: Any, x: Any, p: float, distances: Any) -> Any:
    first, second = np.triu_indices(x.shape[0], 1)
    apart = np.take(x, first, axis=0) - np.take(x, second, axis=0)
    each = gradient[:, None] * _shares_of_norm(apart, distances[:, None], p)
    return np.zeros_like(x).at[first].add(each).at[second].add(-each)


def _members(indices: Any, offsets: Any, bags: int, padding: int) -> tuple[Any, Any, Any]:
    """The bag of each index, which of them are in each bag, and how many."""
    bag = np.searchsorted(offsets[:bags], constant(np.arange(indices.shape[0]), offsets.dtype), "right") - 1
    own = (bag[None, :] == np.arange(bags)[:, None]) & (indices != padding)[None, :]
    return bag, own, np.sum(own.astype(np.int64), axis=1)


@rule("_embedding_bag_forward_only.default", "_embedding_bag.default")
def _bags(
    weight: Any, indices: Any, offsets: Any, scale: bool = False, mode: int = 0, sparse: bool = False,
    weights: Any = None, include_last: bool = False, padding: int = -1, *, made: Made,
) -> Any:  # fmt: skip
    """Sums (0), means (1) or extremes (2) of rows that offsets put into bags."""
    bag, own, sizes = _members(indices, offsets, made.shape[0], padding)
    rows = np.take(weight, indices, axis=0)
    rows = rows if weights is None else rows * weights[:, None]
    others = bag, sizes, sizes
    if mode == 2:
        every = np.where(own[..., None], rows[None], -np.inf)
        found = np.where(sizes[:, None] > 0, np.max(every, axis=1), 0.0)
        others = bag, sizes, np.where(sizes[:, None] > 0, np.take(indices, np.argmax(every, axis=1)), -1)
    else:
        found = np.matmul(own.astype(rows.dtype), rows)
        found = found / np.maximum(sizes, 1)[:, None].astype(rows.dtype) if mode == 1 else found
    given = zip(others, made.every[1:], strict=True)  # PyTorch leaves some empty
    return (found, *(each if each.shape == said[0] else constant(np.zeros(*said)) for each, said in given))


@rule("_embedding_bag_backward.default")
def _bags_backward(
    gradient: Any, indices: Any, offsets: Any, bag: Any, sizes: Any, most: Any, rows: int, scale: bool, mode: int,
    sparse: bool, weights: Any = None, padding: int = -1,
) -> Any:  # fmt: skip
    bag, _, sizes = _members(indices, offsets, gradient.shape[0], padding)
    empty = constant(np.zeros((rows, gradient.shape[1]), gradient.dtype))
    if mode == 2:
        own = np.where(sizes[:, None] > 0, gradient, 0.0)
        return empty.at[np.maximum(most, 0), np.arange(gradient.shape[1])].add(own)
    each = np.take(gradient, bag, axis=0)
    each = each if mode == 0 else each / np.maximum(np.take(sizes, bag), 1)[:, None].astype(each.dtype)
    each = each if weights is None else each * weights[:, None]
    if scale:
        each = each / np.sum((indices[:, None] == indices[None]).astype(each.dtype), axis=1, keepdims=True)
    return empty.at[indices].add(np.where((indices != padding)[:, None], each, 0.0))


@rule("_embedding_bag_per_sample_weights_backward.default")
def _weights_of_bags_backward(
    gradient: Any, weight: Any, indices: Any, offsets: Any, bag: Any, mode: int, padding: int = -1
) -> Any:
    bag = _members(indices, offsets, gradient.shape[0], padding)[0]
    each = np.sum(np.take(gradient, bag, axis=0) * np.take(weight, indices, axis=0), axis=1)
    return np.where(indices != padding, each, 0.0)


@rule("segment_reduce.default")
def _segments(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None, made: Made,
) -> Any:  # fmt: skip
    if axis or (lengths is not None and len(lengths.shape) > 1) or (offsets is not None and len(offsets.shape) > 1):
        raise NotImplementedError("segments of one dimension alone")
    after: Any = offsets if lengths is None else np.cumsum(lengths)
    ends = after[1:] if lengths is None else after
    number = np.searchsorted(ends, constant(np.arange(data.shape[0]), ends.dtype), "right")
    own = number[None, :] == np.arange(made.shape[0])[:, None]
    own = np.reshape(own, (*own.shape, *(1,) * (len(data.shape) - 1)))
    neutral = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[reduce]
    neutral = neutral if initial is None else initial
    every = np.where(own, data[None], {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[reduce])
    if reduce in ("sum", "mean"):
        sizes = np.sum(own.astype(data.dtype), axis=1)
        total = np.sum(every, axis=1) + neutral
        of_none = np.nan if initial is None else initial
        return total if reduce == "sum" else np.where(sizes > 0, total / np.maximum(sizes, 1.0), of_none)
    if reduce == "prod":
        return np.prod(every, axis=1) * neutral
    return (np.maximum if reduce == "max" else np.minimum)(
        (np.max if reduce == "max" else np.min)(every, axis=1), neutral
    )


def _spread(gradient: Any, x: Any, reduction: int) -> Any:
    """The gradient of the loss of each row, of that of a mean (1), a sum (2) or all of them (0)."""
    each = np.broadcast_to(gradient.reshape((-1, 1)), (x.shape[0], 1))
    return each / x.shape[0] if reduction == 1 else each


def _rows(x: Any) -> Any:
    return x if len(x.shape) == 2 else x.reshape((1, -1))


@rule("multi_margin_loss_backward.default")
def _multi_margin_backward(
    gradient: Any, x: Any, target: Any, p: float, margin: float, weight: Any = None, reduction: int = 1
) -> Any:
    rows, target = _rows(x), target.reshape((-1, 1))
    classes = rows.shape[1]
    missing = np.maximum(margin - np.take_along_axis(rows, target, 1) + rows, 0.0)
    is_target = target == np.arange(classes)
    slope = np.where(is_target | (missing <= 0), 0.0, missing * 2.0 if p == 2 else 1.0) / classes
    if weight is not None:
        slope = slope * weight[target]
    found = np.where(is_target, -np.sum(slope, axis=1, keepdims=True), slope)
    return (found * _spread(gradient, rows, reduction)).reshape(x.shape)


@rule("multilabel_margin_loss_forward.default")
def _multilabel_margin(x: Any, target: Any, reduction: int, *, made: Made) -> Any:
    """PyTorch's decomposition counts labels behind the end of a list as class 0."""
    rows, target = _rows(x), _rows(target)
    apart, counts, label = _apart(rows, target)
    is_target = np.any((label[:, :, None] == np.arange(rows.shape[1])) & counts[:, :, None], axis=1)
    counts = counts[:, :, None] & ~is_target[:, None, :]
    each = np.sum(np.where(counts, np.maximum(apart, 0.0), 0.0), axis=(1, 2)) / rows.shape[1]
    found = (each, np.mean(each), np.sum(each))[reduction]
    return found.reshape(made.shape), is_target.reshape(x.shape)


def _apart(rows: Any, target: Any) -> tuple[Any, Any, Any]:
    """By how much each label misses its margin to each class; which of a row's labels count, and these labels."""
    counts = np.cumsum((target < 0).astype(np.int32), axis=1) == 0  # labels end at the first that is none
    label = np.where(counts, target, 0)
    return 1.0 - np.take_along_axis(rows, label, 1)[:, :, None] + rows[:, None, :], counts, label


@rule("multilabel_margin_loss_backward.default")
def _multilabel_margin_backward(gradient: Any, x: Any, target: Any, reduction: int, is_target: Any) -> Any:
    rows = _rows(x)
    apart, counts, label = _apart(rows, _rows(target))
    others = (_rows(is_target) == 0)[:, None, :] & counts[:, :, None]
    slope = np.where(others & (apart > 0), 1.0 / rows.shape[1], 0.0).astype(rows.dtype)
    of_label = np.sum(slope, axis=2)[:, :, None] * (label[:, :, None] == np.arange(rows.shape[1]))
    found = np.sum(slope - of_label, axis=1)
    return (found * _spread(gradient, rows, reduction)).reshape(x.shape)
