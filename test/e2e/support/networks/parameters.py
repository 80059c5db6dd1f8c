"""The numbers in a network: its inputs and the parameters of its layers, equal for all frameworks."""

import zlib
from typing import Any

import numpy as np
from support.networks.draw import Layer, Network, Shape, output_shape

Parameters = list[Any]
"""For each layer a dict of arrays, by name in alphabetical order; of one that joins, the list of those inside."""


def parameters_of(network: Network) -> Parameters:
    """The parameters of every layer, as arrays."""
    return _of_layers(network.layers, network.shape, network.words)


def input_of(network: Network) -> np.ndarray:
    """The input: tokens, or numbers."""
    rng = np.random.default_rng(zlib.crc32(repr(network).encode()))
    if network.words:
        return rng.integers(0, network.words, network.shape).astype(np.int32)
    return rng.standard_normal(network.shape).astype(np.float32)


def _of_layers(layers: tuple[Layer, ...], shape: Shape, words: int) -> Parameters:
    found: Parameters = []
    for place, layer in enumerate(layers):
        if layer.inside:
            found.append(_of_layers(layer.inside, shape, words))
        else:
            rng = np.random.default_rng(zlib.crc32(f"{place} {layer}".encode()))
            found.append(
                {name: _numbers(rng, name, size) for name, size in sorted(_sizes(layer, shape, words).items())}
            )
        shape = output_shape(layer, shape)
    return found


def _numbers(rng: np.random.Generator, name: str, size: Shape) -> np.ndarray:
    if name in ("scale", "variance"):
        return rng.uniform(0.5, 1.5, size).astype(np.float32)
    terms = max(1, int(np.prod(size[1:]))) if name == "weight" else 4
    return (rng.standard_normal(size) / np.sqrt(terms)).astype(np.float32)


def _sizes(layer: Layer, shape: Shape, words: int) -> dict[str, Shape]:
    kind = layer.kind
    if kind in ("convolution", "square_convolution", "transposed"):
        ends = (layer["channels"], shape[1] // layer["groups"])
        if kind == "transposed":
            ends = (shape[1], layer["channels"] // layer["groups"])
        return {"weight": (*ends, *layer["kernel"]), **({"bias": (layer["channels"],)} if layer["bias"] else {})}
    if kind == "linear":
        return {"weight": (layer["channels"], shape[-1]), "bias": (layer["channels"],)}
    if kind == "embedding":
        return {"table": (words, layer["channels"])}
    if kind == "attention":
        return {"weight": (4 * shape[2], shape[2]), "bias": (4 * shape[2],)}
    if kind in ("batch_norm", "group_norm", "layer_norm"):
        size = (shape[-1] if kind == "layer_norm" else shape[1],)
        rest = {"mean": size, "variance": size} if kind == "batch_norm" and not layer["trains"] else {}
        return {"scale": size, "shift": size, **rest}
    return {}
