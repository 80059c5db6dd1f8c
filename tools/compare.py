"""Comparison of results with those that were expected: ``ipu-run --check``."""

from dataclasses import dataclass

import numpy as np

RELATIVE_TO_LARGEST = 2e-5
"""Tolerance of floats, as a share of the largest expected one, where no other is given: about 300 roundings of f32."""


@dataclass(frozen=True)
class Comparison:
    """The error of a result; ``off`` says whether that is too far, ``text`` puts it in words."""

    off: bool
    text: str


def compare(result: np.ndarray, expected: np.ndarray, atol: float | None = None) -> Comparison:
    """``result`` against ``expected``: integers and booleans exactly, floats within ``atol``, NaN where NaN is.

    >>> compare(np.array([1.0, 2.0]), np.array([1.0, 2.5]), atol=0.1)
    Comparison(off=True, text='differs by up to 0.5 (atol 0.1), first at [1]: 2.0, expected 2.5')
    """
    if result.shape != expected.shape:
        return Comparison(True, f"has shape {result.shape}, expected {expected.shape}")
    if result.dtype != expected.dtype:
        return Comparison(True, f"has type {result.dtype}, expected {expected.dtype}")
    if result.size == 0:
        return Comparison(False, "is empty, as expected")
    if result.dtype.kind in "iub":
        wrong = result != expected
        if not wrong.any():
            return Comparison(False, "is equal")
        return Comparison(True, f"differs in {wrong.sum()} of {wrong.size} elements, {_first(wrong, result, expected)}")
    return _compare_floats(result, expected, atol)


def _compare_floats(result: np.ndarray, expected: np.ndarray, atol: float | None) -> Comparison:
    got, want = result.astype(np.float64), expected.astype(np.float64)
    if atol is None:
        atol = RELATIVE_TO_LARGEST * float(np.max(np.abs(want), where=np.isfinite(want), initial=0.0))
    with np.errstate(invalid="ignore"):  # infinity - infinity
        difference = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0.0, np.abs(got - want))
    wrong = ~(difference <= atol)  # a NaN on one side is no small difference
    text = f"differs by up to {np.max(difference):.3g} (atol {atol:.3g})"
    return Comparison(bool(wrong.any()), f"{text}, {_first(wrong, result, expected)}" if wrong.any() else text)


def _first(wrong: np.ndarray, result: np.ndarray, expected: np.ndarray) -> str:
    place = tuple(int(index) for index in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return f"first at {list(place)}: {result[place]}, expected {expected[place]}"
