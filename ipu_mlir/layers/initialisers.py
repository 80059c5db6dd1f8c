"""Values that parameters begin with: functions of a generator, a shape and an element type, which give an array.

    w = ipu.layers.initialisers.he_normal(np.random.default_rng(0), (20, 16), np.float32)

The last dimension of a shape is that of what comes out, the one before it that of what goes in; further ones are those
of a window. Numbers are drawn in float64 and then rounded, so that an element type does not change which ones they are.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError

Initialiser = Callable[[np.random.Generator, Sequence[int], Any], np.ndarray]

_SHARE_WITHIN_TWO = 0.87962566103423978
"""The standard deviation of a standard normal number that is drawn again until it is between -2 and 2."""


def generator_of(rng: Any) -> np.random.Generator:
    """The generator that a seed, or a generator, stands for.

    Raises:
        TraceTypeError: ``rng`` is neither.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise TraceTypeError(f"init({rng!r}): give a seed, 0 or more, or a np.random.Generator")


def constant(value: float) -> Initialiser:
    """``value`` everywhere."""
    return lambda rng, shape, dtype: np.full(shape, value, dtype)


zeros = constant(0.0)
ones = constant(1.0)


def uniform(limit: float = 0.05) -> Initialiser:
    """Uniform numbers from ``-limit`` to ``limit``."""
    return lambda rng, shape, dtype: rng.uniform(-limit, limit, shape).astype(dtype)


def normal(deviation: float = 0.05) -> Initialiser:
    """Normal numbers of mean 0."""
    return lambda rng, shape, dtype: (deviation * rng.standard_normal(shape)).astype(dtype)


def truncated_normal(deviation: float = 0.05) -> Initialiser:
    """Normal numbers of mean 0, each drawn again until it is not further away than twice ``deviation``."""

    def draw(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> np.ndarray:
        found = rng.standard_normal(shape)
        while (beyond := np.abs(found) > 2).any():
            found[beyond] = rng.standard_normal(int(beyond.sum()))
        return (deviation * found).astype(dtype)

    return draw


def variance_scaling(
    scale: float, mode: Literal["in", "out", "mean"], distribution: Literal["normal", "uniform"]
) -> Initialiser:
    """Numbers of mean 0 and variance ``scale / n``: the sum of ``n`` of them has the same variance for all ``n``.

    Args:
        mode: the ``n``: elements that go in, that come out, or the mean of both.
        distribution: ``normal`` numbers are within twice a deviation.
    """

    def draw(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> np.ndarray:
        into, out = _fans(shape)
        count = {"in": into, "out": out, "mean": (into + out) / 2}[mode]
        deviation = math.sqrt(scale / max(count, 1))
        if distribution == "uniform":
            return uniform(math.sqrt(3) * deviation)(rng, shape, dtype)
        return truncated_normal(deviation / _SHARE_WITHIN_TWO)(rng, shape, dtype)

    return draw


glorot_uniform = variance_scaling(1.0, "mean", "uniform")
glorot_normal = variance_scaling(1.0, "mean", "normal")
he_uniform = variance_scaling(2.0, "in", "uniform")
he_normal = variance_scaling(2.0, "in", "normal")
lecun_uniform = variance_scaling(1.0, "in", "uniform")
lecun_normal = variance_scaling(1.0, "in", "normal")


def orthogonal(gain: float = 1.0) -> Initialiser:
    """A matrix whose rows or columns, whichever are fewer, are orthogonal and of length ``gain``.

    A shape of more than two dimensions is that of a matrix whose rows are all but the last.

    Raises:
        ValueError: a shape of one dimension.
    """

    def draw(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> np.ndarray:
        if len(shape) < 2:
            raise TraceValueError(f"an orthogonal matrix of shape {tuple(shape)}; give two sizes at least")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))  # so that all such matrices are equally probable
        return (gain * (q if rows >= columns else q.T)).reshape(shape).astype(dtype)

    return draw


def _fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many elements go into one of what comes out, and the other way round.

    >>> _fans((3, 3, 16, 32)), _fans((5,))
    ((144, 288), (5, 5))
    """
    if len(shape) < 2:
        return math.prod(shape), math.prod(shape)
    window = math.prod(shape[:-2])
    return window * shape[-2], window * shape[-1]
