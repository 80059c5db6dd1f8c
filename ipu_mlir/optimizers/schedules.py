"""Learning rates that change: functions from the number of steps before to a rate, computed on the device.

The number comes as a float, traced or not: ``schedule(10.0)`` gives the rate of the eleventh step.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError

Schedule = Callable[[Any], Any]
Rate = float | Any | Schedule
"""A number, a tensor of shape (), or a schedule."""


def constant(rate: Any) -> Schedule:
    """``rate`` at every step."""
    return lambda count: rate


def steps(rate: float, factors: dict[int, float]) -> Schedule:
    """``rate``, times each of ``factors`` from the step on that is its key.

    steps(0.1, {30: 0.1, 60: 0.1}) is 0.1, then 0.01 and 0.001.
    """
    for boundary in factors:
        _positive("steps", "a step at which the rate changes", boundary)

    def schedule(count: Any) -> Any:
        found = rate + 0 * count
        for boundary, factor in sorted(factors.items()):
            found = np.where(count >= boundary, factor * found, found)
        return found

    return schedule


def exponential(rate: float, count: int, factor: float, *, staircase: bool = False, last: float = 0.0) -> Schedule:
    """``rate`` times ``factor`` to the power of ``number / count``.

    Args:
        count: the steps in which the rate changes by ``factor``.
        staircase: whether it changes once in so many steps, rather than in each.
        last: the rate that it does not fall below; with a ``factor`` above 1, does not rise above, if it is not 0.
    """
    _positive("exponential", "count", count)
    _positive("exponential", "factor", factor)

    def schedule(number: Any) -> Any:
        share = number / count
        found = rate * np.exp(math.log(factor) * (np.floor(share) if staircase else share))
        if not last:
            return found
        return np.maximum(found, last) if factor < 1 else np.minimum(found, last)

    return schedule


def polynomial(rate: float, last: float, count: int, power: float = 1.0) -> Schedule:
    """From ``rate`` to ``last`` in ``count`` steps; along a line, or with the rest of the way to the ``power``."""
    _positive("polynomial", "count", count)
    _positive("polynomial", "power", power)

    def schedule(number: Any) -> Any:
        rest = 1 - np.minimum(number, count) / count
        return (rate - last) * (rest if power == 1 else rest**power) + last

    return schedule


def cosine(rate: float, count: int, last: float = 0.0) -> Schedule:
    """From ``rate`` to ``last`` in ``count`` steps, along half a wave of the cosine."""
    _positive("cosine", "count", count)

    def schedule(number: Any) -> Any:
        wave = np.cos(np.minimum(number, count) * (math.pi / count))
        return (rate - last) * (0.5 + 0.5 * wave) + last

    return schedule


def warm_up(count: int, then: Any, first: float = 0.0) -> Schedule:
    """From ``first`` along a line to what ``then`` begins with, in ``count`` steps; then ``then``, from its beginning.

    warm_up(1000, cosine(1e-3, 9000))

    Args:
        then: a schedule, or a rate that stays.
    """
    then = checked_rate(then)
    _positive("warm_up", "count", count)
    following: Schedule = then if callable(then) else constant(then)
    peak: Any = following(0.0)
    peak = peak.item() if isinstance(peak, np.ndarray | np.generic) else peak  # a NumPy scalar brings its own type
    return join([polynomial(first, peak, count), following], [count])


def join(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule after the other: from each of ``boundaries`` on the next one, which counts from there."""
    if len(schedules) != len(boundaries) + 1 or any(one >= other for one, other in pairwise(boundaries)):
        raise TraceValueError(
            f"join of {len(schedules)} schedules at the steps {list(boundaries)}: between each two schedules there is "
            "a step, later than the one before"
        )

    def schedule(number: Any) -> Any:
        found = schedules[0](number)
        for following, boundary in zip(schedules[1:], boundaries, strict=True):
            found = np.where(number >= boundary, following(np.maximum(number - boundary, 0)), found)
        return found

    return schedule


def checked_rate(rate: Any) -> Any:
    """``rate``, if it can be one.

    Raises:
        TraceTypeError: it is no number, tensor or schedule. TraceValueError: a tensor of several numbers, or no number.
    """
    if callable(rate):
        return rate
    if isinstance(rate, bool) or not (isinstance(rate, int | float) or hasattr(rate, "dtype")):
        raise TraceTypeError(f"a learning rate of {rate!r}; give a number, a tensor of shape (), or a schedule")
    if getattr(rate, "shape", ()) != ():
        raise TraceValueError(f"a learning rate of shape {rate.shape}; give one number")
    if isinstance(rate, int | float) and not math.isfinite(rate):
        raise TraceValueError(f"a learning rate of {rate}; give a finite number")
    return rate


def number_at(rate: Any, count: Any, dtype: np.dtype[Any]) -> Any:
    """The rate after ``count`` steps: a Python number, or a tensor of ``dtype``."""
    found = rate(count.astype(dtype)) if callable(rate) else rate
    return found.astype(dtype) if hasattr(found, "astype") else found


def _positive(schedule: str, what: str, value: Any) -> None:
    if not value > 0:
        raise TraceValueError(f"{schedule}: {what} is {value!r}; give a number above 0")
