"""``Optimizer``: from gradients to better parameters, as two pure functions; and optimizers put together of parts."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ipu_mlir.optimizers.schedules import Rate, checked_rate, number_at
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.structure import flatten, paths, unflatten
from ipu_mlir.tracing.trees import beside, tree_map


@dataclass(frozen=True)
class Optimizer:
    """A rule for the next parameters, on trees of tensors: traced ones and arrays alike.

        state = optimizer.init(parameters)
        parameters, state = optimizer.apply(parameters, gradients, state)

    Attributes:
        init: from parameters to the state to begin with, a tree; () if there is none.
        update: from gradients, state and parameters to the steps, which are added to the parameters, and the next
            state. Gradients are nested as the parameters; None stands for that of a tensor that has no gradient.
    """

    init: Callable[[Any], Any]
    update: Callable[[Any, Any, Any], tuple[Any, Any]]

    def apply(self, parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        """The next parameters and the next state.

        Raises:
            TypeError, ValueError: gradients are nested otherwise than parameters, or of other shapes; names the place.
        """
        steps, state = self.update(gradients, state, parameters)
        return tree_map(_moved, parameters, steps), state


def _moved(parameter: Any, step: Any) -> Any:
    return parameter if step is None else parameter + cast(step, parameter.dtype)


def chain(*parts: Optimizer) -> Optimizer:
    """An optimizer in which the steps of each part are the gradients of the next one.

    chain(clip_by_global_norm(1.0), adam(1e-3))
    """

    def init(parameters: Any) -> Any:
        return tuple(part.init(parameters) for part in parts)

    def update(gradients: Any, state: Any, parameters: Any) -> tuple[Any, Any]:
        if not isinstance(state, tuple) or len(state) != len(parts):
            raise TraceTypeError(f"the state of a chain of {len(parts)} optimizers is a tuple of so many; use its init")
        states = []
        for part, own in zip(parts, state, strict=True):
            gradients, own = part.update(gradients, own, parameters)
            states.append(own)
        return gradients, tuple(states)

    return Optimizer(init, update)


class Numbers:
    """The numbers that all tensors of a step share, by the type that they are computed in."""

    def __init__(self, count: Any, rate: Rate) -> None:
        self.rate = cache(lambda dtype: number_at(rate, count, dtype))
        self.step = cache(lambda dtype: cast(count, dtype) + 1)
        self.weights = cache(lambda decay, dtype: -np.expm1(self.step(dtype) * math.log(decay)))


@dataclass(frozen=True)
class At:
    """The tensor that a step is made for.

    Attributes:
        path: where it stands in the parameters: ``parameters['w']``.
        tensor: its value, of the type that is computed in.
        numbers: what it shares with the others.
    """

    path: str
    tensor: Any
    numbers: Numbers

    @property
    def rate(self) -> Any:
        """The learning rate of this step."""
        return self.numbers.rate(self.tensor.dtype)

    @property
    def step(self) -> Any:
        """The number of this step, from 1; of an optimizer that counts."""
        return self.numbers.step(self.tensor.dtype)

    def weights(self, decay: float) -> Any:
        """``1 - decay ** step``: the weights that a mean is made of which has begun with 0 and forgets by ``decay``."""
        return self.numbers.weights(decay, self.tensor.dtype)


def per_tensor(
    rate: Rate,
    begin: Callable[[Any], dict[str, Any]],
    step: Callable[[Any, dict[str, Any], At], tuple[Any, dict[str, Any]]],
    *,
    counted: bool = False,
) -> Optimizer:
    """The optimizer that does the same with each tensor, and keeps a dict of tensors for it.

    It computes, and keeps its state, in float32 where a parameter has fewer bits. Tensors of integers have no state.

    Args:
        rate: the learning rate, or a schedule of it.
        begin: from zeros of a parameter's shape to its state.
        step: from the gradient of a tensor, its state, and the tensor, to what is added to it, and its next state.
        counted: whether ``step`` asks for its number.
    """
    rate = checked_rate(rate)
    has_count = counted or callable(rate)

    def init(parameters: Any) -> Any:
        state: dict[str, Any] = {"count": np.zeros((), np.int32)} if has_count else {}
        return state | {"tensors": tree_map(lambda each: begin(_zeros(each)) if is_float(each) else {}, parameters)}

    def update(gradients: Any, state: Any, parameters: Any) -> tuple[Any, Any]:
        structure, leaves = flatten(parameters, "parameters")
        slopes = beside(structure, gradients, "gradients")
        states = beside(structure, state["tensors"], "state['tensors']")
        numbers = Numbers(state["count"] if has_count else None, rate)
        steps: list[Any] = [None] * len(leaves)
        for place, (path, tensor, slope) in enumerate(zip(paths(structure), leaves, slopes, strict=True)):
            if slope is not None:
                check_gradient(path, tensor, slope)
                dtype = computed_in(tensor)
                at = At(path, cast(tensor, dtype), numbers)
                steps[place], states[place] = step(cast(slope, dtype), states[place], at)
        following: dict[str, Any] = {"count": state["count"] + np.int32(1)} if has_count else {}
        following["tensors"] = unflatten(structure, iter(states))
        return unflatten(structure, iter(steps)), following

    return Optimizer(init, update)


def is_float(tensor: Any) -> bool:
    """True if a tensor is of real floats: it can have a gradient that optimizers know what to do with."""
    return kind_of(tensor.dtype) == "f"


def computed_in(parameter: Any) -> np.dtype[Any]:
    """The element type that an optimizer computes in: that of the parameter, or float32 if that has fewer bits."""
    return np.dtype(parameter.dtype) if parameter.dtype.itemsize >= 4 else np.dtype(np.float32)


def cast(tensor: Any, dtype: np.dtype[Any]) -> Any:
    """``tensor`` as one of ``dtype``."""
    return tensor if tensor.dtype == dtype else tensor.astype(dtype)


def _zeros(parameter: Any) -> np.ndarray:
    return np.zeros(parameter.shape, computed_in(parameter))


def check_gradient(path: str, parameter: Any, gradient: Any) -> None:
    """Refuse what cannot be the gradient of the parameter at ``path``.

    Raises:
        TraceTypeError: one of the two is no tensor of floats. TraceValueError: their shapes differ.
    """
    if not hasattr(gradient, "dtype"):
        raise TraceTypeError(f"the gradient of {path} is {gradient!r}; give a tensor, or None if it has none")
    if not (is_float(parameter) and is_float(gradient)):
        raise TraceTypeError(
            f"{path} is of {parameter.dtype} and its gradient of {gradient.dtype}; only real floats have gradients here"
        )
    if parameter.shape != gradient.shape:
        raise TraceValueError(
            f"{path} has shape {parameter.shape} and its gradient {gradient.shape}; give one of the same shape"
        )
