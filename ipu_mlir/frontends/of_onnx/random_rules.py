"""Ops of ONNX that draw random numbers: other ones in each run, from a key that is a variable of the program."""

from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype

from ipu_mlir.frontends.of_onnx.rules import known, rule
from ipu_mlir.frontends.support import drawing


def _dtype(said: int | None, x: Any = None) -> np.dtype[Any]:
    """The type of what is drawn: the one that a node says, else that of ``x``."""
    return np.dtype(tensor_dtype_to_np_dtype(said)) if said or x is None else x.dtype


@rule("RandomUniform", always=True)
def _uniform(*, shape: Any, dtype: int = 1, low: float = 0.0, high: float = 1.0, **_: Any) -> Any:
    made = _dtype(dtype)
    return (drawing.uniform(shape) * (high - low) + low).astype(made)


@rule("RandomNormal", always=True)
def _normal(*, shape: Any, dtype: int = 1, mean: float = 0.0, scale: float = 1.0, **_: Any) -> Any:
    return (drawing.normal(shape) * scale + mean).astype(_dtype(dtype))


@rule("RandomUniformLike", always=True)
def _uniform_like(x: Any, *, dtype: int | None = None, low: float = 0.0, high: float = 1.0, **_: Any) -> Any:
    return (drawing.uniform(x.shape) * (high - low) + low).astype(_dtype(dtype, x))


@rule("RandomNormalLike", always=True)
def _normal_like(x: Any, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0, **_: Any) -> Any:
    return (drawing.normal(x.shape) * scale + mean).astype(_dtype(dtype, x))


@rule("Bernoulli", always=True)
def _bernoulli(x: Any, *, dtype: int | None = None, **_: Any) -> Any:
    return (drawing.uniform(x.shape) < x).astype(_dtype(dtype, x))


@rule("Multinomial", always=True)
def _multinomial(x: Any, *, sample_size: int | None = 1, dtype: int | None = 6, **_: Any) -> Any:
    """Classes by their probabilities, of which ``x`` has logarithms."""
    shares = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return drawing.categories(shares, sample_size or 1).astype(_dtype(dtype or 6))


@rule("Dropout", always=True)
def _dropout(x: Any, ratio: Any = 0.5, training: Any = False, *, opset: int, **_: Any) -> Any:
    """Outside of training nothing is dropped, and the mask is true everywhere, of the type of ``x`` before opset 10."""
    ratio = 0.5 if ratio is None else float(np.reshape(known("Dropout", ratio), ()))
    if training is None or not np.all(known("Dropout", training)) or not ratio:
        return x, np.ones(x.shape, bool if opset > 9 else x.dtype)
    kept = drawing.uniform(x.shape) >= ratio
    return np.where(kept, x / x.dtype.type(1 - ratio), x.dtype.type(0)), kept
