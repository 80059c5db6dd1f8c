"""Long sums of f16, bf16 and f8: both executors add up in f32 and round once, because the supersteps say so."""

import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu

_LENGTH = 3000
"""Sums of so many numbers below 1 are beyond 2048, from where f16 counts in twos, 256, from where bf16 does, and 8."""

_KINDS = {"f16": (np.float16, 10), "bf16": (ml_dtypes.bfloat16, 7), "f8E5M2": (ml_dtypes.float8_e5m2, 2)}
"""The type of the arrays, and the bits behind the point."""


_MATMUL = """
  %zero = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<2x3xT>
  %start = linalg.fill ins(%zero : T) outs(%e : tensor<2x3xT>) -> tensor<2x3xT>
  %r = linalg.matmul ins(%a0, %a1 : tensor<2x3000xT>, tensor<3000x3xT>) outs(%start : tensor<2x3xT>) -> tensor<2x3xT>
"""
_SUM_ADDED_TO = """
  %r = linalg.reduce { arith.addf } ins(%a0 : tensor<5x3000xT>) outs(%a1 : tensor<5xT>) dimensions = [1]
"""
_RUNNING_SUMS = """
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 2 : index
  %columns = arith.constant 3000 : index
  %begin = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<2x3000xT>
  %r = scf.for %i = %zero to %rows step %one iter_args(%s = %e) -> (tensor<2x3000xT>) {
    %row:2 = scf.for %j = %zero to %columns step %one iter_args(%t = %s, %sum = %begin) -> (tensor<2x3000xT>, T) {
      %x = tensor.extract %a0[%i, %j] : tensor<2x3000xT>
      %more = arith.addf %sum, %x : T
      %next = tensor.insert %more into %t[%i, %j] : tensor<2x3000xT>
      scf.yield %next, %more : tensor<2x3000xT>, T
    }
    scf.yield %row#0 : tensor<2x3000xT>
  }
"""
_SUM_OF_SOME = """
  %limit = arith.constant 0.75 : T
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a0 : tensor<5x3000xT>) outs(%a1 : tensor<5xT>) {
  ^bb0(%x: T, %sum: T):
    %small = arith.cmpf olt, %x, %limit : T
    %more = arith.addf %sum, %x : T
    %new = arith.select %small, %more, %sum : T
    linalg.yield %new : T
  } -> tensor<5xT>
"""
_SCATTERED = """
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %many = arith.constant 3000 : index
  %r = scf.for %i = %zero to %many step %one iter_args(%t = %a1) -> (tensor<4xT>) {
    %place = arith.remui %i, %four : index
    %x = tensor.extract %a0[%i] : tensor<3000xT>
    %old = tensor.extract %t[%place] : tensor<4xT>
    %sum = arith.addf %old, %x : T
    %next = tensor.insert %sum into %t[%place] : tensor<4xT>
    scf.yield %next : tensor<4xT>
  }
"""
_SCATTERED_WIDELY = _SCATTERED.replace("4xT", "1600xT").replace("constant 4 ", "constant 1600 ")
_PROGRAMS: dict[str, tuple[str, list[tuple[int, ...]], tuple[int, ...], Callable[..., np.ndarray]]] = {
    "matmul": (_MATMUL, [(2, _LENGTH), (_LENGTH, 3)], (2, 3), lambda a, b: a @ b),
    "sum": (_SUM_ADDED_TO, [(5, _LENGTH), (5,)], (5,), lambda a, b: a.sum(axis=1) + b),
    "running sums": (_RUNNING_SUMS, [(2, _LENGTH)], (2, _LENGTH), lambda a: a.cumsum(axis=1)),
    "sum of some": (_SUM_OF_SOME, [(5, _LENGTH), (5,)], (5,), lambda a, b: np.where(a < 0.75, a, 0).sum(axis=1) + b),
    "scattered widely": (
        _SCATTERED_WIDELY,
        [(_LENGTH,), (1600,)],
        (1600,),
        lambda a, b: b + a[:1600] + np.pad(a[1600:], (0, 200)),
    ),
    "scattered": (_SCATTERED, [(_LENGTH,), (4,)], (4,), lambda a, b: a.reshape(-1, 4).sum(axis=0) + b),
}


def _program(kind: str, name: str) -> str:
    body, shapes, result, _ = _PROGRAMS[name]
    arguments = ", ".join(f"%a{n}: tensor<{'x'.join(map(str, shape))}xT>" for n, shape in enumerate(shapes))
    returned = f"tensor<{'x'.join(map(str, result))}xT>"
    text = f"func.func @main({arguments}) -> {returned} {{{body}  return %r : {returned}\n}}"
    return re.sub(r"\bT\b|(?<=x)T(?=>)", kind, text)


@pytest.mark.parametrize("tiles", [1, 7])
@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("kind", _KINDS)
def test_both_executors_round_the_sum_once(kind: str, name: str, tiles: int) -> None:
    *_, shapes, _, numpy = _PROGRAMS[name]
    generator = np.random.default_rng(5)
    inputs = [generator.uniform(0.5, 1, shape).astype(_KINDS[kind][0]) for shape in shapes]
    program = ipu.compile(_program(kind, name), target=ipu.Target(tiles_per_ipu=tiles))
    exact = numpy(*(array.astype(np.float64) for array in inputs))
    step = 2.0 ** (np.floor(np.log2(exact)) - _KINDS[kind][1])
    for results in (program.run(inputs), program.run_per_tile(inputs)):
        assert np.all(np.abs(results[0].astype(np.float64) - exact) <= 0.51 * step)
