"""Gradients that a function changes before they are applied."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.optimizers.ipu_optimizer import IpuOptimizer


class MapGradientOptimizer(IpuOptimizer):
    """Applies what a function makes of each gradient and its variable."""

    def __init__(
        self,
        wrapped_optimizer: tf.compat.v1.train.Optimizer,
        gradient_mapping_function: Callable[[Any, Any], Any],
        name: str = "MapGradientOptimizer",
    ) -> None:
        """Wrap an optimizer; ``gradient_mapping_function`` takes a gradient and a variable, and gives a gradient."""
        super().__init__(wrapped_optimizer, name)
        self._mapped = gradient_mapping_function

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Pairs of gradients, as the function makes them, and variables."""
        pairs = self._opt.compute_gradients(*args, **kwargs)
        return [(None if gradient is None else self._mapped(gradient, own), own) for gradient, own in pairs]
