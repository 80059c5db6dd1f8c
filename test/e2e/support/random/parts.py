"""Random functions of two arrays, of what puts parts together, writes to parts and reads them."""

import random
from collections.abc import Callable
from typing import Any

import ipu_mlir as ipu

np = ipu.numpy
LARGEST = 200  # elements of what grows further


def random_parts(seed: int) -> Callable[[Any, Any], tuple[Any, ...]]:
    """A function of two arrays of one shape; its results are the last four of the arrays that its steps make."""
    draw = random.Random(seed)
    steps = [(draw.choice(STEPS), [draw.random() for _ in range(4)]) for _ in range(draw.randint(4, 12))]

    def function(x, y):
        pool = [x, y]
        for step, (place, *numbers) in steps:
            value = pool[int(place * len(pool))]
            alike = [each for each in pool if each.shape == value.shape]
            found = step(value, alike[int(numbers[0] * len(alike))], *numbers)
            pool += [each for each in found if each.ndim]
        return tuple(pool[2:][-4:]) or (x + y,)

    return function


def _stack(x, y, *numbers):
    return [np.stack([x, y * 2], axis=int(numbers[1] * (x.ndim + 1)))] if x.ndim < 4 else []


def _concatenate(x, y, *numbers):
    return [np.concatenate([x, np.sin(y)], axis=int(numbers[1] * x.ndim))] if x.size < LARGEST else []


def _pad(x, y, *numbers):
    widths = [(int(numbers[0] * 2), int(numbers[1] * 2))] * x.ndim
    return [np.pad(x, widths, mode="edge" if numbers[2] < 0.3 else "constant")] if x.size < LARGEST else []


def _part(x, numbers) -> tuple[Any, ...]:
    axis = int(numbers[0] * x.ndim)
    place = int(numbers[1] * x.shape[axis])
    return (*[slice(None)] * axis, place if numbers[2] < 0.6 else slice(place, place + 1))


def _update(x, y, *numbers):
    part = _part(x, numbers)
    return [x.at[part].set(np.cos(x[part]) * 2), x[part] * x[part]]


def _clear(x, y, *numbers):
    part = _part(x, numbers)
    cleared = x.at[part].set(np.zeros_like(x[part]))
    return [cleared, cleared + x]


def _add(x, y, *numbers):
    return [x + y, np.tanh(x) * 0.5 + y]


def _take(x, y, *numbers):
    return [x[_part(x, (*numbers[:2], 0))]] if x.ndim > 1 else []


def _turn(x, y, *numbers):
    axis = int(numbers[1] * x.ndim)
    return [np.roll(x, 1 + int(numbers[0] * 3), axis=axis), np.flip(x, axis=axis)]


def _transform(x, y, *numbers):
    if x.size >= LARGEST / 2:
        return []
    z = np.fft.fft(x + 1j * y) if numbers[2] < 0.5 else (x + 1j * y) ** 2
    return [z.real if numbers[1] < 0.5 else z.imag]


def _loop(x, y, *numbers):
    if x.size >= LARGEST / 2:
        return []
    return [ipu.fori_loop(0, 3, lambda i, s: s.at[i % s.shape[0]].set(np.zeros_like(s[0]) + s[-1] * 0.5), x)]


STEPS = (_stack, _concatenate, _pad, _update, _clear, _add, _take, _turn, _transform, _loop)
