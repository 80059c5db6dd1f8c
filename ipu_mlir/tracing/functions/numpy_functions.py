"""NumPy's functions on traced tensors, under NumPy's names and parameters.

``FUNCTIONS`` maps the function of NumPy to ours; parameters that ours lacks are not supported while tracing.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ipu_mlir.tracing.elementwise import where
from ipu_mlir.tracing.errors import TraceTypeError, located
from ipu_mlir.tracing.functions import (
    arranging,
    bits,
    contractions,
    creating,
    decompositions,
    fourier,
    histograms,
    joining,
    numeric,
    orders,
    padding,
    picking,
    polynomials,
    products,
    running,
    statistics,
)
from ipu_mlir.tracing.functions.unsupported import numpy_name, way_out


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``function(*args, **kwargs)`` of NumPy, where some arguments are traced tensors.

    Raises:
        TraceTypeError: the function, or one of the parameters given, is not supported.
    """
    ours = FUNCTIONS.get(function)
    name = f"np.{numpy_name(function)}"
    if ours is None:
        supported = map(numpy_name, FUNCTIONS)
        raise TraceTypeError(f"{name} is not supported while tracing; {way_out(name[3:], supported)}")
    if kwargs.get("out") is not None:
        raise TraceTypeError(f"{name} while tracing: nothing is written in place (out=); write y = {name}(...)")
    given = {key: value for key, value in kwargs.items() if key != "out" and value is not np._NoValue}
    try:
        bound = inspect.signature(ours).bind(*args, **given)
    except TypeError as error:
        raise TraceTypeError(f"{name} while tracing: {error}; it takes {inspect.signature(ours)}") from error
    return located(name, ours, *bound.args, **bound.kwargs)


def _functions_of(module: ModuleType, namespace: Any) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Every public function of ``module``, by that of NumPy's ``namespace`` with its name."""
    return {
        getattr(namespace, name): function
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and hasattr(namespace, name)
    }


def numpy_where(condition: Any, x: Any, y: Any, /) -> Any:
    return where(condition, x, y)


_NUMPY = (
    *(contractions, joining, padding, arranging, creating, statistics, running, orders, picking, numeric, products),
    *(bits, histograms, polynomials),
)
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{function: ours for module in _NUMPY for function, ours in _functions_of(module, np).items()},
    **_functions_of(fourier, np.fft),
    **_functions_of(decompositions, np.linalg),
    np.where: numpy_where,
    np.astype: numeric.astype_,
    np.lib.stride_tricks.sliding_window_view: arranging.sliding_window_view,
    np.linalg.norm: products.norm,
    np.linalg.vector_norm: products.vector_norm,
    np.linalg.matrix_norm: products.matrix_norm,
    np.linalg.matrix_power: products.matrix_power,
    np.linalg.multi_dot: products.multi_dot,
    np.linalg.matmul: lambda x1, x2, /: contractions.matmul(x1, x2),
    np.linalg.tensordot: lambda x1, x2, /, *, axes=2: contractions.tensordot(x1, x2, axes),
    np.linalg.vecdot: products.vecdot,
    np.linalg.outer: products.linalg_outer,
    np.linalg.cross: products.linalg_cross,
    np.linalg.diagonal: products.linalg_diagonal,
    np.linalg.trace: products.linalg_trace,
    np.linalg.matrix_transpose: lambda x, /: arranging.matrix_transpose(x),
}
