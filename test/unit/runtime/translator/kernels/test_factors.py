"""Factors and triangular solutions as kernels beside the definition of their codelets."""

import numpy as np
import pytest
from codelet_calls import computed

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets.library import codelet_named

SOLUTIONS = [f"solve_{side}{unit}" for side in ("lower", "upper") for unit in ("", "_unit")]


def matrices(dtype: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def held_to_the_definition(codelet: str, given: list[np.ndarray], outputs: list[tuple[str, tuple[int, ...]]]) -> None:
    got, source = computed(codelet, given, outputs)
    assert "run_codelet" not in source
    for found, wanted in zip(got, codelet_named(codelet).per_tile(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (16, 16), (2, 3, 6, 6), (37, 37)])
def test_cholesky(dtype: str, shape: tuple[int, ...]) -> None:
    half = matrices(dtype, *shape)
    a = half @ half.swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)
    held_to_the_definition("cholesky", [np.tril(a) + np.triu(matrices(dtype, *shape), 1)], [(dtype, shape)])


def test_the_factor_of_a_matrix_that_is_not_positive_definite_is_nan() -> None:
    a = np.stack([np.diag(np.array([1, -1, 2, 3, 4, 5], np.float32)), np.eye(6, dtype=np.float32)])
    held_to_the_definition("cholesky", [a], [("f4", a.shape)])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (16, 16), (2, 3, 6, 6), (37, 37), (20, 7), (7, 20), (5, 1)])
def test_lu(dtype: str, shape: tuple[int, ...]) -> None:
    *stack, rows, columns = shape
    outputs = [(dtype, shape), ("i4", (*stack, min(rows, columns))), ("i4", (*stack, rows))]
    held_to_the_definition("lu", [matrices(dtype, *shape)], outputs)


def test_lu_of_a_singular_matrix_and_of_nan() -> None:
    a = np.zeros((2, 5, 5), np.float32)
    a[1] = matrices("f4", 5, 5)
    a[1, 3, 2] = np.nan
    held_to_the_definition("lu", [a], [("f4", a.shape), ("i4", (2, 5)), ("i4", (2, 5))])


@pytest.mark.parametrize("codelet", SOLUTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("a", "b"), [((1, 1), (1, 1)), ((6, 6), (6, 1)), ((2, 3, 7, 7), (2, 3, 7, 3)), ((18, 18), (18, 37))]
)
def test_solutions(codelet: str, dtype: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    matrix = 0.2 * matrices(dtype, *a) + np.eye(a[-1], dtype=dtype)  # both triangles: the other is not read
    held_to_the_definition(codelet, [matrix, matrices(dtype, *b)], [(dtype, b)])


def test_factors_are_kernels_by_themselves() -> None:
    given, form = [np.eye(16, dtype=np.float32)], [("f4", (16, 16))]
    assert "run_codelet" not in computed("cholesky", given, form, "auto")[1]
    assert "run_codelet" in computed("cholesky", given, form, "never")[1]


def test_what_is_too_large_for_a_kernel_is_a_call() -> None:
    a = np.eye(600, dtype=np.float32) + np.eye(600, k=1, dtype=np.float32)
    (found,), source = computed("cholesky", [a], [("f4", a.shape)])
    assert "run_codelet" in source
    np.testing.assert_array_equal(found, np.eye(600))


@pytest.mark.parametrize("kernels", ["auto", "checked"])
def test_a_loop_with_factors_is_one_kernel(kernels: str) -> None:
    def refine(a):
        return ipu.fori_loop(0, 9, lambda _, x: ipu.numpy.linalg.cholesky(a + x @ x.T), a)

    a = np.eye(12, dtype=np.float32) + 0.1
    exe = ipu.compile(refine, args=[a], kernels=kernels)
    assert "run_codelet" not in exe.source()
    x = a
    for _ in range(9):
        x = np.linalg.cholesky(a + x @ x.T)
    np.testing.assert_allclose(exe(a), x, rtol=1e-4, atol=1e-4)
