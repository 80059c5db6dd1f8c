"""Inputs: random numbers, the same ones each time."""

import numpy as np

from benchmarks.workload import Array


class Numbers:
    """A stream of random arrays."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)

    def normal(self, *shape: int, scale: float = 1.0) -> Array:
        """Normally distributed f32 around 0."""
        return self._generator.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def weights(self, inputs: int, outputs: int) -> Array:
        """The weights of a dense layer that keeps the size of its values, shape ``(inputs, outputs)``."""
        return self.normal(inputs, outputs, scale=inputs**-0.5)

    def near_one(self, *shape: int) -> Array:
        """The gain of a norm."""
        return 1 + self.normal(*shape, scale=0.01)

    def near_zero(self, *shape: int) -> Array:
        """A bias."""
        return self.normal(*shape, scale=0.01)

    def classes(self, count: int, number: int) -> Array:
        """``number`` class labels below ``count``, i32."""
        return self._generator.integers(0, count, number).astype(np.int32)
