"""The error function against the C library's."""

import math

import numpy as np
import pytest

from ipu_mlir.runtime.numeric import erf, erfc

POINTS = np.concatenate([np.linspace(-7, 7, 20001), np.logspace(-30, 1, 500), -np.logspace(-30, 1, 500)])


@pytest.mark.parametrize(("dtype", "ulps"), [(np.float32, 0.6), (np.float64, 1.5)])
def test_erf_is_within_an_ulp(dtype, ulps):
    x = POINTS.astype(dtype)
    want = np.array([math.erf(v) for v in x.astype(float)])
    got = erf(x, np.empty_like(x)).astype(float)
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want).astype(dtype))) < ulps


def test_erfc_does_not_cancel():
    want = np.array([math.erfc(v) for v in POINTS])
    np.testing.assert_allclose(erfc(POINTS, np.empty_like(POINTS)), want, rtol=2e-15)
    x = POINTS.astype(np.float32)
    want = np.array([math.erfc(v) for v in x.astype(float)])
    np.testing.assert_allclose(erfc(x, np.empty_like(x)), want.astype(np.float32), rtol=1e-6, atol=1e-45)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_special_values(dtype):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    got = erf(x, np.empty_like(x))
    np.testing.assert_array_equal(got, np.array([np.nan, 1, -1, 0, 0], dtype))
    assert np.signbit(got[4]) and not np.signbit(got[3])
    np.testing.assert_array_equal(erfc(x, np.empty_like(x)), np.array([np.nan, 0, 2, 1, 1], dtype))


def test_long_arrays_strides_and_in_place():
    x = np.linspace(-3, 3, 100_000, dtype=np.float32)
    want = erf(x[::2], np.empty(50_000, np.float32))
    np.testing.assert_array_equal(erf(x, np.empty_like(x))[::2], want)
    erf(x, x)
    np.testing.assert_array_equal(x[::2], want)
