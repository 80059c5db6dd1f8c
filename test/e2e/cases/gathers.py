"""Programs that read and write elements at places that are known only when they run."""

from collections.abc import Callable

import numpy as np
from support.case import Case, some
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


_PART_OF_A_COLUMN = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r0 = scf.for %k = %c0 to %c5 step %c1 iter_args(%x = %a0) -> tensor<6x4xf32> {
    %row = arith.addi %k, %c1 : index
    %goes = arith.cmpi ult, %row, %c3 : index
    %changed = scf.if %goes -> tensor<6x4xf32> {
      %old = tensor.extract %x[%row, %c1] : tensor<6x4xf32>
      %by = tensor.extract %a0[%row, %c2] : tensor<6x4xf32>
      %sum = arith.addf %old, %by : f32
      %set = tensor.insert %sum into %x[%row, %c1] : tensor<6x4xf32>
      scf.yield %set : tensor<6x4xf32>
    } else {
      scf.yield %x : tensor<6x4xf32>
    }
    scf.yield %changed : tensor<6x4xf32>
  }"""


def _with_part_of_a_column(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[1:3, 1] += x[1:3, 2]
    return x


_AT = "%at = tensor.extract %a1[] : tensor<index>"
_ROWS = np.arange(24, dtype=np.float32).reshape(6, 4)
_IDS = np.array([0, -1, 3, 6, 3, -6, 5, 100], np.int32)
_PLACES = (-1, 5, 2**63 - 1)


def _at_each_place(name: str, body: str, result: str, meaning: Callable[[np.ndarray, int], np.ndarray]) -> list[Case]:
    """``body``, which makes ``%r0`` of ``%a0`` at ``%at``, for places inside of a tensor of 6 x 4 and outside."""
    text = function(["6x4xf32", "index"], [result], f"{_AT}\n{body}")
    return [Case(f"{name}-at-{at}", text, (_ROWS, np.array(at)), lambda x, at: meaning(x, int(at))) for at in _PLACES]


def _between(at: int, last: int) -> int:
    return min(max(at, 0), last)


def _with_rows(x: np.ndarray, at: int) -> np.ndarray:
    first, found = _between(at, 4), x.copy()
    found[first : first + 2] = x[:2]
    return found


def _with_element(x: np.ndarray, at: int) -> np.ndarray:
    found = x.copy()
    if 0 <= at < 6:
        found[at, 1] = -5
    return found


def _shifted(x: np.ndarray, at: int) -> np.ndarray:
    """Sums of indices wrap around as all integers do."""
    rows = [(at + i + 2**63) % 2**64 - 2**63 for i in range(6)]
    return x[[_between(row, 5) for row in rows]]


_SCATTER = """  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 8 : index
  %r0 = scf.for %k = %zero to %n step %one iter_args(%t = %a0) -> (tensor<6xf32>) {{
    %id = tensor.extract %a2[%k] : tensor<8xi32>
    %row = arith.index_cast %id : i32 to index
    %new = tensor.extract %a1[%k] : tensor<8xf32>
    {body}
    %next = tensor.insert %sum into %t[%row] : tensor<6xf32>
    scf.yield %next : tensor<6xf32>
  }}"""


def _scatter(name: str, body: str, combine: Callable[[np.float32, np.float32], np.float32]) -> Case:
    def expected(x: np.ndarray, updates: np.ndarray, ids: np.ndarray) -> np.ndarray:
        found = x.copy()
        for place, update in zip(ids, updates, strict=True):
            if 0 <= place < len(x):
                found[place] = combine(found[place], update)
        return found

    text = function(["6xf32", "8xf32", "8xi32"], ["6xf32"], _SCATTER.format(body=body))
    return Case(
        f"scatter-outside-{name}", text, (np.arange(6, dtype=np.float32), 10 + _ROWS.ravel()[:8], _IDS), expected
    )


_OLD = "%old = tensor.extract %t[%row] : tensor<6xf32>"
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
    *_at_each_place(
        "slice",
        "%r0 = tensor.extract_slice %a0[%at, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>",
        "2x4xf32",
        lambda x, at: x[_between(at, 4) :][:2],
    ),
    *_at_each_place(
        "slice-of-a-slice",
        """%s = tensor.extract_slice %a0[%at, 0] [4, 4] [1, 1] : tensor<6x4xf32> to tensor<4x4xf32>
        %r0 = tensor.extract_slice %s[%at, 0] [2, 4] [2, 1] : tensor<4x4xf32> to tensor<2x4xf32>""",
        "2x4xf32",
        lambda x, at: x[_between(at, 2) + _between(at, 1) :][:3:2],
    ),
    *_at_each_place(
        "update",
        """%s = tensor.extract_slice %a0[0, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
        %r0 = tensor.insert_slice %s into %a0[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>""",
        "6x4xf32",
        _with_rows,
    ),
    *_at_each_place(
        "element",
        "%e = tensor.extract %a0[%at, %at] : tensor<6x4xf32>\n%r0 = tensor.from_elements %e : tensor<f32>",
        "f32",
        lambda x, at: x[_between(at, 5), _between(at, 3)],
    ),
    *_at_each_place(
        "insert",
        """%one = arith.constant 1 : index
        %new = arith.constant -5.0 : f32
        %r0 = tensor.insert %new into %a0[%at, %one] : tensor<6x4xf32>""",
        "6x4xf32",
        _with_element,
    ),
    *_at_each_place(
        "shift",
        generic(
            "%r0",
            "i j",
            [("%a1", "index[]")],
            "6x4xf32[i, j]",
            """%i = linalg.index 0 : index
            %j = linalg.index 1 : index
            %row = arith.addi %x0, %i : index
            %y = tensor.extract %a0[%row, %j] : tensor<6x4xf32>""",
        ),
        "6x4xf32",
        _shifted,
    ),
    Case(
        "gather-outside-along-rows",
        function(
            ["6x4xf32", "6x2xi32"],
            ["6x2xf32"],
            generic(
                "%r0",
                "i j",
                [("%a1", "6x2xi32[i, j]")],
                "6x2xf32[i, j]",
                """%i = linalg.index 0 : index
                %column = arith.index_cast %x0 : i32 to index
                %y = tensor.extract %a0[%i, %column] : tensor<6x4xf32>""",
            ),
        ),
        (_ROWS, np.array([[0, -1], [4, 9], [1, 2], [3, -100], [100, 0], [2, -1]], np.int32)),
        lambda x, columns: np.take_along_axis(x, np.clip(columns, 0, 3), 1),
    ),
    Case(
        "gather-at-a-constant-outside-along-rows",
        function(
            ["2x3x4xf32"],
            ["2x2xf32"],
            generic(
                "%r0",
                "i j",
                [],
                "2x2xf32[i, j]",
                """%i = linalg.index 0 : index
                %first = arith.constant 0 : index
                %behind = arith.constant 4 : index
                %y = tensor.extract %a0[%i, %first, %behind] : tensor<2x3x4xf32>""",
            ),
        ),
        some("2x3x4xf32"),
        lambda x: np.repeat(x[:, 0, 3:], 2, 1),
    ),
    Case(
        "rows-of-a-table-without-rows",
        function(
            ["0x4xf32", "3xi32"],
            ["3x4xf32"],
            generic(
                "%r0",
                "i j",
                [("%a1", "3xi32[i]")],
                "3x4xf32[i, j]",
                """%j = linalg.index 1 : index
                %k = arith.index_cast %x0 : i32 to index
                %y = tensor.extract %a0[%k, %j] : tensor<0x4xf32>""",
            ),
        ),
        (np.zeros((0, 4), np.float32), np.array([0, 1, -1], np.int32)),
        lambda table, ids: np.zeros((3, 4), np.float32),
    ),
    Case(
        "sums-in-part-of-a-column",
        function(["6x4xf32"], ["6x4xf32"], _PART_OF_A_COLUMN),
        (_ROWS,),
        _with_part_of_a_column,
    ),
    _scatter("set", "%sum = arith.negf %new : f32", lambda old, new: -new),
    _scatter("add", f"{_OLD}\n%sum = arith.addf %old, %new : f32", np.add),
    _scatter("max", f"{_OLD}\n%sum = arith.maximumf %old, %new : f32", np.maximum),
)
