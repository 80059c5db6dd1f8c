"""What the profile of a program says is what the per-tile executor does: bytes that move, steps that run."""

import numpy as np
import pytest
from support.corpus import programs

import ipu_mlir as ipu
from ipu_mlir.dialects.ipu import context
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

LOOP = """
func.func @main(%x: tensor<9x10xf32>, %n: tensor<index>) -> tensor<9x10xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %times = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %times step %c1 iter_args(%a = %x) -> tensor<9x10xf32> {
    %e = tensor.empty() : tensor<10x9xf32>
    %t = linalg.transpose ins(%a : tensor<9x10xf32>) outs(%e : tensor<10x9xf32>) permutation = [1, 0]
    %f = tensor.empty() : tensor<9x9xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<9x9xf32>) -> tensor<9x9xf32>
    %square = linalg.matmul ins(%a, %t : tensor<9x10xf32>, tensor<10x9xf32>) outs(%start : tensor<9x9xf32>)
      -> tensor<9x9xf32>
    %g = tensor.empty() : tensor<9x10xf32>
    %again = linalg.fill ins(%zero : f32) outs(%g : tensor<9x10xf32>) -> tensor<9x10xf32>
    %y = linalg.matmul ins(%square, %a : tensor<9x9xf32>, tensor<9x10xf32>) outs(%again : tensor<9x10xf32>)
      -> tensor<9x10xf32>
    scf.yield %y : tensor<9x10xf32>
  }
  return %r : tensor<9x10xf32>
}
"""


def check(source: object, inputs: list[np.ndarray], tiles: int) -> int:
    """Compare the profile of a run with what the executor did in it; how many exchanges ran."""
    executable = ipu.compile(source, target=ipu.Target(tiles_per_ipu=tiles))
    profile = executable.profile(inputs)
    with context():
        executor = PerTileExecutor(ir.Module.parse(executable.mlir()))
        executor.run(inputs)
    for direction in ("received", "sent"):
        copied = sum(int(getattr(each, direction).sum()) * each.element_bytes for each in executor.traffic)
        reckoned = sum(step.count * getattr(step, f"bytes_{direction}") for step in profile.execution.steps)
        assert reckoned == copied, direction
    worst = max((int(each.received.max()) * each.element_bytes for each in executor.traffic), default=0)
    assert max(step.bytes_received_worst for step in profile.execution.steps if step.count) == worst
    kinds = {step.id: step.kind for step in profile.compilation.steps}
    runs = sum(step.count for step in profile.execution.steps if kinds[step.step] == "exchange")
    assert runs == len(executor.traffic)
    return runs


@pytest.mark.parametrize("name", list(programs()))
def test_exchanged_bytes_are_those_that_are_copied(name: str) -> None:
    program = programs()[name]
    check(program.mlir, program.inputs, tiles=7)


@pytest.mark.parametrize("times", [0, 1, 3])
def test_exchanges_in_a_loop_count_as_often_as_they_run(times: int) -> None:
    inputs = [np.random.default_rng(5).standard_normal((9, 10), np.float32) / 10, np.array(times, np.int64)]
    assert check(LOOP, inputs, tiles=6) >= times


@pytest.mark.parametrize(
    ("begin", "op"),
    [
        ("%d = tensor.empty() : tensor<64x64xf32>", "exp ins(%y : tensor<64x64xf32>)"),
        (
            """%e = tensor.empty() : tensor<64x64xf32>
  %d = linalg.fill ins(%one : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>""",
            "matmul ins(%y, %x : tensor<64x64xf32>, tensor<64x64xf32>)",
        ),
    ],
    ids=["empty", "fill"],
)
def test_what_a_loop_writes_costs_the_same_made_before_it_or_in_it(begin: str, op: str) -> None:
    def cycles(before: str, inside: str) -> list[int]:
        text = f"""func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %one = arith.constant 1.0 : f32
  {before}
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%y = %x) -> tensor<64x64xf32> {{
  {inside}
    %n = linalg.{op} outs(%d : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }}
  return %r : tensor<64x64xf32>
}}"""
        found = ipu.compile(text, target=ipu.Target(tiles_per_ipu=16)).profile().execution.cycles
        return [found.compute, found.exchange, found.sync]

    assert cycles(begin, "") == cycles("", begin)
