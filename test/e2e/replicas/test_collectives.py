"""Collectives of replicas: both executors against each other, and against NumPy on the values of all."""

from typing import Any

import numpy as np
import pytest
from support.replicas import FOUR, OF_ALL, X, both, own

import ipu_mlir as ipu

REDUCTIONS = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "min": lambda x: x.min(0),
    "max": lambda x: x.max(0),
    "prod": lambda x: x.prod(0),
    "square_sum": lambda x: (x * x).sum(0),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_all_reduce(op: Any) -> None:
    whole, pairs = both(lambda x: (ipu.all_reduce(own(x), op), ipu.all_reduce(own(x), op, 2)), X)
    reduce = REDUCTIONS[op]
    assert np.allclose(whole, reduce(OF_ALL), rtol=1e-5)
    expected = np.stack([reduce(OF_ALL[:2])] * 2 + [reduce(OF_ALL[2:])] * 2)
    assert np.allclose(pairs, expected, rtol=1e-5)


def test_booleans_and_integers_and_structures() -> None:
    def main(x: Any) -> Any:
        r = ipu.replica_index()
        return ipu.all_reduce({"all": r >= 0, "some": r > 0}, "and"), ipu.all_reduce(r == 3, "or"), ipu.all_reduce(r)

    found = both(main, X)
    assert [bool(each) for each in found[:3]] == [True, False, True] and int(found[3]) == 6


def test_a_mean_of_f16_does_not_overflow() -> None:
    (found,) = both(lambda x: ipu.all_reduce(x * ipu.assume_equal(np.float16(1)), "mean"), np.float16([65504, 1]))
    assert found.tolist() == [65504, 1]


def test_all_gather() -> None:
    whole, pairs = both(lambda x: (ipu.all_gather(own(x), 4), ipu.all_gather(own(x), 2)), X)
    assert np.array_equal(whole, OF_ALL)
    assert np.array_equal(pairs, np.stack([OF_ALL[:2]] * 2 + [OF_ALL[2:]] * 2))


def test_reduce_scatter_pads_with_zeros() -> None:
    (found,) = both(lambda x: ipu.reduce_scatter(own(x).reshape(-1)[:10], 4), X)
    expected = np.concatenate([OF_ALL.reshape(4, -1)[:, :10].sum(0), np.zeros(2, np.float32)]).reshape(4, 3)
    assert np.allclose(found, expected, rtol=1e-5)


def test_all_to_all_orders_blocks_by_their_source() -> None:
    rows, columns = both(lambda x: (ipu.all_to_all(own(x), 4), ipu.all_to_all(own(x), 2, split=1)), X)
    assert np.array_equal(rows, OF_ALL.transpose(1, 0, 2))
    halves = OF_ALL.reshape(2, 2, 4, 2, 3)  # group, source, row, block, column
    assert np.array_equal(columns, halves.transpose(0, 3, 1, 2, 4).reshape(4, 8, 3))


def test_blocks_of_what_is_the_same_on_all_differ() -> None:
    def main(x: Any) -> Any:
        return ipu.reduce_scatter(x[0], 2), ipu.all_to_all(x, 4, split=0)

    scattered, exchanged = both(main, X)
    assert np.array_equal(scattered, 2 * np.stack([X[0, :3], X[0, 3:]] * 2))
    assert np.array_equal(exchanged, np.repeat(X[:, None], 4, 1))


def test_broadcast() -> None:
    whole, pairs = both(lambda x: (ipu.broadcast(own(x), 3), ipu.broadcast(own(x), 1, 2)), X)
    assert np.array_equal(whole, OF_ALL[3])
    assert np.array_equal(pairs, OF_ALL[[1, 1, 3, 3]])


def test_what_groups_make_of_what_is_the_same_on_all_is_the_same() -> None:
    def main(x: Any) -> Any:
        summed = ipu.assume_equal(ipu.all_reduce(x, group=2))
        return summed, ipu.all_reduce(x, "mean", 2), ipu.all_gather(x, 2), ipu.broadcast(x, 1, 2)

    for found, wanted in zip(both(main, X), (2 * X, X, np.stack([X, X]), X), strict=True):
        assert np.array_equal(found, wanted)


def test_groups_divide_the_replicas() -> None:
    with pytest.raises(ipu.CompileError) as refused:
        ipu.compile(lambda x: ipu.all_reduce(x, group=3), args=[X], target=FOUR)
    assert "size (got 3) that does not evenly divide the total number of replicas (got 4)" in str(refused.value)


def test_vmap_over_collectives() -> None:
    def of_a_row(row: Any) -> Any:
        return ipu.all_reduce(own(row)), ipu.broadcast(own(row), 2), ipu.assume_equal(row)

    total, third, same = both(lambda x: ipu.vmap(of_a_row)(x), X)
    assert np.allclose(total, OF_ALL.sum(0), rtol=1e-5) and np.array_equal(third, OF_ALL[2]) and np.array_equal(same, X)
    with pytest.raises(TypeError, match=r"vmap does not know what 'ipu\.all_gather' is for a batch"):
        ipu.compile(lambda x: ipu.vmap(lambda row: ipu.all_gather(row, 4))(x), args=[X], target=FOUR)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ipu.all_reduce(x, "add"), "values are combined by sum, mean, min"),
        (lambda x: ipu.all_reduce(x, "and"), "booleans are combined by 'and' and 'or', numbers by others"),
        (lambda x: ipu.all_reduce(x.astype(np.int32), "mean"), "integers have none"),
        (lambda x: ipu.all_reduce(x.astype(np.uint32), "max"), "programs know no sign of integers"),
        (lambda x: ipu.all_gather(x, 0), "a group is the number of replicas in it, from 1 on, got 0"),
        (lambda x: ipu.reduce_scatter(x, 4), "takes tensors of one dimension, got"),
        (lambda x: ipu.all_to_all(x, 4, split=1), "cuts dimension 1 into 4 blocks"),
        (lambda x: ipu.broadcast(x, -1), "the number of a replica, from 0 on, got -1"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_words(call: Any, message: str) -> None:
    with pytest.raises(ipu.IpuError, match=message):
        ipu.compile(call, args=[X], target=FOUR)


def test_collectives_belong_to_traced_functions() -> None:
    with pytest.raises(TypeError, match="replica_index is called in traced functions"):
        ipu.replica_index()
