"""Attention of several heads."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.dense import Dense
from ipu_mlir.layers.initialisers import generator_of
from ipu_mlir.layers.layer import Layer
from ipu_mlir.nn import softmax
from ipu_mlir.specs.tensor_types import finfo
from ipu_mlir.tracing.errors import TraceValueError


@dataclass(frozen=True)
class Attention(Layer):
    """For each position of a sequence, and each head, a mean of all positions, weighted by how well they fit.

    Attributes:
        size: of the last dimension, before and after.
        heads: each sees ``size / heads`` elements.
        causal: whether a position sees none behind it.
    """

    size: int
    heads: int
    causal: bool = False
    bias: bool = True

    def __post_init__(self) -> None:
        if self.heads < 1 or self.size % self.heads:
            raise TraceValueError(f"Attention of size {self.size} with {self.heads} heads, which do not divide it")

    @property
    def _dense(self) -> Dense:
        return Dense(self.size, self.size, bias=self.bias)

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, Any]:
        """``query``, ``key``, ``value`` and ``out``: parameters of dense layers from ``size`` to ``size``."""
        rng = generator_of(rng)
        return {name: self._dense.init(rng, dtype) for name in ("query", "key", "value", "out")}

    def __call__(self, parameters: Any, x: Any, state: Any = (), *, of: Any = None, mask: Any = None) -> Any:
        """The result for ``x`` of shape ``(batch, positions, size)``.

        Args:
            of: the sequence that keys and values are of; ``x`` if not given.
            mask: bools that broadcast to ``(batch, heads, positions, positions of keys)``: who sees whom.
        """
        of = x if of is None else of
        query = self._heads(self._dense(parameters["query"], x))
        key, value = (self._heads(self._dense(parameters[name], of)) for name in ("key", "value"))
        fit = query @ key.swapaxes(-1, -2) * (1 / math.sqrt(self.size // self.heads))
        if self.causal:
            seen = np.tril(np.ones((x.shape[1], of.shape[1]), bool))
            mask = seen if mask is None else mask & seen
        if mask is not None:
            fit = np.where(mask, fit, np.full((), finfo(fit.dtype).min, fit.dtype))
        joined = (softmax(fit) @ value).swapaxes(1, 2).reshape(x.shape)
        return self._dense(parameters["out"], joined)

    def _heads(self, x: Any) -> Any:
        return x.reshape((x.shape[0], x.shape[1], self.heads, self.size // self.heads)).swapaxes(1, 2)
