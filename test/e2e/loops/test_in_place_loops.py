"""What a loop does in an iteration: it reads and writes the slice at hand, and nothing of the size of the tensor."""

import re

import numpy as np
import pytest
from cases import loops
from support.tensor_text import function

import ipu_mlir as ipu

_TARGET = ipu.Target(tiles_per_ipu=4)
_COMPARED = re.compile(r"^ *(?:select|select_bool|equal|less)\(.*?(\w+)\)$", re.MULTILINE)

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
    source = ipu.compile(case.text, target=_TARGET, kernels="never").source()
    _, inside = source.split("for i in" if "for i in" in source else "while True", 1)
    for result in _COMPARED.findall(inside):
        assert re.search(rf"{result} = memory.temporary\(\d+, '\w+', \(\)\)", source), "more than a number"


def test_what_a_loop_counts_besides_its_condition_is_known():
    program = ipu.compile(function(["7x6xf32"], ["7x6xf32"], _TWO_COUNTERS), target=_TARGET, kernels="never")
    x = np.arange(42, dtype=np.float32).reshape(7, 6)
    want = x.copy()
    want[0] = x[5]
    np.testing.assert_array_equal(program.run([x])[0], want)
    np.testing.assert_array_equal(program.run_per_tile([x])[0], want)


_NUMBERS_AS_ROWS = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %three = arith.constant 3 : i32
  %first = arith.constant 7 : i32
  %row = tensor.empty() : tensor<12xi32>
  %r0, %last = scf.for %k = %c0 to %c5 step %c1 iter_args(%x = %a0, %n = %first) -> (tensor<5x12xi32>, i32) {
    %old = tensor.extract %x[%k, %c1] : tensor<5x12xi32>
    %m = arith.muli %n, %three : i32
    %next = arith.addi %m, %old : i32
    %filled = linalg.fill ins(%next : i32) outs(%row : tensor<12xi32>) -> tensor<12xi32>
    %y = tensor.insert_slice %filled into %x[%k, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<5x12xi32>
    %new = tensor.insert %n into %y[%k, %c0] : tensor<5x12xi32>
    scf.yield %new, %next : tensor<5x12xi32>, i32
  }"""


def test_a_number_goes_to_a_whole_row_and_to_one_element():
    program = ipu.compile(function(["5x12xi32"], ["5x12xi32"], _NUMBERS_AS_ROWS), target=_TARGET)
    x = np.arange(60, dtype=np.int32).reshape(5, 12)
    want, n = x.copy(), 7
    for k in range(5):
        want[k, 0], n = n, 3 * n + x[k, 1]
        want[k, 1:] = n
    np.testing.assert_array_equal(program.run([x])[0], want)
    np.testing.assert_array_equal(program.run_per_tile([x])[0], want)


def test_elements_of_a_reshaped_result_are_read_and_written_in_a_loop() -> None:
    """Each element gets what was carried to it: the memory of the result is seen in another shape."""
    text = """
    func.func @main(%x: tensor<1x2xi32>, %c: tensor<i32>) -> (tensor<1x2xi32>, tensor<i32>) {
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                             iterator_types = ["reduction", "reduction"]}
          outs(%x, %c : tensor<1x2xi32>, tensor<i32>) {
      ^bb0(%a: i32, %b: i32):
        linalg.yield %b, %a : i32, i32
      } -> (tensor<1x2xi32>, tensor<i32>)
      return %r#0, %r#1 : tensor<1x2xi32>, tensor<i32>
    }"""
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=2))
    inputs = [np.array([[1, 2]], np.int32), np.array(7, np.int32)]
    for results in (exe.run(inputs), exe.run_per_tile(inputs)):
        assert [each.tolist() for each in results] == [[[7, 1]], 2]


def test_many_updates_one_after_the_other():
    rows, whole, part = np.arange(70) % 7, "tensor<7x6xf32>", "tensor<1x6xf32>"
    lines, last = [], "%a0"
    for n, row in enumerate(rows):
        new = f"%r{n - 69}" if n == 69 else f"%t{n}"
        lines += [
            f"  %s{n} = tensor.extract_slice {last}[{(row + 1) % 7}, 0] [1, 6] [1, 1] : {whole} to {part}",
            f"  %d{n} = arith.addf %s{n}, %s{n} : {part}",
            f"  {new} = tensor.insert_slice %d{n} into {last}[{row}, 0] [1, 6] [1, 1] : {part} into {whole}",
        ]
        last = new
    program = ipu.compile(function(["7x6xf32"], ["7x6xf32"], "\n".join(lines)), target=_TARGET)
    x = np.arange(42, dtype=np.float32).reshape(7, 6)
    want = x.copy()
    for row in rows:
        want[row] = 2 * want[(row + 1) % 7]
    np.testing.assert_array_equal(program.run([x])[0], want)
    np.testing.assert_array_equal(program.run_per_tile([x])[0], want)
    allocations = [line for line in str(program.module()).splitlines() if "memref.alloc" in line and "<7x6xf32" in line]
    assert len(allocations) == 1
