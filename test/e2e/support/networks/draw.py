"""Random networks: layers as data, which each framework carries out in its own way.

A layer fits the shape that comes in; images are (samples, channels, rows, columns), sequences (samples, length,
channels). Sizes are small ones that do not divide one another, now and then one of a real network.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

Shape = tuple[int, ...]
CHANNELS = (1, 2, 3, 4, 6, 7, 8, 12, 16)
SIDES = (1, 2, 3, 5, 7, 8, 10, 11, 13, 16, 17)
LARGE_CHANNELS, LARGE_SIDES = (16, 24, 32), (28, 29, 56, 57)
ACTIVATIONS = ("elu", "gelu", "hardswish", "leaky_relu", "relu", "relu6", "sigmoid", "silu", "softplus", "tanh")
_MOST_ELEMENTS = 1 << 18


@dataclass(frozen=True)
class Layer:
    """A layer: its settings, and the layers inside of one that joins them with what comes in."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    inside: tuple["Layer", ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]


@dataclass(frozen=True)
class Network:
    """Layers one after another, on an input of a shape.

    Attributes:
        words: the number of tokens that an input of tokens is drawn from, or 0 for numbers.
        gradients: whether the program gives gradients too.
    """

    shape: Shape
    layers: tuple[Layer, ...]
    words: int = 0
    gradients: bool = False


def draw_network(seed: int) -> Network:
    """The network of a seed."""
    rng = random.Random(seed)
    samples = rng.choice((1, 1, 2, 3))
    is_large = rng.random() < 0.1
    sides = LARGE_SIDES if is_large else SIDES
    if rng.random() < 0.2:
        shape: Shape = (samples, rng.choice(SIDES))
        words, layers = rng.choice((5, 29, 100)), [Layer("embedding", {"channels": rng.choice((4, 8, 12))})]
    else:
        shape = (samples, rng.choice(LARGE_CHANNELS if is_large else CHANNELS), rng.choice(sides), rng.choice(sides))
        words, layers = 0, []
    current = output_shape(layers[0], shape) if layers else shape
    for _ in range(rng.choice((2, 3, 4, 5)) - len(layers)):
        layers.append(draw_layer(rng, current))
        current = output_shape(layers[-1], current)
    return Network(shape, tuple(layers), words, rng.random() < 0.35)


def draw_layer(rng: random.Random, shape: Shape, depth: int = 0) -> Layer:
    """A layer that takes ``shape`` and gives something that is neither empty nor large."""
    kinds = _OF_IMAGES if len(shape) == 4 else _OF_SEQUENCES
    while True:
        kind = rng.choice(kinds)
        if depth and kind in _JOINS:
            continue
        if kind in _JOINS:
            layer = Layer(kind, {}, (draw_layer(rng, shape, depth + 1),))
        else:
            layer = Layer(kind, _DRAW[kind](rng, shape))
        try:
            given = output_shape(layer, shape)
        except ValueError:
            continue
        if 0 < prod(given) <= _MOST_ELEMENTS:
            return layer


def output_shape(layer: Layer, shape: Shape) -> Shape:
    """The shape that a layer gives.

    Raises:
        ValueError: it does not take ``shape``.
    """
    given = _SHAPES[layer.kind](layer, shape) if layer.kind in _SHAPES else shape
    if min(given) < 1 or prod(given) > _MOST_ELEMENTS:
        raise ValueError(f"{layer} gives {given}")
    return given


def windows(size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil: bool = False) -> int:
    """The number of windows along a dimension; with ``ceil`` one may reach beyond the end, but not begin there."""
    rest = size + 2 * padding - dilation * (kernel - 1) - 1
    if rest < 0:
        raise ValueError("the window is larger than the image")
    count = (rest + (stride - 1 if ceil else 0)) // stride + 1
    return count - (ceil and (count - 1) * stride >= size + padding)


def _convolution(rng: random.Random, shape: Shape) -> dict[str, Any]:
    channels = shape[1]
    divisors = [each for each in range(1, channels + 1) if channels % each == 0]
    groups = rng.choice((1, 1, channels, rng.choice(divisors)))
    return {
        "channels": groups * rng.choice([each for each in (1, 2, 3, 8) if groups * each <= 48] or [1]),
        "kernel": (rng.choice((1, 2, 3, 3, 5, 7)), rng.choice((1, 2, 3, 3, 5, 7))),
        "stride": (rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3))),
        "padding": (rng.choice((0, 1, 2, 3)), rng.choice((0, 1, 2, 3))),
        "dilation": (rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2, 3))),
        "groups": groups,
        "bias": rng.random() < 0.5,
    }


def _square(rng: random.Random, shape: Shape) -> dict[str, Any]:
    """A convolution as networks have it: square, of the size of what comes in or half of it."""
    kernel = rng.choice((1, 3, 3, 5, 7))
    groups = rng.choice((1, shape[1]))
    same = {"kernel": (kernel,) * 2, "padding": (kernel // 2,) * 2, "stride": (rng.choice((1, 1, 2)),) * 2}
    return {**_convolution(rng, shape), **same, "dilation": (1, 1), "groups": groups, "channels": groups * 2}


def _pool(rng: random.Random, shape: Shape) -> dict[str, Any]:
    kernel = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
    padding = tuple(rng.choice((0, each // 2)) for each in kernel)
    stride = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
    return {"kernel": kernel, "stride": stride, "padding": padding, "ceil": rng.random() < 0.5}


def _divisor(rng: random.Random, size: int) -> int:
    return rng.choice([each for each in range(1, size + 1) if size % each == 0])


def _order(rng: random.Random, shape: Shape) -> dict[str, Any]:
    usual = ((0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2)) if len(shape) == 4 else ((0, 2, 1), (1, 0, 2))
    return {"order": rng.choice((*usual, tuple(rng.sample(range(len(shape)), len(shape)))))}


def _cut(rng: random.Random, shape: Shape) -> dict[str, Any]:
    axis = rng.randrange(len(shape))
    first = rng.randrange(shape[axis])
    return {"axis": axis, "first": first, "last": rng.randrange(first, shape[axis]) + 1}


def _axis(rng: random.Random, shape: Shape) -> dict[str, Any]:
    return {"axis": rng.randrange(len(shape))}


def _attention(rng: random.Random, shape: Shape) -> dict[str, Any]:
    mask = rng.choice(("none", "causal", "lengths"))
    return {"heads": _divisor(rng, shape[2]), "mask": mask}


def _pair(rng: random.Random, choices: tuple[int, ...]) -> tuple[int, int]:
    return rng.choice(choices), rng.choice(choices)


_DRAW: dict[str, Callable[[random.Random, Shape], dict[str, Any]]] = {
    "activation": lambda rng, shape: {"function": rng.choice(ACTIVATIONS)},
    "adaptive_pool": lambda rng, shape: {"sides": tuple(min(each, rng.choice((1, 2, 3, 7))) for each in shape[2:])},
    "attention": _attention,
    "average_pool": lambda rng, shape: {**_pool(rng, shape), "with_border": rng.random() < 0.5},
    "batch_norm": lambda rng, shape: {"trains": rng.random() < 0.5},
    "convolution": _convolution,
    "cut": _cut,
    "flatten": lambda rng, shape: {},
    "flip": _axis,
    "group_norm": lambda rng, shape: {"groups": _divisor(rng, shape[1])},
    "layer_norm": lambda rng, shape: {},
    "linear": lambda rng, shape: {"channels": rng.choice(CHANNELS)},
    "max_pool": _pool,
    "mean": _axis,
    "pad": lambda rng, shape: {"pads": tuple((rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 1))) for _ in shape)},
    "permute": _order,
    "roll": lambda rng, shape: {**_axis(rng, shape), "steps": rng.choice((-2, -1, 1, 3))},
    "softmax": _axis,
    "square_convolution": _square,
    "transposed": lambda rng, shape: {**_convolution(rng, shape), "more": _pair(rng, (0, 1))},
    "unflatten": lambda rng, shape: {"rows": _divisor(rng, shape[1])},
    "upsample": lambda rng, shape: {"times": _pair(rng, (1, 2, 3))},
}
_JOINS = ("add", "concat", "gate")
_ANYWHERE = ("activation", "cut", "flip", "layer_norm", "linear", "mean", "pad", "permute", "roll", "softmax", *_JOINS)
_OF_IMAGES = (
    *("convolution", "square_convolution") * 4, *("transposed", "batch_norm", "max_pool") * 2, "adaptive_pool",
    "average_pool", "flatten", "group_norm", "permute", "upsample", *_ANYWHERE,
)  # fmt: skip
_OF_SEQUENCES = ("attention",) * 4 + ("linear", "linear", "layer_norm", "unflatten", *_ANYWHERE)


def _convolved(layer: Layer, shape: Shape) -> Shape:
    if shape[1] % layer["groups"] or layer["channels"] % layer["groups"]:
        raise ValueError("channels do not make groups")
    settings = zip(layer["kernel"], layer["stride"], layer["padding"], layer["dilation"], strict=True)
    return (
        shape[0],
        layer["channels"],
        *(windows(size, *each) for size, each in zip(shape[2:], settings, strict=True)),
    )


def _transposed(layer: Layer, shape: Shape) -> Shape:
    if shape[1] % layer["groups"] or layer["channels"] % layer["groups"]:
        raise ValueError("channels do not make groups")
    settings = zip(*(layer[each] for each in ("kernel", "stride", "padding", "dilation", "more")), strict=True)
    sides = []
    for size, (kernel, stride, padding, dilation, more) in zip(shape[2:], settings, strict=True):
        if more >= max(stride, dilation):
            raise ValueError("more is added than a stride")
        sides.append((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + more)
    return (shape[0], layer["channels"], *sides)


def _pooled(layer: Layer, shape: Shape) -> Shape:
    sides = zip(shape[2:], layer["kernel"], layer["stride"], layer["padding"], strict=True)
    return (*shape[:2], *(windows(n, k, s, p, 1, layer["ceil"]) for n, k, s, p in sides))


def _joined(layer: Layer, shape: Shape) -> Shape:
    (inner,) = layer.inside
    given = output_shape(inner, shape)
    if layer.kind == "concat":
        if (given[0], *given[2:]) != (shape[0], *shape[2:]):
            raise ValueError("other sides")
        return (shape[0], shape[1] + given[1], *shape[2:])
    if any(one not in (1, other) for one, other in zip(given, shape, strict=True)) or len(given) != len(shape):
        raise ValueError("other shapes")
    return shape


def _ranked(rank: int, give: Callable[[Layer, Shape], Shape]) -> Callable[[Layer, Shape], Shape]:
    """``give`` of shapes of a rank alone."""

    def checked(layer: Layer, shape: Shape) -> Shape:
        if len(shape) != rank:
            raise ValueError("another rank")
        return give(layer, shape)

    return checked


def _cut_shape(layer: Layer, shape: Shape) -> Shape:
    axis = layer["axis"]
    if axis >= len(shape) or layer["last"] > shape[axis]:
        raise ValueError("beyond the end")
    return (*shape[:axis], layer["last"] - layer["first"], *shape[axis + 1 :])


def _along(layer: Layer, shape: Shape) -> Shape:
    if layer["axis"] >= len(shape):
        raise ValueError("another rank")
    return shape


def _divided(name: str, at: int) -> Callable[[Layer, Shape], Shape]:
    def checked(layer: Layer, shape: Shape) -> Shape:
        if len(shape) <= at or shape[at] % layer[name]:
            raise ValueError("does not divide")
        return shape

    return checked


def _mean_shape(layer: Layer, shape: Shape) -> Shape:
    axis = _along(layer, shape) and layer["axis"]
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _permuted(layer: Layer, shape: Shape) -> Shape:
    if len(layer["order"]) != len(shape):
        raise ValueError("another rank")
    return tuple(shape[each] for each in layer["order"])


def _attended(layer: Layer, shape: Shape) -> Shape:
    _divided("heads", 2)(layer, shape)
    if shape[0] * layer["heads"] * shape[1] ** 2 > 8 * _MOST_ELEMENTS:
        raise ValueError("many scores")
    return shape


def _padded(layer: Layer, shape: Shape) -> Shape:
    return tuple(size + low + high for size, (low, high) in zip(shape, layer["pads"], strict=True))


def _unflattened(layer: Layer, shape: Shape) -> Shape:
    _divided("rows", 1)(layer, shape)
    return shape[0], shape[2], layer["rows"], shape[1] // layer["rows"]


_SHAPES: dict[str, Callable[[Layer, Shape], Shape]] = {
    **dict.fromkeys(_JOINS, _joined),
    "adaptive_pool": _ranked(4, lambda layer, shape: (*shape[:2], *map(min, layer["sides"], shape[2:]))),
    "attention": _ranked(3, _attended),
    "average_pool": _ranked(4, _pooled),
    "batch_norm": _ranked(4, lambda layer, shape: shape),
    "convolution": _ranked(4, _convolved),
    "cut": _cut_shape,
    "embedding": _ranked(2, lambda layer, shape: (*shape, layer["channels"])),
    "flatten": _ranked(4, lambda layer, shape: (shape[0], shape[2] * shape[3], shape[1])),
    "flip": _along,
    "group_norm": _ranked(4, _divided("groups", 1)),
    "linear": lambda layer, shape: (*shape[:-1], layer["channels"]),
    "max_pool": _ranked(4, _pooled),
    "mean": _mean_shape,
    "pad": _padded,
    "permute": _permuted,
    "roll": _along,
    "softmax": _along,
    "square_convolution": _ranked(4, _convolved),
    "transposed": _ranked(4, _transposed),
    "unflatten": _ranked(3, _unflattened),
    "upsample": _ranked(
        4, lambda layer, shape: (*shape[:2], *(s * t for s, t in zip(shape[2:], layer["times"], strict=True)))
    ),
}
