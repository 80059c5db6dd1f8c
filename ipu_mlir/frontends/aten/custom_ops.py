"""Ops that programs and libraries define in Python (``torch.library.custom_op``), as the ops that they are made of."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch._library.custom_ops import OPDEFS


def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """By op, what each that writes to none of its arguments does."""
    own = [each for each in OPDEFS.values() if not each._opoverload._schema.is_mutable]
    return {each._opoverload: partial(_written_out, each._init_fn) for each in own}


def _written_out(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What ``function`` gives; ``NotImplemented``, which leaves the op in the graph, where it asks for values."""
    try:
        return function(*args, **options)
    except Exception:  # of any kind: what the function does is its author's
        return NotImplemented
