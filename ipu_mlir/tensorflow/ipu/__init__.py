"""The names of the guide: what ``tensorflow.python.ipu`` has there.

Modules are imported when they are first asked for; those of ``ipu.ops`` are here as well.
"""

import importlib
from types import ModuleType

_MODULES = (
    "config",
    "ipu_compiler",
    "ipu_infeed_queue",
    "ipu_outfeed_queue",
    "ipu_strategy",
    "keras",
    "loops",
    "ops",
    "scopes",
    "utils",
)
_OPS = (
    "all_to_all_op",
    "control_flow_ops",
    "cross_replica_ops",
    "functional_ops",
    "internal_ops",
    "rand_ops",
    "reduce_scatter_op",
    "replication_ops",
)


def __getattr__(name: str) -> ModuleType:
    """Import a module of the guide when it is first asked for (PEP 562)."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _OPS:
        return importlib.import_module(f"{__name__}.ops.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, *_OPS])
