"""The same elements in another order or shape."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.tracing import indexing, views
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.emit import Loop, Sum, structured
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.joining import concatenate
from ipu_mlir.tracing.functions.reductions import axes_of
from ipu_mlir.tracing.operands import Scalar, common_dtype


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    if order in ("F",):
        return views.reshape(views.transpose(a), np.atleast_1d(shape)[::-1].tolist()).T
    if order not in ("C", "A", "K"):
        raise TraceTypeError(f"np.reshape while tracing: there is no order {order!r}; use 'C' or 'F'")
    return views.reshape(a, shape)


def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, -1, order)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    return views.transpose(a, axes)


def matrix_transpose(x: Any, /) -> Any:
    if len(x.shape) < 2:
        raise TraceValueError(f"matrix_transpose of {x}: a matrix has two dimensions or more")
    return swapaxes(x, -1, -2)


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    moved = [views.axis_of("moveaxis", a, each) for each in np.atleast_1d(source)]
    places = [views.axis_of("moveaxis", a, each) for each in np.atleast_1d(destination)]
    if len(moved) != len(places):
        raise TraceValueError(f"moveaxis of {a}: {len(moved)} axes do not go to {len(places)} places")
    order = [axis for axis in range(len(a.shape)) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return views.transpose(a, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    along = views.axis_of("rollaxis", a, axis)
    to = start + len(a.shape) if start < 0 else start
    return moveaxis(a, along, to - (along < to))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    one, two = views.axis_of("swapaxes", a, axis1), views.axis_of("swapaxes", a, axis2)
    order = list(range(len(a.shape)))
    order[one], order[two] = two, one
    return views.transpose(a, order)


def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    return views.expand_dims(a, axis)


def squeeze(a: Any, axis: int | Sequence[int] | None = None) -> Any:
    return views.squeeze(a, axis)


def broadcast_to(array: Any, shape: int | Sequence[int], subok: bool = False) -> Any:
    return views.broadcast_to(array, shape)


def flip(m: Any, axis: Any = None) -> Any:
    return indexing.flip(m, axes_of("flip", m, axis))


def flipud(m: Any) -> Any:
    return flip(m, 0)


def fliplr(m: Any) -> Any:
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    first, second = (views.axis_of("rot90", m, axis) for axis in axes)
    if first == second:
        raise TraceValueError(f"rot90 of {m}: axes {tuple(axes)} name one axis twice")
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return flip(m, (first, second))
    turned = swapaxes(m, first, second)
    return flip(turned, first if k % 4 == 1 else second)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if np.ndim(shift) or np.ndim(axis):
        if axis is None:
            return roll(a, int(np.sum(shift)))
        try:
            pairs = np.broadcast(shift, axis)
        except ValueError as error:
            raise TraceValueError(f"roll of {a}: the shifts {shift} do not go with the axes {axis}") from error
        for each, along in pairs:
            a = roll(a, int(each), int(along))
        return a
    if axis is None:
        return views.reshape(roll(views.reshape(a, (-1,)), shift, 0), a.shape)
    along = views.axis_of("roll", a, axis)
    cut = -shift % max(a.shape[along], 1)
    before = (slice(None),) * along
    if cut == 0:
        return a
    return concatenate([a[(*before, slice(cut, None))], a[(*before, slice(None, cut))]], along)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    first, second = views.axis_of("diagonal", a, axis1), views.axis_of("diagonal", a, axis2)
    if first == second:
        raise TraceValueError(f"diagonal of {a}: axes {axis1} and {axis2} are one")
    a = moveaxis(a, (first, second), (-2, -1))
    a = a[..., max(0, -offset) :, max(0, offset) :]
    size = min(a.shape[-2:])
    a = a[..., :size, :size]
    rank = len(a.shape) - 2
    index = (*range(rank), rank, rank)
    loops = [Loop(each) for each in a.shape[:-1]]
    output = tuple(range(rank + 1))
    return structured(a.program, "diagonal", [(a, index)], loops, output, a.dtype, lambda element, _: element)


def diag(v: Any, k: int = 0) -> Any:
    if len(v.shape) == 2:
        return diagonal(v, k)
    if len(v.shape) != 1:
        raise TraceValueError(f"diag of {v}: give a vector or a matrix")
    size = v.shape[0] + abs(k)
    wide = np.pad(v, (max(k, 0), max(-k, 0)))  # each number over its column
    return np.where(np.eye(size, k=k, dtype=np.bool_), wide, np.zeros((), v.dtype))


def diagflat(v: Any, k: int = 0) -> Any:
    return diag(views.reshape(v, (-1,)), k)


def tril(m: Any, k: int = 0) -> Any:
    return np.where(np.tri(*np.shape(m)[-2:], k=k, dtype=np.bool_), m, np.zeros((), m.dtype))


def triu(m: Any, k: int = 0) -> Any:
    return np.where(np.tri(*np.shape(m)[-2:], k=k - 1, dtype=np.bool_), np.zeros((), m.dtype), m)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    if len(x.shape) != 1:
        raise TraceValueError(f"vander of {x}: give a vector")
    count = x.shape[0] if N is None else N
    x = astype(x, common_dtype([x, Scalar(np.int64(0), weak=False)]))
    if count == 0:
        return x[:, None][:, :0]
    powers = [np.ones_like(x)]
    for _ in range(count - 1):
        powers.append(powers[-1] * x)
    return np.stack(powers if increasing else powers[::-1], axis=1)


def sliding_window_view(
    x: Any, window_shape: int | Sequence[int], axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    sizes = [window_shape] if isinstance(window_shape, int) else list(window_shape)
    given = list(range(len(x.shape))) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [views.axis_of("sliding_window_view", x, each) for each in given]
    if len(axes) != len(sizes):
        raise TraceValueError(f"sliding_window_view of {x}: {len(sizes)} windows for {len(axes)} axes")
    outer = list(x.shape)
    for along, size in zip(axes, sizes, strict=True):
        outer[along] -= size - 1
        if outer[along] < 1 or size < 0:
            raise TraceValueError(f"sliding_window_view of {x}: a window of {size} is too large for axis {along}")
    shape = (*outer, *sizes)
    windows = {along: [] for along in axes}
    for number, along in enumerate(axes, start=len(outer)):
        windows[along].append(number)
    index = tuple(Sum((along, *windows[along])) if along in windows else along for along in range(len(outer)))
    loops = [Loop(size) for size in shape]
    return structured(x.program, "windows", [(x, index)], loops, tuple(range(len(shape))), x.dtype, lambda e, _: e)
