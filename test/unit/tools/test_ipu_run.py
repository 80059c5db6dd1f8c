"""ipu-run with files of arrays: the status says whether the results are those expected."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import MemoryWarning
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools import ipu_run

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %n: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %n : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
INPUTS = {"in0": np.arange(4, dtype=np.float32), "in1": np.full(4, 0.5, np.float32)}
EXPECTED = INPUTS["in0"] + INPUTS["in1"]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs the program on arrays with more arguments: status, lines on stdout, lines on stderr."""

    def run(arrays: dict[str, np.ndarray], *arguments: str) -> tuple[int, list[str], list[str]]:
        (tmp_path / "add.mlir").write_text(PROGRAM)
        np.savez(tmp_path / "io.npz", **arrays)
        inputs = ["--inputs", str(tmp_path / "io.npz"), "--tiles", "4"]
        status = ipu_run.main([str(tmp_path / "add.mlir"), *inputs, *arguments])
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err.splitlines()

    return run


@pytest.mark.parametrize("more", [(), ("--per-tile",)])
def test_check_passes(run, more: tuple[str, ...]) -> None:
    status, lines, _ = run(INPUTS | {"out0": EXPECTED}, "--check", *more)
    assert status == 0
    assert lines == [
        "out0: float32[4] min 0.5 mean 2 max 3.5",
        "check out0: ok, differs by up to 0 (atol 7e-05)",
    ]


@pytest.mark.parametrize(("name", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f8E5M2", ml_dtypes.float8_e5m2)])
@pytest.mark.parametrize("more", [(), ("--per-tile",)])
def test_results_of_narrow_floats_are_inputs_again(tmp_path: Path, more: tuple[str, ...], name: str, dtype) -> None:
    (tmp_path / "add.mlir").write_text(PROGRAM.replace("f32", name))
    first, second = (str(tmp_path / file) for file in ("first.npz", "second.npz"))
    bits = f"u{np.dtype(dtype).itemsize}"
    np.savez(first, in0=np.arange(4).astype(dtype).view(bits), in1=np.full(4, 0.5).astype(dtype).view(bits))
    program = [str(tmp_path / "add.mlir"), "--tiles", "4", *more]
    assert ipu_run.main([*program, "--inputs", first, "--outputs", second]) == 0
    with np.load(second) as arrays:
        result = arrays["out0"]
    assert result.view(dtype).tolist() == [0.5, 1.5, 2.5, 3.5]
    np.savez(first, in0=result, in1=np.zeros(4, result.dtype), out0=result)
    assert ipu_run.main([*program, "--inputs", first, "--check", "--atol", "0"]) == 0


def test_check_fails_beyond_the_tolerance(run) -> None:
    wrong = EXPECTED.copy()
    wrong[2] += 0.25
    status, lines, _ = run(INPUTS | {"out0": wrong}, "--check")
    assert status == 1
    assert lines[1] == ("check out0: FAILED, differs by up to 0.25 (atol 7e-05), first at [2]: 2.5, expected 2.75")
    status, lines, _ = run(INPUTS | {"out0": wrong}, "--check", "--atol", "0.3")
    assert status == 0 and lines[1] == "check out0: ok, differs by up to 0.25 (atol 0.3)"


def test_check_fails_without_an_expected_result(run) -> None:
    status, lines, _ = run(INPUTS, "--check")
    assert status == 1 and lines[1].endswith("io.npz has no out0 to compare with")


def test_results_are_written(run, tmp_path: Path) -> None:
    status, _, _ = run(INPUTS, "--outputs", str(tmp_path / "out.npz"))
    assert status == 0
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays.files == ["out0"] and np.array_equal(arrays["out0"], EXPECTED)


def test_wrong_inputs_name_what_is_expected(run) -> None:
    status, lines, errors = run({"in0": INPUTS["in0"]})
    assert status == 1 and lines == []
    assert errors[0].startswith("ipu-run: error:") and "has no in1; the function takes 2 arrays" in errors[0]
    status, _, errors = run(INPUTS | {"in1": np.zeros(3, np.float32)})
    assert status == 1 and errors[0].endswith("is float32[3], but the function takes float32[4]")


DYNAMIC = PROGRAM.replace("tensor<4xf32>", "tensor<?xf32>").replace(
    "%e = tensor.empty()",
    "%c0 = arith.constant 0 : index\n%d = tensor.dim %x, %c0 : tensor<?xf32>\n%e = tensor.empty(%d)",
)


def test_sizes_that_are_not_known_come_from_the_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "add.mlir").write_text(DYNAMIC)
    np.savez(tmp_path / "io.npz", in0=np.arange(3, dtype=np.float32), in1=np.ones(3, np.float32))
    assert ipu_run.main([str(tmp_path / "add.mlir"), "--inputs", str(tmp_path / "io.npz"), "--tiles", "2"]) == 0
    assert capsys.readouterr().out.startswith("out0: float32[3] min 1 mean 2 max 3")


def test_sizes_that_are_not_known_need_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "add.mlir").write_text(DYNAMIC)
    assert ipu_run.main([str(tmp_path / "add.mlir")]) == 2
    assert "main has sizes that are not known; --inputs FILE.npz says them" in capsys.readouterr().err


def test_a_machine_that_is_emulated_only_warns_of_too_little_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 100}>} {\n"
        "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
        "%y = arith.addf %x, %x : tensor<64xf32>\nreturn %y : tensor<64xf32>\n}\n}"
    )
    file = tmp_path / "large.mlir"
    file.write_text(text)
    assert ipu_run.main([str(file)]) == 1
    assert "which has 100 B" in capsys.readouterr().err
    with pytest.warns(MemoryWarning, match="which has 100 B"):
        assert ipu_run.main([str(file), "--emulated"]) == 0


def _read(path: str) -> Profile:
    return Profile.from_json(json.loads(Path(path).read_text()))


def test_the_machine_is_what_the_flags_say(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(PROGRAM)
    file, profile = str(tmp_path / "add.mlir"), str(tmp_path / "profile.json")
    order = ["--ipus", "4", "--selection-order", "hoof"]
    assert ipu_run.main([file, "--tiles", "8", "--no-run", "--profile", profile, *order]) == 0
    assert [each.ipu for each in _read(profile).execution.ipus] == [0, 2, 3, 1]
    assert ipu_run.main([file, "--tiles", "8", "--no-run", "--profile", profile, "--io-tiles", "6"]) == 0
    assert max(each.tiles for each in _read(profile).compilation.compute_sets) == 2
