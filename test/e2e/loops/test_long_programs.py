"""Long programs: compile time grows with their length, whatever they are long with."""

import time
from collections.abc import Callable

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def layers(count: int) -> Callable[..., np.ndarray]:
    def program(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        for _ in range(count):
            x = np.tanh(x @ w) + x
        return x

    return program


def elementwise(count: int) -> Callable[..., np.ndarray]:
    def program(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        for at in range(4 * count):
            x = np.sin(x) if at % 2 else x + w
        return x

    return program


def parts(count: int) -> Callable[..., np.ndarray]:
    """A part is sliced, changed and inserted back, again and again."""

    def program(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        for at in range(count):
            row = at % 16
            x = ipu.dynamic_update_slice(x, np.sin(x[row : row + 1]), (row, 0))
        return x + w

    return program


def branches(count: int) -> Callable[..., np.ndarray]:
    """Branches one behind the other, each of which may yield what came in."""

    def program(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        flag = w[0, 0] > 0
        for _ in range(count):
            x = ipu.cond(flag, lambda x: np.sin(x) + w, lambda x: x, x)
        return x

    return program


@pytest.mark.parametrize("program", [layers, elementwise, parts, branches])
def test_time_grows_with_the_length(program: Callable[[int], Callable[..., np.ndarray]]) -> None:
    x = np.ones((16, 16), np.float32)

    def seconds(count: int) -> float:
        started = time.process_time()
        ipu.compile(program(count), args=[x, x], target=TARGET, kernels="never")
        return time.process_time() - started

    seconds(2)
    assert min(seconds(48), seconds(48)) < 8 * seconds(12)


def test_a_long_program_is_right() -> None:
    x = np.linspace(-1, 1, 256, dtype=np.float32).reshape(16, 16)
    executable = ipu.compile(parts(40), args=[x, x], target=TARGET, kernels="never")
    expected = x.copy()
    for at in range(40):
        expected[at % 16] = np.sin(expected[at % 16])
    np.testing.assert_allclose(executable(x, x), expected + x, rtol=1e-6)


def test_equal_layers_are_one_function() -> None:
    x, w = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16), np.eye(16, k=1, dtype=np.float32) / 4
    few, many = (ipu.compile(layers(count), args=[x, w], target=TARGET) for count in (10, 100))
    assert [executable.mlir("l1").count("linalg.matmul") for executable in (few, many)] == [10, 1]
    assert many.profile().total_cycles < 1.05 * 10 * few.profile().total_cycles
    assert max(many.profile().tile_bytes()) < 2 * max(few.profile().tile_bytes())
    np.testing.assert_allclose(many(x, w), layers(100)(x, w), rtol=1e-4)
    np.testing.assert_allclose(many.run_per_tile([x, w]), many.run([x, w]), rtol=1e-5)
