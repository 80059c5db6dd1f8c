"""Slices of traced tensors go wherever whole tensors go, on both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(48, dtype=np.float32).reshape(8, 6)

SLICES: dict[str, Callable[[Any], Any]] = {
    "a row": lambda x: x[1],
    "the last row": lambda x: x[-1],
    "a column": lambda x: x[:, 2],
    "first columns": lambda x: x[:, :4],
    "every other row": lambda x: x[::2],
    "rows from the end": lambda x: x[::-1],
    "a box": lambda x: x[3:7, 1:3],
    "rows of a transpose": lambda x: x.T[1:3],
    "rows in another shape": lambda x: x[2:4].reshape(3, 4),
    "half": lambda x: np.split(x, 2)[1],
    "a number": lambda x: x[4, 5],
}


@pytest.mark.parametrize("name", SLICES)
def test_slices_go_to_queues_variables_and_remote_buffers(name: str) -> None:
    cut = SLICES[name]
    expected = np.asarray(cut(X))
    out, kept = ipu.Outfeed(name="out"), ipu.Variable(np.zeros_like(expected), name="kept")
    rows = ipu.RemoteBuffer(ipu.TensorSpec((3, *expected.shape)), name="rows")

    def program(x: Any) -> Any:
        out.enqueue({"slice": cut(x), "next": cut(x) + 1})
        kept.assign(cut(x))
        rows.store(1, cut(x))
        return ipu.fifo(cut(x), 1), rows.load(1)

    executable = ipu.compile(program, args=(X,), target=ipu.Target(tiles_per_ipu=4))
    for run in (executable.run, executable.run_per_tile):
        _, loaded = run([X])
        found = out.read()
        for each in (found["slice"][0], found["next"][0] - 1, kept.value, loaded):
            np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("name", SLICES)
def test_slices_go_to_replicas(name: str) -> None:
    cut = SLICES[name]
    given = np.stack([X, X + 100])
    first, second = np.asarray(cut(X)), np.asarray(cut(X + 100))

    def program(x: Any) -> Any:
        most = ipu.assume_equal(ipu.all_reduce(x, "max")[1:])
        return (
            ipu.all_reduce(cut(x)),
            ipu.all_gather(cut(x), 2),
            ipu.broadcast(cut(x), 1),
            most[0],
            ipu.reduce_scatter(x[1], 2),
            ipu.all_to_all(x[2:4], 2),
        )

    target = ipu.Target(tiles_per_ipu=4, replicas=2)
    executable = ipu.compile(program, args=(ipu.per_replica(X),), target=target)
    blocks = np.stack([given[:, 2], given[:, 3]])
    expected = (first + second, np.stack([first, second]), second, X[1] + 100, (2 * X[1] + 100).reshape(2, 3), blocks)
    for run in (executable.run, executable.run_per_tile):
        for found, wanted in zip(run([given]), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_slices_go_over_the_ipus() -> None:
    def program(x: Any) -> Any:
        whole = ipu.within_replica.all_reduce([x[1], x[2, :4]])
        with ipu.shard(1):
            return whole[1], ipu.within_replica.all_gather([x[:, 0], x[0, 1:4]])[1]

    executable = ipu.compile(program, args=(X,), target=ipu.Target(ipus=2, tiles_per_ipu=4))
    for run in (executable.run, executable.run_per_tile):
        total, gathered = run([X])
        np.testing.assert_array_equal(total, X[1] + np.pad(X[2, :4], (0, 2)))
        np.testing.assert_array_equal(gathered, np.concatenate([X[:, 0], X[0, 1:4]]))
