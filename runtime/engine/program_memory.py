"""The memory of one running program: temporaries in one block, constants, and the threads of block loops."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ipu_mlir.runtime.engine.native import Kernel
from ipu_mlir.runtime.engine.threads import run_blocks

_LINE = 64  # bytes of a cache line


def strided(array: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """A window onto a contiguous ``array``; offset and strides in elements.

    >>> strided(np.arange(6), 1, (2, 2), (1, 2)).tolist()
    [[1, 3], [2, 4]]
    """
    size = array.itemsize
    return np.ndarray(shape, array.dtype, array, offset * size, tuple(stride * size for stride in strides))


def aligned_bytes(count: int) -> np.ndarray:
    """``count`` bytes that begin at a cache line."""
    raw = np.empty(count + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + count]


class Scratch:
    """One block of bytes that arrays are placed in."""

    def __init__(self, total_bytes: int) -> None:
        self._bytes = aligned_bytes(total_bytes)

    def fill(self, byte: int) -> None:
        """Make all of it ``byte``."""
        self._bytes.fill(byte)

    def temporary(
        self, offset_bytes: int, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """The array that begins at ``offset_bytes``; strides in elements, contiguous unless given."""
        kind = np.dtype(dtype)
        steps = None if strides is None else tuple(stride * kind.itemsize for stride in strides)
        return np.ndarray(shape, kind, self._bytes, offset_bytes, steps)


class Memory(Scratch):
    """Arrays that generated source asks for while it is built, and the loop over blocks while it runs."""

    def __init__(
        self,
        total_bytes: int,
        constants: Mapping[str, np.ndarray],
        threads: int,
        kernels: Mapping[str, Kernel] | None = None,
    ) -> None:
        super().__init__(total_bytes)
        self._kernels = kernels or {}
        self._constants = dict(constants)
        self._threads = threads

    def constant(self, name: str) -> np.ndarray:
        """The flat array of a constant; shared, never written."""
        array = self._constants[name]
        if not array.flags.c_contiguous:  # one element repeated
            array = self._constants[name] = np.ascontiguousarray(array)
        return array

    def kernel(self, name: str) -> Kernel:
        """A function of machine code: ``run(*numbers, *arrays)``."""
        return self._kernels[name]

    def scalar(self, value: Any, dtype: str) -> np.ndarray:
        """``value`` as an array without dimensions: the kind of scalar that ufuncs take fastest."""
        array = np.array(value, dtype)
        array.flags.writeable = False
        return array

    def per_thread(
        self, block: Callable[[Scratch], Callable[..., None]], scratch_bytes: int
    ) -> list[Callable[..., None]]:
        """One copy of ``block`` per thread, each with scratch memory of its own."""
        return [block(Scratch(scratch_bytes)) for _ in range(self._threads)]

    def run_blocks(self, blocks: list[Callable[..., None]], units: int, size: int, *arrays: np.ndarray) -> None:
        """Run ``block(lo, hi, *arrays)`` over 0 .. ``units`` in pieces of ``size``, all threads drawing pieces."""
        run_blocks(blocks, units, size, arrays)
