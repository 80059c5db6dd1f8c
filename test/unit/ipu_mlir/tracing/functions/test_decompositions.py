"""Functions of ``np.linalg`` that solve matrices or take them apart, on both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(5)
A = RNG.uniform(-1, 1, (4, 4)).astype(np.float32) + np.diag([1, 0, 2, -1]).astype(np.float32)
POSITIVE = (A @ A.T + np.eye(4)).astype(np.float32)
TALL = RNG.uniform(-1, 1, (5, 3)).astype(np.float32)
BATCH = RNG.uniform(-1, 1, (2, 3, 3))
LOW = (TALL[:, :1] @ TALL[:1]).astype(np.float32)


def test_cholesky(both_agree):
    def program(s):
        return {"lower": np.linalg.cholesky(s), "upper": np.linalg.cholesky(s, upper=True)}

    both_agree(program, POSITIVE, tolerance=1e-5)


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    found = ipu.function(np.linalg.cholesky, target=ipu.Target(tiles_per_ipu=4))(-POSITIVE)
    assert np.isnan(found).any()


def test_elimination(both_agree):
    def program(a, b, batch):
        return {
            "solve": np.linalg.solve(a, b),
            "solve many": np.linalg.solve(a, a[:, :2]),
            "solve batch": np.linalg.solve(batch, batch[0]),
            "known": np.linalg.solve(A, a),
            "inv": np.linalg.inv(a),
            "inv batch": np.linalg.inv(batch),
            "det": np.linalg.det(a),
            "det batch": np.linalg.det(batch),
            "det of nothing": np.linalg.det(a * 0),
            "sign": np.linalg.slogdet(a)[0],
            "log": np.linalg.slogdet(a).logabsdet,
            "power": np.linalg.matrix_power(a, -2),
            "cond": np.linalg.cond(a, 1),
            "tensorsolve": np.linalg.tensorsolve(a.reshape(2, 2, 2, 2), a[:2, :2]),
            "tensorinv": np.linalg.tensorinv(a.reshape(2, 2, 2, 2)),
        }

    both_agree(program, A, A[0], BATCH, tolerance=1e-4)


def test_qr_has_the_signs_of_lapack(both_agree):
    def program(tall, a):
        q, r = np.linalg.qr(tall)
        whole, upper = np.linalg.qr(tall, mode="complete")
        return {"q": q, "r": r, "whole": np.abs(whole), "upper": upper, "wide": np.linalg.qr(tall.T).R} | {
            "only r": np.linalg.qr(a, mode="r"),
            "again": np.linalg.qr(a).Q @ np.linalg.qr(a).R,
        }

    both_agree(program, TALL, A, tolerance=2e-5)


def test_eigh(both_agree):
    def program(s, a):
        values, vectors = np.linalg.eigh(s)
        back = vectors @ (values[:, None] * vectors.T) if not isinstance(s, np.ndarray) else s
        ones = vectors.T @ vectors if not isinstance(s, np.ndarray) else np.eye(4, dtype=s.dtype)
        odd = np.linalg.eigvalsh(a[:3, :3])
        return {"values": values, "back": back, "ones": ones, "upper": np.linalg.eigvalsh(a, "U"), "odd": odd} | {
            "one": np.linalg.eigvalsh(a[:1, :1])
        }

    both_agree(program, POSITIVE, A, tolerance=2e-5)


@pytest.mark.parametrize("a", [TALL, TALL.T.copy(), LOW, BATCH[0]], ids=["tall", "wide", "rank 1", "f64"])
def test_svd(both_agree, a):
    def program(a):
        left, values, right = np.linalg.svd(a, full_matrices=False)
        whole = np.linalg.svd(a).U
        return {
            "values": values,
            "back": (left * values) @ right,
            "ones": whole.T @ whole,
            "rank": np.linalg.matrix_rank(a),
            "pinv": np.linalg.pinv(a, rcond=1e-4),
            "norm": np.linalg.norm(a, 2),
            "nuclear": np.linalg.matrix_norm(a, ord="nuc"),
        }

    both_agree(program, a, tolerance=5e-5)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_many_sizes_are_exact_to_the_type(size):
    symmetric = RNG.standard_normal((size, size))
    symmetric = symmetric + symmetric.T
    found = ipu.function(lambda s: (np.linalg.eigvalsh(s), np.linalg.svdvals(s), np.linalg.inv(s)))(symmetric)
    wanted = np.linalg.eigvalsh(symmetric), np.linalg.svdvals(symmetric), np.linalg.inv(symmetric)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: np.linalg.inv(t), r"inv of float32\[5, 3\]: the last two dimensions have to be equal"),
        (lambda t: np.linalg.solve(t.T @ t, t), "the right side needs 3 rows"),
        (lambda t: np.linalg.qr(t[0]), "a matrix has two dimensions, with elements"),
        (lambda t: np.linalg.qr(t, mode="raw"), "mode is 'reduced', 'complete' or 'r', got 'raw'"),
        (lambda t: np.linalg.eigh(t.T @ t, "X"), "UPLO is 'L' or 'U', got 'X'"),
        (lambda t: np.linalg.det(t[:3] * 1j), r"complex matrices are not supported; use \[\[re, -im\], \[im, re\]\]"),
        (
            lambda t: np.linalg.eigvals(t),
            "np.linalg.eigvals is not supported while tracing; its results may be complex",
        ),
        (lambda t: np.linalg.lstsq(t, t[:, 0]), r"use np.linalg.pinv\(a\) @ b"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ipu.IpuError, match=rf"test_decompositions.py:\d+: .*{message}"):
        ipu.function(function).trace(TALL)
