"""Datasets (guide 21.12.2): ``dataset_ops``."""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import the module when it is first asked for (PEP 562)."""
    if name != "dataset_ops":
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has dataset_ops")
    return importlib.import_module(f"{__name__}.{name}")
