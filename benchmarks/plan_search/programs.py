"""The programs whose plans are searched: kernels, of one op or a few, and whole programs."""

from collections.abc import Callable
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.workloads import WORKLOADS
from ipu_mlir import TensorSpec, layers

Traced = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and what it is traced with."""

_F16 = np.float16
_RATE = np.float32(0.1)


def _of(*shapes: tuple[int, ...], dtype: Any = np.float32) -> tuple[Any, ...]:
    return tuple(TensorSpec(shape, dtype) for shape in shapes)


def _product(x: Any, w: Any) -> Any:
    return x @ w


def _attention(q: Any, k: Any, v: Any) -> Any:
    return ipu.nn.softmax(q @ np.swapaxes(k, -1, -2)) @ v


def _convolution(x: Any, w: Any) -> Any:
    return ipu.nn.convolution(x, w, padding="same")


def _updates(*tensors: Any) -> Any:
    half = len(tensors) // 2
    return tuple(w - _RATE * g for w, g in zip(tensors[:half], tensors[half:], strict=True))


def _two_towers(x: Any, y: Any, w: Any, v: Any) -> Any:
    """Two networks that have nothing to do with each other before their results meet."""
    return np.sum(ipu.nn.relu(x @ w) @ v * (ipu.nn.relu(y @ w) @ v), axis=1)


def _image_step(x: Any, labels: Any, *parameters: Any) -> Any:
    def loss(parameters: Any) -> Any:
        w1, w2, w3 = parameters
        h = ipu.nn.max_pool(ipu.nn.relu(_convolution(x, w1)), 2, strides=2)
        h = ipu.nn.relu(_convolution(h, w2))
        return ipu.nn.cross_entropy(np.mean(h, axis=(1, 2)) @ w3, labels).mean()

    _, gradients = ipu.value_and_grad(loss)(list(parameters))
    return _updates(*parameters, *gradients)


def _block_step(parameters: Any, x: Any) -> Any:
    """Forwards and backwards through one block of a transformer, in f16."""
    inner = layers.Sequential([layers.Dense(256, 1024, ipu.nn.gelu), layers.Dense(1024, 256)])
    block = layers.Sequential(
        [layers.Residual(layers.Attention(256, 4)), layers.LayerNorm(256), layers.Residual(inner)]
    )
    if parameters is None:
        return ipu.tree_map(lambda each: TensorSpec(each.shape, each.dtype), block.init(0, _F16))
    return ipu.value_and_grad(lambda weights: np.sum(block(weights, x)))(parameters)


KERNELS: dict[str, Traced] = {
    "matmul": (_product, _of((1024, 1024), (1024, 1024))),
    "matmul f16": (_product, _of((2048, 512), (512, 2048), dtype=_F16)),
    "few rows": (_product, _of((16, 2048), (2048, 4096))),
    "few columns": (_product, _of((8192, 1024), (1024, 16))),
    "attention": (_attention, _of(*[(2, 8, 128, 64)] * 3)),
    "convolution": (_convolution, _of((4, 28, 28, 64), (3, 3, 64, 64))),
    "max pool": (lambda x: ipu.nn.max_pool(x, 3, strides=2), _of((4, 113, 113, 32))),
    "softmax": (ipu.nn.softmax, _of((1000, 1000))),
    "layer norm": (lambda x: layers.LayerNorm(768)(layers.LayerNorm(768).init(0), x), _of((512, 768))),
    "sum of rows": (lambda x: np.sum(x, axis=0), _of((20_000, 96))),
    "transpose": (lambda x: np.tanh(x).T + x.T[:1], _of((1500, 700))),
    "gather": (lambda x, at: np.take(x, at, axis=0), (*_of((10_000, 64)), TensorSpec((512,), np.int32))),
}

WHOLE: dict[str, Traced | str] = {
    "mlp training": "mlp_training_step_b1024",
    "encoder": "encoder_layer",
    "small updates": (_updates, _of(*[(96,), (64, 64), (10,), (3, 3, 16, 16)] * 8)),
    "two towers": (_two_towers, _of((256, 512), (256, 512), (512, 512), (512, 64))),
    "image training": (
        _image_step,
        (*_of((8, 32, 32, 16)), TensorSpec((8,), np.int32), *_of((3, 3, 16, 32), (3, 3, 32, 64), (64, 10))),
    ),
    "block training f16": (_block_step, (_block_step(None, None), *_of((4, 128, 256), dtype=_F16))),
}

NAMES = (*KERNELS, *WHOLE)


def text_of(name: str) -> str:
    """The program as MLIR text."""
    found = KERNELS.get(name) or WHOLE[name]
    if isinstance(found, str):
        return WORKLOADS[found].mlir()
    function, arguments = found
    return str(ipu.function(function).trace(*arguments))
