"""Programs of windows that slide over a tensor, read what they need and leave the rest."""

import numpy as np
from support.case import Case, some
from support.tensor_text import one_generic

_SUM, _MAX = "arith.addf %acc, %x0 : f32", "arith.maximumf %acc, %x0 : f32"
_PRODUCT = "%p = arith.mulf %x0, %x1 : f32\n    %y = arith.addf %acc, %p : f32"


def _sum_of_three(x: np.ndarray, _: np.ndarray) -> np.ndarray:
    return x[:3].sum(keepdims=True)


CASES = (
    Case(
        "one-window-over-part-of-its-operand",
        one_generic("i k", ["4xf32[i + k]", "3xf32[k]"], "1xf32[i]", _SUM, reduced="k", init="0.0"),
        some("4xf32", "3xf32"),
        _sum_of_three,
        sum_length=3,
    ),
    Case(
        "windows-of-one-element-over-part-of-their-operand",
        one_generic("i k", ["3xf32[i + k]", "1xf32[k]"], "2xf32[i]", _PRODUCT, reduced="k", init="0.0"),
        some("3xf32", "1xf32"),
        lambda x, w: x[:2] * w,
        sum_length=1,
    ),
    Case(
        "one-row-of-pools-with-a-stride",
        one_generic(
            "i j k l",
            ["3x7xf32[i * 2 + k, j * 2 + l]", "2x2xf32[k, l]"],
            "1x3xf32[i, j]",
            _MAX,
            reduced="k l",
            init="0xFF800000",
        ),
        some("3x7xf32", "2x2xf32"),
        lambda x, _: x[:2, :6].reshape(1, 2, 3, 2).max(axis=(1, 3)),
    ),
)
