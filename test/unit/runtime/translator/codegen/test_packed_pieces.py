"""Convolutions whose windows are packed piece by piece compute what they do when packed at once."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

RNG = np.random.default_rng(5)
AT_ONCE = TranslatorOptions(threads=1)
IN_PIECES = replace(AT_ONCE, packed_elements=200, block_min_gemm_rows=4)


def ints(*shape: int) -> np.ndarray:
    """Small whole numbers as f32: every sum is exact in every order."""
    return RNG.integers(-4, 5, shape).astype(np.float32)


def convolution(op: str, image: str, filters: str, result: str, stride: int) -> str:
    return f"""func.func @main(%x: memref<{image}xf32>, %w: memref<{filters}xf32>) -> memref<{result}xf32> {{
      %zero = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<{result}xf32>
      linalg.fill ins(%zero : f32) outs(%o : memref<{result}xf32>)
      linalg.{op} {{strides = dense<{stride}> : tensor<2xi64>}}
          ins(%x, %w : memref<{image}xf32>, memref<{filters}xf32>) outs(%o : memref<{result}xf32>)
      return %o : memref<{result}xf32>
    }}"""


def windows(x: np.ndarray, taps: int, stride: int) -> np.ndarray:
    """Windows of ``x`` (images, rows, columns, channels): (images, rows, columns, channels, taps, taps)."""
    return np.lib.stride_tricks.sliding_window_view(x, (taps, taps), (1, 2))[:, ::stride, ::stride]


@pytest.mark.parametrize("images", [1, 4])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("blocks", [False, True])
def test_channels_last(images, stride, blocks, run, small_blocks):
    options = replace(small_blocks, packed_elements=200) if blocks else IN_PIECES
    side = 12 // stride
    size = (side - 1) * stride + 3
    text = convolution("conv_2d_nhwc_hwcf", f"{images}x{size}x{size}x3", "3x3x3x5", f"{images}x{side}x{side}x5", stride)
    x, w = ints(images, size, size, 3), ints(3, 3, 3, 5)
    want = np.einsum("nhwcij,ijcf->nhwf", windows(x, 3, stride), w)
    np.testing.assert_array_equal(run(text, x, w, options=options)[0], want)


@pytest.mark.parametrize("blocks", [False, True])
def test_channels_first(blocks, run, small_blocks):
    """The filters are the first factor, and the windows the second one: columns are cut."""
    options = replace(small_blocks, packed_elements=200) if blocks else IN_PIECES
    text = convolution("conv_2d_nchw_fchw", "4x3x14x14", "5x3x3x3", "4x5x12x12", 1)
    x, w = ints(4, 3, 14, 14), ints(5, 3, 3, 3)
    want = np.einsum("nhwcij,fcij->nfhw", windows(x.transpose(0, 2, 3, 1), 3, 1), w)
    np.testing.assert_array_equal(run(text, x, w, options=options)[0], want)


def test_pieces_share_the_memory_of_one_and_are_cut_as_little_as_need_be(engine):
    text = convolution("conv_2d_nhwc_hwcf", "1x14x14x3", "3x3x3x5", "1x12x12x5", 1)
    whole, pieces = engine(text, AT_ONCE), engine(text, replace(IN_PIECES, packed_elements=12 * 12 * 27 // 4))
    assert whole.source.count("copyto(") == 1 and whole.translation.temporary_bytes >= 12 * 12 * 27 * 4
    assert pieces.source.count("copyto(") == pieces.source.count(" dot(") == 4
    assert pieces.translation.temporary_bytes <= 12 * 12 * 27 + 64


def test_a_product_keeps_enough_rows(engine):
    text = convolution("conv_2d_nhwc_hwcf", "1x14x14x3", "3x3x3x5", "1x12x12x5", 1)
    assert engine(text, replace(IN_PIECES, block_min_gemm_rows=72)).source.count(" dot(") == 2
