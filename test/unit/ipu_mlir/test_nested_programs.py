"""Loops and branches deep in each other: compiled in time that grows with the depth and run, or refused."""

import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.nesting import MOST_NESTED

KIND = "tensor<8xf32>"
HEADS = {
    "for": (
        "%r{i} = scf.for %i{i} = %c0 to %u step %c1 iter_args(%a{i} = {before}) -> ({kind}) {{",
        "%a{i}",
        "scf.yield {inner} : {kind}\n}}",
    ),
    "if": (
        "%i{i} = arith.constant {i} : index\n%p{i} = tensor.extract %p[%i{i}] : tensor<{n}xi1>\n"
        "%r{i} = scf.if %p{i} -> ({kind}) {{",
        "{before}",
        "%t{i} = math.sin {inner} : {kind}\nscf.yield %t{i} : {kind}\n}} else {{\n"
        "%e{i} = math.cos %x : {kind}\nscf.yield %e{i} : {kind}\n}}",
    ),
    "while": (
        "%r{i} = scf.while (%w{i} = {before}) : ({kind}) -> {kind} {{\n%i{i} = arith.constant {i} : index\n"
        "%q{i} = tensor.extract %p[%i{i}] : tensor<{n}xi1>\n%false{i} = arith.constant false\n"
        "%n{i} = arith.cmpi eq, %q{i}, %false{i} : i1\n"
        "scf.condition(%n{i}) %w{i} : {kind}\n}} do {{\n^bb0(%a{i}: {kind}):",
        "%a{i}",
        "scf.yield {inner} : {kind}\n}}",
    ),
}


def program(kinds: list[str]) -> str:
    """The ops of ``kinds`` inside each other, around an addition."""
    n, before, lines, ends = len(kinds), "%x", [], []
    for i, kind in enumerate(kinds):
        head, carried, end = HEADS[kind]
        lines.append(head.format(i=i, n=n, kind=KIND, before=before))
        before = carried.format(i=i, before=before)
        ends.append(end.format(i=i, kind=KIND, inner=f"%r{i + 1}" if i + 1 < n else "%s"))
    body = [*lines, f"%s = arith.addf {before}, %x : {KIND}", *reversed(ends), f"return %r0 : {KIND}"]
    constants = (
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%u = tensor.extract %n[] : tensor<index>"
    )
    head = f"func.func @main(%x: {KIND}, %n: tensor<index>, %p: tensor<{n}xi1>) -> {KIND} {{"
    return "\n".join([head, constants, *body, "}"])


@pytest.fixture(autouse=True)
def calls() -> Iterator[None]:
    """Python's limit of calls stays as it was for other tests."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(["for"] * MOST_NESTED, marks=pytest.mark.slow),  # Python itself takes 20
        pytest.param(["if"] * MOST_NESTED, marks=pytest.mark.slow),
        ["for", "if", "for"] * 9,
    ],
    ids=["loops", "branches", "both"],
)
def test_both_executors_run_it(kinds: list[str]) -> None:
    executable = ipu_mlir.compile(program(kinds), target=ipu_mlir.Target(tiles_per_ipu=2))
    x = np.linspace(0, 1, 8, dtype=np.float32)
    for branches in (np.ones(len(kinds), bool), np.arange(len(kinds)) < len(kinds) - 1):
        expected = _expected(kinds, branches, x)
        inputs = [x, np.array(1, executable.argument_specs[1].dtype), branches]
        np.testing.assert_allclose(executable.run(inputs)[0], expected, rtol=1e-5)
        np.testing.assert_allclose(executable.run_per_tile(inputs)[0], expected, rtol=1e-5)


def _expected(kinds: list[str], branches: np.ndarray, x: np.ndarray) -> np.ndarray:
    taken = len(kinds)
    value = x + x
    for i, kind in enumerate(kinds):
        if kind == "if" and not branches[i]:
            taken, value = i, np.cos(x)
            break
    for kind in reversed(kinds[:taken]):
        value = np.sin(value) if kind == "if" else value
    return value


def test_a_while_in_a_while_that_never_runs() -> None:
    kinds = ["while"] * 25
    executable = ipu_mlir.compile(program(kinds), target=ipu_mlir.Target(tiles_per_ipu=2))
    x = np.arange(8, dtype=np.float32)
    inputs = [x, np.array(1, executable.argument_specs[1].dtype), np.ones(25, bool)]
    assert np.array_equal(executable.run(inputs)[0], x) and np.array_equal(executable.run_per_tile(inputs)[0], x)


@pytest.mark.parametrize("kind", ["for", "while", "if"])
def test_compile_time_does_not_double_with_each_level(kind: str) -> None:
    def seconds(depth: int) -> float:
        started = time.process_time()
        ipu_mlir.compile(program([kind] * depth))
        return time.process_time() - started

    seconds(2)
    assert min(seconds(24), seconds(24)) < 12 * seconds(6)  # of two: one may have collected another test's garbage


@pytest.mark.parametrize("kind", ["for", "while", "if"])
@pytest.mark.parametrize("depth", [MOST_NESTED + 1, 600])
def test_more_is_refused_in_one_line(kind: str, depth: int) -> None:
    with pytest.raises(CompileError, match=rf"^\S+:\d+:\d+: error: 'scf.{kind}' op stands in 128 others") as refused:
        ipu_mlir.compile(program([kind] * depth))
    assert len(str(refused.value).splitlines()) == 1
