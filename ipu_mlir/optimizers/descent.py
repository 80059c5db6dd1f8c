"""Gradient descent, with and without momentum."""

from typing import Any

from ipu_mlir.optimizers.optimizer import At, Optimizer, per_tensor
from ipu_mlir.optimizers.schedules import Rate
from ipu_mlir.tracing.errors import TraceValueError


def sgd(rate: Rate, momentum: float = 0.0, *, nesterov: bool = False) -> Optimizer:
    """Down the gradient: ``w - rate * m`` with ``m = momentum * m + g``.

    Args:
        rate: the learning rate, or a schedule of it.
        momentum: the share of the direction before that stays; 0 for none, and no state.
        nesterov: whether to take the step from where the momentum leads: ``momentum * m + g`` in place of ``m``.

    Raises:
        ValueError: ``momentum`` is not from 0 to less than 1, or it is 0 and ``nesterov`` is asked for.
    """
    check_share("momentum", momentum)
    if nesterov and not momentum:
        raise TraceValueError("nesterov=True is a form of momentum; give momentum=0.9, or another number above 0")

    def step(g: Any, state: dict[str, Any], at: At) -> tuple[Any, dict[str, Any]]:
        if not momentum:
            return -at.rate * g, state
        mean = momentum * state["momentum"] + g
        return -at.rate * (momentum * mean + g if nesterov else mean), {"momentum": mean}

    return per_tensor(rate, lambda zeros: {"momentum": zeros} if momentum else {}, step)


def check_share(name: str, value: float) -> None:
    """Refuse what is not from 0 to less than 1.

    Raises:
        TraceValueError: it is not.
    """
    if not 0 <= value < 1:
        raise TraceValueError(f"{name}={value!r}; it is a number from 0 to less than 1")
