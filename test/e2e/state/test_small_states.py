"""Loops on states of a few numbers: both executors give the same, with kernels and without."""

import numpy as np
import pytest
from support.tensor_text import function

import ipu_mlir as ipu

_TARGET = ipu.Target(tiles_per_ipu=3)
_RNG = np.random.default_rng(11)
_ROUNDS = 9

_SAME, _BACK, _ONE = "affine_map<(d) -> (d)>", "affine_map<(d) -> (2 - d)>", "affine_map<(d) -> ()>"


def _each(body: str, *inputs: tuple[str, str]) -> str:
    """%new by a linalg.generic over three points; ``inputs`` are names with their maps, %p0, %p1, ... in ``body``."""
    maps = ", ".join([*(place for _, place in inputs), _SAME])
    names = ", ".join(name for name, _ in inputs)
    types = ", ".join("tensor<f32>" if place == _ONE else "tensor<3xf32>" for _, place in inputs)
    arguments = ", ".join(f"%p{i}: f32" for i in range(len(inputs)))
    return f"""%new = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({names} : {types}) outs(%e : tensor<3xf32>) {{
    ^bb0({arguments}, %o: f32):
      {body}
      linalg.yield %w : f32
    }} -> tensor<3xf32>"""


_LENGTH = """%zero = arith.constant 0.0 : f32
    %s0 = tensor.empty() : tensor<f32>
    %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<f32>) -> tensor<f32>
    %sq = linalg.mul ins(%x, %x : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %sum = linalg.reduce {arith.addf} ins(%sq : tensor<3xf32>) outs(%s1 : tensor<f32>) dimensions = [0]
"""

STATES = {
    "a product and a sum": _each(
        "%m = arith.mulf %p0, %p1 : f32\n%w = arith.addf %m, %p1 : f32", ("%x", _SAME), ("%a1", _SAME)
    ),
    "the other way round": _each("%w = arith.negf %p0 : f32", ("%x", _BACK)),
    "with itself the other way round": _each("%w = arith.subf %p0, %p1 : f32", ("%x", _SAME), ("%x", _BACK)),
    "by its length": _LENGTH
    + _each(
        """%one = arith.constant 1.0 : f32
      %up = arith.addf %p1, %one : f32
      %r = math.sqrt %up : f32
      %w = arith.divf %p0, %r : f32""",
        *(("%x", _SAME), ("%sum", _ONE)),
    ),
    "chosen by place": _each(
        """%d = linalg.index 0 : index
      %first = arith.cmpi ult, %d, %c1 : index
      %m = arith.negf %p0 : f32
      %w = arith.select %first, %m, %p1 : f32""",
        *(("%x", _BACK), ("%a1", _SAME)),
    ),
    "extremes": _each(
        "%m = arith.maximumf %p0, %p1 : f32\n%w = arith.minimumf %m, %p2 : f32",
        *(("%x", _BACK), ("%a1", _SAME), ("%x", _SAME)),
    ),
}


def _program(body: str, stored: bool) -> str:
    """The state after all iterations, and where ``stored`` every state on the way."""
    tensor, rows = "tensor<3xf32>", f"tensor<{_ROUNDS}x3xf32>"
    keep = f"%ys1 = tensor.insert_slice %new into %ys[%k, 0] [1, 3] [1, 1] : {tensor} into {rows}"
    text = f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {_ROUNDS} : index
  %e = tensor.empty() : {tensor}
  %r0, %r1 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %a0, %ys = %a2) -> ({tensor}, {rows}) {{
    {body}
    {keep if stored else ""}
    scf.yield %new, {"%ys1" if stored else "%ys"} : {tensor}, {rows}
  }}"""
    return function(["3xf32", "3xf32", f"{_ROUNDS}x3xf32"], ["3xf32", f"{_ROUNDS}x3xf32"], text)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("name", STATES)
def test_a_state_of_three_numbers(name, stored):
    inputs = [
        np.array([1.5, -0.0, -2.25], np.float32),
        _RNG.standard_normal(3).astype(np.float32),
        np.zeros((_ROUNDS, 3), np.float32),
    ]
    for kernels in ("auto", "never"):
        program = ipu.compile(_program(STATES[name], stored), target=_TARGET, kernels=kernels)
        for fast, per_tile in zip(program.run(inputs), program.run_per_tile(inputs), strict=True):
            np.testing.assert_array_equal(fast, per_tile)
            np.testing.assert_array_equal(np.signbit(fast), np.signbit(per_tile))
