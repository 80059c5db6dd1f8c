"""Random networks as functions of JAX."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from support.networks.draw import Layer, Network, windows
from support.networks.masks import attention_mask
from support.networks.parameters import Parameters

EPSILON = 1e-3


def jax_program(network: Network) -> Callable[[Parameters, Any], Any]:
    """A function of parameters and input; it gives the result, and gradients if the network has them."""
    forward = partial(_run, network.layers)
    if not network.gradients:
        return forward

    def with_gradients(parameters: Parameters, x: Any) -> Any:
        def loss(parameters: Parameters, x: Any) -> Any:
            result = forward(parameters, x)
            return jnp.mean(jnp.sin(result + 0.3)), result

        places = (0,) if network.words else (0, 1)
        (_, result), gradients = jax.value_and_grad(loss, places, has_aux=True)(parameters, x)
        return result, gradients

    return with_gradients


def _run(layers: Sequence[Layer], parameters: Parameters, x: Any) -> Any:
    for layer, own in zip(layers, parameters, strict=True):
        x = _join(layer, own, x) if layer.inside else _LAYERS[layer.kind](layer, own, x)
    return x


def _join(layer: Layer, own: Parameters, x: Any) -> Any:
    inner = _run(layer.inside, own, x)
    if layer.kind == "concat":
        return jnp.concatenate([x, inner], 1)
    return x + inner if layer.kind == "add" else x * jax.nn.sigmoid(inner)


def _convolution(layer: Layer, own: Any, x: Any) -> Any:
    y = lax.conv_general_dilated(
        x, own["weight"], layer["stride"], [(p, p) for p in layer["padding"]],
        rhs_dilation=layer["dilation"], feature_group_count=layer["groups"],
    )  # fmt: skip
    return _with_bias(own, y)


def _transposed(layer: Layer, own: Any, x: Any) -> Any:
    groups, weight = layer["groups"], own["weight"]
    own_channels, others, *kernel = weight.shape
    weight = jnp.flip(weight, (2, 3)).reshape(groups, own_channels // groups, others, *kernel)
    weight = weight.transpose(0, 2, 1, 3, 4).reshape(groups * others, own_channels // groups, *kernel)
    edges = [d * (k - 1) - p for d, k, p in zip(layer["dilation"], kernel, layer["padding"], strict=True)]
    pads = [(edge, edge + more) for edge, more in zip(edges, layer["more"], strict=True)]
    y = lax.conv_general_dilated(
        x, weight, (1, 1), pads, layer["stride"], layer["dilation"], feature_group_count=groups
    )  # fmt: skip
    return _with_bias(own, y)


def _with_bias(own: Any, y: Any) -> Any:
    return y + own["bias"][:, None, None] if "bias" in own else y


def _pads(layer: Layer, x: Any) -> list[tuple[int, int]]:
    """The border of an image, and as much more as the last windows of ``ceil`` reach beyond it."""
    pads = []
    for size, k, s, p in zip(x.shape[2:], layer["kernel"], layer["stride"], layer["padding"], strict=True):
        pads.append((p, max(p, (windows(size, k, s, p, 1, layer["ceil"]) - 1) * s + k - size - p)))
    return pads


def _pool(layer: Layer, x: Any, pads: list[tuple[int, int]], start: float, combine: Any) -> Any:
    return lax.reduce_window(x, start, combine, (1, 1, *layer["kernel"]), (1, 1, *layer["stride"]), [(0, 0)] * 2 + pads)


def _max_pool(layer: Layer, own: Any, x: Any) -> Any:
    return _pool(layer, x, _pads(layer, x), -jnp.inf, lax.max)


def _average_pool(layer: Layer, own: Any, x: Any) -> Any:
    pads, border = _pads(layer, x), [(p, p) for p in layer["padding"]]
    counted = np.ones((1, 1, *x.shape[2:]), np.float32)
    if layer["with_border"]:  # but not with more beyond it
        counted = np.pad(counted, [(0, 0)] * 2 + border, constant_values=1)
    beyond = [(low - p, high - p) for (low, high), (p, _) in zip(pads, border, strict=True)]
    elements = _pool(layer, jnp.asarray(counted), beyond if layer["with_border"] else pads, 0.0, lax.add)
    return _pool(layer, x, pads, 0.0, lax.add) / elements


def _adaptive_pool(layer: Layer, own: Any, x: Any) -> Any:
    for axis, wanted in enumerate(layer["sides"], 2):
        size = x.shape[axis]
        wanted = min(wanted, size)
        ends = [(i * size // wanted, -(-(i + 1) * size // wanted)) for i in range(wanted)]
        x = jnp.concatenate([lax.slice_in_dim(x, *end, axis=axis).mean(axis, keepdims=True) for end in ends], axis)
    return x


def _normalised(x: Any, axes: tuple[int, ...]) -> Any:
    mean = x.mean(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(axes, keepdims=True) + EPSILON)


def _batch_norm(layer: Layer, own: Any, x: Any) -> Any:
    own = {name: each[:, None, None] for name, each in own.items()}
    if layer["trains"]:
        return _normalised(x, (0, 2, 3)) * own["scale"] + own["shift"]
    return (x - own["mean"]) * lax.rsqrt(own["variance"] + EPSILON) * own["scale"] + own["shift"]


def _group_norm(layer: Layer, own: Any, x: Any) -> Any:
    groups = x.reshape(x.shape[0], layer["groups"], -1)
    return _normalised(groups, (2,)).reshape(x.shape) * own["scale"][:, None, None] + own["shift"][:, None, None]


def _layer_norm(layer: Layer, own: Any, x: Any) -> Any:
    return _normalised(x, (x.ndim - 1,)) * own["scale"] + own["shift"]


def _attention(layer: Layer, own: Any, x: Any) -> Any:
    samples, length, channels = x.shape
    heads = layer["heads"]
    weight, bias = own["weight"].reshape(4, channels, channels), own["bias"].reshape(4, channels)
    q, k, v = (
        (x @ weight[i].T + bias[i]).reshape(samples, length, heads, channels // heads).transpose(0, 2, 1, 3)
        for i in range(3)
    )
    scores = q @ k.swapaxes(2, 3) / np.sqrt(channels // heads)
    scores = jnp.where(attention_mask(layer["mask"], samples, length), scores, -1e30)
    mixed = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(samples, length, channels)
    return mixed @ weight[3].T + bias[3]


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(jax.nn, name) for name in ("elu", "leaky_relu", "relu", "relu6", "sigmoid", "silu", "softplus")},
    "gelu": partial(jax.nn.gelu, approximate=False),
    "hardswish": jax.nn.hard_swish,
    "tanh": jnp.tanh,
}
_LAYERS: dict[str, Callable[[Layer, Any, Any], Any]] = {
    "activation": lambda layer, own, x: _ACTIVATIONS[layer["function"]](x),
    "adaptive_pool": _adaptive_pool,
    "attention": _attention,
    "average_pool": _average_pool,
    "batch_norm": _batch_norm,
    "convolution": _convolution,
    "cut": lambda layer, own, x: lax.slice_in_dim(x, layer["first"], layer["last"], axis=layer["axis"]),
    "embedding": lambda layer, own, x: own["table"][x],
    "flatten": lambda layer, own, x: x.reshape(*x.shape[:2], -1).transpose(0, 2, 1),
    "flip": lambda layer, own, x: jnp.flip(x, layer["axis"]),
    "group_norm": _group_norm,
    "layer_norm": _layer_norm,
    "linear": lambda layer, own, x: x @ own["weight"].T + own["bias"],
    "max_pool": _max_pool,
    "mean": lambda layer, own, x: x.mean(layer["axis"], keepdims=True),
    "pad": lambda layer, own, x: jnp.pad(x, layer["pads"]),
    "permute": lambda layer, own, x: x.transpose(layer["order"]),
    "roll": lambda layer, own, x: jnp.roll(x, layer["steps"], layer["axis"]),
    "softmax": lambda layer, own, x: jax.nn.softmax(x, layer["axis"]),
    "square_convolution": _convolution,
    "transposed": _transposed,
    "unflatten": lambda layer, own, x: x.transpose(0, 2, 1).reshape(x.shape[0], x.shape[2], layer["rows"], -1),
    "upsample": lambda layer, own, x: x.repeat(layer["times"][0], 2).repeat(layer["times"][1], 3),
}
