"""Ops of ONNX whose results are as large as values say, and what other ops make of such results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.results import Counted
from ipu_mlir.frontends.of_onnx.rules import known, rule, traced_like
from ipu_mlir.frontends.support.selecting import kept, places_of, words
from ipu_mlir.specs.tensor_types import limits_of
from ipu_mlir.tracing.control.loops import fori_loop
from ipu_mlir.tracing.functions.orders import lexsort

_OF_ELEMENTS = words(
    "Abs Acos Add And Asin Atan BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Clip Cos Div Elu "
    "Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less "
    "LessOrEqual Log Max Min Mish Mod Mul Neg Not Or Pow Reciprocal Relu Round Sigmoid Sign Sin Softplus Softsign "
    "Sqrt Sub Tan Tanh Where Xor"
)
"""Ops that compute an element from those at the same place."""
_NEUTRAL = {"ReduceSum": 0, "ReduceL1": 0, "ReduceL2": 0, "ReduceSumSquare": 0, "ReduceMean": 0, "ReduceProd": 1}


def _selected(x: Any, mask: Any, axis: int, most: int | None = None) -> Counted:
    """What ``mask`` selects of the places of ``x`` along ``axis``."""
    size = min(mask.shape[0], mask.shape[0] if most is None else most)
    count = np.minimum(np.sum(mask.astype(np.int64)), np.int64(size))
    return Counted(np.take(x, places_of(mask, size), axis=axis), count, axis)


@rule("NonZero")
def _non_zero(x: Any, **_: Any) -> Any:
    mask = np.reshape(x != 0, (-1,))
    places = np.unravel_index(places_of(mask, mask.shape[0]), x.shape or (1,))
    return Counted(np.stack(places)[: len(x.shape)], np.sum(mask.astype(np.int64)), 1)


@rule("Compress")
def _compress(x: Any, condition: Any, *, axis: int | None = None, **_: Any) -> Any:
    x = traced_like(x, condition)
    x, axis = (np.reshape(x, (-1,)), 0) if axis is None else (x, axis % len(x.shape))
    if not hasattr(condition, "program"):
        return np.take(x, np.flatnonzero(condition), axis=axis)
    return _selected(x, condition, axis)


@rule("NonMaxSuppression")
def _non_max_suppression(
    boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None, *,
    center_point_box: int | None = 0, **_: Any,
) -> Any:  # fmt: skip
    """Boxes ``(batch, n, 4)`` by scores ``(batch, classes, n)``, the best of each class first."""
    samples, classes, size = scores.shape
    most = np.reshape(np.int64(0) if most is None else most, ())
    bound = size if hasattr(most, "program") else max(0, min(size, int(most)))
    if not bound:
        return np.zeros((0, 3), np.int64)
    boxes, scores = traced_like(boxes, scores), traced_like(scores, boxes)
    first, second = boxes[..., :2], boxes[..., 2:]
    if center_point_box:
        first, second = first - second / np.float32(2), first + second / np.float32(2)
    corners = np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)
    threshold = np.float32(0) if overlap is None else np.reshape(overlap, ())
    scores = np.reshape(scores, (samples * classes, size))

    def of_class(number: Any, found: Any) -> Any:
        score = scores[number]
        order = np.argsort(-score, stable=True)
        is_there = np.ones(size, bool) if least is None else score[order] > np.reshape(least, ())
        some = kept(
            corners[number // classes][order], np.zeros(size, np.int32), traced_like(is_there, score), threshold
        )
        some = some & (np.cumsum(some.astype(np.int64)) <= most)
        return found[0].at[number].set(order.astype(np.int64)), found[1].at[number].set(some)

    start = np.zeros((samples * classes, size), np.int64), np.zeros((samples * classes, size), bool)
    orders, some = fori_loop(0, samples * classes, of_class, tuple(traced_like(each, scores) for each in start))
    groups = np.broadcast_to(np.arange(samples * classes)[:, None], orders.shape)
    rows = np.stack([traced_like(groups // classes, orders), traced_like(groups % classes, orders), orders], axis=-1)
    return _selected(np.reshape(rows, (-1, 3)), np.reshape(some, (-1,)), 0, samples * classes * bound)


@rule("Unique")
def _unique(x: Any, *, axis: int | None = None, sorted: int | None = 1, **_: Any) -> Any:
    along = 0 if axis is None else axis % len(x.shape)
    x = np.reshape(x, (-1,)) if axis is None else x
    size = x.shape[along]
    rows = np.reshape(np.moveaxis(x, along, 0), (size, -1))
    order = lexsort([rows[:, each] for each in reversed(range(rows.shape[1]))]).astype(np.int64)
    by_order = rows[order]
    is_new = np.concatenate([np.arange(1) == 0, np.any(by_order[1:] != by_order[:-1], axis=1)])
    number, count = np.cumsum(is_new.astype(np.int64)) - 1, np.sum(is_new.astype(np.int64))
    first = order[places_of(is_new, size)]
    zeros = traced_like(np.zeros(size, np.int64), x)
    counts, inverse = zeros.at[number].add(np.ones(size, np.int64)), zeros.at[order].set(number)
    if not sorted:
        turned = np.argsort(np.where(np.arange(size) < count, first, size), stable=True)
        first, counts, inverse = first[turned], counts[turned], zeros.at[turned].set(np.arange(size))[inverse]
    return Counted(np.take(x, first, axis=along), count, along), Counted(first, count), inverse, Counted(counts, count)


def of_counted(
    op: str, plain: Callable[..., tuple[Any, ...]], given: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, ...]:
    """What ``op``, which is ``plain`` of tensors, makes of ``given``, of which some have as many rows as values say.

    Raises:
        TypeError: nothing of a size that is known, and no rows.
    """

    def alone(*values: Any) -> Any:
        return plain(*values)[0]

    x, *more = given
    some = next(each for each in given if isinstance(each, Counted))
    rows = [each.rows if isinstance(each, Counted) else each for each in given]
    if op in _OF_ELEMENTS and (behind := _one_axis_from_behind(given)):
        found = alone(*rows)
        return (Counted(found, some.count, len(found.shape) - behind),)
    if op in ("Shape", "Size") and len(given) == 1:
        sizes = [traced_like(np.array(size, np.int64), some.count) for size in some.rows.shape]
        sizes[some.axis] = some.count
        sizes = sizes[slice(options.get("start") or 0, options.get("end"))] if op == "Shape" else sizes
        return (np.stack(sizes) if op == "Shape" else np.prod(np.stack(sizes)),)
    if op == "Gather":
        return (_gathered(x, more[0], int(options.get("axis") or 0)),)
    if op == "GatherND" and not isinstance(x, Counted) and not some.axis and not options.get("batch_dims"):
        return (Counted(alone(*rows), some.count),)
    if not isinstance(x, Counted):
        raise _refused(op)
    rank, axis = len(x.rows.shape), x.axis
    if op == "Transpose":
        order = list(options.get("perm") or reversed(range(rank)))
        return (Counted(alone(*rows), x.count, order.index(axis)),)
    if op in ("Squeeze", "Unsqueeze"):
        said = known(op, more[0] if more else options.get("axes"))  # of a Squeeze without them there are none
        ranks = rank + (op == "Unsqueeze") * said.size
        axes = sorted(int(each) % ranks for each in said.reshape(-1)) if said.dtype.kind == "i" else [axis]
        if op == "Squeeze" and axis not in axes:
            return (Counted(alone(*rows), x.count, axis - sum(each < axis for each in axes)),)
        if op == "Unsqueeze":
            for each in axes:
                axis += each <= axis
            return (Counted(alone(*rows), x.count, axis),)
    if op == "Reshape" and not hasattr(more[0], "program"):
        shape = [int(each) for each in more[0]]
        if not axis and shape[0] == -1 and shape[1:] and np.prod(shape[1:]) == np.prod(x.rows.shape[1:]):
            return (Counted(np.reshape(x.rows, shape), x.count),)
        if shape == [-1] and x.rows.size == x.rows.shape[axis]:
            return (Counted(np.reshape(x.rows, (-1,)), x.count),)
    if op == "Concat" and all(isinstance(each, Counted) and each.axis == axis for each in given):
        if int(options["axis"]) % rank != axis:
            return (Counted(alone(*rows), x.count, axis),)
        masks = [np.arange(each.rows.shape[axis]) < each.count for each in given]
        return (_selected(np.concatenate(rows, axis=axis), np.concatenate(masks), axis),)
    if op == "Slice" and not any(hasattr(each, "program") for each in more):
        return (_sliced(x, alone, *more),)
    if op.startswith("Reduce"):
        return _reduced(op, alone, x, more, options)
    if op == "TopK" and int(options.get("axis", -1)) % rank == axis:
        size = int(np.reshape(known(op, more[0]), ()))
        low, high = limits_of(x.rows.dtype)
        filled = x.where(x.rows.dtype.type(low if options.get("largest", 1) else high))
        found = plain(filled, np.array([min(size, x.rows.shape[axis])]))
        return tuple(Counted(each, np.minimum(x.count, np.int64(size)), axis) for each in found)
    raise _refused(op)


def _one_axis_from_behind(given: Sequence[Any]) -> int:
    """How far from the last axis the one is whose size is not known, if it is one for all of them; else 0."""
    ranks = {len(each.rows.shape) - each.axis for each in given if isinstance(each, Counted)}
    behind = ranks.pop()
    others = [np.shape(each) for each in given if each is not None and not isinstance(each, Counted)]
    return 0 if ranks or any(len(each) >= behind and each[-behind] != 1 for each in others) else behind


def _gathered(x: Any, places: Any, axis: int) -> Any:
    rank = len(x.rows.shape if isinstance(x, Counted) else x.shape)
    axis %= rank
    rows = x.rows if isinstance(x, Counted) else traced_like(x, places.rows)
    if isinstance(places, Counted):
        if isinstance(x, Counted) and x.axis != axis:
            raise _refused("Gather")
        return Counted(np.take(rows, places.rows, axis=axis), places.count, axis + places.axis)
    if x.axis != axis:
        return Counted(np.take(rows, places, axis=axis), x.count, x.axis + (axis < x.axis) * (len(places.shape) - 1))
    return np.take(rows, np.where(places < 0, places + x.count, places), axis=axis)


def _sliced(
    x: Counted, plain: Callable[..., Any], starts: Any, ends: Any, axes: Any = None, steps: Any = None
) -> Counted:
    more = [each for each in (starts, ends, axes, steps) if each is not None]
    axes = range(len(starts)) if axes is None else [int(each) % len(x.rows.shape) for each in axes]
    steps = np.ones(len(starts)) if steps is None else steps
    count = x.count
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if axis == x.axis:
            if step != 1 or start < 0 or end < 0:
                raise _refused("Slice")
            count = np.clip(
                count - np.int64(start), np.int64(0), np.int64(max(0, min(end, x.rows.shape[axis]) - start))
            )
    return Counted(plain(x.rows, *more), count, x.axis)


def _reduced(
    op: str, plain: Callable[..., Any], x: Counted, more: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, ...]:
    rank = len(x.rows.shape)
    axes = options.get("axes") if not more or more[0] is None else known(op, more[0])
    along = range(rank) if axes is None else [int(each) % rank for each in np.reshape(axes, (-1,))]
    if x.axis not in along:
        kept_axes = options.get("keepdims", 1)
        return (Counted(plain(x.rows, *more), x.count, x.axis - (not kept_axes) * sum(a < x.axis for a in along)),)
    if op in ("ReduceMax", "ReduceMin"):
        return (plain(x.where(x.rows.dtype.type(limits_of(x.rows.dtype)[op == "ReduceMin"])), *more),)
    if op not in _NEUTRAL:
        raise _refused(op)
    found = plain(x.where(x.rows.dtype.type(_NEUTRAL[op])), *more)
    if op == "ReduceMean":
        found = found * (x.rows.dtype.type(x.rows.shape[x.axis]) / x.count.astype(x.rows.dtype))
    return (found,)


def _refused(op: str) -> TypeError:
    return TypeError(
        f"{op} of a tensor that is as large as values say; let the model end before it, or keep all rows and mask them "
        "with Where"
    )
