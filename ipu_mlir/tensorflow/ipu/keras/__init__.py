"""Models of Keras for the IPU (first edition of the guide, 4.3), and its layers (21.14)."""

import importlib
from typing import Any

from ipu_mlir.tensorflow.later import later

_HOME = {"Model": "models", "Sequential": "models"}


def __getattr__(name: str) -> Any:
    """Import ``name`` when it is first asked for (PEP 562)."""
    if name == "layers":
        return importlib.import_module(f"{__name__}.layers")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if (found := later(f"keras.{name}")) is not None:
        return found
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted([*_HOME, "layers"])
