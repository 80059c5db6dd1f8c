"""Optimizers that divide each element's gradient by its usual size: RMSprop, Adam, AdamW, LAMB."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.optimizers.descent import check_share
from ipu_mlir.optimizers.gradients import Where, shrinks
from ipu_mlir.optimizers.optimizer import At, Optimizer, per_tensor
from ipu_mlir.optimizers.schedules import Rate

Step = Callable[[Any, dict[str, Any], At], tuple[Any, dict[str, Any]]]


def rmsprop(
    rate: Rate, decay: float = 0.9, epsilon: float = 1e-8, *, momentum: float = 0.0, centred: bool = False
) -> Optimizer:
    """``g / (sqrt(mean of g * g) + epsilon)``, with a mean that forgets by ``decay`` at each step.

    Args:
        momentum: of these directions, as of ``sgd``.
        centred: whether the square of the mean of ``g`` is taken off: the root is then that of a variance.
    """
    check_share("decay", decay)
    check_share("momentum", momentum)

    def begin(zeros: Any) -> dict[str, Any]:
        names = ["square", *(["mean"] if centred else []), *(["momentum"] if momentum else [])]
        return dict.fromkeys(names, zeros)

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        following = {"square": _running(state["square"], g * g, decay)}
        variance = following["square"]
        if centred:
            following["mean"] = _running(state["mean"], g, decay)
            variance = variance - following["mean"] * following["mean"]
        direction = g / (np.sqrt(variance) + epsilon)
        if momentum:
            direction = following["momentum"] = momentum * state["momentum"] + direction
        return -at.rate * direction, following

    return per_tensor(rate, begin, step)


def adam(
    rate: Rate, decays: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-8, *, nesterov: bool = False
) -> Optimizer:
    """``mean of g / (sqrt(mean of g * g) + epsilon)``, each mean divided by the weights that it is made of.

    Args:
        decays: by how much the two means forget at each step.
        nesterov: whether the mean of ``g`` is that of one step ahead (Nadam).
    """
    upwards = _adam_step(decays, epsilon, nesterov)

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        direction, state = upwards(g, state, at)
        return -at.rate * direction, state

    return per_tensor(rate, _two_means, step, counted=True)


def adamw(
    rate: Rate,
    decays: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    *,
    weight_decay: float = 1e-4,
    where: Where | None = None,
) -> Optimizer:
    """As ``adam``, and each weight shrinks by ``rate * weight_decay`` of itself.

    Args:
        where: from the path and the tensor of a parameter to whether it shrinks; all do if not given.
    """
    return _with_decay(rate, _adam_step(decays, epsilon), weight_decay, where, trusted=False)


def lamb(
    rate: Rate,
    decays: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-6,
    *,
    weight_decay: float = 0.0,
    where: Where | None = None,
) -> Optimizer:
    """As ``adamw``, with each tensor's step as long as ``rate`` times the tensor.

    A tensor of zeros, and a step of zeros, is taken as it is.
    """
    return _with_decay(rate, _adam_step(decays, epsilon), weight_decay, where, trusted=True)


def _two_means(zeros: Any) -> dict[str, Any]:
    return {"mean": zeros, "square": zeros}


def _adam_step(both: tuple[float, float], epsilon: float, nesterov: bool = False) -> Step:
    """Adam's step at a rate of 1, upwards."""
    first, second = both
    check_share("decays[0]", first)
    check_share("decays[1]", second)

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        mean = _running(state["mean"], g, first)
        square = _running(state["square"], g * g, second)
        direction = mean / at.weights(first)
        if nesterov:
            ahead = first / -np.expm1((at.step + 1) * math.log(first))
            direction = ahead * mean + ((1 - first) / at.weights(first)) * g
        return direction / (np.sqrt(square / at.weights(second)) + epsilon), {"mean": mean, "square": square}

    return step


def _with_decay(rate: Rate, adam_step: Step, share: float, where: Where | None, trusted: bool) -> Optimizer:
    """Adam's step and a share of the weights; ``trusted``, as long as the tensor that it moves."""

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        direction, state = adam_step(g, state, at)
        if share and shrinks(where, at):
            direction = direction + share * at.tensor
        if trusted:
            length, own = np.sqrt(np.sum(direction * direction)), np.sqrt(np.sum(at.tensor * at.tensor))
            is_known = (length > 0) & (own > 0)
            direction = np.where(is_known, own / np.where(is_known, length, 1), 1) * direction
        return -at.rate * direction, state

    return per_tensor(rate, _two_means, step, counted=True)


def _running(mean: Any, value: Any, decay: float) -> Any:
    """The mean that forgets by ``decay``, with one more value."""
    return decay * mean + (1 - decay) * value
