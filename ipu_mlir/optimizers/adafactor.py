"""Adafactor: of the squares of a matrix's gradient, the means of rows and columns are kept alone."""

from typing import Any

import numpy as np

from ipu_mlir.optimizers.descent import check_share
from ipu_mlir.optimizers.gradients import Where, shrinks
from ipu_mlir.optimizers.optimizer import At, Optimizer, per_tensor
from ipu_mlir.optimizers.schedules import Rate


def adafactor(
    rate: Rate,
    *,
    smallest_factored: int = 128,
    power: float = 0.8,
    threshold: float | None = 1.0,
    scaled_by_parameter: bool = True,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    where: Where | None = None,
    epsilon: float = 1e-30,
) -> Optimizer:
    """``g`` over the root of the mean of its squares, of which rows and columns are kept instead of elements.

    Args:
        smallest_factored: a tensor whose two largest sizes are at least so large keeps means over these two.
        power: means forget by ``1 - number ** -power`` at a step.
        threshold: the root mean square that a tensor's step is shortened to, before the rate; None for no limit.
        scaled_by_parameter: whether a step is multiplied by the root mean square of the tensor, or 0.001 if that is
            smaller.
        momentum: the share of the mean of steps that stays; 0 for none.
        weight_decay: the share of a tensor that is taken off at each step, which the rate does not scale.
        where: from the path and the tensor of a parameter to whether it shrinks; all do if not given.

    Source: Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018.
    """
    check_share("momentum", momentum)

    def begin(zeros: Any) -> dict[str, Any]:
        axes = _factored(zeros.shape, smallest_factored)
        state = {"square": zeros} if axes is None else dict(zip(("rows", "columns"), _means(zeros, axes), strict=True))
        return state | ({"momentum": zeros} if momentum else {})

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        forget = 1 - at.step ** (-power)
        squares = g * g + epsilon
        axes = _factored(g.shape, smallest_factored)
        following: dict[str, Any] = {}
        if axes is None:
            following["square"] = forget * state["square"] + (1 - forget) * squares
            moved = g / np.sqrt(following["square"])
        else:
            found = _means(squares, axes)
            for name, mean in zip(("rows", "columns"), found, strict=True):
                following[name] = forget * state[name] + (1 - forget) * mean
            rows, columns = (np.expand_dims(following[n], a) for n, a in zip(("rows", "columns"), axes, strict=True))
            moved = g * np.sqrt(np.mean(rows, axis=axes[1], keepdims=True) / rows) / np.sqrt(columns)
        if threshold is not None:
            moved = moved / np.maximum(_root_mean_square(moved) / threshold, 1)
        moved = at.rate * moved
        if scaled_by_parameter:
            moved = moved * np.maximum(_root_mean_square(at.tensor), 1e-3)
        if momentum:
            moved = following["momentum"] = momentum * state["momentum"] + (1 - momentum) * moved
        if weight_decay and shrinks(where, at):
            moved = moved + weight_decay * at.tensor
        return -moved, following

    return per_tensor(rate, begin, step, counted=True)


def _factored(shape: tuple[int, ...], smallest: int) -> tuple[int, int] | None:
    """The axes that the means of rows and of columns are over: the largest one, and the one next to it in size.

    >>> _factored((256, 3, 512), 128), _factored((256, 64), 128)
    ((2, 0), None)
    """
    if len(shape) < 2:
        return None
    order = sorted(range(len(shape)), key=lambda axis: shape[axis])
    return (order[-1], order[-2]) if shape[order[-2]] >= smallest else None


def _means(squares: Any, axes: tuple[int, int]) -> list[Any]:
    return [np.mean(squares, axis=axis) for axis in axes]


def _root_mean_square(tensor: Any) -> Any:
    return np.sqrt(np.mean(tensor * tensor))
