"""Mutants of a small program: the executor notices each of them, whether it is strict or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

PROGRAM = """
#home = #ipu.mapping<20, [[2, 5, 4, 1], [4, 4, 1, 0]], 0, 0>
#operand = #ipu.mapping<20, [[5, 5, 4, 0], [2, 4, 1, 1]], 0, 0>
#sums = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @main(%x: memref<5x4xf32, #home>) -> memref<2x2xf32, #sums> {
  %a = memref.alloc() : memref<5x4xf32, #home>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<5x4xf32, #home>) outs(%a : memref<5x4xf32, #home>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 5, 1], [4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  %b = memref.alloc() : memref<5x4xf32, #operand>
  "ipu.exchange"(%a, %b) : (memref<5x4xf32, #home>, memref<5x4xf32, #operand>) -> ()
  %y = memref.alloc() : memref<4xf32, #sums>
  %zero = arith.constant 0.0 : f32
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%zero : f32) outs(%y : memref<4xf32, #sums>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
                      iterator_types = ["parallel", "reduction"]}
          ins(%b : memref<5x4xf32, #operand>) outs(%y : memref<4xf32, #sums>) {
        ^bb0(%in: f32, %acc: f32):
          %0 = arith.addf %acc, %in : f32
          linalg.yield %0 : f32
      }
    }) {codelet = "reduce_f32", parts = #ipu.parts<[[2, 4, 1], [5, 5, 0]], 0>} : () -> ()
  }) : () -> ()
  %square = memref.expand_shape %y [[0, 1]] output_shape [2, 2] : memref<4xf32, #sums> into memref<2x2xf32, #sums>
  return %square : memref<2x2xf32, #sums>
}}
"""
X = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)


@pytest.fixture(scope="module")
def mutants(mutations: Any) -> list[str]:
    return [text for _, text in mutations.all_mutants(PROGRAM)]


def _executor(text: str, strict: bool, parse_unverified: Callable[[str], Any]) -> PerTileExecutor:
    return PerTileExecutor(parse_unverified(text), strict=strict)


def test_the_program_itself_runs(parse_unverified: Callable[[str], Any]) -> None:
    with ipu.context():
        result = _executor(PROGRAM, True, parse_unverified).run([X])[0]
    np.testing.assert_allclose(result, np.exp(X).sum(axis=0).reshape(2, 2), rtol=1e-6)


def test_every_mistake_is_made_once_at_every_place(mutations: Any) -> None:
    kinds = (mutations.lost_exchanges, mutations.moved_buffers, mutations.dropped_parts, mutations.reversed_parts)
    found = [list(kind(PROGRAM)) for kind in kinds]
    assert [len(mutants) for mutants in found] == [1, 3, 3, 3]
    assert mutations.all_mutants(PROGRAM) == [mutant for mutants in found for mutant in mutants]
    texts = {text for mutants in found for _, text in mutants}
    assert len(texts) == 10
    ((description, without),) = found[0]
    assert description == 'no exchange at loc("-":14:3)'
    assert "ipu.exchange" not in without


def test_a_moved_buffer_takes_its_views_and_the_results_type_along(mutations: Any) -> None:
    text = mutations.moved_buffers(PROGRAM)[2][1]
    moved = "#ipu.mapping<4 : i64, [[2, 4, 1, 1]], 0 : i64, 1 : i64>"
    assert "tiles_per_ipu = 5" in text
    assert f"-> memref<2x2xf32, {moved}>" in text
    assert f"return %expand_shape : memref<2x2xf32, {moved}>" in text


@pytest.mark.parametrize("number", range(10))
def test_strict_execution_refuses_every_mutant(
    number: int, mutants: list[str], parse_unverified: Callable[[str], Any]
) -> None:
    with ipu.context(), pytest.raises(RunError):
        _executor(mutants[number], True, parse_unverified).run([X])


@pytest.mark.parametrize("number", range(10))
def test_lenient_execution_refuses_or_shows_poison(
    number: int, mutants: list[str], parse_unverified: Callable[[str], Any]
) -> None:
    with ipu.context():
        try:
            result = _executor(mutants[number], False, parse_unverified).run([X])[0]
        except RunError:
            return
    assert np.isnan(result).any()
