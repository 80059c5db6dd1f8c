"""Functions of ``np.linalg`` that solve matrices or take them apart, on both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.passes.support.rewriting import list_ops

RNG = np.random.default_rng(5)
A = RNG.uniform(-1, 1, (4, 4)).astype(np.float32) + np.diag([1, 0, 2, -1]).astype(np.float32)
POSITIVE = (A @ A.T + np.eye(4)).astype(np.float32)
TALL = RNG.uniform(-1, 1, (5, 3)).astype(np.float32)
BATCH = RNG.uniform(-1, 1, (2, 3, 3))
COMPLEX = (BATCH + 1j * RNG.uniform(-1, 1, BATCH.shape)).astype(np.complex64)
LOW = (TALL[:, :1] @ TALL[:1]).astype(np.float32)


def test_cholesky(both_agree):
    def program(s):
        return {"lower": np.linalg.cholesky(s), "upper": np.linalg.cholesky(s, upper=True)}

    both_agree(program, POSITIVE, tolerance=1e-5)


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    found = ipu.function(np.linalg.cholesky, target=ipu.Target(tiles_per_ipu=4))(-POSITIVE)
    assert np.isnan(found).all()


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


def test_complex_matrices(both_agree):
    def program(a, b):
        hermitian = a @ np.conjugate(np.swapaxes(a, -1, -2))
        left, values, right = np.linalg.svd(a, full_matrices=False)
        q, r = np.linalg.qr(a)
        vectors = np.linalg.eigh(hermitian).eigenvectors
        return {
            "lower": np.linalg.cholesky(hermitian),
            "upper": np.linalg.cholesky(hermitian, upper=True),
            "solve": np.linalg.solve(a, b),
            "inv": np.linalg.inv(a),
            "det": np.linalg.det(a),
            "sign": np.linalg.slogdet(a).sign,
            "log": np.linalg.slogdet(a).logabsdet,
            "q": q,
            "r": r,
            "values": np.linalg.eigvalsh(hermitian),
            "upper values": np.linalg.eigvalsh(hermitian, "U"),
            "ones": np.conjugate(np.swapaxes(vectors, -1, -2)) @ vectors,
            "svd": (left * values[..., None, :]) @ right,
            "pinv": np.linalg.pinv(a[0]),
            "lstsq": np.linalg.lstsq(a[0, :, :2], b[:, 0])[0],
        }

    both_agree(program, COMPLEX, COMPLEX[0, :, :2], tolerance=2e-4)


def test_least_squares(both_agree):
    def program(tall, low):
        found = np.linalg.lstsq(tall, low, rcond=None)
        return {
            **dict(zip(("x", "residuals", "rank", "values"), found, strict=True)),
            "vector": np.linalg.lstsq(tall, low[:, 0])[0],
            "wide": np.linalg.lstsq(tall.T, low[:3])[0],
            "low rank": np.linalg.lstsq(low, tall, rcond=1e-4)[0],
            "its rank": np.linalg.lstsq(low, tall, rcond=1e-4)[2],
        }

    both_agree(program, TALL, LOW, tolerance=1e-4)


def test_matrices_without_elements_give_what_numpy_gives(both_agree):
    def program(x):
        none, flat = np.zeros_like(x, shape=(2, 0, 0)), np.zeros_like(x, shape=(0, 3))
        full = np.linalg.svd(flat)
        return {
            "cholesky": np.linalg.cholesky(none),
            "solve": np.linalg.solve(none, none),
            "no right side": np.linalg.solve(x, x[:, :0]),
            "det": np.linalg.det(none),
            "sign": np.linalg.slogdet(none).sign,
            "values": np.linalg.eigvalsh(none),
            "u": full.U,
            "s": full.S,
            "vh": full.Vh,
            "q": np.linalg.qr(flat.T, mode="complete").Q,
            "r": np.linalg.qr(flat).R,
            "no matrices": np.linalg.inv(np.zeros_like(x, shape=(0, 4, 4))),
        }

    both_agree(program, A)


def test_singular_matrices_of_a_stack_are_nan_alone(both_agree):
    stack = np.stack([np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan)]).astype(np.float32)

    def program(a):
        if isinstance(a, np.ndarray):
            return {"inv": np.stack([a[0], a[2], a[2]]), "values": np.array([[1, 1, 1], [0, 0, 0], [np.nan] * 3])}
        return {"inv": np.linalg.inv(a), "values": astype_double(np.linalg.eigvalsh(a))}

    both_agree(program, stack)


def astype_double(x):
    return x.astype(np.float64)


def test_a_batch_of_functions_solves_a_stack():
    stack = BATCH[None] + 3 * np.eye(3)

    def program(a, b):
        return np.linalg.solve(a, b), np.linalg.eigvalsh(a)

    found = ipu.function(ipu.vmap(program, in_axes=(0, None)), target=ipu.Target(tiles_per_ipu=4))(stack[0], BATCH[0])
    np.testing.assert_allclose(found[0], np.linalg.solve(stack[0], BATCH[0]), rtol=1e-10)
    np.testing.assert_allclose(found[1], np.linalg.eigvalsh(stack[0]), rtol=1e-10)


@pytest.mark.parametrize(("stack", "width", "tiles"), [((8,), 1, 8), ((), 8, 4), ((), 1, 1)])
def test_matrices_of_a_stack_and_right_sides_lie_on_different_tiles(stack, width, tiles):
    a, b = np.zeros((*stack, 40, 40), np.float32), np.zeros((*stack, 40, width), np.float32)
    target = ipu.Target(tiles_per_ipu=8)
    exe = ipu.compile(ipu.function(np.linalg.solve), args=(a, b), target=target)
    module = exe.module()
    (solve,) = (op for op in list_ops(module.operation, "ipu.vertices") if "solve_f32" in str(op.attributes["codelet"]))
    parts = parts_from_attr(solve.attributes["parts"])
    assert parts.num_parts == tiles


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
        (lambda t: np.linalg.qr(t[0]), "a matrix has two dimensions"),
        (lambda t: np.linalg.qr(t, mode="raw"), "mode is 'reduced', 'complete' or 'r', got 'raw'"),
        (lambda t: np.linalg.eigh(t.T @ t, "X"), "UPLO is 'L' or 'U', got 'X'"),
        (
            lambda t: np.linalg.eigvals(t),
            "np.linalg.eigvals is not supported while tracing; its results may be complex",
        ),
        (lambda t: np.linalg.lstsq(t, t[0]), "give one matrix, and a right side of as many rows"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ipu.IpuError, match=rf"test_decompositions.py:\d+: .*{message}"):
        ipu.function(function).trace(TALL)
