"""Programs stay in float32, whatever NumPy makes of the numbers around their tensors."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.tracing.widths import WideFloatWarning

X = np.array([1.5, -2, 3.25], np.float32)
N = np.array([1, 2, 4], np.int32)
SMALL = ipu.Target(tiles_per_ipu=2)
RNG = np.random.default_rng(0)

IDIOMS = {
    "zeros": lambda x, i: x + np.zeros(3),
    "integer scalar": lambda x, i: x / np.int64(3),
    "float scalar": lambda x, i: x / np.sqrt(64),
    "linspace": lambda x, i: x * np.linspace(0, 1, 3),
    "arange": lambda x, i: x * np.arange(3.0),
    "random": lambda x, i: x + RNG.standard_normal(3),
    "integers": lambda x, i: x * i,
    "matmul": lambda x, i: x @ np.eye(3),
    "where": lambda x, i: np.where(x > 0, x, np.zeros(3)),
    "concatenate": lambda x, i: np.concatenate([x, np.ones(2)]),
    "comparison": lambda x, i: np.where(x < np.linspace(0, 4, 3), x, i),
    "interp": lambda x, i: np.interp(x, np.arange(3.0), np.arange(3.0) * 2),
    "average": lambda x, i: np.average(x, weights=np.arange(1.0, 4)),
    "cov": lambda x, i: np.cov(np.stack([x, x * 2])),
    "percentile": lambda x, i: np.percentile(x, [25, 75]),
    "set": lambda x, i: x.at[0].set(np.float64(2)) if hasattr(x, "at") else x * 0 + np.float32([2, -2, 3.25]) - x * 0,
    "clip": lambda x, i: np.clip(x, np.float64(-1), np.ones(3)),
    "einsum": lambda x, i: np.einsum("i,ij->j", x, np.ones((3, 2))),
}


def _quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("error", WideFloatWarning)
        return ipu.compile(function, args=args, target=SMALL)


@pytest.mark.parametrize("name", sorted(set(IDIOMS) - {"set", "random"}))
def test_an_idiom_of_numpy_keeps_f32(name):
    exe = _quiet(IDIOMS[name], X, N)
    found = exe(X, N)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, IDIOMS[name](X, N), rtol=1e-6, atol=1e-6)
    assert "f64" not in exe.mlir("l2")


def test_numbers_at_random_and_single_elements_keep_f32():
    assert _quiet(IDIOMS["random"], X, N)(X, N).dtype == np.float32
    assert _quiet(IDIOMS["set"], X, N)(X, N).tolist() == [2, -2, 3.25]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_tensors_keep_their_type(dtype):
    x = X.astype(dtype)
    for function in (lambda x: x + np.zeros(3), lambda x: x / np.sqrt(64), lambda x: x * np.arange(3)):
        assert _quiet(function, x)(x).dtype == dtype


def test_complex_tensors_keep_their_type():
    z = X.astype(np.complex64)
    for function in (
        lambda z: z * np.exp(1j * np.arange(3.0)),
        lambda z: z + np.zeros(3),
        lambda z: z * np.complex128(2j),
    ):
        found = _quiet(function, z)(z)
        assert found.dtype == np.complex64
        np.testing.assert_allclose(found, function(z), rtol=1e-6, atol=1e-6)


def test_x64_promotes_as_numpy():
    for name in ("zeros", "integers", "linspace", "interp", "cov"):
        with ipu.x64():
            exe = _quiet(IDIOMS[name], X, N)
        np.testing.assert_allclose(exe(X, N), IDIOMS[name](X, N), rtol=1e-12, strict=True)


def test_programs_of_both_rules_are_kept_apart():
    @ipu.function(target=SMALL)
    def halves(x):
        return x * np.full(3, 0.5)

    assert halves(X).dtype == np.float32 and halves(X).dtype == np.float32
    with ipu.x64():
        assert halves(X).dtype == np.float64
        with ipu.x64(False):
            assert halves(X).dtype == np.float32
    assert ipu.x64()(halves)(X).dtype == np.float64 and halves(X).dtype == np.float32


def test_a_float64_tensor_decides_and_loses_nothing():
    tenth = np.full(3, 0.1)
    exe = _quiet(lambda x: x.astype(np.float64) * tenth, X)
    assert np.array_equal(exe(X), X.astype(np.float64) * tenth)


@pytest.mark.parametrize(
    "function",
    [
        lambda i: i.mean(),
        lambda i: i / 2,
        lambda i: np.sqrt(i),
        lambda i: i * np.linspace(0, 1, 3),
        lambda i: np.median(i),
    ],
)
def test_float64_of_integers_is_said_once_with_the_line(function):
    with pytest.warns(WideFloatWarning, match=r"test_widths.py:\d+: .* is float64, .*astype\(np.float32\)") as said:
        exe = ipu.compile(lambda i: (function(i), function(i)), args=[N], target=SMALL)
    assert len(said) == 1
    assert exe(N)[0].dtype == np.float64


def test_a_float64_argument_is_said_with_its_name():
    with pytest.warns(WideFloatWarning, match=r"test_widths.py:\d+: argument w of .* is float64") as said:
        ipu.compile(lambda x, w: x @ w, args=[X, np.eye(3)], target=SMALL)
    assert len(said) == 1


def test_a_loop_that_starts_with_float64_is_said():
    with pytest.warns(WideFloatWarning, match=r"fori_loop.*float64"):
        ipu.compile(lambda x: ipu.fori_loop(0, 3, lambda _, s: s + x, np.zeros(3)), args=[X], target=SMALL)
