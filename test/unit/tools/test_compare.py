"""Comparing results with what was expected."""

import numpy as np
import pytest

from ipu_mlir.tools.compare import compare

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("result", "expected", "atol"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.0], [1.0, 2.05], 0.1),
        ([1.0, 100.0], [1.0005, 100.0], None),
        ([NAN, 1.0], [NAN, 1.0], 0.0),
        ([INF, -INF], [INF, -INF], 0.0),
        ([1, 2], [1, 2], None),
        ([True], [True], None),
        ([], [], None),
    ],
)
def test_near_enough(result: list, expected: list, atol: float | None) -> None:
    assert not compare(np.array(result), np.array(expected), atol).off


@pytest.mark.parametrize(
    ("result", "expected", "atol", "text"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.1, "differs by up to 0.5 (atol 0.1), first at [1]: 2.0, expected 2.5"),
        ([1.0], [1.001], None, "first at [0]"),
        ([NAN], [1.0], 10.0, "first at [0]: nan, expected 1.0"),
        ([1.0], [NAN], 10.0, "first at [0]: 1.0, expected nan"),
        ([INF], [-INF], 10.0, "first at [0]: inf, expected -inf"),
        ([1, 2, 4], [1, 2, 3], 10.0, "differs in 1 of 3 elements, first at [2]: 4, expected 3"),
        ([1.0], [1], None, "has type float64, expected int64"),
        ([1.0], [[1.0]], None, "has shape (1,), expected (1, 1)"),
    ],
)
def test_off(result: list, expected: list, atol: float | None, text: str) -> None:
    comparison = compare(np.array(result), np.array(expected), atol)
    assert comparison.off and text in comparison.text
