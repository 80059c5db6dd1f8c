"""Training of BERT and of ResNet-50 on a pod, as published: how many sequences or images go through in a second.

    python -m benchmarks.points --kinds end_to_end

Batches, stages, and what is computed again are those of the published configurations (graphcore/examples,
``configs_pretraining.yml`` and ``configs.yml``), in f16 with partial results in f16. Cycles of what the host transfers
are left out, which the published programs hide behind the rest, and so are dropout, and the update of the weights,
which comes once in 2,048, 512 or 57 micro-batches. Nothing runs, and programs may need more memory than there is.
Compiling takes minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir import layers
from ipu_mlir.runtime.profile.profile import Profile

F16 = np.float16
_TOKENS, _MASKED, _WORDS, _STAGES, _REPLICAS, _COUNT = 128, 20, 30_522, 4, 4, 100


@dataclass(frozen=True)
class Bert:
    """A network of ``blocks`` on each of three IPUs, and what comes before and behind them on the first.

    Attributes:
        size: of a word; a head has 64 of it.
        blocks: on the IPUs with most.
        micro_batch: sequences of 128 words.
    """

    size: int
    blocks: int
    micro_batch: int


BASE, LARGE = Bert(768, 4, 32), Bert(1024, 7, 8)


def sequences_per_second(net: Bert) -> float:
    """Of 16 IPUs: four replicas of a pipeline of four. A block more makes a slot longer by as much each time."""
    one, two = (_cycles_of_slot(net, blocks) for blocks in (1, 2))
    slot = one + (net.blocks - 1) * (two - one)
    return _REPLICAS * net.micro_batch * _target().clock_hz / slot


def _target(**options: Any) -> ipu.Target:
    return ipu.Target.named("bow", emulated=True, **options)


def _cycles_of_slot(net: Bert, blocks: int) -> float:
    """Of all in which a micro-batch goes forwards, or another one backwards, through any of the five stages."""
    slots = _COUNT + 2 * (_STAGES + 1) - 1
    return _device_cycles(_pipeline(net, blocks).profile()) / slots


def _device_cycles(profile: Profile) -> int:
    return profile.total_cycles - profile.execution.cycles.host


def _specs(layer: layers.Layer) -> Any:
    return ipu.tree_map(lambda each: ipu.TensorSpec(each.shape, each.dtype), layer.init(0, F16))


def _block(size: int) -> layers.Sequential:
    inner = layers.Sequential([layers.Dense(size, 4 * size, ipu.nn.gelu), layers.Dense(4 * size, size)])
    attention = layers.Attention(size, size // 64)
    return layers.Sequential(
        [layers.Residual(attention), layers.LayerNorm(size), layers.Residual(inner), layers.LayerNorm(size)]
    )


def _pipeline(net: Bert, blocks: int) -> ipu.Executable:
    size, micro = net.size, net.micro_batch
    words = layers.Sequential([layers.Embedding(_WORDS, size), layers.LayerNorm(size)])
    head = layers.Sequential(
        [layers.Dense(size, size, ipu.nn.gelu), layers.LayerNorm(size), layers.Dense(size, _WORDS)]
    )
    stack = [_block(size) for _ in range(blocks)]

    def encode(w: Any, h: Any) -> Any:
        for layer, own in zip(stack, w, strict=True):
            h = ipu.keep(layer(own, h))
        return h

    def predict(w: Any, h: Any, y: Any) -> Any:
        masked = h[:, :_MASKED].reshape((micro * _MASKED, size))
        return ipu.nn.cross_entropy(head(w, masked).astype(np.float32), y).mean()

    stages = [lambda w, x: words(w, x), *[encode] * (_STAGES - 1), predict]
    pipe = ipu.pipeline(
        stages, _COUNT, devices=[*range(_STAGES), 0], recompute="inputs", reduction="mean", results="sum"
    )

    def step(parameters: Any, x: Any, y: Any) -> Any:
        return pipe.value_and_grad(parameters, [x, *[None] * (_STAGES - 1), y])

    parameters = [_specs(words), *[[_specs(each) for each in stack]] * (_STAGES - 1), _specs(head)]
    data = [ipu.TensorSpec((_COUNT, micro, _TOKENS), np.int32), ipu.TensorSpec((_COUNT, micro * _MASKED), np.int32)]
    target = _target(ipus=_STAGES, replicas=_REPLICAS, selection_order="hoof")
    return ipu.compile(step, args=(parameters, *map(ipu.per_replica, data)), target=target, partials_type="native")


class ResNet50:
    """With batch norm, for images of 224 x 224; parameters come in the order in which they are used."""

    depths = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))

    def __init__(self) -> None:
        self._shapes: list[tuple[int, ...]] = []

    def parameters(self) -> list[ipu.TensorSpec]:
        convolutions = [(7, 7, 3, 64)]
        channels = 64
        for width, count, _ in self.depths:
            for block in range(count):
                convolutions += [(1, 1, channels, width), (3, 3, width, width), (1, 1, width, 4 * width)]
                if block == 0:
                    convolutions.append((1, 1, channels, 4 * width))
                channels = 4 * width
        found = []
        for shape in convolutions:
            found += [ipu.TensorSpec(shape, F16), ipu.TensorSpec(shape[-1:], F16), ipu.TensorSpec(shape[-1:], F16)]
        return [*found, ipu.TensorSpec((channels, 1000), F16), ipu.TensorSpec((1000,), F16)]

    def __call__(self, parameters: Sequence[Any], images: Any) -> Any:
        rest = iter(parameters)

        def convolved(x: Any, stride: int = 1) -> Any:
            y = ipu.nn.convolution(x, next(rest), strides=stride, padding="same")
            return layers.BatchNorm(y.shape[-1]).train({"scale": next(rest), "bias": next(rest)}, y, _NOTHING)[0]

        def relu(x: Any) -> Any:
            return np.maximum(x, F16(0))

        x = ipu.nn.max_pool(relu(convolved(images, 2)), 3, strides=2, padding="same")
        for _, count, stride in self.depths:
            for block in range(count):
                step = stride if block == 0 else 1
                y = convolved(relu(convolved(relu(convolved(x)), step)))
                x = relu(y + (convolved(x, step) if block == 0 else x))
        return np.mean(x, axis=(1, 2)) @ next(rest) + next(rest)


_NOTHING = {"mean": F16(0), "variance": F16(1)}


def images_per_second(batch: int = 18) -> float:
    """Of 16 IPUs, each a replica, forwards and backwards."""
    net = ResNet50()

    def step(parameters: Any, images: Any, labels: Any) -> Any:
        def loss(parameters: Any) -> Any:
            return ipu.nn.cross_entropy(net(parameters, images).astype(np.float32), labels).mean()

        return ipu.value_and_grad(loss)(parameters)

    args = (net.parameters(), ipu.TensorSpec((batch, 224, 224, 3), F16), ipu.TensorSpec((batch,), np.int32))
    target = _target()
    profile = ipu.compile(step, args=args, target=target, partials_type="native").profile()
    return 16 * batch * target.clock_hz / _device_cycles(profile)
