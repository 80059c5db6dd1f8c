"""Loops that update a tensor in place at run-time places and read it elsewhere, and loops over single numbers."""

from collections.abc import Callable

import numpy as np
from support.case import Case
from support.tensor_text import function

_RNG = np.random.default_rng(3)
_X = _RNG.integers(-9, 9, (7, 6)).astype(np.float32)


def _loop(rounds: int, body: str, kind: str = "7x6xf32") -> str:
    """``body`` makes %new of %x for %k = 0, 1, ..., with the constants %c0, %c1, ... up to 7."""
    constants = "\n".join(f"  %c{i} = arith.constant {i} : index" for i in range(8))
    return f"""{constants}
  %n = arith.constant {rounds} : index
  %r0 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %a0) -> (tensor<{kind}>) {{
    {body}
    scf.yield %new : tensor<{kind}>
  }}"""


def _clamped(name: str, value: str, highest: int) -> str:
    """%name = %value, at least 0 and at most ``highest``."""
    return f"""%low_{name} = arith.maxsi {value}, %c0 : index
    %{name} = arith.minsi %low_{name}, %c{highest} : index"""


def _sequence(rounds: int, step: Callable[[np.ndarray, int], None]) -> Callable[[np.ndarray], np.ndarray]:
    """The array after ``step`` has changed it in place for every iteration."""

    def run(x: np.ndarray) -> np.ndarray:
        x = x.copy()
        for k in range(rounds):
            step(x, k)
        return x

    return run


def _add_previous(x: np.ndarray, k: int) -> None:
    x[k + 1] += x[k]


_ADD_PREVIOUS = """%next = arith.addi %k, %c1 : index
    %a = tensor.extract_slice %x[%k, 0] [1, 6] [1, 1] : tensor<7x6xf32> to tensor<1x6xf32>
    %b = tensor.extract_slice %x[%next, 0] [1, 6] [1, 1] : tensor<7x6xf32> to tensor<1x6xf32>
    %s = linalg.add ins(%a, %b : tensor<1x6xf32>, tensor<1x6xf32>) outs(%a : tensor<1x6xf32>) -> tensor<1x6xf32>
    %new = tensor.insert_slice %s into %x[%next, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<7x6xf32>"""


def _move_block(x: np.ndarray, k: int) -> None:
    x[k : k + 2, 1:4] = x[min(2 * k, 5) :][:2, 2:5].copy()


_MOVE_BLOCK = f"""%double = arith.muli %k, %c2 : index
    {_clamped("from", "%double", 5)}
    %a = tensor.extract_slice %x[%from, 2] [2, 3] [1, 1] : tensor<7x6xf32> to tensor<2x3xf32>
    %new = tensor.insert_slice %a into %x[%k, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<7x6xf32>"""


def _change_column(x: np.ndarray, k: int) -> None:
    x[:, k] = x[:, k + 1]


_CHANGE_COLUMN = """%next = arith.addi %k, %c1 : index
    %a = tensor.extract_slice %x[0, %next] [7, 1] [1, 1] : tensor<7x6xf32> to tensor<7xf32>
    %new = tensor.insert_slice %a into %x[0, %k] [7, 1] [1, 1] : tensor<7xf32> into tensor<7x6xf32>"""


def _set_element(x: np.ndarray, k: int) -> None:
    x[k, (3 * k) % 6] += x[k + 1, k]


_SET_ELEMENT = """%next = arith.addi %k, %c1 : index
    %triple = arith.muli %k, %c3 : index
    %at = arith.remsi %triple, %c6 : index
    %a = tensor.extract %x[%next, %k] : tensor<7x6xf32>
    %b = tensor.extract %x[%k, %at] : tensor<7x6xf32>
    %s = arith.addf %a, %b : f32
    %new = tensor.insert %s into %x[%k, %at] : tensor<7x6xf32>"""


def _guarded_row(x: np.ndarray, k: int) -> None:
    if 0 <= 2 * k < 7:
        x[2 * k] += x[k]


_GUARDED_ROW = """%double = arith.muli %k, %c2 : index
    %new = scf.for %j = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<7x6xf32>) {
      %inside = arith.cmpi ult, %double, %c7 : index
      %a = tensor.extract %x[%k, %j] : tensor<7x6xf32>
      %z = scf.if %inside -> (tensor<7x6xf32>) {
        %b = tensor.extract %y[%double, %j] : tensor<7x6xf32>
        %s = arith.addf %b, %a : f32
        %i = tensor.insert %s into %y[%double, %j] : tensor<7x6xf32>
        scf.yield %i : tensor<7x6xf32>
      } else {
        scf.yield %y : tensor<7x6xf32>
      }
      scf.yield %z : tensor<7x6xf32>
    }"""

_COLLATZ = """  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %first = tensor.extract %a0[] : tensor<i32>
  %r:2 = scf.while (%n = %first, %steps = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %n, %one : i32
    scf.condition(%more) %n, %steps : i32, i32
  } do {
  ^bb0(%n: i32, %steps: i32):
    %rest = arith.remsi %n, %two : i32
    %even = arith.cmpi eq, %rest, %zero : i32
    %half = arith.divsi %n, %two : i32
    %triple = arith.muli %n, %three : i32
    %odd = arith.addi %triple, %one : i32
    %next = arith.select %even, %half, %odd : i32
    %more = arith.addi %steps, %one : i32
    scf.yield %next, %more : i32, i32
  }
  %r0 = tensor.from_elements %r#1 : tensor<i32>"""


def _collatz(n: np.ndarray) -> np.ndarray:
    number, steps = int(n), 0
    while number != 1:
        number, steps = (number // 2 if number % 2 == 0 else 3 * number + 1), steps + 1
    return np.array(steps, np.int32)


_FEWER_BACK = """  %r0 = scf.while (%x = %a0, %before = %a1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0 : index
    %limit = arith.constant 9.0 : f32
    %one = tensor.extract %x[%zero] : tensor<4xf32>
    %other = tensor.extract %before[%zero] : tensor<4xf32>
    %sum = arith.addf %one, %other : f32
    %more = arith.cmpf olt, %sum, %limit : f32
    scf.condition(%more) %x : tensor<4xf32>
  } do {
  ^bb0(%x: tensor<4xf32>):
    %new = linalg.add ins(%x, %a0 : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %new, %x : tensor<4xf32>, tensor<4xf32>
  }"""


def _until_large(x: np.ndarray, before: np.ndarray) -> np.ndarray:
    first = x
    while x[0] + before[0] < 9:
        x, before = x + first, x
    return x


def _in_place(name: str, rounds: int, body: str, step: Callable[[np.ndarray, int], None]) -> Case:
    text = function(["7x6xf32"], ["7x6xf32"], _loop(rounds, body))
    return Case(f"loop-{name}", text, (_X,), _sequence(rounds, step))


CASES = (
    _in_place("adds-the-row-before", 6, _ADD_PREVIOUS, _add_previous),
    _in_place("moves-a-block", 6, _MOVE_BLOCK, _move_block),
    _in_place("changes-a-column", 5, _CHANGE_COLUMN, _change_column),
    _in_place("changes-one-element", 6, _SET_ELEMENT, _set_element),
    _in_place("changes-a-row-if-it-is-inside", 6, _GUARDED_ROW, _guarded_row),
    Case(
        "loop-whose-body-takes-less-than-its-condition",
        function(["4xf32", "4xf32"], ["4xf32"], _FEWER_BACK),
        (np.arange(1, 5, dtype=np.float32), np.zeros(4, np.float32)),
        _until_large,
    ),
    Case("loop-over-numbers", function(["i32"], ["i32"], _COLLATZ), (np.array(27, np.int32),), _collatz),
)
