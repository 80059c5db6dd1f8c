"""Models of Keras for the IPU (first edition of the guide, 4.3)."""

import importlib
from typing import Any

_HOME = {"Model": "models", "Sequential": "models"}


def __getattr__(name: str) -> Any:
    """Import ``name`` when it is first asked for (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
