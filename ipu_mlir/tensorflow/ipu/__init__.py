"""The names of the guide: what ``tensorflow.python.ipu`` has there.

Modules are imported when they are first asked for; those of ``ipu.ops`` are here as well.
"""

import importlib
from typing import Any

from ipu_mlir.tensorflow.ipu import ops
from ipu_mlir.tensorflow.later import later

_MODULES = (
    "config",
    "data",
    "dataset_benchmark",
    "gradient_accumulation",
    "ipu_compiler",
    "ipu_infeed_queue",
    "ipu_outfeed_queue",
    "ipu_session_run_hooks",
    "ipu_strategy",
    "keras",
    "loops",
    "optimizers",
    "scopes",
    "sharding",
    "utils",
)


def __getattr__(name: str) -> Any:
    """Import a module of the guide when it is first asked for (PEP 562)."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in dir(ops):
        return getattr(ops, name)
    if (found := later(name)) is not None:
        return found
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, *dir(ops)])
