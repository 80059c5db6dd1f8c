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
    "scopes",
    "utils",
)


def __getattr__(name: str) -> ModuleType:
    """Import a module of the guide when it is first asked for (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(
            f"module 'ipu_mlir.tensorflow.ipu' has no attribute {name!r}; it has {', '.join(_MODULES)}"
        )
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
