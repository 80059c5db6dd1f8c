"""Gradients of traced functions, and what they are of."""

from collections.abc import Callable
from typing import Any

import numpy as np

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
RNG = np.random.default_rng(20261123)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def gradients(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[np.ndarray]:
    by = tuple(place for place, each in enumerate(arguments) if each.dtype.kind == "f")
    return list(ipu.function(lambda *args: ipu.grad(function, argnums=by)(*args), target=TARGET)(*arguments))
