"""Tensors like others, and numbers between two that are traced."""

from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of, part_dtype
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.emit import filled
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import common_dtype, common_float, operand, tensor, trace_of
from ipu_mlir.tracing.pairs import complex_of


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    sizes = a.shape if shape is None else tuple(np.atleast_1d(shape).tolist())
    result = supported_dtype(dtype if dtype is not None else a.dtype)
    if isinstance(fill_value, Symbol) or np.ndim(fill_value):
        return views.broadcast_to(astype(tensor(a.program, fill_value), result), sizes)
    if result.kind == "c":
        both = np.real(fill_value), np.imag(fill_value)
        return complex_of(*(full_like(a, each, part_dtype(result), shape=sizes) for each in both))
    with a.program.emit("full_like"):
        return a.program.wrap(filled(sizes, result, np.asarray(fill_value).astype(result)[()]), sizes, result)


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    return full_like(a, 1, dtype, shape=shape)


def empty_like(prototype: Any, dtype: Any = None, *, shape: Any = None, device: Any = None) -> Any:
    return full_like(prototype, 0, dtype, shape=shape)


def copy(a: Any, order: str = "K") -> Any:
    return a


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    trace = trace_of((start, stop))
    common = common_dtype([operand(trace, start), operand(trace, stop)])
    wide = common if kind_of(common) in "fc" else common_float([operand(trace, start), operand(trace, stop)])
    first, last = (astype(tensor(trace, each), wide) for each in (start, stop))
    steps = num - 1 if endpoint else num
    shape = (num, *(1,) * max(len(first.shape), len(last.shape)))
    places = np.arange(num, dtype=wide).reshape(shape)
    step = (last - first) / max(steps, 1)
    found = first + places * step
    if endpoint and num > 1:  # the last one is not rounded
        found = np.where(places == num - 1, last, found)
    if dtype is not None:
        found = astype(np.floor(found) if np.dtype(dtype).kind in "iu" else found, dtype)
    found = np.moveaxis(found, 0, axis) if axis else found
    return (found, step) if retstep else found


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    found = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else astype(found, dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Of numbers with one sign, which is not looked at."""
    trace = trace_of((start, stop))
    first, last = tensor(trace, start), tensor(trace, stop)
    kind = common_float([first, last])
    first, last = astype(first, kind), astype(last, kind)
    found = first * np.power(
        last / first, linspace(tensor(trace, 0.0), 1.0, num, endpoint)[(..., *(None,) * first.ndim)]
    )
    found = np.moveaxis(found, 0, axis) if axis else found
    return found if dtype is None else astype(found, dtype)


def tril_indices_from(arr: Any, k: int = 0) -> Any:
    return np.tril_indices(arr.shape[-2], k=k, m=arr.shape[-1])


def triu_indices_from(arr: Any, k: int = 0) -> Any:
    return np.triu_indices(arr.shape[-2], k=k, m=arr.shape[-1])


def diag_indices_from(arr: Any) -> Any:
    return np.diag_indices(arr.shape[0], len(arr.shape))
