"""Small programs, one per kind of op that moves data in a way of its own: windows, gathers, updates, loops."""

import re

import numpy as np
from support.case import Case, some
from support.prefix_windows import window
from support.tensor_text import function, generic

_CONSTANTS = "\n".join(f"  %c{n} = arith.constant {n} : index" for n in range(13)) + "\n"


def _padded(x: np.ndarray) -> np.ndarray:
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def _convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(_padded(x), (3, 3), axis=(1, 2))[:, ::2, ::2]
    return np.einsum("nijckl,klcf->nijf", windows, w)


_CONVOLUTION = """
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x9x9x2xf32> to tensor<1x11x11x2xf32>
  %e = tensor.empty() : tensor<1x5x5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  %r0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%p, %a1 : tensor<1x11x11x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>"""

_POOL = """
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x4x4x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %r0 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%a0, %w : tensor<1x9x9x3xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>"""


def _pooled(x: np.ndarray) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2].max(axis=(-1, -2))


_EMBEDDING = generic(
    "%r0",
    "i j",
    [("%a1", "7xi32[i]")],
    "7x6xf32[i, j]",
    """%j = linalg.index 1 : index
    %n = arith.index_cast %x0 : i32 to index
    %y = tensor.extract %a0[%n, %j] : tensor<20x6xf32>""",
)

_EMBEDDING_GRADIENT = """
  %r0 = scf.for %i = %c0 to %c7 step %c1 iter_args(%t = %a0) -> (tensor<12x6xf32>) {
    %u = scf.for %j = %c0 to %c6 step %c1 iter_args(%v = %t) -> (tensor<12x6xf32>) {
      %id = tensor.extract %a1[%i] : tensor<7xi32>
      %row = arith.index_cast %id : i32 to index
      %g = tensor.extract %a2[%i, %j] : tensor<7x6xf32>
      %old = tensor.extract %v[%row, %j] : tensor<12x6xf32>
      %sum = arith.addf %old, %g : f32
      %w = tensor.insert %sum into %v[%row, %j] : tensor<12x6xf32>
      scf.yield %w : tensor<12x6xf32>
    }
    scf.yield %u : tensor<12x6xf32>
  }"""


def _added(table: np.ndarray, ids: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    result = table.copy()
    np.add.at(result, ids, gradient)
    return result


_SLICE = """
  %at = tensor.extract %a1[] : tensor<i32>
  %n = arith.index_cast %at : i32 to index
  %m = arith.maxsi %n, %c0 : index
  %row = arith.minsi %m, %c8 : index
  %r0 = tensor.extract_slice %a0[%row, 0] [4, 5] [1, 1] : tensor<12x5xf32> to tensor<4x5xf32>"""

_CACHE = """
  %at = tensor.extract %a2[] : tensor<i32>
  %n = arith.index_cast %at : i32 to index
  %m = arith.maxsi %n, %c0 : index
  %row = arith.minsi %m, %c7 : index
  %r0 = tensor.insert_slice %a1 into %a0[%row, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>"""


def _cached(cache: np.ndarray, new: np.ndarray, at: np.ndarray) -> np.ndarray:
    result = cache.copy()
    result[int(at)] = new[0]
    return result


_SCAN = """
  %e = tensor.empty() : tensor<6x9xf32>
  %s, %r0 = scf.for %i = %c0 to %c6 step %c1 iter_args(%state = %a1, %rows = %e) -> (tensor<9xf32>, tensor<6x9xf32>) {
    %x = tensor.extract_slice %a0[%i, 0] [1, 9] [1, 1] : tensor<6x9xf32> to tensor<9xf32>
    %sum = arith.addf %state, %x : tensor<9xf32>
    %more = tensor.insert_slice %sum into %rows[%i, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<6x9xf32>
    scf.yield %sum, %more : tensor<9xf32>, tensor<6x9xf32>
  }"""

_SUMMED_AREA = "\n".join(
    (
        re.sub("%(?!a0)([a-z])", r"%row_\1", window("6x9xf32", 1, False, "arith.addf", "0.0")),
        window("6x9xf32", 0, False, "arith.addf", "0.0").replace("%a0", "%row_r0"),
    )
)

_SORT = """
  %e = tensor.empty() : tensor<12xf32>
  %r0 = scf.for %i = %c0 to %c12 step %c1 iter_args(%t = %e) -> (tensor<12xf32>) {
    %mine = tensor.extract %a0[%i] : tensor<12xf32>
    %rank = scf.for %j = %c0 to %c12 step %c1 iter_args(%n = %c0) -> (index) {
      %other = tensor.extract %a0[%j] : tensor<12xf32>
      %less = arith.cmpf olt, %other, %mine : f32
      %more = arith.addi %n, %c1 : index
      %count = arith.select %less, %more, %n : index
      scf.yield %count : index
    }
    %w = tensor.insert %mine into %t[%rank] : tensor<12xf32>
    scf.yield %w : tensor<12xf32>
  }"""

_TOP = """
  %e = tensor.empty() : tensor<3xf32>
  %r0 = scf.for %i = %c0 to %c12 step %c1 iter_args(%t = %e) -> (tensor<3xf32>) {
    %mine = tensor.extract %a0[%i] : tensor<12xf32>
    %rank = scf.for %j = %c0 to %c12 step %c1 iter_args(%n = %c0) -> (index) {
      %other = tensor.extract %a0[%j] : tensor<12xf32>
      %less = arith.cmpf ogt, %other, %mine : f32
      %more = arith.addi %n, %c1 : index
      %count = arith.select %less, %more, %n : index
      scf.yield %count : index
    }
    %is_top = arith.cmpi ult, %rank, %c3 : index
    %u = scf.if %is_top -> (tensor<3xf32>) {
      %w = tensor.insert %mine into %t[%rank] : tensor<3xf32>
      scf.yield %w : tensor<3xf32>
    } else {
      scf.yield %t : tensor<3xf32>
    }
    scf.yield %u : tensor<3xf32>
  }"""

_WHILE = """
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %low = arith.constant 0xFF800000 : f32
  %r0 = scf.while (%x = %a0) : (tensor<12xf32>) -> (tensor<12xf32>) {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %m = linalg.reduce ins(%x : tensor<12xf32>) outs(%f : tensor<f32>) dimensions = [0]
      (%in: f32, %acc: f32) {
        %larger = arith.maximumf %in, %acc : f32
        linalg.yield %larger : f32
      }
    %largest = tensor.extract %m[] : tensor<f32>
    %goes_on = arith.cmpf ogt, %largest, %one : f32
    scf.condition(%goes_on) %x : tensor<12xf32>
  } do {
  ^bb0(%x: tensor<12xf32>):
    %halves = tensor.splat %half : tensor<12xf32>
    %y = arith.mulf %x, %halves : tensor<12xf32>
    scf.yield %y : tensor<12xf32>
  }"""


def _halved(x: np.ndarray) -> np.ndarray:
    while x.max() > 1:
        x = x * np.float32(0.5)
    return x


_IDS = np.array([3, 0, 11, 3, 5, 7, 3], np.int32)
_X12 = some("12xf32", low=0, high=9)


def _case(name: str, takes: list[str], gives: str, body: str, inputs, expected, sum_length: int = 0) -> Case:
    return Case(name, function(takes, [gives], _CONSTANTS + body), tuple(inputs), expected, sum_length)


KINDS = {
    case.name: case
    for case in (
        _case(
            "convolution",
            ["1x9x9x2xf32", "3x3x2x4xf32"],
            "1x5x5x4xf32",
            _CONVOLUTION,
            some("1x9x9x2xf32", "3x3x2x4xf32", low=1),
            _convolved,
            18,
        ),
        _case("max-pool", ["1x9x9x3xf32"], "1x4x4x3xf32", _POOL, some("1x9x9x3xf32"), _pooled),
        _case(
            "embedding",
            ["20x6xf32", "7xi32"],
            "7x6xf32",
            _EMBEDDING,
            (*some("20x6xf32"), _IDS),
            lambda table, ids: table[ids],
        ),
        _case(
            "embedding-gradient",
            ["12x6xf32", "7xi32", "7x6xf32"],
            "12x6xf32",
            _EMBEDDING_GRADIENT,
            (some("12x6xf32")[0], _IDS, some("7x6xf32")[0]),
            _added,
            3,
        ),
        _case(
            "dynamic-slice",
            ["12x5xf32", "i32"],
            "4x5xf32",
            _SLICE,
            (*some("12x5xf32"), np.array(6, np.int32)),
            lambda x, at: x[int(at) : int(at) + 4],
        ),
        _case(
            "key-value-cache",
            ["8x4xf32", "1x4xf32", "i32"],
            "8x4xf32",
            _CACHE,
            (*some("8x4xf32", "1x4xf32"), np.array(5, np.int32)),
            _cached,
        ),
        _case(
            "scan", ["6x9xf32", "9xf32"], "6x9xf32", _SCAN, some("6x9xf32", "9xf32"),
            lambda x, start: np.cumsum(np.vstack([start, x]), axis=0, dtype=np.float32)[1:], 6,
        ),
        _case(
            "summed-area", ["6x9xf32"], "6x9xf32", _SUMMED_AREA, some("6x9xf32"),
            lambda x: np.cumsum(np.cumsum(x, axis=1, dtype=np.float32), axis=0, dtype=np.float32), 54,
        ),
        _case("sort", ["12xf32"], "12xf32", _SORT, _X12, np.sort),
        _case("top-k", ["12xf32"], "3xf32", _TOP, _X12, lambda x: np.sort(x)[:-4:-1]),
        _case("while", ["12xf32"], "12xf32", _WHILE, _X12, _halved),
    )
}  # fmt: skip
"""By name; every one has floats as results, where poison shows."""
