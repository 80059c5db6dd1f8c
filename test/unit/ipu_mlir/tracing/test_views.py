"""Reshapes, indices and joins of traced tensors give what they give on arrays."""

import copy

import numpy as np
import pytest

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (4, 6, 5)).astype(np.float32)

SHAPES = [
    ((4, 6, 5), (24, 5)),
    ((4, 6, 5), (4, 30)),
    ((4, 6, 5), (120,)),
    ((4, 6, 5), (2, 2, 3, 10)),
    ((4, 6, 5), (5, 6, 4)),
    ((4, 6, 5), (-1, 3)),
    ((4, 6, 5), (1, 4, 1, 6, 5, 1)),
    ((1, 4, 1, 6), (4, 6)),
    ((1, 1), ()),
    ((), (1, 1)),
    ((6,), (6,)),
]


@pytest.mark.parametrize(("shape", "wanted"), SHAPES, ids=str)
def test_reshape(agrees, shape, wanted):
    x = np.asarray(RNG.uniform(-1, 1, shape), np.float32)
    agrees(lambda x: (np.reshape(x, wanted) * 1, x.reshape(wanted) * 1), x)


def test_other_ways_to_reshape(agrees):
    agrees(lambda x: (x.reshape(24, 5) * 1, x.reshape(2, -1) * 1, x.reshape(120) * 1), X)
    agrees(lambda x: (x.ravel() * 1, x.flatten() * 1, np.ravel(x) * 1, np.expand_dims(x, (0, -1)) * 1), X)
    agrees(lambda x: (np.squeeze(x) * 1, x.squeeze(0) * 1, np.squeeze(x, (0, 2)) * 1), X[:1, :, :1])


def test_transpositions(agrees):
    agrees(lambda x: (x.T, x.mT, np.transpose(x), x.transpose(1, 0, 2), x.transpose((2, 0, 1))), X)
    agrees(
        lambda x: (np.swapaxes(x, 0, -1), x.swapaxes(1, 2), np.moveaxis(x, 0, -1), np.moveaxis(x, [0, 1], [2, 0])), X
    )
    agrees(lambda x: (np.permute_dims(x, (2, 1, 0)), np.matrix_transpose(x)), X)


def test_rolls_along_several_axes(agrees):
    shifts = [((1, 2), (0, 1)), ((1, 2), 0), (3, (0, 2)), ((1, -2, 3), (0, -1, 0)), ((1, 2), None)]
    agrees(lambda x: {str(each): np.roll(x, *each) * 1 for each in shifts}, X)


def test_triangles_of_a_vector_and_of_matrices(agrees):
    agrees(lambda x: (np.tril(x), np.triu(x, 1), np.tril(x[0, 0], -1), np.triu(x[0, 0])), X)


def test_broadcast_to(agrees):
    agrees(lambda x, y: (np.broadcast_to(x, (3, 4)), np.broadcast_to(y, (2, 3, 4))), X[0, 0, :4], X[0, :3, :1])


INDICES = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(1, 3),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(-2, None),
    (slice(None), 2),
    (..., 2),
    (..., slice(1, 4)),
    (0, ..., -1),
    (None, 1),
    (slice(None), None, slice(1, 2)),
    (..., None),
    (slice(None, None, -1), slice(None), slice(None, None, -2)),
    (np.int64(2), slice(np.int32(1), 3)),
    [2, 0, 0, 3],
    (slice(None), [5, 3, 1, 0]),
    np.array([True, False, True, True]),
    (1, [0, 2]),
]


def test_index(agrees):
    agrees(lambda x: {str(index): x[index] * 1 for index in INDICES}, X)


def test_len_and_iteration_go_over_the_first_dimension(agrees):
    agrees(lambda x: [row * len(x) for row in x], X)


def test_joins(agrees):
    agrees(lambda x: (np.concatenate([x, x * 2, X]), np.concat([x, x[:, :1]], axis=1), np.stack([x, x, x], -1)), X)
    agrees(lambda x, i: (np.concatenate([x, i], axis=None), np.stack([i, x])), X[0], X[1].astype(np.int32))


def test_splits_rolls_and_flips(agrees):
    agrees(lambda x: [part * 1 for part in [*np.split(x, 2), *np.split(x, [1, 4], axis=1)]], X)
    agrees(lambda x: (np.roll(x, 1, 0), np.roll(x, -7, 1), np.roll(x, 3), np.flip(x), np.flip(x, 1)), X)


def test_take_of_positions_that_are_known(agrees):
    agrees(lambda x: (np.take(x, [3, 1, 0], axis=0), np.take(x, 2, axis=1) * 1, np.take(x, [0, 50])), X)


def test_pad(agrees):
    agrees(lambda x: (np.pad(x, 1), np.pad(x, ((1, 0), (0, 2), (3, 3)), constant_values=-1.5)), X)


def test_tensors_like_another(agrees):
    agrees(lambda x: (np.zeros_like(x), np.ones_like(x, dtype=np.int32), np.full_like(x, 2.5, shape=(2, 3))), X)


def test_triangles(agrees):
    agrees(lambda x: (np.tril(x), np.triu(x, 1), np.tril(x, -1)), X)


def test_sizes_and_axes_may_be_integers_of_numpy(agrees):
    one, last = np.int64(1), np.int32(-1)
    agrees(
        lambda x: [
            np.sum(x, axis=one),
            np.expand_dims(x, last),
            np.squeeze(x[:, None], one),
            np.reshape(x, np.int64(24)),
            np.broadcast_to(x[0, 0], np.int64(3)),
            x.max(last),
        ],
        np.arange(24, dtype=np.float32).reshape(4, 6),
    )


def test_a_copy_of_a_tensor_is_the_tensor(agrees):
    agrees(lambda x: copy.deepcopy({"x": x})["x"] + copy.copy(x), X)
