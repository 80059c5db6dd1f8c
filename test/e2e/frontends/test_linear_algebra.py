"""Matrices in StableHLO: its own ops, and what JAX and TensorFlow call LAPACK and XLA for."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.passes.raising.matrices import block_factors
from ipu_mlir.passes.raising.matrices.block_factors import best_block, best_panels, best_parts

TARGET = ipu.Target(tiles_per_ipu=4)
RNG = np.random.default_rng(1)
A = RNG.standard_normal((2, 3, 3)).astype(np.float32) + 3 * np.eye(3, dtype=np.float32)
B = RNG.standard_normal((2, 3, 2)).astype(np.float32)
POSITIVE = A @ A.swapaxes(-1, -2)


def run(op: str, *arrays: np.ndarray, results: list[str], target: ipu.Target = TARGET) -> list[np.ndarray]:
    """What a program of one op gives on both executors, which agree."""
    types = [f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in arrays]
    given = ", ".join(f"%a{number}: {kind}" for number, kind in enumerate(types))
    names = ", ".join(f"%a{number}" for number in range(len(types)))
    made = ", ".join(f"%r#{number}" if len(results) > 1 else "%r" for number in range(len(results)))
    count = f":{len(results)}" if len(results) > 1 else ""
    text = f"""func.func @main({given}) -> ({", ".join(results)}) {{
      %r{count} = {op.replace("ARGS", names)} : ({", ".join(types)}) -> ({", ".join(results)})
      return {made} : {", ".join(results)}
    }}"""
    exe = ipu.compile(text, target=target)
    found = exe.run(list(arrays))
    for one, other in zip(found, exe.run_per_tile(list(arrays)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return found


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


@pytest.mark.parametrize("size", [40, pytest.param(96, marks=pytest.mark.slow)])
def test_large_matrices_are_factored_block_by_block(size: int) -> None:
    small = ipu.Target(tiles_per_ipu=16, bytes_per_tile=15 * size**2)
    assert best_block(size, size, 2, True, "f32", 16, machine_of(small)) < size
    root = RNG.uniform(-1, 1, (size, size)).astype(np.float32)
    positive = root @ root.T + size * np.eye(size, dtype=np.float32)
    several = np.stack([positive, positive - 2 * size * np.eye(size, dtype=np.float32)])
    kind = f"tensor<2x{size}x{size}xf32>"
    (found,) = run("stablehlo.cholesky ARGS {lower = true}", several, results=[kind], target=small)
    np.testing.assert_allclose(found[0], np.linalg.cholesky(positive), rtol=1e-4, atol=1e-4)
    assert np.isnan(found[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("lower", [True, False])
def test_large_triangles_are_solved_block_by_block(lower: bool) -> None:
    small, size = ipu.Target(tiles_per_ipu=64, bytes_per_tile=65536), 96
    assert best_block(size, 90, 1, False, "f32", 64, machine_of(small)) < size
    whole = RNG.uniform(0, 1, (size, size)).astype(np.float32) / size + np.eye(size, dtype=np.float32)
    triangle = np.tril(whole) if lower else np.triu(whole)
    right = RNG.uniform(-1, 1, (size, 90)).astype(np.float32)
    settings = f"left_side = true, lower = {str(lower).lower()}, unit_diagonal = false"
    op = f'"stablehlo.triangular_solve"(ARGS) <{{{settings}, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}>'
    (solved,) = run(op, triangle, right, results=["tensor<96x90xf32>"], target=small)
    np.testing.assert_allclose(triangle @ solved, right, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 203, 5), (300, 4)])
def test_high_matrices_have_the_singular_values_of_their_parts(shape: tuple[int, ...]) -> None:
    """Also where two columns are equal, a singular value is 0, and the last part is not full."""
    target = ipu.Target(tiles_per_ipu=16)
    assert best_parts(shape[-2], shape[-1], 2, "reduced", "f32", 16, machine_of(target)) > 1
    a = RNG.standard_normal(shape).astype(np.float32)
    a[..., 1] = a[..., 0]

    def every(a):
        return *np.linalg.svd(a, full_matrices=False), np.linalg.svd(a, compute_uv=False)

    exe = ipu.compile(every, args=(a,), target=target)
    wanted, unit = np.linalg.svd(a).S, np.eye(shape[-1])
    for left, values, right, alone in (exe(a), exe.run_per_tile([a])):
        np.testing.assert_allclose((left * values[..., None, :]) @ right, a, atol=2e-5)
        np.testing.assert_allclose(left.swapaxes(-1, -2) @ left, np.broadcast_to(unit, right.shape), atol=2e-6)
        np.testing.assert_allclose([values, alone], [wanted, wanted], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["lu", "solve", "slogdet", "singular"])
def test_systems_of_equations_are_eliminated_block_by_block(name: str) -> None:
    jax = pytest.importorskip("jax")
    size, small = 56, ipu.Target(tiles_per_ipu=16, bytes_per_tile=50_000)
    assert len(best_panels(size, size, 2, "f32", 16, machine_of(small))) > 1
    a = RNG.uniform(-1, 1, (2, size, size)).astype(np.float32)
    b = RNG.uniform(-1, 1, (2, size, 3)).astype(np.float32)
    linalg = jax.numpy.linalg
    function = {
        "lu": lambda a, b: (jax.scipy.linalg.lu_factor(a), b + 1),
        "solve": lambda a, b: jax.grad(lambda a: (linalg.solve(a, b) ** 2).sum())(a),
        "slogdet": lambda a, b: (linalg.slogdet(a), b + 1),
        "singular": lambda a, b: linalg.solve(a - a, b),
    }[name]
    exe = ipu.compile(jax.jit(function), args=(a, b), target=small)
    wanted = jax.tree_util.tree_leaves(jax.jit(function)(a, b))
    for found in (jax.tree_util.tree_leaves(exe(a, b)), exe.run_per_tile([a, b])):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * np.nanmax(np.abs(other), initial=0))


@pytest.mark.filterwarnings("ignore:.*needs")
@pytest.mark.parametrize(("shape", "widths"), [((23, 17), (6, 2)), ((13, 24), (6, 3)), ((20, 9), (4,))])
def test_high_matrices_are_factored_in_loops(
    shape: tuple[int, int], widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by whole columns: ties and zeros among the pivots, a row of zeros, a last block that is not full."""
    monkeypatch.setattr(block_factors, "_WIDTHS", widths)
    a = RNG.integers(-3, 4, shape).astype(np.float32)
    a[:, 2], a[5] = 0, 0
    m, n = shape
    types = ", ".join([f"tensor<{m}x{n}xf32>", f"tensor<{min(shape)}xi32>", f"tensor<{m}xi32>"])
    text = f"""func.func @main(%a: tensor<{m}x{n}xf32>) -> ({types}) {{
      %zero = arith.constant 0.0 : f32
      %none = arith.constant 0 : i32
      %e = tensor.empty() : tensor<{m}x{n}xf32>
      %k = tensor.empty() : tensor<{min(shape)}xi32>
      %m = tensor.empty() : tensor<{m}xi32>
      %r:3 = linalg.generic {{library_call = "lu", indexing_maps = [
          affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (k)>,
          affine_map<(m, n, k) -> (m)>], iterator_types = ["reduction", "reduction", "reduction"]}}
          ins(%a : tensor<{m}x{n}xf32>) outs(%e, %k, %m : {types}) {{
      ^bb0(%x: f32, %out: f32, %p: i32, %q: i32):
        linalg.yield %zero, %none, %none : f32, i32, i32
      }} -> ({types})
      return %r#0, %r#1, %r#2 : {types}
    }}"""
    whole = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4)).run([a])
    high = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4, bytes_per_tile=2048, emulated=True))
    assert high.mlir("l2").count("scf.for") == 1 + len(widths)
    for found in (high.run([a]), high.run_per_tile([a])):
        for one, other in zip(found, whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(9, 7), pytest.param((7, 12), marks=pytest.mark.slow)])
def test_large_matrices_are_reflected_in_loops(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """As by one vertex: columns of zeros, equal ones, one of a single number, a last block that is not full."""
    for name, value in {"_REFLECTED": 3, "_WORTH": 0}.items():
        monkeypatch.setattr(block_factors, name, value)
    a = RNG.uniform(1, 2, shape).astype(np.float32)
    a[:, 1] = 0
    a[1:, 0] = 0
    a[:, -1] = a[:, -2]

    def factors(a):
        large = 1e30 * a
        return (*np.linalg.qr(a, mode="complete"), *np.linalg.qr(large))

    exe = ipu.compile(factors, args=(a,), target=ipu.Target(tiles_per_ipu=3))
    assert exe.mlir("l2").count("scf.for") == 6
    wanted_q, wanted_r = np.linalg.qr(a)
    for q, r, q_of_large, r_of_large in (exe.run([a]), exe.run_per_tile([a])):
        np.testing.assert_allclose(q.T @ q, np.eye(shape[0]), atol=2e-6)
        np.testing.assert_allclose(q @ r, a, atol=2e-5)
        rank = min(shape) - (shape[0] > shape[1])  # of the last column, which another is equal to, nothing is left
        np.testing.assert_allclose(q[:, :rank], wanted_q[:, :rank], atol=2e-5)
        np.testing.assert_allclose(r[:rank], wanted_r[:rank], atol=2e-5)
        np.testing.assert_allclose(q_of_large[:, :rank], q[:, :rank], atol=2e-5)
        np.testing.assert_allclose(r_of_large[:rank], 1e30 * r[:rank], atol=2e25)


def test_eigenvectors_are_those_of_rotations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_factors, "_WORTH", 0)
    a = RNG.standard_normal((5, 5)).astype(np.float32)
    exe = ipu.compile(lambda a: np.linalg.eigh(a), args=(a,), target=ipu.Target(tiles_per_ipu=3))
    assert "eigh" not in exe.mlir("l2")
    values, vectors = exe(a)
    lower = np.tril(a) + np.tril(a, -1).T
    np.testing.assert_allclose(lower @ vectors, vectors * values, atol=5e-6)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=3e-6)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(7, 5), (5, 8), (6, 6)])
def test_large_matrices_are_rotated_in_loops(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a column is 0 and two are equal, an eigenvalue has two vectors, and one is the negative of another."""
    monkeypatch.setattr(block_factors, "_WORTH", 0)
    n = shape[1]
    a = RNG.standard_normal(shape).astype(np.float32)
    a[:, 1] = 0
    a[:, 3] = a[:, 2]
    q = np.linalg.qr(RNG.standard_normal((n, n)))[0]
    symmetric = ((q * np.resize([1, -1, 1, 1e-6, 3], n)) @ q.T).astype(np.float32)

    def every(a, symmetric):
        values, vectors = np.linalg.eigh(np.tril(symmetric))
        return *np.linalg.svd(a), *np.linalg.svd(1e-30 * a, full_matrices=False), values, vectors

    exe = ipu.compile(every, args=(a, symmetric), target=ipu.Target(tiles_per_ipu=3))
    assert "svd" not in exe.mlir("l2") and "eigh" not in exe.mlir("l2")
    wanted, small = np.linalg.svd(a).S, min(shape)
    for u, s, vh, left, values, right, eigenvalues, x in (exe.run([a, symmetric]), exe.run_per_tile([a, symmetric])):
        for each in (u.T @ u, vh @ vh.T, left.T @ left, right @ right.T, x.T @ x):
            np.testing.assert_allclose(each, np.eye(len(each)), atol=3e-6)
        np.testing.assert_allclose((u[:, :small] * s) @ vh[:small], a, atol=1e-5)
        np.testing.assert_allclose((left * (1e30 * values)) @ right, a, atol=1e-5)
        np.testing.assert_allclose(s, wanted, atol=2e-6)
        np.testing.assert_allclose(symmetric @ x, x * eigenvalues, atol=1e-5)
        np.testing.assert_allclose(eigenvalues, np.linalg.eigvalsh(symmetric), atol=3e-6)
