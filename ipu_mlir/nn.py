"""Functions of neural networks, on traced tensors and on arrays alike.

Each is NumPy code, in the form that does not overflow.
"""

import math
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.control.gradients import stop_gradient
from ipu_mlir.tracing.elementwise import apply_unary_float
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.windows import convolution, max_pool, mean_pool
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.index_space import one_hot as _traced_one_hot

__all__ = [
    "convolution",
    "cross_entropy",
    "ctc_loss",
    "erf",
    "gelu",
    "layer_norm",
    "log_softmax",
    "logsumexp",
    "max_pool",
    "mean_pool",
    "one_hot",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
]


def relu(x: Any) -> Any:
    """``max(x, 0)``; NaN stays NaN."""
    return np.maximum(x, 0)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``; where exp overflows to infinity, that is 0, as it should be."""
    return 1.0 / (1.0 + np.exp(-x))


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``."""
    return x * sigmoid(x)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``."""
    return np.logaddexp(x, 0.0)


def gelu(x: Any, *, approximate: bool = True) -> Any:
    """``x`` times the probability that a standard normal number is smaller.

    Args:
        approximate: by tanh, as most models are trained; False is the exact form by erf.
    """
    if not approximate:
        return 0.5 * x * (1.0 + erf(x * math.sqrt(0.5)))
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def erf(x: Any) -> Any:
    """The error function."""
    if isinstance(x, Symbol):
        return apply_unary_float("erf", x)
    values = np.asarray(x)
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.vectorize(math.erf, otypes=[dtype])(values)


def logsumexp(x: Any, axis: int = -1, *, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` along ``axis``; the largest element is taken out first, unless it is infinite."""
    largest = _largest(x, axis)
    largest = np.where(np.isfinite(largest), largest, np.zeros_like(largest))
    with np.errstate(divide="ignore"):  # the logarithm of no more than zeros is meant
        total = np.log(np.sum(np.exp(x - largest), axis=axis, keepdims=True)) + largest
    return total if keepdims else np.squeeze(total, axis=axis)


def softmax(x: Any, axis: int = -1) -> Any:
    """``exp(x)`` over its sum along ``axis``; the largest element is taken out first."""
    exponentials = np.exp(x - _largest(x, axis))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of ``softmax``, without its rounding to zero."""
    shifted = x - _largest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def _largest(x: Any, axis: int) -> Any:
    """The largest elements along ``axis``, for functions whose results do not depend on them: neither do gradients."""
    return stop_gradient(np.max(x, axis=axis, keepdims=True))


def layer_norm(x: Any, scale: Any = None, bias: Any = None, *, axis: Any = -1, epsilon: float = 1e-5) -> Any:
    """``x`` with mean 0 and variance 1 along ``axis``, times ``scale`` plus ``bias``.

    Args:
        scale, bias: broadcast against ``x``; None leaves them out.
        epsilon: added to the variance.
    """
    centred = x - np.mean(x, axis=axis, keepdims=True)
    variance = np.mean(centred * centred, axis=axis, keepdims=True)
    normal = centred / np.sqrt(variance + epsilon)
    scaled = normal if scale is None else normal * scale
    return scaled if bias is None else scaled + bias


def one_hot(labels: Any, classes: int, dtype: Any = np.float32) -> Any:
    """1 at the label and 0 elsewhere, along a new last dimension of ``classes``.

    A label outside ``0 .. classes - 1`` gives zeros only.

    Raises:
        TypeError: the labels are no integers.
    """
    if np.result_type(labels).kind not in "iu":
        raise TraceTypeError(f"one_hot of {labels!r}: labels have to be integers; use astype(np.int32)")
    if isinstance(labels, Symbol):
        return _traced_one_hot(labels, classes, np.dtype(dtype))
    return (np.asarray(labels)[..., None] == np.arange(classes)).astype(dtype)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all rows of ``-log softmax(logits)`` at the label.

    Args:
        logits: shape ``(..., classes)``.
        labels: integers of shape ``(...)``, or probabilities of shape ``(..., classes)`` (one-hot labels are such).
            What has no share in a label may have a logit of ``-inf``.

    Raises:
        ValueError: labels of another shape.
    """
    shape, given = np.shape(logits), np.shape(labels)
    is_index = np.result_type(labels).kind in "iu" and given == shape[:-1]
    if not is_index and given != shape:
        raise TraceValueError(
            f"cross_entropy of logits of shape {shape}: labels of shape {given} are neither "
            f"integers of shape {shape[:-1]} nor probabilities of shape {shape}"
        )
    log_probability = log_softmax(logits)
    weights = one_hot(labels, shape[-1], np.result_type(log_probability)) if is_index else labels
    shared = np.where(weights != 0, log_probability, np.zeros_like(log_probability))
    return -np.mean(np.sum(shared * weights, axis=-1))


def ctc_loss(log_probabilities: Any, labels: Any, label_lengths: Any, lengths: Any, *, blank: int = 0) -> Any:
    """The negative logarithm of the probability of each sequence of labels (connectionist temporal classification).

    A path of a class at each time stands for the labels that are left without repetitions and then without blanks.

    Args:
        log_probabilities: shape ``(..., time, classes)``, as of ``log_softmax``, of f32 or f64.
        labels: integers of shape ``(..., labels)``, none of which is the blank.
        label_lengths: how many labels each sequence has, shape ``(...)``.
        lengths: how many times each sequence has, shape ``(...)``.
        blank: the class that stands for no label.

    Returns:
        Shape ``(...)``; infinite where a sequence has too few times for its labels, and then its gradient is NaN.

    Raises:
        ValueError: shapes or a blank that do not fit.
        TypeError: element types that do not fit.
    """
    scores, stack = np.shape(log_probabilities), np.shape(lengths)
    if scores[:-2] != stack or np.shape(label_lengths) != stack or np.shape(labels)[:-1] != stack or 0 in scores[-2:]:
        raise TraceValueError(
            f"ctc_loss of log_probabilities of shape {scores}, labels {np.shape(labels)}, label_lengths "
            f"{np.shape(label_lengths)} and lengths {stack}; they are (..., time, classes), (..., labels), (...), (...)"
        )
    if not 0 <= blank < scores[-1]:
        raise TraceValueError(f"ctc_loss with blank {blank}: it is one of {scores[-1]} classes, from 0")
    if np.result_type(log_probabilities) not in (np.float32, np.float64):
        raise TraceTypeError(f"ctc_loss of {np.result_type(log_probabilities)}: use astype(np.float32)")
    numbers = (labels, label_lengths, lengths)
    if any(np.result_type(each).kind not in "iu" for each in numbers):
        raise TraceTypeError("ctc_loss with labels or lengths that are no integers: use astype(np.int32)")
    operands = [
        log_probabilities,
        *(each.astype(np.int32) if hasattr(each, "astype") else np.int32(each) for each in numbers),
    ]
    traced = next((each for each in operands if isinstance(each, Symbol)), None)
    blanks = np.full(stack, blank, np.int32)
    if traced is None:
        found = codelet_named("ctc_loss").vectorised
        assert found is not None, "codelets on stacks have a fast form"
        return found(*map(np.asarray, (*operands, blanks)))[0]
    program = traced.program
    whole = [each if isinstance(each, Symbol) else program.constant(np.asarray(each)) for each in (*operands, blanks)]
    return apply_codelet("ctc_loss", "ctc_loss", *whole, types=[whole[0].dtype])[0]
