"""Ops of PyTorch on lists of tensors (``_foreach_add``), as ops on each tensor."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

_OF_ONE: dict[str, Callable[..., Any]] = {
    "addcdiv": lambda x, a, b, value=1: x + value * (a / b),
    "addcmul": lambda x, a, b, value=1: x + value * (a * b),
    "copy": lambda x, source, non_blocking=False: source.to(x.dtype),
    "maximum": torch.clamp_min,
    "minimum": torch.clamp_max,
    "norm": torch.linalg.vector_norm,
    "powsum": lambda x, power=2: (x.abs() ** power).sum(),
    "zero": torch.zeros_like,
}
"""By name, what functions of PyTorch with the same name do not do."""


def _on_each(name: str, *args: Any, **options: Any) -> Any:
    """The results of ``name`` on each element of the lists among ``args``; other arguments are for all."""
    count = next(len(each) for each in args if isinstance(each, list | tuple))
    given = [each if _has_elements(each) else [each] * count for each in args]
    op = _OF_ONE.get(name) or getattr(torch, name)
    return [op(*each, **options) for each in zip(*given, strict=True)]


def _has_elements(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, torch.Tensor) and value.ndim == 1)


def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """What each op on lists does, by op; those that write to their arguments have become others before."""
    schemas = [each for each in torch._C._jit_get_all_schemas() if each.name.startswith("aten::_foreach_")]
    return {
        getattr(getattr(torch.ops.aten, name), schema.overload_name or "default"): partial(
            _on_each, name.removeprefix("_foreach_")
        )
        for schema in schemas
        for name in [schema.name.removeprefix("aten::")]
        if not schema.is_mutable and not schema.overload_name.endswith("out")
    }
