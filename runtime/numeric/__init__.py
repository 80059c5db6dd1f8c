"""Functions that generated source calls: NumPy's ufuncs, and functions of the same form that NumPy lacks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import umath

from ipu_mlir.dialects.codelets.first_extreme import (
    first_maximum,
    first_maximum_after_nan,
    first_maximum_or_nan,
    first_minimum,
    first_minimum_after_nan,
    first_minimum_or_nan,
)
from ipu_mlir.runtime.numeric.choice import positive_bool, select, select_bool
from ipu_mlir.runtime.numeric.codelet_calls import require, run_codelet
from ipu_mlir.runtime.numeric.error_function import erf, erfc
from ipu_mlir.runtime.numeric.floats import is_normal, larger, round_half_away, smaller
from ipu_mlir.runtime.numeric.integers import (
    ceil_divide,
    count_leading_zeros,
    count_ones,
    count_trailing_zeros,
    divide_to_zero,
    integer_power,
    saturated_integer,
)
from ipu_mlir.runtime.numeric.narrow_floats import functions as narrow_float_functions
from ipu_mlir.runtime.numeric.odd import odd_double, odd_multiply_add

clip = umath.clip  # the ufunc itself: np.clip is a slower wrapper

_OWN: dict[str, Callable[..., Any]] = narrow_float_functions() | {
    each.__name__: each
    for each in (
        *(first_maximum, first_maximum_after_nan, first_maximum_or_nan),
        *(first_minimum, first_minimum_after_nan, first_minimum_or_nan),
        *(saturated_integer, ceil_divide, divide_to_zero, integer_power),
        *(count_leading_zeros, count_ones, count_trailing_zeros),
        *(clip, erf, erfc, is_normal, larger, odd_double, odd_multiply_add, round_half_away, smaller),
        *(positive_bool, require, run_codelet, select, select_bool),
    )
}

OWN_NAMES: frozenset[str] = frozenset(_OWN)
"""The names of what comes from here rather than from NumPy."""


def function(name: str) -> Callable[..., Any]:
    """The function that generated source knows as ``name``: operands first, the result array last."""
    own = _OWN.get(name)
    return getattr(np, name) if own is None else own


def __getattr__(name: str) -> Callable[..., Any]:
    """The functions that are made from tables, so that generated source can import them by their names."""
    if name in _OWN:
        return _OWN[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_own(name: str) -> bool:
    """True if ``name`` comes from here rather than from NumPy."""
    return name in OWN_NAMES
