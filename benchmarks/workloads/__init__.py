"""The workloads, by name."""

from benchmarks.workload import Workload
from benchmarks.workloads import (
    channel_windows,
    conv_block,
    elementwise_chain,
    embedding_update,
    encoder_layer,
    matmul,
    mlp_inference,
    mlp_training_step,
    norm_softmax,
    small_loops,
    tiny_steps,
)

_ALL = (
    mlp_inference.at_batch(32),
    mlp_inference.at_batch(1024),
    mlp_training_step.at_batch(32),
    mlp_training_step.at_batch(1024),
    matmul.WORKLOAD,
    elementwise_chain.WORKLOAD,
    elementwise_chain.WORKLOAD_F16,
    norm_softmax.WORKLOAD,
    encoder_layer.WORKLOAD,
    conv_block.WORKLOAD,
    channel_windows.WORKLOAD,
    embedding_update.WORKLOAD,
    tiny_steps.WORKLOAD,
    *small_loops.SMALL_LOOPS,
)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}
