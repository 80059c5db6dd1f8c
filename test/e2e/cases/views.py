"""Programs that move or rename elements: reshapes, transposes, slices, pads, concatenation, fills and constants."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.case import Case, some
from support.tensor_text import function, generic

_DOUBLE = "arith.addf %x0, %x0 : f32"


def _case(name: str, arguments: Sequence[str], results: Sequence[str], body: str, numpy: Callable[..., Any]) -> Case:
    return Case(name, function(arguments, results, body), some(*arguments), numpy)


def _doubled(result: str, value: str, short: str, indices: str = "i, j") -> str:
    """Text: ``result`` is ``value`` times two."""
    use = f"{short}[{indices}]"
    return generic(result, indices.replace(",", ""), [(value, use)], use, _DOUBLE)


_PAD = """
  %r0 = tensor.pad %a0 low[1, 0] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<5x7xf32> to tensor<8x10xf32>
"""
_VALUE = "  %value = arith.constant 1.5 : f32\n"
_INSERT = (
    "  %r0 = tensor.insert_slice %a0 into %a1[2, 1] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<8x9xf32>\n"
    "  %r1 = tensor.insert_slice %a0 into %a1[1, 0] [3, 5] [2, 2] : tensor<3x5xf32> into tensor<8x9xf32>"
)
_CONSTANTS = """
  %table = arith.constant dense<[[1.0, -2.0, 3.0], [4.5, 0.0, -6.0]]> : tensor<2x3xf32>
  %r0 = arith.addf %a0, %table : tensor<2x3xf32>
  %r1 = arith.constant dense<7> : tensor<5xi32>
  %r2 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %r3 = arith.constant dense<2.5> : tensor<f64>
"""
_FILLS = """
  %seven = arith.constant 7 : i16
  %empty = tensor.empty() : tensor<9x5xi16>
  %r0 = linalg.fill ins(%seven : i16) outs(%empty : tensor<9x5xi16>) -> tensor<9x5xi16>
"""


_PACK = """
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x2x2x3xf32>
  %r0 = linalg.pack %a0 padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e0
      : tensor<5x6xf32> -> tensor<3x2x2x3xf32>
  %e1 = tensor.empty() : tensor<5x6xf32>
  %r1 = linalg.unpack %r0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e1
      : tensor<3x2x2x3xf32> -> tensor<5x6xf32>
"""


def _packed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.pad(x, ((0, 1), (0, 0))).reshape(3, 2, 2, 3).transpose(0, 2, 1, 3), x


def _inserted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dense, strided = y.copy(), y.copy()
    dense[2:5, 1:6], strided[1:6:2, 0:9:2] = x, x
    return dense, strided


_BEGIN_ALIKE = """
  %r0 = tensor.concat dim(1) %a0, %a1, %a2 : (tensor<5x7xf32>, tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<5x14xf32>
  %r1 = tensor.concat dim(1) %a0, %a1, %a3 : (tensor<5x7xf32>, tensor<5x4xf32>, tensor<5x3xf32>) -> tensor<5x14xf32>
"""
_WRAP = """
  %e = tensor.empty() : tensor<4x9xf32>
  %m = tensor.insert_slice %a0 into %e[0, 1] [4, 7] [1, 1] : tensor<4x7xf32> into tensor<4x9xf32>
  %x = tensor.extract_slice %m[0, 7] [4, 1] [1, 1] : tensor<4x9xf32> to tensor<4x1xf32>
  %l = tensor.insert_slice %x into %m[0, 0] [4, 1] [1, 1] : tensor<4x1xf32> into tensor<4x9xf32>
  %y = tensor.extract_slice %l[0, 1] [4, 1] [1, 1] : tensor<4x9xf32> to tensor<4x1xf32>
  %r0 = tensor.insert_slice %y into %l[0, 8] [4, 1] [1, 1] : tensor<4x1xf32> into tensor<4x9xf32>
"""
_CUT = """
  %r0 = tensor.pad %a0 low[1, -2] high[-3, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<5x7xf32> to tensor<3x6xf32>
"""
_ROLL = """
  %h = tensor.extract_slice %a0[0, 5] [4, 2] [1, 1] : tensor<4x7xf32> to tensor<4x2xf32>
  %x = tensor.cast %h : tensor<4x2xf32> to tensor<4x?xf32>
  %l = tensor.extract_slice %a0[0, 0] [4, 5] [1, 1] : tensor<4x7xf32> to tensor<4x5xf32>
  %y = tensor.cast %l : tensor<4x5xf32> to tensor<4x?xf32>
  %r0 = tensor.concat dim(1) %x, %y : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x7xf32>
"""
_SHIFTS = """
  %n = tensor.extract_slice %a0[0, 2] [9, 11] [1, 1] : tensor<12x15xf32> to tensor<9x11xf32>
  %w = tensor.extract_slice %a0[2, 0] [9, 11] [1, 1] : tensor<12x15xf32> to tensor<9x11xf32>
  %s = tensor.extract_slice %a0[3, 4] [9, 11] [1, 1] : tensor<12x15xf32> to tensor<9x11xf32>
"""


def _shifted(x: np.ndarray) -> np.ndarray:
    return (x[:9, 2:13] - x[2:11, :11]) * x[3:, 4:]


_FROM_FRAMEWORKS = (
    _case("shifts", ["12x15xf32"], ["9x11xf32"],
          _SHIFTS + generic("%r0", "i j", [(value, "9x11xf32[i, j]") for value in ("%n", "%w", "%s")], "9x11xf32[i, j]",
                            "%d = arith.subf %x0, %x1 : f32\n%y = arith.mulf %d, %x2 : f32"), _shifted),
    _case("concatenations-that-begin-alike", ["5x7xf32", "5x4xf32", "5x3xf32", "5x3xf32"], ["5x14xf32"] * 2,
          _BEGIN_ALIKE, lambda a, b, c, d: (np.concatenate((a, b, c), axis=1), np.concatenate((a, b, d), axis=1))),
    _case("pad-that-wraps-around", ["4x7xf32"], ["4x9xf32"], _WRAP, lambda x: np.pad(x, ((0, 0), (1, 1)), "wrap")),
    _case("pad-that-cuts-off", ["5x7xf32"], ["3x6xf32"], _VALUE + _CUT,
          lambda x: np.pad(x[:2, 2:], ((1, 0), (0, 1)), constant_values=np.float32(1.5))),
    _case("roll-of-sizes-that-are-cast-away", ["4x7xf32"], ["4x7xf32"], _ROLL, lambda x: np.roll(x, 2, axis=1)),
)  # fmt: skip

_RESHAPES = (
    _case("pack-and-unpack", ["5x6xf32"], ["3x2x2x3xf32", "5x6xf32"], _PACK, _packed),
    _case("collapse", ["4x6x5xf32"], ["4x30xf32"],
          "  %c = tensor.collapse_shape %a0 [[0], [1, 2]] : tensor<4x6x5xf32> into tensor<4x30xf32>\n"
          + _doubled("%r0", "%c", "4x30xf32"), lambda x: 2 * x.reshape(4, 30)),
    _case("expand", ["4x30xf32"], ["4x6x5xf32"],
          "  %c = tensor.expand_shape %a0 [[0], [1, 2]] output_shape [4, 6, 5] "
          ": tensor<4x30xf32> into tensor<4x6x5xf32>\n"
          + _doubled("%r0", "%c", "4x6x5xf32", "i, j, k"), lambda x: 2 * x.reshape(4, 6, 5)),
    _case("collapse-of-a-result", ["7x9xf32"], ["63xf32"],
          _doubled("%d", "%a0", "7x9xf32")
          + "\n  %r0 = tensor.collapse_shape %d [[0, 1]] : tensor<7x9xf32> into tensor<63xf32>",
          lambda x: 2 * x.ravel()),
    _case("only-a-reshape", ["7x9xf32"], ["63xf32"],
          "  %r0 = tensor.collapse_shape %a0 [[0, 1]] : tensor<7x9xf32> into tensor<63xf32>", np.ravel),
    _case("to-rank-0-and-back", ["1x1xf32"], ["1xf32"],
          "  %s = tensor.collapse_shape %a0 [] : tensor<1x1xf32> into tensor<f32>\n"
          + generic("%d", "", [("%s", "f32[]")], "f32[]", _DOUBLE)
          + "\n  %r0 = tensor.expand_shape %d [] output_shape [1] : tensor<f32> into tensor<1xf32>",
          lambda x: 2 * x[0]),
    _case("reshaped-in-other-rows", ["4x6xf32", "3x8xf32"], ["3x8xf32"],
          "  %f = tensor.collapse_shape %a0 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>\n"
          "  %g = tensor.expand_shape %f [[0, 1]] output_shape [3, 8] : tensor<24xf32> into tensor<3x8xf32>\n"
          + generic("%r0", "i j", [("%g", "3x8xf32[i, j]"), ("%a1", "3x8xf32[i, j]")], "3x8xf32[i, j]",
                    "arith.mulf %x0, %x1 : f32"), lambda x, y: x.reshape(3, 8) * y),
)  # fmt: skip

_TRANSPOSES = (
    _case("only-a-transpose", ["9x7xf32"], ["7x9xf32"],
          "  %e = tensor.empty() : tensor<7x9xf32>\n"
          "  %r0 = linalg.transpose ins(%a0 : tensor<9x7xf32>) outs(%e : tensor<7x9xf32>) permutation = [1, 0]",
          np.transpose),
    _case("transpose-of-rank-3", ["3x5x7xi32"], ["7x3x5xi32"],
          "  %e = tensor.empty() : tensor<7x3x5xi32>\n"
          "  %r0 = linalg.transpose ins(%a0 : tensor<3x5x7xi32>) outs(%e : tensor<7x3x5xi32>) permutation = [2, 0, 1]",
          lambda x: x.transpose(2, 0, 1)),
    _case("reshape-of-a-transpose", ["9x7xf32"], ["63xf32"],
          "  %e = tensor.empty() : tensor<7x9xf32>\n"
          "  %t = linalg.transpose ins(%a0 : tensor<9x7xf32>) outs(%e : tensor<7x9xf32>) permutation = [1, 0]\n"
          "  %r0 = tensor.collapse_shape %t [[0, 1]] : tensor<7x9xf32> into tensor<63xf32>", lambda x: x.T.ravel()),
)  # fmt: skip

_SLICES = (
    _case("slice", ["9x13xf32"], ["4x6xf32"],
          "  %s = tensor.extract_slice %a0[3, 5] [4, 6] [1, 1] : tensor<9x13xf32> to tensor<4x6xf32>\n"
          + _doubled("%r0", "%s", "4x6xf32"), lambda x: 2 * x[3:7, 5:11]),
    _case("strided-slice", ["9x13xf32"], ["4x5xf32"],
          "  %s = tensor.extract_slice %a0[1, 0] [4, 5] [2, 3] : tensor<9x13xf32> to tensor<4x5xf32>\n"
          + _doubled("%r0", "%s", "4x5xf32"), lambda x: 2 * x[1:9:2, 0:13:3]),
    _case("only-a-slice", ["9x13xf32"], ["13xf32"],
          "  %r0 = tensor.extract_slice %a0[4, 0] [1, 13] [1, 1] : tensor<9x13xf32> to tensor<13xf32>", lambda x: x[4]),
    _case("two-halves-of-a-result", ["6x10xf32"], ["6x5xf32"],
          _doubled("%d", "%a0", "6x10xf32")
          + "\n  %l = tensor.extract_slice %d[0, 0] [6, 5] [1, 1] : tensor<6x10xf32> to tensor<6x5xf32>\n"
          "  %h = tensor.extract_slice %d[0, 5] [6, 5] [1, 1] : tensor<6x10xf32> to tensor<6x5xf32>\n"
          + generic("%r0", "i j", [("%l", "6x5xf32[i, j]"), ("%h", "6x5xf32[i, j]")], "6x5xf32[i, j]",
                    "arith.mulf %x0, %x1 : f32"), lambda x: 4 * x[:, :5] * x[:, 5:]),
    _case("insert-slice", ["3x5xf32", "8x9xf32"], ["8x9xf32"] * 2, _INSERT, _inserted),
    _case("insert-a-result", ["3x5xf32", "8x9xf32"], ["8x9xf32"],
          _doubled("%d", "%a0", "3x5xf32") + "\n" + _doubled("%b", "%a1", "8x9xf32")
          + "\n  %r0 = tensor.insert_slice %d into %b[2, 1] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<8x9xf32>",
          lambda x, y: 2 * _inserted(x, y)[0]),
    _case("pad", ["5x7xf32"], ["8x10xf32"], _VALUE + _PAD,
          lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=np.float32(1.5))),
    _case("pad-of-a-result", ["5x7xf32"], ["8x10xf32"],
          _VALUE + _doubled("%d", "%a0", "5x7xf32") + _PAD.replace("%a0", "%d"),
          lambda x: np.pad(2 * x, ((1, 2), (0, 3)), constant_values=np.float32(1.5))),
    _case("concat", ["5x7xf32", "5x4xf32", "5x7xf32"], ["5x18xf32"],
          "  %r0 = tensor.concat dim(1) %a0, %a1, %a2 : "
          "(tensor<5x7xf32>, tensor<5x4xf32>, tensor<5x7xf32>) -> tensor<5x18xf32>",
          lambda *parts: np.concatenate(parts, axis=1)),
    _case("concat-of-results", ["5x7xf32", "2x7xf32"], ["7x7xf32"],
          _doubled("%d", "%a0", "5x7xf32") + "\n" + _doubled("%f", "%a1", "2x7xf32")
          + "\n  %c = tensor.concat dim(0) %d, %f : (tensor<5x7xf32>, tensor<2x7xf32>) -> tensor<7x7xf32>\n"
          + _doubled("%r0", "%c", "7x7xf32"), lambda x, y: 4 * np.concatenate([x, y])),
)  # fmt: skip

_READ_FOR_NOTHING = "\n".join(
    (
        "  %i = tensor.insert_slice %a0 into %a1[0] [2] [1] : tensor<2xi32> into tensor<4xi32>",
        "  %x = tensor.expand_shape %i [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>",
        generic("%d", "i j", [("%x", "2x2xi32[i, j]"), ("%a2", "2x2xi32[i, j]")], "2x2xi32[i, j]",
                "arith.subi %x0, %x1 : i32"),
        generic("%r0", "i j", [("%d", "2x2xi32[i, j]"), ("%x", "2x2xi32[i, j]")], "2x2xi32[i, j]",
                "arith.subi %x0, %x1 : i32"),
        "  %r1 = tensor.cast %i : tensor<4xi32> to tensor<4xi32>",
    )
)  # fmt: skip

_SOURCES = (
    _case("constants", ["2x3xf32"], ["2x3xf32", "5xi32", "3xi1", "f64"], _CONSTANTS,
          lambda x: (x + np.array([[1, -2, 3], [4.5, 0, -6]], np.float32), np.full(5, 7, np.int32),
                     np.array([True, False, True]), np.float64(2.5))),
    _case("fills", ["f32"], ["9x5xi16", "41xf32"],
          _FILLS + generic("%r1", "i", [("%a0", "f32[]")], "41xf32[i]", "arith.addf %x0, %x0 : f32"),
          lambda x: (np.full((9, 5), 7, np.int16), np.full(41, 2 * x, np.float32))),
    _case("result-is-an-argument", ["9x5xf32", "3xi8"], ["3xi8", "9x5xf32"],
          "  %n = arith.constant 0 : index\n  %r0 = tensor.cast %a1 : tensor<3xi8> to tensor<3xi8>\n"
          "  %r1 = tensor.cast %a0 : tensor<9x5xf32> to tensor<9x5xf32>", lambda x, y: (y, x)),
    _case("one-value-twice", ["9x5xf32"], ["9x5xf32", "45xf32"],
          _doubled("%r0", "%a0", "9x5xf32")
          + "\n  %r1 = tensor.collapse_shape %r0 [[0, 1]] : tensor<9x5xf32> into tensor<45xf32>",
          lambda x: (2 * x, 2 * x.ravel())),
)  # fmt: skip

_REGRESSIONS = (
    # x - a2 - x loses its reads of x but not the operand, a view that is made after the op that this one joins
    _case("operand-that-no-body-reads", ["2xi32", "4xi32", "2x2xi32"], ["2x2xi32", "4xi32"], _READ_FOR_NOTHING,
          lambda x, y, z: (-z, np.concatenate([x, y[2:]]))),
    # the copy of the reshaped argument, which is updated, must not be what parts of the old value show
    _case("parts-of-a-reshaped-argument-beside-its-update", ["4x6xf32"], ["f32", "8xf32", "24xf32"],
          """  %flat = tensor.collapse_shape %a0 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %r0 = tensor.extract_slice %flat[5] [1] [1] : tensor<24xf32> to tensor<f32>
  %r1 = tensor.extract_slice %flat[3] [8] [2] : tensor<24xf32> to tensor<8xf32>
  %one = arith.constant 1.0 : f32
  %c5 = arith.constant 5 : index
  %r2 = tensor.insert %one into %flat[%c5] : tensor<24xf32>""",
          lambda x: (x[0, 5], x.ravel()[3:19:2], np.where(np.arange(24) == 5, np.float32(1), x.ravel()))),
)  # fmt: skip

CASES = (*_FROM_FRAMEWORKS, *_RESHAPES, *_TRANSPOSES, *_SLICES, *_SOURCES, *_REGRESSIONS)
