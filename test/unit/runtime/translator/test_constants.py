"""Constants: dense, splat, truth values, and scalars of the function."""

import numpy as np
import pytest


def test_dense_and_splat_constants_of_several_types(run_plain):
    text = """memref.global "private" constant @__dense : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
    memref.global "private" constant @splat : memref<2x2xf32> = dense<10.0>
    memref.global "private" constant @truth : memref<2xi1> = dense<[true, false]>
    memref.global "private" constant @words : memref<2xi64> = dense<[-1, 9000000000]>
    func.func @main(%x: memref<2x2xf32>) -> (memref<2x2xf32>, memref<2xi1>, memref<2xi64>) {
      %d = memref.get_global @__dense : memref<2x2xf32>
      %s = memref.get_global @splat : memref<2x2xf32>
      %t = memref.get_global @truth : memref<2xi1>
      %w = memref.get_global @words : memref<2xi64>
      %a = memref.alloc() : memref<2x2xf32>
      linalg.mul ins(%x, %d : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>)
      %b = memref.alloc() : memref<2x2xf32>
      linalg.add ins(%a, %s : memref<2x2xf32>, memref<2x2xf32>) outs(%b : memref<2x2xf32>)
      return %b, %t, %w : memref<2x2xf32>, memref<2xi1>, memref<2xi64>
    }"""
    x = np.float32([[1, -1], [0.5, 2]])
    product, truth, words = run_plain(text, x)
    np.testing.assert_array_equal(product, x * np.float32([[1, 2], [3, 4]]) + 10)
    np.testing.assert_array_equal(truth, [True, False])
    np.testing.assert_array_equal(words, [-1, 9_000_000_000])


def test_a_splat_takes_no_memory(engine):
    text = """memref.global "private" constant @splat : memref<1000xf32> = dense<10.0>
    func.func @main(%x: memref<1000xf32>) -> memref<1000xf32> {
      %s = memref.get_global @splat : memref<1000xf32>
      %b = memref.alloc() : memref<1000xf32>
      linalg.add ins(%x, %s : memref<1000xf32>, memref<1000xf32>) outs(%b : memref<1000xf32>)
      return %b : memref<1000xf32>
    }"""
    assert engine(text).translation.constants == {}


def test_scalars_of_the_function(run_plain):
    """Loaded, computed with and stored; the load comes before the write that changes its source."""
    text = """func.func @main(%x: memref<3xf32>) -> memref<3xf32> {
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      %o = memref.alloc() : memref<3xf32>
      memref.copy %x, %o : memref<3xf32> to memref<3xf32>
      %a = memref.load %o[%two] : memref<3xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %o[%two] : memref<3xf32>
      memref.store %a, %o[%zero] : memref<3xf32>
      return %o : memref<3xf32>
    }"""
    np.testing.assert_array_equal(run_plain(text, np.float32([1, 2, 3]))[0], [3, 2, 6])


def test_a_scalar_captured_by_a_body(run_plain):
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<3xf32>, %s: memref<f32>) -> memref<3xf32> {{
      %a = memref.load %s[] : memref<f32>
      %o = memref.alloc() : memref<3xf32>
      linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = ["parallel"]}}
        ins(%x : memref<3xf32>) outs(%o : memref<3xf32>) {{
      ^bb0(%u: f32, %z: f32):
        %0 = arith.mulf %u, %a : f32
        linalg.yield %0 : f32
      }}
      return %o : memref<3xf32>
    }}"""
    x = np.float32([1, 2, 3])
    np.testing.assert_array_equal(run_plain(text, x, np.float32(-2))[0], -2 * x)


@pytest.mark.parametrize("bits", ["0xFFC00000", "0x7FC00000"])
def test_a_nan_keeps_its_sign(bits, run_plain):
    """It decides where a total order puts it."""
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<2xf32>) -> memref<2xf32> {{
      %c = arith.constant {bits} : f32
      %o = memref.alloc() : memref<2xf32>
      linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = ["parallel"]}}
        ins(%x : memref<2xf32>) outs(%o : memref<2xf32>) {{
      ^bb0(%a: f32, %z: f32):
        %k = arith.cmpf oeq, %a, %a : f32
        %r = arith.select %k, %c, %a : f32
        linalg.yield %r : f32
      }}
      return %o : memref<2xf32>
    }}"""
    found = run_plain(text, np.float32([1, 2]))[0]
    assert [hex(number) for number in found.view(np.uint32)] == [bits.lower()] * 2
