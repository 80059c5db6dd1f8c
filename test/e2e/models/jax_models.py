"""Models written with ``flax`` (both of its interfaces) and ``equinox``, trained with ``optax``."""

from collections.abc import Callable
from typing import Any

import numpy as np
from models.entry import FORWARD, Entry, Program

_OF_NORMS = {"forward": 2e-5, "step": 1e-3}
"""The gradient of a scale of channels, before a depthwise convolution and another norm, is rounding alone: that of JAX
changes by 1.5e-4 with inputs that are 1e-7 away."""


def _program(function: Callable[..., Any], *args: Any) -> Program:
    import jax

    return Program(jax.jit(function), args, {}, _flat(jax.jit(function)(*args)), _flat)


def _flat(nested: Any) -> list[np.ndarray]:
    import jax

    return [np.asarray(each) for each in jax.tree.leaves(nested)]


def _image(batch: int = 2, side: int = 16) -> Any:
    import jax

    return jax.random.normal(jax.random.key(1), (batch, side, side, 3))


def _loss(results: Any) -> Any:
    import jax.numpy as jnp

    return jnp.mean((results - 0.5) ** 2)


def _linen(kind: str) -> Program:
    """A residual network with norms over batches and depthwise convolutions, as a module of linen."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Block(nn.Module):
        channels: int
        stride: int

        @nn.compact
        def __call__(self, x: Any, train: bool) -> Any:
            y = nn.Conv(self.channels, (3, 3), (self.stride, self.stride), use_bias=False)(x)
            y = nn.relu(nn.BatchNorm(use_running_average=not train)(y))
            y = nn.Conv(self.channels, (3, 3), feature_group_count=self.channels, use_bias=False)(y)
            y = nn.BatchNorm(use_running_average=not train)(y)
            return nn.relu(y + nn.Conv(self.channels, (1, 1), (self.stride, self.stride))(x))

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool) -> Any:
            x = nn.max_pool(nn.Conv(8, (7, 7), (2, 2))(x), (3, 3), (2, 2), "SAME")
            for channels, stride in ((8, 1), (16, 2)):
                x = Block(channels, stride)(x, train)
            return nn.Dense(5)(jnp.mean(x, (1, 2)))

    model, x = Network(), _image()
    variables = model.init(jax.random.key(0), x, train=False)
    if kind == FORWARD:
        return _program(lambda variables, x: model.apply(variables, x, train=False), variables, x)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))

    def step(parameters: Any, statistics: Any, state: Any, x: Any) -> Any:
        def loss(parameters: Any) -> Any:
            given = {"params": parameters, "batch_stats": statistics}
            results, changed = model.apply(given, x, train=True, mutable=["batch_stats"])
            return _loss(results), changed

        (value, changed), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, state = optimizer.update(gradients, state, parameters)
        return value, gradients, changed, state, optax.apply_updates(parameters, updates)

    return _program(step, variables["params"], variables["batch_stats"], optimizer.init(variables["params"]), x)


def _nnx(kind: str) -> Program:
    """An encoder with attention, as a module of nnx."""
    import jax
    import jax.numpy as jnp
    import optax
    from flax import nnx

    class Encoder(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.embed = nnx.Embed(29, 16, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(4, 16, decode=False, rngs=rngs)
            self.norms = nnx.List([nnx.LayerNorm(16, rngs=rngs), nnx.LayerNorm(16, rngs=rngs)])
            self.up, self.down = nnx.Linear(16, 37, rngs=rngs), nnx.Linear(37, 16, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            x = self.embed(tokens)
            mask = nnx.make_causal_mask(tokens)
            x = x + self.attention(self.norms[0](x), mask=mask)
            return x + self.down(nnx.gelu(self.up(self.norms[1](x))))

    graph, state = nnx.split(Encoder(nnx.Rngs(0)))
    state = nnx.to_pure_dict(state)
    tokens = jnp.arange(2 * 11).reshape(2, 11) * 5 % 29

    def forward(state: Any, tokens: Any) -> Any:
        return nnx.merge(graph, state)(tokens)

    if kind == FORWARD:
        return _program(forward, state, tokens)
    optimizer = optax.sgd(0.1, momentum=0.9)

    def step(state: Any, moments: Any, tokens: Any) -> Any:
        value, gradients = jax.value_and_grad(lambda state: _loss(forward(state, tokens)), allow_int=True)(state)
        updates, moments = optimizer.update(gradients, moments, state)
        return value, moments, optax.apply_updates(state, updates)

    return _program(step, state, optimizer.init(state), tokens)


def _equinox(kind: str) -> Program:
    """A network of convolutions over one sample, which ``vmap`` makes one over a batch."""
    import equinox as eqx
    import jax
    import optax

    keys = jax.random.split(jax.random.key(0), 4)
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(3, 8, 3, stride=2, padding=1, key=keys[0]),
            eqx.nn.GroupNorm(4, 8),
            eqx.nn.Lambda(jax.nn.silu),
            eqx.nn.Conv2d(8, 8, 3, dilation=2, groups=4, padding=2, key=keys[1]),
            eqx.nn.AdaptiveAvgPool2d(3),
            eqx.nn.ConvTranspose2d(8, 4, 2, stride=2, key=keys[2]),
            eqx.nn.Lambda(lambda x: x.reshape(-1)),
            eqx.nn.MLP(144, 5, 17, 1, key=keys[3]),
        ]
    )
    arrays, rest = eqx.partition(model, eqx.is_array)
    x = _image().transpose(0, 3, 1, 2)

    def forward(arrays: Any, x: Any) -> Any:
        return jax.vmap(eqx.combine(arrays, rest))(x)

    if kind == FORWARD:
        return _program(forward, arrays, x)
    optimizer = optax.adam(1e-2, eps=1e-3)

    def step(arrays: Any, state: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(lambda arrays: _loss(forward(arrays, x)))(arrays)
        updates, state = optimizer.update(gradients, state, arrays)
        return value, state, optax.apply_updates(arrays, updates)

    return _program(step, arrays, optimizer.init(arrays), x)


def entries() -> list[Entry]:
    """All of them, none made yet."""
    return [
        Entry("flax.linen residual network", ("jax", "flax", "optax"), _linen, tolerance=_OF_NORMS),
        Entry("flax.nnx encoder", ("jax", "flax", "optax"), _nnx, per_tile=True),
        Entry("equinox convolutions", ("jax", "equinox", "optax"), _equinox, per_tile=True),
    ]
