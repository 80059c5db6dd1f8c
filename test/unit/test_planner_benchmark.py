"""The planner's figures are those of the profile, and better than those of equal parts."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))  # the benchmarks are no installed package

import ipu_mlir as ipu
from benchmarks.planner import main, plan_of, plans, programs
from benchmarks.workloads import WORKLOADS

pytestmark = pytest.mark.pages

SMALL_GAIN = ("elementwise_chain", "elementwise_chain_f16")
"""One op of independent elements: equal parts are best."""
OTHERS = [name for name in WORKLOADS if name not in ("embedding_update", "tiny_steps") and "loop_" not in name]
"""Without loops of many iterations on little data: what an iteration computes is one part, however it is cut."""


@pytest.mark.parametrize("name", OTHERS)
def test_fastest_takes_fewer_cycles_than_equal_parts(name: str) -> None:
    for _, text in programs([name], smoke=False):
        balanced, fastest = plans(text)
        assert fastest.fits
        assert fastest.cycles < balanced.cycles * (1.01 if name in SMALL_GAIN else 1)


def test_figures_are_those_of_an_executable() -> None:
    text = WORKLOADS["norm_softmax"].smoke().mlir()
    profile = ipu.compile(text, target=ipu.Target()).profile()
    _, fastest = plans(text)
    assert fastest == plan_of("fastest", profile)
    assert fastest.cycles == fastest.compute + fastest.exchange + fastest.sync
    assert fastest.cycles == profile.total_cycles - profile.execution.cycles.host


def test_a_large_product_in_f16_comes_near_the_peak() -> None:
    _, (name, text) = programs(["matmul"], smoke=False)
    assert name == "matmul f16" and "f32" not in text and "tensor<2048x2048xf16>" in text
    _, fastest = plans(text)
    clock_hz, peak = 1.325e9, 1472 * 128 * 1.325e9
    flops = 2 * 2048**3
    assert fastest.tflops == pytest.approx(flops * clock_hz / fastest.cycles / 1e12, rel=0.01)
    assert fastest.share_of_peak == pytest.approx(fastest.tflops * 1e12 / peak, rel=0.01)
    assert fastest.share_of_peak > 0.35


def test_the_table_has_two_rows_per_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke", "matmul,conv_block"]) == 0
    chip, sizes, *_, mean = capsys.readouterr().out.splitlines()
    assert chip == "chip: ipu2, 1,472 tiles at 1.325 GHz" and sizes == "sizes: smoke"
    assert mean.startswith("geometric mean of 3 ratios: ")


def test_rows_say_what_the_plan_says(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--smoke", "matmul"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith("matmul  ")]
    balanced, fastest = plans(WORKLOADS["matmul"].smoke().mlir())
    assert [each[1] for each in rows] == ["balanced", "fastest"]
    assert [int(each[2].replace(",", "")) for each in rows] == [balanced.cycles, fastest.cycles]
    assert rows[1][-1] == f"{balanced.cycles / fastest.cycles:.2f}"


def test_an_unknown_workload_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["matmull"])
    assert "there is no 'matmull'; there are mlp_inference_b32" in capsys.readouterr().err
