"""NumPy's products and linear algebra, as users write them: traced, they agree with NumPy on both executors."""

import pytest

CALLS: dict[str, list[str]] = {
    "products": [
        *(
            "x @ y.T",
            "np.matmul(s, s)",
            "np.dot(s, s)",
            "np.dot(v, w)",
            "np.dot(3, x)",
            "np.inner(x, y)",
            "np.outer(v, w)",
        ),
        *("np.vdot(x, y)", "np.kron(s, s)", "np.kron(v, s)", "np.cross(s, s[::-1])", "np.tensordot(x, y, 2)"),
        *("np.tensordot(p, x, axes=([1, 2], [0, 1]))", "np.einsum('ij,kj->ik', x, y)", "np.einsum('ii', s)"),
        *("np.einsum('ii->i', s)", "np.einsum('...i->...', p)", "np.einsum('...ij,...kj->...ik', p, p)"),
        *("np.einsum('ij,jk,kl', s, s, s)", "np.einsum(x, [0, 1], y, [2, 1], [0, 2])", "np.einsum('ij->ji', x)"),
        *(
            "np.vecdot(x, y)",
            "np.matvec(s, s[0])",
            "np.vecmat(s[0], s)",
            "np.convolve(v, w)",
            "np.convolve(v, w[:3], 'same')",
        ),
        *("np.convolve(v, w[:2], mode='valid')", "np.correlate(v, w[:3])", "np.correlate(v, w, 'full')"),
        *("np.correlate(v[:2], w, 'same')", "np.trace(s)", "np.trace(p, offset=1, axis1=1, axis2=2)", "np.cov(x)"),
        *(
            "np.cov(v, w)",
            "np.corrcoef(x)",
            "np.cov(x, rowvar=False, ddof=0)",
            "np.polyval(v, w)",
            "np.polyval([1, 2, 3], x)",
        ),
        *("np.polyadd(v, w[:2])", "np.polysub(v, w)", "np.polymul(v, w)", "np.polyder(v)", "np.polyint(v)", "p @ x.T"),
        *(
            "np.interp(x, [-2, 0, 1, 2], [1, 3, 2, 5])",
            "np.interp(x, np.sort(v), w, left=-7.0)",
            "np.multiply.outer(v, w)",
        ),
    ],
    "linear algebra": [
        *("np.linalg.norm(x)", "np.linalg.norm(v, 1)", "np.linalg.norm(x, axis=1)", "np.linalg.norm(v, np.inf)"),
        *("np.linalg.norm(x, 'fro')", "np.linalg.norm(x, 1)", "np.linalg.norm(x, -np.inf)", "np.linalg.norm(v, 0)"),
        *("np.linalg.norm(v, 3)", "np.linalg.norm(p, axis=(1, 2))", "np.linalg.norm(x, axis=0, keepdims=True)"),
        *("np.linalg.vector_norm(p, axis=(0, 1))", "np.linalg.matrix_norm(p)", "np.linalg.matmul(s, s)"),
        *(
            "np.linalg.outer(v, w)",
            "np.linalg.cross(s, s[::-1])",
            "np.linalg.diagonal(p)",
            "np.linalg.trace(p, offset=1)",
        ),
        *("np.linalg.matrix_transpose(p)", "np.linalg.multi_dot([s, s, s])", "np.linalg.matrix_power(s, 5)"),
        *("np.linalg.tensordot(x, y, axes=2)", "np.linalg.vecdot(x, y)", "np.linalg.matrix_power(s, 0)"),
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group, assert_calls_agree):
    assert_calls_agree(CALLS[group])
