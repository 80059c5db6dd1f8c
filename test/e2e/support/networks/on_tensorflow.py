"""Random networks as functions of TensorFlow: images have their channels last where its ops see them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from support.networks.draw import Layer, Network, windows
from support.networks.masks import attention_mask
from support.networks.parameters import Parameters

EPSILON = 1e-3


def tensorflow_program(network: Network) -> Callable[[Parameters, Any], Any]:
    """As the function of JAX: the result, and gradients if the network has them."""
    forward = partial(_run, network.layers)
    if not network.gradients:
        return tf.function(forward, jit_compile=True)

    def with_gradients(parameters: Parameters, x: Any) -> Any:
        sources = parameters if network.words else (parameters, x)
        with tf.GradientTape() as tape:
            tape.watch(tf.nest.flatten(sources))
            result = forward(parameters, x)
            loss = tf.reduce_mean(tf.sin(result + 0.3))
        gradients = tape.gradient(loss, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return result, tf.nest.map_structure(tf.convert_to_tensor, gradients)

    return tf.function(with_gradients, jit_compile=True)


def _run(layers: Sequence[Layer], parameters: Parameters, x: Any) -> Any:
    for layer, own in zip(layers, parameters, strict=True):
        if layer.inside:
            x = _join(layer, own, x)
        elif layer.kind in _OF_IMAGES:
            x = tf.transpose(_OF_IMAGES[layer.kind](layer, own, tf.transpose(x, (0, 2, 3, 1))), (0, 3, 1, 2))
        else:
            x = _LAYERS[layer.kind](layer, own, x)
    return x


def _join(layer: Layer, own: Parameters, x: Any) -> Any:
    inner = _run(layer.inside, own, x)
    if layer.kind == "concat":
        return tf.concat([x, inner], 1)
    return x + inner if layer.kind == "add" else x * tf.sigmoid(inner)


def _convolution(layer: Layer, own: Any, x: Any) -> Any:
    kernel = tf.transpose(own["weight"], (2, 3, 1, 0))
    dilation = layer["dilation"]
    if max(layer["stride"]) > 1:
        kernel, dilation = _with_gaps(kernel, dilation), (1, 1)
    pads = [(0, 0), *((p, p) for p in layer["padding"]), (0, 0)]
    return _with_bias(own, tf.nn.conv2d(x, kernel, layer["stride"], pads, dilations=dilation))


def _with_gaps(kernel: Any, dilation: tuple[int, int]) -> Any:
    """The kernel with zeros between its rows and columns, for ops that take no dilation beside a stride."""
    for axis, step in enumerate(dilation):
        before, after = kernel.shape[:axis], kernel.shape[axis + 1 :]
        size = kernel.shape[axis]
        apart = tf.pad(
            tf.expand_dims(kernel, axis + 1), [*[(0, 0)] * (axis + 1), (0, step - 1), *[(0, 0)] * len(after)]
        )
        kernel = tf.reshape(apart, (*before, size * step, *after))
        kernel = tf.gather(kernel, range((size - 1) * step + 1), axis=axis)
    return kernel


def _transposed(layer: Layer, own: Any, x: Any) -> Any:
    groups = layer["groups"]
    kernel = _with_gaps(tf.transpose(own["weight"], (2, 3, 1, 0)), layer["dilation"])
    sides, pads = [], []
    for size, k, s, p, more in zip(
        x.shape[1:3], kernel.shape[:2], layer["stride"], layer["padding"], layer["more"], strict=True
    ):
        end = max(0, p - more)
        sides.append((size - 1) * s + k - p - end)
        pads.append((p, end))
    parts = [
        tf.nn.conv2d_transpose(
            part, weight, (x.shape[0], *sides, kernel.shape[2]), layer["stride"], [(0, 0), *pads, (0, 0)]
        )
        for part, weight in zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3), strict=True)
    ]
    y = tf.concat(parts, 3)
    low, high = zip(*pads, strict=True)
    rest = [more - (p - end) for more, p, end in zip(layer["more"], low, high, strict=True)]
    return _with_bias(own, tf.pad(y, [(0, 0), *((0, each) for each in rest), (0, 0)]))


def _with_bias(own: Any, y: Any) -> Any:
    return tf.nn.bias_add(y, own["bias"]) if "bias" in own else y


def _pads(layer: Layer, x: Any) -> list[tuple[int, int]]:
    """The border of an image, and as much more as the last windows of ``ceil`` reach beyond it."""
    pads = []
    for size, k, s, p in zip(x.shape[1:3], layer["kernel"], layer["stride"], layer["padding"], strict=True):
        pads.append((p, max(p, (windows(size, k, s, p, 1, layer["ceil"]) - 1) * s + k - size - p)))
    return [(0, 0), *pads, (0, 0)]


def _max_pool(layer: Layer, own: Any, x: Any) -> Any:
    padded = tf.pad(x, _pads(layer, x), constant_values=x.dtype.min)
    return tf.nn.max_pool2d(padded, layer["kernel"], layer["stride"], "VALID")


def _average_pool(layer: Layer, own: Any, x: Any) -> Any:
    pads = _pads(layer, x)
    counted = np.pad(np.ones((1, *x.shape[1:3], 1), np.float32), pads)
    if layer["with_border"]:  # but not with more beyond it
        (rows, columns), (low, left) = x.shape[1:3], layer["padding"]
        counted[:, : rows + 2 * low, : columns + 2 * left] = 1
    padded, whole = tf.pad(x, pads), (layer["kernel"], layer["stride"], "VALID")
    return tf.nn.avg_pool2d(padded, *whole) / tf.nn.avg_pool2d(tf.constant(counted), *whole)


def _adaptive_pool(layer: Layer, own: Any, x: Any) -> Any:
    for axis, wanted in enumerate(layer["sides"], 1):
        size = x.shape[axis]
        wanted = min(wanted, size)
        parts = []
        for i in range(wanted):
            places = range(i * size // wanted, -(-(i + 1) * size // wanted))
            parts.append(tf.reduce_mean(tf.gather(x, places, axis=axis), axis, keepdims=True))
        x = tf.concat(parts, axis)
    return x


def _batch_norm(layer: Layer, own: Any, x: Any) -> Any:
    if layer["trains"]:
        mean, variance = tf.nn.moments(x, (0, 1, 2))
    else:
        mean, variance = own["mean"], own["variance"]
    return tf.nn.batch_normalization(x, mean, variance, own["shift"], own["scale"], EPSILON)


def _group_norm(layer: Layer, own: Any, x: Any) -> Any:
    samples, rows, columns, channels = x.shape
    groups = tf.reshape(x, (samples, rows, columns, layer["groups"], channels // layer["groups"]))
    mean, variance = tf.nn.moments(groups, (1, 2, 4), keepdims=True)
    return tf.reshape((groups - mean) * tf.math.rsqrt(variance + EPSILON), x.shape) * own["scale"] + own["shift"]


def _layer_norm(layer: Layer, own: Any, x: Any) -> Any:
    mean, variance = tf.nn.moments(x, (-1,), keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, own["shift"], own["scale"], EPSILON)


def _attention(layer: Layer, own: Any, x: Any) -> Any:
    samples, length, channels = x.shape
    heads = layer["heads"]
    weight, bias = tf.reshape(own["weight"], (4, channels, channels)), tf.reshape(own["bias"], (4, channels))
    q, k, v = (
        tf.reshape(tf.einsum("blc,dc->bld", x, weight[i]) + bias[i], (samples, length, heads, channels // heads))
        for i in range(3)
    )
    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(channels // heads))
    scores = tf.where(attention_mask(layer["mask"], samples, length), scores, -1e30)
    mixed = tf.reshape(tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), v), (samples, length, channels))
    return tf.linalg.matmul(mixed, weight[3], transpose_b=True) + bias[3]


def _cut(layer: Layer, own: Any, x: Any) -> Any:
    begin, sizes = [0] * x.shape.rank, list(x.shape)
    begin[layer["axis"]], sizes[layer["axis"]] = layer["first"], layer["last"] - layer["first"]
    return tf.slice(x, begin, sizes)


def _unflatten(layer: Layer, own: Any, x: Any) -> Any:
    samples, length, channels = x.shape
    return tf.reshape(tf.transpose(x, (0, 2, 1)), (samples, channels, layer["rows"], length // layer["rows"]))


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(tf.nn, name) for name in ("elu", "relu", "relu6", "sigmoid", "silu", "softplus", "tanh")},
    "gelu": partial(tf.nn.gelu, approximate=False),
    "hardswish": lambda x: x * tf.nn.relu6(x + 3) / 6,
    "leaky_relu": partial(tf.nn.leaky_relu, alpha=0.01),
}
_OF_IMAGES: dict[str, Callable[[Layer, Any, Any], Any]] = {
    "adaptive_pool": _adaptive_pool,
    "average_pool": _average_pool,
    "batch_norm": _batch_norm,
    "convolution": _convolution,
    "group_norm": _group_norm,
    "max_pool": _max_pool,
    "square_convolution": _convolution,
    "transposed": _transposed,
    "upsample": lambda layer, own, x: tf.repeat(tf.repeat(x, layer["times"][0], 1), layer["times"][1], 2),
}
_LAYERS: dict[str, Callable[[Layer, Any, Any], Any]] = {
    "activation": lambda layer, own, x: _ACTIVATIONS[layer["function"]](x),
    "attention": _attention,
    "cut": _cut,
    "embedding": lambda layer, own, x: tf.nn.embedding_lookup(own["table"], x),
    "flatten": lambda layer, own, x: tf.transpose(tf.reshape(x, (*x.shape[:2], -1)), (0, 2, 1)),
    "flip": lambda layer, own, x: tf.reverse(x, [layer["axis"]]),
    "layer_norm": _layer_norm,
    "linear": lambda layer, own, x: tf.linalg.matmul(x, own["weight"], transpose_b=True) + own["bias"],
    "mean": lambda layer, own, x: tf.reduce_mean(x, layer["axis"], keepdims=True),
    "pad": lambda layer, own, x: tf.pad(x, layer["pads"]),
    "permute": lambda layer, own, x: tf.transpose(x, layer["order"]),
    "roll": lambda layer, own, x: tf.roll(x, layer["steps"], layer["axis"]),
    "softmax": lambda layer, own, x: tf.nn.softmax(x, layer["axis"]),
    "unflatten": _unflatten,
}
