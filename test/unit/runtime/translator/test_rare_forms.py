"""Forms that programs rarely have: unsigned bounds, elements stored at run-time indices, buffers without elements."""

import numpy as np
import pytest

COUNT = """func.func @main(%lo: memref<i32>, %hi: memref<i32>) -> memref<i64> {
  %a = memref.load %lo[] : memref<i32>
  %b = memref.load %hi[] : memref<i32>
  %step = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %n = scf.for KIND %i = %a to %b step %step iter_args(%c = %zero) -> (i64) : i32 {
    %d = arith.addi %c, %one : i64
    %e = arith.extui %i : i32 to i64
    %f = arith.maxsi %d, %e : i64
    scf.yield %f : i64
  }
  %o = memref.alloc() : memref<i64>
  memref.store %n, %o[] : memref<i64>
  return %o : memref<i64>
}"""


@pytest.mark.parametrize(("low", "high", "want"), [(3, 7, 6), (-3, -1, 2**32 - 2), (2**31 - 2, -(2**31) + 1, 2**31)])
def test_bounds_without_a_sign(low, high, want, run_plain):
    """-1 is the largest number. The result is the largest of the iterations so far and the numbers."""
    assert run_plain(COUNT.replace("KIND", "unsigned"), np.int32(low), np.int32(high))[0] == max(want, 0)


def test_constant_bounds_without_a_sign(run_plain):
    text = COUNT.replace("KIND", "unsigned").replace("%a to %b", "%x to %y")
    constants = "%x = arith.constant -3 : i32\n%y = arith.constant -1 : i32\n%n ="
    assert run_plain(text.replace("%n =", constants, 1), np.int32(0), np.int32(0))[0] == 2**32 - 2
    signed = text.replace("unsigned", "").replace("extui", "extsi")
    assert run_plain(signed.replace("%n =", constants, 1), np.int32(0), np.int32(0))[0] == 2


STORE = """func.func @main(%x: memref<3x4xf32>, %p: memref<2xindex>, %v: memref<f32>) -> memref<3x4xf32> {
  %o = memref.alloc() : memref<3x4xf32>
  memref.copy %x, %o : memref<3x4xf32> to memref<3x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.load %p[%c0] : memref<2xindex>
  %j = memref.load %p[%c1] : memref<2xindex>
  %w = memref.load %v[] : memref<f32>
  memref.store %w, %o[INDEX] : memref<3x4xf32>
  return %o : memref<3x4xf32>
}"""


@pytest.mark.parametrize(("index", "place"), [("%i, %j", (2, 3)), ("%i, %c1", (2, 1)), ("%c0, %j", (0, 3))])
def test_an_element_is_stored_where_data_says(index, place, run_plain):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    want = x.copy()
    want[place] = 99
    got = run_plain(STORE.replace("INDEX", index), x, np.array([2, 3]), np.float32(99))[0]
    np.testing.assert_array_equal(got, want)


def test_a_loop_stores_one_element_per_round(run_plain, engine):
    text = """func.func @main(%x: memref<5xf32>) -> memref<5xf32> {
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i4 = arith.constant 4 : index
      %i5 = arith.constant 5 : index
      %o = memref.alloc() : memref<5xf32>
      scf.for %i = %i0 to %i5 step %i1 {
        %v = memref.load %x[%i] : memref<5xf32>
        %w = arith.addf %v, %v : f32
        %j = arith.subi %i4, %i : index
        memref.store %w, %o[%j] : memref<5xf32>
      }
      return %o : memref<5xf32>
    }"""
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(run_plain(text, x)[0], (x + x)[::-1])
    assert "select" not in engine(text).source.split("def main")[1]


def test_buffers_without_elements(run_plain):
    """Nothing is computed; a sum over nothing is what it began with."""
    text = """func.func @main(%x: memref<3x0xf32>, %y: memref<3xf32>) -> (memref<3x0xf32>, memref<3xf32>) {
      %c = arith.constant 2.0 : f32
      %o = memref.alloc() : memref<3x0xf32>
      %p = memref.alloc() : memref<3x0xf32>
      linalg.add ins(%x, %x : memref<3x0xf32>, memref<3x0xf32>) outs(%o : memref<3x0xf32>)
      memref.copy %o, %p : memref<3x0xf32> to memref<3x0xf32>
      %s = memref.alloc() : memref<3xf32>
      linalg.fill ins(%c : f32) outs(%s : memref<3xf32>)
      linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
          iterator_types = ["parallel", "reduction"]} ins(%p : memref<3x0xf32>) outs(%s : memref<3xf32>) {
      ^bb0(%v: f32, %w: f32):
        %0 = arith.addf %v, %w : f32
        linalg.yield %0 : f32
      }
      %t = memref.alloc() : memref<3xf32>
      linalg.add ins(%s, %y : memref<3xf32>, memref<3xf32>) outs(%t : memref<3xf32>)
      return %p, %t : memref<3x0xf32>, memref<3xf32>
    }"""
    y = np.arange(3, dtype=np.float32)
    empty, total = run_plain(text, np.zeros((3, 0), np.float32), y)
    assert empty.shape == (3, 0)
    np.testing.assert_array_equal(total, y + 2)


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f16", np.float16)])
def test_an_argument_without_elements_is_given_back(run_plain, element, dtype):
    """Also where the empty dimension is the only one, so that the buffer has no memory at all."""
    kind = f"memref<0x{element}>"
    (found,) = run_plain(f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}", np.zeros(0, dtype))
    assert found.shape == (0,) and found.dtype == dtype
