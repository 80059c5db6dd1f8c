"""The functions of ``ipu.nn``: traced they give what they give on arrays, and that is right."""

import math

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import nn

RNG = np.random.default_rng(2)
X = RNG.uniform(-4, 4, (3, 7)).astype(np.float32)
LARGE = np.array([[-1000.0, 0.0, 1000.0], [-90.0, 90.0, 89.0]], np.float32)
LABELS = np.array([2, 0, 6], np.int32)


@pytest.mark.parametrize("name", ["relu", "sigmoid", "silu", "softplus", "gelu", "erf"])
def test_activations(agrees, name):
    activation = getattr(nn, name)
    agrees(activation, X, tolerance=1e-5)
    agrees(activation, LARGE, tolerance=1e-5)


def test_activations_against_their_definitions():
    x = X.astype(np.float64)
    logistic = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(nn.sigmoid(x), logistic)
    np.testing.assert_allclose(nn.silu(x), x * logistic)
    np.testing.assert_allclose(nn.softplus(x), np.log1p(np.exp(x)))
    exact = x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    np.testing.assert_allclose(nn.gelu(x, approximate=False), exact)
    np.testing.assert_allclose(nn.gelu(x), exact, atol=2e-3)


def test_gelu_by_erf(agrees):
    agrees(lambda x: nn.gelu(x, approximate=False), X, tolerance=1e-5)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_softmax_and_its_logarithms(agrees, name):
    function = getattr(nn, name)
    agrees(lambda x: (function(x), function(x, axis=0)), X, tolerance=1e-5)
    agrees(lambda x: function(x), LARGE, tolerance=1e-5)


def test_softmax_against_its_definition():
    x = X.astype(np.float64)
    expected = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    np.testing.assert_allclose(nn.softmax(x), expected)
    np.testing.assert_allclose(nn.log_softmax(x), np.log(expected))
    np.testing.assert_allclose(nn.logsumexp(x, keepdims=True), np.log(np.exp(x).sum(-1, keepdims=True)))
    np.testing.assert_array_equal(nn.softmax(LARGE[0]), [0, 0, 1])


def test_logits_may_be_infinite(agrees):
    x = np.array([[-np.inf, -np.inf], [1, -np.inf], [np.inf, 1]], np.float32)
    agrees(nn.logsumexp, x)
    np.testing.assert_array_equal(nn.logsumexp(x), [-np.inf, 1, np.inf])
    masked, labels = np.array([[1, 2, -np.inf], [-np.inf, 0, -np.inf]], np.float32), np.array([0, 1], np.int32)
    agrees(nn.cross_entropy, masked, labels, tolerance=1e-6)
    np.testing.assert_allclose(nn.cross_entropy(masked, labels), np.log1p(np.e) / 2, rtol=1e-6)


def test_layer_norm(agrees):
    scale, bias = X[0] + 5, X[1]
    agrees(lambda x, s, b: (nn.layer_norm(x), nn.layer_norm(x, s, b), nn.layer_norm(x, axis=(0, 1))), X, scale, bias)
    normal = nn.layer_norm(X.astype(np.float64), epsilon=0)
    np.testing.assert_allclose(normal.mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(normal.std(-1), 1)


def test_one_hot(agrees):
    labels = np.array([[0, 3], [-1, 4]], np.int64)
    agrees(lambda i: (nn.one_hot(i, 4), nn.one_hot(i, 4, np.int32), nn.one_hot(i, 4, np.bool_)), labels)
    np.testing.assert_array_equal(nn.one_hot(labels, 4)[0], np.eye(4)[[0, 3]])
    assert not nn.one_hot(labels, 4)[1].any()


def test_cross_entropy(agrees):
    agrees(lambda x, i: nn.cross_entropy(x, i), X, LABELS, tolerance=1e-5)
    agrees(lambda x, p: nn.cross_entropy(x, p), X, nn.one_hot(LABELS, 7), tolerance=1e-5)
    expected = -np.log(nn.softmax(X.astype(np.float64)))[np.arange(3), LABELS].mean()
    np.testing.assert_allclose(nn.cross_entropy(X, LABELS), expected, rtol=1e-6)
    np.testing.assert_allclose(nn.cross_entropy(X, nn.one_hot(LABELS, 7)), expected, rtol=1e-6)


def test_a_training_loss_compiles_to_one_program():
    loss = ipu.function(target=ipu.Target(tiles_per_ipu=4))(lambda x, w, i: nn.cross_entropy(nn.relu(x @ w), i))
    w = RNG.uniform(-1, 1, (7, 5)).astype(np.float32)
    labels = np.array([4, 1, 1], np.int32)
    np.testing.assert_allclose(loss(X, w, labels), nn.cross_entropy(nn.relu(X @ w), labels), rtol=1e-5)


def test_ctc_loss_and_its_gradient_are_those_of_torch():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    logits = random.standard_normal((2, 6, 4), dtype=np.float32)
    labels, counts, lengths = np.array([[1, 2, 2], [3, 1, 0]]), np.array([3, 2]), np.array([6, 5])

    def loss(x):
        return np.sum(ipu.nn.ctc_loss(ipu.nn.log_softmax(x), labels, counts, lengths))

    found, slope = ipu.compile(ipu.value_and_grad(loss), args=[logits], target=ipu.Target(tiles_per_ipu=4))(logits)
    given = torch.tensor(logits, requires_grad=True)
    scores = given.log_softmax(-1).transpose(0, 1)
    wanted = torch.nn.functional.ctc_loss(scores, *map(torch.tensor, (labels, lengths, counts)), reduction="sum")
    wanted.backward()
    np.testing.assert_allclose(found, wanted.detach(), rtol=1e-5)
    np.testing.assert_allclose(loss(logits), wanted.detach(), rtol=1e-5)
    np.testing.assert_allclose(slope, given.grad, rtol=1e-4, atol=1e-6)


def test_ctc_loss_refuses_what_does_not_fit():
    scores, labels, one = np.zeros((2, 6, 4), np.float32), np.zeros((2, 3), int), np.ones(2, int)
    with pytest.raises(ValueError, match=r"ctc_loss of log_probabilities of shape \(2, 6, 4\), labels \(3,\)"):
        ipu.nn.ctc_loss(scores, labels[0], one, one)
    with pytest.raises(ValueError, match="ctc_loss with blank 4: it is one of 4 classes, from 0"):
        ipu.nn.ctc_loss(scores, labels, one, one, blank=4)
    with pytest.raises(TypeError, match="ctc_loss of float16"):
        ipu.nn.ctc_loss(scores.astype(np.float16), labels, one, one)
    with pytest.raises(TypeError, match="no integers"):
        ipu.nn.ctc_loss(scores, labels, one, one * 0.5)
