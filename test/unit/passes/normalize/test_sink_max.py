"""What ``ipu-sink-max`` takes for growing picks the same element as max and min, for every kind of number."""

from collections.abc import Callable

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.normalize.sink_max import grows

NUMBERS = np.array(
    [-np.inf, -65504, -3.3, -1, -6e-8, -0.0, 0.0, 6e-8, 0.1, 1, 1.001, 7, 60000, 65504, np.inf, np.nan], np.float16
)
"""All of f16: the largest, the smallest, both zeros, and some whose sums and products are rounded or overflow."""

OPS: dict[str, Callable[..., np.ndarray]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,  # NaN if either is, as in MLIR
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
}


def commutes(op: str, side: int, fixed: np.ndarray, pick: np.ufunc) -> np.ndarray:
    """For each ``fixed``, whether op(pick(a, b)) is pick(op(a), op(b)) for all pairs of ``NUMBERS``."""
    a, b, c = np.meshgrid(NUMBERS, NUMBERS, fixed, indexing="ij")

    def of(x: np.ndarray) -> np.ndarray:
        return OPS[op](x, c) if side == 0 else OPS[op](c, x)

    with np.errstate(all="ignore"):
        first, after = of(pick(a, b)), pick(of(a), of(b))
    return ((first == after) | (np.isnan(first) & np.isnan(after))).all((0, 1))


@pytest.mark.parametrize("pick", [np.maximum, np.minimum])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("op", OPS)
def test_what_grows_picks_the_same_element(op, side, pick):
    same = commutes(op, side, NUMBERS, pick)
    for constant, is_same in zip(NUMBERS.tolist(), same, strict=True):
        assert is_same or not grows(op, side, constant, any_addend=False), f"{op} with {constant}"


@pytest.mark.parametrize("op", ["arith.addf", "arith.subf"])
def test_of_unknown_addends_only_infinities_differ(op):
    assert grows(op, 0, None) and not grows(op, 0, None, any_addend=False)
    same = commutes(op, 0, NUMBERS, np.maximum) & commutes(op, 0, NUMBERS, np.minimum)
    assert set(NUMBERS[~same].tolist()) <= {np.inf, -np.inf}


@pytest.mark.parametrize(("op", "constant"), [("arith.mulf", -1.0), ("arith.maxnumf", 0.0), ("arith.divf", np.inf)])
def test_what_picks_another_element_does_not_grow(op, constant):
    assert not commutes(op, 0, np.array([constant], np.float16), np.maximum).all()
    assert not grows(op, 0, constant)


def test_a_block_with_nan_and_infinity_pools_as_by_hand():
    program = """
    func.func @main(%x: tensor<1x4x4x3xf32>, %b: tensor<3xf32>) -> tensor<1x2x2x3xf32> {
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %e = tensor.empty() : tensor<1x4x4x3xf32>
      %f = linalg.generic {
          indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (c)>,
                           affine_map<(n, h, w, c) -> (n, h, w, c)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%x, %b : tensor<1x4x4x3xf32>, tensor<3xf32>) outs(%e : tensor<1x4x4x3xf32>) {
      ^bb0(%a: f32, %c: f32, %out: f32):
        %s = arith.addf %a, %c : f32
        %r = arith.maximumf %s, %zero : f32
        linalg.yield %r : f32
      } -> tensor<1x4x4x3xf32>
      %window = tensor.empty() : tensor<2x2xf32>
      %p = tensor.empty() : tensor<1x2x2x3xf32>
      %start = linalg.fill ins(%low : f32) outs(%p : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
      %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
          ins(%f, %window : tensor<1x4x4x3xf32>, tensor<2x2xf32>) outs(%start : tensor<1x2x2x3xf32>)
          -> tensor<1x2x2x3xf32>
      return %y : tensor<1x2x2x3xf32>
    }"""
    x = np.random.default_rng(8).standard_normal((1, 4, 4, 3), dtype=np.float32)
    x[0, 0, 0, 0], x[0, 2, 2, 1], x[0, 0, 3, 2] = np.nan, np.inf, -np.inf
    bias = np.array([0.5, -0.25, 3], np.float32)
    executable = ipu.compile(program, target=ipu.Target(tiles_per_ipu=4))
    normalised = executable.mlir("l1")
    assert normalised.index("linalg.pooling_nhwc_max") < normalised.index("linalg.generic")
    want = np.maximum(x + bias, 0).reshape(2, 2, 2, 2, 3).max((1, 3))[None]
    np.testing.assert_array_equal(executable.run([x, bias])[0], want)
    np.testing.assert_array_equal(executable.run_per_tile([x, bias])[0], want)
