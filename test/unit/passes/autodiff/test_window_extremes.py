"""Gradients of extremes of windows: which windows an element is in, and whose first best one it is."""

from itertools import product

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.autodiff.window_extremes import Windows

TARGET = ipu.Target(tiles_per_ipu=4)


@pytest.mark.parametrize(
    ("size", "count", "step", "length", "distance", "start"),
    [(9, 4, 2, 3, 1, 0), (8, 8, 1, 1, 1, 0), (11, 3, 4, 2, 1, 0), (14, 4, 3, 3, 2, 0), (12, 5, 2, 2, 2, 1)],
)
def test_phases_name_every_window_of_every_element_once(
    size: int, count: int, step: int, length: int, distance: int, start: int
) -> None:
    windows = Windows(size, 0, count, step, 1, length, distance, start)
    met = []
    for remainder in range(step):
        phase = windows.phase(remainder)
        for number in range(0 if phase is None else phase.elements):
            for place, point in enumerate(phase.points):
                window = phase.first + number + place * phase.distance
                if 0 <= window < count:
                    met.append((number * step + remainder, window, point))
    every = [(step * o + distance * w + start, o, w) for o in range(count) for w in range(length)]
    assert sorted(met) == sorted(every)


@pytest.mark.parametrize(("window", "steps"), [((3, 2), (2, 1)), ((2, 2), (3, 2))])
def test_the_first_of_equal_elements_takes_all_of_each_window(window: tuple[int, int], steps: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, (1, 8, 7, 2)).astype(np.float32)
    pooled = ipu.compile(lambda x: ipu.nn.max_pool(x, window, strides=steps), args=(x,), target=TARGET)(x)
    weights = rng.integers(1, 9, pooled.shape).astype(np.float32)
    expected = np.zeros_like(x)
    for place in product(*map(range, pooled.shape)):
        b, i, j, c = place
        corner = x[b, i * steps[0] :, j * steps[1] :, c][: window[0], : window[1]]
        row, column = np.unravel_index(corner.argmax(), corner.shape)
        expected[b, i * steps[0] + row, j * steps[1] + column, c] += weights[place]
    gradient = ipu.grad(lambda x: (ipu.nn.max_pool(x, window, strides=steps) * weights).sum())
    executable = ipu.compile(gradient, args=(x,), target=TARGET)
    np.testing.assert_array_equal(executable(x), expected)
    assert "linalg.index" not in executable.mlir("l2")
