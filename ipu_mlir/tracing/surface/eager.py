"""Arrays outside of traced functions that follow the rules of traced tensors: widths, ``.at``, no writes in place."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.widths import WIDE, has_numpy_widths

_ADD: dict[str, np.ufunc] = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


class Array(np.ndarray):
    """An array with values that behaves as a traced tensor does, so that a function can be tried before it is traced.

    Beside float arrays of this class, integers and float64 of NumPy take their type; elements are set by ``x.at``.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise TraceTypeError(f"np.{ufunc.__name__}: nothing is written in place (out=); write y = ...")
        if any(isinstance(each, Symbol) for each in inputs):
            return NotImplemented
        common = None if ufunc in (np.ldexp, np.float_power) or kwargs.get("dtype") else float_type(inputs)
        ready = [_plain(each) if common is None else _as_float(_plain(each), common) for each in inputs]
        return as_eager(getattr(ufunc, method)(*ready, **kwargs))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(each, Symbol) for each in types):
            return NotImplemented
        common = None if kwargs.get("dtype") is not None else float_type(_leaves([args, kwargs]))
        found = func(*_mapped(args, _plain), **_mapped(kwargs, _plain))
        return as_eager(found if common is None else _mapped(found, lambda each: _narrowed(each, common)))

    @property
    def at(self) -> "AtIndexer":
        """``x.at[key].set(values)``: a changed copy; also ``add``, ``multiply``, ``min``, ``max``."""
        return AtIndexer(self)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TraceTypeError("an array of ipu.numpy cannot be assigned to in place; use x = x.at[index].set(value)")

    def _in_place(self, other: Any) -> NoReturn:
        raise TraceTypeError("an array of ipu.numpy is not changed in place; write x = x + y instead of x += y")


class AtIndexer:
    """``x.at`` of an array: give it an index."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> "At":
        return At(self._array, key)


class At:
    """``x.at[key]``, as of traced tensors: ``x`` stays, elements that are chosen twice take all values."""

    def __init__(self, array: Array, key: Any) -> None:
        self._array = array
        self._key = _mapped(key, _plain)

    def get(self) -> Any:
        """``x[key]``."""
        return self._array[self._key]

    def set(self, values: Any) -> Array:
        """With ``values`` there."""
        copy = np.array(_plain(self._array))
        copy[self._key] = self._values(values)
        return copy.view(Array)

    def add(self, values: Any) -> Array:
        """With ``values`` added there."""
        return self._combined("add", values)

    def multiply(self, values: Any) -> Array:
        """With what is there multiplied by ``values``."""
        return self._combined("multiply", values)

    def min(self, values: Any) -> Array:
        """With the smaller one of what is there and ``values``."""
        return self._combined("min", values)

    def max(self, values: Any) -> Array:
        """With the larger one of what is there and ``values``."""
        return self._combined("max", values)

    def _combined(self, how: str, values: Any) -> Array:
        copy = np.array(_plain(self._array))
        _ADD[how].at(copy, self._key, self._values(values))
        return copy.view(Array)

    def _values(self, values: Any) -> np.ndarray:
        new = np.asarray(_plain(values))
        ranks = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
        if ranks.get(new.dtype.kind, 2) > ranks.get(self._array.dtype.kind, 2):
            raise TraceTypeError(
                f"at[] of {self._array.dtype}{list(self._array.shape)} with {new.dtype}: values of another kind; "
                f"use astype(np.{self._array.dtype})"
            )
        return new.astype(self._array.dtype)


_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
for _name in _OPERATORS.split():
    setattr(Array, f"__i{_name}__", Array._in_place)


def _as_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that is this function of NumPy; NumPy's own writes in place."""

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__doc__ = f"As ``np.{function.__name__}``."
    return method


for _function in (np.mean, np.var, np.std, np.clip, np.round, np.sum, np.prod, np.cumsum, np.cumprod, np.trace, np.dot):
    setattr(Array, _function.__name__, _as_function(_function))


def as_eager(value: Any) -> Any:
    """``value``, nested as it is, with arrays and NumPy scalars of numbers as ``Array``."""
    return _mapped(value, lambda each: np.asarray(each).view(Array) if _is_numbers(each) else each)


def default_width(value: Any) -> Any:
    """``value`` with float32 and complex64 in the place of what NumPy makes float64 of, except in blocks of ``x64``."""
    return value if has_numpy_widths() else _mapped(value, lambda each: _narrowed(each, np.dtype(np.float32)))


def float_type(values: Iterable[Any]) -> np.dtype[Any] | None:
    """The common type of our float arrays among ``values``; None where there are none, or NumPy's rule holds."""
    found = [each.dtype for each in values if isinstance(each, Array) and each.dtype.kind in "fcV"]
    if has_numpy_widths() or not found:
        return None
    return np.result_type(*found)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Array) else value


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcV"


def _as_float(value: Any, common: np.dtype[Any]) -> Any:
    """``value`` as it takes part beside floats of type ``common``."""
    if isinstance(value, np.ndarray | np.generic) and (value.dtype.kind in "iu" or value.dtype in WIDE):
        kind = np.result_type(common, np.complex64) if value.dtype.kind == "c" and common not in WIDE else common
        return value.astype(kind)
    return value


def _narrowed(value: Any, common: np.dtype[Any]) -> Any:
    if isinstance(value, np.ndarray | np.generic) and value.dtype in WIDE and common not in WIDE:
        return value.astype(np.result_type(common, np.complex64) if value.dtype.kind == "c" else _real(common))
    return value


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(each, change) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(each, change) for each in value)
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    return change(value)
