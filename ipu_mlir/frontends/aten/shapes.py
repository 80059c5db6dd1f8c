"""Ops that move elements: views, parts, and what is put together of several."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, axes, common_dtype, constant, rule


@rule(
    "view.default", "_unsafe_view.default", "reshape.default", "view_copy.default", "_reshape_copy.default",
    "flatten.using_ints", "unflatten.int", "squeeze.default", "squeeze.dim", "squeeze.dims", "unsqueeze.default",
    "prims.split_dim.default", "prims.collapse_view.default", "prims.squeeze.default", "prims.reshape.default",
    "squeeze_copy.default", "squeeze_copy.dim", "squeeze_copy.dims", "unsqueeze_copy.default", "ravel.default",
    "prims.collapse.default", "_reshape_alias.default", "view_as.default", "reshape_as.default",
)  # fmt: skip
def _reshaped(x: Any, *_: Any, made: Made, **__: Any) -> Any:
    return np.reshape(x, made.shape)


@rule("expand.default", "expand_copy.default", "broadcast_to.default", "expand_as.default")
def _expanded(x: Any, *_: Any, made: Made, **__: Any) -> Any:
    return np.broadcast_to(x, made.shape)


@rule("prims.broadcast_in_dim.default")
def _broadcast_in_dim(x: Any, shape: Any, dims: Any, made: Made) -> Any:
    at = [1] * len(made.shape)
    for size, place in zip(x.shape, dims, strict=True):
        at[place] = size
    return np.broadcast_to(np.reshape(x, at), made.shape)


@rule("permute.default", "permute_copy.default", "prims.transpose.default")
def _permuted(x: Any, dims: Any) -> Any:
    return np.transpose(x, axes(dims, x))


@rule("transpose.int", "transpose_copy.int")
def _transposed(x: Any, first: int, second: int) -> Any:
    return np.swapaxes(x, first, second) if x.shape else x


@rule("t.default", "t_copy.default", "numpy_T.default", "mT.default")
def _t(x: Any) -> Any:
    return np.swapaxes(x, -2, -1) if len(x.shape) > 1 else x


@rule("select.int", "select_copy.int")
def _select(x: Any, dim: int, index: int) -> Any:
    return x[(*[slice(None)] * (dim % len(x.shape)), index)]


@rule("slice.Tensor", "slice_copy.Tensor")
def sliced(x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return x[(*[slice(None)] * (dim % len(x.shape)), slice(start, end, step))]


@rule("narrow.default", "narrow_copy.default")
def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    start = start % x.shape[dim] if start < 0 else start
    return sliced(x, dim, start, start + length)


@rule("split.Tensor", "split_copy.Tensor", "unsafe_split.Tensor")
def _split(x: Any, size: int, dim: int = 0) -> Any:
    count = max(1, -(-x.shape[dim] // size)) if size else 1
    return tuple(sliced(x, dim, each * size, (each + 1) * size) for each in range(count))


@rule("split_with_sizes.default", "split_with_sizes_copy.default", "unsafe_split_with_sizes.default")
def _split_with_sizes(x: Any, sizes: Any, dim: int = 0) -> Any:
    ends = np.cumsum(sizes).tolist()
    return tuple(sliced(x, dim, end - size, end) for end, size in zip(ends, sizes, strict=True))


@rule("unbind.int", "unbind_copy.int")
def _unbind(x: Any, dim: int = 0) -> Any:
    return tuple(_select(x, dim, each) for each in range(x.shape[dim]))


@rule("cat.default", "concat.default", "concatenate.default", "prims.cat.default")
def _cat(tensors: Any, dim: int = 0) -> Any:
    dtype = common_dtype(tensors)
    kept = [each for each in tensors if each.shape != (0,)] or list(tensors[:1])
    return np.concatenate([each.astype(dtype) for each in kept], dim)


@rule("stack.default")
def _stack(tensors: Any, dim: int = 0) -> Any:
    dtype = common_dtype(tensors)
    return np.stack([each.astype(dtype) for each in tensors], dim)


@rule("flip.default", "prims.rev.default")
def _flip(x: Any, dims: Any) -> Any:
    return np.flip(x, axes(dims, x)) if len(dims) and x.shape else x


@rule("roll.default")
def _roll(x: Any, shifts: Any, dims: Any = ()) -> Any:
    if not len(dims):
        return np.reshape(np.roll(np.reshape(x, (-1,)), shifts[0]), x.shape)
    return np.roll(x, tuple(shifts), tuple(dims))


@rule("repeat.default")
def _repeat(x: Any, repeats: Any) -> Any:
    return np.tile(x, tuple(repeats)) if len(repeats) else x


@rule("diagonal.default", "diagonal_copy.default")
def _diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return np.diagonal(x, offset, dim1, dim2)


@rule("diagonal_scatter.default")
def _diagonal_scatter(x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    count = source.shape[-1]
    places = np.arange(count)
    rest = np.moveaxis(x, (dim1, dim2), (0, 1))
    rows, columns = (places, places + offset) if offset >= 0 else (places - offset, places)
    written = rest.at[rows, columns].set(np.moveaxis(source, -1, 0)) if count else rest
    return np.moveaxis(written, (0, 1), (dim1, dim2))


@rule("select_scatter.default")
def _select_scatter(x: Any, source: Any, dim: int, index: int) -> Any:
    return x.at[(*[slice(None)] * (dim % len(x.shape)), index)].set(source.astype(x.dtype))


@rule("slice_scatter.default")
def _slice_scatter(
    x: Any, source: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    place = (*[slice(None)] * (dim % len(x.shape)), slice(start, end, step))
    return x.at[place].set(np.broadcast_to(source.astype(x.dtype), x[place].shape))


@rule("unfold.default", "unfold_copy.default")
def _unfold(x: Any, dim: int, size: int, step: int) -> Any:
    if not x.shape:
        return np.reshape(x, (1,))[:size]
    dim %= len(x.shape)
    count = (x.shape[dim] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)
    found = np.take(x, places.reshape(-1), axis=dim)
    found = np.reshape(found, (*x.shape[:dim], count, size, *x.shape[dim + 1 :]))
    return np.moveaxis(found, dim + 1, -1)


@rule("as_strided.default", "as_strided_copy.default")
def _as_strided(x: Any, size: Any, stride: Any, offset: int | None = None, *, made: Made) -> Any:
    """Elements of what is in memory, by their places in it."""
    if 0 in size:
        return constant(np.zeros(made.shape, made.dtype))
    flat, places = _in_memory(x, made), _places(size, stride, offset or 0)
    if np.array_equal(places.reshape(-1), np.arange(flat.shape[0])):
        return np.reshape(flat, made.shape)
    return np.reshape(np.take(flat, places.reshape(-1)), made.shape)


@rule("as_strided_scatter.default", "prims.as_strided_scatter.default")
def _as_strided_scatter(x: Any, source: Any, size: Any, stride: Any, offset: int | None = None, *, made: Made) -> Any:
    if 0 in size:
        return x
    order = _order(x, made)
    flat = _in_memory(x, made).at[_places(size, stride, offset or 0).reshape(-1)].set(np.reshape(source, (-1,)))
    back = np.reshape(flat, [x.shape[axis] for axis in order])
    return np.transpose(back, np.argsort(order).tolist())


def _order(x: Any, made: Made) -> list[int]:
    """The dimensions of ``x`` from that whose elements are farthest apart in memory."""
    strides = made.taken[0] or ()
    return sorted(range(len(x.shape)), key=lambda axis: (-strides[axis], x.shape[axis] != 1))


def _in_memory(x: Any, made: Made) -> Any:
    """The elements of ``x`` in their order in memory; those that are there several times, once."""
    pairs = zip(made.taken[0] or (), x.shape, strict=True)
    once = x[tuple(slice(0, 1) if step == 0 < size else slice(None) for step, size in pairs)]
    return np.reshape(np.transpose(once, _order(x, made)), (-1,))


def _places(size: Any, stride: Any, offset: int) -> np.ndarray:
    """The numbers of the elements of a view by strides."""
    places = np.full([1] * len(size), offset)
    for axis, (extent, step) in enumerate(zip(size, stride, strict=True)):
        places = places + (np.arange(extent) * step).reshape([-1, *[1] * (len(size) - axis - 1)])
    return places


@rule("constant_pad_nd.default")
def padded(x: Any, pads: Any, number: Any = 0) -> Any:
    """Pads are pairs from the last dimension on; a negative one cuts off."""
    pairs = [(0, 0)] * len(x.shape)
    for place in range(len(pads) // 2):
        pairs[-1 - place] = (pads[2 * place], pads[2 * place + 1])
    cuts = tuple(slice(max(0, -low), size - max(0, -high)) for (low, high), size in zip(pairs, x.shape, strict=True))
    x = x[cuts]
    grown = [(max(0, low), max(0, high)) for low, high in pairs]
    return np.pad(x, grown, constant_values=np.asarray(number).astype(x.dtype)[()]) if any(map(any, grown)) else x


@rule("replication_pad1d_backward.default", "replication_pad2d_backward.default", "replication_pad3d_backward.default")
def _replicated_backward(gradient: Any, x: Any, pads: Any) -> Any:
    """What the edges have been repeated to is added up at the edges."""
    gradient = padded(gradient, [max(0, -each) for each in pads])
    for place in range(len(pads) // 2):
        axis, low = -1 - place, max(0, pads[2 * place])
        parts, last = np.moveaxis(gradient, axis, 0), low + x.shape[axis] - 1
        edges = [parts[: low + 1], parts[last:]] if last > low else [parts]
        first, *end = (np.sum(each, axis=0, keepdims=True) for each in edges)
        gradient = np.moveaxis(np.concatenate([first, parts[low + 1 : last], *end]), 0, axis)
    return gradient


@rule("tril.default")
def _tril(x: Any, diagonal: int = 0) -> Any:
    return np.tril(x, diagonal)


@rule("triu.default")
def _triu(x: Any, diagonal: int = 0) -> Any:
    return np.triu(x, diagonal)
