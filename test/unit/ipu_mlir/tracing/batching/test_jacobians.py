"""Derivatives of every element by every element, against formulas."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
W = np.linspace(0.5, 2, 8, dtype=np.float32).reshape(2, 4)


def run(f, *args):
    return ipu.function(f, target=TARGET)(*args)


@pytest.mark.parametrize("jacobian", [ipu.jacrev, ipu.jacfwd])
def test_a_jacobian_has_the_shapes_of_the_result_and_of_the_argument(jacobian):
    by_x, by_w = run(jacobian(lambda x, w: np.tanh(x @ w), argnums=(0, 1)), X, W)
    slope = 1 - np.tanh(X @ W) ** 2
    np.testing.assert_allclose(by_x, np.einsum("ij,ik,lj->ijkl", slope, np.eye(3), W), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_w, np.einsum("ij,il,jk->ijlk", slope, X, np.eye(4)), rtol=1e-5, atol=1e-6)


def test_arguments_of_reverse_and_results_of_forward_passes_may_be_nested():
    found = run(ipu.jacrev(lambda p: p["a"] * p["b"].sum()), {"a": X[:, 0], "b": X[0]})
    np.testing.assert_allclose(found["a"], np.eye(3) * X[0].sum(), atol=1e-6)
    np.testing.assert_allclose(found["b"], np.tile(X[:, :1], 2), atol=1e-6)
    squares, total = run(ipu.jacfwd(lambda x: (x * x, x.sum())), X[0])
    np.testing.assert_allclose(squares, np.diag(2 * X[0]), atol=1e-6)
    np.testing.assert_allclose(total, [1, 1])
    with pytest.raises(ipu.CompileError, match="jacrev of <lambda>, whose result is not one tensor"):
        run(ipu.jacrev(lambda x: (x, x)), X)


def test_a_hessian_of_each_example():
    found = run(ipu.vmap(ipu.hessian(lambda row: np.prod(row) + np.exp(row).sum())), X)
    expected = [[[np.exp(a), 1], [1, np.exp(b)]] for a, b in X]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    cubes = run(ipu.jacfwd(ipu.jacrev(lambda x: x**3)), X[0])
    np.testing.assert_allclose(cubes[range(2), range(2), range(2)], 6 * X[0], rtol=1e-5)
