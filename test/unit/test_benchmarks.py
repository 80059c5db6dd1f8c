"""The benchmarks measure what they say, and notice wrong results."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ipu_mlir as ipu

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # the benchmarks are no installed package

from benchmarks.measure import Measurement, with_times  # noqa: E402
from benchmarks.run import row  # noqa: E402
from benchmarks.sizes import resize, sizes_of  # noqa: E402
from benchmarks.statement_times import TimedSource  # noqa: E402
from benchmarks.where import Profile, rows, rows_by_kind  # noqa: E402
from benchmarks.worker import Worker, WorkerFailed  # noqa: E402
from benchmarks.workloads import WORKLOADS  # noqa: E402

pytestmark = pytest.mark.pages


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark script as a user does."""
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", WORKLOADS)
def test_program_computes_what_the_hand_written_numpy_does(name: str) -> None:
    workload = WORKLOADS[name].smoke()
    inputs = workload.inputs()
    results = ipu.compile(workload.mlir()).run(inputs)
    assert workload.is_right(results, list(workload.numpy_form(*inputs)))


@pytest.mark.parametrize("name", WORKLOADS)
def test_sizes_are_those_of_the_program(name: str) -> None:
    workload = WORKLOADS[name]
    assert sizes_of(workload.mlir()) == dict(workload.sizes)
    assert sizes_of(workload.smoke().mlir()) == dict(workload.smoke_sizes)


def test_a_size_is_replaced_in_shapes_lists_and_constants() -> None:
    text = """// sizes: batch = 8
%8 = arith.constant 1.250000e-01 : f32  // = 1 / batch
%9 = tensor.expand_shape %8 [[0, 1]] output_shape [8, 3] : tensor<24x80xf32> into tensor<8x3x80xf32>
"""
    assert (
        resize(text, {"batch": 2})
        == """// sizes: batch = 2
%8 = arith.constant 0.5 : f32  // = 1 / batch
%9 = tensor.expand_shape %8 [[0, 1]] output_shape [2, 3] : tensor<24x80xf32> into tensor<2x3x80xf32>
"""
    )


def test_a_size_that_the_program_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="has no size rows; its sizes are batch"):
        resize("// sizes: batch = 8", {"rows": 4})


def test_wrong_results_are_noticed() -> None:
    workload = WORKLOADS["matmul"].smoke()
    right = list(workload.numpy_form(*workload.inputs()))
    off = right[0].copy()
    off[3, 5] += 1
    assert workload.is_right(right, right)
    assert not workload.is_right([off], right)
    assert not workload.is_right([np.full_like(off, np.nan)], right)
    assert not workload.is_right([], right)


def test_a_measurement_fails_when_wrong_or_ended_but_not_when_nothing_is_installed() -> None:
    assert not Measurement("w", "c", right=True).failed
    assert Measurement("w", "c", right=False).failed
    assert Measurement("w", "c", problem="the process ended with status 1").failed
    assert not Measurement("w", "c", problem="not installed").failed


def test_ratios_compare_rounds_of_the_same_turn() -> None:
    baseline = [[4.0, 6.0, 5.0], [10.0, 10.0, 10.0]]
    measured = with_times(Measurement("w", "c", right=True), [[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], baseline)
    assert measured.ratios == (2.5, 2.0)
    assert measured.best_ratio == 4.0
    assert measured.runs == 6
    assert "2.00 .. 2.50" in row(measured)


def test_a_process_that_ends_is_reported() -> None:
    worker = Worker("matmul", "numpy", smoke=True)
    assert len(worker.round(0)) == 3
    worker._process.kill()
    with pytest.raises(WorkerFailed, match="ended with status -9"):
        worker.round(0)


def test_run_prints_the_machine_and_a_row_per_contender(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run("run", "--smoke", "--workload", "matmul,norm_softmax", "--contender", "numpy,ipu", "--json", str(report))
    assert done.returncode == 0, done.stderr
    assert "cpu: " in done.stdout and "numpy: " in done.stdout and "rounds: 1" in done.stdout
    found = json.loads(report.read_text())["measurements"]
    assert [(each["workload"], each["contender"]) for each in found] == [
        ("matmul", "numpy"),
        ("matmul", "ipu"),
        ("norm_softmax", "numpy"),
        ("norm_softmax", "ipu"),
    ]
    assert all(each["right"] and each["runs"] == 3 and each["best"] > 0 for each in found)
    assert all(f"{each['workload']:24} {each['contender']:9}" in done.stdout for each in found)


def test_run_names_the_workloads_when_one_is_unknown() -> None:
    done = run("run", "--workload", "matmull")
    assert done.returncode == 2
    assert "there is no 'matmull'; there are mlp_inference_b32" in done.stderr


def test_compile_time_has_a_row_per_pass(tmp_path: Path) -> None:
    program = tmp_path / "matmul.mlir"
    program.write_text(WORKLOADS["matmul"].smoke().mlir())
    done = run("compile_time", "--repeat", "1", str(program))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    names = [words[0] for words in rows if words]
    assert names.index("ipu-partition") < names.index("one-shot-bufferize") < names.index("total")
    ops = [int(words[-1]) for words in rows if words and words[0] == "ipu-form-supersteps"]
    assert len(ops) == 1 and ops[0] > 5


def test_source_has_the_same_length_on_all_targets() -> None:
    done = run("tiles", "--smoke", "--workload", "matmul")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("matmul")]
    assert [words[1] for words in rows] == ["4", "1,472", "94,208"]
    assert all(words[-1] == "ok" for words in rows)
    lengths = [int(words[-4].replace(",", "")) for words in rows]
    assert max(lengths) <= 1.01 * min(lengths)  # a comment names the op, which is a generic one where a sum was split


SOURCE = """
from time import sleep


def build(memory):
    start = 0

    def block(scratch):
        def run(lo, hi, out):
            sleep(hi / 1000)
            out.append((lo, hi))

        return run

    blocks = memory.per_thread(block, 0)

    def main(out):
        first = out
        memory.run_blocks(blocks, 2, out)
        for i in range(3):
            sleep(0.002)
        if len(out) > 100:
            out.clear()

    return main
"""


class Blocks:
    """Runs the blocks of ``SOURCE`` one after the other, on two copies of the block."""

    def per_thread(self, block, scratch_bytes):
        return [block(None), block(None)]

    def run_blocks(self, blocks, units, out):
        for number, block in enumerate(blocks):
            block(number, number + 1, out)


def test_statements_have_the_time_of_all_their_runs_on_all_threads() -> None:
    timed = TimedSource(SOURCE)
    main = timed.compiled()(Blocks())
    out: list[tuple[int, int]] = []
    main(out)
    assert out == [(0, 1), (1, 2)], "the program does what it did"
    times = {each.text: each for each in timed.times()}
    assert list(times) == ["sleep(hi / 1000)", "out.append((lo, hi))", "first = out", "sleep(0.002)", "out.clear()"]
    assert times["sleep(hi / 1000)"].seconds >= 0.003, "1 ms on one copy, 2 ms on the other"
    assert times["sleep(0.002)"].seconds >= 0.006, "three iterations"
    assert times["out.clear()"].seconds == 0, "it did not run"
    assert SOURCE.splitlines()[times["first = out"].line - 1].strip() == "first = out"
    timed.forget()
    assert all(each.seconds == 0 for each in timed.times())


def test_rows_of_a_profile_are_shares_of_all_statements() -> None:
    source = """
def build(memory):
    def main(a, b):
        view = a[1:]
        maximum.reduce(a, 0, None, b)
        maximum.reduce(b, 0, None, a)
        a.take(b, 0, a, 'clip')
        run_codelet('scatter_add', (a, b), (b,))
    return main
"""
    statements = TimedSource(source).times()
    assert [each.function for each in statements] == ["view", *["maximum.reduce"] * 2, "take", "scatter_add"]
    seconds = (0.0, 1.0, 2.0, 4.0, 1.0)
    found = Profile(9.0, 9.0, [replace(each, seconds=s) for each, s in zip(statements, seconds, strict=True)])
    by_kind = [line.split() for line in rows_by_kind(found)][1:]
    assert [(words[0], words[1], words[-1]) for words in by_kind] == [
        ("take", "1", "50.0%"),
        ("maximum.reduce", "2", "37.5%"),
        ("scatter_add", "1", "12.5%"),
        ("view", "1", "0.0%"),
    ]
    lines = list(rows(found))[1:]
    assert len(lines) == 4, "what takes no time is left out"
    assert lines[1].split()[:4] == ["6", "2000.000", "ms", "25.0%"]


def test_where_has_a_row_per_statement_or_per_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPU_KERNELS", "never")
    done = run("where", "--smoke", "norm_softmax")
    assert done.returncode == 0, done.stderr
    assert "cpu: " in done.stdout and "norm_softmax: " in done.stdout
    assert "%  exp(result0, result0)" in done.stdout
    done = run("where", "--smoke", "norm_softmax", "--by-kind", "--cpu")
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("exp ") for line in done.stdout.splitlines()) == 1


def test_python_api_has_figures_for_tracing_and_for_calls() -> None:
    done = run("python_api", "--smoke")
    assert done.returncode == 0, done.stderr
    assert "numpy: " in done.stdout and "repetitions: 1" in done.stdout
    assert "tracing 1 layers of an encoder, " in done.stdout
    assert done.stdout.count("us above the run of ") == 2


@pytest.mark.slow
def test_calls_have_a_ratio_for_each_number_of_arguments() -> None:
    pytest.importorskip("jax")
    done = run("calls", "--smoke")
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[-2:]] == [["1", "arguments:"], ["2", "arguments:"]]


@pytest.mark.slow
def test_importers_have_a_row_for_each_model_of_a_framework() -> None:
    pytest.importorskip("jax")
    done = run("importers", "--smoke", "--repeat", "1", "jax")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[-2:]]
    assert [(row[:2], row[-1]) for row in rows] == [(["jax", "resnet18"], "right"), (["jax", "encoder"], "right")]
    assert all(float(seconds) > 0 for row in rows for seconds in row[2:8:2])


def test_programs_with_state_and_streams_compute_what_numpy_does_in_place() -> None:
    done = run("programs", "--smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines()[-3:]] == ["right"] * 3


@pytest.mark.slow
def test_pipelines_have_a_row_for_each_way_to_save_memory() -> None:
    done = run("pipeline_memory", "--smoke")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[-2:]
    assert [row.split()[-1] for row in rows][:1] == ["1.00"] and "computed again" in rows[1]


@pytest.mark.slow
def test_fit_of_keras_is_measured_beside_that_of_tensorflow() -> None:
    pytest.importorskip("tensorflow")
    done = run("keras_fit", "--smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("digits ") and done.stdout.rstrip().endswith("agree")
