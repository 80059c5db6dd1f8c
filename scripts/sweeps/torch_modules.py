"""Modules of PyTorch on the inputs that its own tests have of them: as they infer, as they train, and gradients."""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from outcomes import TARGET, Case, NotTaken
from torch.nn import Module
from torch.testing._internal.common_modules import module_db
from torch.utils import _pytree as pytree

import ipu_mlir as ipu

_SHARES = (0.5, 0.0)
"""Where inputs stand that are taken, in the list of all of them."""
Run = Callable[..., list[torch.Tensor]]


def module_cases(run: Run, gradient: Callable[..., Any], arrays: Callable[..., Any]) -> list[Case]:
    """Of every module up to two inputs.

    Args:
        run: gives the tensors of a call.
        gradient: makes a function that computes gradients, for the arguments in its attribute ``tensors``.
        arrays: of tensors.
    """
    of_module = partial(_both, run, arrays), partial(_gradients, run, gradient, arrays)
    return [case for info in module_db for case in _cases_of(info, *of_module)]


def _cases_of(info: Any, both: Callable[..., Any], gradients: Callable[..., Any]) -> Iterator[Case]:
    name = info.name.removeprefix("nn.")
    for place, share in enumerate(_SHARES):
        shares = _SHARES[: place + 1]
        for how in ("inference", "training"):
            yield Case(f"{name}  {share}  {how}", name, "torch.nn", partial(both, info, shares, how == "training"))
        yield Case(f"{name}  {share}  gradient", name, "torch.nn", partial(gradients, info, shares), 5, True)


def _made(info: Any, shares: tuple[float, ...], training: bool) -> tuple[Module, tuple[Any, ...], dict[str, Any]]:
    """A module and its input at the last one of ``shares``, unless one before is the same."""
    torch.manual_seed(0)
    inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training)
    *before, place = (min(int(len(inputs) * share), len(inputs) - 1) for share in shares)
    if place in before:
        raise NotTaken("another case has this input")
    chosen = inputs[place]
    module = info.module_cls(*chosen.constructor_input.args, **chosen.constructor_input.kwargs)
    if chosen.forward_input is None or any(isinstance(x, torch.nn.UninitializedParameter) for x in module.parameters()):
        raise NotTaken("it has no input, or no parameters before the first")
    return module.train(training), chosen.forward_input.args, chosen.forward_input.kwargs


def _agreed(run: Run, module: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """What PyTorch gives, twice."""
    try:
        one, other = (run(copy.deepcopy(module), args, kwargs) for _ in range(2))
    except Exception as error:
        raise NotTaken(f"{type(error).__name__}: {error}") from error
    if not all(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) for a, b in zip(one, other, strict=True)):
        raise NotTaken("draws random numbers")
    return one


def _both(run: Run, arrays: Any, info: Any, shares: tuple[float, ...], training: bool) -> Any:
    module, args, kwargs = _made(info, shares, training)
    with torch.no_grad():
        expected = _agreed(run, module, args, kwargs)
    found = run(ipu.compile(copy.deepcopy(module), args=args, kwargs=kwargs, target=TARGET), args, kwargs)
    return arrays(found), arrays(expected)


def _gradients(run: Run, gradient: Any, arrays: Any, info: Any, shares: tuple[float, ...]) -> Any:
    """Of parameters and the first input, of a module that infers, since norms that train change their statistics."""
    module, args, kwargs = _made(info, shares, False)
    if not args:
        raise NotTaken("its input is given by name")
    given = pytree.tree_map(_differentiable, (dict(module.named_parameters()), args[0]))

    def call(parameters: dict[str, torch.Tensor], first: Any) -> Any:
        return torch.func.functional_call(module, parameters, (first, *args[1:]), kwargs)

    function = gradient(call, given, {})
    expected = _agreed(run, function, function.tensors, {})
    found = run(ipu.compile(function, args=function.tensors, target=TARGET), function.tensors, {})
    return arrays(found), arrays(expected)


def _differentiable(leaf: Any) -> Any:
    is_float = isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    return leaf.detach().clone().requires_grad_() if is_float else leaf
