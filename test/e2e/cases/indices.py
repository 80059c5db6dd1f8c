"""Results that no loop per dimension names: sums of loops, parts of a tensor, several results over different loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from support.case import Case, some
from support.tensor_text import function, one_generic

_ADD = "arith.addf %acc, %x0 : f32"
_MULTIPLY_ADD = "%p = arith.mulf %x0, %x1 : f32\n    %y = arith.addf %acc, %p : f32"


def _transposed_convolution(x: np.ndarray, w: np.ndarray, start: np.ndarray) -> np.ndarray:
    result = start.copy()
    for at in np.ndindex(*w.shape[:2]):
        result[at[0] : at[0] + 8 : 2, at[1] : at[1] + 8 : 2] += x @ w[at]
    return result


def _on_diagonal(x: np.ndarray, start: np.ndarray) -> np.ndarray:
    return start + np.where(np.arange(6)[:, None] // 3 == np.arange(2), x[:, None], 0).astype(np.float32)


def _at(start: np.ndarray, place: Any, x: np.ndarray) -> np.ndarray:
    result = start.copy()
    result[place] += x
    return result


_SEVERAL = """
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a0 : tensor<5x9xf32>) outs(%a1, %a2 : tensor<5x9xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %old: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    %d = ELEMENT : f32
    linalg.yield %d, %s : f32, f32
  } -> (tensor<5x9xf32>, tensor<5xf32>)"""


def _several(name: str, element: str, numpy: Callable[..., Any]) -> Case:
    shorts = ["5x9xf32", "5x9xf32", "5xf32"]
    body = _SEVERAL.replace("ELEMENT", element)
    text = function(shorts, ["5x9xf32", "5xf32"], body, returned=["%r#0", "%r#1"])
    return Case(name, text, some(*shorts), numpy, 9)


def _one(
    name: str, loops: str, uses: list[str], out: str, body: str, numpy: Callable[..., Any], reduced: str = "",
    length: int = 0,
) -> Case:  # fmt: skip
    shorts = [use.partition("[")[0] for use in (*uses, out)]
    text = one_generic(loops, uses, out, body, reduced=reduced, init=f"%a{len(uses)}")
    return Case(name, text, some(*shorts), numpy, length)


CASES = (
    _several(
        "elements-and-their-sum", "arith.addf %x, %x", lambda x, _, s: (x + x, s + x.sum(axis=1, dtype=np.float32))
    ),
    _several(
        "running-sums-and-the-last",
        "arith.addf %sum, %x",
        lambda x, _, s: (s[:, None] + x.cumsum(axis=1), s + x.sum(axis=1, dtype=np.float32)),
    ),
    _one(
        "product-of-polynomials", "i j", ["4xf32[i]", "5xf32[j]"], "8xf32[i + j]", _MULTIPLY_ADD,
        lambda x, y, start: start + np.convolve(x, y), "i j", 5,
    ),
    _one(
        "transposed-convolution", "h w a b o c", ["4x4x3xf32[h, w, c]", "3x3x3x2xf32[a, b, c, o]"],
        "9x9x2xf32[h * 2 + a, w * 2 + b, o]", _MULTIPLY_ADD, _transposed_convolution, "h w a b c", 27,
    ),
    _one(
        "every-other-element", "i", ["4xf32[i]"], "3x9xf32[2, i * 2 + 1]", _ADD,
        lambda x, start: _at(start, (2, slice(1, 9, 2)), x),
    ),
    _one("block-diagonal", "i", ["6xf32[i]"], "6x2xf32[i, i floordiv 3]", _ADD, _on_diagonal),
    _one("backwards", "i", ["6xf32[i]"], "7xf32[6 - i]", _ADD, lambda x, start: _at(start, slice(1, 7), x[::-1])),
    _one(
        "sums-of-pairs", "i", ["8xf32[i]"], "4xf32[i floordiv 2]", _ADD,
        lambda x, start: start + x[::2] + x[1::2], "i", 3,
    ),
    _one(
        "nearest-neighbours", "i j", ["3x2xf32[i floordiv 2, j floordiv 3]"], "6x6xf32[i, j]", _ADD,
        lambda x, start: start + x.repeat(2, 0).repeat(3, 1),
    ),
)  # fmt: skip
