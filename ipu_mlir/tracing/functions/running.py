"""Running sums, products and extremes, differences of neighbours, and what is made of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.specs.tensor_types import kind_of, limits_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.emit import Index, Loop, Sum, empty, structured
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.joining import concatenate
from ipu_mlir.tracing.functions.padding import pad_with
from ipu_mlir.tracing.functions.reductions import sum_dtype
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import tensor, trace_of
from ipu_mlir.tracing.pairs import as_pairs, from_pairs
from ipu_mlir.tracing.scalar_ops import BODIES

_NEUTRAL: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "add": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "maximum": lambda dtype: limits_of(dtype)[0],
    "minimum": lambda dtype: limits_of(dtype)[1],
    "logaddexp": lambda dtype: -np.inf,
}
"""What changes no element that it is combined with, by the ufunc that combines."""


def accumulate(ufunc: np.ufunc, array: Symbol, axis: int = 0, dtype: Any = None) -> Any:
    """``ufunc.accumulate``: a window over all elements up to the own one, which the compiler makes a scan.

    Raises:
        TraceTypeError: a function without a neutral element.
    """
    name = f"np.{ufunc.__name__}.accumulate"
    if ufunc.__name__ not in _NEUTRAL:
        known = ", ".join(f"np.{each}" for each in _NEUTRAL)
        raise TraceTypeError(f"{name} is not supported while tracing; those of {known} are, others need a loop")
    along = views.axis_of(name, array, axis)
    result = supported_dtype(dtype) if dtype is not None else array.dtype
    if ufunc in (np.add, np.multiply) and dtype is None:
        result = sum_dtype(array.dtype)
    if result.kind == "c":
        return _accumulate_complex(ufunc, astype(array, result), along)
    if ufunc is np.logaddexp and kind_of(result) != "f":
        result = np.dtype(np.float64)
    combine = BODIES[ufunc.__name__].for_kind(kind_of(result))
    assert combine is not None, "every element type has these functions"
    neutral, size = _NEUTRAL[ufunc.__name__](result), array.shape[along]
    if size == 0:
        return astype(array, result)
    before = [(size - 1 if each == along else 0, 0) for each in range(len(array.shape))]
    padded = pad_with(astype(array, result), before, neutral)
    with array.program.emit(name):
        window = array.program.wrap(empty([size], result), (size,), result)
    loops = [*map(Loop, array.shape), Loop(size, "reduction")]
    last = len(array.shape)
    index: Index = tuple(Sum((each, last)) if each == along else each for each in range(last))

    def code(element: ir.Value, _: ir.Value, so_far: ir.Value) -> ir.Value:
        return combine(so_far, element)

    inputs = [(padded, index), (window, (last,))]
    return structured(array.program, name, inputs, loops, tuple(range(last)), result, code, neutral)


def _accumulate_complex(ufunc: np.ufunc, array: Any, along: int) -> Any:
    """Running sums of both parts; running products in steps that reach twice as far each time."""
    if ufunc is np.add:
        return from_pairs(accumulate(ufunc, as_pairs(array), along))
    if ufunc is not np.multiply:
        raise TraceTypeError(f"np.{ufunc.__name__}.accumulate of {array}: complex numbers have sums and products only")
    before, reach = (slice(None),) * along, 1
    while reach < array.shape[along]:
        later = array[(*before, slice(reach, None))] * array[(*before, slice(None, -reach))]
        array, reach = concatenate([array[(*before, slice(None, reach))], later], along), reach * 2
    return array


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    return _along(np.add, a, axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    return _along(np.multiply, a, axis, dtype)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    return cumsum(_without_nan(a, 0), axis, dtype)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    return cumprod(_without_nan(a, 1), axis, dtype)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    return _from_initial("cumulative_sum", np.add, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    return _from_initial("cumulative_prod", np.multiply, x, axis, dtype, include_initial)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n < 0:
        raise TraceValueError(f"diff of {a}: the order {n} has to be 0 or more")
    if not np.ndim(a):
        raise TraceValueError(f"diff of {a}: a number has no neighbours; give at least one dimension")
    trace = trace_of((a, prepend, append))
    a = tensor(trace, a)
    if n == 0:
        return a
    along = views.axis_of("diff", a, axis)
    ends = [None if each is None else _slab(a, tensor(trace, each), along) for each in (prepend, append)]
    parts = [each for each in (ends[0], a, ends[1]) if each is not None]
    a = parts[0] if len(parts) == 1 else concatenate(parts, along)
    before = (slice(None),) * along
    for _ in range(n):
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    trace = trace_of((ary, to_end, to_begin))
    ary = tensor(trace, ary)
    ends = [None if each is None else astype(tensor(trace, each), ary.dtype) for each in (to_begin, to_end)]
    middle = diff(views.reshape(ary, (-1,)))
    parts = [ends[0], middle, ends[1]]
    return concatenate([views.reshape(each, (-1,)) for each in parts if each is not None])


def gradient(f: Any, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1) -> Any:
    axes = [*range(len(f.shape))] if axis is None else [views.axis_of("gradient", f, each) for each in _listed(axis)]
    steps = list(varargs) if len(varargs) > 1 else list(varargs or [1.0]) * len(axes)
    if len(steps) != len(axes):
        raise TraceTypeError(f"gradient of {f}: {len(steps)} steps for {len(axes)} axes; give one, or one for each")
    if edge_order not in (1, 2):
        raise TraceValueError(f"gradient of {f}: the order at the edge is 1 or 2, got {edge_order}")
    if f.dtype.kind in "iub":
        f = astype(f, np.float64)
    found = [_gradient(f, step, along, edge_order) for along, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    trace = trace_of((y, x, dx))
    y = tensor(trace, y)
    along = views.axis_of("trapezoid", y, axis)
    before = (slice(None),) * along
    if x is not None:
        x = tensor(trace, x)
        dx = diff(x) if len(x.shape) == 1 else diff(x, axis=along - len(y.shape))
        if len(x.shape) == 1:
            dx = views.reshape(dx, (-1, *(1,) * (len(y.shape) - 1 - along)))
    pairs = dx * (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))])
    return np.sum(pairs / 2.0, axis=along)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    along = views.axis_of("unwrap", p, axis)
    step = diff(p, axis=along)
    half = period / 2 if isinstance(period, float) or step.dtype.kind == "f" else period // 2
    wrapped = np.remainder(step + half, period) - half
    wrapped = where((wrapped == -half) & (step > 0), half, wrapped)
    jump = half if discont is None else discont
    correction = where(np.abs(step) < jump, 0, wrapped - step)
    before = (slice(None),) * along
    first = p[(*before, slice(None, 1))]
    return concatenate([first, p[(*before, slice(1, None))] + cumsum(correction, along)], along)


def _along(ufunc: np.ufunc, a: Any, axis: int | None, dtype: Any) -> Any:
    return accumulate(ufunc, views.reshape(a, (-1,)), 0, dtype) if axis is None else accumulate(ufunc, a, axis, dtype)


def _from_initial(name: str, ufunc: np.ufunc, x: Symbol, axis: int | None, dtype: Any, initial: bool) -> Any:
    if axis is None and len(x.shape) != 1:
        raise TraceValueError(f"{name} of {x}: say along which axis=")
    along = views.axis_of(name, x, axis or 0)
    found = accumulate(ufunc, x, along, dtype)
    before = [(int(each == along), 0) for each in range(len(x.shape))]
    return pad_with(found, before, _NEUTRAL[ufunc.__name__](found.dtype)) if initial else found


def _without_nan(a: Any, instead: float) -> Any:
    return where(np.isnan(a), instead, a) if kind_of(a.dtype) == "f" else a


def _slab(a: Symbol, values: Symbol, along: int) -> Any:
    """What stands before or behind ``a``: ``values``, or one number everywhere."""
    if values.shape:
        return values
    return views.broadcast_to(values, tuple(1 if axis == along else size for axis, size in enumerate(a.shape)))


def _listed(axis: int | Sequence[int]) -> list[int]:
    return [axis] if isinstance(axis, int) else list(axis)


def _gradient(f: Any, step: Any, along: int, edge_order: int) -> Any:
    """Central differences within, one-sided ones at both ends; ``step`` is a number, or where the elements stand."""
    size = f.shape[along]
    if size < edge_order + 1:
        raise TraceValueError(f"gradient of {f}: axis {along} needs at least {edge_order + 1} elements, it has {size}")
    before = (slice(None),) * along

    def at(start: int | None, stop: int | None) -> Any:
        return f[(*before, slice(start, stop))]

    if not np.ndim(step):
        middle = (at(2, None) - at(None, -2)) / (2.0 * step)
        h0 = h1 = hn = hm = step
    else:
        trace = trace_of((f, step))
        distances = diff(tensor(trace, step))
        shape = (-1, *(1,) * (len(f.shape) - 1 - along))
        left, right = (views.reshape(each, shape) for each in (distances[:-1], distances[1:]))
        middle = (
            -right / (left * (left + right)) * at(None, -2)
            + (right - left) / (left * right) * at(1, -1)
            + left / (right * (left + right)) * at(2, None)
        )
        h0, h1, hn, hm = distances[0], distances[min(1, size - 2)], distances[-1], distances[max(-2, 1 - size)]
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / h0, (at(-1, None) - at(-2, -1)) / hn
    else:
        first = (
            -(2.0 * h0 + h1) / (h0 * (h0 + h1)) * at(0, 1)
            + (h0 + h1) / (h0 * h1) * at(1, 2)
            - h0 / (h1 * (h0 + h1)) * at(2, 3)
        )
        last = (
            hn / (hm * (hm + hn)) * at(-3, -2)
            - (hn + hm) / (hm * hn) * at(-2, -1)
            + (2.0 * hn + hm) / (hn * (hm + hn)) * at(-1, None)
        )
    return concatenate([astype(each, f.dtype) for each in (first, middle, last)], along)
