"""NumPy's shapes, parts and new arrays, as users write them: traced, they agree with NumPy on both executors."""

import pytest

CALLS: dict[str, list[str]] = {
    "shapes": [
        *(
            "np.reshape(x, (4, 3))",
            "np.reshape(x, (2, -1), order='F')",
            "np.ravel(x)",
            "np.ravel(x, 'F')",
            "x.T",
            "p.mT",
        ),
        *(
            "np.transpose(p, (1, 0, 2))",
            "np.permute_dims(p, (2, 0, 1))",
            "np.swapaxes(p, 0, 2)",
            "np.moveaxis(p, 0, -1)",
        ),
        *("np.rollaxis(p, 2)", "np.rollaxis(p, 0, 3)", "np.expand_dims(x, (0, 3))", "np.squeeze(x[None])"),
        *("np.broadcast_to(v, (2, 5))", "np.broadcast_arrays(x, x[0])", "np.atleast_1d(x.sum())", "np.atleast_2d(v)"),
        *("np.atleast_3d(v)", "np.atleast_3d(x)", "np.flip(x)", "np.flip(p, (0, 2))", "np.fliplr(x)", "np.flipud(x)"),
        *("np.rot90(x)", "np.rot90(x, 2)", "np.rot90(p, 3, axes=(1, 2))", "np.roll(x, 2)", "np.roll(x, 1, axis=0)"),
        *("np.roll(x, (1, 2), (0, 1))", "np.matrix_transpose(p)", "np.shape(x)", "np.ndim(x)", "np.size(x)"),
        *("np.meshgrid(v, w)", "np.meshgrid(v, w, indexing='ij', sparse=True)", "np.unravel_index(j, (2, 2))"),
        *("np.ravel_multi_index((j, j), (3, 3))", "np.size(x, 1)", "np.lib.stride_tricks.sliding_window_view(v, 3)"),
        *("np.lib.stride_tricks.sliding_window_view(x, (2, 2))", "np.resize(v, (2, 4))", "np.resize(x, 5)"),
    ],
    "joins and splits": [
        *(
            "np.concatenate([x, y])",
            "np.concatenate([x, y], axis=1)",
            "np.concatenate([x, y], axis=None)",
            "np.concat([x, i])",
        ),
        *(
            "np.stack([x, y])",
            "np.stack([x, y], axis=-1)",
            "np.vstack([v, w])",
            "np.hstack([v, w])",
            "np.hstack([x, y])",
        ),
        *("np.dstack([x, y])", "np.column_stack([v, w])", "np.block([[x, y], [y, x]])", "np.block([v, w])"),
        *("np.append(x, y)", "np.append(x, y, axis=0)", "np.insert(v, 1, 9.0)", "np.insert(x, [1, 3], 0.0, axis=1)"),
        *("np.insert(v, [0, 0, 5], [1.0, 2.0, 3.0])", "np.delete(v, 1)", "np.delete(x, [0, 2], axis=1)"),
        *("np.delete(x, slice(0, 2), axis=0)", "np.split(x, 2, axis=1)", "np.split(v, [1, 3])", "np.array_split(v, 3)"),
        *("np.hsplit(x, 2)", "np.vsplit(x, 3)", "np.dsplit(p, 2)", "np.unstack(x)", "np.unstack(p, axis=1)"),
        *(
            "np.tile(v, 2)",
            "np.tile(x, (2, 1, 2))",
            "np.repeat(v, 2)",
            "np.repeat(x, 3, axis=1)",
            "np.repeat(v, [0, 1, 2, 0, 1])",
        ),
    ],
    "pads": [
        *(
            "np.pad(x, 1)",
            "np.pad(v, (1, 2), constant_values=7.0)",
            "np.pad(x, ((1, 0), (0, 2)), constant_values=(3, 4))",
        ),
        *("np.pad(x, 2, mode='edge')", "np.pad(x, 2, mode='reflect')", "np.pad(x, 2, mode='symmetric')"),
        *("np.pad(v, 7, mode='wrap')", "np.pad(x, 1, mode='maximum')", "np.pad(x, 1, mode='minimum')"),
        *(
            "np.pad(x, 1, mode='mean')",
            "np.pad(v, 2, mode='linear_ramp', end_values=5.0)",
            "np.pad(v, 1, mode='median')",
        ),
        *("np.pad(x, {1: (1, 2)})", "np.pad(v, 2, mode='maximum', stat_length=2)"),
    ],
    "parts": [
        *(
            "x[1]",
            "x[-1, 2]",
            "x[::2, 1:]",
            "x[::-1]",
            "x[None, ..., 0]",
            "x[[0, 2]]",
            "x[[0, 1], [1, 3]]",
            "x[:, [3, 0]]",
        ),
        *(
            "v[np.array([True, False, True, False, True])]",
            "x[np.array([[0, 1], [2, 0]])]",
            "x[1:1]",
            "x[np.ix_([0, 2], [1, 3])]",
        ),
        *(
            "np.take(x, [0, 2], axis=1)",
            "np.take(x, 3)",
            "np.take(v, j)",
            "np.take(x, j, axis=0)",
            "np.diag(s)",
            "np.diag(v)",
        ),
        *("np.take_along_axis(x, np.argsort(x, 1), 1)", "np.take_along_axis(x, j[None, :], axis=0)", "np.diag(v, -1)"),
        *(
            "np.diag(s, 1)",
            "np.diagflat(s[:2])",
            "np.diagonal(p, 1, 1, 2)",
            "np.tril(x)",
            "np.triu(x, 1)",
            "np.tril(p, -1)",
        ),
        *(
            "np.compress([True, False, True], x, axis=0)",
            "x[np.tril_indices_from(s)]",
            "np.vander(v, 3)",
            "np.take(v, [7], mode='wrap')",
        ),
        *("np.vander(v, increasing=True)", "x[np.diag_indices_from(s)]", "np.apply_along_axis(np.sum, 0, x)"),
        *("np.apply_over_axes(np.sum, p, [0, 2])", "np.apply_along_axis(lambda t: t[:2] * 2, 1, x)"),
    ],
    "like others": [
        *(
            "np.zeros_like(x)",
            "np.ones_like(i)",
            "np.full_like(x, 7)",
            "np.full_like(x, 2.5, dtype=np.int32)",
            "np.copy(x)",
        ),
        *(
            "np.zeros_like(x, shape=(2,))",
            "np.empty_like(x).shape",
            "np.linspace(x[0], x[1], 5)",
            "np.linspace(v.min(), 3, 4)",
        ),
        *("np.logspace(x[0, 0], 1, 3)", "np.geomspace(y[0], y[1], 4)", "np.linspace(v[0], v[1], 3, endpoint=False)"),
        *(
            "np.astype(x, np.int32)",
            "np.result_type(x, i)",
            "np.result_type(x, 3)",
            "np.can_cast(x, np.float64)",
            "np.common_type(x)",
        ),
        *(
            "np.may_share_memory(x, y)",
            "np.packbits(b)",
            "np.packbits(b, axis=1)",
            "np.unpackbits(u, axis=0)",
            "np.isrealobj(x)",
        ),
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group, assert_calls_agree):
    assert_calls_agree(CALLS[group])
