"""The estimated times of matmuls come as close to the measured ones as promised."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))  # the benchmarks are no installed package

from benchmarks.amp_table import main, measure
from ipu_mlir.dialects.machine.machine import IPU21


@pytest.mark.parametrize(
    ("rows", "cycles", "error"),
    [(16, 353, 0.02), (32, 425, 0.02), (64, 545, 0.02), (512, 2345, 0.01), (1024, 4385, 0.01), (2048, 8489, 0.01)],
)
def test_a_profiled_matmul_takes_the_cycles_of_the_formula(rows: int, cycles: int, error: float) -> None:
    row = measure(rows)
    assert row.cycles == cycles + IPU21.start_cycles
    assert abs(row.error) <= error


def test_the_table_has_a_row_per_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke"]) == 0
    *_, first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["16", "397", "56.2", "55.5", "+1.3%", "16.1%"]
    assert second.split()[:2] == ["32", "469"]
