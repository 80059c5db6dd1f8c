"""Layers by themselves: what they begin with, networks of them, random numbers, and what is refused."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import layers
from ipu_mlir.layers import initialisers

SMALL = ipu.Target(tiles_per_ipu=3)
SHAPE = (3, 40, 50)


def draw(initialiser: Any, shape: Any = SHAPE, dtype: Any = np.float64) -> np.ndarray:
    return initialiser(np.random.default_rng(1), shape, dtype)


@pytest.mark.parametrize(
    ("initialiser", "deviation", "largest"),
    [
        (initialisers.uniform(0.2), 0.2 / 3**0.5, 0.2),
        (initialisers.normal(0.2), 0.2, np.inf),
        (initialisers.truncated_normal(0.2), 0.2 * 0.8796, 0.4),
        (initialisers.glorot_uniform, (1 / 135) ** 0.5, (3 / 135) ** 0.5),
        (initialisers.glorot_normal, (1 / 135) ** 0.5, 2.3 / 135**0.5),
        (initialisers.he_normal, (2 / 120) ** 0.5, 2.3 * (2 / 120) ** 0.5),
        (initialisers.he_uniform, (2 / 120) ** 0.5, (6 / 120) ** 0.5),
        (initialisers.lecun_normal, (1 / 120) ** 0.5, 2.3 / 120**0.5),
        (initialisers.lecun_uniform, (1 / 120) ** 0.5, (3 / 120) ** 0.5),
    ],
)
def test_the_size_of_random_numbers(initialiser: Any, deviation: float, largest: float) -> None:
    """6,000 numbers: their deviation is known to a few per cent, their mean to four of its own deviations."""
    found = draw(initialiser)
    assert abs(found.std() / deviation - 1) < 0.03 and abs(found.mean()) < 4 * deviation / found.size**0.5
    assert np.abs(found).max() <= largest
    np.testing.assert_array_equal(found, draw(initialiser))
    np.testing.assert_array_equal(draw(initialiser, dtype=np.float16), found.astype(np.float16))


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (2, 3, 4)])
def test_orthogonal_matrices(shape: tuple[int, ...]) -> None:
    found = draw(initialisers.orthogonal(2.0), shape).reshape(-1, shape[-1])
    small = found @ found.T if found.shape[0] < found.shape[1] else found.T @ found
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-12)


def test_zeros_and_constants() -> None:
    assert draw(initialisers.zeros).sum() == 0
    assert draw(initialisers.ones).sum() == draw(initialisers.constant(0.5)).sum() * 2 == 6000


def net() -> layers.Sequential:
    return layers.Sequential(
        [
            layers.Embedding(7, 6),
            layers.Residual(layers.Attention(6, 2)),
            layers.LayerNorm(6),
            layers.flatten,
            layers.Dropout(0.25),
            layers.Dense(24, 3, bias=False),
        ]
    )


def test_a_network_begins_with_its_seed_and_has_slices() -> None:
    one, other, third = net().init(3), net().init(np.random.default_rng(3)), net().init(4)
    ipu.tree_map(np.testing.assert_array_equal, one, other)
    assert not np.array_equal(one[0]["table"], third[0]["table"])
    assert all(each.dtype == np.float32 for each in (one[0]["table"], one[5]["w"], one[2]["scale"]))
    assert net().init(3, np.float16)[5]["w"].dtype == np.float16
    words = np.array([[1, 2, 3, 6], [0, 0, 5, 4]], np.int32)
    whole = ipu.function(net(), target=SMALL)(one, words)
    assert whole.shape == (2, 3)
    np.testing.assert_allclose(net()[2:](one[2:], net()[:2](one[:2], words)), whole, rtol=1e-4, atol=1e-5)
    assert len(net()[:2]) == 2 and isinstance(net()[0], layers.Embedding)
    assert repr(net()[2:4]) == "Sequential([LayerNorm(size=6, epsilon=1e-05), flatten])"


def test_a_network_learns_with_our_optimizers() -> None:
    network, optimizer = net(), ipu.optimizers.adam(0.01)
    weights = ipu.Variable(network.init(0), name="weights")
    training = ipu.optimizers.attach(optimizer, weights)
    words = np.random.default_rng(0).integers(0, 7, (8, 4)).astype(np.int32)
    labels = (words.sum(axis=1) % 3).astype(np.int32)

    @ipu.function(target=SMALL)
    def step(number: Any) -> Any:
        def loss(parameters: Any) -> Any:
            logits, _ = network.train(parameters, words, key=ipu.random.fold_in(ipu.random.key(0), number))
            return ipu.nn.cross_entropy(logits, labels)

        value, slopes = ipu.value_and_grad(loss)(weights.value)
        training.assign(slopes)
        return value

    losses = [float(step(np.int32(number))) for number in range(40)]
    assert losses[-1] < losses[0] / 3


def test_a_norm_of_the_batches_of_all_replicas() -> None:
    norm, x = layers.BatchNorm(3, replicas=True), np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)

    def train(x: Any) -> Any:
        return norm.train(norm.init(0), x, norm.state())

    exe = ipu.compile(train, args=(ipu.per_replica(x[0]),), target=ipu.Target(tiles_per_ipu=2, replicas=2))
    (found, state), (expected, after) = exe(x), train(x.reshape(8, 3))
    np.testing.assert_allclose(found.reshape(8, 3), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(state["variance"], after["variance"], rtol=1e-5)


def test_dropout_keeps_its_share_and_the_mean() -> None:
    """10,000 elements: the share of zeros is known to a hundredth."""
    x, layer = np.ones((100, 100), np.float32), layers.Dropout(0.3)

    two = layers.Sequential([layer, layers.Dropout(0.3)])

    @ipu.function(target=SMALL)
    def run(x: Any, key: Any) -> Any:
        once = layer.train((), x, key=key)[0]
        return once, two.train([(), ()], x, key=key)[0], ipu.grad(lambda x: layer.train((), x, key=key)[0].sum())(x)

    key = ipu.random.key(5)
    one, both, slope = run(x, key)
    assert abs((one == 0).mean() - 0.3) < 0.015 and abs(one.mean() - 1) < 0.02
    assert abs((both == 0).mean() - 0.51) < 0.02, "two layers are independent"
    np.testing.assert_array_equal(slope, one)
    np.testing.assert_array_equal(layer.train((), x, key=key)[0], one)
    assert not np.array_equal(run(x, ipu.random.key(6))[0], one)
    np.testing.assert_array_equal(layer((), x), x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: layers.Dense(3, 4).init("a"), r"init\('a'\): give a seed, 0 or more, or a np.random.Generator"),
        (
            lambda: layers.Dense(3, 4)({}, np.ones((2, 5))),
            r"Dense takes tensors of 3 elements along the last axis, got",
        ),
        (lambda: layers.Sequential([layers.Dense]), "layer 0 is .*; give a layer, such as"),
        (lambda: net()([], np.ones(3)), "6 layers get parameters of 0 and state of 6"),
        (lambda: layers.Dropout(1.0), "the rate is from 0 to less than 1"),
        (lambda: layers.Dropout(0.5).train((), np.ones(3)), "give train"),
        (lambda: layers.GroupNorm(6, 4), "6 channels in 4 groups, which do not divide them"),
        (lambda: layers.Attention(6, 4), "size 6 with 4 heads, which do not divide it"),
        (lambda: layers.BatchNorm(3)(layers.BatchNorm(3).init(0), np.ones((2, 3))), "give the layer state=net.state"),
        (lambda: draw(initialisers.orthogonal(), (3,)), "give two sizes at least"),
        (lambda: ipu.nn.convolution(np.ones((2, 3)), np.ones((3, 3))), "take .batch, .sizes, channels. and"),
        (lambda: ipu.nn.convolution(np.ones((2, 3, 4)), np.ones((2, 3, 4))), "take windows of 4 channels, not of 3"),
        (lambda: ipu.nn.max_pool(np.ones((2, 3)), 2), "take .batch, .sizes, channels."),
        (lambda: ipu.nn.max_pool(np.ones((2, 3, 4)), 5), r"windows reach over \(5,\) of \(3,\) elements; add padding"),
        (lambda: ipu.nn.max_pool(np.ones((2, 3, 4)), 0), "window=0; give a number above 0, or 1 of them"),
        (lambda: ipu.nn.max_pool(np.ones((2, 3, 4)), 2, padding="full"), "it is 'valid', 'same' or 1 pairs"),
        (lambda: ipu.nn.mean_pool(np.ones((2, 3, 4), np.int32), 2), "pooling of int32 is not supported; use astype"),
        (
            lambda: ipu.function(_complex, target=SMALL)(np.ones((2, 3, 4))),
            "of complex128 there is none; convolve real",
        ),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def _complex(x: Any) -> Any:
    return ipu.nn.convolution(x, np.ones((2, 4, 4), np.complex128))
