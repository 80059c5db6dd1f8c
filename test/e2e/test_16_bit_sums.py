"""Long sums of f16 and bf16: both executors add up in f32 and round once, because the supersteps say so."""

from collections.abc import Callable

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.numeric.bfloat16 import from_host, host_dtype, round_to_bf16, to_host

_LENGTH = 3000
"""Sums of so many numbers below 1 are beyond 2048, from where f16 counts in twos, and 256, from where bf16 does."""

_MATMUL = """
  %zero = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<2x3xT>
  %start = linalg.fill ins(%zero : T) outs(%e : tensor<2x3xT>) -> tensor<2x3xT>
  %r = linalg.matmul ins(%a0, %a1 : tensor<2x3000xT>, tensor<3000x3xT>) outs(%start : tensor<2x3xT>) -> tensor<2x3xT>
"""
_SUM_ADDED_TO = """
  %r = linalg.reduce { arith.addf } ins(%a0 : tensor<5x3000xT>) outs(%a1 : tensor<5xT>) dimensions = [1]
"""
_PROGRAMS: dict[str, tuple[str, list[tuple[int, ...]], tuple[int, ...], Callable[..., np.ndarray]]] = {
    "matmul": (_MATMUL, [(2, _LENGTH), (_LENGTH, 3)], (2, 3), lambda a, b: a @ b),
    "sum": (_SUM_ADDED_TO, [(5, _LENGTH), (5,)], (5,), lambda a, b: a.sum(axis=1) + b),
}


def _rounded(kind: str, numbers: np.ndarray) -> np.ndarray:
    """``numbers`` as the runtime takes and gives them."""
    if kind == "f16":
        return numbers.astype(np.float16)
    return to_host(round_to_bf16(numbers, np.empty(numbers.shape, np.float32)))


def _numbers(array: np.ndarray) -> np.ndarray:
    return (from_host(array) if array.dtype == host_dtype() else array).astype(np.float64)


def _program(kind: str, name: str) -> str:
    body, shapes, result, _ = _PROGRAMS[name]
    arguments = ", ".join(f"%a{n}: tensor<{'x'.join(map(str, shape))}xT>" for n, shape in enumerate(shapes))
    returned = f"tensor<{'x'.join(map(str, result))}xT>"
    text = f"func.func @main({arguments}) -> {returned} {{{body}  return %r : {returned}\n}}"
    return text.replace("xT>", f"x{kind}>").replace(": T", f": {kind}")


@pytest.mark.parametrize("tiles", [1, 7])
@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_both_executors_round_the_sum_once(kind: str, name: str, tiles: int) -> None:
    *_, shapes, _, numpy = _PROGRAMS[name]
    generator = np.random.default_rng(5)
    inputs = [_rounded(kind, generator.uniform(0.5, 1, shape)) for shape in shapes]
    program = ipu.compile(_program(kind, name), target=ipu.Target(tiles_per_ipu=tiles))
    exact = numpy(*map(_numbers, inputs))
    step = 2.0 ** (np.floor(np.log2(exact)) - (10 if kind == "f16" else 7))
    for results in (program.run(inputs), program.run_per_tile(inputs)):
        assert np.all(np.abs(_numbers(results[0]) - exact) <= 0.51 * step)
