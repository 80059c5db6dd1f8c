"""Layers that give their input mean 0 and variance 1."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.dense import check_last
from ipu_mlir.layers.layer import Layer
from ipu_mlir.nn import layer_norm
from ipu_mlir.programs.replicas import all_reduce
from ipu_mlir.tracing.control.gradients import stop_gradient
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.graph import Symbol


def _scale_and_bias(size: int, dtype: Any) -> dict[str, np.ndarray]:
    return {"scale": np.ones(size, dtype), "bias": np.zeros(size, dtype)}


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Each vector along the last dimension, which is of ``size``, normalised; then scaled, and a bias added."""

    size: int
    epsilon: float = 1e-5

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``scale`` and ``bias`` of shape ``(size,)``."""
        return _scale_and_bias(self.size, dtype)

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.size)
        return layer_norm(x, parameters["scale"], parameters["bias"], epsilon=self.epsilon)


@dataclass(frozen=True)
class GroupNorm(Layer):
    """The channels of each example, in ``groups`` that stand side by side, normalised group by group.

    Attributes:
        channels: the size of the last dimension.
    """

    channels: int
    groups: int
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if self.groups < 1 or self.channels % self.groups:
            raise TraceValueError(
                f"GroupNorm of {self.channels} channels in {self.groups} groups, which do not divide them"
            )

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``scale`` and ``bias`` of shape ``(channels,)``."""
        return _scale_and_bias(self.channels, dtype)

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.channels)
        apart = x.reshape((*x.shape[:-1], self.groups, self.channels // self.groups))
        axes = (*range(1, len(x.shape) - 1), len(x.shape))
        normal = layer_norm(apart, axis=axes, epsilon=self.epsilon).reshape(x.shape)
        return normal * parameters["scale"] + parameters["bias"]


@dataclass(frozen=True)
class BatchNorm(Layer):
    """Each channel normalised over all else: in training by the batch, else by running means of training.

    Attributes:
        channels: the size of the last dimension.
        momentum: the share of the running means that stays at each step.
        replicas: whether the batch is that of all replicas, and not of each its own.
    """

    channels: int
    momentum: float = 0.99
    epsilon: float = 1e-3
    replicas: bool = False

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``scale`` and ``bias`` of shape ``(channels,)``."""
        return _scale_and_bias(self.channels, dtype)

    def state(self, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``mean`` and ``variance`` of shape ``(channels,)``: 0 and 1."""
        return {"mean": np.zeros(self.channels, dtype), "variance": np.ones(self.channels, dtype)}

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.channels)
        factor = parameters["scale"] / np.sqrt(self._known(state)["variance"] + self.epsilon)
        return (x - state["mean"]) * factor + parameters["bias"]

    def train(self, parameters: Any, x: Any, state: Any = (), key: Any = None) -> tuple[Any, Any]:
        check_last(self, x, self.channels)
        axes = tuple(range(len(x.shape) - 1))
        mean = self._of_all(np.mean(x, axis=axes))
        variance = self._of_all(np.mean((x - mean) ** 2, axis=axes))
        y = (x - mean) * (parameters["scale"] / np.sqrt(variance + self.epsilon)) + parameters["bias"]
        found = {"mean": stop_gradient(mean), "variance": stop_gradient(variance)}
        known = self._known(state)
        after = {name: self.momentum * known[name] + (1 - self.momentum) * found[name] for name in found}
        return y, after

    def _of_all(self, found: Any) -> Any:
        return all_reduce(found, "mean") if self.replicas and isinstance(found, Symbol) else found

    @staticmethod
    def _known(state: Any) -> Any:
        if not isinstance(state, dict):
            raise TraceValueError("BatchNorm has running means: give the layer state=net.state(), or that of training")
        return state
