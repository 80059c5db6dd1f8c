"""What a user of the Python API is told who got something wrong: which value or op, what was expected, where."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

ADD = """
func.func @main(%x: tensor<3x4xf32>, %n: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.add ins(%x, %n : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
"""
X = np.ones((3, 4), np.float32)
SMALL = ipu.Target(tiles_per_ipu=4)


@pytest.fixture(scope="module")
def add() -> ipu.Executable:
    return ipu.compile(ADD, target=SMALL)


BAD_INPUTS: dict[str, tuple[list[Any], list[str]]] = {
    "shape": ([X, X.T], ["1", "(4, 3)", "(3, 4)"]),
    "rank": ([X[0], X], ["0", "(4,)", "(3, 4)"]),
    "dtype": ([X.astype(np.float64), X], ["0", "float64", "float32"]),
    "too-few": ([X], ["1", "2"]),
    "too-many": ([X, X, X], ["3", "2"]),
}


@pytest.mark.parametrize("run", ["run", "run_per_tile"])
@pytest.mark.parametrize("mistake", BAD_INPUTS)
def test_inputs_that_do_not_fit_are_named(mistake: str, run: str, add: ipu.Executable) -> None:
    inputs, words = BAD_INPUTS[mistake]
    with pytest.raises(ipu.RunError) as raised:
        getattr(add, run)(inputs)
    missing = [word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", str(raised.value))]
    assert missing == [], raised.value


def test_a_program_still_runs_after_it_refused_inputs(add: ipu.Executable) -> None:
    with pytest.raises(ipu.RunError):
        add.run([X, X.T])
    np.testing.assert_array_equal(add.run([X, X])[0], X + X)


UNSUPPORTED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = arith.addf %x, %n : tensor<4xf32>
  %z = tosa.reciprocal %y : (tensor<4xf32>) -> tensor<4xf32>
  %w = tosa.tanh %z : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}
"""


def test_all_unsupported_ops_are_listed_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "program.mlir"
    file.write_text(UNSUPPORTED)
    with pytest.raises(ipu.CompileError) as raised:
        ipu.compile(file)
    lines = str(raised.value).splitlines()
    expected = {
        "3:8": "'tosa.abs' is not supported; ",
        "5:8": "'tosa.reciprocal' is not supported; ",
        "6:8": "'tosa.tanh' is not supported; ",
    }
    assert len(lines) == len(expected)
    for line, (place, message) in zip(lines, expected.items(), strict=True):
        assert line.startswith(f"{file}:{place}: error: {message}")


def test_a_function_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ipu.CompileError, match="no function @step; it has @main"):
        ipu.compile(ADD, entry="step")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.97])
def test_a_truncated_file_is_an_error_in_its_line(share: float, tmp_path: Path) -> None:
    file = tmp_path / "cut.mlir"
    file.write_text(ADD[: int(share * len(ADD))])
    with pytest.raises(ipu.CompileError) as raised:
        ipu.compile(file)
    first = str(raised.value).splitlines()[0]
    assert first.startswith(f"{file}:")
    line, column = first.removeprefix(f"{file}:").split(":")[:2]
    assert 1 <= int(line) <= ADD.count("\n") and int(column) >= 1


SOURCES_THAT_ARE_NONE: dict[str, tuple[Any, str]] = {
    "no-such-file": ("nowhere/program.mlir", "nowhere/program.mlir"),
    "no-mlir": ("this is\nno program", "error"),
    "unknown-op": ("func.func @main() {\n  nothing.at_all\n}", "2:3: error"),
    "wrong-types": (ADD.replace("-> tensor<3x4xf32> {", "-> tensor<4x3xf32> {"), "error"),
    "a-number": (3, "int"),
}


@pytest.mark.parametrize("source", SOURCES_THAT_ARE_NONE)
def test_what_is_no_program_is_refused(source: str) -> None:
    program, words = SOURCES_THAT_ARE_NONE[source]
    with pytest.raises(ipu.CompileError, match=words):
        ipu.compile(program)


BAD_HINTS = {
    "other-size": ("8, [[2, 8, 1, 1]], 0, 0", "allocation of 8 elements, but has 12"),
    "beyond-the-target": ("12, [[3, 12, 1, 1]], 0, 2", r"tiles 2 to 5, but the target has tiles 0 to 3"),
    "missing-elements": ("12, [[4, 8, 1, 1]], 0, 0", "leaves elements on no tile"),
    "two-parts-on-a-tile": ("12, [[4, 12, 1, 0]], 0, 0", "two parts on one tile"),
    "element-on-two-tiles": ("12, [[12, 12, 1, 0], [1, 2, 0, 1]], 0, 0", "an element on several tiles"),
}


@pytest.mark.parametrize("hint", BAD_HINTS)
def test_a_placement_hint_that_cannot_be_is_refused_with_a_reason(hint: str) -> None:
    mapping, reason = BAD_HINTS[hint]
    text = ADD.replace("%x: tensor<3x4xf32>,", f"%x: tensor<3x4xf32> {{ipu.map = #ipu.mapping<{mapping}>}},")
    with pytest.raises(ipu.CompileError, match=rf"^<text>:2:\d+: error: .*argument 0 .*{reason}"):
        ipu.compile(text, target=SMALL)


def test_a_placement_hint_that_can_be_is_honoured() -> None:
    mapping = "12, [[8, 12, 1, 2]], 0, 1"
    text = ADD.replace("%x: tensor<3x4xf32>,", f"%x: tensor<3x4xf32> {{ipu.map = #ipu.mapping<{mapping}>}},")
    executable = ipu.compile(text, target=SMALL)
    placed = executable.placements()[0]
    assert (placed.kind, placed.num_tiles, placed.first_tile, placed.last_tile) == ("argument", 2, 1, 3)
    np.testing.assert_array_equal(executable.run_per_tile([X, X])[0], X + X)


BAD_CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no-tiles": (lambda: ipu.Target(tiles_per_ipu=0), ipu.TargetError, "tiles_per_ipu >= 1, got 0"),
    "no-level": (lambda: ipu.compile(ADD, target=SMALL).mlir("l7"), ipu.CompileError, "l0, l1, l2, l3"),
    "no-pass": (lambda: ipu.compile(ADD, pipeline="ipu-place-nothing"), ipu.CompileError, "ipu-place-nothing"),
    "no-option": (lambda: ipu.compile(ADD, pipeline="ipu-partition{grian=2}"), ipu.CompileError, "grian.*grain"),
    "arguments-of-a-module": (lambda: ipu.compile(ADD, args=[X, X]), ipu.CompileError, "types of its arguments"),
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_what_was_asked_for_and_is_not_there_is_named(call: str) -> None:
    ask, error, words = BAD_CALLS[call]
    with pytest.raises(error, match=words):
        ask()
