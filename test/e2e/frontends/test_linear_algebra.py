"""Matrices in StableHLO: its own ops, and what JAX and TensorFlow call LAPACK and XLA for."""

import numpy as np
import pytest
from support.one_op import TARGET, run

import ipu_mlir as ipu

RNG = np.random.default_rng(1)
A = RNG.standard_normal((2, 3, 3)).astype(np.float32) + 3 * np.eye(3, dtype=np.float32)
B = RNG.standard_normal((2, 3, 2)).astype(np.float32)
POSITIVE = A @ A.swapaxes(-1, -2)


MATRICES, RIGHT, VALUES = "tensor<2x3x3xf32>", "tensor<2x3x2xf32>", "tensor<2x3xf32>"


def lapack(name: str, config: str) -> str:
    return f"stablehlo.custom_call @lapack_s{name}_ffi(ARGS) {{mhlo.backend_config = {{{config}}}}}"


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(lower: bool):
    letter = ord("L") if lower else ord("U")
    a = np.tril(POSITIVE) if lower else np.triu(POSITIVE)  # the other triangle is not looked at
    (op,) = run(f'"stablehlo.cholesky"(ARGS) <{{lower = {str(lower).lower()}}}>', a, results=[MATRICES])
    called, info = run(lapack("potrf", f"uplo = {letter} : ui8"), a, results=[MATRICES, "tensor<2xi32>"])
    wanted = np.linalg.cholesky(POSITIVE)
    for found in (op, called):
        np.testing.assert_allclose(found, wanted if lower else wanted.swapaxes(-1, -2), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(info, [0, 0])


def test_tridiagonal_solve():
    below, on, above = RNG.standard_normal((3, 2, 3)).astype(np.float32)
    types = [VALUES] * 3 + [RIGHT, "tensor<2xi32>"]
    found = run(lapack("gtsv", ""), below, on, above, B, results=types)
    rows = zip(below, on, above, strict=True)
    whole = np.stack([np.diag(b[1:], -1) + np.diag(o) + np.diag(a[:-1], 1) for b, o, a in rows])
    np.testing.assert_allclose(found[3], np.linalg.solve(whole, B), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[4], [0, 0])


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("called", [True, False])
def test_triangular_solve(left: bool, lower: bool, transposed: bool, called: bool):
    unit = lower != transposed
    triangle = np.tril(A) if lower else np.triu(A)
    whole = triangle if not unit else triangle - triangle * np.eye(3, dtype=np.float32) + np.eye(3, dtype=np.float32)
    whole = whole.swapaxes(-1, -2) if transposed else whole
    b = B if left else B.swapaxes(-1, -2).copy()
    letters = {"side": "LR"[not left], "uplo": "LU"[not lower], "trans_x": "NT"[transposed], "diag": "NU"[unit]}
    if called:
        op = lapack("trsm", ", ".join(f"{name} = {ord(letter)} : ui8" for name, letter in letters.items()))
    else:
        flags = f"left_side = {left}, lower = {lower}, unit_diagonal = {unit}".lower()
        transpose = "TRANSPOSE" if transposed else "NO_TRANSPOSE"
        op = f'"stablehlo.triangular_solve"(ARGS) <{{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}>'
    (found,) = run(op, A, b, results=[RIGHT if left else "tensor<2x2x3xf32>"])
    wanted = np.linalg.solve(whole, b) if left else b @ np.linalg.inv(whole)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["lapack", "xla"])
def test_lu(name: str):
    pivots = "tensor<2x3xi32>"
    if name == "lapack":
        factors, rows, _ = run(lapack("getrf", ""), A, results=[MATRICES, pivots, "tensor<2xi32>"])
        rows = rows - 1
    else:
        call = "stablehlo.custom_call @LuDecomposition(ARGS)"
        factors, rows, order = run(call, A, results=[MATRICES, pivots, pivots])
        np.testing.assert_array_equal(np.sort(order), [[0, 1, 2]] * 2)
    for matrix, own, exchanged in zip(factors, rows, A, strict=True):
        exchanged = exchanged.copy()
        for row, other in enumerate(own):
            exchanged[[row, other]] = exchanged[[other, row]]
        np.testing.assert_allclose((np.tril(matrix, -1) + np.eye(3)) @ np.triu(matrix), exchanged, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lapack("geqrf", ""), lapack("orgqr", "")),
        ("stablehlo.custom_call @Qr(ARGS)", "stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(ARGS)"),
    ],
    ids=["lapack", "xla"],
)
def test_qr(first: str, second: str):
    packed, scales = run(first, B, results=[RIGHT, "tensor<2x2xf32>"])
    (q,) = run(second, packed, scales, results=[RIGHT])
    np.testing.assert_allclose(q @ np.triu(packed)[:, :2], B, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(q, np.linalg.qr(B).Q, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "op",
    [
        lapack("syevd", "mode = 86 : ui8, uplo = 76 : ui8"),
        lapack("syevd", "mode = 86 : ui8, uplo = 85 : ui8"),
        'stablehlo.custom_call @Eigh(ARGS) {backend_config = "1,1,100,1e-6"}',
        'stablehlo.custom_call @Eigh(ARGS) {backend_config = "0,1,100,1e-6"}',
    ],
)
def test_eigh(op: str):
    is_upper = "85" in op or '"0' in op
    a = np.triu(POSITIVE) if is_upper else np.tril(POSITIVE)
    vectors, values, *_ = run(op, a, results=[MATRICES, VALUES, *(["tensor<2xi32>"] if "lapack" in op else [])])
    np.testing.assert_allclose(values, np.linalg.eigvalsh(POSITIVE), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(POSITIVE @ vectors, vectors * values[:, None], rtol=1e-4, atol=1e-4)


def test_eigenvalues_alone():
    op = lapack("syevd", "mode = 78 : ui8, uplo = 76 : ui8")
    _, values, _ = run(op, POSITIVE, results=[MATRICES, VALUES, "tensor<2xi32>"])
    np.testing.assert_allclose(values, np.linalg.eigvalsh(POSITIVE), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("mode", "columns"), [("A", 3), ("S", 2), ("N", 3)])
def test_svd(mode: str, columns: int):
    left = f"tensor<2x3x{columns}xf32>"
    results = [RIGHT, "tensor<2x2xf32>", left, "tensor<2x2x2xf32>", "tensor<2xi32>"]
    _, values, u, vh, _ = run(lapack("gesdd", f"mode = {ord(mode)} : ui8"), B, results=results)
    np.testing.assert_allclose(values, np.linalg.svd(B).S, rtol=1e-5, atol=1e-5)
    if mode != "N":
        np.testing.assert_allclose((u[..., :2] * values[:, None]) @ vh, B, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("config", ["", " {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 78 : ui8}}"])
def test_other_calls_of_lapack_are_refused(config: str):
    with pytest.raises(ipu.CompileError, match='calls "lapack_sgeev_ffi", which only the framework\'s own library has'):
        run(f"stablehlo.custom_call @lapack_sgeev_ffi(ARGS){config}", A, results=[MATRICES])


def test_jax():
    jax = pytest.importorskip("jax")
    jnp, jsl = jax.numpy, jax.scipy.linalg

    @jax.jit
    def program(a, b, s):
        left, values, right = jnp.linalg.svd(b, full_matrices=False)
        eigenvalues, vectors = jnp.linalg.eigh(s)
        factor = jsl.cho_factor(s[0], lower=True)
        return {
            "cholesky": jnp.linalg.cholesky(s),
            "upper": jnp.linalg.cholesky(s, upper=True),
            "not positive": jnp.linalg.cholesky(-s),
            "solve": jnp.linalg.solve(a, b),
            "inv": jnp.linalg.inv(a),
            "singular": jnp.linalg.inv(a * 0),
            "slogdet": jnp.linalg.slogdet(a),
            "det": jnp.linalg.det(a),
            "lu": jsl.lu(a[0]),
            "lu_solve": jsl.lu_solve(jsl.lu_factor(a[0]), b[0]),
            "qr": jnp.linalg.qr(b),
            "complete": jnp.linalg.qr(b, mode="complete"),
            "wide": jnp.linalg.qr(b.swapaxes(-1, -2)),
            "svd": (left * values[:, None]) @ right,
            "eigenvalues": eigenvalues,
            "back": (vectors * eigenvalues[:, None]) @ vectors.swapaxes(-1, -2),
            "lstsq": jnp.linalg.lstsq(b[0], a[0])[0],
            "pinv": jnp.linalg.pinv(b),
            "cho_solve": jsl.cho_solve(factor, b[0]),
            "triangular": jsl.solve_triangular(a[0], b[0], trans=1, lower=True, unit_diagonal=True),
        }

    assert_agrees(jax, program, A, B, POSITIVE)


def test_complex_matrices_of_jax():
    jax = pytest.importorskip("jax")
    jnp, jsl = jax.numpy, jax.scipy.linalg

    @jax.jit
    def program(a, b, s):
        left, values, right = jnp.linalg.svd(b, full_matrices=False)
        eigenvalues, vectors = jnp.linalg.eigh(s)
        upper, _ = jnp.linalg.eigh(s, UPLO="U", symmetrize_input=False)
        q, r = jnp.linalg.qr(b)
        return {
            "cholesky": jnp.linalg.cholesky(s),
            "upper": jnp.linalg.cholesky(s, upper=True),
            "cho_solve": jsl.cho_solve(jsl.cho_factor(s[0], lower=False), b[0]),
            "solve": jnp.linalg.solve(a, b),
            "inv": jnp.linalg.inv(a),
            "det": jnp.linalg.det(a),
            "slogdet": jnp.linalg.slogdet(a),
            "lu": jsl.lu(a[0]),
            "qr": (q, r),
            "svd": (values, (left * values[:, None, :]) @ right),
            "alone": jnp.linalg.svd(b, compute_uv=False),
            "eigenvalues": (eigenvalues, upper, jnp.linalg.eigvalsh(s)),
            "back": (vectors * eigenvalues[:, None, :]) @ vectors.conj().swapaxes(-1, -2),
            "adjoint": jsl.solve_triangular(a[0], b[0], trans="C", lower=True),
            "transposed": jsl.solve_triangular(a[0], b[0], trans="T"),
            "gradient": jax.grad(lambda a: jnp.sum(jnp.abs(jnp.linalg.solve(a, b)) ** 2))(a),
        }

    a = (A + 1j * A[::-1]).astype(np.complex64)
    assert_agrees(jax, program, a, (B + 1j * B[::-1]).astype(np.complex64), a @ a.conj().swapaxes(-1, -2))


@pytest.mark.parametrize("imaginary", [0, 1j])
def test_eigenvalues_of_general_matrices(imaginary: complex):
    """Their order is LAPACK's, which both ask."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    a = A - 3 * np.eye(3, dtype=np.float32) + imaginary * A[::-1]
    a = a.astype(np.complex64 if imaginary else np.float32)

    @jax.jit
    def program(a):
        values, vectors = jnp.linalg.eig(a)
        return values, a @ vectors - vectors * values[:, None, :], jnp.abs(vectors), jnp.linalg.eigvals(a)

    assert_agrees(jax, program, a)


def test_roots_of_polynomials():
    jax = pytest.importorskip("jax")
    roots = jax.jit(lambda c: jax.numpy.sort(jax.numpy.roots(c, strip_zeros=False)))
    assert_agrees(jax, roots, np.array([1.0, -2.5, 3.0, 0.5, -1.0], np.float32))


def test_gradients_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def gradients(a, b, s):
        def solved(a, b):
            return jnp.sum(jnp.linalg.solve(a, b) ** 2)

        def factored(s):
            return jnp.sum(jnp.linalg.cholesky(s) ** 3)

        def taken_apart(s):
            return jnp.sum(jnp.linalg.eigh(s)[0] ** 2)

        return jax.grad(solved, (0, 1))(a, b), jax.grad(factored)(s), jax.grad(taken_apart)(s)

    assert_agrees(jax, gradients, A, B, POSITIVE)


def assert_agrees(jax, function, *arrays: np.ndarray) -> None:
    exe = ipu.compile(function, args=arrays, target=TARGET)
    found, expected = (jax.tree_util.tree_leaves_with_path(each) for each in (exe(*arrays), function(*arrays)))
    for (path, one), (_, other) in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * (1 + np.nanmax(np.abs(other))), err_msg=str(path))
