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
    if isinstance(obj, Symbol):
        return obj if dtype is None else obj.astype(dtype)  # type: ignore[attr-defined]
    array = np.array(obj, dtype) if copy else np.asarray(obj, dtype)
    return _made(array if dtype is not None or isinstance(obj, np.ndarray | np.generic) else default_width(array))


array = asarray


def _made(found: Any) -> Any:
    trace = current_trace()
    if trace is None:
        return as_eager(found)
    return trace.constant(np.asarray(found)) if isinstance(found, np.ndarray | np.generic) else found


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        if isinstance(found, Symbol):
            return found
        if isinstance(found, list | tuple) and any(isinstance(each, Symbol) for each in found):
            return found
        return _finished(found, args, kwargs)

    return called


def _finished(found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arrays that a function of NumPy gave, in the type that nobody asked for otherwise."""
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, np.ndarray | np.generic)]
    asked = kwargs.get("dtype") is not None or any(isinstance(each, type | np.dtype) for each in args)
    if not asked and not given:
        found = default_width(found)
    if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
        return type(found)(map(_made, found))
    return _made(found)


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
