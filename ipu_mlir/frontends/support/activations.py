"""Functions of neural networks that several rules use, in the form that does not overflow."""

import math
from typing import Any

import numpy as np

from ipu_mlir.tracing.elementwise import apply_unary_float


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def gelu(x: Any, by_tanh: bool) -> Any:
    """``x`` times the probability that a standard normal number is smaller; by tanh that is approximate."""
    if by_tanh:
        return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1.0 + apply_unary_float("erf", x * math.sqrt(0.5)))


def softmax(x: Any, axis: int = -1) -> Any:
    if 0 in x.shape:
        return x
    exponentials = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    if 0 in x.shape:
        return x
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    started: dict[str, Any] = {"initial": -np.inf} if 0 in x.shape else {}
    largest = np.max(x, axis=axis, keepdims=True, **started)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    found = np.log(np.sum(np.exp(x - largest), axis=axis, keepdims=True)) + largest
    return found if keepdims or not axis else np.squeeze(found, axis)
