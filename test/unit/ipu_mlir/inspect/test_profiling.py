"""Profiles from the API: of an executable, of a program that does not fit, of one for an emulated machine."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.inspect.profiling import profile_of_failure

TANH = """
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""


def target(**fields: bool | int) -> ipu.Target:
    return ipu.Target(tiles_per_ipu=2, **fields)


def test_a_program_that_does_not_fit_has_a_profile() -> None:
    with pytest.raises(ipu.OutOfMemoryError) as raised:
        ipu.compile(TANH, target=target(bytes_per_tile=4096))
    profile = profile_of_failure(raised.value)
    (problem,) = profile.compilation.problems
    assert not profile.compilation.fits and "DOES NOT FIT" in profile.summary()
    memory = profile.compilation.memory
    assert problem.over_bytes == memory.worst_bytes - memory.limit == memory.worst_bytes - 4096
    names = [profile.compilation.variables[number].name for number in problem.largest]
    assert "%arg0" in names
    assert problem.message in profile.summary()
    fitting = ipu.compile(TANH, target=target())
    assert profile.execution.cycles.compute == fitting.profile().execution.cycles.compute


def test_an_emulated_machine_profiles_what_does_not_fit() -> None:
    with pytest.warns(ipu.MemoryWarning):
        executable = ipu.compile(TANH, target=target(bytes_per_tile=4096, emulated=True))
    profile = executable.profile([np.zeros((64, 64), np.float32)])
    assert profile.target.emulated and not profile.compilation.fits
    assert profile.compilation.problems


def test_inputs_that_do_not_fit_are_refused_where_a_run_is_needed() -> None:
    text = """
func.func @main(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %times step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.tanh ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}"""
    executable = ipu.compile(text, target=target())
    with pytest.raises(ipu.RunError, match="1 input given, 2 expected"):
        executable.profile([np.zeros(4, np.float32)])


def test_a_program_of_unknown_sizes_is_profiled_for_those_of_its_inputs() -> None:
    text = """
func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%rows) : tensor<?x64xf32>
  %y = linalg.tanh ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}"""
    program = ipu.compile(text, target=target())
    small, large = (program.profile([np.zeros((rows, 64), np.float32)]) for rows in (4, 40))
    assert isinstance(small, ipu.Profile)
    assert large.total_cycles > small.total_cycles


def test_a_program_that_lies_on_no_tiles_has_no_profile() -> None:
    options = "bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"
    executable = ipu.compile(TANH, target=target(), pipeline=f"builtin.module(one-shot-bufferize{{{options}}})")
    with pytest.raises(ipu.CompileError, match=r"made of supersteps, but memref<64x64xf32> of 'func.func' lies on no"):
        executable.profile()
