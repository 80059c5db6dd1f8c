"""Branches inside each other: divided among functions while buffers are chosen, they do the same as in one; switches
of many cases compile in time that grows with their number.
"""

import time

import numpy as np
import pytest
from random_programs.test_random_programs import FEW, MANY, check, run
from support.random.control import MOVING_KINDS, control_flow

import ipu_mlir as ipu
from ipu_mlir.passes.pipelines import PIPELINES

KINDS = {"control flow": control_flow(), "moves in control flow": control_flow(MOVING_KINDS)}


@pytest.fixture
def each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every branch inside another one goes to a function."""
    steps = [
        "ipu-divide-branches{most=1}" if each == "ipu-divide-branches" else each for each in PIPELINES["ipu-lower"]
    ]
    assert tuple(steps) != PIPELINES["ipu-lower"]
    monkeypatch.setitem(PIPELINES, "ipu-lower", tuple(steps))


@pytest.mark.usefixtures("each_by_itself")
@pytest.mark.parametrize("kind", KINDS)
def test_executors_and_numpy_agree(kind: str) -> None:
    run(check, KINDS[kind], max_examples=FEW // 3, derandomize=True)


@pytest.mark.slow
@pytest.mark.usefixtures("each_by_itself")
@pytest.mark.parametrize("kind", KINDS)
def test_executors_and_numpy_agree_on_many(kind: str) -> None:
    run(check, KINDS[kind], max_examples=MANY)


def switch(numbers: list[int], *, loop: bool = False) -> str:
    """A program that adds the number of the case to each element, or to part of them in place in a loop."""
    kind, read = "tensor<16xf32>", "%s" if loop else "%x"
    cases = [
        f"""  case {number} {{
    %c = arith.constant dense<{number + 0.5}> : tensor<4xf32>
    %a = tensor.extract_slice {read}[{4 * (at % 4)}] [4] [1] : {kind} to tensor<4xf32>
    %b = arith.addf %a, %c : tensor<4xf32>
    %d = tensor.insert_slice %b into {read}[{4 * (at % 4)}] [4] [1] : tensor<4xf32> into {kind}
    scf.yield %d : {kind}
  }}"""
        for at, number in enumerate(numbers)
    ]
    lines = [f"%r = scf.index_switch %k -> {kind}", *cases, f"  default {{\n    scf.yield {read} : {kind}\n  }}"]
    result = "%r"
    if loop:
        head = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c3 = arith.constant 3 : index"
        lines = [head, f"%l = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> ({kind}) {{", *lines]
        lines.append(f"  scf.yield %r : {kind}\n}}")
        result = "%l"
    body = "\n".join(lines)
    return f"""func.func @main(%x: {kind}, %i32: i32) -> {kind} {{
  %k = arith.index_cast %i32 : i32 to index
  {body}
  return {result} : {kind}
}}"""


NUMBERS = [*range(-3, 9), 20, 21, 30, *range(40, 60, 2)]


@pytest.mark.parametrize("loop", [False, True])
def test_every_case_and_the_numbers_beside_them(loop: bool) -> None:
    executable = ipu.compile(switch(NUMBERS, loop=loop), target=ipu.Target(tiles_per_ipu=4))
    x = np.arange(16, dtype=np.float32)
    for k in (*range(-5, 62), -(2**31), 2**31 - 1):
        expected = x.copy()
        if k in NUMBERS:
            at = 4 * (NUMBERS.index(k) % 4)
            expected[at : at + 4] += np.float32(k + 0.5) * (3 if loop else 1)
        inputs = [x, np.array(k, np.int32)]
        np.testing.assert_array_equal(executable.run(inputs)[0], expected)
        if k % 7 == 0:
            np.testing.assert_array_equal(executable.run_per_tile(inputs)[0], expected)


def else_if(count: int) -> str:
    """``count`` tests of a number, each in the else of the one before."""
    kind = "tensor<16xf32>"
    tests = [
        f"""%k{at} = arith.constant {at} : i32
%p{at} = arith.cmpi eq, %i, %k{at} : i32
%r{at} = scf.if %p{at} -> ({kind}) {{
  %c = arith.constant dense<{at}.5> : {kind}
  %s = arith.addf %x, %c : {kind}
  scf.yield %s : {kind}
}} else {{"""
        for at in range(count)
    ]
    ends = [f"scf.yield %r{at} : {kind}\n}}" for at in reversed(range(1, count))]
    lines = [*tests, f"scf.yield %x : {kind}\n}}", *ends, f"return %r0 : {kind}"]
    return f"func.func @main(%x: {kind}, %i: i32) -> {kind} {{\n" + "\n".join(lines) + "\n}"


PROGRAMS = {
    "switch": (lambda count: switch(list(range(count))), 100),
    "switch in a loop": (lambda count: switch(list(range(count)), loop=True), 100),
    "else if": (else_if, 100),
}


@pytest.mark.parametrize(
    "kind", ["switch", *(pytest.param(kind, marks=pytest.mark.slow) for kind in PROGRAMS if kind != "switch")]
)
def test_time_grows_with_the_number_of_branches(kind: str) -> None:
    """Four times the cases took bufferization alone a hundred times as long."""
    program, count = PROGRAMS[kind]

    def seconds(count: int) -> float:
        started = time.process_time()
        ipu.compile(program(count), target=ipu.Target(tiles_per_ipu=4), kernels="never")
        return time.process_time() - started

    seconds(2)
    assert min(seconds(count), seconds(count)) < 8 * seconds(count // 4)
