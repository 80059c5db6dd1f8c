"""Kernels on copies of their arrays with guards before and after them: what they write elsewhere is an error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ipu_mlir.runtime.engine import engine
from ipu_mlir.runtime.engine.native import Kernel

_LINE = 64
_GUARD = np.random.default_rng(0).integers(0, 256, 1 << 12, np.uint8)
"""Bytes on either side, a multiple of a line: what is read by mistake there gives wrong results."""


@contextmanager
def guarded_kernels() -> Iterator[None]:
    """Programs that run for the first time while this lasts have guards around the arrays of their kernels."""
    plain = engine.machine_code

    def machine_code(text: str) -> Mapping[str, GuardedKernel]:
        return {name: GuardedKernel(name, kernel) for name, kernel in plain(text).items()}

    engine.machine_code = machine_code  # type: ignore[assignment]
    try:
        yield
    finally:
        engine.machine_code = plain


class GuardedKernel:
    """``kernel``, which gets copies and has what it changes in them written back."""

    def __init__(self, name: str, kernel: Kernel) -> None:
        self._name, self._kernel = name, kernel

    def run(self, *given: int | np.ndarray) -> None:
        """As ``Kernel.run``.

        Raises:
            AssertionError: something beside an array was written.
        """
        held = [_Copy(each) if isinstance(each, np.ndarray) else each for each in given]
        self._kernel.run(*(each.array if isinstance(each, _Copy) else each for each in held))
        copies = [each for each in held if isinstance(each, _Copy)]
        for number, copy in enumerate(copies):
            assert copy.is_whole(), (
                f"{self._name} writes beside its array {number}, {copy.array.dtype} {copy.array.shape}"
            )
            copy.write_back()


class _Copy:
    """A copy of ``original``, at the same distance from the beginning of a line, and with the same gaps."""

    def __init__(self, original: np.ndarray) -> None:
        self._original = original
        low, high = byte_bounds(original) if original.size else (original.ctypes.data,) * 2
        self._memory = np.resize(_GUARD, 2 * _GUARD.size + high - low + 2 * _LINE)
        begin = _GUARD.size + (low - self._memory.ctypes.data) % _LINE + original.ctypes.data - low
        self.array = np.ndarray(original.shape, original.dtype, self._memory, begin, original.strides)
        self.array[...] = original
        self._before = self.array.copy()
        self._memory_before = self._memory.copy()
        self._elements = np.ndarray(original.shape, original.dtype, self._memory_before, begin, original.strides)

    def is_whole(self) -> bool:
        """True if nothing was written beside the array, or between its elements."""
        self._elements[...] = self.array
        return self._memory.tobytes() == self._memory_before.tobytes()

    def write_back(self) -> None:
        """Change in the original what has changed; other threads write the rest of it meanwhile."""
        after, before = (np.frombuffer(each.tobytes(), np.uint8) for each in (self.array, self._before))
        changed = (after != before).reshape(-1, self.array.itemsize).any(axis=1).reshape(self.array.shape)
        if changed.any():
            self._original[changed] = self.array[changed]
