"""Ops of ONNX that had another meaning in older opsets, which the reference implementation has not."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.support.activations import log_softmax, softmax


def _over_classes(function: Callable[[Any, int], Any]) -> Callable[..., Any]:
    """The rule of a function along an axis, which was along all from that on before opset 13."""

    def apply(x: Any, *, axis: int | None = None, opset: int, **_: Any) -> Any:
        if opset >= 13 or not x.shape:
            return function(x, -1 if axis is None else axis)
        first = 1 if axis is None else axis
        rows = math.prod(x.shape[: first + len(x.shape) if first < 0 else first])
        return np.reshape(function(np.reshape(x, (rows, -1)), -1), x.shape)

    return apply


def _hardmax(x: Any, axis: int) -> Any:
    along, rank = axis % len(x.shape), len(x.shape)
    places = np.arange(x.shape[along]).reshape([-1 if each == along else 1 for each in range(rank)])
    return (np.expand_dims(np.argmax(x, axis=along), along) == places).astype(x.dtype)


_OF_CLASSES = tuple(
    rule(name, always=True)(_over_classes(function))
    for name, function in (("Softmax", softmax), ("LogSoftmax", log_softmax), ("Hardmax", _hardmax))
)


@rule("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", always=True)
def _from_an_axis_on(x: Any, y: Any, *, axis: int | None = None, opset: int, definition: Any, **_: Any) -> Any:
    """Before opset 7 the second operand had the dimensions of the first from an axis on."""
    if opset < 7 and axis is not None and y.shape:
        behind = len(x.shape) - axis % len(x.shape) - len(y.shape)
        return definition(x, np.reshape(y, (*y.shape, *[1] * behind)))
    return NotImplemented


@rule("BatchNormalization", always=True)
def _batch_normalization(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *, opset: int, outputs: int, epsilon: float | None = 1e-5,
    momentum: float | None = 0.9, training_mode: int | None = 0, is_test: int | None = 1, **_: Any,
) -> Any:  # fmt: skip
    """By given statistics, or in training by those of ``x``: so before opset 14 where more results are asked for."""
    is_training = training_mode if opset >= 14 else outputs > 1 and (opset > 6 or not is_test)
    epsilon, momentum = 1e-5 if epsilon is None else epsilon, 0.9 if momentum is None else momentum
    own = (mean, variance)
    if is_training:
        axes = tuple(each for each in range(len(x.shape)) if each != 1)
        own = (np.mean(x, axis=axes), np.var(x, axis=axes))
    parts = [np.reshape(each, (-1, *[1] * (len(x.shape) - 2))) for each in (scale, bias, *own)]
    found = (parts[0] * (x - parts[2]) / np.sqrt(parts[3] + np.float32(epsilon)) + parts[1]).astype(x.dtype)
    if not is_training:
        return found
    running = [before * momentum + now * (1 - momentum) for before, now in zip((mean, variance), own, strict=True)]
    return found, *running, *(own if outputs > 3 else ())
