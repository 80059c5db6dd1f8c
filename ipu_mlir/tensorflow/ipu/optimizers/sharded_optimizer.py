"""Gradients where their forward operations are."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.optimizers.ipu_optimizer import IpuOptimizer


class ShardedOptimizer(IpuOptimizer):
    """Passes everything on: gradients are on the shards of their forward operations in any case."""

    def __init__(self, optimizer: tf.compat.v1.train.Optimizer) -> None:
        """Wrap ``optimizer``."""
        super().__init__(optimizer, "ShardedOptimizer")

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> list[Any]:
        """Pairs of gradients and variables."""
        return super().compute_gradients(loss, var_list, **kwargs)
