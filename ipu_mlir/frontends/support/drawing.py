"""Random numbers of imported programs, by keys of one generator that is a variable of the program."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.programs import random_numbers as random

STATE = "global_seed"
"""The variable of the program that holds the key of the next draw."""

_GENERATOR = random.Generator(0, STATE)


def next_key() -> Any:
    """The key of another draw."""
    return _GENERATOR.next_key()


def declare_state() -> None:
    """Let the program that is being traced have that variable."""
    _ = _GENERATOR.state.value


def uniform(shape: Sequence[int], dtype: Any = np.float32) -> Any:
    """Numbers from 0 up to 1, without 1."""
    return random.uniform(next_key(), tuple(shape), dtype=dtype)


def above_zero(shape: Sequence[int], dtype: Any = np.float32) -> Any:
    """Uniform numbers above 0 and up to 1, which have a logarithm."""
    return 1 - uniform(shape, dtype)


def normal(shape: Sequence[int], dtype: Any = np.float32) -> Any:
    """Normal numbers around 0, of deviation 1."""
    return random.normal(next_key(), tuple(shape), dtype=dtype)


def categories(weights: Any, count: int) -> Any:
    """Indices along the last axis by their weights: where waiting times that are exponential end first."""
    shape = (*weights.shape[:-1], count, weights.shape[-1])
    weights = np.broadcast_to(weights[..., None, :], shape).astype(np.float32)
    return np.argmin(waiting_times(weights), -1)


def waiting_times(weights: Any) -> Any:
    """Times that are exponential, of a rate each; without end where it is 0."""
    times = -np.log(above_zero(weights.shape)) / weights
    return np.where(weights > 0, times, np.float32(np.inf))
