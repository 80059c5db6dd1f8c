"""Ops of PyTorch that torch-mlir does not know, or takes for others, as ops that it knows."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ipu_mlir.dialects.support.bindings import extra
from ipu_mlir.frontends.of_torch.convolutions import convolution, convolution_backward
from ipu_mlir.frontends.of_torch.means import (
    adaptive_mean,
    adaptive_mean_backward,
    mean_of_windows,
    mean_of_windows_backward,
)

aten = torch.ops.aten


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Those of torch-mlir, and ours."""
    return dict(extra("fx_decomp_util").get_decomposition_table()) | _OURS


def _add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Of bools, which are true where one of them is; torch-mlir adds their bits."""
    if (
        getattr(x, "dtype", None) != torch.bool
        or getattr(other, "dtype", type(other)) not in (torch.bool, bool)
        or not alpha
    ):
        return NotImplemented
    return aten.logical_or(x, other if isinstance(other, torch.Tensor) else torch.full((), other))


def _with_number(op: Any) -> Callable[..., Any]:
    """``op`` of a tensor of int8 and a number, which ends torch-mlir: of two tensors."""

    def of_tensors(x: Any, number: Any, **options: Any) -> Any:
        if getattr(x, "dtype", None) != torch.int8 or type(number) is not int:
            return NotImplemented
        return op(x, torch.full((), (number + 128) % 256 - 128, dtype=torch.int8), **options)

    return of_tensors


def _where_mask(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """One value in all places of a mask, whose number torch-mlir would leave open."""
    mask, *others = indices
    is_one = all(isinstance(size, int) and size == 1 for size in values.shape)
    if others or mask is None or mask.dtype != torch.bool or not is_one:
        return NotImplemented
    values = values.reshape(()).to(x.dtype)
    mask = mask.reshape([*mask.shape, *[1] * (x.dim() - mask.dim())])
    return torch.where(mask, x + values if accumulate else values, x)


def _diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    flat, below, count = _rows_of_matrices(x, offset, dim1, dim2)
    columns = x.shape[dim2]
    places = aten.arange(count, dtype=torch.int64) * (columns + 1) + (below * columns + below + offset)
    return flat.index_select(-1, places)


def _diagonal_scatter(x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    flat, below, count = _rows_of_matrices(x, offset, dim1, dim2)
    if not count:
        return aten.clone(x)
    rows, columns = x.shape[dim1], x.shape[dim2]
    row = aten.arange(rows, dtype=torch.int64).unsqueeze(1).expand(rows, columns).reshape([-1])
    column = aten.arange(columns, dtype=torch.int64).unsqueeze(0).expand(rows, columns).reshape([-1])
    spread = source.index_select(-1, (row - below).clamp(0, count - 1))
    whole = torch.where(column - row == offset, spread, flat)
    return whole.reshape([*flat.shape[:-1], rows, columns]).movedim((-2, -1), (dim1, dim2))


def _rows_of_matrices(x: Any, offset: int, first: int, second: int) -> tuple[Any, int, int]:
    """``x`` with its matrices as rows, the last dimension; the row that a diagonal begins in, and its length."""
    rows, columns, below = x.shape[first], x.shape[second], max(0, -offset)
    matrices = x.movedim((first, second), (-2, -1))
    flat = matrices.reshape([*matrices.shape[:-2], rows * columns])
    return flat, below, max(0, min(rows - below, columns - below - offset))


def _strided(x: Any, size: Any, stride: Any, offset: int | None = None) -> Any:
    """A view by strides, of which torch-mlir takes a few: elements of what is in memory, by their places."""
    if 0 in size:
        return torch.zeros(size, dtype=x.dtype)
    flat = _in_memory(x)
    return NotImplemented if flat is None else flat[_places(size, stride, offset or 0)].reshape(list(size))


def _strided_scatter(x: Any, source: Any, size: Any, stride: Any, offset: int | None = None) -> Any:
    if 0 in size:
        return aten.clone(x)
    flat = _in_memory(x)
    if flat is None or not x.is_contiguous():
        return NotImplemented
    return flat.scatter(0, _places(size, stride, offset or 0), source.reshape([-1])).reshape(list(x.shape))


def _in_memory(x: Any) -> Any:
    """The elements of ``x`` in their order in memory; None if there are others between or before them."""
    order = sorted(range(x.dim()), key=lambda axis: (-x.stride(axis), x.shape[axis] != 1))
    ordered = x.permute(order)
    return ordered.reshape([-1]) if ordered.is_contiguous() and x.storage_offset() == 0 else None


def _places(size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    """The numbers of the elements of a view by strides, in the order of the view."""
    places = torch.full([1] * len(size), offset, dtype=torch.int64)
    for axis, (extent, step) in enumerate(zip(size, stride, strict=True)):
        along = [1] * axis + [extent] + [1] * (len(size) - axis - 1)
        places = places + (aten.arange(extent, dtype=torch.int64) * step).reshape(along)
    return places.reshape([-1])


def _integers_between(low: int, high: int, size: Any, dtype: Any = None, **options: Any) -> Any:
    """Whole numbers from ``low`` to below ``high``; torch-mlir rounds towards 0, and so draws other ones below it."""
    drawn = aten.rand(size, dtype=torch.float32, device=options.get("device"))
    return (aten.floor(drawn * (high - low)).clamp(max=high - low - 1) + low).to(dtype or torch.int64)


def _permutation(count: int, dtype: Any = None, **options: Any) -> Any:
    """The order of random numbers."""
    return aten.rand([count], dtype=torch.float32, device=options.get("device")).argsort().to(dtype or torch.int64)


def _normal(mean: Any, deviation: Any = 1.0, generator: Any = None) -> Any:
    like = mean if isinstance(mean, torch.Tensor) else deviation
    return aten.randn_like(like) * deviation + mean


def _drawn_from(weights: Any, count: int, replacement: bool = False, generator: Any = None) -> Any:
    """Places by their weights: the first of waiting times that are exponential; with replacement of anew for each."""
    if replacement and count > 1:
        weights = weights.unsqueeze(-2).expand(*weights.shape[:-1], count, weights.shape[-1])
    times = -aten.log(1 - aten.rand(list(weights.shape), dtype=torch.float32)) / weights
    if replacement or count == 1:
        return times.argmin(-1, keepdim=count == 1)
    return times.argsort(-1)[..., :count]


def _from_the_front(op: Any) -> Callable[..., Any]:
    """``op`` with its dimension counted from the front; torch-mlir ends the process for others."""

    def lowered(x: Any, dimension: int, *rest: Any, **options: Any) -> Any:
        return NotImplemented if dimension >= 0 else op(x, dimension + max(1, x.dim()), *rest, **options)

    return lowered


_SCATTERS = (
    aten.scatter.src,
    aten.scatter.value,
    aten.scatter.reduce,
    aten.scatter.value_reduce,
    aten.scatter_add.default,
    aten.scatter_reduce.two,
)
_OURS: dict[Any, Callable[..., Any]] = {
    aten.add.Scalar: _add,
    aten.add.Tensor: _add,
    aten._adaptive_avg_pool2d.default: adaptive_mean,
    aten._adaptive_avg_pool2d_backward.default: lambda gradient, x: adaptive_mean_backward(gradient, x, 2),
    aten._adaptive_avg_pool3d.default: adaptive_mean,
    aten._adaptive_avg_pool3d_backward.default: lambda gradient, x: adaptive_mean_backward(gradient, x, 3),
    aten.as_strided.default: _strided,
    aten.as_strided_scatter.default: _strided_scatter,
    aten.avg_pool2d.default: mean_of_windows,
    aten.avg_pool3d.default: mean_of_windows,
    aten.avg_pool2d_backward.default: mean_of_windows_backward,
    aten.avg_pool3d_backward.default: mean_of_windows_backward,
    aten.convolution.default: convolution,
    aten.convolution_backward.default: convolution_backward,
    aten.diagonal.default: _diagonal,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.index_put.default: _where_mask,
    aten.mul.Tensor: _with_number(aten.mul.Tensor),
    aten.multinomial.default: _drawn_from,
    aten.normal.Tensor_Tensor: _normal,
    aten.normal.Tensor_float: _normal,
    aten.normal.float_Tensor: _normal,
    aten.randint.default: lambda high, size, **options: _integers_between(0, high, size, **options),
    aten.randint.low: _integers_between,
    aten.randint_like.default: lambda x, high, **options: _integers_between(
        0, high, list(x.shape), **{"dtype": x.dtype, **options}
    ),
    aten.randint_like.low_dtype: lambda x, low, high, **options: _integers_between(
        low, high, list(x.shape), **{"dtype": x.dtype, **options}
    ),
    aten.randperm.default: _permutation,
    aten.sub.Tensor: _with_number(aten.sub.Tensor),
    **{op: _from_the_front(op) for op in _SCATTERS},
}
