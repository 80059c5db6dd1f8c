"""Fusion of long chains: all of one in one op, in time that grows with its length; nothing runs more often for it."""

import time
from collections.abc import Callable

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import PassStep, UpstreamStep
from ipu_mlir.passes.normalize.fuse_elementwise_ops import FuseElementwiseOps
from ipu_mlir.passes.normalize.generalize_ops import GeneralizeOps
from ipu_mlir.passes.support.rewriting import list_ops

Parse = Callable[[str], ir.Module]
_LINALG = (UpstreamStep("convert-elementwise-to-linalg"), PassStep(GeneralizeOps()), UpstreamStep("canonicalize"))


def _function(lines: list[str], result: str) -> str:
    arguments = "%x: tensor<2x4xf32>, %w: tensor<2x4xf32>"
    return f"func.func @main({arguments}) -> tensor<2x4xf32> {{\n" + "\n".join(lines) + f"\nreturn {result}\n}}"


def _chain(length: int) -> str:
    steps = [f"%v{i + 1} = arith.addf %v{i}, %w : tensor<2x4xf32>" for i in range(length)]
    return _function(["%v0 = math.tanh %x : tensor<2x4xf32>", *steps], f"%v{length} : tensor<2x4xf32>")


def _with_views(length: int) -> str:
    lines = [
        line
        for i in range(length)
        for line in (
            f"%c{i} = tensor.collapse_shape %v{i} [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>",
            f"%t{i} = math.tanh %c{i} : tensor<8xf32>",
            f"%v{i + 1} = tensor.expand_shape %t{i} [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>",
        )
    ]
    return _function(["%v0 = math.tanh %x : tensor<2x4xf32>", *lines], f"%v{length} : tensor<2x4xf32>")


def _producers_first(length: int) -> str:
    """All terms of a sum, and then the sum."""
    terms = [f"%t{i} = math.tanh %x : tensor<2x4xf32>" for i in range(length)]
    sums = [f"%v{i + 1} = arith.addf %v{i}, %t{i} : tensor<2x4xf32>" for i in range(length)]
    return _function(["%v0 = math.exp %w : tensor<2x4xf32>", *terms, *sums], f"%v{length} : tensor<2x4xf32>")


@pytest.mark.parametrize("build", [_chain, _with_views, _producers_first])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 300])
def test_a_chain_becomes_one_op(parse: Parse, build: Callable[[int], str], length: int) -> None:
    module = parse(build(length))
    run_steps(module, [*_LINALG, PassStep(FuseElementwiseOps())])
    assert len(list_ops(module.operation, "linalg.generic")) == 1
    assert not list_ops(module.operation, "ipu.second_use")


def test_a_long_chain_whose_end_is_repeated_is_computed_once(parse: Parse) -> None:
    """Its length is not that of calls inside each other."""
    repeated = """%r = linalg.generic {
        indexing_maps = [affine_map<(n, i, j) -> (i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
        iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%v1100 : tensor<2x4xf32>) outs(%e : tensor<10000x2x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %m = arith.mulf %in, %in : f32
        linalg.yield %m : f32
      } -> tensor<10000x2x4xf32>"""
    *lines, _, end = _chain(1100).replace("-> tensor<2x4xf32>", "-> tensor<10000x2x4xf32>", 1).splitlines()
    empty = "%e = tensor.empty() : tensor<10000x2x4xf32>"
    module = parse("\n".join([*lines, empty, repeated, "return %r : tensor<10000x2x4xf32>", end]))
    run_steps(module, [*_LINALG, PassStep(FuseElementwiseOps())])
    assert len(list_ops(module.operation, "linalg.generic")) == 2


def test_an_op_without_results_fuses_with_its_operand(parse: Parse) -> None:
    """PyTorch writes assertions about every element so."""
    module = parse("""func.func @main(%x: tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = math.exp %x : tensor<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%e : tensor<8xf32>) {
  ^bb0(%in: f32):
    %c = arith.cmpf one, %in, %zero : f32
    cf.assert %c, "zero"
    linalg.yield
  }
  return
}""")
    run_steps(module, [*_LINALG, PassStep(FuseElementwiseOps())])
    assert list_ops(module.operation, "cf.assert")


@pytest.mark.parametrize("build", [_chain, _with_views, _producers_first])
def test_time_grows_with_the_length(parse: Parse, build: Callable[[int], str]) -> None:
    """Four times the length takes upstream's pass alone 14 to 20 times as long."""

    def seconds(length: int) -> float:
        times: list[float] = []
        for _ in range(2):
            module = parse(build(length))
            run_steps(module, _LINALG, verify=False)
            started = time.process_time()
            run_steps(module, [PassStep(FuseElementwiseOps())], verify=False)
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(1600) < 9 * seconds(400)


def _loop(*, returned: bool) -> str:
    """A loop that reads exp(w); the program also returns it, or not."""
    kind = "tensor<64x64xf32>"
    results, values = (f"({kind}, {kind})", "%r, %e") if returned else (kind, "%r")
    return f"""func.func @main(%x: {kind}, %w: {kind}) -> {results} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %e = math.exp %w : {kind}
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%y = %x) -> ({kind}) {{
    %m = arith.mulf %y, %e : {kind}
    scf.yield %m : {kind}
  }}
  return {values} : {results.strip("()")}
}}"""


def test_a_loop_does_not_repeat_what_it_only_reads() -> None:
    target = ipu_mlir.Target(tiles_per_ipu=16)
    alone, returned = (ipu_mlir.compile(_loop(returned=each), target=target, kernels="never") for each in (False, True))
    cycles = [each.profile().execution.cycles.compute for each in (alone, returned)]
    assert cycles[0] <= cycles[1]
    assert alone.source().count("exp(") == 1
    x, w = np.ones((2, 64, 64), np.float32)
    np.testing.assert_allclose(alone(x, w), np.exp(w) ** 10 * x, rtol=1e-5)
