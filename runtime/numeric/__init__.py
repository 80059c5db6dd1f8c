"""What generated source calls: NumPy's ufuncs, and functions of the same form that NumPy lacks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import umath

from ipu_mlir.runtime.numeric import bit_counts, choice, error_function, integers, rounding

_OWN: dict[str, Callable[..., Any]] = {
    "ceil_divide": integers.ceil_divide,
    "clip": umath.clip,  # the ufunc itself: np.clip is a slower wrapper
    "count_leading_zeros": bit_counts.count_leading_zeros,
    "count_ones": bit_counts.count_ones,
    "count_trailing_zeros": bit_counts.count_trailing_zeros,
    "divide_to_zero": integers.divide_to_zero,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "integer_power": integers.integer_power,
    "is_normal": rounding.is_normal,
    "positive_bool": choice.positive_bool,
    "round_half_away": rounding.round_half_away,
    "select": choice.select,
    "select_bool": choice.select_bool,
}


def function(name: str) -> Callable[..., Any]:
    """The function that generated source knows as ``name``: operands first, the result array last."""
    own = _OWN.get(name)
    return getattr(np, name) if own is None else own


def is_own(name: str) -> bool:
    """True if ``name`` comes from here rather than from NumPy."""
    return name in _OWN
