"""Gradients of all replicas."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.ops.cross_replica_ops import cross_replica_mean
from ipu_mlir.tensorflow.ipu.optimizers.ipu_optimizer import IpuOptimizer, pairs_of


class CrossReplicaOptimizer(IpuOptimizer):
    """Applies the mean of the gradients of all replicas."""

    def __init__(self, opt: tf.compat.v1.train.Optimizer, name: str = "CrossReplicaOptimizer") -> None:
        """Wrap ``opt``."""
        super().__init__(opt, name)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that changes the variables by the means.

        Raises:
            ValueError: there is no gradient, or what is given are no pairs.
        """
        pairs = pairs_of(grads_and_vars)
        means = [(None if each is None else cross_replica_mean(each), own) for each, own in pairs]
        return super().apply_gradients(means, global_step, name)
