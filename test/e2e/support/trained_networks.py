"""Networks that train on one IPU or as a pipeline, with the same batches and the same optimizer."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir import layers, optimizers

COUNT = 8
"""Micro-batches of a batch; one that every schedule of two and of four stages takes."""
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Network:
    """A network for classes, and what it learns from.

    Attributes:
        stages: its layers, a row of them for each stage.
        batches: of shape ``(steps, rows, ...)``: images, or words, and the classes.
        rate: the learning rate of gradient descent with momentum.
    """

    stages: tuple[layers.Sequential, ...]
    batches: tuple[Array, Array]
    rate: float
    dtype: Any = np.float64

    def in_stages(self, number: int) -> "Network":
        """The same with fewer stages, each of as many of its own."""
        each = len(self.stages) // number
        rows = [self.stages[at : at + each] for at in range(0, len(self.stages), each)]
        joined = tuple(layers.Sequential([layer for stage in row for layer in stage.layers]) for row in rows)
        return Network(joined, self.batches, self.rate, self.dtype)

    def start(self) -> list[Any]:
        """Parameters to begin with, of each stage: the same ones for any number of stages."""
        rng = np.random.default_rng(0)
        return [stage.init(rng, self.dtype) for stage in self.stages]

    def scores(self, parameters: Any, x: Any) -> Any:
        for stage, own in zip(self.stages, parameters, strict=True):
            x = stage(own, x)
        return x

    def pipeline(self, schedule: str, recompute: str) -> ipu.pipeline:
        stages = [lambda own, x, stage=stage: stage(own, x) for stage in self.stages]
        return ipu.pipeline(stages, COUNT, schedule, reduction="mean", recompute=recompute, loss=ipu.nn.cross_entropy)


class Training:
    """A network that trains a step at a time, with its momentum in remote memory.

    Args:
        pipe: the pipeline that it is; none for all of it on one IPU.
        replicas: of the pipeline; each takes its part of every batch.
    """

    def __init__(self, network: Network, pipe: ipu.pipeline | None = None, replicas: int = 1, tiles: int = 8) -> None:
        self.network, self._weights = network, ipu.Variable(network.start(), name="weights")
        self._optimizer = optimizers.attach(optimizers.sgd(network.rate, 0.9), self._weights, offload=True)
        self._pipe, self._replicas = pipe, replicas
        ipus = 1 if pipe is None else len(network.stages)
        target = ipu.Target(ipus=ipus, tiles_per_ipu=tiles, replicas=replicas)
        self.exe = ipu.compile(self._step, args=[self._spec(each) for each in network.batches], target=target)
        self._session = self.exe.session()

    def _spec(self, batches: Array) -> Any:
        _, rows, *sizes = batches.shape
        dtype = self.network.dtype if batches.dtype.kind == "f" else batches.dtype
        if self._pipe is None:
            return ipu.TensorSpec((rows, *sizes), dtype)
        spec = ipu.TensorSpec((COUNT, rows // COUNT // self._replicas, *sizes), dtype)
        return spec if self._replicas == 1 else ipu.per_replica(spec)

    def _step(self, x: Any, y: Any) -> Any:
        loss, slopes = self._slopes(x, y)
        if self._replicas > 1:
            loss, slopes = ipu.all_reduce(loss, "mean"), ipu.tree_map(lambda each: ipu.all_reduce(each, "mean"), slopes)
        self._optimizer.assign(slopes)
        return loss

    def _slopes(self, x: Any, y: Any) -> tuple[Any, Any]:
        if self._pipe is None:
            return ipu.value_and_grad(lambda own: ipu.nn.cross_entropy(self.network.scores(own, x), y))(
                self._weights.value
            )
        losses, slopes = self._pipe.value_and_grad(
            self._weights.value, [x, *[None] * (len(self.network.stages) - 2), y]
        )
        return losses.mean(), slopes

    def inputs(self, number: int) -> list[Array]:
        """The batch of a step, as the program takes it."""
        spread = [] if self._pipe is None else [COUNT] if self._replicas == 1 else [self._replicas, COUNT]
        found = [each[number % len(each)] for each in self.network.batches]
        found = [each.astype(self.network.dtype) if each.dtype.kind == "f" else each for each in found]
        return [each.reshape(*spread, -1, *each.shape[1:]) if spread else each for each in found]

    def run(self, steps: int) -> list[float]:
        """The losses of so many steps."""
        return [float(np.ravel(self._session(*self.inputs(number)))[0]) for number in range(steps)]

    def parameters(self) -> list[Any]:
        """Those of each stage, as they are now."""
        return self._session["weights"]

    def weights(self) -> Iterator[Array]:
        """The parameters now, in one row."""
        found: list[Array] = []
        ipu.tree_map(found.append, self.parameters())
        return iter(found)


def digits(rows: int = 32) -> tuple[Network, tuple[Array, Array]]:
    """Four dense layers for two thirds of the handwritten digits; the images held back, with their classes."""
    with np.load(Path(__file__).parents[3] / "examples/digits/digits.npz") as data:
        images, labels = data["images"].reshape(-1, 64) / 16.0, data["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    held_back, learnt = np.split(order, [len(order) // 3])
    learnt = learnt[: len(learnt) // rows * rows]
    sizes, relu = (64, 96, 48, 32, 10), ipu.nn.relu
    pairs = zip(sizes[:-1], sizes[1:], (relu, np.tanh, relu, None), strict=True)
    stages = tuple(layers.Sequential([layers.Dense(*pair)]) for pair in pairs)
    batches = images[learnt].reshape(-1, rows, 64), labels[learnt].reshape(-1, rows)
    return Network(stages, batches, 0.03), (images[held_back], labels[held_back])


def convolutional() -> Network:
    """Convolutions, a pooling, a norm and a dense layer, in four stages."""
    rng = np.random.default_rng(1)
    stages = (
        layers.Sequential([layers.Conv(2, 4, (3, 3), padding="same"), ipu.nn.relu]),
        layers.Sequential([layers.MaxPool((2, 2)), layers.GroupNorm(4, 2)]),
        layers.Sequential([layers.Conv(4, 6, (3, 3), padding="same"), np.tanh]),
        layers.Sequential([layers.flatten, layers.Dense(6 * 4 * 4, 5)]),
    )
    return Network(stages, (rng.standard_normal((2, 16, 8, 8, 2)), rng.integers(0, 5, (2, 16)).astype(np.int32)), 0.02)


def encoder() -> Network:
    """Words in an embedding, two blocks of attention and dense layers, and a class for each word, in four stages."""
    rng, size = np.random.default_rng(2), 8

    def block() -> list[layers.Layer]:
        inner = layers.Sequential([layers.Dense(size, 2 * size, ipu.nn.gelu), layers.Dense(2 * size, size)])
        attention = layers.Residual(layers.Attention(size, 2))
        return [attention, layers.LayerNorm(size), layers.Residual(inner), layers.LayerNorm(size)]

    stages = (
        layers.Sequential([layers.Embedding(11, size), layers.LayerNorm(size)]),
        layers.Sequential(block()),
        layers.Sequential(block()),
        layers.Sequential([layers.Dense(size, 3)]),
    )
    words = rng.integers(0, 11, (2, 16, 6)).astype(np.int32)
    return Network(stages, (words, (words % 3).astype(np.int32)), 0.02)
