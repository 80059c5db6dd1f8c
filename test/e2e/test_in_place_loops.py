"""What a loop does in a round: it reads and writes the slice at hand, and nothing of the size of the tensor."""

import numpy as np
import pytest
from cases import loops
from support.tensor_text import function

import ipu_mlir as ipu

_TARGET = ipu.Target(tiles_per_ipu=4)
_WHOLE = ("select(", "run_codelet(", "equal(", "less(")

_TWO_COUNTERS = """  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %r:3 = scf.while (%i = %zero, %j = %one, %x = %a0) : (i32, i32, tensor<7x6xf32>) -> (i32, i32, tensor<7x6xf32>) {
    %more = arith.cmpi slt, %i, %five : i32
    scf.condition(%more) %i, %j, %x : i32, i32, tensor<7x6xf32>
  } do {
  ^bb0(%i: i32, %j: i32, %x: tensor<7x6xf32>):
    %negative = arith.cmpi slt, %j, %zero : i32
    %from_end = arith.addi %j, %three : i32
    %at = arith.select %negative, %from_end, %j : i32
    %k = arith.index_cast %at : i32 to index
    %c6 = arith.constant 6 : index
    %low = arith.maxsi %k, %c0 : index
    %row = arith.minsi %low, %c6 : index
    %a = tensor.extract_slice %x[%row, 0] [1, 6] [1, 1] : tensor<7x6xf32> to tensor<1x6xf32>
    %new = tensor.insert_slice %a into %x[0, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<7x6xf32>
    %i1 = arith.addi %i, %one : i32
    %j1 = arith.addi %j, %one : i32
    scf.yield %i1, %j1, %new : i32, i32, tensor<7x6xf32>
  }
  %r0 = tensor.cast %r#2 : tensor<7x6xf32> to tensor<7x6xf32>"""


@pytest.mark.parametrize("case", loops.CASES, ids=lambda case: case.name)
def test_a_round_touches_the_slice_alone(case):
    source = ipu.compile(case.text, target=_TARGET).source()
    _, inside = source.split("for i in" if "for i in" in source else "while True", 1)
    assert not [call for call in _WHOLE if call in inside]


def test_what_a_loop_counts_besides_its_condition_is_known():
    program = ipu.compile(function(["7x6xf32"], ["7x6xf32"], _TWO_COUNTERS), target=_TARGET)
    x = np.arange(42, dtype=np.float32).reshape(7, 6)
    want = x.copy()
    want[0] = x[5]
    np.testing.assert_array_equal(program.run([x])[0], want)
    np.testing.assert_array_equal(program.run_per_tile([x])[0], want)
    assert "arg0[i + 1]" in program.source() or "result0[i + 1" in program.source()
