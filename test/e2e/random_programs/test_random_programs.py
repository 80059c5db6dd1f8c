"""Random programs: both executors, NumPy and LLVM's JIT agree.

A short run with fixed programs is part of every test run. ``make test-slow`` draws many more:
``IPU_RANDOM_PROGRAMS`` says how many of each kind (1000 without it), ``IPU_RANDOM_SEED`` which.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from support.case import assert_close
from support.compare import same_bits
from support.llvm_jit import run_on_llvm
from support.random.calls import Called
from support.random.casts import casts
from support.random.control import MOVING_KINDS, VIEWING_KINDS, control_flow
from support.random.gathers import gathers
from support.random.layers import layers
from support.random.limits import expressions_at_limits
from support.random.maps import any_indices
from support.random.narrow import narrow_expressions
from support.random.programs import Program, exact_programs, smooth_chains
from support.random.scatters import narrow_scatters, scatters
from support.random.several import several_results
from support.random.shards import on_ipus
from support.random.slices import slices
from support.random.steps import SteppedProgram
from support.random.views import Chain, view_chains
from support.random.windows import windows

import ipu_mlir as ipu

KINDS = {
    "element-wise": exact_programs(("elementwise",), 5),
    "smooth": smooth_chains(),
    "reductions": exact_programs(("reduction",), 2),
    "contractions": exact_programs(("contraction",), 2),
    "views": view_chains(),
    "mixed": exact_programs(("elementwise", "reduction", "contraction"), 4),
    "windows": windows(),
    "layers": layers(),
    "gathers": gathers(),
    "slices": slices(),
    "scatters": scatters(),
    "gathers outside": gathers(is_inside=False),
    "slices outside": slices(is_inside=False),
    "scatters outside": scatters(is_inside=False),
    "narrow scatters": narrow_scatters(),
    "several results": several_results(),
    "any indices": any_indices(),
    "control flow": control_flow(),
    "moves in control flow": control_flow(MOVING_KINDS),
    "views in control flow": control_flow(VIEWING_KINDS),
    "casts": casts(),
    "narrow floats": narrow_expressions(),
    "limits": expressions_at_limits(),
}
KINDS["outlined calls"] = st.one_of(
    KINDS[kind] for kind in ("mixed", "views", "windows", "gathers", "slices", "scatters", "control flow")
).map(Called)
WITHOUT_LLVM = {"smooth", "casts", "narrow floats", "narrow scatters"}
WITHOUT_LLVM |= {"gathers outside", "slices outside", "scatters outside", "any indices", "views in control flow"}
"""LLVM's functions round otherwise, its casts of narrow floats call functions that the wheel lacks, what lies outside
of a tensor is any memory, and upstream's bufferization does not keep what an op leaves of a result that its body does
not read, nor does it take slices without elements whose rank is reduced."""
FEW = 8
MANY = int(os.environ.get("IPU_RANDOM_PROGRAMS", "1000"))
SEED = int(os.environ.get("IPU_RANDOM_SEED", "0"))
_UNHURRIED = settings(
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

AnyProgram = Program | Chain | SteppedProgram
Check = Callable[[Any, int], None]


def check(program: AnyProgram, tiles: int) -> None:
    """Both executors against each other and NumPy."""
    check_text(program.text, program, ipu.Target(tiles_per_ipu=tiles))


def check_on_ipus(program: AnyProgram, tiles: int) -> None:
    """As ``check``, where most ops say on which of three IPUs they run."""
    check_text(on_ipus(program.text, 3, tiles), program, ipu.Target(ipus=3, tiles_per_ipu=tiles))


def check_text(text: str, program: AnyProgram, target: ipu.Target) -> None:
    """``text`` stands for ``program``."""
    note(text)
    inputs = program.inputs()
    executable = ipu.compile(text, target=target, kernels="never")
    fast, per_tile, expected = executable.run(inputs), executable.run_per_tile(inputs), program.evaluate(inputs)
    if program.is_exact:
        assert_equal(fast, per_tile, "fast against per-tile executor")
        assert_equal(fast, expected, "fast executor against NumPy")
    else:
        wrong = same_bits(fast, per_tile)
        assert not wrong, f"fast against per-tile executor: {wrong}"
        if (tolerance := getattr(program, "tolerance", None)) is None:
            assert_close(fast, expected, 0, "fast executor against NumPy")
            return
        for got, want in zip(fast, expected, strict=True):
            np.testing.assert_allclose(got, want, *tolerance, err_msg="fast executor against NumPy")


def check_with_llvm(program: AnyProgram, tiles: int) -> None:
    """As ``check``, and LLVM against NumPy."""
    expected = program.evaluate(program.inputs())
    assert_equal(run_on_llvm(program.text, program.inputs(), expected), expected, "LLVM against NumPy")
    check(program, tiles)


def check_with_kernels(program: AnyProgram, tiles: int) -> None:
    """Machine code against the per-tile executor: other functions, otherwise the same numbers, and no others."""
    note(program.text)
    inputs, target = program.inputs(), ipu.Target(tiles_per_ipu=tiles)
    executable = ipu.compile(program.text, target=target, kernels="checked")
    fast = executable.run(inputs)
    per_tile = executable.run_per_tile(inputs)
    if program.is_exact:
        assert_equal(fast, per_tile, "machine code against per-tile executor")
        return
    for got, want in zip(fast, per_tile, strict=True):
        tolerance = 0 if want.dtype.kind in "iub" else {2: 2e-2, 4: 3e-5, 8: 1e-12}[want.dtype.itemsize]
        np.testing.assert_allclose(got.astype(float), want.astype(float), tolerance, tolerance)


def assert_equal(results: list[np.ndarray], expected: list[np.ndarray], what: str) -> None:
    """Equal numbers of one type; +0 equals -0."""
    assert len(results) == len(expected), what
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        np.testing.assert_array_equal(got, want, f"{what}, result {number}", strict=True)


def run(check: Check, programs: st.SearchStrategy[Any], **how: Any) -> None:
    """Try ``check`` on programs that hypothesis draws; the smallest one that fails is printed as a module."""
    tiles = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 16, 23, 64))

    @settings(_UNHURRIED, **how)
    @given(programs, tiles)
    def tried(program: Any, tiles: int) -> None:
        check(program, tiles)

    (tried if how.get("derandomize") else seed(SEED)(tried))()


@pytest.mark.parametrize("kind", KINDS)
def test_executors_and_numpy_agree(kind: str) -> None:
    run(check, KINDS[kind], max_examples=FEW, derandomize=True)


@pytest.mark.parametrize("kind", ["mixed", "views", "moves in control flow"])
def test_executors_and_numpy_agree_on_several_ipus(kind: str) -> None:
    run(check_on_ipus, KINDS[kind], max_examples=FEW // 4, derandomize=True)


@pytest.mark.parametrize("kind", sorted({*KINDS} - WITHOUT_LLVM))
def test_llvm_agrees(kind: str) -> None:
    run(check_with_llvm, KINDS[kind], max_examples=FEW // 4, derandomize=True)


@pytest.mark.parametrize("kind", ["mixed", "control flow", "narrow floats", "outlined calls", "layers"])
def test_kernels_agree(kind: str) -> None:
    run(check_with_kernels, KINDS[kind], max_examples=FEW // 4, derandomize=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_agree_on_many(kind: str) -> None:
    run(check_with_kernels, KINDS[kind], max_examples=MANY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_executors_and_numpy_agree_on_many(kind: str) -> None:
    run(check, KINDS[kind], max_examples=MANY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_executors_and_numpy_agree_on_several_ipus_on_many(kind: str) -> None:
    run(check_on_ipus, KINDS[kind], max_examples=MANY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({*KINDS} - WITHOUT_LLVM))
def test_llvm_agrees_on_many(kind: str) -> None:
    run(check_with_llvm, KINDS[kind], max_examples=MANY)
