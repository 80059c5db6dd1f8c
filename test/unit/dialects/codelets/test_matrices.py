"""Codelets on stacks of matrices: the fast form gives what the definition gives, and what NumPy gives."""

import numpy as np
import pytest

from ipu_mlir.dialects.codelets import fourier
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.fourier import TRANSFORMS
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.orthogonal import FACTORS
from ipu_mlir.dialects.codelets.solve import SOLVERS
from ipu_mlir.dialects.machine.machine import IPU2

STACKED = [codelet.name for codelet in (*SOLVERS, *FACTORS, *TRANSFORMS)]
SIZES = [{"m": 5, "n": 3}, {"m": 3, "n": 5}, {"m": 4, "n": 4}, {"m": 1, "n": 1}, {"m": 40, "n": 37}]


def operands(name, sizes, dtype, stack=(2, 1)):
    """Random inputs; matrices that are positive definite where they are square."""
    signature = codelet_named(name).signature
    sizes = sizes | {"n": sizes["n"] + sizes["n"] % 2} if name == "irfft" else sizes
    sizes = {"h": sizes["n"] // 2 + 1, "p": 2, "k": min(sizes.values()), **sizes}
    rng = np.random.default_rng(sizes["n"])
    found = [rng.standard_normal((*stack, *(sizes[each[0]] for each in own))).astype(dtype) for own in signature.inputs]
    if signature.inputs[0][:2] == ("n1", "n2"):
        whole = found[0] if len(signature.inputs[0]) == 2 else found[0][..., 0] + 1j * found[0][..., 1]
        whole = whole @ np.swapaxes(whole, -1, -2).conj() / sizes["n"] + np.eye(sizes["n"])
        found[0] = (np.stack([whole.real, whole.imag], -1) if len(signature.inputs[0]) == 3 else whole).astype(dtype)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "x".join(map(str, sizes.values())))
@pytest.mark.parametrize("name", STACKED)
def test_all_at_once_is_one_by_one(name, sizes, dtype):
    if name.startswith("reflections_product") and sizes["m"] < sizes["n"]:
        pytest.skip("the product has at least as many rows as columns")
    codelet = codelet_named(name)
    given = operands(name, sizes, dtype)
    before = [each.copy() for each in given]
    exact, fast = codelet.per_tile(*given), codelet.vectorised(*given)
    for one, other in zip(given, before, strict=True):
        np.testing.assert_array_equal(one, other)
    tolerance = np.finfo(dtype).eps * 200 * sizes["n"]
    for one, other in zip(exact, fast, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * max(1, np.abs(one).max()))
    assert codelet.takes(tuple(each.shape for each in given), tuple(each.shape for each in exact))


@pytest.mark.parametrize("name", [codelet.name for codelet in TRANSFORMS])
def test_transforms_without_scipy_are_those_of_numpy(name, monkeypatch):
    monkeypatch.setattr(fourier, "_library", lambda: np.fft)
    for dtype in (np.float32, np.float64):
        test_all_at_once_is_one_by_one(name, {"m": 4, "n": 15}, dtype)


def test_what_cannot_be_done_is_nan_for_that_matrix_alone():
    good = np.eye(2, dtype=np.float32)
    stack = np.stack([good, -good, good * np.nan, good * 0])
    wrong = {"cholesky": [1, 2, 3], "solve": [2, 3], "eigh": [2], "eigvalsh": [2], "svd": [2], "svdvals": [2]}
    for name, places in wrong.items():
        codelet = codelet_named(name)
        given = (stack, stack) if name == "solve" else (stack,)
        for form in (codelet.vectorised, codelet.per_tile):
            for found in form(*given):
                is_nan = np.isnan(found).reshape(len(stack), -1)
                assert np.flatnonzero(is_nan.all(1)).tolist() == places, name
                assert np.flatnonzero(is_nan.any(1)).tolist() == places, name


def test_tridiagonal_solutions_are_those_of_whole_matrices():
    rng = np.random.default_rng(0)
    below, on, above = rng.standard_normal((3, 2, 6))
    below[:, 0] = above[:, -1] = np.nan  # nobody reads them
    whole = np.zeros((2, 6, 6))
    for i in range(6):
        whole[:, i, i] = on[:, i]
        whole[:, i, i - 1 : i] = below[:, i : i + 1] if i else 0
        whole[:, i, i + 1 : i + 2] = above[:, i : i + 1] if i < 5 else 0
    b = rng.standard_normal((2, 6, 3))
    for form in (codelet_named("solve_tridiagonal").vectorised, codelet_named("solve_tridiagonal").per_tile):
        np.testing.assert_allclose(form(below, on, above, b)[0], np.linalg.solve(whole, b), rtol=1e-9)
        assert np.isnan(form(below * 0, on * [[1], [0]], above * 0, b)[0]).all((1, 2)).tolist() == [False, True]


def test_lu_of_a_singular_matrix_is_that_of_lapack():
    a = np.array([[0, 1, 2], [0, 3, 4], [0, 5, 6.0]])
    for form in (codelet_named("lu").vectorised, codelet_named("lu").per_tile):
        factors, pivots, order = form(a)
        np.testing.assert_array_equal(pivots, [0, 2, 2])
        lower, upper = np.tril(factors, -1) + np.eye(3), np.triu(factors)
        np.testing.assert_allclose(lower @ upper, a[order])


def test_lu_of_more_than_a_block_has_the_rows_in_order():
    a = np.random.default_rng(0).standard_normal((3, 70, 50))
    factors, _, order = codelet_named("lu").vectorised(a)
    lower = np.tril(factors, -1) + np.eye(70, 50)
    np.testing.assert_allclose(lower @ np.triu(factors[:, :50]), np.take_along_axis(a, order[..., None], 1), atol=1e-12)


def test_codelets_of_matrices_take_floats_of_one_type():
    types = codelet_named("lu").takes_types
    assert types(("f32",), ("f32", "i32", "i32"))
    assert not types(("f32",), ("f64", "i32", "i32"))
    assert not types(("i32",), ("i32", "i32", "i32"))
    assert not codelet_named("solve").takes(((3, 3), (2, 3)), ((2, 3),))


def test_cycles_are_those_of_the_flops():
    cholesky = codelet_named("cholesky")
    call = CodeletCall(cholesky, ("f32", "f32"), ((12, 8, 8),) * 2, ((0, 1, 2),) * 2, (0,), (1, 2))
    flops = 8**3 // 3 + 8**2
    assert cholesky.flops(call, np.array([12, 8, 8])) == 12 * flops
    alone = 26 + 2 * -(-3 * flops // 4)  # two matrices for each of six workers
    assert cholesky.cycles(call, np.array([12, 8, 8]), IPU2) == 11 + 6 * alone
    instructions = 3 * flops // 4 + 1
    assert 3 * flops % 4, "rounded up"
    shared = 26 * 8 + instructions // 6 + 1  # one matrix for all
    assert cholesky.cycles(call, np.array([1, 8, 8]), IPU2) == 11 + 6 * min(shared, 26 + instructions)
    assert cholesky.scratch_bytes(call, np.array([12, 8, 8]), IPU2) == 6 * 8 * 4
