"""Real programs beside JAX and PyTorch: their forms agree, and the figures say what they are called."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")
torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2]))  # the benchmarks are no installed package

from benchmarks.beside.__main__ import main, row, summary  # noqa: E402
from benchmarks.beside.cases import CASES  # noqa: E402
from benchmarks.beside.turns import Figures, difference, measure  # noqa: E402

FAST = Figures(
    "fast",
    "",
    {"auto": 1.0, "never": 1.0, "jax": 4.0, "torch1": 2.0, "torch2": 3.0},
    {"auto": 1, "never": 2, "jax": 8, "torch1": 9, "torch2": 9},
)
SLOW = Figures("slow", "", {"auto": 2.0, "never": 1.0, "jax": 1.0}, {"auto": 4, "never": 2, "jax": 2})


@pytest.mark.pages
@pytest.mark.parametrize("name", CASES)
def test_all_contenders_give_what_jax_does(name: str) -> None:
    threads = torch.get_num_threads()
    figures = measure(CASES[name], 1, 0.0, smoke=True, threads=1)
    torch.set_num_threads(threads)
    assert figures.is_right, figures.problem


def test_a_ratio_is_to_the_better_of_the_others() -> None:
    assert (FAST.cpu_ratio, FAST.least_ratio, FAST.torch_cpu) == (2.0, 8.0, 2.0)
    assert (SLOW.cpu_ratio, SLOW.torch_cpu) == (0.5, None)
    assert row(SLOW).split() == ["slow", "2000.000", "1000.000", "1000.000", "-", "0.50", "0.50"]


def test_the_summary_names_what_is_behind_and_where_kernels_cost() -> None:
    mean, behind, slower = summary([FAST, SLOW, Figures("wrong", "jax: shapes")])
    assert mean == "geometric mean of 2: 1.00 by processor time, 2.00 by the clock"
    assert behind == "below 0.7: slow 0.50"
    assert slower.endswith(": slow 2.00"), "what one of the two measures denies is noise"


def test_wrong_results_are_noticed() -> None:
    right = [np.ones((2, 3), np.float32)]
    assert difference(right, right, 1e-3) == ""
    assert "shapes" in difference([], right, 1e-3)
    assert "off by nan" in difference([right[0] * np.nan], right, 1e-3)


@pytest.mark.pages
def test_one_program_runs_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert main(["--smoke", "--case", "gather", "--json", str(report)]) == 0
    (found,) = json.loads(report.read_text())["figures"]
    assert found["name"] == "gather" and min(found["cpu"].values()) > 0
    assert "geometric mean of 1: " in capsys.readouterr().out
