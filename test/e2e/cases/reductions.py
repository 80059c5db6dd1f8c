"""Reductions: every combiner and type, over any loops, to any rank; and what is made of several of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from support.case import Case, some
from support.tensor_text import function, generic, one_generic, shape_of

_COMBINERS: dict[tuple[str, str], tuple[str, str, Any]] = {
    ("add", "f32"): ("arith.addf", "0.0", np.add),
    ("add", "f64"): ("arith.addf", "0.0", np.add),
    ("add", "i8"): ("arith.addi", "0", np.add),
    ("add", "i32"): ("arith.addi", "0", np.add),
    ("add", "i64"): ("arith.addi", "0", np.add),
    ("mul", "f32"): ("arith.mulf", "1.0", np.multiply),
    ("mul", "i32"): ("arith.muli", "1", np.multiply),
    ("max", "f32"): ("arith.maximumf", "0xFF800000", np.maximum),
    ("min", "f32"): ("arith.minimumf", "0x7F800000", np.minimum),
    ("maxnum", "f32"): ("arith.maxnumf", "0xFF800000", np.fmax),
    ("minnum", "f32"): ("arith.minnumf", "0x7F800000", np.fmin),
    ("max", "i32"): ("arith.maxsi", "-2147483648", np.maximum),
    ("min", "i32"): ("arith.minsi", "2147483647", np.minimum),
    ("max", "i16"): ("arith.maxsi", "-32768", np.maximum),
    ("and", "i32"): ("arith.andi", "-1", np.bitwise_and),
    ("or", "i32"): ("arith.ori", "0", np.bitwise_or),
    ("xor", "i32"): ("arith.xori", "0", np.bitwise_xor),
    ("and", "i1"): ("arith.andi", "true", np.logical_and),
    ("or", "i1"): ("arith.ori", "false", np.logical_or),
}
"""Per combiner and type: the op, its neutral element, and the ufunc."""

_LAYOUTS = {
    "rows": ("i j", "j", "7x19{e}[i, j]", "7{e}[i]", 1),
    "columns": ("i j", "i", "7x19{e}[i, j]", "19{e}[j]", 0),
    "all": ("i j", "i j", "7x19{e}[i, j]", "{e}[]", (0, 1)),
}
"""Loops, which are reduced, how the operand and the result are read, and the axes for NumPy."""

_FURTHER_LAYOUTS = {
    "vector": ("i", "i", "101xf32[i]", "f32[]", 0),
    "middle": ("i k j", "j", "3x11x5xf32[i, j, k]", "3x5xf32[i, k]", 1),
    "outer-and-inner": ("i j k", "i k", "3x11x5xf32[i, j, k]", "11xf32[j]", (0, 2)),
    "one-of-one": ("i j", "j", "7x1xf32[i, j]", "7xf32[i]", 1),
    "last-of-four": ("a b c d", "d", "2x3x2x9xf32[a, b, c, d]", "2x3x2xf32[a, b, c]", 3),
}


def _reduction(name: str, combiner: tuple[str, str], layout: tuple[str, str, str, str, Any]) -> Case:
    loops, reduced, use, out, axes = layout
    element = combiner[1]
    op, neutral, ufunc = _COMBINERS[combiner]
    short = use.partition("[")[0]
    text = one_generic(loops, [use], out, f"{op} %acc, %x0 : {element}", reduced=reduced, init=neutral)
    shape = shape_of(short)
    length = int(np.prod([shape[axis] for axis in np.atleast_1d(axes)]))
    rounds = element.startswith("f") and combiner[0] in ("add", "mul")
    dtype = some(short)[0].dtype
    return Case(name, text, some(short), lambda x: ufunc.reduce(x, axes, dtype), length if rounds else 0)


def _table() -> list[Case]:
    found = []
    for combiner in _COMBINERS:
        for name, (loops, reduced, use, out, axes) in _LAYOUTS.items():
            element = combiner[1]
            filled = (
                use.replace("{e}", f"x{element}"),
                out.replace("{e}[]", f"{element}[]").replace("{e}", f"x{element}"),
            )
            found.append(_reduction("-".join((*combiner, name)), combiner, (loops, reduced, *filled, axes)))
    found += [_reduction(f"add-{name}", ("add", "f32"), layout) for name, layout in _FURTHER_LAYOUTS.items()]
    found += [_reduction(f"max-{name}", ("max", "f32"), layout) for name, layout in _FURTHER_LAYOUTS.items()]
    return found


def _with_nan(ufunc: Any, op: str, neutral: str) -> Case:
    (x,) = some("9x8xf32")
    x[2, 3], x[5] = np.nan, np.nan
    text = one_generic("i j", ["9x8xf32[i, j]"], "9xf32[i]", f"{op} %x0, %acc : f32", reduced="j", init=neutral)
    return Case(f"{op}-of-nan", text, (x,), lambda x: ufunc.reduce(x, 1, initial=np.float32(float(neutral_value(op)))))


def neutral_value(op: str) -> float:
    """What ``arith.max*`` and ``arith.min*`` start from."""
    return -np.inf if "max" in op else np.inf


_SUM_OF_SQUARES = "%s = arith.mulf %x0, %x0 : f32\n    %y = arith.addf %acc, %s : f32"
_COUNT_IF = """
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : i32
    %c = arith.cmpf ogt, %x0, %zero : f32
    %n = arith.select %c, %one, %none : i32
    %y = arith.addi %acc, %n : i32
"""
_SUM_OF_INDICES = """
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %p = arith.muli %n, %x0 : i32
    %y = arith.addi %p, %acc : i32
"""
_SOFTMAX = "\n".join(
    (
        generic("%m", "i j", [("%a0", "6x10xf32[i, j]")], "6xf32[i]", "arith.maximumf %x0, %acc : f32",
                reduced="j", init="0xFF800000"),
        generic("%e", "i j", [("%a0", "6x10xf32[i, j]"), ("%m", "6xf32[i]")], "6x10xf32[i, j]",
                "%d = arith.subf %x0, %x1 : f32\n    %y = math.exp %d : f32"),
        generic("%s", "i j", [("%e", "6x10xf32[i, j]")], "6xf32[i]", "arith.addf %x0, %acc : f32",
                reduced="j", init="0.0"),
        generic("%r0", "i j", [("%e", "6x10xf32[i, j]"), ("%s", "6xf32[i]")], "6x10xf32[i, j]",
                "arith.divf %x0, %x1 : f32"),
    )
)  # fmt: skip
_NAMED_REDUCE = """
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<6x4xf32>) -> tensor<6x4xf32>
  %r0 = linalg.reduce { arith.addf } ins(%a0 : tensor<6x9x4xf32>) outs(%start : tensor<6x4xf32>) dimensions = [1]
"""
_TWO_IN_ONE = """
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %maxima = linalg.fill ins(%least : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %r0, %r1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a0 : tensor<6x10xf32>) outs(%sums, %maxima : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%x: f32, %sum: f32, %max: f32):
    %s = arith.addf %sum, %x : f32
    %m = arith.maximumf %max, %x : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
"""


def _softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def _one(
    name: str, use: str, out: str, body: str, init: str, numpy: Callable[..., Any], length: int, **data: float
) -> Case:
    """A reduction over the second of two loops, from ``init``."""
    shorts = [use.partition("[")[0], *([out.partition("[")[0]] if init.startswith("%") else [])]
    return Case(
        name, one_generic("i j", [use], out, body, reduced="j", init=init), some(*shorts, **data), numpy, length
    )


_FURTHER = (
    _with_nan(np.maximum, "arith.maximumf", "0xFF800000"),
    _with_nan(np.minimum, "arith.minimumf", "0x7F800000"),
    _with_nan(np.fmax, "arith.maxnumf", "0xFF800000"),
    _with_nan(np.fmin, "arith.minnumf", "0x7F800000"),
    _one("sum-of-squares", "7x19xf32[i, j]", "7xf32[i]", _SUM_OF_SQUARES, "0.0", lambda x: (x * x).sum(axis=1), 19),
    _one("sum-added-to-an-argument", "7x19xf32[i, j]", "7xf32[i]", "arith.addf %acc, %x0 : f32", "%a1",
         lambda x, y: y + x.sum(axis=1), 20),
    _one("max-with-an-argument", "7x19xi32[i, j]", "7xi32[i]", "arith.maxsi %acc, %x0 : i32", "%a1",
         lambda x, y: np.maximum(y, x.max(axis=1)), 0, low=-90, high=90),
    _one("transposed-operand", "19x7xf32[j, i]", "7xf32[i]", "arith.addf %acc, %x0 : f32", "0.0",
         lambda x: x.sum(axis=0), 19),
    _one("count-if", "7x19xf32[i, j]", "7xi32[i]", _COUNT_IF, "0", lambda x: (x > 0).sum(axis=1).astype(np.int32), 0),
    _one("weighted-by-index", "7x19xi32[i, j]", "7xi32[i]", _SUM_OF_INDICES, "0",
         lambda x: x @ np.arange(19, dtype=np.int32), 0),
    _one("unsigned-max", "7x19xi8[i, j]", "7xi8[i]", "arith.maxui %acc, %x0 : i8", "0",
         lambda x: x.view(np.uint8).max(axis=1).view(np.int8), 0, low=-128, high=127),
    _one("wraps-around", "7x19xi8[i, j]", "7xi8[i]", "arith.addi %acc, %x0 : i8", "100",
         lambda x: (x.sum(axis=1, dtype=np.int64) + 100).astype(np.int8), 0, low=-128, high=127),
    Case("softmax", function(["6x10xf32"], ["6x10xf32"], _SOFTMAX), some("6x10xf32"), _softmax, 10),
    Case("named-reduce", function(["6x9x4xf32"], ["6x4xf32"], _NAMED_REDUCE), some("6x9x4xf32"),
         lambda x: x.sum(axis=1), 9),
    Case("sum-and-max-at-once", function(["6x10xf32"], ["6xf32", "6xf32"], _TWO_IN_ONE), some("6x10xf32"),
         lambda x: (x.sum(axis=1), x.max(axis=1)), 10),
)  # fmt: skip

CASES = (*_table(), *_FURTHER)
