"""Modules of PyTorch that are called with other tensors in the place of their parameters and buffers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch


def call_with(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], args: Sequence[Any], kwargs: Any) -> Any:
    """``module(*args, **kwargs)``, whose parameters and buffers of these names are ``tensors``, wherever it has them.

    PyTorch's own way to tie weights leaves a module that another one has twice with the tensors of the call.
    """
    names = {each: name for name, each in _named_tensors(module)}
    inside = {
        f"{path}.{name}" if path else name: tensors[names[each]]
        for path, part in module.named_modules()
        for name, each in _named_tensors(part, recurse=False)
        if names[each] in tensors
    }
    return torch.func.functional_call(module, inside, tuple(args), dict(kwargs), tie_weights=False)


def written_buffers(module: torch.nn.Module, run: Callable[[dict[str, torch.Tensor]], Any]) -> list[str]:
    """The names of the buffers of ``module`` that ``run`` writes to, which is given copies to run with."""
    buffers = dict(module.named_buffers())
    copies = {name: each.clone() for name, each in buffers.items()}
    with torch.random.fork_rng(devices=[]):
        run(copies)
    # kernels of norms write to their statistics without a new version
    return [name for name, each in copies.items() if each._version or not torch.equal(each, buffers[name])]


def _named_tensors(module: torch.nn.Module, recurse: bool = True) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters(recurse=recurse)
    yield from module.named_buffers(recurse=recurse)
