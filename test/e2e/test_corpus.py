"""Programs of real frameworks give the frameworks' results."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.compare import disagreements
from support.corpus import Program, programs

import ipu_mlir as ipu

NAMES = list(programs())
THROUGH_THE_TOOL = ("tf_matmul", "onnx_mlp", "pt_mlp_train_onehot_linalg")


@cache
def compiled(name: str, tiles: int | None) -> ipu.Executable:
    """``name`` for that many tiles, or for the target that a user gets who names none."""
    return ipu.compile(programs()[name].mlir, target=tiles and ipu.Target(tiles_per_ipu=tiles))


def wrong(program: Program, results: list[np.ndarray]) -> list[str]:
    return disagreements(results, program.expected, program.atol, program.ill_conditioned)


def test_the_default_target_has_1472_tiles() -> None:
    assert ipu.Target().num_tiles == 1472


@pytest.mark.parametrize("tiles", [None, 16], ids=["default", "16-tiles"])
@pytest.mark.parametrize("name", NAMES)
def test_fast_execution_gives_the_results_of_the_framework(name: str, tiles: int | None) -> None:
    program = programs()[name]
    before = [array.copy() for array in program.inputs]
    executable = compiled(name, tiles)
    first, second = executable.run(program.inputs), executable.run(program.inputs)
    assert wrong(program, first) == []
    assert wrong(program, second) == []
    assert all(np.array_equal(x, y) for x, y in zip(program.inputs, before, strict=True)), "inputs were written"
    assert not any(np.shares_memory(x, y) for x, y in zip(first, second, strict=True)), "results were used again"


@pytest.mark.parametrize("name", NAMES)
def test_per_tile_execution_gives_the_results_of_the_framework(name: str) -> None:
    program = programs()[name]
    assert wrong(program, compiled(name, 16).run_per_tile(program.inputs)) == []


@pytest.mark.parametrize("flags", [[], ["--tiles", "16", "--per-tile"]], ids=["default", "16-tiles-per-tile"])
@pytest.mark.parametrize("name", THROUGH_THE_TOOL)
def test_ipu_run_gives_the_results_of_the_framework(name: str, flags: list[str], tmp_path: Path) -> None:
    program, outputs = programs()[name], tmp_path / "outputs.npz"
    tool = Path(sys.executable).parent / "ipu-run"
    command = [tool, program.mlir, "--inputs", program.io, "--outputs", outputs, *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(outputs) as arrays:
        results = [arrays[f"out{number}"] for number in range(len(arrays.files))]
    assert wrong(program, results) == []


def test_a_result_that_is_off_is_noticed() -> None:
    program = programs()["tf_keras_mnist_sgd_step"]
    results = compiled(program.name, None).run(program.inputs)
    results[2] = results[2] + np.float32(2e-6)
    results[7] = results[7] + 1
    assert [line[:9] for line in wrong(program, results)] == ["result 2:", "result 7:"]
