"""Counts of elements: of each number, and of those that lie between edges."""

from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.emit import check
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.creating import full_like
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_float, tensor, trace_of


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    if not isinstance(x, Symbol):
        x = np.asarray(x)
        minlength = max(minlength, int(np.max(x, initial=-1)) + 1)
    elif not minlength:
        raise TraceTypeError(
            f"bincount of {x} while tracing: how many counts there are would depend on values; give minlength, which "
            "no number reaches"
        )
    trace = trace_of((x, weights))
    x = tensor(trace, x)
    if len(x.shape) != 1 or kind_of(x.dtype) not in "biu":
        raise TraceTypeError(f"bincount of {x}: it takes integers of one dimension")
    if kind_of(x.dtype) == "b":
        x = astype(x, np.int32)
    are_inside: Any = np.all((x >= 0) & (x < minlength))
    check("bincount", are_inside, f"bincount: a number is not from 0 to {minlength - 1}")
    dtype = np.dtype(np.int64) if weights is None else common_float([weights])
    counted = full_like(x, 1, dtype) if weights is None else astype(tensor(trace, weights), dtype)
    if counted.shape != x.shape:
        raise TraceValueError(f"bincount of {x}: there is a weight for each number, got {counted}")
    return full_like(x, 0, dtype, shape=(minlength,)).at[x].add(counted)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any]:
    edges = histogram_bin_edges(a, bins, range)
    trace = trace_of((a, edges, weights))
    flat = views.reshape(tensor(trace, a), (-1,))
    edges = tensor(trace, edges)
    if weights is not None:
        weights = views.reshape(tensor(trace, weights), (-1,))
    are_equal = not np.ndim(bins)
    counts = (_counts_of_equal_bins if are_equal else _counts_between)(flat, edges, weights)
    if density:
        counts = counts / astype(widths := edges[1:] - edges[:-1], common_float([widths])) / np.sum(counts)
    return counts, edges


def _counts_between(flat: Any, edges: Any, weights: Any) -> Any:
    """Of the elements between ``edges``, each compared with all."""
    within = flat[None, :] >= edges[:-1, None]
    below = flat[None, :] < edges[1:, None]
    last = (np.arange(edges.shape[0] - 1) == edges.shape[0] - 2)[:, None]
    chosen = within & (below | (last & (flat[None, :] == edges[-1])))
    return np.sum(chosen if weights is None else where(chosen, weights, 0), axis=1)


def _counts_of_equal_bins(flat: Any, edges: Any, weights: Any) -> Any:
    """Of the elements between ``edges`` that are equally far apart: each goes to its bin, as NumPy finds it.

    Where it lies in the range says the bin, but for rounding: then the edges decide.
    """
    bins = edges.shape[0] - 1
    is_inside = (flat >= edges[0]) & (flat <= edges[-1])
    place = (where(is_inside, flat, edges[0]) - edges[0]) / (edges[-1] - edges[0]) * bins
    number = np.minimum(astype(place, np.int32), bins - 1)
    number = number - astype(is_inside & (flat < edges[number]), np.int32)
    number = number + astype((flat >= edges[number + 1]) & (number < bins - 1), np.int32)
    counted = is_inside if weights is None else where(is_inside, weights, 0)
    dtype = np.sum(counted).dtype
    return full_like(edges, 0, dtype, shape=(bins,)).at[number].add(astype(counted, dtype))


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    if isinstance(bins, str):
        raise TraceTypeError(f"histogram while tracing: how many bins {bins!r} makes depends on values; give a number")
    if np.ndim(bins):
        return bins
    kind = a.dtype if isinstance(a, Symbol) and kind_of(a.dtype) == "f" else np.dtype(np.float64)
    if range is None:
        low, high = (astype(each, kind) for each in (np.min(a), np.max(a)))
        half = where(low == high, kind.type(0.5), kind.type(0))
        low, high = low - half, high + half
        return np.linspace(low, high, int(bins) + 1)
    low, high = (float(each) for each in range)
    if low > high:
        raise TraceValueError(f"histogram: the range from {low} to {high} is none")
    half = 0.5 if low == high else 0.0
    return np.linspace(low - half, high + half, int(bins) + 1, dtype=kind)
