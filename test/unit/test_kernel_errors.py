"""The script that measures the functions of kernels finds errors of the right size, and functions that are wrong."""

import runpy
from pathlib import Path

import numpy as np
import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "kernel_errors.py"))


def test_a_sample_of_exp() -> None:
    most, place, mean = SCRIPT["errors"]("exp", 4096)
    assert 0.5 < most < 1.1 and 0 < mean < 0.5
    assert 1e-6 < abs(place) < 104


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no float is longer than f64 to compare with")
def test_samples_of_tanh_of_f64() -> None:
    most, place, mean = SCRIPT["errors_of_f64"]("tanh", 4)
    assert 1 < most < 2.6 and 0 < mean < 0.5
    assert 1e-3 < abs(place) < 20


def test_a_function_that_is_wrong_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(x: np.ndarray, out: np.ndarray) -> np.ndarray:
        return np.exp(np.where(x > 0, x, np.nan), out=out)

    monkeypatch.setitem(SCRIPT["errors"].__globals__, "function", lambda name: judge)
    with pytest.raises(AssertionError, match=r"exp\(.*\) is .*1\.0.*, not .*nan"):
        SCRIPT["errors"]("exp", 4096)
