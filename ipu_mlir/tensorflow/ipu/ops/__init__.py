"""Operators of the guide (21.15): a file per module there."""

import importlib
from typing import Any

from ipu_mlir.tensorflow.later import later

_MODULES = (
    "all_to_all_op",
    "control_flow_ops",
    "cross_replica_ops",
    "embedding_ops",
    "functional_ops",
    "image_ops",
    "internal_ops",
    "rand_ops",
    "reduce_scatter_op",
    "replication_ops",
    "slicing_ops",
    "statistics_ops",
    "within_replica_ops",
)


def __getattr__(name: str) -> Any:
    """Import a module when it is first asked for (PEP 562)."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if (found := later(f"ops.{name}")) is not None:
        return found
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(_MODULES)}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
