"""Ops of ONNX that the reference implementation computes in place or by asking for values, as functions of NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.frontends.support.activations import log_softmax

_LEAST = np.float32(-np.inf)


@dataclass(frozen=True)
class OnnxRule:
    """A function that takes the inputs of ops in order, and attributes by name, with ONNX's defaults.

    Beside the attributes it gets ``outputs``, how many results the node names, ``types``, of each input its type if it
    is one of 2 or 4 bits, ``opset``, the version of its domain, and ``definition``, ONNX's reference implementation as
    a function of the inputs. It gives the result, a tuple of several, or ``NotImplemented`` where that can be traced.

    Attributes:
        always: it is asked where all inputs are known, too.
        alone: always, and ONNX's reference implementation, which refuses some nodes, is not made.
    """

    names: tuple[str, ...]
    domain: str
    function: Callable[..., Any]
    always: bool = False
    alone: bool = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


def rule(
    *names: str, domain: str = "", always: bool = False, alone: bool = False
) -> Callable[[Callable[..., Any]], OnnxRule]:
    """Make a function the rule of ops."""
    return lambda function: OnnxRule(names, domain, function, always or alone, alone)


@rule("NegativeLogLikelihoodLoss")
def _negative_log_likelihood(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int | None = None, reduction: Any = "mean", **_: Any
) -> Any:
    """The share of each target's class in ``x``, which has logarithms along dimension 1."""
    reduction = reduction.decode() if isinstance(reduction, bytes) else reduction
    classes = x.shape[1]
    is_own = np.expand_dims(target, 1) == np.arange(classes).reshape((1, -1, *(1,) * (x.ndim - 2)))
    each = -np.sum(np.where(is_own, x, np.zeros_like(x)), axis=1)
    shares = np.ones_like(each)
    if weight is not None:
        weights = np.reshape(weight, (1, -1, *(1,) * (x.ndim - 2)))
        shares = np.sum(np.where(is_own, weights, np.zeros_like(weights)), axis=1)
    if ignore_index is not None:
        shares = np.where(target == ignore_index, np.zeros_like(shares), shares)
    each = each * shares
    if reduction == "none":
        return each
    total = np.sum(each)
    return total if reduction == "sum" else total / np.sum(shares)


@rule("SoftmaxCrossEntropyLoss")
def _softmax_cross_entropy(x: Any, target: Any, weight: Any = None, **settings: Any) -> Any:
    logarithms = log_softmax(x, 1)
    return _negative_log_likelihood(logarithms, target, weight, **settings), logarithms


@rule("BitCast")
def _bit_cast(x: Any, *, to: int, **_: Any) -> Any:
    from onnx.helper import tensor_dtype_to_np_dtype

    return _with_bits(x, np.dtype(tensor_dtype_to_np_dtype(to)))


def _with_bits(x: Any, dtype: np.dtype[Any]) -> Any:
    """The bits of ``x`` as numbers of another type of the same size."""
    from ipu_mlir.dialects.support.bindings import upstream
    from ipu_mlir.specs.tensor_types import element_type
    from ipu_mlir.tracing.elementwise import elementwise

    if x.dtype.itemsize != dtype.itemsize:
        raise TypeError(f"BitCast of {x.dtype} to {dtype}: they have different sizes")
    if "b" in (x.dtype.kind, dtype.kind):  # a byte that is 0 or 1
        return x.astype(np.uint8).astype(dtype)
    kinds = [each.kind in "iu" for each in (x.dtype, dtype)]
    if all(kinds):
        return x.astype(dtype)
    cast = upstream("arith").bitcast
    return elementwise(x.program, "bitcast", [x], [x.dtype], dtype, lambda scalar: cast(element_type(dtype), scalar))


@rule("ScatterElements", "Scatter")
def _scatter_elements(x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: Any = "none", **_: Any) -> Any:
    reduction = reduction.decode() if isinstance(reduction, bytes) else reduction or "none"
    x = traced_like(x, indices, updates)
    axis = axis or 0
    rank = len(indices.shape)
    places = tuple(
        indices if each == axis % rank else np.arange(size).reshape([-1 if d == each else 1 for d in range(rank)])
        for each, size in enumerate(indices.shape)
    )
    how = {"none": "set", "add": "add", "mul": "multiply", "min": "min", "max": "max"}[reduction]
    return getattr(x.at[places], how)(updates)


@rule("ScatterND")
def _scatter_nd(x: Any, indices: Any, updates: Any, *, reduction: Any = "none", **_: Any) -> Any:
    reduction = reduction.decode() if isinstance(reduction, bytes) else reduction or "none"
    x = traced_like(x, indices, updates)
    places = tuple(indices[..., each] for each in range(indices.shape[-1]))
    how = {"none": "set", "add": "add", "mul": "multiply", "min": "min", "max": "max"}[reduction]
    return getattr(x.at[places], how)(updates)


def known(op: str, value: Any) -> np.ndarray:
    """An input that decides about sizes.

    Raises:
        TypeError: it is traced.
    """
    if hasattr(value, "program"):
        raise TypeError(f"{op} has sizes that come when the program runs; give the input in args")
    return np.asarray(value)


def traced_like(x: Any, *others: Any) -> Any:
    """``x`` as a traced tensor, as at least one of ``others`` is."""
    owner = next(each.program for each in (x, *others) if hasattr(each, "program"))
    return x if hasattr(x, "program") else owner.constant(np.ascontiguousarray(x).reshape(x.shape))


@rule("ReverseSequence")
def _reverse_sequence(x: Any, lengths: Any, *, batch_axis: int = 1, time_axis: int = 0, **_: Any) -> Any:
    steps = np.arange(x.shape[time_axis])
    ends = np.reshape(lengths, (-1, 1))
    places = np.where(steps < ends, ends - 1 - steps, steps)  # by batch and time
    places = np.swapaxes(places, 0, 1) if time_axis < batch_axis else places
    return np.take_along_axis(x, np.reshape(places, (*places.shape, *(1,) * (len(x.shape) - 2))), time_axis)


@rule("Det")
def _det(x: Any, **_: Any) -> Any:
    return np.linalg.det(x)


def _optimizer(update: Callable[..., Any], states: int) -> Callable[..., Any]:
    """The rule of an optimizer, for any number of tensors with their gradients and ``states`` of each."""

    def apply(rate: Any, count: Any, *tensors: Any, **settings: Any) -> Any:
        number = len(tensors) // (2 + states)
        groups = [tensors[place::number] for place in range(number)]
        made = [update(rate, count, *group, **settings) for group in groups]
        return tuple(each for results in zip(*made, strict=True) for each in results)

    return apply


def _momentum(
    rate: Any, count: Any, x: Any, gradient: Any, v: Any, *, alpha: float, beta: float, mode: Any,
    norm_coefficient: float, **_: Any,
) -> Any:  # fmt: skip
    gradient = norm_coefficient * x + gradient
    v = alpha * v + np.where(count > 0, beta, 1.0).astype(x.dtype) * gradient
    is_nesterov = (mode.decode() if isinstance(mode, bytes) else mode) == "nesterov"
    return x - rate * (gradient + alpha * v if is_nesterov else v), v


def _adam(
    rate: Any, count: Any, x: Any, gradient: Any, v: Any, h: Any, *, alpha: float, beta: float, epsilon: float,
    norm_coefficient: float, norm_coefficient_post: float, **_: Any,
) -> Any:  # fmt: skip
    gradient = norm_coefficient * x + gradient
    v, h = alpha * v + (1 - alpha) * gradient, beta * h + (1 - beta) * gradient * gradient
    times = count.astype(x.dtype)
    adjusted = rate * np.sqrt(1 - np.power(beta + np.zeros_like(times), times))
    adjusted = adjusted / (1 - np.power(alpha + np.zeros_like(times), times))
    rate = np.where(count > 0, adjusted, rate)
    return (1 - norm_coefficient_post) * (x - rate * v / (np.sqrt(h) + epsilon)), v, h


def _adagrad(
    rate: Any, count: Any, x: Any, gradient: Any, h: Any, *, decay_factor: float, epsilon: float,
    norm_coefficient: float, **_: Any,
) -> Any:  # fmt: skip
    rate = rate / (1 + count.astype(x.dtype) * decay_factor)
    gradient = norm_coefficient * x + gradient
    h = h + gradient * gradient
    return x - rate * gradient / (np.sqrt(h) + epsilon), h


_OPTIMIZERS = tuple(
    rule(name, domain=domain)(_optimizer(update, states))
    for domain in ("ai.onnx.preview.training", "ai.onnx.training")
    for name, update, states in (("Momentum", _momentum, 1), ("Adam", _adam, 2), ("Adagrad", _adagrad, 1))
)
