"""NumPy's operators and methods of arrays, as users write them: traced, they agree with NumPy on both executors."""

import pytest

CALLS: dict[str, list[str]] = {
    "operators": [
        *(
            "x + 1",
            "1 - x",
            "x * y",
            "2 / y",
            "i // 2",
            "i % 5",
            "y**0.5",
            "2**i.clip(0, 4)",
            "-x",
        ),
        *(
            "+x",
            "abs(x)",
            "~b",
            "b & (x > 0)",
            "b | b",
            "b ^ True",
            "i << 1",
            "i >> 1",
            "x < y",
            "x >= 0.5",
            "i == 3",
            "i != j",
        ),
        *(
            "divmod(i, 4)",
            "x @ v[:4]",
            "x + i",
            "x + b",
            "i + u",
            "u + 1.5",
            "i * 2.5",
            "x + np.float64(1)",
            "d + x",
            "len(x)",
        ),
    ],
    "methods": [
        *(
            "x.sum()",
            "x.sum(0)",
            "x.mean(axis=1)",
            "x.max()",
            "x.min(axis=0, keepdims=True)",
            "x.std(ddof=1)",
            "x.var()",
        ),
        *("x.prod(1)", "b.any()", "b.all(axis=1)", "x.argmax()", "x.argmin(1)", "x.cumsum()", "x.cumsum(axis=1)"),
        *(
            "x.cumprod(0)",
            "x.argsort()",
            "x.clip(0, 1)",
            "x.round(1)",
            "x.dot(y.T)",
            "x.repeat(2, axis=0)",
            "v.take([0, 2])",
        ),
        *(
            "x.reshape(2, 6)",
            "x.reshape((6, 2))",
            "x.reshape(-1)",
            "x.ravel()",
            "x.flatten()",
            "x.flatten('F')",
            "p.transpose(2, 0, 1)",
        ),
        *(
            "p.swapaxes(0, 1)",
            "x[None].squeeze()",
            "s.diagonal()",
            "s.trace()",
            "s.trace(1)",
            "x.astype(np.int32)",
            "x.astype('float64')",
            "x.copy()",
        ),
        *(
            "x.conj()",
            "x.conjugate()",
            "x.real",
            "x.imag",
            "x.ndim",
            "x.size",
            "x.shape",
            "x.nbytes",
            "x.itemsize",
            "x.dtype",
        ),
        *("np.sort(v).searchsorted(w)", "j.choose([j, j + 1, j * 2])", "x.compress([True, False, True], axis=0)"),
        *(
            "x.argpartition(0).shape",
            "x.sum(where=b)",
            "x.max(initial=9)",
            "x.mean(where=b)",
            "x.T.shape",
            "x.astype(bool)",
        ),
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group, assert_calls_agree):
    assert_calls_agree(CALLS[group])
