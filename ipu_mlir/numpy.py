"""``ipu.numpy``: NumPy's functions, with arrays that follow the rules of traced tensors in and outside of functions.

    import ipu_mlir.numpy as inp

    x = inp.linspace(0, 1, 5)  # float32
    x = x.at[0].set(3)

While a function is traced, what makes arrays gives traced tensors; outside, arrays with values.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ipu_mlir.tracing.graph import Symbol, current_trace
from ipu_mlir.tracing.surface.eager import Array, as_eager, default_width
from ipu_mlir.tracing.surface.namespace import __array_api_version__, __array_namespace_info__, argsort, astype, sort

ndarray = Array

__all__ = ["Array", "__array_api_version__", "__array_namespace_info__", "argsort", "astype", "ndarray", "sort"]


def asarray(obj: Any, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Any:
    """``obj`` as a tensor; Python numbers and lists of floats are float32, arrays keep their type."""
    if _holds_traced(obj):
        found = obj if isinstance(obj, Symbol) else np.stack([asarray(each) for each in obj])
        return found if dtype is None else found.astype(dtype)  # type: ignore[attr-defined]
    array = np.asarray(obj, dtype) if copy is False or isinstance(obj, Array) else np.array(obj, dtype)
    return _made(array if dtype is not None or isinstance(obj, np.ndarray | np.generic) else default_width(array))


array = asarray


def _holds_traced(obj: Any) -> bool:
    return isinstance(obj, Symbol) or (isinstance(obj, list | tuple) and any(map(_holds_traced, obj)))


def _made(found: Any) -> Any:
    trace = current_trace()
    if trace is None:
        return as_eager(found)
    return trace.constant(np.asarray(found)) if isinstance(found, np.ndarray | np.generic) else found


def _wrapped(function: Any) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        if isinstance(found, Symbol):
            return found
        if isinstance(found, list | tuple) and any(isinstance(each, Symbol) for each in found):
            return found
        return _finished(found, args, kwargs)

    if isinstance(function, np.ufunc):
        for name in ("reduce", "accumulate", "outer", "reduceat", "at"):
            setattr(called, name, _wrapped(getattr(function, name)))
    return called


def _finished(found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arrays that a function of NumPy gave, in the type that nobody asked for otherwise."""
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, np.ndarray | np.generic)]
    asked = kwargs.get("dtype") is not None or any(isinstance(each, type | np.dtype) for each in args)
    if not asked and not given:
        found = default_width(found)
    if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
        return type(found)(_made(_own(each, given)) for each in found)
    return _made(_own(found, given))


def _own(found: Any, given: list[Any]) -> Any:
    """``found``, or a copy of it where it shares elements with arrays that others may write to."""
    theirs = [each for each in given if not isinstance(each, Array | np.generic)]
    shares = isinstance(found, np.ndarray) and any(np.may_share_memory(found, each) for each in theirs)
    return found.copy() if shares else found


class _Indexed:
    """What makes arrays of an index: ``mgrid[0:2]``."""

    def __init__(self, of_numpy: Any) -> None:
        self._of_numpy = of_numpy

    def __getitem__(self, key: Any) -> Any:
        return _finished(self._of_numpy[key], key if isinstance(key, tuple) else (key,), {})


class _Namespace:
    """The functions of a module in NumPy."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _attribute(self._module, name)

    def __dir__(self) -> list[str]:
        return [each for each in dir(self._module) if not each.startswith("_")]


linalg, fft = _Namespace(np.linalg), _Namespace(np.fft)


def _attribute(module: ModuleType, name: str) -> Any:
    if name.startswith("_") or not hasattr(module, name):
        raise AttributeError(f"ipu.numpy has no {name}; it has the functions of NumPy")
    value = getattr(module, name)
    if name in ("mgrid", "ogrid", "r_", "c_"):
        return _Indexed(value)
    if isinstance(value, type) or not callable(value):
        return value
    return _wrapped(value)


def __getattr__(name: str) -> Any:
    found = _attribute(np, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(
        {*__all__, "asarray", "array", "fft", "linalg", *(each for each in dir(np) if not each.startswith("_"))}
    )
