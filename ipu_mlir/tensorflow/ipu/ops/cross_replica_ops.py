"""Sums over replicas (guide 21.15.11)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.collectives import all_reduce, assume_equal, called


def cross_replica_sum(x: Any, replica_group_size: int | None = None, name: str | None = None) -> Any:
    """The sum over the replicas of a group; its gradient is the sum of theirs.

    Args:
        replica_group_size: how many consecutive replicas are a group; all where it is not given.
    """
    return called(all_reduce(x, "add", replica_group_size), name)


def cross_replica_mean(x: Any, replica_group_size: int | None = None, name: str | None = None) -> Any:
    """The mean over the replicas of a group, which does not overflow on the way; its gradient is the mean of theirs."""
    return called(all_reduce(x, "mean", replica_group_size), name)


def assume_equal_across_replicas(tensors: Any, inplace: bool = False) -> Any:
    """The tensors, of which the program says that they are one on all replicas: conditions may ask for them.

    Args:
        tensors: nested as they like.
        inplace: without effect: nothing is copied.
    """
    return tf.nest.map_structure(assume_equal, tensors)
