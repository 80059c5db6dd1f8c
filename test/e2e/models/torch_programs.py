"""Modules of PyTorch as programs: their results, and a step of training."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from models.entry import FORWARD, Entry, Program
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value
from torch.utils import _pytree as pytree

Inputs = Sequence[Any] | Mapping[str, Any]


def torch_entry(
    name: str, packages: Sequence[str], build: Callable[[], nn.Module], inputs: Callable[[], Inputs], **rest: Any
) -> Entry:
    """An entry for a module.

    Args:
        build: makes the module, with random parameters.
        inputs: makes its arguments: positional ones, or those by name.
        rest: fields of ``Entry``; ``trains``, whether norms use the statistics of the batch in the step of training;
            ``step_inputs``, where that has other arguments.
    """
    trains, of_step = rest.pop("trains", False), rest.pop("step_inputs", inputs)

    def make(kind: str) -> Program:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        module = build()
        _fill(module)
        module.train(trains and kind != FORWARD)
        given = inputs() if kind == FORWARD else of_step()
        args, kwargs = ((), dict(given)) if isinstance(given, Mapping) else (tuple(given), {})
        return _forward(module, args, kwargs) if kind == FORWARD else _step(module, args, kwargs)

    return Entry(name, tuple(packages), make, **rest)


def _fill(module: nn.Module) -> None:
    """Give parameters that are all zeros, and means and variances of norms, numbers with which errors show."""
    with torch.no_grad():
        for name, each in [*module.named_parameters(), *module.named_buffers()]:
            if each.is_floating_point() and each.dim() and not bool(each.any()):
                each.normal_(0, 0.05)
            elif name.endswith("running_var"):
                each.uniform_(0.5, 1.5)


def _forward(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Program:
    with torch.no_grad():
        return Program(module, args, kwargs, flat(module(*args, **kwargs)), flat)


def _step(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Program:
    """The loss, the gradients, and the statistics after the step."""
    parameters = {name: each.detach() for name, each in module.named_parameters() if each.requires_grad}
    statistics = {name: each for name, each in module.named_buffers() if name.rpartition(".")[2] in _CHANGING}

    def loss(parameters: Any, statistics: Any, *args: Any, **kwargs: Any) -> Tensor:
        results = functional_call(module, {**parameters, **statistics}, args, kwargs)
        if isinstance(getattr(results, "loss", None), Tensor):
            return results.loss
        floats = [each for each in pytree.tree_leaves(results) if isinstance(each, Tensor) and each.is_floating_point()]
        return sum((each + 0.1).square().mean() for each in floats)

    def step(parameters: Any, statistics: Any, *args: Any, **kwargs: Any) -> Any:
        statistics = {name: each.clone() for name, each in statistics.items()}
        gradients, value = grad_and_value(loss)(parameters, statistics, *args, **kwargs)
        return value, gradients, statistics

    given = (parameters, statistics, *args)
    return Program(step, given, kwargs, flat(step(*given, **kwargs)), flat)


_CHANGING = ("running_mean", "running_var", "num_batches_tracked")


def flat(nested: Any) -> list[np.ndarray]:
    """The tensors among leaves, as arrays."""
    return [each.detach().numpy() for each in pytree.tree_leaves(nested) if isinstance(each, Tensor)]
