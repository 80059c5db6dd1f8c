"""Convolutions and pooling, for tensors of shape ``(batch, *sizes, channels)``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.dense import check_last
from ipu_mlir.layers.initialisers import Initialiser, generator_of, glorot_uniform, zeros
from ipu_mlir.layers.layer import Layer
from ipu_mlir.tracing.functions.windows import Padding, Sizes, convolution, max_pool, mean_pool


@dataclass(frozen=True)
class Conv(Layer):
    """A convolution over as many dimensions as ``window`` has sizes, and a bias.

    Attributes:
        channels, filters: the last dimension before and after.
        strides, padding, dilation, groups: as of ``ipu.nn.convolution``.
    """

    channels: int
    filters: int
    window: Sequence[int]
    strides: Sizes = 1
    padding: Padding = "valid"
    dilation: Sizes = 1
    groups: int = 1
    bias: bool = True
    w: Initialiser = glorot_uniform
    b: Initialiser = zeros

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``w`` of shape ``(*window, channels / groups, filters)`` and ``b`` of shape ``(filters,)``."""
        rng = generator_of(rng)
        found = {"w": self.w(rng, (*self.window, self.channels // self.groups, self.filters), dtype)}
        return found | ({"b": self.b(rng, (self.filters,), dtype)} if self.bias else {})

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.channels)
        options: dict[str, Any] = {"strides": self.strides, "padding": self.padding, "dilation": self.dilation}
        y = convolution(x, parameters["w"], groups=self.groups, **options)
        return y + parameters["b"] if self.bias else y


@dataclass(frozen=True)
class MaxPool(Layer):
    """The largest element of each window, as of ``ipu.nn.max_pool``."""

    window: Sizes
    strides: Sizes | None = None
    padding: Padding = "valid"

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        return max_pool(x, self.window, strides=self.strides, padding=self.padding)


@dataclass(frozen=True)
class MeanPool(Layer):
    """The mean of each window, as of ``ipu.nn.mean_pool``."""

    window: Sizes
    strides: Sizes | None = None
    padding: Padding = "valid"

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        return mean_pool(x, self.window, strides=self.strides, padding=self.padding)


def flatten(x: Any) -> Any:
    """``x`` with all dimensions but the first made into one."""
    return x.reshape((x.shape[0], -1))
