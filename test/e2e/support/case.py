"""A small program with inputs and what NumPy says about it; the machines it is tried on; how results are judged."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from support.compare import is_float, same_bits
from support.tensor_text import DTYPES, element_of, shape_of

import ipu_mlir as ipu

TARGETS = {tiles: ipu.Target(tiles_per_ipu=tiles) for tiles in (1, 4, 7, 64)}
"""By the number of their tiles. Seven divides hardly any size: parts are ragged there."""

ROUNDINGS = 8
"""How many units in the last place a function of one element may be off from NumPy's in f64."""


@dataclass(frozen=True)
class Case:
    """One program with one set of inputs.

    Attributes:
        text: a module with ``@main``.
        inputs: its arguments.
        expected: what NumPy makes of them: an array, or a tuple of arrays.
        sum_length: how many floats the longest sum or product has; with 0 nothing rounds in an order of its own, and
            both executors have to give the same bits.
        ulps: how far apart they may be nevertheless where kernels run, which have functions of their own.
    """

    name: str
    text: str
    inputs: tuple[np.ndarray, ...]
    expected: Callable[..., Any]
    sum_length: int = 0
    ulps: int = 0

    def expected_results(self) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            results = self.expected(*self.inputs)
        return [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]

    def check(self, target: ipu.Target) -> None:
        """Compile for ``target`` and run with both executors.

        Raises:
            AssertionError: the executors disagree with each other or with NumPy.
        """
        executable = ipu.compile(self.text, target=target)
        fast, per_tile = executable.run(self.inputs), executable.run_per_tile(self.inputs)
        ulps = self.ulps if "memory.kernel(" in executable.source() else 0
        if self.sum_length == 0:
            wrong = same_bits(fast, per_tile, ulps)
            assert not wrong, f"fast against per-tile executor: {'; '.join(wrong)}"
        else:
            assert_close(fast, per_tile, self.sum_length, "fast against per-tile executor")
        length = max(self.sum_length, 1) if ulps else self.sum_length  # a sum of functions may cancel
        assert_close(fast, self.expected_results(), length, "fast executor against NumPy")


def assert_close(results: Sequence[np.ndarray], expected: Sequence[np.ndarray], sum_length: int, what: str) -> None:
    """Integers equal, floats up to the rounding of sums of ``sum_length`` numbers."""
    assert len(results) == len(expected), what
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        place = f"{what}, result {number}"
        assert (got.shape, got.dtype) == (want.shape, want.dtype), place
        relative, absolute = tolerance(want, sum_length)
        if want.dtype.kind == "V":  # a type of ml_dtypes
            got, want = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_allclose(got, want, relative, absolute, err_msg=place)


def tolerance(expected: np.ndarray, sum_length: int) -> tuple[float, float]:
    """Relative and absolute; the latter is for sums in which large numbers cancel."""
    if not is_float(expected.dtype):
        return 0.0, 0.0
    if hasattr(ml_dtypes, expected.dtype.name):
        return float(ml_dtypes.finfo(expected.dtype).eps), 0.0  # what f32 gives may be rounded to either side
    eps = float(np.finfo(expected.dtype).eps)
    largest = float(np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected)))
    return ROUNDINGS * eps, eps * sum_length * largest


def some(*shorts: str, low: float = -2, high: float = 2) -> tuple[np.ndarray, ...]:
    """Random arrays of the short types, the same in every run: floats and integers from ``low`` to ``high``."""
    return tuple(_some(short, f"{place} {short}", low, high) for place, short in enumerate(shorts))


def _some(short: str, seed: str, low: float, high: float) -> np.ndarray:
    generator = np.random.default_rng(zlib.crc32(seed.encode()))
    shape, dtype = shape_of(short), DTYPES[element_of(short)]
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind == "i":
        return np.asarray(generator.integers(int(low), int(high) + 1, shape)).astype(dtype)
    return np.asarray(generator.uniform(low, high, shape)).astype(dtype)
