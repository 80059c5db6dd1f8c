"""Layers, compiled, give the values and the gradients that PyTorch gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import layers

RNG = np.random.default_rng(20261124)
SMALL = ipu.Target(tiles_per_ipu=3)


def first(x: Any) -> Any:
    """Channels behind the examples, as PyTorch has them."""
    return x.movedim(-1, 1)


def last(x: Any) -> Any:
    return x.movedim(1, -1)


def torch_layer(name: str, x: Any, parameters: dict[str, Any], *sizes: int, **options: Any) -> Any:
    """A module of PyTorch, with parameters that may have gradients."""
    import torch

    module = getattr(torch.nn, name)(*sizes, **options).double()
    return torch.func.functional_call(module, parameters, x)


def convolved(dims: int, **options: Any) -> Callable[[Any, Any], Any]:
    def run(p: Any, x: Any) -> Any:
        import torch

        function = getattr(torch.nn.functional, f"conv{dims}d")
        return last(function(first(x), p["w"].movedim((-1, -2), (0, 1)), p["b"], **options))

    return run


def pooled(name: str, *sizes: Any, **options: Any) -> Callable[[Any, Any], Any]:
    def run(_: Any, x: Any) -> Any:
        import torch

        return last(getattr(torch.nn.functional, name)(first(x), *sizes, **options))

    return run


def lstm(p: Any, x: Any) -> Any:
    """PyTorch has two biases."""
    given = {"weight_ih_l0": p["w"].T, "weight_hh_l0": p["u"].T, "bias_ih_l0": p["b"], "bias_hh_l0": 0 * p["b"]}
    return torch_layer("LSTM", x, given, 3, 4, batch_first=True)[0]


def gru(p: Any, x: Any) -> Any:
    """PyTorch has the reset gate first; the last step alone."""
    import torch

    def order(gates: Any) -> Any:
        update, reset, candidate = gates.split(4)
        return torch.cat([reset, update, candidate])

    given = {
        "weight_ih_l0": order(p["w"].T),
        "weight_hh_l0": order(p["u"].T),
        "bias_ih_l0": order(p["b"][0]),
        "bias_hh_l0": order(p["b"][1]),
    }
    return torch_layer("GRU", x, given, 3, 4, batch_first=True)[0][:, -1]


def attention(p: Any, x: Any) -> Any:
    import torch

    parts = [p[name] for name in ("query", "key", "value")]
    given = {
        "in_proj_weight": torch.cat([each["w"].T for each in parts]),
        "in_proj_bias": torch.cat([each["b"] for each in parts]),
        "out_proj.weight": p["out"]["w"].T,
        "out_proj.bias": p["out"]["b"],
    }
    module = torch.nn.MultiheadAttention(6, 2, batch_first=True).double()
    hidden = ~torch.tril(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool))
    return torch.func.functional_call(module, given, (x, x, x), {"attn_mask": hidden})[0]


def normalised(name: str, *sizes: int) -> Callable[[Any, Any], Any]:
    def run(p: Any, x: Any) -> Any:
        given = {"weight": p["scale"], "bias": p["bias"]}
        is_last = name == "LayerNorm"
        return (lambda y: y if is_last else last(y))(torch_layer(name, x if is_last else first(x), given, *sizes))

    return run


CASES = {
    "dense": (layers.Dense(3, 4, ipu.nn.silu), (2, 5, 3), lambda p, x: _silu(x @ p["w"] + p["b"])),
    "conv 1d": (layers.Conv(3, 4, [3], strides=2, padding=[(1, 1)]), (2, 7, 3), convolved(1, stride=2, padding=1)),
    "conv 2d": (layers.Conv(3, 4, [3, 2], padding="same"), (2, 5, 4, 3), convolved(2, padding="same")),
    "conv 2d in groups": (
        layers.Conv(4, 6, (2, 3), strides=(1, 2), dilation=2, groups=2),
        (2, 5, 7, 4),
        convolved(2, stride=(1, 2), dilation=2, groups=2),
    ),
    "conv per channel": (layers.Conv(3, 6, [3], groups=3), (2, 5, 3), convolved(1, groups=3)),
    "max pool": (layers.MaxPool(2), (2, 5, 4, 3), pooled("max_pool2d", 2)),
    "max pool, overlapping": (
        layers.MaxPool((3, 2), strides=1, padding=[(1, 1), (0, 0)]),
        (2, 5, 4, 3),
        pooled("max_pool2d", (3, 2), 1, (1, 0)),
    ),
    "mean pool": (
        layers.MeanPool(3, strides=2, padding=[(1, 1)]),
        (2, 7, 3),
        pooled("avg_pool1d", 3, 2, 1, count_include_pad=False),
    ),
    "layer norm": (layers.LayerNorm(6), (2, 3, 6), normalised("LayerNorm", 6)),
    "group norm": (layers.GroupNorm(6, 3), (2, 5, 6), normalised("GroupNorm", 3, 6)),
    "lstm": (layers.LSTM(3, 4), (2, 5, 3), lstm),
    "gru": (layers.GRU(3, 4, sequence=False), (2, 5, 3), gru),
    "attention": (layers.Attention(6, 2, causal=True), (2, 4, 6), attention),
}


def _silu(x: Any) -> Any:
    return x * x.sigmoid()


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    torch = pytest.importorskip("torch")
    layer, shape, theirs = CASES[name]
    x = RNG.standard_normal(shape)
    parameters = ipu.tree_map(lambda each: each + 0.1 * RNG.standard_normal(each.shape), layer.init(3, np.float64))
    weights = RNG.standard_normal(layer(parameters, x).shape)  # on arrays

    @ipu.function(target=SMALL)
    def run(parameters: Any, x: Any) -> Any:
        def weighted(parameters: Any, x: Any) -> Any:
            y = layer(parameters, x)
            return (y * weights).sum(), y

        return ipu.value_and_grad(weighted, (0, 1), has_aux=True)(parameters, x)

    (_, y), slopes = run(parameters, x)
    given = ipu.tree_map(lambda each: torch.tensor(each, requires_grad=True), (parameters, x))
    expected = theirs(*given)
    (expected * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(layer(parameters, x), expected.detach().numpy(), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(y, expected.detach().numpy(), rtol=1e-9, atol=1e-10)
    ipu.tree_map(lambda found, each: np.testing.assert_allclose(found, each.grad.numpy(), atol=1e-9), slopes, given)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_computed_in_float64_that_is_not_given_so(name: str) -> None:
    layer, shape, _ = CASES[name]
    for dtype in (np.float16, np.float32):
        text = str(ipu.function(layer).trace(layer.init(0, dtype), ipu.TensorSpec(shape, dtype)))
        assert "f64" not in text, dtype


def test_batch_norm_in_training_and_after() -> None:
    torch = pytest.importorskip("torch")
    layer, theirs = layers.BatchNorm(3, 0.9, 1e-3), torch.nn.BatchNorm1d(3, 1e-3, 0.1).double()
    net = layers.Sequential([layer, layers.Residual(layers.BatchNorm(3))])
    batches, parameters = RNG.standard_normal((4, 5, 3)), net.init(0, np.float64)
    train = ipu.function(
        lambda x, state: (layer.train(parameters[0], x, state[0])[0], net.train(parameters, x, state)[1])
    )
    state = net.state(np.float64)
    for x in batches:
        y, state = train(x, state)
        np.testing.assert_allclose(y, theirs(torch.tensor(x)).detach().numpy(), rtol=1e-9, atol=1e-12)
    assert np.abs(state[1]["mean"]).max() < 1e-12, "the second layer sees what is normalised"
    np.testing.assert_allclose(state[0]["mean"], theirs.running_mean.numpy(), rtol=1e-9)
    variance = 0.9**4 + sum(0.1 * 0.9**age * x.var(axis=0) for age, x in enumerate(batches[::-1]))
    np.testing.assert_allclose(state[0]["variance"], variance, rtol=1e-9)  # PyTorch divides by n - 1
    theirs.eval()
    theirs.running_var[:] = torch.tensor(variance)
    used = ipu.function(layer, target=SMALL)(parameters[0], x, state[0])
    np.testing.assert_allclose(used, theirs(torch.tensor(x)).detach().numpy(), rtol=1e-9)
