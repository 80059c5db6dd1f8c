"""Programs that read and write elements at places that are known only when they run."""

import numpy as np
from support.case import Case
from support.tensor_text import function, generic

_TABLE = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
_BIG = np.arange(6, dtype=np.float32).reshape(2, 3)
_SMALL = np.array([[10, 20], [30, 40]], np.float32)

_REVERSED = """%i = linalg.index 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %k = arith.subi %one, %i : index
    %j = arith.index_cast %x0 : i32 to index
    %y = tensor.extract %a1[%k, %two, %j] : tensor<2x3x2xf32>"""
_UPDATE_IN_ONE_PLACE = """  %at = tensor.extract %a2[] : tensor<index>
  %zero = arith.constant 0 : index
  %low = arith.maxsi %at, %zero : index
  %row = arith.minsi %low, %zero : index
  %r0 = tensor.insert_slice %a1 into %a0[%row, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x3xf32>"""


def _updated(big: np.ndarray, small: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.concatenate([small, big[:, 2:]], axis=1)


CASES = (
    Case(
        "gather-backwards-beside-an-index-from-data",
        function(["i32", "2x3x2xf32"], ["2xf32"], generic("%r0", "i", [("%a0", "i32[]")], "2xf32[i]", _REVERSED)),
        (np.array(1, np.int32), _TABLE),
        lambda at, table: table[::-1, 2, at],
    ),
    Case(
        "update-at-an-offset-that-is-clamped-to-zero",
        function(["2x3xf32", "2x2xf32", "index"], ["2x3xf32"], _UPDATE_IN_ONE_PLACE),
        (_BIG, _SMALL, np.array(-2, np.int64)),
        _updated,
    ),
)
