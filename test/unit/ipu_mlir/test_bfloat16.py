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
