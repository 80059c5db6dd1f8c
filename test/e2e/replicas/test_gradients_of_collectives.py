"""Gradients through collectives: of the sum of what all replicas are differentiated for, against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.replicas import FOUR, OF_ALL, TWO, X, both, own

import ipu_mlir as ipu

Weights = np.ndarray[Any, Any]


def numbered(shape: tuple[int, ...]) -> Weights:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def gradient(collective: Callable[[Any], Any], replicas: int) -> tuple[np.ndarray, np.ndarray]:
    """By ``x`` of each replica, of its share of the loss; and the weights w of that, one block for each replica.

    A replica has the loss ``(w * y).sum()``, where y is what it got: its cotangent is w.
    """

    def main(x: Any) -> Any:
        def loss(mine: Any) -> Any:
            y = collective(mine)
            return (y * own(numbered(y.shape))).sum()

        y = collective(own(x))
        return ipu.grad(loss)(own(x)), own(numbered(y.shape))

    found, weights = both(main, X, target={2: TWO, 4: FOUR}[replicas])
    return np.broadcast_to(found, (replicas, *X.shape)), weights  # one value of all is given once


@pytest.mark.parametrize("replicas", [2, 4])
@pytest.mark.parametrize("op", ["sum", "mean"])
def test_all_reduce(replicas: int, op: Any) -> None:
    found, weights = gradient(lambda x: ipu.all_reduce(x, op), replicas)
    assert np.allclose(found, weights.sum(0) if op == "sum" else weights.mean(0))


@pytest.mark.parametrize(("replicas", "group"), [(2, 2), (4, 4), (4, 2)])
def test_all_gather(replicas: int, group: int) -> None:
    found, weights = gradient(lambda x: ipu.all_gather(x, group), replicas)
    for replica in range(replicas):
        first = replica // group * group
        assert np.allclose(found[replica], weights[first : first + group, replica - first].sum(0))


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize(("replicas", "group"), [(2, 2), (4, 4), (4, 2)])
def test_reduce_scatter(replicas: int, group: int, op: Any) -> None:
    found, weights = gradient(lambda x: ipu.reduce_scatter(x.reshape(-1)[:11], group, op), replicas)
    for replica in range(replicas):
        first = replica // group * group
        expected = np.zeros(24, np.float32)
        expected[:11] = weights[first : first + group].reshape(-1)[:11] / (group if op == "mean" else 1)
        assert np.allclose(found[replica].reshape(-1), expected)


@pytest.mark.parametrize(("replicas", "group", "split", "concat"), [(2, 2, 0, 1), (4, 4, 0, 0), (4, 2, 1, 0)])
def test_all_to_all(replicas: int, group: int, split: int, concat: int) -> None:
    found, weights = gradient(lambda x: ipu.all_to_all(x, group, split=split, concat=concat), replicas)
    for replica in range(replicas):
        first = replica // group * group
        blocks = [np.split(each, group, concat)[replica - first] for each in weights[first : first + group]]
        assert np.allclose(found[replica], np.concatenate(blocks, split))


@pytest.mark.parametrize(("replicas", "group", "root"), [(2, None, 1), (4, None, 3), (4, 2, 1)])
def test_broadcast(replicas: int, group: int | None, root: int) -> None:
    found, weights = gradient(lambda x: ipu.broadcast(x, root, group), replicas)
    size = group or replicas
    for replica in range(replicas):
        first = replica // size * size
        expected = weights[first : first + size].sum(0) if replica - first == root else np.zeros_like(X)
        assert np.allclose(found[replica], expected)


def test_a_gathered_loss_against_the_loss_of_all() -> None:
    """Each replica is differentiated for the loss of the rows that all of them gave."""

    def main(x: Any) -> Any:
        return ipu.grad(lambda mine: (np.tanh(ipu.all_gather(mine, 4).sum(0)) ** 2).sum())(own(x))

    (found,) = both(main, X)
    tanh = np.tanh(OF_ALL.sum(0))
    assert np.allclose(found, 4 * 2 * tanh * (1 - tanh**2), rtol=1e-4, atol=1e-5)
