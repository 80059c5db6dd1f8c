"""What Keras computes of the batch of a replica, and is of those of several."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.collectives import all_reduce
from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.variables import is_tracing


def finite_on_all(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """``LossScaleOptimizer.check_finite``: whether to leave a step out is one decision of all replicas."""

    @functools.wraps(theirs)
    def check(self: Any, gradients: Any) -> Any:
        overflown = 1.0 - tf.cast(theirs(self, gradients), tf.float32)
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, overflown) == 0

    return check


def moments_of_groups(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """``BatchNormalization._moments`` of as many replicas as the configuration says, whose batches have one size."""

    @functools.wraps(theirs)
    def moments(self: Any, *args: Any) -> Any:
        mean, variance = theirs(self, *args)
        config = SYSTEM.config
        group = 1 if config is None else config.norms.experimental.distributed_batch_norm_replica_group_size
        if group == 1 or self.synchronized or not is_tracing():
            return mean, variance
        whole = all_reduce(mean, "mean", group)
        apart = mean - whole
        return whole, all_reduce(variance + apart * apart, "mean", group)

    return moments
