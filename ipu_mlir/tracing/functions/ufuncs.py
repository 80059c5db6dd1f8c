"""NumPy's ufuncs on traced tensors, and their methods ``reduce``, ``accumulate`` and ``outer``."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.tracing import elementwise, views
from ipu_mlir.tracing.errors import TraceTypeError, located, refusal_of
from ipu_mlir.tracing.functions import bits, contractions, numeric, products, reductions, running, statistics
from ipu_mlir.tracing.functions.complex_numbers import apply_complex_ufunc
from ipu_mlir.tracing.operands import tensor, trace_of
from ipu_mlir.tracing.pairs import is_complex
from ipu_mlir.tracing.scalar_ops import BODIES

_REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: statistics.sum,
    np.multiply: statistics.prod,
    np.maximum: statistics.max,
    np.minimum: statistics.min,
    np.logical_or: statistics.any,
    np.logical_and: statistics.all,
}
"""Functions by the ufunc whose ``reduce`` they are; others are in ``reductions``."""

_AT = {np.add: "add", np.multiply: "multiply", np.minimum: "min", np.maximum: "max"}
"""By the ufunc, the method of ``x.at[i]`` that does what its ``at`` does."""

OF_MORE_THAN_ONE_ELEMENT: dict[np.ufunc, Callable[..., Any]] = {
    np.matmul: contractions.matmul,
    np.vecdot: products.vecdot,
    np.matvec: products.matvec,
    np.vecmat: products.vecmat,
    np.gcd: numeric.gcd,
    np.lcm: numeric.lcm,
    np.divmod: lambda a, b: (np.floor_divide(a, b), np.remainder(a, b)),
    np.modf: bits.modf,
    np.frexp: bits.frexp,
    np.ldexp: bits.ldexp,
}
"""Those that are no code for one element, or have two results."""


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """``ufunc(*inputs, **given)``, or ``ufunc.reduce`` and so on, where some inputs are traced tensors.

    Raises:
        TraceTypeError: the function, its method, or one of the parameters given, is not supported.
    """
    name = f"np.{ufunc.__name__}"
    if getattr(sys.modules.get("scipy.special"), ufunc.__name__, None) is ufunc and ufunc.__name__ not in BODIES:
        raise TraceTypeError(refusal_of("scipy"))
    kwargs = {
        key: value for key, value in given.items() if value is not np._NoValue and key not in ("casting", "order")
    }
    if any(each is not None for each in kwargs.pop("out", ())):
        raise TraceTypeError(f"{name} while tracing: nothing is written in place (out=, +=); write y = y + x")
    if method == "reduce":
        return located(f"{name}.reduce", _reduce, ufunc, *inputs, **kwargs)
    if method == "accumulate":
        return located(f"{name}.accumulate", running.accumulate, ufunc, *inputs, **kwargs)
    if method == "outer":
        return _outer(ufunc, *inputs, **kwargs)
    if method == "at":
        found = _AT.get(ufunc)
        way_out = f"write x = x.at[i].{found}(y)" if found else "write a loop"
        raise TraceTypeError(f"{name}.at while tracing: nothing is written in place; {way_out}")
    if method != "__call__":
        raise TraceTypeError(f"{name}.{method} is not supported while tracing; use {name} with np.where, or a loop")
    if kwargs.pop("where", True) is not True:
        raise TraceTypeError(f"{name} while tracing: where= leaves elements without a value; use np.where")
    if ufunc in OF_MORE_THAN_ONE_ELEMENT:
        return located(name, OF_MORE_THAN_ONE_ELEMENT[ufunc], *inputs, **kwargs)
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise TraceTypeError(f"{name} while tracing: {', '.join(kwargs)}= is not supported")
    if any(map(is_complex, inputs)) or (dtype is not None and np.dtype(dtype).kind == "c"):
        found = apply_complex_ufunc(name, ufunc, inputs)
        return found if dtype is None else elementwise.astype(found, dtype)
    return elementwise.apply_ufunc(name, ufunc, inputs, dtype)


def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, **kwargs: Any) -> Any:
    if ufunc in _REDUCTIONS:
        given = {key: value for key, value in kwargs.items() if key != "dtype" or value is not None}
        return _REDUCTIONS[ufunc](array, axis, **given)
    return reductions.reduce(ufunc.__name__, array, axis, kwargs.get("keepdims", False))


def _outer(ufunc: np.ufunc, first: Any, second: Any, **kwargs: Any) -> Any:
    trace = trace_of((first, second))
    left, right = tensor(trace, first), tensor(trace, second)
    return ufunc(views.reshape(left, (*left.shape, *(1,) * len(right.shape))), right, **kwargs)
