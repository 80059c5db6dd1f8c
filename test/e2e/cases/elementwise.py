"""Element-wise programs: every rank, broadcasting, transposition, chains, several results, types."""

from collections.abc import Callable
from typing import Any

import numpy as np
from support.case import Case, some
from support.tensor_text import element_of, function, generic, one_generic

_ADD = {
    element: "arith.addf" if element.startswith("f") else "arith.addi"
    for element in ("f32", "f64", "i8", "i16", "i32", "i64", "index")
}


def _added(name: str, loops: str, first: str, second: str, out: str, numpy: Callable[..., Any]) -> Case:
    """The sum of two tensors that the loops read in different ways."""
    element = element_of(out.partition("[")[0])
    text = one_generic(loops, [first, second], out, f"{_ADD[element]} %x0, %x1 : {element}")
    return Case(name, text, some(first.partition("[")[0], second.partition("[")[0]), numpy)


_BROADCASTS = (
    _added("rank-0", "", "f32[]", "f32[]", "f32[]", lambda x, y: x + y),
    _added("rank-1", "i", "53xf32[i]", "53xf32[i]", "53xf32[i]", lambda x, y: x + y),
    _added(
        "rank-4", "i j k l", "3x1x5x2xf32[i, j, k, l]", "3x1x5x2xf32[i, j, k, l]", "3x1x5x2xf32[i, j, k, l]", np.add
    ),
    _added("add-row", "i j", "5x13xf32[i, j]", "13xf32[j]", "5x13xf32[i, j]", np.add),
    _added("add-column", "i j", "5x13xf32[i, j]", "5xf32[i]", "5x13xf32[i, j]", lambda x, y: x + y[:, None]),
    _added("add-scalar", "i j", "5x13xf32[i, j]", "f32[]", "5x13xf32[i, j]", np.add),
    _added("outer-sum", "i j", "11xf32[i]", "6xf32[j]", "11x6xf32[i, j]", lambda x, y: x[:, None] + y),
    _added("unit-size", "i j", "5x13xf32[i, j]", "1x13xf32[0, j]", "5x13xf32[i, j]", np.add),
    _added("middle", "i j k", "3x7x5xf32[i, j, k]", "3x5xf32[i, k]", "3x7x5xf32[i, j, k]", lambda x, y: x + y[:, None]),
    _added("transposed", "i j", "5x13xf32[i, j]", "13x5xf32[j, i]", "5x13xf32[i, j]", lambda x, y: x + y.T),
    _added("transposed-out", "i j", "5x13xf32[i, j]", "13xf32[j]", "13x5xf32[j, i]", lambda x, y: (x + y).T),
    _added(
        "rolled",
        "i j k",
        "3x7x5xf32[i, j, k]",
        "5xf32[k]",
        "5x3x7xf32[k, i, j]",
        lambda x, y: (x + y).transpose(2, 0, 1),
    ),
    _added("one-element", "i j", "1x1xf32[i, j]", "1x1xf32[i, j]", "1x1xf32[i, j]", np.add),
)

_TYPES = tuple(_added(f"add-{e}", "i j", f"9x7x{e}[i, j]", f"7x{e}[j]", f"9x7x{e}[i, j]", np.add) for e in _ADD)

_GELU = """
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.70710678 : f32
  %s = arith.mulf %x0, %scale : f32
  %t = math.tanh %s : f32
  %u = arith.addf %t, %one : f32
  %v = arith.mulf %x0, %half : f32
  %y = arith.mulf %v, %u : f32
"""
_CLIP_OR_KEEP = """
  %c = arith.cmpf olt, %x0, %x1 : f32
  %m = arith.select %c, %x1, %x0 : f32
  %b = arith.xori %x2, %c : i1
  %y = arith.select %b, %m, %x0 : f32
"""
_POSITION = """
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %c13 = arith.constant 13 : index
  %row = arith.muli %i, %c13 : index
  %at = arith.addi %row, %j : index
  %n = arith.index_cast %at : index to i32
  %y = arith.addi %n, %x0 : i32
"""
_BODIES = (
    Case(
        "gelu-like",
        one_generic("i j", ["6x11xf32[i, j]"], "6x11xf32[i, j]", _GELU),
        some("6x11xf32"),
        lambda x: (x * np.float32(0.5)) * (np.tanh(x * np.float32(0.70710678)) + np.float32(1)),
        ulps=16,  # 2 of tanh, which is added to 1 where it is almost -1
    ),
    Case(
        "select-by-compare",
        one_generic("i j", ["6x11xf32[i, j]", "11xf32[j]", "6x11xi1[i, j]"], "6x11xf32[i, j]", _CLIP_OR_KEEP),
        some("6x11xf32", "11xf32", "6x11xi1"),
        lambda x, low, flip: np.where(flip ^ (x < low), np.where(x < low, low, x), x),
    ),
    Case(
        "index",
        one_generic("i j", ["9x13xi32[i, j]"], "9x13xi32[i, j]", _POSITION),
        some("9x13xi32"),
        lambda x: x + np.arange(117, dtype=np.int32).reshape(9, 13),
    ),
    Case(
        "index-transposed",
        one_generic("j i", ["9x13xi32[i, j]"], "9x13xi32[i, j]", _POSITION.replace("c13", "c9").replace("13 :", "9 :")),
        some("9x13xi32"),
        lambda x: x + (9 * np.arange(13) + np.arange(9)[:, None]).astype(np.int32),
    ),
    Case(
        "constant-body",
        one_generic("i", ["37xf32[i]"], "37xf32[i]", "arith.constant 2.5 : f32"),
        some("37xf32"),
        lambda x: np.full(37, 2.5, np.float32),
    ),
    Case(
        "accumulate-in-place",
        one_generic("i", ["37xf32[i]"], "37xf32[i]", "arith.mulf %x0, %acc : f32", init="%a1"),
        some("37xf32", "37xf32"),
        np.multiply,
    ),
)

_CHAIN = "\n".join(
    (
        generic(
            "%h", "i j", [("%a0", "9x8xf32[i, j]"), ("%a1", "8xf32[j]")], "9x8xf32[i, j]", "arith.mulf %x0, %x1 : f32"
        ),
        generic("%e", "i j", [("%h", "9x8xf32[i, j]")], "9x8xf32[i, j]", "math.exp %x0 : f32"),
        generic(
            "%r0",
            "i j",
            [("%e", "9x8xf32[j, i]"), ("%h", "9x8xf32[j, i]")],
            "8x9xf32[i, j]",
            "arith.addf %x0, %x1 : f32",
        ),
        generic(
            "%r1", "i j", [("%h", "9x8xf32[i, j]"), ("%a1", "8xf32[j]")], "9x8xf32[i, j]", "arith.subf %x0, %x1 : f32"
        ),
    )
)
_TWO_RESULTS = """
  %e0 = tensor.empty() : tensor<9x8xf32>
  %e1 = tensor.empty() : tensor<8x9xi1>
  %r0, %r1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a0 : tensor<9x8xf32>) outs(%e0, %e1 : tensor<9x8xf32>, tensor<8x9xi1>) {
  ^bb0(%x: f32, %old0: f32, %old1: i1):
    %zero = arith.constant 0.0 : f32
    %n = arith.negf %x : f32
    %c = arith.cmpf ogt, %x, %zero : f32
    linalg.yield %n, %c : f32, i1
  } -> (tensor<9x8xf32>, tensor<8x9xi1>)
"""
_NAMED = """
  %e = tensor.empty() : tensor<5x6xf32>
  %s = linalg.add ins(%a0, %a1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %x = linalg.exp ins(%s : tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %m = linalg.map { arith.mulf } ins(%x, %a0 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5x6xf32>)
  %t = tensor.empty() : tensor<6x5xf32>
  %r0 = linalg.transpose ins(%m : tensor<5x6xf32>) outs(%t : tensor<6x5xf32>) permutation = [1, 0]
  %w = tensor.empty() : tensor<6x3x5xf32>
  %r1 = linalg.broadcast ins(%r0 : tensor<6x5xf32>) outs(%w : tensor<6x3x5xf32>) dimensions = [1]
  %c = linalg.copy ins(%a1 : tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r2 = linalg.max ins(%c, %a0 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
"""
_ARITH_ON_TENSORS = """
  %two = arith.constant dense<2.0> : tensor<7x5xf32>
  %p = arith.mulf %a0, %two : tensor<7x5xf32>
  %c = arith.cmpf ogt, %p, %a1 : tensor<7x5xf32>
  %s = arith.select %c, %p, %a1 : tensor<7x5xi1>, tensor<7x5xf32>
  %r0 = math.sqrt %s : tensor<7x5xf32>
  %r1 = arith.extui %c : tensor<7x5xi1> to tensor<7x5xi8>
"""


def _named(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    product = (np.exp(x + y) * x).T
    return product, np.repeat(product[:, None], 3, axis=1), np.maximum(y, x)


_PROGRAMS = (
    Case(
        "chain-with-fan-out",
        function(["9x8xf32", "8xf32"], ["8x9xf32", "9x8xf32"], _CHAIN),
        some("9x8xf32", "8xf32"),
        lambda x, y: ((np.exp(x * y) + x * y).T, x * y - y),
        ulps=16,  # 4 of exp, to which a number is added that may be negative
    ),
    Case(
        "two-results",
        function(["9x8xf32"], ["9x8xf32", "8x9xi1"], _TWO_RESULTS),
        some("9x8xf32"),
        lambda x: (-x, (x > 0).T),
    ),
    Case(
        "named-ops",
        function(["5x6xf32"] * 2, ["6x5xf32", "6x3x5xf32", "5x6xf32"], _NAMED),
        some(*["5x6xf32"] * 2),
        _named,
        ulps=4,  # of exp
    ),
    Case(
        "arith-on-tensors",
        function(["7x5xf32", "7x5xf32"], ["7x5xf32", "7x5xi8"], _ARITH_ON_TENSORS),
        some("7x5xf32", "7x5xf32", low=0),
        lambda x, y: (np.sqrt(np.where(2 * x > y, 2 * x, y)), (2 * x > y).astype(np.int8)),
    ),
)

CASES = (*_BROADCASTS, *_TYPES, *_BODIES, *_PROGRAMS)
