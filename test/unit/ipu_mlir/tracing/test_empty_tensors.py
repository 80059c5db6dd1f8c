"""Tensors without elements, which arrays can be as well."""

import numpy as np
import pytest

import ipu_mlir as ipu

EMPTY, ROWS = np.zeros((0, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)


def test_elementwise_and_reductions(both_agree):
    def program(e, x):
        return {
            "itself": e,
            "+": e + 1,
            "exp": np.exp(e),
            "==": e == e,
            "astype": e.astype(np.int32),
            "where": np.where(e > 0, e, 1),
            "sums": e.sum(0),
            "no sums": e.sum(1),
            "product": e.prod(),
            "any": e.any(),
            "all": e.all(0),
            "mean": e.mean(0),
            "var": e.var(),
            "std": x.std(0, ddof=2),
            "median": np.median(e, axis=1),
            "quantiles": np.quantile(e, [0.2, 0.7], axis=1),
            "quantiles of others": np.nanquantile(e, 0.2, axis=1),
            "bits": np.unpackbits(e.astype(np.uint8), axis=1),
            "@ empty": e @ x.T,
            "empty @": x @ e.T,
            "sum of none": e.T @ e,
            "einsum": np.einsum("ij,kj->ik", e, x),
        }

    both_agree(program, EMPTY, ROWS)


def test_shapes_and_parts(both_agree):
    def program(e, x):
        return {
            "T": e.T,
            "reshape": e.reshape(3, 0),
            "reshape -1": e.reshape(-1, 3),
            "[:0]": x[:0],
            "[5:]": x[5:],
            "[None]": e[:, None],
            "[::-1]": e[:, ::-1],
            "[[]]": x[:, []],
            "[array]": x[np.zeros((0, 2), np.int64)],
            "concatenate": np.concatenate([e, x]),
            "concatenate none": np.concatenate([e, e]),
            "stack": np.stack([e, e]),
            "pad": np.pad(e, 1),
            "broadcast": np.broadcast_to(x[:1], (0, 3)),
            "squeeze": np.squeeze(e[None]),
            "roll": np.roll(e, 1),
            "split": np.split(e, 3, axis=1)[0],
            "zeros_like": np.zeros_like(e),
            "known": x[:0] + np.zeros((0, 3), np.float32),
        }

    both_agree(program, EMPTY, ROWS)


@pytest.mark.parametrize("program", [lambda e: e.max(), lambda e: e.argmin(0)])
def test_no_extreme_of_nothing(program):
    with pytest.raises(ValueError, match=r"test_empty_tensors.py:\d+: .*of no elements there is none"):
        ipu.function(program).trace(EMPTY)


def test_a_size_that_does_not_follow():
    with pytest.raises(ValueError, match=r"cannot reshape \(0, 3\) with 0 elements to \(0, -1\)"):
        ipu.function(lambda e: e.reshape(0, -1)).trace(EMPTY)
