"""Optimizers that wrap those of ``tf.compat.v1.train`` (guide 21.16)."""

from ipu_mlir.tensorflow.guide.lazily import lazily

_HOME = {
    **dict.fromkeys(
        (
            "CrossReplicaGradientAccumulationOptimizer",
            "CrossReplicaGradientAccumulationOptimizerV2",
            "GradientAccumulationOptimizer",
            "GradientAccumulationOptimizerV2",
            "GradientAccumulationReductionMethod",
        ),
        "gradient_accumulation_optimizer",
    ),
    "CrossReplicaOptimizer": "cross_replica_optimizer",
    "IpuOptimizer": "ipu_optimizer",
    "MapGradientOptimizer": "map_gradient_optimizer",
    "ShardedOptimizer": "sharded_optimizer",
}

__getattr__, __dir__ = lazily(__name__, {**_HOME, **{home: home for home in _HOME.values()}})
