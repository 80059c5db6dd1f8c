"""Optimizers of PyTorch on traced tensors: their state, their settings, and a step."""

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_torch.layer_names import Layer

Named = dict[str, torch.Tensor]


def of_state(name: str, kind: str) -> str:
    """The name of the variable of what the optimizer keeps for a parameter."""
    return f"{name}.{kind} of the optimizer"


def rates_of(optimizer: torch.optim.Optimizer) -> Named:
    """The learning rates, by the names of their variables."""
    wide = any(each.dtype == torch.float64 for group in optimizer.param_groups for each in group["params"])
    dtype = torch.float64 if wide else torch.float32
    groups = enumerate(optimizer.param_groups)
    return {f"learning rate {place}": torch.tensor(float(group["lr"]), dtype=dtype) for place, group in groups}


def settings_of(optimizer: torch.optim.Optimizer) -> list[Any]:
    """What the optimizer computes with, beside its tensors and its learning rate."""
    left_out = ("params", "lr", "initial_lr")
    return [{name: each for name, each in group.items() if name not in left_out} for group in optimizer.param_groups]


def begin(optimizer: torch.optim.Optimizer) -> None:
    """Make the state with which an optimizer begins, as its first step does."""
    for group in optimizer.param_groups:
        trained = [each for each in group["params"] if each.requires_grad]
        kept = [each.grad for each in trained]
        for each in trained:
            each.grad = torch.zeros_like(each)
        make_state = getattr(optimizer, "_init_group", None)
        if make_state is not None:
            make_state(group, *([] for _ in list(inspect.signature(make_state).parameters)[1:]))
        for each, gradient in zip(trained, kept, strict=True):
            each.grad = gradient
            if isinstance(optimizer, torch.optim.SGD) and group["momentum"]:
                _begin_momentum(optimizer, group, each)


def _begin_momentum(optimizer: torch.optim.SGD, group: Mapping[str, Any], parameter: torch.Tensor) -> None:
    if optimizer.state[parameter].get("momentum_buffer") is None:
        if group["dampening"]:
            raise CompileError("SGD with dampening does not dampen its first step; run that with optimizer.step()")
        optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)


@contextmanager
def on_tensors(
    optimizer: torch.optim.Optimizer, names: Mapping[torch.nn.Parameter, str], tensors: Named
) -> Iterator[list[torch.Tensor]]:
    """An optimizer of ``tensors`` in the place of its own; the parameters among them.

    Raises:
        CompileError: its state after a step has other parts, or numbers of Python that change.
    """
    state, groups = optimizer.state, optimizer.param_groups
    trained = {each: tensors[name].detach() for each, name in names.items()}
    traced: Any = defaultdict(dict)
    for each, name in names.items():
        traced[trained[each]] = {k: tensors.get(of_state(name, k), v) for k, v in state.get(each, {}).items()}
    before = [_plain_parts(each) for each in traced.values()]
    try:
        optimizer.state = traced
        optimizer.param_groups = [
            {**group, **_as_traced(group, tensors[f"learning rate {place}"])}
            | {"params": [trained[each] for each in group["params"]]}
            for place, group in enumerate(groups)
        ]
        yield list(trained.values())
        if [_plain_parts(traced[each]) for each in trained.values()] != before:
            raise CompileError(
                f"{type(optimizer).__name__} keeps state that is no tensor, or makes it in its first step; "
                "use an optimizer of torch.optim, or run its steps in PyTorch"
            )
        for each, name in names.items():
            tensors[name] = trained[each]
            tensors.update({of_state(name, k): v for k, v in traced[trained[each]].items() if _is_tensor(v)})
    finally:
        optimizer.state, optimizer.param_groups = state, groups


def take_step(
    optimizer: torch.optim.Optimizer, trained: list[torch.Tensor], before: Callable[[list[torch.Tensor]], Any] | None
) -> None:
    """A step on ``trained``, whose gradients are there; ``before`` may change these."""
    with _TensorsAsFactors():
        if before is not None:
            before(trained)
        step = inspect.unwrap(type(optimizer).step)
        with patch.dict(step.__globals__, _extremes_of_tensors()):
            Layer(type(optimizer).__name__, step)(optimizer)


def _as_traced(group: Mapping[str, Any], rate: torch.Tensor) -> dict[str, Any]:
    """Settings with which an optimizer asks for no value."""
    wanted = {"foreach": False, "fused": False, "capturable": True}
    return {name: each for name, each in wanted.items() if name in group} | {"lr": rate}


_SCALED = frozenset(f"{name}{end}" for name in ("add", "addcdiv", "addcmul", "sub") for end in ("", "_"))


def _extremes_of_tensors() -> dict[str, Any]:
    """``max`` and ``min`` as functions of tensors, too, of which Python's would ask which is larger."""

    def of_tensors(python: Any, torchs: Any) -> Any:
        def extreme(*values: Any, **options: Any) -> Any:
            if not any(map(_is_tensor, values)) or options or len(values) == 1:
                return python(*values, **options)
            return functools.reduce(torchs, map(torch.as_tensor, values))

        return extreme

    return {"max": of_tensors(max, torch.maximum), "min": of_tensors(min, torch.minimum)}


class _TensorsAsFactors(TorchFunctionMode):
    """Tensors as factors where PyTorch wants a number, and as what ``item`` gives."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.item:
            return args[0].reshape(())
        options = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        for factor in ("alpha", "value"):
            if name in _SCALED and isinstance(options.get(factor), torch.Tensor):  # x.add_(y, alpha=rate)
                args = (args[0], args[1] * options.pop(factor), *args[2:])
        return func(*args, **options)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _plain_parts(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: "tensor" if _is_tensor(each) else each for name, each in state.items()}
