"""Programs on bf16: arrays hold the bits as uint16, or ml_dtypes' numbers where that package is installed."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.numeric.bfloat16 import host_dtype

ADD = """
func.func @main(%x: tensor<3xbf16>) -> tensor<3xbf16> {
  %c = arith.constant dense<[1.0, 2.0, 0.00390625]> : tensor<3xbf16>
  %m = arith.addf %x, %c : tensor<3xbf16>
  return %m : tensor<3xbf16>
}
"""


@pytest.mark.parametrize("tiles", [1, 2])
def test_constants_and_sums_are_rounded_to_bf16(tiles):
    program = ipu.compile(ADD, target=ipu.Target(tiles_per_ipu=tiles))
    x = np.array([0x3F80, 0xC000, 0x3F80], np.uint16).view(host_dtype())  # 1, -2, 1
    expected = np.array([0x4000, 0x0000, 0x3F80], np.uint16)  # 2, 0, 1 + 2**-8 rounds to even: 1
    np.testing.assert_array_equal(program.run([x])[0].view(np.uint16), expected)
    np.testing.assert_array_equal(program.run_per_tile([x])[0].view(np.uint16), expected)


FROM_INTEGERS = """
func.func @main(%x: tensor<40xi64>) -> (tensor<40xf32>, tensor<40xf32>) {
  %e = tensor.empty() : tensor<40xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%x : tensor<40xi64>) outs(%e, %e : tensor<40xf32>, tensor<40xf32>) {
  ^bb0(%n: i64, %a: f32, %b: f32):
    %u = arith.uitofp %n : i64 to bf16
    %s = arith.sitofp %n : i64 to bf16
    %v = arith.extf %u : bf16 to f32
    %t = arith.extf %s : bf16 to f32
    linalg.yield %v, %t : f32, f32
  } -> (tensor<40xf32>, tensor<40xf32>)
  return %r#0, %r#1 : tensor<40xf32>, tensor<40xf32>
}"""


def nearest(n: int) -> float:
    """The bf16 next to ``n``, ties to even, by integers alone."""
    size = abs(n)
    drop = max(0, size.bit_length() - 8)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    kept += drop > 0 and (rest > half or (rest == half and kept & 1))
    return float(kept << drop) * (-1 if n < 0 else 1)


def test_integers_of_64_bits_are_rounded_once():
    """Next to a tie: through f64, which has 53 bits, the one below and the one above would be ties themselves."""
    ties = [
        ((128 + 5 * k) << (bits - 8)) + (1 << (bits - 9)) for k, bits in enumerate((64, 63, 62, 60, 57, 54, 53, 20))
    ]
    numbers = [tie + near for tie in ties for near in (-1, 0, 1)] + [0, 1, 2**53 + 1, 2**64 - 1] + [3] * 12
    x = np.array(numbers, np.uint64).view(np.int64)
    executable = ipu.compile(FROM_INTEGERS, target=ipu.Target(name="t", tiles_per_ipu=4))
    for run in (executable.run, executable.run_per_tile):
        from_unsigned, from_signed = run([x])
        np.testing.assert_array_equal(from_unsigned, [nearest(n) for n in numbers])
        np.testing.assert_array_equal(from_signed, [nearest(int(n)) for n in x])
