"""Optimizers that wrap those of ``tf.compat.v1.train`` (guide 21.16)."""

import importlib
from typing import Any

from ipu_mlir.tensorflow.later import later

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


def __getattr__(name: str) -> Any:
    """Import ``name`` when it is first asked for (PEP 562)."""
    if name in _HOME.values():
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if (found := later(f"optimizers.{name}")) is not None:
        return found
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(_HOME)}")


def __dir__() -> list[str]:
    return sorted([*_HOME, *_HOME.values()])
