"""Whether results are those that were expected, and in words what is wrong with them."""

from collections.abc import Collection, Sequence
from typing import Any

import ml_dtypes
import numpy as np

LEAST_ATOL = 1e-6
LOOSE_ATOL = 1e-2
LOOSE_SHARE = 0.05
"""An ill-conditioned result may be off by this share of its largest element."""


def disagreements(
    results: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    atol: Sequence[float],
    ill_conditioned: Collection[int] = (),
) -> list[str]:
    """Every disagreement between ``results`` and ``expected`` as a sentence; an empty list is a pass.

    Number, shapes and types must be the same; integers and booleans are equal; floats have NaN and infinities in the
    same places, and are off by at most ``atol`` elsewhere.
    """
    if len(results) != len(expected):
        return [f"{len(results)} results instead of {len(expected)}"]
    found = []
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        limit = max(atol[number], LEAST_ATOL)
        if number in ill_conditioned:
            limit = max(limit, LOOSE_ATOL, LOOSE_SHARE * _largest(want))
        wrong = _disagreement(np.asarray(got), want, limit)
        if wrong is not None:
            found.append(f"result {number}: {wrong}")
    return found


def same_bits(results: Sequence[np.ndarray], expected: Sequence[np.ndarray], ulps: int = 0) -> list[str]:
    """As ``disagreements`` with no tolerance at all; any NaN equals any other, and +0 differs from -0.

    Floats of NumPy's own types may be off by ``ulps`` units in the last place.
    """
    if len(results) != len(expected):
        return [f"{len(results)} results instead of {len(expected)}"]
    found = []
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        wrong = _different_kind(got, want)
        if wrong is None and not (same := _same_bits(got, want) | _is_near(got, want, ulps)).all():
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            count = int((~same).sum())
            wrong = f"{count} of {want.size} elements differ, first {place}: {got[place]!r}, expected {want[place]!r}"
        if wrong is not None:
            found.append(f"result {number}: {wrong}")
    return found


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether the type is a float of NumPy's or of ml_dtypes'.

    >>> is_float(np.dtype("f2")), is_float(np.dtype(ml_dtypes.float8_e4m3fn)), is_float(np.dtype("V1"))
    (True, True, False)
    """
    return dtype.kind == "f" or hasattr(ml_dtypes, dtype.name)


def _same_bits(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    equal = np.asarray(got == want)
    if not is_float(want.dtype):
        return equal
    return (equal & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))


def _is_near(got: np.ndarray, want: np.ndarray, ulps: int) -> np.ndarray:
    if not ulps or want.dtype.kind != "f":
        return np.zeros(want.shape, bool)
    with np.errstate(all="ignore"):  # an infinity is near nothing
        near = np.abs(got - want) <= ulps * np.spacing(np.abs(want))
    return np.asarray(near & (np.signbit(got) == np.signbit(want)))


def _disagreement(got: np.ndarray, want: np.ndarray, limit: float) -> str | None:
    if wrong := _different_kind(got, want):
        return wrong
    if want.dtype.kind in "iub" or want.size == 0:
        count = int((got != want).sum())
        return f"{count} of {want.size} elements differ" if count else None
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return "NaN in different places"
    if not np.array_equal(got[np.isinf(got) | np.isinf(want)], want[np.isinf(got) | np.isinf(want)]):
        return "infinities differ"
    finite = np.isfinite(want)
    off = float(np.abs(got[finite] - want[finite]).max(initial=0.0))
    return f"off by {off:.3g}, allowed {limit:.3g}" if off > limit else None


def _different_kind(got: np.ndarray, want: np.ndarray) -> str | None:
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype} instead of {want.dtype}"
    return None


def _largest(array: np.ndarray) -> float:
    wide = array.astype(np.float64)
    return float(np.abs(wide[np.isfinite(wide)]).max(initial=0.0))
