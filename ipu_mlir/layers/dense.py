"""Layers that are one product or one table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.initialisers import Initialiser, generator_of, glorot_uniform, uniform, zeros
from ipu_mlir.layers.layer import Layer
from ipu_mlir.programs.random_numbers import dropout
from ipu_mlir.tracing.errors import TraceValueError

_SMALL = uniform(0.05)


@dataclass(frozen=True)
class Dense(Layer):
    """``activation(x @ w + b)`` over the last dimension.

    Attributes:
        inputs, units: sizes of that dimension before and after.
        bias: whether there is a ``b``.
    """

    inputs: int
    units: int
    activation: Callable[[Any], Any] | None = None
    bias: bool = True
    w: Initialiser = glorot_uniform
    b: Initialiser = zeros

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``w`` of shape ``(inputs, units)`` and ``b`` of shape ``(units,)``."""
        rng = generator_of(rng)
        found = {"w": self.w(rng, (self.inputs, self.units), dtype)}
        return found | ({"b": self.b(rng, (self.units,), dtype)} if self.bias else {})

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.inputs)
        y = x @ parameters["w"]
        y = y + parameters["b"] if self.bias else y
        return y if self.activation is None else self.activation(y)


@dataclass(frozen=True)
class Embedding(Layer):
    """Rows of a table, by their numbers.

    Attributes:
        rows, size: of the table.
    """

    rows: int
    size: int
    table: Initialiser = _SMALL

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``table`` of shape ``(rows, size)``."""
        return {"table": self.table(generator_of(rng), (self.rows, self.size), dtype)}

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        """Rows of shape ``(*x.shape, size)``, for integers ``x``."""
        return parameters["table"][x]


@dataclass(frozen=True)
class Dropout(Layer):
    """In training, each element is 0 with probability ``rate``; the others are divided by ``1 - rate``."""

    rate: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate < 1:
            raise TraceValueError(f"Dropout({self.rate}): the rate is from 0 to less than 1")

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        return x

    def train(self, parameters: Any, x: Any, state: Any = (), key: Any = None) -> tuple[Any, Any]:
        if not self.rate:
            return x, state
        if key is None:
            raise TraceValueError("Dropout draws random numbers in training: give train(..., key=ipu.random.key(0))")
        return dropout(key, x, self.rate), state


def check_last(layer: Layer, x: Any, size: int) -> None:
    """Refuse a tensor whose last dimension is not of ``size``.

    Raises:
        TraceValueError: it is not.
    """
    shape = np.shape(x)
    if shape[-1:] != (size,):
        raise TraceValueError(
            f"{type(layer).__name__} takes tensors of {size} elements along the last axis, got {shape}"
        )
