"""Random networks as functions of PyTorch."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from support.networks.draw import Layer, Network
from support.networks.masks import attention_mask
from support.networks.parameters import Parameters
from torch import Tensor
from torch.nn import functional as F

EPSILON = 1e-3


def torch_program(network: Network) -> Callable[[Parameters, Tensor], Any]:
    """As the function of JAX: the result, and gradients if the network has them."""
    forward = partial(_run, network.layers)
    if not network.gradients:
        return forward

    def with_gradients(parameters: Parameters, x: Tensor) -> Any:
        def loss(parameters: Parameters, x: Tensor) -> Any:
            result = forward(parameters, x)
            return torch.sin(result + 0.3).mean(), result

        places = (0,) if network.words else (0, 1)
        gradients, (_, result) = torch.func.grad_and_value(loss, places, has_aux=True)(parameters, x)
        return result, gradients

    return with_gradients


def _run(layers: Sequence[Layer], parameters: Parameters, x: Tensor) -> Tensor:
    for layer, own in zip(layers, parameters, strict=True):
        x = _join(layer, own, x) if layer.inside else _LAYERS[layer.kind](layer, own, x)
    return x


def _join(layer: Layer, own: Parameters, x: Tensor) -> Tensor:
    inner = _run(layer.inside, own, x)
    if layer.kind == "concat":
        return torch.cat([x, inner], 1)
    return x + inner if layer.kind == "add" else x * torch.sigmoid(inner)


def _convolution(layer: Layer, own: Any, x: Tensor) -> Tensor:
    settings = (layer[name] for name in ("stride", "padding", "dilation", "groups"))
    return F.conv2d(x, own["weight"], own.get("bias"), *settings)


def _transposed(layer: Layer, own: Any, x: Tensor) -> Tensor:
    settings = (layer[name] for name in ("stride", "padding", "more", "groups", "dilation"))
    return F.conv_transpose2d(x, own["weight"], own.get("bias"), *settings)


def _average_pool(layer: Layer, own: Any, x: Tensor) -> Tensor:
    settings = (layer[name] for name in ("kernel", "stride", "padding", "ceil", "with_border"))
    return F.avg_pool2d(x, *settings)


def _batch_norm(layer: Layer, own: Any, x: Tensor) -> Tensor:
    trains = layer["trains"]
    statistics = (None, None) if trains else (own["mean"].detach(), own["variance"].detach())
    return F.batch_norm(x, *statistics, own["scale"], own["shift"], trains, eps=EPSILON)


def _attention(layer: Layer, own: Any, x: Tensor) -> Tensor:
    samples, length, channels = x.shape
    heads = layer["heads"]
    weight, bias = own["weight"].reshape(4, channels, channels), own["bias"].reshape(4, channels)
    q, k, v = (
        F.linear(x, weight[i], bias[i]).reshape(samples, length, heads, channels // heads).transpose(1, 2)
        for i in range(3)
    )
    mask = torch.from_numpy(attention_mask(layer["mask"], samples, length))
    mixed = F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(samples, length, channels)
    return F.linear(mixed, weight[3], bias[3])


def _pad(layer: Layer, own: Any, x: Tensor) -> Tensor:
    return F.pad(x, [each for pair in reversed(layer["pads"]) for each in pair])


_LAYERS: dict[str, Callable[[Layer, Any, Tensor], Tensor]] = {
    "activation": lambda layer, own, x: getattr(F, layer["function"])(x),
    "adaptive_pool": lambda layer, own, x: F.adaptive_avg_pool2d(x, tuple(map(min, layer["sides"], x.shape[2:]))),
    "attention": _attention,
    "average_pool": _average_pool,
    "batch_norm": _batch_norm,
    "convolution": _convolution,
    "cut": lambda layer, own, x: x.narrow(layer["axis"], layer["first"], layer["last"] - layer["first"]),
    "embedding": lambda layer, own, x: F.embedding(x, own["table"]),
    "flatten": lambda layer, own, x: x.flatten(2).transpose(1, 2),
    "flip": lambda layer, own, x: x.flip(layer["axis"]),
    "group_norm": lambda layer, own, x: F.group_norm(x, layer["groups"], own["scale"], own["shift"], EPSILON),
    "layer_norm": lambda layer, own, x: F.layer_norm(x, x.shape[-1:], own["scale"], own["shift"], EPSILON),
    "linear": lambda layer, own, x: F.linear(x, own["weight"], own["bias"]),
    "max_pool": lambda layer, own, x: F.max_pool2d(
        x, layer["kernel"], layer["stride"], layer["padding"], ceil_mode=layer["ceil"]
    ),
    "mean": lambda layer, own, x: x.mean(layer["axis"], keepdim=True),
    "pad": _pad,
    "permute": lambda layer, own, x: x.permute(layer["order"]),
    "roll": lambda layer, own, x: x.roll(layer["steps"], layer["axis"]),
    "softmax": lambda layer, own, x: F.softmax(x, layer["axis"]),
    "square_convolution": _convolution,
    "transposed": _transposed,
    "unflatten": lambda layer, own, x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], layer["rows"], -1),
    "upsample": lambda layer, own, x: x.repeat_interleave(layer["times"][0], 2).repeat_interleave(layer["times"][1], 3),
}
