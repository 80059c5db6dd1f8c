"""Functions that call the next one twice: where calls stay, compiling and profiling take time for each function, not
for each run of it; where they are inlined, a program that becomes too large is refused at once.
"""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from support.random.calls import Called
from support.random.control import control_flow
from support.random.programs import exact_programs

import ipu_mlir as ipu
from ipu_mlir.dialects.memory import timeline
from ipu_mlir.dialects.memory.report import memory_report
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError

KIND = "tensor<16xf32>"
TARGET = ipu.Target(tiles_per_ipu=4)


def doubling(levels: int, mark: str = " {ipu.outlined}") -> str:
    """``levels`` functions: the last one adds 1, each other one calls the one behind it twice."""
    functions = [
        f"""func.func {"@main" if level == 0 else f"private @f{level}"}(%x: {KIND}) -> {KIND} {{
  %a = func.call @f{level + 1}(%x){mark} : ({KIND}) -> {KIND}
  %b = func.call @f{level + 1}(%a){mark} : ({KIND}) -> {KIND}
  return %b : {KIND}
}}"""
        for level in range(levels - 1)
    ]
    last = f"""func.func private @f{levels - 1}(%x: {KIND}) -> {KIND} {{
  %one = arith.constant dense<1.0> : {KIND}
  %a = arith.addf %x, %one : {KIND}
  return %a : {KIND}
}}"""
    return "\n".join([*functions, last])


def test_a_program_of_a_billion_steps_compiles_and_has_a_profile() -> None:
    executable = ipu.compile(doubling(32), target=TARGET)
    cycles = [ipu.compile(doubling(levels), target=TARGET).profile().total_cycles for levels in (3, 4)]
    profile = executable.profile()
    each = (cycles[1] - cycles[0]) / 4
    assert profile.total_cycles == pytest.approx(each * 2**31, rel=1e-3)
    assert "main" in executable.source()


def test_it_runs() -> None:
    executable = ipu.compile(doubling(8), target=TARGET)
    x = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(executable.run([x])[0], x + 128)
    np.testing.assert_array_equal(executable.run_per_tile([x])[0], x + 128)


def test_time_grows_with_the_number_of_functions() -> None:
    def seconds(levels: int) -> float:
        started = time.process_time()
        ipu.compile(doubling(levels), target=TARGET, kernels="never").profile()
        return time.process_time() - started

    seconds(2)
    assert min(seconds(64), seconds(64)) < 8 * seconds(16)


def test_what_is_inlined_and_becomes_too_large_is_refused_at_once() -> None:
    started = time.process_time()
    message = r"@main has 8,589,934,\d+ ops .* mark the calls of @f\d+, .* {ipu.outlined}"
    with pytest.raises(CompileError, match=message):
        ipu.compile(doubling(31, ""))
    assert time.process_time() - started < 10


def _peaks(module: ir.Module, *, each_call: bool, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    with monkeypatch.context() as patch:
        if each_call:
            patch.setattr(timeline._Run, "_call", lambda run, call, taken: run._block(call.body, taken))
        report = memory_report(module, "main")
    of_tiles = [report.peak, report.data_peak, report.peak_step, *report.categories.values()]
    return [[int(each.on(tile)) for tile in range(TARGET.num_tiles)] for each in of_tiles]


@pytest.mark.parametrize("programs", [exact_programs(("elementwise", "reduction"), 4), control_flow()])
def test_memory_is_what_every_call_by_itself_needs(programs, monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=8, derandomize=True, deadline=None, database=None)
    @given(programs.map(Called))
    def check(program: Called) -> None:
        module = ipu.compile(program.text, target=TARGET, kernels="never").module()
        shared, each = (_peaks(module, each_call=each_call, monkeypatch=monkeypatch) for each_call in (False, True))
        assert shared == each

    check()
