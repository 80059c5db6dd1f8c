"""Fourier transforms as kernels beside the definition of their codelets."""

import numpy as np
import pytest
from codelet_calls import computed

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets.library import codelet_named


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [("fft", "f4", 16), ("fft", "f8", 48), ("ifft", "f4", 80), ("rfft", "f4", 64), ("irfft", "f8", 112)],
)
def test_a_transform_of_a_stack(name: str, dtype: str, size: int) -> None:
    """The parts of the first and the last of a half transform that stand for nothing are not looked at."""
    reals = 2 * size
    shapes = {"rfft": ((2, 3, reals), (2, 3, size + 1, 2)), "irfft": ((2, 3, size + 1, 2), (2, 3, reals))}
    given, wanted = shapes.get(name, ((2, 3, size, 2),) * 2)
    x = np.random.default_rng(0).standard_normal(given).astype(dtype)
    (got,), source = computed(name, [x], [(dtype, wanted)])
    assert "run_codelet" not in source
    (want,) = codelet_named(name).per_tile(x)
    np.testing.assert_allclose(got, want, rtol=0, atol=(1e-5 if dtype == "f4" else 1e-13) * np.abs(want).max())


@pytest.mark.parametrize(
    ("name", "size"), [("fft", 1), ("fft", 4), ("fft", 22), ("fft", 100), ("rfft", 1), ("rfft", 33)]
)
def test_rows_without_stages_of_vectors_are_left_to_a_library(name: str, size: int) -> None:
    given = (2, size, 2) if name == "fft" else (2, size)
    x = np.random.default_rng(0).standard_normal(given).astype("f4")
    (got,), source = computed(name, [x], [("f4", given if name == "fft" else (2, size // 2 + 1, 2))])
    assert "run_codelet" in source
    np.testing.assert_allclose(got, codelet_named(name).per_tile(x)[0], atol=1e-4)


def test_columns_are_copied() -> None:
    x = np.random.default_rng(0).standard_normal((32, 3)).astype("f4")
    exe = ipu.compile(lambda x: np.fft.fft(x, axis=0), args=[x], kernels="always")
    assert "run_codelet" not in exe.source()
    np.testing.assert_allclose(exe(x), np.fft.fft(x, axis=0), atol=1e-4)
