"""Functions of one element: NumPy's ufuncs, casts, and the choice between two tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import is_supported, kind_of, part_dtype
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.conversions import convert
from ipu_mlir.tracing.emit import Index, Loop, constant, filled, structured
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, Trace, supported_dtype, unsupported_dtype
from ipu_mlir.tracing.operands import (
    Operand,
    Scalar,
    common_dtype,
    kinds_of,
    operand,
    tensor,
    trace_of,
    warn_if_widened,
    with_numbers,
)
from ipu_mlir.tracing.pairs import as_pairs, complex_of, from_pairs, is_complex, part
from ipu_mlir.tracing.scalar_ops import BODIES, Body
from ipu_mlir.tracing.widths import WIDE, is_outside

arith = upstream("arith")

_OF_ITS_OWN_TYPES = (np.float_power, np.ldexp)
"""Which take an integer beside a float as such, or make float64 of everything."""
_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def elementwise(
    trace: Trace,
    name: str,
    operands: Sequence[Operand],
    dtypes: Sequence[np.dtype[Any]],
    dtype: np.dtype[Any],
    body: Callable[..., ir.Value],
    shape: shapes.Shape | None = None,
) -> Any:
    """One op over all elements of the broadcast ``operands``; nothing is repeated in memory.

    Args:
        dtypes: what each operand is converted to, element by element, before ``body`` sees it.
        dtype: of the result of ``body``.
        shape: of the result, where it is larger than what the operands broadcast to.
    """
    if shape is None:
        shape = broadcast(name, operands)
    operands = [_as_narrow(op, to) for op, to in zip(operands, dtypes, strict=True)]
    symbols = [op for op in operands if isinstance(op, Symbol)]
    values = [op.as_type(to) if isinstance(op, Scalar) else None for op, to in zip(operands, dtypes, strict=True)]

    def code(*scalars: ir.Value) -> ir.Value:
        arguments = iter(scalars)
        ready = [
            constant(value, to) if isinstance(op, Scalar) else convert(next(arguments), op.dtype, to)
            for op, value, to in zip(operands, values, dtypes, strict=True)
        ]
        return body(*ready)

    loops = [Loop(size) for size in shape]
    inputs = [(symbol, broadcast_index(symbol.shape, shape)) for symbol in symbols]
    return structured(trace, name, inputs, loops, tuple(range(len(shape))), dtype, code)


def broadcast(name: str, operands: Sequence[Operand]) -> shapes.Shape:
    """The common shape of ``operands``.

    Raises:
        TraceValueError: they do not broadcast.
    """
    try:
        return shapes.broadcast_shapes([op.shape for op in operands])
    except ValueError as error:
        raise TraceValueError(f"{name} of {_shown(operands)}: {error}") from error


def broadcast_index(shape: shapes.Shape, to: shapes.Shape) -> Index:
    """The index of a tensor of ``shape`` in loops over ``to``."""
    first = len(to) - len(shape)
    return tuple(first + axis if size == to[first + axis] else None for axis, size in enumerate(shape))


def apply_ufunc(name: str, ufunc: np.ufunc, values: Sequence[Any], dtype: Any = None) -> Any:
    """``ufunc(*values)``, with the element types that NumPy chooses.

    Raises:
        TraceTypeError: the function is not supported, or not for these element types.
    """
    trace = trace_of(values)
    body = BODIES.get(ufunc.__name__)
    if body is None:
        raise TraceTypeError(f"{name} is not supported while tracing; supported are {', '.join(sorted(BODIES))}")
    operands = [operand(trace, value) for value in values]
    if ufunc is np.power and (special := _power(trace, operands)) is not None:
        return special
    if (known := _known_comparison(trace, name, ufunc, operands)) is not None:
        return known
    *dtypes, result = _resolve(name, ufunc, operands, dtype)
    return elementwise(trace, name, operands, dtypes, result, _code(name, body, operands, dtypes[0]))


def apply_unary_float(name: str, value: Symbol) -> Any:
    """A function that NumPy lacks, on a float tensor; integers become float64 as in NumPy's functions."""
    dtype = value.dtype if kind_of(value.dtype) == "f" else np.dtype(np.float64)
    warn_if_widened(name, [value], dtype)
    return elementwise(value.program, name, [value], [dtype], dtype, _code(name, BODIES[name], [value], dtype))


def astype(value: Symbol, dtype: Any) -> Any:
    """``value`` with another element type."""
    target = supported_dtype(dtype)
    if target == value.dtype:
        return value
    if isinstance(narrow := _as_narrow(value, target), Symbol) and narrow.dtype == target:
        return narrow
    if value.dtype.kind == "c" and target.kind == "c":
        return from_pairs(astype(as_pairs(value), part_dtype(target)))
    if value.dtype.kind == "c":
        real, imaginary = part(value, 0), part(value, 1)
        return (real != 0) | (imaginary != 0) if target.kind == "b" else astype(real, target)
    if target.kind == "c":
        real = astype(value, part_dtype(target))
        return complex_of(real, astype(astype(value, np.bool_) & False, real.dtype))
    return elementwise(value.program, "astype", [value], [target], target, lambda scalar: scalar)


def _as_narrow(value: Operand, target: np.dtype[Any]) -> Operand:
    """``value``, or what stands for an array of float64 from outside of the function where a narrower one is wanted."""
    if not isinstance(value, Symbol) or value.dtype not in WIDE or target in WIDE or target.kind != value.dtype.kind:
        return value
    if not is_outside(value):
        return value
    array = np.asarray(ir.DenseElementsAttr(value.value.owner.attributes["value"]))
    if value.dtype.kind == "c":
        array = array.reshape(-1, 2).copy().view(np.complex128).reshape(value.shape)
    with np.errstate(all="ignore"):
        return value.program.constant(array.astype(target))


def conjugated(x: Any) -> Any:
    """The conjugates of complex numbers; others are their own, of whatever type."""
    return np.conjugate(x) if is_complex(x) else x


def as_float(x: Any, *, may_be_complex: bool = False) -> Any:
    """``x``, or the float64 numbers of integers.

    Raises:
        TraceTypeError: it is complex, which the function does not take.
    """
    if is_complex(x) and not may_be_complex:
        raise TraceTypeError(f"{x}: the function is one of real numbers; use x.real and x.imag")
    if kind_of(x.dtype) in "fc":
        return x
    warn_if_widened("a function of floats", [x], np.dtype(np.float64))
    return astype(x, np.float64)


def as_ufunc_float(x: Any) -> Any:
    """``x``, or integers as the floats that NumPy's ufuncs make of them: of 8 bits float16, of 16 float32.

    Raises:
        TraceTypeError: as ``as_float``.
    """
    return as_float(x) if kind_of(x.dtype) in "fc" else astype(x, np.result_type(x.dtype, np.float16))


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Elements of ``yes`` where ``condition`` holds, of ``no`` elsewhere."""
    trace = trace_of((condition, yes, no))
    if isinstance(condition, Symbol) and condition.dtype.kind == "c":
        condition = astype(condition, np.bool_)
    operands = [operand(trace, value) for value in (condition, yes, no)]
    dtype = common_dtype(operands[1:])
    if dtype.kind == "c":
        wide = [astype(tensor(trace, each, dtype), dtype) for each in operands[1:]]
        return complex_of(*(where(condition, *(part(each, which) for each in wide)) for which in (0, 1)))
    return elementwise(trace, "where", operands, [np.dtype(np.bool_), dtype, dtype], dtype, arith.select)


def _resolve(name: str, ufunc: np.ufunc, operands: Sequence[Operand], dtype: Any) -> list[np.dtype[Any]]:
    """The element types that ``ufunc`` computes in, and that of its result."""
    known = [op.value if isinstance(op, Scalar) and op.weak else op.dtype for op in operands]
    common = with_numbers(known) if ufunc in _OF_ITS_OWN_TYPES else kinds_of(operands)
    kinds = [kind if isinstance(kind, np.dtype) else type(kind) for kind in common]
    signature = (*(None for _ in operands), None if dtype is None else np.dtype(dtype))
    try:
        resolved = list(ufunc.resolve_dtypes((*kinds, None), signature=signature))
    except TypeError as error:
        raise TraceTypeError(f"{name} is not defined for {_shown(operands)}: {error}; use astype") from error
    for each in resolved:
        if not is_supported(each):
            raise TraceTypeError(f"{name} of {_shown(operands)}: {unsupported_dtype(each)}")
    if dtype is None:
        warn_if_widened(name, operands, resolved[-1])
    return resolved


def _code(name: str, body: Body, operands: Sequence[Operand], dtype: np.dtype[Any]) -> Callable[..., ir.Value]:
    code = body.for_kind(kind_of(dtype))
    if code is None:
        raise TraceTypeError(f"{name} is not supported for {_shown(operands)}; use astype(np.float32)")
    return code


def _power(trace: Trace, operands: Sequence[Operand]) -> Any:
    """Powers that are quicker and more exact as products or roots; None for all others.

    Raises:
        TraceValueError: a negative power of integers, which is no integer.
    """
    base, exponent = operands
    if not isinstance(base, Symbol) or not isinstance(exponent, Scalar) or base.dtype.kind == "b":
        return None
    number = exponent.value
    if base.dtype.kind in "iu" and exponent.dtype.kind == "i" and number < 0:
        raise TraceValueError(f"integers to the negative power {number} are no integers; use x.astype(np.float32)")
    if not exponent.weak or common_dtype(operands) != base.dtype:
        return None
    dtype = base.dtype

    def apply(code: Callable[[ir.Value], ir.Value]) -> Any:
        return elementwise(trace, "power", [base], [dtype], dtype, code)

    def on_kind(name: str) -> Callable[..., ir.Value]:
        return _code("power", BODIES[name], operands, dtype)

    if number == 1:
        return base
    if number == 2:
        return apply(on_kind("square"))
    if number == 3:
        multiply = on_kind("multiply")
        return apply(lambda a: multiply(multiply(a, a), a))
    if number == 0.5:
        return apply(on_kind("sqrt"))
    if number == -1:
        return apply(on_kind("reciprocal"))
    return None


def _known_comparison(trace: Trace, name: str, ufunc: np.ufunc, operands: Sequence[Operand]) -> Any:
    """What integers are beside a Python number that their type cannot hold, the same everywhere; None for others."""
    if ufunc not in _COMPARISONS:
        return None
    for given, limit in (operands, operands[::-1]):
        if not isinstance(given, Symbol) or given.dtype.kind not in "iu" or not isinstance(limit, Scalar):
            continue
        limits = np.iinfo(given.dtype)
        if limit.weak and isinstance(limit.value, int) and not limits.min <= limit.value <= limits.max:
            outcome = ufunc(*(0 if operand is given else np.sign(float(limit.value)) for operand in operands))
            with trace.emit(name):
                return trace.wrap(filled(given.shape, outcome.dtype, outcome), given.shape, outcome.dtype)
    return None


def _shown(operands: Sequence[Operand]) -> str:
    return " and ".join(map(str, operands))
