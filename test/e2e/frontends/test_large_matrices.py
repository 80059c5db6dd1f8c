"""Large matrices of JAX are factored, solved and rotated block by block, in parts of rows, or in loops."""

import numpy as np
import pytest
from support.one_op import run

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.passes.raising.matrices import block_factors
from ipu_mlir.passes.raising.matrices.block_factors import best_block, best_panels, best_parts

RNG = np.random.default_rng(1)


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
