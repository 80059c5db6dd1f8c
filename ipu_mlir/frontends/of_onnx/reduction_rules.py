"""Reductions of ONNX, and what is spread over dimensions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.support.activations import logsumexp
from ipu_mlir.specs.tensor_types import limits_of


@rule("Expand")
def _expand(x: Any, shape: Any, **_: Any) -> Any:
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(int(each) for each in shape)))


def _reduction(reduce: Callable[[Any, Any], Any], of_nothing: Callable[[np.dtype[Any]], Any]) -> Callable[..., Any]:
    """The rule of a reduction, whose axes are an input or an attribute.

    Args:
        of_nothing: of a type, what no elements are reduced to.
    """

    def apply(x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0, **_: Any) -> Any:
        along = tuple(int(each) % len(x.shape) for each in np.reshape(axes, (-1,))) if axes is not None else ()
        if not along and noop_with_empty_axes:
            return x
        along = along or tuple(range(len(x.shape)))
        if 0 in x.shape:
            made = [1 if each in along else size for each, size in enumerate(x.shape)]
            found = np.full(made, of_nothing(x.dtype), x.dtype)
        else:
            found = reduce(x, along).astype(x.dtype)
        return found if keepdims else np.squeeze(found, along) if along else found

    return apply


def _zero(dtype: np.dtype[Any]) -> Any:
    return dtype.type(0)


def _smallest(dtype: np.dtype[Any]) -> Any:
    return dtype.type(limits_of(dtype)[0])


def _largest(dtype: np.dtype[Any]) -> Any:
    return dtype.type(limits_of(dtype)[1])


_REDUCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[np.dtype[Any]], Any]]] = {
    "ReduceSum": (lambda x, axes: np.sum(x, axis=axes, keepdims=True), _zero),
    "ReduceMean": (lambda x, axes: np.mean(x, axis=axes, keepdims=True), lambda dtype: dtype.type(np.nan)),
    "ReduceMax": (lambda x, axes: np.max(x, axis=axes, keepdims=True), _smallest),
    "ReduceMin": (lambda x, axes: np.min(x, axis=axes, keepdims=True), _largest),
    "ReduceProd": (lambda x, axes: np.prod(x, axis=axes, keepdims=True), lambda dtype: dtype.type(1)),
    "ReduceL1": (lambda x, axes: np.sum(np.abs(x), axis=axes, keepdims=True), _zero),
    "ReduceL2": (lambda x, axes: np.sqrt(np.sum(x * x, axis=axes, keepdims=True)), _zero),
    "ReduceSumSquare": (lambda x, axes: np.sum(x * x, axis=axes, keepdims=True), _zero),
    "ReduceLogSum": (lambda x, axes: np.log(np.sum(x, axis=axes, keepdims=True)), _smallest),
    "ReduceLogSumExp": (lambda x, axes: logsumexp(x, axes, keepdims=True), _smallest),
}
_OF_REDUCTIONS = tuple(rule(name)(_reduction(*how)) for name, how in _REDUCTIONS.items())


@rule("LpNormalization")
def _over_the_norm(x: Any, *, axis: int = -1, p: int = 2, **_: Any) -> Any:
    """ONNX's reference takes the sum of the numbers, not of what they measure, for the norm of order 1."""
    norm = np.sum(np.abs(x), axis=axis, keepdims=True) if p == 1 else np.sqrt(np.sum(x * x, axis=axis, keepdims=True))
    return np.where(norm == 0, np.zeros((), x.dtype), x / norm).astype(x.dtype)
