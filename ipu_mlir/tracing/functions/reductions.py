"""Sums, products, extrema and the like along axes."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import kind_of, limits_of, part_dtype
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.conversions import convert
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.emit import Index, Loop, structured, structured_results
from ipu_mlir.tracing.errors import TraceIndexError, TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import warn_if_widened
from ipu_mlir.tracing.pairs import is_complex, part
from ipu_mlir.tracing.scalar_ops import BODIES
from ipu_mlir.tracing.views import reshape

arith = upstream("arith")

Axes = int | Iterable[int] | None

# Reductions by the ufunc that combines two elements, with their neutral element.
_COMBINE = {
    "sum": ("add", 0),
    "prod": ("multiply", 1),
    "max": ("maximum", None),
    "min": ("minimum", None),
    "any": ("logical_or", 0),
    "all": ("logical_and", 1),
    "bitwise_and": ("bitwise_and", -1),
    "bitwise_or": ("bitwise_or", 0),
    "bitwise_xor": ("bitwise_xor", 0),
    "logical_xor": ("logical_xor", 0),
    "logaddexp": ("logaddexp", -np.inf),
    "hypot": ("hypot", 0),
}


def axes_of(name: str, value: Symbol, axis: Axes) -> tuple[int, ...]:
    """The axes that ``axis`` names.

    Raises:
        TraceIndexError: one that ``value`` does not have. TraceValueError: one named twice.
    """
    try:
        return shapes.normalize_axes(axis, len(value.shape))
    except IndexError as error:
        raise TraceIndexError(f"{name} of {value}: {error}") from error
    except ValueError as error:
        raise TraceValueError(f"{name} of {value}: {error}") from error


def reduce(name: str, value: Symbol, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """``sum``, ``prod``, ``max``, ``min``, ``any`` or ``all`` along ``axis``.

    Sums and products of small integers and of bools are int64, as in NumPy; ``dtype`` chooses another type.
    """
    if name not in _COMBINE:
        raise TraceTypeError(f"np.{name}.reduce is not supported while tracing; those of {', '.join(_COMBINE)} are")
    axes = axes_of(name, value, axis)
    result = _result_dtype(name, value.dtype, dtype)
    if is_complex(value) and result.kind != "c":
        value = astype(value, result)
    if result.kind == "c" and name == "prod":
        return _product(astype(value, result), axes, keepdims)
    if _COMBINE[name][1] is None and count_along(value, axes) == 0:
        raise TraceValueError(f"{name} of {value}: of no elements there is none; np.concatenate a number to them first")
    if result.kind == "c" and name in ("max", "min"):
        found = _complex_extremum(name, value, axes)
        return found if keepdims else np.squeeze(found, axes)
    if result.kind == "c" and name != "sum":
        raise TraceTypeError(f"{name} of {value}: the function is one of real numbers; use x.real and x.imag")
    if result.kind == "c":
        value = astype(value, result)
    combine = BODIES[_COMBINE[name][0]].for_kind(kind_of(part_dtype(result)))
    if combine is None:
        raise TraceTypeError(f"{name} is not supported for {value}; use astype")

    def code(element: ir.Value, so_far: ir.Value) -> ir.Value:
        return combine(so_far, convert(element, value.dtype, result))

    reduced = structured(
        value.program,
        name,
        [(value, _all(value))],
        _loops(value, axes),
        _kept(value, axes),
        result,
        code,
        _neutral(name, result),
    )
    return _with_dims(value, reduced, axes) if keepdims else reduced


def mean(value: Symbol, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The arithmetic mean; that of integers is float64, as in NumPy."""
    result = (
        supported_dtype(dtype) if dtype is not None else value.dtype if kind_of(value.dtype) in "fc" else np.dtype("f8")
    )
    if dtype is None:
        warn_if_widened("mean", [value], result)
    total = reduce("sum", value, axis, keepdims, result)
    return total / count_along(value, axes_of("mean", value, axis))


def variance(value: Any, axis: Axes = None, keepdims: bool = False, dtype: Any = None, ddof: float = 0) -> Any:
    """The mean of the squared distances from the mean, over ``n - ddof`` elements."""
    centred = value - mean(value, axis, True, dtype)
    count = count_along(value, axes_of("var", value, axis)) - ddof
    squares = np.square(part(centred, 0)) + np.square(part(centred, 1)) if is_complex(centred) else centred * centred
    return reduce("sum", squares, axis, keepdims) / max(count, 0)


def arg_extremum(name: str, value: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """``argmax`` or ``argmin``: the index of the first extremum along ``axis``, of the first NaN if there is one.

    A reduction keeps the extremum and its index; ``ipu-raise-extremes`` makes a codelet of it, or two reductions.
    """
    if axis is None:
        flat = reshape(value, (-1,))
        found = arg_extremum(name, flat, 0)
        return reshape(found, (1,) * len(value.shape)) if keepdims else found
    (along,) = axes_of(name, value, axis)
    if is_complex(value):
        return arg_extremum("argmax", _are_complex_extrema(name.removeprefix("arg"), value, (along,)), axis, keepdims)
    if value.shape[along] == 0:
        raise TraceValueError(f"{name} of {value}: of no elements there is none; np.concatenate a number to them first")
    value = _as_signed(value)
    order = "GE" if name == "argmax" else "LE"
    index_dtype = np.dtype(np.int64)

    def body(element: ir.Value, best: ir.Value, index: ir.Value) -> list[ir.Value]:
        if kind_of(value.dtype) == "f":
            is_nan = arith.cmpf(arith.CmpFPredicate.UNO, best, best)
            stays = arith.ori(arith.cmpf(arith.CmpFPredicate[f"O{order}"], best, element), is_nan)
        else:
            stays = arith.cmpi(arith.CmpIPredicate[f"s{order.lower()}"], best, element)
        own = arith.index_cast(index.type, linalg.IndexOp(along).result)
        return [arith.select(stays, best, element), arith.select(stays, index, own)]

    kept, worst = _kept(value, (along,)), _neutral(name.removeprefix("arg"), value.dtype)
    _, found = structured_results(
        value.program,
        name,
        [(value, _all(value))],
        _loops(value, (along,)),
        kept,
        [value.dtype, index_dtype],
        body,
        [worst, 0],
    )
    return _with_dims(value, found, (along,)) if keepdims else found


def _complex_extremum(name: str, value: Any, axes: tuple[int, ...]) -> Any:
    """The first of the greatest or least elements, or of the NaN, with ``axes`` kept."""
    for axis in axes:
        places = np.expand_dims(arg_extremum(f"arg{name}", value, axis), axis)
        value = np.take_along_axis(value, places, axis)
    return value


def _are_complex_extrema(name: str, value: Any, axes: tuple[int, ...]) -> Any:
    """True where ``value`` is the greatest or least along ``axes``: by real parts, equal ones by imaginary parts.

    Where there are NaN, it is true for those.
    """
    real, imaginary, worst = part(value, 0), part(value, 1), -np.inf if name == "max" else np.inf
    unordered = np.isnan(real) | np.isnan(imaginary)
    first = where(unordered, worst, real)
    leading = ~unordered & (first == reduce(name, first, axes, True))
    second = where(leading, imaginary, worst)
    found = leading & (second == reduce(name, second, axes, True))
    return where(reduce("any", unordered, axes, True), unordered, found)


def _as_signed(value: Any) -> Any:
    """Bools as 0 and 1, and unsigned integers as signed ones in the same order; others as they are."""
    if value.dtype.kind == "b":
        return astype(value, np.dtype(np.int8))
    if value.dtype.kind != "u":
        return value
    signed = np.dtype(f"i{value.dtype.itemsize}")
    return astype(np.bitwise_xor(value, value.dtype.type(1 << (8 * signed.itemsize - 1))), signed)


def _result_dtype(name: str, given: np.dtype[Any], asked: Any) -> np.dtype[Any]:
    if name in ("any", "all", "logical_xor"):
        return np.dtype(np.bool_)
    if name not in ("sum", "prod"):
        return given
    return supported_dtype(asked) if asked is not None else sum_dtype(given)


def sum_dtype(given: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a sum or product of elements of type ``given``, if nothing else is asked for."""
    return given if kind_of(given) in "fc" else np.dtype(np.uint64 if given.kind == "u" else np.int64)


def _neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction starts from: it changes no element that it is combined with."""
    fixed = _COMBINE[name][1]
    if fixed is not None:
        return fixed
    return limits_of(dtype)[name == "min"]


def _product(value: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The product along ``axes``, by halves that are multiplied with each other."""
    for axis in axes:
        before = (slice(None),) * axis
        if not value.shape[axis]:
            one = np.ones_like(value, shape=(*value.shape[:axis], 1, *value.shape[axis + 1 :]))
            value = np.concatenate([value, one], axis)
        while (size := value.shape[axis]) > 1:
            half = size // 2
            pairs = value[(*before, slice(half))] * value[(*before, slice(half, 2 * half))]
            value = np.concatenate([pairs, value[(*before, slice(2 * half, None))]], axis)
    return value if keepdims else np.squeeze(value, axes)


def _all(value: Symbol) -> Index:
    return tuple(range(len(value.shape)))


def _loops(value: Symbol, axes: tuple[int, ...]) -> list[Loop]:
    return [Loop(size, "reduction" if axis in axes else "parallel") for axis, size in enumerate(value.shape)]


def _kept(value: Symbol, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(len(value.shape)) if axis not in axes)


def _with_dims(value: Symbol, reduced: Any, axes: tuple[int, ...]) -> Any:
    return reshape(reduced, tuple(1 if axis in axes else size for axis, size in enumerate(value.shape)))


def count_along(value: Symbol, axes: tuple[int, ...]) -> int:
    """The number of elements that become one."""
    return int(np.prod([value.shape[axis] for axis in axes], dtype=np.int64))
