"""Loops that become scatters still do what the loops did: the per-tile executor against NumPy."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

REGISTRY = Registry(PASSES, PIPELINES)
CONSTANTS = "\n".join(
    f"  %{name} = arith.constant {value} : index"
    for value, name in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight"))
)
COMBINE = {
    "set": ("", "%new", lambda old, new: new),
    "add": ("%c = arith.addf %old, %new : f32", "%c", lambda old, new: old + new),
    "mul": ("%c = arith.mulf %new, %old : f32", "%c", lambda old, new: old * new),
    "max": ("%c = arith.maximumf %old, %new : f32", "%c", max),
    "min": ("%c = arith.minimumf %old, %new : f32", "%c", min),
}


def compiled(signature, body, tiles):
    """The program of a function with the index constants ``%zero`` to ``%eight``, as supersteps."""
    text = f"func.func @main({signature[0]}) -> {signature[1]} {{\n{CONSTANTS}\n{body}\n}}"
    module = parse_module(text, ipu.context())
    run_steps(module, REGISTRY.resolve(f"ipu-set-target{{tiles={tiles}}},ipu-compile"))
    return module


def loops_left(module):
    return len(list_ops(module.operation, "scf.for"))


@pytest.mark.parametrize("tiles", [1, 4, 64])
@pytest.mark.parametrize("name", COMBINE)
def test_guarded_updates_with_equal_places(name, tiles):
    """Places come twice, and some are beyond the tensor, where the guard does not hold."""
    operation, element, combine = COMBINE[name]
    old = "%old = tensor.extract %t[%j] : tensor<8xf32>" if operation else ""
    body = f"""
  %r = scf.for %i = %zero to %six step %one iter_args(%t = %x) -> tensor<8xf32> {{
    %raw = tensor.extract %at[%i] : tensor<6xi64>
    %j = arith.index_cast %raw : i64 to index
    %ok = arith.cmpi ult, %j, %eight : index
    %u = scf.if %ok -> tensor<8xf32> {{
      %new = tensor.extract %v[%i] : tensor<6xf32>
      {old}
      {operation}
      %w = tensor.insert {element} into %t[%j] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    }} else {{
      scf.yield %t : tensor<8xf32>
    }}
    scf.yield %u : tensor<8xf32>
  }}
  return %r : tensor<8xf32>"""
    signature = "%x: tensor<8xf32>, %at: tensor<6xi64>, %v: tensor<6xf32>", "tensor<8xf32>"
    module = compiled(signature, body, tiles)
    x, at = np.arange(8, dtype=np.float32) - 3, np.array([1, 7, 1, 8, -2, 0])
    v = np.array([10, -20, 3, 40, 50, -6], np.float32)
    expected = x.copy()
    for place, new in zip(at, v, strict=True):
        if 0 <= place < 8:
            expected[place] = combine(expected[place], new)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, at, v])[0], expected)
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4])
def test_load_under_the_guard_never_misses_its_tensor(tiles):
    """Six iterations, but only four elements to load: the executor refuses an index beyond them."""
    body = """
  %r = scf.for %i = %zero to %six step %one iter_args(%t = %x) -> tensor<8xf32> {
    %ok = arith.cmpi ult, %i, %four : index
    %u = scf.if %ok -> tensor<8xf32> {
      %new = tensor.extract %v[%i] : tensor<4xf32>
      %w = tensor.insert %new into %t[%i] : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>"""
    module = compiled(("%x: tensor<8xf32>, %v: tensor<4xf32>", "tensor<8xf32>"), body, tiles)
    x, v = np.arange(8, dtype=np.float32), np.array([9, 8, 7, 6], np.float32)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, v])[0], np.concatenate([v, x[4:]]))
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4])
def test_reduction_under_the_guard_never_misses_its_tensor(tiles):
    """Sums of windows of three; the last windows would reach beyond the five elements."""
    body = """
  %start = arith.constant 0.0 : f32
  %r = scf.for %i = %zero to %five step %one iter_args(%t = %e) -> tensor<5xf32> {
    %ok = arith.cmpi ult, %i, %three : index
    %u = scf.if %ok -> tensor<5xf32> {
      %sum = scf.for %j = %zero to %three step %one iter_args(%s = %start) -> f32 {
        %here = arith.addi %i, %j : index
        %v = tensor.extract %x[%here] : tensor<5xf32>
        %next = arith.addf %s, %v : f32
        scf.yield %next : f32
      }
      %w = tensor.insert %sum into %t[%i] : tensor<5xf32>
      scf.yield %w : tensor<5xf32>
    } else {
      scf.yield %t : tensor<5xf32>
    }
    scf.yield %u : tensor<5xf32>
  }
  return %r : tensor<5xf32>"""
    module = compiled(("%x: tensor<5xf32>, %e: tensor<5xf32>", "tensor<5xf32>"), body, tiles)
    x, e = np.array([1, 2, 4, 8, 16], np.float32), np.full(5, -1, np.float32)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, e])[0], [7, 14, 28, -1, -1])
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4])
def test_select_and_scatter_of_windows_that_overlap(tiles):
    """Each window of three, two apart, gives its gradient to its first largest element."""
    body = """
  %low = arith.constant 0xFF800000 : f32
  %r = scf.for %i = %zero to %three step %one iter_args(%t = %e) -> tensor<7xf32> {
    %begin = arith.muli %i, %two : index
    %found:2 = scf.for %j = %zero to %three step %one iter_args(%m = %low, %at = %zero) -> (f32, index) {
      %here = arith.addi %begin, %j : index
      %v = tensor.extract %x[%here] : tensor<7xf32>
      %greater = arith.cmpf ogt, %v, %m : f32
      %best = arith.select %greater, %v, %m : f32
      %place = arith.select %greater, %here, %at : index
      scf.yield %best, %place : f32, index
    }
    %gradient = tensor.extract %g[%i] : tensor<3xf32>
    %old = tensor.extract %t[%found#1] : tensor<7xf32>
    %sum = arith.addf %old, %gradient : f32
    %w = tensor.insert %sum into %t[%found#1] : tensor<7xf32>
    scf.yield %w : tensor<7xf32>
  }
  return %r : tensor<7xf32>"""
    signature = "%x: tensor<7xf32>, %g: tensor<3xf32>, %e: tensor<7xf32>", "tensor<7xf32>"
    module = compiled(signature, body, tiles)
    x, g = np.array([1, 2, 5, 5, 3, 0, 4], np.float32), np.array([10, 20, 30], np.float32)
    expected = np.zeros(7, np.float32)
    for i in range(3):
        expected[2 * i + np.argmax(x[2 * i : 2 * i + 3])] += g[i]
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, g, np.zeros(7, np.float32)])[0], expected)
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4])
def test_sort_by_rank(tiles):
    body = """
  %r = scf.for %i = %zero to %eight step %one iter_args(%t = %e) -> tensor<8xi32> {
    %mine = tensor.extract %x[%i] : tensor<8xi32>
    %rank = scf.for %j = %zero to %eight step %one iter_args(%n = %zero) -> index {
      %other = tensor.extract %x[%j] : tensor<8xi32>
      %less = arith.cmpi slt, %other, %mine : i32
      %more = arith.addi %n, %one : index
      %count = arith.select %less, %more, %n : index
      scf.yield %count : index
    }
    %w = tensor.insert %mine into %t[%rank] : tensor<8xi32>
    scf.yield %w : tensor<8xi32>
  }
  return %r : tensor<8xi32>"""
    module = compiled(("%x: tensor<8xi32>, %e: tensor<8xi32>", "tensor<8xi32>"), body, tiles)
    x = np.array([5, -3, 8, 0, 2, 7, 1, 4], np.int32)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, np.zeros(8, np.int32)])[0], np.sort(x))
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4, 64])
def test_rows_with_equal_places(tiles):
    body = """
  %r = scf.for %i = %zero to %six step %one iter_args(%t = %x) -> tensor<5x3xf32> {
    %raw = tensor.extract %at[%i] : tensor<6xi64>
    %row = arith.index_cast %raw : i64 to index
    %old = tensor.extract_slice %t[%row, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
    %new = tensor.extract_slice %v[%i, 0] [1, 3] [1, 1] : tensor<6x3xf32> to tensor<3xf32>
    %sum = arith.addf %old, %new : tensor<3xf32>
    %w = tensor.insert_slice %sum into %t[%row, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
    scf.yield %w : tensor<5x3xf32>
  }
  return %r : tensor<5x3xf32>"""
    signature = "%x: tensor<5x3xf32>, %at: tensor<6xi64>, %v: tensor<6x3xf32>", "tensor<5x3xf32>"
    module = compiled(signature, body, tiles)
    rng = np.random.default_rng(0)
    x, v = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((5, 3), (6, 3)))
    at = np.array([4, 0, 4, 4, 2, 0])
    expected = x.copy()
    np.add.at(expected, at, v)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x, at, v])[0], expected)
    assert loops_left(module) == 0


@pytest.mark.parametrize("tiles", [1, 4])
def test_recurrence_stays_a_loop(tiles):
    """Each iteration reads what the one before wrote."""
    body = """
  %r = scf.for %i = %zero to %seven step %one iter_args(%t = %x) -> tensor<8xi32> {
    %next = arith.addi %i, %one : index
    %old = tensor.extract %t[%i] : tensor<8xi32>
    %w = tensor.insert %old into %t[%next] : tensor<8xi32>
    scf.yield %w : tensor<8xi32>
  }
  return %r : tensor<8xi32>"""
    module = compiled(("%x: tensor<8xi32>", "tensor<8xi32>"), body, tiles)
    x = np.arange(3, 11, dtype=np.int32)
    np.testing.assert_array_equal(PerTileExecutor(module).run([x])[0], np.full(8, 3))
    assert loops_left(module) == 1


@pytest.mark.parametrize("tiles", [1, 4])
def test_inner_loop_that_reads_what_the_outer_one_carries(tiles):
    """The outer loop stays: each of its iterations reads what the one before wrote."""
    body = """
  %r = scf.for %i = %zero to %two step %one iter_args(%t = %x) -> tensor<4xi32> {
    %s = scf.for %j = %zero to %two step %one iter_args(%u = %t) -> tensor<4xi32> {
      %next = arith.addi %j, %one : index
      %new = tensor.extract %t[%j] : tensor<4xi32>
      %w = tensor.insert %new into %u[%next] : tensor<4xi32>
      scf.yield %w : tensor<4xi32>
    }
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>"""
    module = compiled(("%x: tensor<4xi32>", "tensor<4xi32>"), body, tiles)
    expected = x = np.array([1, 2, 3, 4], np.int32)
    for _ in range(2):
        expected = expected[[0, 0, 1, 3]]
    np.testing.assert_array_equal(PerTileExecutor(module).run([x])[0], expected)
    assert loops_left(module) == 1
