"""Replicas (guide 21.15.16)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.calls import call


def replication_index(name: str | None = None) -> Any:
    """The number of the replica that runs the program, from 0."""
    spec = tf.TensorSpec((), tf.int32)
    return anywhere(lambda: call("replica_index", [], [spec]), [], name or "replication_index")[0][0]
