"""Loss scaling: gradients of float16 that do not vanish, and steps that are left out where they overflow."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ipu_mlir.optimizers.optimizer import Optimizer, cast, computed_in
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.trees import tree_leaves, tree_map


@dataclass(frozen=True)
class LossScaled(Optimizer):
    """An optimizer of gradients of a loss that was multiplied by a number.

        slopes = ipu.grad(lambda w: optimizer.scaled(loss_of(w), state))(w)
        w, state = optimizer.apply(w, slopes, state)

    Its state is a dict: ``scale``, the number; ``since``, the steps since it changed; ``inner``, the state of the
    optimizer that it is made of.
    """

    def scaled(self, loss: Any, state: Any) -> Any:
        """The loss times the number: its gradients are what ``apply`` takes."""
        return loss * cast(state["scale"], loss.dtype)


def static_loss_scale(inner: Optimizer, scale: float) -> LossScaled:
    """``inner``, with a loss that is always multiplied by ``scale``. A gradient that is not finite is used as it is."""
    _check("static_loss_scale", "scale", scale, 0)

    def update(gradients: Any, state: Any, parameters: Any) -> tuple[Any, Any]:
        steps, after = inner.update(_divided(gradients, state["scale"]), state["inner"], parameters)
        return steps, {"scale": state["scale"], "inner": after}

    return LossScaled(lambda parameters: {"scale": np.float32(scale), "inner": inner.init(parameters)}, update)


def dynamic_loss_scale(
    inner: Optimizer,
    scale: float = 2.0**15,
    *,
    every: int = 2000,
    growth: float = 2.0,
    backoff: float = 0.5,
    smallest: float = 1.0,
) -> LossScaled:
    """``inner``, with a loss that is multiplied by a number as large as goes.

    Where a gradient is not finite, parameters and the state of ``inner`` stay as they are, and the number shrinks.

    Args:
        scale: the number to begin with.
        every: after so many steps with finite gradients, one after the other, the number grows.
        growth, backoff: the factors of growing and of shrinking.
        smallest: the number does not shrink below it.
    """
    for name, value, limit in (
        ("scale", scale, 0),
        ("every", every, 0),
        ("growth", growth, 1),
        ("backoff", backoff, 0),
    ):
        _check("dynamic_loss_scale", name, value, limit)
    if backoff >= 1:
        raise TraceValueError(f"dynamic_loss_scale: backoff={backoff!r}; give a number below 1")

    def init(parameters: Any) -> Any:
        return {"scale": np.float32(scale), "since": np.zeros((), np.int32), "inner": inner.init(parameters)}

    def update(gradients: Any, state: Any, parameters: Any) -> tuple[Any, Any]:
        slopes = _divided(gradients, state["scale"])
        finite = reduce(np.logical_and, [np.all(np.isfinite(each)) for each in tree_leaves(slopes)])
        steps, after = inner.update(slopes, state["inner"], parameters)
        since = state["since"] + np.int32(1)
        grows = since >= np.int32(every)
        grown = np.where(grows, state["scale"] * growth, state["scale"])
        shrunk = np.maximum(state["scale"] * backoff, smallest)
        return tree_map(lambda step: np.where(finite, step, np.zeros_like(step)), steps), {
            "scale": np.where(finite, np.where(np.isfinite(grown), grown, state["scale"]), shrunk),
            "since": np.where(finite & ~grows, since, np.int32(0)),
            "inner": tree_map(lambda old, new: np.where(finite, new, old), state["inner"], after),
        }

    return LossScaled(init, update)


def _divided(gradients: Any, scale: Any) -> Any:
    """The gradients of the loss itself, of float32 at least, so that small ones are not lost again."""
    return tree_map(lambda g: cast(g, computed_in(g)) / cast(scale, computed_in(g)), gradients)


def _check(optimizer: str, name: str, value: Any, limit: float) -> None:
    if not (value > limit and np.isfinite(value)):
        raise TraceValueError(f"{optimizer}: {name}={value!r}; give a number above {limit}")
