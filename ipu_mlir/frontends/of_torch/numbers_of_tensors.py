"""Numbers that a program takes out of tensors, ``x.item()`` and ``x.tolist()``: tensors without dimensions."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, cast
from unittest.mock import patch

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.utils import _pytree as pytree

from ipu_mlir.frontends.of_torch import checks
from ipu_mlir.frontends.of_torch.known_values import computed, value_of
from ipu_mlir.frontends.of_torch.selected import Selected
from ipu_mlir.frontends.of_torch.selected_rows import parts_of_counts


def trace_conditions(settings: ExitStack) -> None:
    """Let ``torch._check`` take conditions on such numbers, which are left out like other checks."""
    theirs = torch._check_with

    def check(error: Any, condition: Any, message: Callable[[], str]) -> None:
        if not isinstance(condition, Tensor):
            theirs(error, condition, message)

    settings.enter_context(patch.object(torch, "_check_with", check))


def is_number(x: Any) -> bool:
    """True for a tensor that has the place of a number of Python."""
    return isinstance(x, Tensor) and getattr(x, "is_python_number", False)


def as_number(x: Any) -> Any:
    """``x``, a tensor without dimensions, in the place of a number of Python, which a result is as well."""
    x.is_python_number = True
    return x


def number_if_of_numbers(func: Any, args: Sequence[Any], result: Any) -> Any:
    """``result`` of ``func``, in the place of a number where ``func`` is an operator of nothing but numbers."""
    if not args or not is_number(args[0]) or not isinstance(result, Tensor):
        return result
    is_operator = func is torch.pow or getattr(Tensor, getattr(func, "__name__", ""), None) is func
    is_of_numbers = all(not isinstance(each, Tensor) or is_number(each) for each in args)
    return as_number(result) if is_operator and is_of_numbers and not result.dim() else result


def _item(x: Any) -> Any:
    if (known := value_of(x)) is not None:
        return computed(known.item)
    if get_proxy_mode() is None or not isinstance(x, Tensor) or checks.wanted_here(of_a_part=True) is not None:
        return checks.item(x)
    return _number(x.detach().reshape(()))


def _number(x: Tensor) -> Any:
    """As wide as Python's numbers of a kind are next to tensors, so that these keep their types."""
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    elif not (x.is_floating_point() or x.is_complex() or x.dtype == torch.bool):
        x = x.to(torch.int64)
    return as_number(x.clone())


def _to_list(x: Any) -> Any:
    if (known := value_of(x)) is not None:
        return computed(known.tolist)
    if get_proxy_mode() is None or not isinstance(x, Tensor):
        return Tensor.tolist(x)
    return [_to_list(each) for each in x.unbind()] if x.dim() else _item(x)


def _split(x: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """The parts of ``x``; those whose sizes are numbers of tensors are rows that masks select."""
    sizes, function = split_size_or_sections, cast(Any, torch.split)
    if not isinstance(sizes, list | tuple) or not any(map(is_number, sizes)):
        return function(x, sizes, dim)
    if dim % x.dim() and not isinstance(x, Selected):
        return tuple(x[(slice(None),) * (dim % x.dim()) + (each.mask,)] for each in _split(x.movedim(dim, 0), sizes))
    return function(x, sizes, dim) if isinstance(x, Selected) else parts_of_counts(x, sizes, Selected)


def _tensor(data: Any, *, dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    """The tensor of ``data``, lists with numbers of tensors among others, which have PyTorch's types for numbers."""
    function = cast(Any, torch.tensor)
    if not any(map(is_number, pytree.tree_leaves(data))):
        return function(data, dtype=dtype, **options)

    def stacked(each: Any) -> Tensor:
        return torch.stack([*map(stacked, each)]) if isinstance(each, list | tuple) else torch.as_tensor(each)

    made = stacked([data])[0]  # in the place of a number no more, as what an operator gives would be
    is_wide = made.is_floating_point() and dtype is None
    return made.to(torch.get_default_dtype() if is_wide else dtype or made.dtype)


PLAIN: dict[Any, Any] = {
    torch.tensor: _tensor,
    Tensor.item: _item,
    Tensor.tolist: _to_list,
    **dict.fromkeys((torch.split, torch.functional.split, Tensor.split), _split),
}
